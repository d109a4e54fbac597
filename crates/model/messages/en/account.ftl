### The account: where every second of a transfer went (impact/tell/account.rs).

## The sentence

# $lost: seconds beyond those at the rate; $parts: what they went to
account-lost = It took { $lost } longer than { $than }: { $parts }.
# $share: the rest that counts as nothing; $seconds: the whole time
account-no-longer = The transfer took no longer than { $than } (within { $share }); of its { $seconds }, { $parts }.
account-faster = The transfer was faster than { $than }; of its { $seconds }, { $parts }.
account-nothing = No transfer was long enough to say where its time went.

# The first line of an account that has a line for each label
account-brief-lost = It took { $seconds }, { $lost } longer than { $than }:
account-brief-no-longer = It took { $seconds }, no longer than { $than } (within { $share }):
account-brief-faster = It took { $seconds }, less than { $than }:
account-brief-won-back = { $seconds } ({ $share }) was won back where it was faster.
# Where other traffic of the tunnel went on while $receiver got nothing for $seconds
account-pair-down = outage: nothing passed to { $receiver } for { $seconds }, other traffic went on; counted is what this direction lost in all.
# Line 1 tells how long nothing passed
account-down = outage: nothing passed for { $silent }; { $lost } were lost until the rate was back.
# The transfer began after the outage, or ended before it
account-beyond = outage: nothing passed for { $silent }, { $within } of it while the transfer ran.
# Where the account is of one child SA alone, and others went on
account-of-pair = All of this concerns only the traffic to { $receiver }; other traffic of the tunnel went on.

# $than of the three: somebody gave the rate; it is proven to be all that the path carries; it is the best that was seen
account-than-given = at { $rate }
account-than-proven = at this path's best rate of { $rate }
account-than-best = at its own best rate of { $rate }
# No TCP could be read
account-than-beside = at { $rate }, its rate outside of rekeys and outages

# Seconds per gigabyte against those of another capture
account-gap = Of { $gap } per GB that { $capture } takes longer than { $reference }, { $parts }.
account-gap-none = Per GB, { $capture } takes no longer than { $reference } ({ $own } and { $other }).

## Its parts

account-parts = { $before }, { $next }
account-part-capture-hole = { $seconds } ({ $share }) the capture does not hold
account-part-tunnel-down = { $seconds } ({ $share }) was an outage
account-part-rekey = { $seconds } ({ $share }) went to rekeys
account-part-zero-window = { $seconds } ({ $share }) the receiver's window was closed
account-part-receive-window = { $seconds } ({ $share }) it waited for the receiver's window of { $window }
account-part-receive-window-unknown = { $seconds } ({ $share }) it waited for the receiver's window
account-part-send-buffer = { $seconds } ({ $share }) it waited for the sender's buffer
account-part-flight = { $seconds } ({ $share }) it waited for the receiver's window or the sender's buffer
account-part-application = { $seconds } ({ $share }) the application had nothing to send
account-part-path-loss = { $seconds } ({ $share }) went to losses on the path
account-part-queue-loss = { $seconds } ({ $share }) went to losses in a full queue
account-part-reordering = { $seconds } ({ $share }) went to reordered or delayed packets that were taken for lost
account-part-growth = { $seconds } ({ $share }) its rate still grew
account-part-capacity = { $seconds } ({ $share }) at the limit of link or CPU ({ $rate })
account-part-slower = { $seconds } ({ $share }) the path carried less
account-part-won-back = { $seconds } ({ $share }) won back where it was faster
account-part-less = { $seconds } ({ $share }) less than there
account-part-unexplained = { $seconds } ({ $share }) unexplained
account-part-unexplained-little = { $seconds } unexplained

## What could not be told

account-no-tcp = No TCP with acknowledgements was seen inside, so waits for windows, buffers and applications, and losses, are not told apart.
# $labels: a list of labels
account-no-pattern = When acknowledgements reached the sender is not known, so these are not told apart: { $labels }.
account-no-scale = Neither the handshake nor TCP timestamps were captured, so the receiver's window, the sender's buffer, the application and growth cannot be told apart.
account-not-testable = These packets do not show how much of the time went to: { $labels }.
account-cut = The capture begins or ends in an outage, so it does not show how that time divides between: { $labels }.

## What reports say around it

# $label of $seconds, $share of the time
account-legend = { $label }: { $seconds } s ({ $share })
# $to: 0 where it lasts to the end
account-stretch = { $label }: { $seconds }, frames { $from } to { $to ->
    [0] the end
   *[other] { $to }
}
account-filter = { $label }: { $filter }
account-all = all

## The labels

account-capture-hole = hole in the capture
account-tunnel-down = outage
account-rekey = rekeys
account-zero-window = closed window
account-receive-window = receiver's window
account-send-buffer = sender's buffer
account-application = idle sender
account-path-loss = loss on the path
account-queue-loss = loss in a queue
account-reordering = reordering
account-growth = growing rate
account-capacity = the path itself
# Instead of the path itself, where it is about a loss
account-below-best = slower path
account-unexplained = unexplained
# The same where nothing can be told apart
account-undivided = not told apart

### What failed (impact/tell/failed.rs), the attempts, and the outages.

failed-refused = At { $time } { $who } asked for a new SA { $requests ->
    [one] once
   *[other] { $requests } times
}, and the answer was { $reason }; { $outage }.
failed-unanswered = A rekey failed at { $time }: { $requests ->
    [one] one request
   *[other] { $requests } requests
}, no answer; { $outage }.
failed-outage = Nothing was delivered from { $time } on ({ $cause }): { $outage }.
failed-in-all = { $failed } of { $attempts } attempts to renew SAs failed.

## Parts of them

# $who of failed-refused
failed-someone = the initiator
# $reason of failed-refused
failed-short-answer = one that makes no SA (its reason cannot be read)
# $cause of failed-outage
cause-capture-hole = the capture lacks packets
cause-deleted = an SA was deleted, and nothing followed
cause-break-before-make = the old SA was deleted before the new one was negotiated
cause-refused = the renewal was refused
cause-unanswered = the renewal was not answered
cause-ike-fragments = only fragments of a large IKE message came
cause-answered-late = the renewal was answered late
cause-given-up = a living IKE SA was given up
cause-given-up-too-soon = a peer was given up too soon
cause-answer-lost = a message of the renewal was lost
cause-collision = both sides renewed at once
cause-limit-reached = an SA reached its limit
cause-new-sa-lost = the first packets of a new SA were lost
cause-first-number = the first packets of new SAs never came
cause-deleted-early = the old SA was deleted too early
cause-peer-restarted = a peer lost its SAs
cause-invalid-spi = a peer did not know the SA
cause-address-changed = an address or a port changed
cause-peer-silent = the peer fell silent
cause-unheard = packets of one side stopped arriving
cause-esp-silent = ESP of one side stopped coming
cause-silent-on-new-sa = nothing came on a new SA
cause-path-silent = both sides fell silent
cause-numbers-used-up = ESP numbers were used up
cause-bad-icv = packets came damaged
cause-connection-dead = one connection got no answer
cause-numbers-back = ESP numbers went back
cause-left-out = a new SA leaves inner hosts out
cause-by-turns = one side served two others by turns
cause-large-packets = large packets no longer passed
cause-first-fragments = only first fragments of large packets came
cause-too-big = a router says that packets are too big
cause-slow-exchange = the key exchange took long
cause-slow-renewal = the renewal was not done in time
cause-l2tp-closed = the L2TP session was ended
cause-replay-window = packets came too late for the replay window
cause-unexplained = these packets do not show why
# $outage
failed-sa-ended = the old SA ended at { $time }, and no new one took its place
failed-no-outage = no outage is seen in this capture
failed-outage-open = nothing passed for { $seconds } or more
failed-outage-new-sa = nothing passed for { $seconds }, until a new SA carried data
failed-outage-new-ike-sa = nothing passed for { $seconds }, until a new IKE SA stood
failed-outage-old-sa = nothing passed for { $seconds }

## The table of attempts, the list of outages

outcome-completed = completed
outcome-completed-unused = completed, never used
outcome-refused = refused
outcome-unanswered = no answer
outcome-superseded = superseded by the other side's
outcome-cut = cut off by the end of the capture
outcome-because = { $what }: { $reason }
reason-peer-silent = the other side sent nothing else either
reason-peer-sends-esp = the other side went on sending ESP
outage-or-more = { $seconds } or more
outage-item = { $direction }: nothing passed from { $from } s on for { $length }; { $end }.
outage-end-new-sa = a new SA ended that
outage-end-new-ike-sa = a new IKE SA ended that
outage-end-old-sa = the old SA carried data again
outage-end-end = the capture ends before it does
left-out-attempts = { $n } more attempts are in the JSON.

### The verdict and the arithmetic bound (impact/sentence.rs).

arithmetic-none = No rekey lies within a transfer, so there is nothing to bound.
arithmetic-reference = Rekeys alone could bring { $reference } down to { $observed } only if each stopped traffic for { $waste }.
arithmetic-example = A rekey comes every { $interval } ({ $volume }): { $stall } of stall at each costs { $cost }.
arithmetic-halve = A rekey comes every { $interval } ({ $volume }): { $stall } of stall at each costs { $cost } of the { $observed } seen. Rekeys alone could halve the rate only if each stopped traffic for { $half }{ $measured }.
# $measured of arithmetic-halve
arithmetic-measured = ; measured: { $stall }

## What was measured

verdict-upload = upload
verdict-download = download
range = { $low } to { $high }
rekeys-named = { $count ->
    [one] rekey { $names }
   *[other] rekeys { $names }
}
rekeys-more = { $count } more

## The six verdicts

verdict-no-traffic-no-rekey = The { $direction } carries too little data to measure, and no rekey is in this capture.
verdict-no-traffic = The { $direction } carries too little data to tell what its { $total ->
    [one] one rekey
   *[other] { $total } rekeys
} cost.
verdict-no-rekeys = No rekey in this capture: the { $direction } carried { $volume } at { $rate }, and rekeys had no part in that.
verdict-shown = Rekeys cost throughput: { $proven }each stalls the { $direction } for { $stall } on average (95 % interval { $interval }){ $lost }; { $hurt }{ $p }.
verdict-shown-at-least = Rekeys cost throughput: { $proven }each stalls the { $direction } for at least { $stall } on average (95 % interval { $interval }){ $lost }; { $hurt }{ $p }.
verdict-shown-no-mean = Rekeys cost throughput: { $proven }{ $why }.
verdict-some = Single rekeys cost throughput: { $proven }{ $silence }; whether rekeys in general cost time cannot be told from { $used } ({ $mean }{ $p }).
verdict-some-no-mean = Single rekeys cost throughput: { $proven }{ $silence }; { $why }.
verdict-bounded = No cost of rekeys is shown: within { $window } of the switch, a rekey costs the { $direction } at most { $high } on average ({ $mean }), less than the { $interest } that would matter; { $hurt }{ $p }.
verdict-inconclusive = Inconclusive: within { $window } of the switch, a rekey may cost the { $direction } up to { $high } on average ({ $mean }{ $p }), and { $interest } would matter; { $hurt }; { $needed }.
verdict-no-mean = Inconclusive: { $why }.
verdict-no-mean-hurt = Inconclusive: { $why }; { $hurt }.

## Parts of them

# What the packets prove without statistics. $proven: at how many of $used rekeys; $least: the shortest outage; $mean: of these
verdict-proven = packets prove an outage at { $proven } of { $used }, of at least { $least }{ $proven ->
    [one] {""}
   *[other] {" "}each
} (mean { $mean }; { $how })
# $proven of verdict-shown and verdict-shown-at-least
verdict-proven-shown = { $proven }; with recovery,{" "}
# $proven of the others
verdict-proven-some = { $proven };{" "}
# $how, by the rule of most of them
proven-lost-on-old = what was sent last on the old SA was lost
proven-lost-on-new = what was sent first on the new SA was lost
proven-not-sent = nothing was sent
proven-no-feedback = the old SA was past its limit, and what it carried was lost
# $lost of verdict-shown
verdict-lost = , { $share } of the transfer
# $lost of verdict-shown-at-least
verdict-lost-at-least = , at least { $share } of the transfer
verdict-p-in-brackets = {" "}(p = { $p })
verdict-p-after = ; p = { $p }
# The same where the stall did not end within the largest window, or began before it.
verdict-mean-at-least = mean at least { $mean }, 95 % interval { $interval }
verdict-mean = mean { $mean }, 95 % interval { $interval }
verdict-interest = { $stall } ({ $share } of throughput)
verdict-silence = { $rekeys } of { $total } { $count ->
    [one] stalls
   *[other] stall
} the { $direction } (longest time without new data { $longest })
verdict-hurt-not-the-one = the one rekey does not stand out
verdict-hurt-none = none of the { $used } rekeys stands out by itself
verdict-hurt-all = { $hurt } of { $used } rekeys hurt
verdict-hurt-some = { $hurt } of { $used } rekeys hurt ({ $rekeys })
# How small a stall could have been seen.
verdict-detectable = these { $used } rekeys can show stalls from { $least } on; { $needed }
verdict-needed-rekeys = to show { $interest }, about { $needed } rekeys like these are needed
verdict-needed-longer = a longer capture is needed
# Why there is no mean.
verdict-none-within = { $total ->
    [one] the one rekey does not lie
   *[other] none of the { $total } rekeys lies
} within the transfer of the { $direction }
verdict-too-few = only { $used ->
    [one] { $used } rekey lies
   *[other] { $used } rekeys lie
} within the transfer of the { $direction }, and a mean with an interval needs { $least }
verdict-too-few-of = only { $used } of { $total ->
    [one] { $total } rekey
   *[other] { $total } rekeys
} { $used ->
    [one] lies
   *[other] lie
} within the transfer of the { $direction }, and a mean with an interval needs { $least }
verdict-too-close = the rekeys are too close together: no undisturbed traffic lies between them to compare with

## How much of the gap to a reference rate the stalls explain

explained-no-gap = The rate of { $observed } is not below the reference of { $reference }: there is no gap to explain.
explained-maybe-all = Rekeys could explain all of the gap to { $reference }.
explained-about = Rekeys explain about { $estimate } of the gap to { $reference } ({ $least } to { $most }).
explained-about-or-all = Rekeys explain about { $estimate } of the gap to { $reference }, and could explain all of it.
explained-all = This explains all of the gap to { $reference }.
explained-all-at-least = This could explain all of the gap to { $reference }, and explains at least { $least }.
explained-up-to-all = This explains { $estimate } of the gap to { $reference } (at least { $least }, and it could be all).
explained-share = This explains { $estimate } ({ $least } to { $most }) of the gap to { $reference }.

## Reservations, each a sentence

# $least: seconds; $level: of p
note-above-zero = An interval above 0 alone shows no average cost: its lower end must exceed { $least }, and either the comparison with moments without a rekey (p of at most { $level }) or the rekeys one by one must bear it out.
note-mostly-affected = Rekeys take up most of the run, so there is too little undisturbed traffic for a p-value: the verdict rests on the interval and on times without new data that are rare elsewhere.
note-bias = The stall may be up to { $most } too low: volume-triggered rekeys fall in fast moments, and these are too close together to measure by how much.
note-bias-unknown = If volume triggers these rekeys, which is not known, the stall may be up to { $most } too low: such rekeys fall in fast moments, and these are too close together to measure by how much.
# $holes: how many; $length: together in time; $rekeys: left out of the statistics because their window touches one
note-holes = The capture lacks { $holes ->
    [one] one stretch
   *[other] { $holes } stretches
} ({ $length }) in which the tunnel went on; what was not observed counts neither as a stall nor as its absence{ $rekeys ->
    [0] .
    [one] , and one rekey is left out because of it.
   *[other] , and { $rekeys } rekeys are left out because of it.
}
# $transfers: how many; $rest: together in time
note-transfers = The capture holds { $transfers } transfers, each measured on its own; { $rest } of rest between them is left out.
# $each: what was said of each transfer, a list
note-transfers-differ = Verdicts differ: { $each }.
transfer-shown = transfer { $number } shown
transfer-some = transfer { $number } some rekeys
transfer-bounded = transfer { $number } not shown
transfer-inconclusive = transfer { $number } inconclusive
transfers-more = { $count } more
note-outer-bytes = Counted are ESP bytes (SPI to ICV), because keys are missing: retransmissions count as throughput.
note-late-start = The first IKE message of { $late } of { $used } rekeys was not captured: what was lost before the first captured one is not counted{ $bound }.
note-silent-start = Both sides were silent before the exchange of { $silences } of { $used } rekeys, so its first message may have been lost before the capture point: what was lost before the first captured one is not counted{ $bound }.
note-unseen-start = No IKE message of { $unseen } of { $used } rekeys was captured: what was lost more than { $before } before the first packet on a new SA is not counted{ $bound }.
# $bound of the three notes above
note-lower-bound = , so a mean is a lower bound; only the upper end of its interval reaches back over slow stretches before that

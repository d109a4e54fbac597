### The verdict (impact/verdict/sentence.rs), which is also line 1 of the answer where nothing failed.

verdict-upload = upload
verdict-download = download
range = { $low } to { $high }

## The verdict. $direction: verdict-upload or verdict-download; $used: rekeys within the transfer

verdict-no-traffic = { $total ->
    [0] No rekey in this capture, and the { $direction } carries too little data to measure.
    [one] The { $direction } carries too little data to tell what the only rekey cost.
   *[other] The { $direction } carries too little data to tell what { $total } rekeys cost.
}
verdict-no-rekeys = No rekey in this capture: this { $direction } carried { $volume } at { $rate }.
# $renewals: those whose SAs no packet used
verdict-unused = { $renewals ->
    [one] One renewal, not used by data
   *[other] { $renewals } renewals, none used by data
}: this { $direction } carried { $volume } at { $rate }.
# $hurt: how many stopped it; $silence: for how long, from the shortest to the longest; $cost: verdict-just or verdict-at-least; $transfer: its length
verdict-stopped = { $used ->
    [one] The only rekey stopped this { $direction } for { $silence }: { $cost } of { $transfer }, { $share }.
   *[other] { $hurt } of { $used } rekeys stopped this { $direction } for { $silence }: { $cost } of { $transfer }, { $share }.
}
# More was made up than was lost: all of them cost less than half of what one of them stopped it.
verdict-made-up = { $used ->
    [one] The only rekey stopped this { $direction } for { $silence }, all but { $cost } made up.
   *[other] { $hurt } of { $used } rekeys stopped this { $direction } for { $silence }, all but { $cost } made up.
}
verdict-slowed = { $hurt } of { $used } rekeys slowed this { $direction } without stopping it: { $cost } of { $transfer }, { $share }.
verdict-just = { $cost }
verdict-at-least = at least { $cost }
# $bound: what one that cost more would have shown
verdict-bounded = { $used ->
    [one] The only rekey measured did not slow this { $direction } by more than { $bound }.
   *[other] None of { $used } rekeys slowed this { $direction } by more than { $bound }.
}
verdict-bounded-without-keys = { $used ->
    [one] The only rekey measured did not stop this { $direction } for more than { $bound }.
   *[other] None of { $used } rekeys stopped this { $direction } for more than { $bound }.
}
verdict-inconclusive = { $used ->
    [one] What the only rekey measured cost this { $direction } cannot be told.
   *[other] What { $used } rekeys cost this { $direction } cannot be told.
}
# $bound: what one that cost less would not have shown
verdict-none-seen = { $used ->
    [one] The only rekey measured is not seen to stop this { $direction }; a cost below { $bound } would not be seen.
   *[other] None of { $used } rekeys is seen to stop this { $direction }; a cost below { $bound } each would not be seen.
}
verdict-unanswered = These packets cannot show what rekeys cost this { $direction }: nothing answers it.
verdict-datagrams = What rekeys cost this { $direction } cannot be told: nobody acknowledges its datagrams.
verdict-datagrams-went-on = { $used ->
    [one] The rekey measured here stopped this { $direction } for { $bound } at most: its datagrams went on.
   *[other] None of { $used } rekeys here stopped this { $direction } for over { $bound }: its datagrams went on.
}
verdict-outside = { $total ->
    [one] The only rekey happened outside this { $direction }: its cost is unknown.
   *[other] All { $total } rekeys happened outside this { $direction }: their cost is unknown.
}

## How much of the gap to a reference rate rekeys explain

explained-no-gap = The rate of { $observed } is not below the reference of { $reference }: there is no gap to explain.
explained-all = Rekeys explain all of the gap to { $reference }.
explained-all-at-least = Rekeys could explain all of the gap to { $reference }, and explain at least { $least }.
explained-up-to-all = Rekeys explain { $estimate } of the gap to { $reference } (at least { $least }, and it could be all).
explained-share = Rekeys explain { $estimate } ({ $least } to { $most }) of the gap to { $reference }.
explained-just = Rekeys explain { $estimate } of the gap to { $reference }.

## What belongs to it, each a sentence

note-rates = It carried { $observed }, and would have carried { $without } without them.
note-rates-without-keys = It carried { $observed }, and would have carried about { $without } without them; an application that pauses there would look the same.
# $cost: together; $rekeys: how many
note-slow = { $cost } of that is spread over { $rekeys } rekeys at which nothing stopped.
# $holes: how many; $length: together in time; $rekeys: left out because their time touches one
note-holes = The capture lacks { $holes ->
    [one] one stretch
   *[other] { $holes } stretches
} ({ $length }) in which the tunnel went on; what was not observed counts neither as a stop nor as its absence{ $rekeys ->
    [0] .
    [one] , and one rekey is left out because of it.
   *[other] , and { $rekeys } rekeys are left out because of it.
}
# $transfers: how many; $rest: together in time
note-transfers = The capture holds { $transfers } transfers; { $rest } of rest between them is left out.
note-outer-bytes = Counted are ESP bytes (SPI to ICV), because keys are missing: retransmissions count as throughput.

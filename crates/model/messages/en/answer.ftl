### The answer in three lines (words/answer): the number, why, what to do. A first line has at most 15 words.

## Line 1. $direction: verdict-upload or verdict-download

# $lost: of the transfer's time; $stall: mean of all $used; $hurt: how many stand out
headline-all = Rekeys cost { $lost } of this { $direction }: { $hurt } of { $used } stalled it, { $stall } each.
headline-some-of-all = Rekeys cost { $lost } of this { $direction }: { $stall } each, { $hurt } of { $used } stalled it.
headline-mean = Rekeys cost { $lost } of this { $direction }: { $stall } each ({ $used } measured).
headline-at-least = Rekeys cost at least { $lost } of this { $direction }: { $hurt } of { $used } stalled it.
headline-stalled = { $used ->
    [one] The only rekey measured stalled this { $direction }, for { $longest }.
   *[other] { $hurt } of { $used } rekeys stalled this { $direction }, for up to { $longest }.
}
headline-bounded = Rekeys do not slow this { $direction }: on average at most { $high } each.
headline-inconclusive = What rekeys cost this { $direction } cannot be told: { $high } each at most.
headline-unknown = { $used ->
    [one] What the only rekey measured cost this { $direction } cannot be told.
   *[other] What { $used } rekeys cost this { $direction } cannot be told.
}
headline-outside = { $total ->
    [one] The only rekey did not fall into this { $direction }: its cost is unknown.
   *[other] None of the { $total } rekeys fell into this { $direction }: their cost is unknown.
}
headline-no-rekeys = No rekey in this capture: this { $direction } ran at { $rate } without one.
headline-no-traffic = { $total ->
    [0] No rekey in this capture, and too little data to measure.
    [one] Too little data to tell what the only rekey cost.
   *[other] Too little data to tell what { $total } rekeys cost.
}

## Line 1 where a rekey failed (impact/tell/failed.rs). $down: how long nothing passed

headline-failed = The rekey at { $time } failed: { $down }.
headline-outage = Nothing was delivered from { $time } on: { $down }.
headline-down = the tunnel was down for { $seconds }
headline-down-open = the tunnel stayed down ({ $seconds } so far)
headline-not-down = no outage was seen

## Line 2

# $sure: nothing, or one of the next
why-cause = Why: { $cause } (at { $n } of { $of } that stalled{ $sure }).
why-sure = , confidence { $confidence }
why-cause-of-failure = Why: { $cause }.
why-no-cause = Why: these packets show no cause.
why-no-cause-without-keys = Why: without keys these packets show no cause.
why-no-cause-wrong-keys = Why: the keys that were read fit none of these packets, which show no cause without them.
why-one-way = Only { $direction } was captured: what came back is not seen.
why-at-the-limit = It ran at { $observed }; { $own } is { $how ->
    [proven] all that this path carries
   *[best] the best that was seen
}.
why-largest = Of { $lost } lost, most went to something else: { $label }, { $seconds } s ({ $share }).
why-undetectable = Average stalls below about { $least } could go unnoticed in this capture.
# $why: a verdict-… of verdict.ftl
why-no-mean = It cannot be told, because { $why }.
why-outside = A cost can be measured only while data flows.
why-no-data = Rekeys cost what waits for them: here next to nothing did.

## Line 3

do = Do: { $text }
# $now: the rate as it was
do-expected = Do: { $text } Expected: about { $rate } (now { $now }).
do-lifetime = raise the kilobyte lifetime from { $limit } to { $lifetime } kB ({ $command }).
do-lifetime-learnt = raise the volume after which SAs are renewed, about { $kilobytes } kB now, to { $lifetime } kB ({ $command }).
do-refused = look at the requests for new SAs that were refused (-v): proposals, PFS group and traffic selectors must fit at the renewal, too.
do-unanswered = look at the requests for new SAs that nobody answered (-v): something drops IKE while ESP passes.
do-lifetime-anywhere = NVR5x0: `ipsec ike duration ipsec-sa`; strongSwan: `life_bytes` and `rekey_bytes`
do-lifetime-yamaha = `ipsec ike duration ipsec-sa`
do-lifetime-strongswan = `life_bytes` and `rekey_bytes`
do-longer-capture = Do: capture a longer transfer, about { $needed } rekeys like these.
do-any-longer-capture = Do: capture a longer transfer, with more rekeys in it.
do-capture-load = Do: capture again while a large file goes through the tunnel.
do-capture-ipsec = Do: capture where UDP 500, UDP 4500 and ESP (IP protocol 50) pass.
do-nothing = Do: nothing about rekeys.
do-keys = Do: give the keys (--keys FILE) to see the cause inside.
do-other-keys = Do: give the keys of this run (--keys FILE) to see the cause inside: those are of another run, or were copied wrongly.
do-unknown = Do: look at the table of rekeys and their display filters (-v).

## Around it

answer-wrong-keys = The keys that were read fit none of { $total }, counted in ESP bytes: --keys FILE gives those of this run.
answer-keys = Without keys for { $missing } of { $total }, counted in ESP bytes there: --keys FILE gives them.
answer-more = … { $n } more: -v
answer-further = More: -v (every figure, interval and filter), --html FILE (pictures).
legend-short = { $ends }; gap: longest time without new data; stall: time lost
legend-proven = proven: the packets show it
legend-hurt = hurt: longer than chance explains
legend-cleared = cleared: nothing to send
legend-unused = unused: not measured
causes-line = { $title }: { $where }

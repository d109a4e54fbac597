# Lines of `rekeyscope watch`.
watch-rekey = Rekey: { $parts }
watch-rekey-by = begun by the { $end }
watch-rekey-exchange = exchange { $time }
watch-rekey-gap = { $time } from the old SA to the new one
watch-rekey-silence = nothing arrived for { $time }
watch-rekey-cost-so-far = cost so far { $time }
watch-failed = A rekey failed: { $outcome }, { $copies }
watch-unanswered = A rekey is not answered: { $outcome }, { $copies }
watch-copies = { $count ->
    [one] asked once
   *[other] asked { $n } times
 }
watch-rekey-cost = The rekey cost { $direction } { $cost }: nothing arrived for { $silence }
watch-outage-began = Nothing passes: { $direction } has data to deliver and nothing arrives
watch-outage-ended = Data passes again: { $direction } was down for { $length }; { $end }
watch-rekey-trigger = What triggered that rekey: { $trigger }
watch-outage-corrected = Corrected: { $direction } was down for { $length }
watch-outage-none = Corrected: { $direction } was not down: the data passed, as what came later shows
watch-key-missing = No key: SA { $spi } to { $dst } is not decrypted ({ $status }); rates are ESP bytes
# Line 1 of the answer, which is made of a document: each language has its own
watch-answer = { $japanese ->
   *[any] { $english }
}
watch-verdict = Verdict on { $direction }: { $verdict }. { $sentence }
watch-verdict-before = Verdict on { $direction }: { $verdict }, before that { $before }. { $sentence }
watch-kernel = Kernel: { $counter } grew by { $packets }: { $meaning }
watch-kernel-not-ready = packets for an SA that this machine does not have: not ready, or gone
watch-kernel-replay = sequence numbers that were there before or are too old
watch-kernel-hard-limit = packets on an SA past its hard limit
watch-kernel-wrong-key = ICV or format wrong: another key or algorithm
watch-kernel-other = packets dropped
watch-summary = { $rekeys }, { $failures }, { $outages }, { $packets }
watch-count-rekeys = { $count ->
    [one] 1 rekey
   *[other] { $n } rekeys
 }
watch-count-failures = { $count ->
    [one] 1 failed
   *[other] { $n } failed
 }
watch-count-outages = { $count ->
    [one] 1 outage
   *[other] { $n } outages
 }

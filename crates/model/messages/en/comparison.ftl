### Several captures against each other (comparison.rs, comparison/sentence.rs).

## What a rekey costs

compare-none = What a rekey costs cannot be told: no capture holds a transfer that could be measured.
compare-only-one = What a rekey costs cannot be told: only one capture holds a transfer that could be measured.
compare-same = What a rekey costs cannot be told: { $captures ->
    [2] both captures have
   *[other] all { $captures } captures have
} the same number of rekeys per GB ({ $densities }), so whatever differs between them has other reasons. Compare captures with different lifetimes.
compare-two = What a rekey costs cannot be told by comparing { $captures } captures: a line fits through any two points (this one has { $stall } per rekey). Add a capture with another lifetime.
compare-cost = A rekey costs { $stall } (95 % interval { $interval }), over { $captures } captures with { $densities } rekeys per GB.
compare-cost-and-without = A rekey costs { $stall } (95 % interval { $interval }), over { $captures } captures with { $densities } rekeys per GB; without rekeys the line gives { $without }.
compare-faster = No cost of rekeys is shown: captures with more of them are faster ({ $stall } per rekey, 95 % interval { $interval }), over { $captures } captures with { $densities } rekeys per GB, so something else differs between them.
compare-cannot-tell = What a rekey costs cannot be told by comparing these { $captures } captures: their { $densities } rekeys per GB lie too near to each other. The line through them allows { $interval } per rekey (95 % interval); { $interest } ({ $share } of throughput) would matter. Add captures with lifetimes further apart.
compare-not-shown = No cost of rekeys is shown: { $stall } per rekey, 95 % interval { $interval }, so at most { $most }, over { $captures } captures with { $densities } rekeys per GB.

## What each cipher suite carries

efficiency-several = Wire efficiency (decrypted payload over IP bytes, in the direction of the data): { $all }. For the same payload { $best } puts { $saved } fewer bytes on the wire than { $worst }; their packets carry { $best-payload } and { $worst-payload } bytes of payload on average, and larger packets are more efficient with any suite.
efficiency-one = Wire efficiency (decrypted payload over IP bytes, in the direction of the data): { $all }; there is no other cipher suite to compare it with.
efficiency-unknown = Wire efficiency is unknown: without keys the payload of no capture could be counted.

## Reservations

compare-differs = Whatever else differs between the captures (the line, the clients, the time of day) is taken for rekeys or for noise.
compare-differs-suite = Whatever else differs between the captures (the cipher suite, the line, the clients, the time of day) is taken for rekeys or for noise.
compare-not-on-the-line = { $name } is not on the line: { $why }.

## Why a capture is not on the line

left-out-no-tunnel = no IPsec tunnel was found in it
left-out-little-data = it carries too little data
left-out-old-document = the saved analysis does not hold its transfer: an older version wrote it, so analyse the capture again
left-out-nothing = nothing in it could be measured
left-out-no-keys = its keys are missing, so its ESP bytes would stand beside the payload of the others

### Labels: columns of tables, and the names of kinds, states and causes.

## Columns of tables.

column-number = #
column-direction = direction
column-point-both = at both
column-point-lost = lost between
column-point-neither = at neither
column-point-only-here = only here
column-point-only-there = only there
column-point-reordered = overtaken
column-point-least = least
column-point-median = median delay
column-point-p95 = 95 %
column-point-most = most
column-verdict = verdict
column-rekeys = rekeys
column-hurt = hurt
column-rate = rate
column-lost = lost s
column-silence-ms = silence ms
column-lost-to-rekeys = to rekeys s
column-without-rekeys = without
column-lifetime = lifetime
column-expected-rate = expected rate
column-from = least
column-to = most
column-suite = cipher suite
column-packets = packets
column-on-the-wire = on the wire
column-inner = inner
column-efficiency = efficiency
column-iv = IV
column-padding = padding
column-icv = ICV
column-headers = headers
column-largest-packet = largest packet: wire
column-mss-ipv4 = MSS IPv4
column-mss-ipv6 = MSS IPv6
column-flow = flow
column-protocol = proto.
column-new-bytes = new bytes
column-retransmitted = retransmitted
column-retransmitted-share = share
column-handshake-ms = handshake ms
column-rtt-ms = RTT ms
column-ack-rtt-ms = ACK RTT ms
column-window = window
column-in-flight = in flight
column-rekey = rekey
column-time-s = time s
column-before = before
column-lowest = lowest
column-highest = highest
column-by = by
column-outcome = outcome
column-requests = requests
column-answer-s = answer s
column-outage-from-s = nothing from s
column-outage = nothing for
column-trigger = trigger
column-volume = volume
column-age = age
column-ike-ms = IKE ms
column-sa-gap-ms = old→new SA ms
column-overlap-ms = overlap ms
column-effect = effect
column-causes = causes
column-dir = dir.
column-gen = gen.
column-spi = SPI
column-key = key
column-key-from = from
column-mode = mode
column-from-s = from s
column-to-s = to s
column-esp-bytes = ESP bytes
column-icv-fit = ICV fit
column-bad = bad
column-unchecked = unchecked
column-missing = missing
column-source-address = from
column-destination-address = to
column-road = how
column-source = source
column-initiator-spi = initiator SPI
column-responder-spi = responder SPI
column-ike = IKE
column-capture = capture
column-sentence = sentence
column-account = went to
column-seconds = s
column-share = of time
column-lost-s = lost s
column-lost-share = of lost
column-s-per-gb = s per GB
column-without = without it
column-also = also
column-own-s-per-gb = s per GB
column-reference-s-per-gb = reference
column-difference = difference
column-gap-share = of it
column-stretch-s = s
column-stretch-filter = display filter
comparison-capture = Capture
comparison-suite = Cipher suite
comparison-lifetime = Lifetime
comparison-rekeys = Rekeys
comparison-per-gb = per GB
comparison-rate = Rate
comparison-s-per-gb = s per GB
comparison-cost = Per rekey
comparison-range = Least–most
comparison-efficiency = Efficiency

## The verdict.

verdict-label-failed = outage or failure
verdict-label-shown = cost shown
verdict-label-some = some rekeys hurt
verdict-label-bounded = no cost that matters
verdict-label-inconclusive = inconclusive
verdict-label-no-rekeys = no rekeys
verdict-label-no-traffic = no traffic
verdict-label-no-tunnel = no tunnel
verdict-label-not-read = not read

## What made a side renew.

trigger-volume = volume
trigger-time = time
trigger-packets = packets
trigger-reauthentication = reauthentication
trigger-collision = collision
trigger-unknown = unknown

## How far a key is trusted.

key-verified = verified
key-unverified = unverified
key-derived = derived
key-prefix8 = prefix8
key-masked = masked
key-truncated = truncated
key-conflict = conflict
key-missing = missing
road-explicit = explicit
road-mined = mined
road-derived = derived
road-known = known
mode-transport = transport
mode-tunnel = tunnel
effect-stopped = stopped
effect-lost-on-old = lost on the old SA
effect-lost-on-new = lost on the new SA
effect-outage = in an outage
effect-silence = nothing sent
effect-reverse = answers lost
effect-slow = slower
effect-not-observed = not observed
effect-outside = outside

## Causes.


### Labels: columns of tables, and the names of kinds, states and causes.

## Columns of tables.

column-number = #
column-direction = direction
column-verdict = verdict
column-rekeys = rekeys
column-hurt = hurt
column-rate = rate
column-stall-ms = stall ms
column-95-from = 95 % from
column-95-to = to
column-p = p
column-q = q
column-detectable-ms = detectable ms
column-changed = changed
column-agreement = agreement
column-lifetime = lifetime
column-expected-rate = expected rate
column-from = from
column-to = to
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
column-cause = cause
column-meaning = meaning
column-result = result
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
column-gap-ms = gap ms
column-sa-gap-ms = old→new SA ms
column-overlap-ms = overlap ms
column-depth = depth
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
column-road = road
column-source = source
column-initiator-spi = initiator SPI
column-responder-spi = responder SPI
column-ike = IKE
column-capture = capture
column-sentence = sentence
comparison-capture = Capture
comparison-suite = Cipher suite
comparison-lifetime = Lifetime
comparison-rekeys = Rekeys
comparison-per-gb = per GB
comparison-rate = Rate
comparison-s-per-gb = s per GB
comparison-stall = Stall
comparison-95 = 95 %
comparison-efficiency = Efficiency

## The verdict.

verdict-label-failed = a rekey failed
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
confidence-high = high
confidence-medium = medium
confidence-low = low
effect-hurt = hurt
effect-unused = unused
disagrees = disagrees

## Causes.

cause-responder-not-ready = data on the new SA before the responder had it installed
cause-initiator-not-ready = data on the new SA before the initiator had it installed
cause-rekey-refused = the other side refused the rekey
cause-rekey-unanswered = the other side did not answer the rekey, or only after several requests
cause-limit-without-rekey = an SA passed its limit, and nobody asked for a new one
cause-break-before-make = the SAs were deleted before new ones were negotiated
cause-blackhole-after-rekey = an SA swallowed everything after a rekey: its data was sent again and again, and nothing was acknowledged
cause-dpd-unanswered = the peer did not answer dead peer detection
cause-rekey-storm = attempt after attempt, in the time in which there is usually one rekey
cause-old-sa-deleted-early = the old SA was deleted while packets were still on their way
cause-asymmetric-switch = one direction went on with its old SA long after the other had left it
cause-hard-limit-reached = the old SA passed its hard limit before the new one took over
cause-exchange-retransmitted = a message of the exchange was sent again
cause-collision = both sides began a rekey at once
cause-replay-drops = packets outside the replay window
cause-slow-key-exchange = the key computation took long
cause-slow-path = a slower path after the new SA was installed
cause-rto-stall = the inner TCP waited for its retransmission timer
cause-window-cut = the inner TCP cut its window
cause-receiver-limited = the receiver's window was closed: not the rekey
cause-application-limited = the sender had nothing to send: not the rekey
cause-fragmentation-change = packet sizes or fragmentation changed with the new SA
cause-nat-mapping-change = the NAT mapping changed
cause-phase1-renewal = phase 1 was renewed close by
cause-ppp-trouble = L2TP or PPP had trouble of its own
cause-capture-artefact = the capture itself has a hole here
cause-desync = one side did not know the other's SA

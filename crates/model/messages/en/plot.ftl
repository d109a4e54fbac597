### What the plots draw and say. Every character drawn must be in the fonts (fonts/README.md).

plot-timeline-title = Throughput and rekeys of tunnel { $tunnel }
plot-timeline-text = Throughput over { $run }, { $rekeys }, { $which }.
plot-detail-title = Round trips, data in flight and SAs of tunnel { $tunnel }
plot-detail-text = On the time axis of the throughput: round trips, data in flight, where the time went, and which SA carried packets when.
plot-none-hurt = none hurt
plot-hurt-list = hurt: { $list }
plot-lane = { $direction }, { $unit }
plot-stepped = {"; stepped line: "}{ $name }
# An overlay that has next to none
plot-few = { $name }, { $count ->
    [one] { $n } value
   *[other] { $n } values
}
plot-rtt = RTT, { $unit }: { $flow }
plot-rtt-name = RTT, { $flow }
# The half of the round trip between the capture and the receiver
plot-ack-rtt = ACK RTT (segment to its ACK), { $unit }: { $flow }
plot-ack-rtt-name = ACK RTT, { $flow }
plot-in-flight = Data in flight, { $unit }: { $flow }
plot-in-flight-name = In flight, { $flow }
plot-further-flows = {"; pale: "}{ $count ->
    [one] one more connection
   *[other] { $n } more connections
}
plot-account = Where the time went, { $direction }
plot-lanes = Security associations: one bar each, from its first to its last packet (pale: no key)
# The direction of a lane, and of an SA in a table
plot-up = up
plot-down = down
plot-seconds = seconds since the start of the capture
plot-mark = Rekey { $number } at { $when } s{ $effect }
plot-effect = {": "}{ $cost }
plot-lost = lost { $cost }
plot-hurt = hurt
plot-panel-title = Rekey { $number }
plot-panel-text = Throughput of { $direction } around rekey { $number }{ $effect }.
plot-panel-headline = Rekey { $number } at { $when } s, { $unit }
# The packets around a rekey
plot-close-title = Packets around rekey { $number }
plot-close-tcp = Rekey { $number }: { $src } → { $dst }, bytes inside over time, { $unit }
plot-close-esp = Rekey { $number }: ESP sequence numbers over time, { $direction } and back; the old SA counts up to 0, the new one from 1
plot-close-axis = seconds from the first message of the exchange
plot-close-axis-switch = seconds from the first packet on a new SA
plot-close-last = last packet on the old SA: frame { $frame }
plot-close-first = first packet on the new SA: frame { $frame }
plot-close-old = data on the old SA
plot-close-new = data on the new SA
plot-close-answers = acknowledged (pale: on the old SA)
plot-close-back = the other direction (pale: on the old SA)
plot-close-edge = end of the receiver's window
plot-close-edge-above = the receiver's window ends above
plot-close-lost = lost
plot-close-repeated = sent again
plot-close-again = { $label } again
plot-close-message = { $label }: frame { $frame }, { $time } s
plot-close-column = { $time } s: frames { $frames }
plot-comparison-title = Seconds per gigabyte over rekeys per gigabyte
plot-comparison-text = One point per capture, and the line through them: its slope is what a rekey costs.
plot-comparison-x = rekeys per gigabyte
plot-comparison-y = seconds per gigabyte

### What the plots draw and say. Every character drawn must be in the fonts (fonts/README.md).

plot-timeline-title = Throughput and rekeys of tunnel { $tunnel }
plot-timeline-text = Throughput of both directions over { $run }, { $rekeys }, { $which }; below, which SA carried packets when.
plot-none-hurt = none hurt
plot-hurt-list = hurt: { $list }
plot-lane = { $direction }, { $unit }
plot-stepped = {"; stepped line: "}{ $name }
plot-account = Where the time went, { $direction }
plot-lanes = Security associations: one bar each, from its first to its last packet (pale: no key)
# The direction of a lane, and of an SA in a table
plot-up = up
plot-down = down
plot-seconds = seconds since the start of the capture
plot-mark = Rekey { $number } at { $when } s{ $stall }
plot-stall = {": stall "}{ $stall }
plot-stall-hurt = {": stall "}{ $stall }, hurt
plot-hurt = {", hurt"}
plot-mean-title = The mean rekey, { $direction }
plot-mean-text = Mean rate around the switch to the new SA, over the band in which the means of 95 % of the placebo draws lie.
plot-mean-headline = { $direction }, { $unit } – line: mean over the rekeys; band: 95 % of the placebos
plot-mean-axis = milliseconds from the switch to the new SA
plot-panel-title = Rekey { $number }
plot-panel-text = Throughput of { $direction } around rekey { $number }{ $stall }.
plot-panel-headline = Rekey { $number } at { $when } s, { $unit }
plot-panel-hurt-stall = hurt: stall { $stall }
plot-panel-stall = stall { $stall }
plot-panel-hurt = hurt
plot-comparison-title = Seconds per gigabyte over rekeys per gigabyte
plot-comparison-text = One point per capture, and the line through them: its slope is what a rekey costs.
plot-comparison-x = rekeys per gigabyte
plot-comparison-y = seconds per gigabyte

### What only the HTML pages have. Backticks set off code.

page-title = Rekeys in { $path }
page-verdict = Verdict
page-in-json = { $direction } · `impact[0]` in the JSON document
page-in-full = The verdict in full
page-how-to-read = How to read the picture
page-all-directions = All directions
page-quality = Capture quality
page-tunnel = {"Tunnel "}{ $tunnel }{": "}
page-whole-run = The whole run
page-whole-run-label = Plot of the whole run, tunnel { $tunnel }
page-account = Where the time went, in full
page-account-bar = The whole time of { $direction }, part by part
page-account-stretches = The longest stretches
page-detail = Round trips, data in flight, SAs
page-detail-label = Plot of round trips, data in flight and SAs, tunnel { $tunnel }
page-courses = RTT and data in flight: of the connection with most bytes, line: mean, band: lowest to highest.
page-account-strip = The strips: what the time went to, in the colours of “Where the time went”.
page-timeline-part = Drawn: { $from } to { $to } of { $whole }; before and after there is neither a transfer nor a rekey nor a failure.
page-panels = Each rekey, to the same scale
page-panels-note = Time in seconds from the first message of the exchange. Shaded: nothing arrives; pale: until the rate is back. Bar at the upper edge: from that message to the first packet on the new SA. Dashed: the rate without the rekey.
page-panels-left-out = { $n } more rekeys have no panel here (those that hurt come first).
page-close-ups = Each rekey, packet by packet
page-close-ups-note = From 1.5 s before the first message of the exchange to 1.5 s behind the switch. Each dot is a data packet at the last byte it brings: while data flows the dots rise, where they stop nothing is sent, and what lies below them is sent again. The line below them is what the receiver has acknowledged. Shaded: nothing arrives; pale: until the rate is back. The filter shows these packets in Wireshark.
page-close-ups-left-out = { $n } more rekeys have no such plot (those with the longest silence have one).
page-close-up-label = Packets around rekey { $number }, tunnel { $tunnel }
close-up-gap = The last packet on the old SA is frame { $last }; the first one on the new SA, frame { $first }, comes { $time } later.
close-up-overlap = The first packet on the new SA is frame { $first }; the old SA carries packets for another { $time }, up to frame { $last }.
close-up-first = The first packet on the new SA is frame { $first }.
close-up-last = The last packet on the old SA is frame { $last }.
close-up-neither = Neither the last packet on the old SA nor the first one on the new SA lies in this time.
close-up-lost = { $n } of the segments drawn are sent again later, presumably lost: frame { $first } is the first of them, frame { $last } the last.
close-up-lost-one = One of the segments drawn is sent again later, presumably lost: frame { $frame }.
close-up-none-lost = None of the segments drawn is sent again later.
close-up-left-out =
    { $count ->
        [one] { $n } packet in between is not drawn.
       *[other] { $n } packets in between are not drawn.
    }
page-rekeys-of = Rekeys of tunnel { $tunnel }
page-rekeys-note = The number counts within the tunnel: `number` and `tunnel` of `rekeys` in the JSON document. Lost: what the same bytes took longer than at the rate around, from the last arrival before the silence until the rate is back; the column adds up to what the verdict says.
page-rekeys-shown = { $n } of { $all } shown: those that cost most.
page-left-out-tunnels = { $count ->
    [one] { $n } more tunnel is
   *[other] { $n } more tunnels are
} not shown in detail: the JSON document holds them, and --tunnel chooses one.
page-overlays = Beside other measurements
page-evidence = Evidence { $number }
page-cause-rekey = Rekey, or time
page-cause-why = Why
page-cause-filter = Display filter
page-cause-left-out = { $n } more rekeys have this cause: the JSON document lists them.
page-warning = Warning.
page-projection = What other lifetimes would give, and what to change
page-overhead = SAs, overhead and flows
page-sas = Security associations
page-sas-of = Security associations of tunnel { $tunnel }
page-method = Method and how to reproduce
page-method-text = A byte counts when the copy that arrived passes the capture; the plots count bytes in bins of { $bin }. A silence that touches a rekey, and in which packets were lost or which is longer than usual, belongs to that rekey until the rate is back. Its cost is that time less what the bytes which arrived in it take at the rate without it.
page-made-by = Made by { $program }:
page-in-the-json = . Every number is in the JSON document of the same run (`--json`).
page-oddities = Oddities in the capture
page-timeline-caption = Shaded: nothing arrives, at a rekey or a failure; pale: until the rate is back.
page-timeline-marks = Marks above: { $counted }; orange: those that hurt.
page-timeline-attempts = Short orange marks: requests of a renewal that failed, or that an outage followed.
page-timeline-pairs = The outage is that between { $pairs } alone: a lane with other traffic too is shaded at its foot only.
page-timeline-how = Line: mean; band: lowest to highest bin of { $bin } behind each point; bursts are cut off at the top; counted: { $counted }. A mark begins with the first message of its rekey, and its bar ends with the switch of that direction; it links to the row of the rekey.
figure-lost = Lost to rekeys
figure-lost-to = Lost to { $to }
figure-lost-detail = of the transfer
figure-cost-detail = of { $transfer }
figure-outage = Longest outage
figure-hurt = Rekeys that hurt
figure-hurt-value = { $hurt } of { $used }
figure-hurt-detail = of those in the transfer
figure-observed = Rate observed
figure-without = Rate without rekeys
figure-without-detail = bytes over the remaining time
index-one-line = One line per capture.
index-captures = Captures
index-note = rekeys: in the capture; hurt: those that stopped or slowed it; lost: what they cost the direction that carries the data.
comparison-title = Rekeys in { $n } captures
comparison-question = What does a rekey cost?
comparison-compared = { $n } captures compared
comparison-answer = Answer
comparison-plot = Time per gigabyte against rekeys per gigabyte
comparison-plot-label = Plot
comparison-plot-caption = One point per capture. The slope of the line is what a rekey costs.
comparison-captures = Captures

## What the script of the page says.

script-copy = copy
script-copied = copied
script-selected = selected
script-copy-label = Copy this filter or command
script-zoom-in = Zoom in
script-zoom-out = Zoom out
script-earlier = Earlier
script-later = Later
script-whole = whole run
script-whole-label = Show the whole run
script-at-least = at least
script-scroll = more to the right →
script-pick-hint = Point at the plot for frame numbers; click to copy their filter.
script-hint = Point at the plot to read it; drag to move, Ctrl and wheel or + and − to zoom.
script-touch = Tap the plot to read it; + and − zoom.
script-pick-touch = Tap a place to copy the filter of its frames.

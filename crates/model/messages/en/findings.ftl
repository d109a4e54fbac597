### What was wrong that no rekey caused (diagnosis/findings).
### $direction is one of the form "192.0.2.1 → 192.0.2.2".

## Loss

finding-capture-dropped = { $direction }: { $missing } of { $packets } ESP packets are missing in the capture, but what was in them arrived: TCP inside acknowledged { $bytes } bytes that were never captured and never sent again. The capture lost them, not the tunnel; rates are lower here by that share.
finding-one-direction-loss = { $direction }: { $missing } ESP packets ({ $share }) never reached the capture, against { $other } the other way: loss before the capture point, in one direction.
finding-both-directions-loss = { $direction }: { $missing } ESP packets ({ $share }) never reached the capture, and { $other } the other way: loss before the capture point, in both directions.
finding-packet-loss = { $direction }: { $missing } ESP packets ({ $share }) never reached the capture: loss before the capture point. The other way went too little to compare with.
finding-behind-window = { $direction }: { $late } ESP packets ({ $share }) came { $window } or more numbers late{ $lost ->
    [seen] , and were sent again: the receiver threw them away, since its replay window had gone on
   *[unseen] : a receiver with a replay window of { $window } would throw them away, and nothing shows that this one did
}.
finding-damaged = { $direction }: { $damaged } ESP packets ({ $share }) came damaged (wrong ICV): { $by ->
    [capture] the capture damaged them, since TCP inside acknowledged what was in them
   *[line] their receiver drops them
}.
finding-lost-fragments = { $direction }: { $missing } ESP packets ({ $share }) are missing; of { $cut } of them the first fragment came, so that later fragments were lost before the capture point.
finding-lost-before-encryption = { $direction }: { $lost } of { $segments } TCP segments ({ $share }) came only when TCP sent them again, and { $esp ->
    [whole] no ESP number is missing
   *[lossy] only { $missing } ESP numbers are missing
}: they were lost before encryption{ $spared ->
    [yes] , and none of { $echoes } echo requests was
   *[no] {""}
}.
finding-packets-missing = { $direction }: { $missing } ESP packets ({ $share }) never reached the capture, against { $other } the other way: lost before the capture point or not captured: without keys for both directions nothing tells which.

## The same in a few words, by the same arguments

brief-finding-one-direction-loss = { $share } of ESP { $direction } lost before the capture point
brief-finding-both-directions-loss = { $share } of ESP { $direction } lost before the capture point, and { $other } the other way
brief-finding-packet-loss = { $share } of ESP { $direction } lost before the capture point
brief-finding-damaged = { $share } of ESP { $direction } came damaged (wrong ICV)
brief-finding-lost-fragments = { $share } of ESP { $direction } lacks later fragments
brief-finding-packets-missing = { $share } of ESP { $direction } is missing in the capture
brief-finding-tiny-fragments = { $split } of { $packets } packets of { $direction } are split into a full and a tiny IP packet
brief-finding-tiny-segments = { $tiny } of { $segments } TCP segments of { $direction } are a tiny rest behind a full one
brief-finding-path-mtu = { $fragmented } of { $packets } packets of { $direction } were fragmented
brief-finding-leak = { $packets ->
    [one] one L2TP packet
   *[other] { $packets } L2TP packets
} went between the tunnel's ends in the clear

## SAs

finding-parallel-sas = { $direction }: packets alternate between SAs that are alive side by side ({ $returns } returns to the older one). If both carry the same subnets, one is enough and halves the rekeys; two subnets need both.
finding-unused-sas = { $unused } of { $negotiated } negotiated child SAs never carried a packet: the peers negotiate more than they use.

## Sizes

finding-tiny-fragments = { $direction }: { $split } of { $packets } packets are split into one full and one tiny IP packet ({ $largest } bytes and a rest). Packets a few bytes smaller would halve the packet count: lower the inner MTU or clamp the MSS.
finding-tiny-segments = { $direction }: { $tiny } of { $segments } TCP segments are a tiny rest right behind a full one of { $largest } bytes. The application writes a few bytes more than fits into a segment; writes of at most { $largest } bytes would halve the packet count.
finding-path-mtu = { $direction }: { $fragmented } of { $packets } packets were fragmented; the largest IP packet that passed whole has { $mtu } bytes.
finding-fits = The largest ESP payload that fits is { $fits } bytes, { $excess } less than the largest seen: a TCP MSS of { $mss } avoids all fragments.

## The capture itself

finding-clock-step-back = The capture's clock steps back by { $seconds } at frame { $frame } ({ $told }). It is taken out: from there on, times here are those of a clock that did not step, and no rate counts it.
finding-clock-step-forward = The capture's clock steps forward by { $seconds } at frame { $frame } ({ $told }). It is taken out: from there on, times here are those of a clock that did not step, and no rate counts it.
finding-step-by-clocks = by the peers' own clocks
finding-step-by-packets = the packets go on where they were
finding-out-of-order = From frame { $frame } on come packets { $seconds } older than those before them: files were joined out of order, or one twice. Packets seen before are left out; for exact silences, sort the file first (reordercap).
finding-silence-or-step = { $seconds } of silence end at frame { $frame }. Whether nothing was sent or the clock stepped, the packets do not tell: if it stepped, the rates are higher than given here.
finding-coarse-clock = The times of this capture come in steps of { $time }: pauses and bursts of one step are those of its clock, and nothing shorter is known. Capture with a finer clock.
finding-copies-apart = Packets are in this capture twice, up to { $time } apart: two captures whose clocks differ were merged. Each packet is counted once. Times between the two ends are not exact: look at one of the captures alone.
finding-earlier-times = { $packets } packets carry an earlier time than the one before them, by up to { $most }: the clock was set back, or several interfaces or queues were merged. Silences and rates near them are not exact.
finding-program-dropped = The capture program dropped { $dropped } packets: silences and missing ESP numbers may be the capture's own.
finding-leak = { $packets ->
    [one] one L2TP packet
   *[other] { $packets } L2TP packets
} went between the tunnel's ends in the clear: before, beside or after the IPsec SAs.
finding-failed-open = The tunnel failed open: after { $what ->
    [delete] the Delete
   *[outage] the outage that began
} at { $time }, { $count ->
    [one] one packet
   *[other] { $packets } packets
} ({ $bytes } bytes) from { $src } to { $dst }, which had been inside the tunnel, went in clear.

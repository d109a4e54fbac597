### One tunnel captured at two points (tell/two_points.rs).

## What was compared

two-points-no-common-sa = { $other } has no SA in common with this capture: it is of another tunnel or of another time. Nothing was compared.
two-points-no-common-packet = { $other } has { $sas ->
    [one] one SA
   *[other] { $sas } SAs
} in common with this capture and not one packet: the two do not overlap in time. Nothing was compared.
two-points-no-common-time = { $other } and this capture overlap for less time than packets take from one to the other. Nothing was compared.
two-points-kept-until = The first { $seconds } were compared: the captures hold more packets than are kept for that.
two-points-files-unread = { $files ->
    [one] A file of one of the points
   *[other] { $files } files of the points
} could not be read whole: what passed in its time counts as lost between them.
two-points-behind-nat = { $sas ->
    [one] One SA has
   *[other] { $sas } SAs have
} another destination there (a NAT lies between the points): matched by SPI and sequence number alone.
two-points-sas-left-out = SAs of one capture alone are left out: { $here } of this one, { $there } of the other.

## The clocks

two-points-clock-ahead = The clock of { $other } is { $offset } ahead of this capture's at the beginning, ± { $error } (half of the shortest round trip between the two points: how it divides into the two ways cannot be told).
two-points-clock-behind = The clock of { $other } is { $offset } behind this capture's at the beginning, ± { $error } (half of the shortest round trip between the two points: how it divides into the two ways cannot be told).
two-points-drift-gains = It gains { $ppm }.
two-points-drift-loses = It loses { $ppm }.
two-points-drift-unknown = The packets seen at both points lie within too short a time to tell whether it drifts.
two-points-clock-set = No offset and drift fit all packets: the clock of this capture or of { $other } was set meanwhile. Delays are left out, losses are not.
two-points-one-way = The offset of the clock of { $other } is not known, because packets of one direction only, or from points too close together, say nothing of it: delays are given above the least one.

## Losses

two-points-lost-behind-here = { $src } → { $dst } passes this point first: { $lost ->
    [0] none
    [one] one
   *[other] { $grouped }
} of { $sent } packets got lost on the way to the other point, { $missing } were seen at neither, { $unrecorded } only at the other.
two-points-lost-before-here = { $src } → { $dst } passes the other point first: { $lost ->
    [0] none
    [one] one
   *[other] { $grouped }
} of { $sent } packets got lost on the way to this point, { $missing } were seen at neither, { $unrecorded } only here.
two-points-lost-unknown = { $src } → { $dst }: { $both } packets were seen at both points, { $here } here alone, { $there } there alone; which point comes first cannot be told, neither by times nor by hop limits.
two-points-order-by-hops = Which point comes first is told by the hop limits (TTL) of these packets, which are larger there; their times do not tell.
two-points-ike-lost = { $messages ->
    [one] One IKE message was
   *[other] { $messages } IKE messages were
} lost between the points.
two-points-drops-none = Neither capture reports packets that it dropped itself.
two-points-drops-unknown = A packet that a capture dropped looks like a lost one, and neither capture tells how many it dropped.
two-points-drops = A packet that a capture dropped looks like a lost one: this capture reports { $here } dropped, the other { $there }.
two-points-not-told = an unknown number

## Rekeys

two-points-packets-old = { $packets ->
    [one] one packet
   *[other] { $packets } packets
} of the old SA { $spi }
two-points-packets-new = { $packets ->
    [one] one packet
   *[other] { $packets } packets
} of the new SA { $spi }
two-points-messages = { $messages ->
    [one] one IKE message
   *[other] { $messages } IKE messages
}
two-points-rekey-before = Rekey { $number }: { $lost } lost between the capture points, from { $first } to { $last } before the switch.
two-points-rekey-after = Rekey { $number }: { $lost } lost between the capture points, from { $first } to { $last } after the switch.
two-points-rekey-around = Rekey { $number }: { $lost } lost between the capture points, from { $first } before to { $last } after the switch.
two-points-usual = Of the { $sent } packets of these SAs around it, { $usual } would be lost as often as packets are elsewhere.

### Sentences of a report, the same in every format.

counted-rekeys =
    { $count ->
        [one] { $n } rekey
       *[other] { $n } rekeys
    }
counted-findings =
    { $count ->
        [one] { $n } finding
       *[other] { $n } findings
    }
counted-packets =
    { $count ->
        [one] { $n } packet
       *[other] { $n } packets
    }
counted-sas =
    { $count ->
        [one] { $n } SA
       *[other] { $n } SAs
    }
counted-esp-keys =
    { $count ->
        [one] { $n } ESP key
       *[other] { $n } ESP keys
    }
counted-ike-keys =
    { $count ->
        [one] { $n } IKE key
       *[other] { $n } IKE keys
    }
counted-trials =
    { $count ->
        [one] { $n } trial
       *[other] { $n } trials
    }
comma = {", "}
semicolon = {"; "}
at-least = {"at least "}{ $value }
at-most = {"at most "}{ $value }
tunnel-direction = tunnel { $tunnel }, { $direction }
tunnel-no-ike = no IKE seen
tunnel-udp = ESP in UDP
tunnel-tcp = ESP in TCP
tunnel-nat = NAT between them
trigger-bytes-of = { $kilobytes } of { $limit } kB
trigger-bytes-no-limit = { $bytes }, no limit on the wire
trigger-counting = counting { $what }
trigger-age-of = age { $age } of { $limit } s
trigger-age-no-limit = age { $age }, no limit on the wire
causes-of-one = { $id }: { $title }. Rekey { $rekeys }{ $more }.
causes-of-attempts = { $id }: { $title }, { $rekeys }{ $more }.
attempt-at = at { $when } s
causes-of-several = { $id }: { $title }. Rekeys { $rekeys }{ $more }.
and-more = , …
counted-inner = new inner bytes (retransmissions left out)
counted-outer = ESP bytes (SPI to ICV), because keys are missing
no-verdict-empty = The capture holds no packets: there is nothing to say about rekeys.
no-verdict-ike-rekeys = IKE but no ESP packets: what { $rekeys } cost is not in it.
no-verdict-ike-only = IKE but no ESP packets, and no rekey.
no-verdict-no-tunnel = No IPsec tunnel was found in this capture: there is nothing to say about rekeys.
capture-and-more = and { $n } more
capture = { $path }: { $format }{ $links }, { $packets }, { $bytes }{ $duration }; ESP { $esp }, IKE { $ike }.
quality-dropped = The capture program dropped { $packets }.
quality-drops-unknown = Whether packets were dropped is not recorded in this file.
quality-truncated = The file ends in the middle of a record: everything before that is analysed.
quality-cut = { $packets } cut by the snap length: capture with -s 0.
quality-duplicates = { $packets } seen twice, counted once.
quality-time-regressions = { $packets } earlier than the one before.
quality-offload = Packets larger than any link: offloading was on; bytes hold, counts of missing packets do not.
quality-good = No drops, no cuts, no steps of the clock.
decryption-none = No SA carries a packet.
decryption = { $verified } of { $total } with packets decrypted; ICVs: { $fit } fit, { $bad } do not, { $unchecked } unchecked.
missing-keys =
    { $count ->
        [one] { $n } SA has
       *[other] { $n } SAs have
    } packets but no key that the ICV confirms ({ $list }).
missing-keys-half =
    { $count ->
        [one] Of the key of { $n } SA the integrity key fits (its ICVs do) and no encryption key is proven
       *[other] Of the keys of { $n } SAs the integrity key fits (their ICVs do) and no encryption key is proven
    }: it is of another run, was copied wrongly, is not in the files, or the packets are too few.
missing-keys-line-ikev1 = The Quick Modes of the IKE SA with the initiator cookie { $spi } stay closed: its SKEYID_e (or Ka) would open them, and with its SKEYID_d beside that give the keys of every SA that they negotiate without PFS.
missing-keys-line-ikev2 = The exchanges of the IKE SA with the initiator's SPI { $spi } stay closed: its SK_ei and SK_er would open them, and with its SK_d beside those give the keys of every SA that they negotiate without PFS; SKEYSEED alone does both.
missing-keys-masked = Masked keys: `show ipsec sa` gives keys on the serial console only, and IKE keys only in part; the key-info log below gives them whole.
missing-keys-wrong = None of the keys that were read fits: they are of another run or another tunnel.
missing-keys-how = Yamaha NVR/RTX: `ipsec ike log 1 key-info` and `syslog debug on` before the tunnel comes up, then `show log`. strongSwan: charon's log at level 4, or `ip xfrm state` while the SA lives. Or Wireshark's own esp_sa file.
missing-keys-where = Give such a file with --keys FILE, or put it beside the capture under one of these names: { $names }.
key-file-no-format = no format recognised
key-file = { $path }: { $formats }; { $esp }, { $ike }.
key-file-problems =
    { $path }: { $formats }; { $esp }, { $ike }; { $count ->
        [one] { $n } problem
       *[other] { $n } problems
    }.
diagnostic = { $sentence } (×{ $count })
diagnostic-first = { $sentence } (×{ $count }, first in frame { $frame })
warning = {"Warning: "}{ $sentence }
more-in-json = {"   "}{ $n } more are in --json.
more-in-main-json = {"   "}{ $n } more are in --json of the main job.
left-out-verdicts = { $n } more verdicts are not listed here: --json holds all of them.
left-out-transfers = { $n } more transfers are not listed here: --json holds all of them.
note-flows = share: retransmitted of all payload; handshake: SYN to its last ACK, the whole path; RTT: median of the whole path; ACK RTT: median from a segment to its ACK, the part between capture and receiver; window: the largest that the receiver gave; in flight: most data that was not acknowledged.
left-out-flows = { $n } more flows are not listed here: --json holds all of them.
left-out-overlay = { $n } more rekeys are not listed here: --json holds all of them.
left-out-rekeys = { $n } more rekeys are not listed here: --json, or rekeys.csv of --csv, holds all of them.
left-out-sas = { $n } more SAs are not listed here: --json, or sas.csv of --csv, holds all of them.
left-out-sa-keys = { $n } more SAs are not listed here: --json of the main job holds all of them.
left-out-ike-sas = { $n } more IKE SAs are not listed here: --json of the main job holds all of them.
left-out-tunnels = { $count ->
    [one] { $n } more tunnel is
   *[other] { $n } more tunnels are
} not shown in detail: choose one with --tunnel, or see --json or --html.
# $rate: what lost seconds are compared with
note-account = lost: longer than the same bytes take at { $rate }; without it: the rate of the whole transfer without these lost seconds, an estimate; GB: 10⁹ new bytes.
note-account-best = No stretch proves that this path carries no more than its best: the limit may be higher, and what is lost with it.
note-gap-account = Seconds per 10⁹ new bytes; the differences add up.
note-verdicts = rekeys: those within the transfer; lost: what they cost it; without: the rate without them.
note-path-mtu = MSS and largest inner packet: for a path MTU of { $paths } bytes, the largest packet seen with that suite; a larger path takes more.
note-overlay = lowest and highest: from the first message of the exchange to 2 s after the switch.
heading-two-points = Between the two capture points
note-two-points = Packets in the time that both captures cover. Delay: one way, on clocks set right by the offset and its drift.
note-two-points-variation = Packets in the time that both captures cover. Delay: above the least one, which is not known.
note-comparison = GB: 10⁹ new bytes. Per rekey: lost within that capture, the mean of its rekeys, then the least and the most. Efficiency: decrypted payload over IP bytes, in the direction of the data.
note-suite-of = { $suite }: { $captures }
suite-in-udp = { $suite } in UDP
# $client: the IKE initiator
ends = client { $client }, gateway { $gateway }
ends-and-up = { $ends }; up: to the gateway
note-up = up: { $direction }.
end-client = client
end-gateway = gateway
note-other-direction = * the other direction
note-lost = lost: what { $direction } took longer
note-silence = silence: longest time in which nothing arrived
note-volume = volume: as the exchange began
note-not-observed = not observed: the capture lacks packets there
note-outside = outside: no transfer there
note-overlay-columns = The last columns: lowest and highest value of each overlay from the rekey to 2 s after its switch.
note-rule = When rekey { $number } began: { $rule }.
cell = { $text }
full-stop = { $text }.
note-suite = Cipher suite { $suite }
note-suites = Cipher suites { $suites }{ $more }
note-mode = { $mode } mode
note-keys-from = keys from { $source }
note-missing = missing: ESP sequence numbers that never came
spark-caption = { $direction }, { $from } to { $to } s{ $highest } (^ rekey, ! rekey that hurt):
spark-highest = {", highest "}{ $rate } over { $seconds } s
rates = { $observed }; counted: { $counted }.
direction-sentence = { $direction }: { $sentence }
not-compared = Not compared: { $reason }
rekey-of-tunnel = { $number } of tunnel { $tunnel }
rekey-filter = rekey { $number }: { $filter }
attempt-filter = { $number }: { $filter }
made-by = Made by { $program }:

## Labels and headings of the terminal and of Markdown.

label-direction = Direction
label-rates = Rates
label-also = Also
heading-verdict = In full
heading-verdicts = What rekeys cost, by direction
heading-transfers = Transfers
heading-account = Where the time went
heading-gap = { $capture } against { $reference }
heading-capture = Capture
heading-tunnel = Tunnel { $tunnel }: { $what }
heading-tunnel-rekeys = Tunnel { $tunnel }: { $what }; { $rekeys }
heading-rekeys = { $rekeys }, { $parts }
rekeys-none-measured = none measured
rekeys-outside = { $n } outside the transfer
rekeys-not-observed = { $n } not in the capture
rekeys-refused = { $n } more refused
rekeys-unanswered = { $n } more without an answer
rekeys-hurt = { $n } hurt
rekeys-in-outage = { $n } in an outage
heading-sas-of = SAs of tunnel { $tunnel }
heading-causes = Causes
heading-attempts-of = Attempts of tunnel { $tunnel }
heading-events = Events
heading-findings = Findings that no rekey caused
heading-keys = Keys
heading-oddities = Oddities
heading-advice = What to change
heading-projection = Projection
heading-overhead = Overhead
heading-flows = Flows
heading-reproduce = How to make this again

## rekeyscope keys.

heading-ike-sas = IKE SAs
heading-missing = What is missing
heading-key-files = Key files
keys-cut = { $packets } cut by the snap length: no key can be checked on those; capture with -s 0.
keys-ike-only = IKE SAs opened: { $opened } of { $total }; no SA carries a packet in this capture.
keys-none = No SA carries a packet in this capture, so no key can be proven.
keys-all = { $verified } of { $total } decrypted.
keys-all-roads = { $verified } of { $total } decrypted: { $roads }.
keys-part = { $verified } of { $total } decrypted; { $without } without a key that fits.
keys-part-roads = { $verified } of { $total } decrypted: { $roads }; { $without } without a key that fits.
keys-no-file = None was given, and none found beside the capture.
keys-sought = Keys were sought among unlabelled bytes with { $trials } (the bound is { $each } per packet, { $all } in all).
keys-gave-up = Keys were sought among unlabelled bytes with { $trials }; the bound ({ $each } per packet, { $all } in all) ended the search before all bytes were tried: give a shorter log, cut around the time of the capture.

## Advice. Backticks set off what is typed.

advice = { $system }: { $text }
advice-because = { $system } ({ $because }): { $text }
advice-both-sides = Both sides
advice-rekey-refused-why = a rekey was refused
advice-refused-proposal = make proposals and PFS groups the same on both sides, or switch PFS off on both. IKE_AUTH negotiates no group for the first child SA, so a PFS group that the other side lacks shows at the first rekey only.
advice-refused-selectors = give both sides the same traffic selectors (subnets, protocol, ports). What counts is what they ask for at the rekey, not what the first negotiation narrowed it to.
advice-refused-moment = let one side alone renew, with a margin of its own. The other one was busy with a renewal of the same SA.
advice-refused-more = let each SA be replaced, not added to: delete old ones first, or raise the other side's limit. It allows no more SAs.
advice-windows-proposes = 250,000 kB is what its L2TP client proposes
advice-windows-named = the vendor ID of the client says that it is one
advice-windows-maybe = if the client of this transport-mode tunnel is one
advice-windows = its L2TP client proposes fixed limits (3,600 s and 250,000 kB) and offers no setting, in the registry, by policy or with IKEv2. What can be won is a faster exchange, and a responder that is ready for the new SA at once.
# $lost: the message above; $rate: the whole transfer's, had that not been lost
advice-lost = { $seconds } s lost
advice-lost-rate = { $lost }; without it about { $rate }, an estimate
advice-receive-window = enlarge the receiver's window: `netsh interface tcp set global autotuninglevel=normal` (Windows), `net.ipv4.tcp_rmem` (Linux). On Windows the window stays small with every lower level, and at 64 kB with `disabled`. On Linux it is the third figure; a buffer that the application sets (SO_RCVBUF) is never enlarged. A router or proxy that ends the TCP connection announces its own window: look for its TCP buffer or window scaling. Enough is the rate times the round trip.
advice-zero-window = look at processor and disk of the receiver: its application reads too slowly. The tunnel is not it.
advice-send-buffer = enlarge the sender's buffer: the third figure of `net.ipv4.tcp_wmem` (Linux). One that the application sets (SO_SNDBUF, `iperf3 -w`) is never enlarged, and a bound of the congestion window (`ip route … cwnd`) looks the same from outside. Enough is twice the rate times the round trip.
advice-application = if more was to be sent, look at the sender: its processor, its disk, a protocol that waits for each answer; else it is no loss. Such protocols are SMB without large requests, and small database queries. A transfer of `iperf3` through the same tunnel shows what the path gives.
advice-path-loss = find what loses packets while the path is not full: interface errors, duplex mismatch, radio link, policer. Where large packets alone are lost it is the MTU: lower the MSS (the table of overhead has it) until no packet is fragmented.
advice-queue-loss = shape the sender a little below the narrowest link instead of policing (`fq_codel` or `cake`). A full queue drops packets; one much shorter than the rate times the round trip drops them too early.
advice-reordering = bundle links per connection, not per packet, and let one processor handle one SA. Packets overtake each other and are taken for lost. Where they come in order, their delay jumps (a radio link, a busy router), and the sender's timer runs out. Linux as the sender gets used to it (`net.ipv4.tcp_reordering`, RACK).
advice-growth = keep connections open instead of opening new ones (Linux sender: `net.ipv4.tcp_slow_start_after_idle=0`). The transfer was over, or interrupted, before its rate had grown.
advice-capacity = look at the load of single cores on both ends, then at the link and at what else it carried: this path gave no more. One SA is usually one core. A suite with hardware support (AES-GCM with AES-NI, or what the router accelerates), packets as large as the MTU allows, and none fragmented, cost least per byte.
advice-log-why = its log gave the keys
advice-yamaha = raise the kilobyte lifetime by `ipsec ike duration ipsec-sa GATEWAY_ID SECONDS KBYTES`, choose another suite by `ipsec sa policy`. Older firmware takes at most 100,000 kB.
advice-yamaha-ikev1 = raise the kilobyte lifetime by `ipsec ike duration ipsec-sa GATEWAY_ID SECONDS KBYTES`, choose another suite by `ipsec sa policy`. Older firmware takes at most 100,000 kB. As the IKEv1 responder the router takes over the initiator's lifetime.
advice-strongswan = raise `life_bytes` and `rekey_bytes` of the child SA. Leave room between the two, so that the new SA is up before the old one reaches its hard limit.

## rekeyscope overhead. Labels are as wide as each other; the head stands above figures of fixed width.

overhead-title = { $suite }, { $mode }{ $around }, path MTU { $mtu }
overhead-tunnel-mode = tunnel mode
overhead-transport-mode = transport mode
overhead-largest = largest inner packet { $bytes } bytes
overhead-mss-ipv4 = MSS to set, IPv4     { $bytes } bytes
overhead-mss-ipv6 = MSS to set, IPv6     { $bytes } bytes
overhead-head = {"   "}inner    wire  outer   ESP   IV  tunnel  padding  ICV  efficiency
overhead-fragments = {"  "}in { $count } fragments

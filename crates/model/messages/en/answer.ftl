### The answer in three lines (words/answer): the number, why, what to do. A first line has at most 80 columns; where nothing failed it is the
### first message of the verdict (verdict.ftl).

## Line 1 where several clients have tunnels

answer-of-client = { $client }: { $sentence }
# Clients behind one NAT
client-of-tunnel = { $client } (tunnel { $tunnel })

## Line 1 where something else cost more

# $label: what cost more than the rekeys, which cost hardly anything
headline-more = This { $direction } lost { $lost } of { $transfer } to { $to }; { $rekeys ->
    [none] no rekey was seen
    [bound] rekeys under { $bound } each
    [harmless] rekeys did not stop it
   *[hurt] { $cost } to { $hurt } of { $used } rekeys
}.
headline-queue = A full queue delays this { $direction } by up to { $delay }; { $rekeys ->
    [none] no rekey was seen
   *[harmless] rekeys are not seen to slow it
}.
lost-to = { $kind ->
    [receive_window] the receive window
    [zero_window] a closed window
    [send_buffer] the sender's buffer
    [capacity] a slower path
   *[other] { $label }
}

## Line 2. Its reasons begin with small letters: `Why:` stands before the first, and the others get a capital one.

# $sure: nothing, or one of the next
why-cause = { $cause }{ $several ->
    [no] {""}
   *[yes] {" "}(at { $n } of { $of } that hurt)
}.
why-shared = { $all ->
    [both] This explains both rekeys that hurt.
    [yes] This explains all { $of } rekeys that hurt.
   *[no] This explains { $n } of { $of } that hurt.
}
why-slow-return = Of these { $cost } nothing arrived for { $silent }; in the rest the rate was not back yet.
why-silence-alone = nothing was lost in that silence, so an application that pauses there would look the same{ $keys ->
    [none] {" "}without keys
   *[some] {""}: nobody acknowledges datagrams
}.
why-no-cause-cut = the packets were cut when they were captured, so no key can be checked and nothing inside is seen.
# By the ledger, where no cause is found
why-lost-on-old = what was sent on the old SA was lost: it had ended before the new one stood
why-lost-on-new = what was sent first on the new SA was lost: its receiver was not ready
why-silence = nothing was sent
why-reverse = what was sent arrived, but the sender did not hear of it
why-slow = nothing stopped, but it was slower there than elsewhere
why-no-cause = these packets show no cause.
why-no-cause-without-keys = without keys these packets show no cause.
why-no-cause-wrong-keys = the keys that were read fit none of these packets, which show no cause without them.
why-no-return = ESP came only { $direction }, and IKE both ways{ $by ->
    [icv] . The ICVs of these packets have the 96 bits of an old draft for HMAC-SHA2-256: if { $to } expects the 128 bits of RFC 4868, it drops them all.
    [ports] {" "}through the same UDP ports, so no filter of ports drops ESP alone: { $to } takes none of these packets, or sends nothing back.
   *[nothing] : nothing was sent back, or a filter lets IKE pass alone.
}
why-two-tunnels = ESP goes only { $direction } here, and { $packets } packets go only the other way in the tunnel of { $peer }, { $known ->
    [proven] between the same hosts
   *[time] at the same time
}: both tunnels together make the way.
why-one-way = only { $direction } was captured: what came back is not seen.
why-at-the-limit = it ran at { $observed }{ $how ->
    [proven] ; { $own } is all that this path carries
    [reached] , which is all that this path carries
    [beside] {""}
   *[best] ; { $own } is the best that was seen
}.
why-largest = of { $lost } lost, { $seconds } ({ $share }) went to { $to }.
why-largest-two = of { $lost } lost, { $seconds } ({ $share }) went to { $to }, and { $others } ({ $theirs }) to { $other }.
why-idle = the sender had nothing to send for { $seconds } of { $whole }: that is no fault of the VPN.
why-queue = a full queue delays every packet by up to { $delay }{ $at ->
    [known] {", between this capture and "}{ $who }{" or there"}
   *[unknown] {""}
}.
why-waits = its sender has more on the way than the narrowest link takes, and a deep queue holds the rest{ $at ->
    [known] {", between this capture and "}{ $who }{" or there"}
   *[unknown] {""}
}. Calls, pings and IKE that go the same way wait there, too.
why-rekeys = at the rekeys, { $text }
why-more = something other than the rekeys cost more: { $label }, { $seconds }.
why-unexplained = of { $lost } lost, these packets do not explain { $seconds } ({ $share }).
why-datagrams = nobody acknowledges them, so these packets do not show whether they arrived at the other end.
why-bound = a rekey that costs less than { $bound } would not be seen in this capture.
why-stopped = it stopped at { $moment }, { $seconds } before the capture ended; without keys it is not seen whether it was over.
# New SAs that begin above 1
why-first-numbers = the first { $n } packets of a new SA never came to the capture, with { $sas } SAs in the same way: the sender's offload or a device before this capture probably loses them.
why-outside = what a rekey costs can be measured only while data flows.
why-no-data = a rekey can only delay data that is waiting: here hardly any was.

## Line 3

do-beside-rekeys = The rekeys are not the cause.
do = Do: { $text }
# What a cure is about, where the lines before speak of something else, too
do-about = { $label } ({ $seconds }): { $text }
do-not-rekeys = nothing about the rekeys ({ $seconds }). { $other }
do-in-vain = { $how ->
    [refused] a request for an SA was refused
   *[unanswered] a renewal got no answer
}, which cost nothing yet: { $text }
# $now: the rate as it was; $part: what one of two cures is about
do-expected = { $text } { $parts ->
    [one] That gives
   *[two] This part alone ({ $part }) gives
} about { $rate } (now { $now }).
# $place: do-lifetime-at, or nothing
do-lifetime = raise the kilobyte lifetime{ $place } from { $limit } to { $lifetime } kB ({ $command }{ $windows ->
    [maybe] ; a Windows client has no setting for it
   *[no] {""}
}).
do-lifetime-at = {" "}at { $who }, which renews,
do-lifetime-learnt = raise the volume at which SAs end, about { $kilobytes } kB now, to { $lifetime } kB ({ $command }{ $windows ->
    [maybe] ; a Windows client has no setting for it
   *[no] {""}
}).
do-refused = look at the requests for new SAs that were refused (-v): proposals, PFS group and traffic selectors must match at each renewal, and for each further subnet.
do-lifetime-anywhere = an NVR5x0 that initiates: `ipsec ike duration ipsec-sa GATEWAY_ID { $seconds } { $kilobytes }`; strongSwan: `life_bytes = { $bytes }`, `rekey_bytes` below it
# Syntax: ipsec ike duration SA GATEWAY_ID SECONDS [KBYTES], of Yamaha's command reference
do-lifetime-yamaha = `ipsec ike duration ipsec-sa GATEWAY_ID { $seconds } { $kilobytes }`
do-lifetime-strongswan = `life_bytes = { $bytes }`, `rekey_bytes` below it
do-longer-capture = Do: capture a longer transfer, with more rekeys in it.
do-keys-or-other-end = Do: give the keys (--keys FILE), or capture at the other end of the tunnel.
do-other-end = Do: capture at the other end of the tunnel, too (--also-from FILE).
do-capture-load = Do: capture again while a large file goes through the tunnel.
disorder-line = The packets of this file are not in the order of time: { $back } of { $packets } go back.
disorder-why = What waited for what, and for how long, cannot be told from such a file.
do-sort = Do: sort it (`reordercap FILE SORTED`), and run this again with the sorted file.
do-capture-both = Do: capture where the packets of both directions pass.
do-capture-ipsec = Do: capture where UDP 500, UDP 4500 and ESP (IP protocol 50) pass.
do-nothing = Do: nothing about rekeys.
do-nothing-at-the-limit = Do: nothing about rekeys. If it is too slow: the same transfer without the VPN shows whether the line or the ends' processors are the limit.
do-queue = Do: nothing about rekeys. { $text }
cure-queue = { $at ->
    [known] if this capture was made at { $who }, look at its processor while data flows (encryption without hardware); else shape
   *[unknown] shape
} the sender a little below the narrowest link (`fq_codel` or `cake`), so that no standing queue builds.
do-keys = Do: give the keys (--keys FILE) to see the cause inside.
do-whole-packets = Do: capture whole packets (tcpdump -s 0, dumpcap without -s).
do-other-keys = Do: give the keys of this run (--keys FILE) to see the cause inside: those are of another run, or were copied wrongly.
do-unknown = Do: look at the table of rekeys and their display filters (-v).

## Around it

answer-cut = The packets of { $total } were cut (snap length), so their keys cannot be checked: counted in ESP bytes.
answer-cut-some = The packets of { $missing } of { $total } were cut (snap length), so their keys cannot be checked and their ESP bytes are counted. `tcpdump -s 0` captures whole packets.
answer-wrong-keys = The keys that were read fit none of { $total }, counted in ESP bytes: --keys FILE gives those of this run.
answer-keys = Keys are missing for { $missing } of { $total }, so their ESP bytes are counted: { $file ->
    [none] --keys FILE (the router's log, or a Wireshark table) may show more.
   *[path] no key was found in { $file }; the router's log at its debug level or a Wireshark table (--keys FILE) may have some.
}{ $one_line ->
    [yes] {" "}The keys of the IKE SA that -v names open all that were negotiated in it without PFS.
   *[no] {""}
}
answer-beyond = Not analysed: { $packets } of { $all }, of more tunnels or SAs than are kept. Filter the capture by address first.
answer-doubled = { $again } of { $packets } are copies (both sides of a mirror port, several interfaces, a file twice): each packet counts once, and no copy is a retransmission. Capture at one port alone.
answer-more = … { $n } more: -v
answer-costliest = … { $hurt ->
    [all] the { $n ->
        [one] one
       *[other] { $n }
    } of { $all } that hurt
   *[more] { $n ->
        [one] the costliest of { $all }
       *[other] the { $n } costliest of { $all }
    }
}; all: -v
answer-warning = Warning: { $sentence } (-v).
# $first: the day and the time of the first packet, or unknown; $rests: answer-rests, or nothing
answer-times = Times count from { $first ->
    [unknown] the first packet
   *[other] { $first } UTC
}; transfer: { $from } to { $to }{ $rests }.
# The same where no transfer has an account
times-count = Times count from the first packet{ $first ->
    [unknown] {""}
   *[other] , { $first } UTC
}.
answer-rests = , pauses of { $seconds } left out
answer-further = More: -v (every figure and filter), --html FILE (pictures).
# $what: counted things that only -v lists
answer-listed = { $what }: -v

## A renewal failed, and no outage is seen: without keys the traffic of its SA is not seen, or nothing was sent; $who: outage-client, outage-gateway or an address

orphan-line = { $who } { $what ->
    [deleted] probably deleted an SA
    [refused] refused a { $ended ->
        [unseen] new SA
       *[seen] renewal
    }
   *[unanswered] did not answer a renewal
}: { $ended ->
    [orphan] SA { $spi } ended at { $moment } without a successor
    [seen] the SA ended at { $moment } without a successor
   *[unseen] no outage is seen in this capture
}.
do-orphan-deleted = Do: find why { $who } deleted it (a lifetime, a command), and give the keys: they show whose traffic it carried.
orphan-why = Why: without keys nothing shows which subnet that SA carried, so one subnet may be down while other SAs go on.

## Data in clear (findings.ftl says it whole)

clear-line = Data went in clear from { $first } on: { $packets } packets to { $dst }.
do-clear = Do: let nothing out that the tunnel does not carry (a policy or a filter at the sender), and see why the tunnel ended.

## No tunnel came up; $who: outage-client, outage-gateway or an address; $step: an exchange as the RFCs call it

setup-line = No tunnel came up: { $who } { $how ->
    [refused] refused
    [rejected] did not accept
    [unheard] did not hear the answer to
   *[unanswered] did not answer
} { $step }{ $often ->
    [again] {" "}{ $n } times
   *[once] {""}
}.
setup-line-stopped = { $who } went no further than { $step }{ $often ->
    [again] {" "}{ $n } times
   *[once] {""}
}.
setup-line-ended = { $who } ended each of its { $n } tunnels at once, before any ESP.
setup-why-ended = Why: IKE succeeded each time, and { $who } deleted the SAs within a second, the last time at { $moment }. { $nat ->
    [yes] Its packets reach { $gateway }, a private address, through a NAT: the gateway is behind it, which clients may refuse.
   *[no] These packets do not show its reason.
}
setup-why-read = Why: the answer was { $notify }.
setup-why-sealed = Why: the answer holds only a notification, and its type is encrypted.
setup-why-childless = Why: no ESP followed, and the answer has no room for a child SA: { $who } knew the client and refused its child SA. The notification that says so is encrypted.
setup-why-rejected = Why: the other side sent its last message { $n } times, and each time a short encrypted answer came back, probably an error.
setup-why-unheard = Why: { $n } copies of the request came, and each was answered in this capture: what was sent to { $who } was lost behind it.
setup-why-unanswered = Why: { $n } copies of the request since { $moment }, and no answer.
setup-why-stopped = Why: { $often ->
    [again] each was answered, the last one
   *[once] the answer left
} at { $moment }, and { $who } sent no copy and nothing more. Its next message is the first large one: probably it was lost before this capture, or { $who } gave up.{ $ended ->
    [well] {" "}Its set-up at { $later } succeeded.
   *[open] {""}
}
setup-do-assume = Do: at { $who } (Windows), most likely set `AssumeUDPEncapsulationContextOnSendRule` = 2 in the registry (PolicyAgent) and restart it, so that it takes a gateway behind a NAT; or give the gateway a public address, or use IKEv2.
setup-do-ended = Do: look into the log of { $who }, which ended the tunnel itself{ $nat ->
    [yes] : whether it takes a gateway behind a NAT
   *[no] {""}
}. Neither keys, proposals nor ports are the cause.
setup-do-ike = Do: make the proposals for IKE (cipher, hash, group) the same at both ends.
setup-do-identity = Do: make pre-shared key (or certificates) and identities fit at both ends; the log of { $who } names what does not.
setup-do-address = Do: give { $who } a larger pool of addresses, or free leases that nobody uses.
setup-do-childless = Do: look into the log of { $who } for its reason: a pool without a free address (INTERNAL_ADDRESS_FAILURE), or proposals for ESP and traffic selectors that do not fit. Keys of IKE (--keys FILE) show it here.
setup-do-child = Do: make the proposals for ESP, the PFS group and the traffic selectors the same at both ends.
setup-do-way = Do: see whether UDP 500 and 4500 reach { $who }, and whether its daemon runs: capture there, too.
setup-do-size = Do: see whether UDP 4500 and fragments reach { $who }: this message is larger than those before (strongSwan: `fragmentation = yes`).

## A login over PPP inside the tunnel was refused; $who: the side that refused it, $n: how often, $moment: the last time

login-line = { $who } refused the user's login over PPP { $often ->
    [again] { $n } times, the last time at { $moment }
   *[once] at { $moment }
}.
login-why = Why: IPsec works; inside it { $who } answered the user's login with { $notify }, and accepted no later one.
login-do = Do: check the user's name and password, and at { $who } the user's PPP secret or RADIUS account (locked, expired, no right to dial in) and which methods it allows (PAP, CHAP, MS-CHAPv2, EAP). Neither IPsec nor the rekeys are the cause.

## One side alone sends ESP, and IKE comes both ways

dialled-again-line = { $who } probably got no answer from { $moment } on at the latest, until it set up a new IKE SA at { $anew }.
dialled-again-why = Why: only packets of { $who } were captured. It sent one check { $count } times, as who hears no answer does, and asked for a new IKE SA at { $anew }.
do-dialled-again = Do: look into the log of { $peer } before { $moment } (restarted, SAs cleared?), let { $who } check more often (strongSwan: `dpd_delay`), and capture both directions.
no-return-line = No ESP came from { $to }: { $packets } packets of { $from } have no answer.
do-no-return = Do: { $by ->
    [icv] use another integrity for ESP (AES-GCM, HMAC-SHA1), or let { $to } take 96 bits (libreswan: `sha2-truncbug = yes`; strongSwan: `sha256_96` in the ESP proposal); update { $from }.
    [ports] at { $to }, see whether these packets are decrypted (its counters of ESP, its log) and whether answers go into the tunnel (routes, exceptions from NAT, firewall).
   *[nothing] let ESP (IP protocol 50) of { $to } pass, and capture there, too: that tells whether it sends any.
}
two-tunnels-line = { $from } is { $known ->
    [proven] answered
   *[time] probably answered
} through the tunnel of { $peer }.
do-two-tunnels = Do: nothing, if both tunnels are meant to share the traffic. Else make the routes of both ends the same: a firewall that sees one of the tunnels alone drops such connections.
elsewhere-line = { $who } { $probably }answers from { $to }, and { $peer } asks { $from }.
elsewhere-line-port = { $peer } sends to port { $asked }; ESP of { $who } { $probably }comes from port { $own }.
elsewhere-why = Why: packets of { $peer } went to { $from }, and ESP or IKE came back with the source { $to }. A NAT, a firewall or { $peer } drops such packets as a stranger's; these packets do not show whether they arrived.
elsewhere-why-port = Why: packets of { $peer } went to { $from }, the port of IKE, and ESP came from port { $own }. A NAT gave IKE and ESP different ports, and drops what comes back to the wrong one; these packets do not show whether they arrived.
silent-host-line = { $host } answered nothing: { $n } packets went to it through the tunnel.
silent-host-why = Why: these packets do not show whether they reached { $host }, or where its answers went. Others have theirs through the same tunnel, so it is open.
silent-host-do = Do: see whether { $host } is there, whether its way back and its firewall lead through { $behind }, and whether the policies of both ends (traffic selectors) include it; capture behind { $behind }, too.
turns-line = { $from } and { $to } take turns on one SA: { $count } new ones in { $seconds }.

## An end moved, and its peer went on sending to the old place

left-behind-line = The { $what } of { $who } changed at { $moment }: { $peer } { $followed ->
    [yes] followed after { $seconds }
   *[no] has not followed ({ $seconds })
}.
left-behind-why = Why: { $who } went from { $from } to { $to }, and packets of { $peer } still went to the old place, where they were probably lost.

## A side renews by deleting first, and little was sent

torn-down-line = { $who } renews by deleting first ({ $at }): no SA for { $seconds }.
torn-down-by-another = { $clause }: no SA for { $seconds }.
# $by: itself or another
torn-down-why = Why: { $by ->
    [another] the other side
   *[itself] it
} asked for the next IKE SA only after the Delete (at { $list }). Too little was sent to tell what that cost.

## Data still came behind the Delete that ends the tunnel, and the capture ends

cut-off-line = { $clause }, and the capture ends there.
cut-off-why = Why: data still came behind that Delete, so the transfer was not over. These packets do not show whether the tunnel was closed on purpose.
do-cut-off = Do: if nobody closed it on purpose, look into the log of { $who } at { $moment }, and capture for longer: that shows whether the tunnel comes back.

## A transfer without keys stood still until a renewal

standstill-line = This { $direction } { $until ->
    [rest] stood still for { $seconds } from { $from } on: an outage, or a pause of the sender.
    [renewal] stood still for { $seconds } from { $from } on, until a renewal.
   *[ike] stood still for { $seconds } from { $from } on, until a new IKE SA stood.
}
standstill-why = Why: without keys these packets do not show whether anything waited to be sent{ $until ->
    [rest] .
   *[renewal] , so it was an outage or a pause of the sender.
}
standstill-datagrams = Why: its datagrams came again as soon as the renewal was over, so the old SA had probably ended before. The sender may also have paused.
# $icmp: a side answered with ICMP that nothing listens at its port
standstill-checks = Why: { $icmp ->
    [yes] { $who } answered that nothing listens (ICMP port unreachable), and{" "}
   *[no] {""}
}{ $checks } keepalive checks got no answer, so it was probably an outage and no pause; a new IKE SA repaired it.

## All tunnels stopped at once; $open: none has ended; $end: a blank and the address of the end that they share, or nothing

outage-all-line = All { $n } tunnels stopped at { $moment }: { $open ->
    [yes] nothing since ({ $seconds })
   *[no] nothing passed for { $seconds }
}.
outage-all-why = Why: each of them stopped at that time, so that it is what they share: the end{ $end }, its line, or the path behind.
do-outage-all = Do: look at the line and the host of the end{ $end }, and capture on its other side, too.
slow-sa-line = From { $from } to { $to } one SA carried { $own }, the others { $other }.
slow-sa-why = Why: the rate fell with the first packets of SA { $spi } and came back with those of the next one: that SA is slow, and not the line.{ $delays ->
    [yes] {" "}A round trip took { $delay }, { $usual } otherwise.
   *[no] {""}
} The { $direction } took { $lost } longer.
do-slow-sa = Do: find out why { $who } does not handle this SA in hardware (offload) as it does the others, and how busy its processor is. Until then a rekey brings the rate back. Not the line.

## Many packets never came to the capture. $who: the side that sent them

path-loss-line = { $share } of the packets of { $who } never came to this capture.
do-path-loss = Do: between { $who } and this capture, look for a limit of packets or bytes per second (policer, flood protection for UDP), and at the line: interface errors, duplex mismatch, radio. See whether the loss ends where { $who } sends less.

## Segments that were lost before encryption. $who: "the client" or "the gateway"; the other arguments: finding-lost-before-encryption

lost-before-line = At least { $share } of { $transfer } segments were lost before encryption; it cost { $seconds } of { $whole }.
lost-before-why = Why: TCP sent { $lost } segments again that no ESP packet had carried, and { $esp ->
    [whole] no ESP number is missing
   *[lossy] only { $missing } ESP numbers are missing
}: { $who } dropped them, or the network behind it, and not the path.{ $spared ->
    [yes] {" "}None of { $echoes } echo requests is missing, so not everything is dropped alike.
   *[no] {""}
}
do-lost-before = Do: at { $who } and behind it, look for what drops TCP before IPsec: FastTrack of MikroTik (leave out what an IPsec policy matches), a full queue, a faulty port. Capture there before encryption, too.

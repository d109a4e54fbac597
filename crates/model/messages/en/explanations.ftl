### What explains an outage (words/explanations.rs). Rows and their order: impact/explain/table.rs.

## Line 1. $who: outage-client, outage-gateway or an address; $at: outage-at or outage-times; $probably: outage-probably or nothing;
## $renews: other where not the side that deleted asked for the next SA, later where it asked for another one later

outage-line = { $clause }: { $down }.
outage-client = the client
outage-gateway = the gateway
outage-someone = one side
outage-at = at { $moment }
outage-before = before this capture
outage-times = { $n } times
outage-probably = probably{ " " }
outage-hole-line = { $clause }.
outage-down = { $nothing } passed for { $seconds }
outage-down-from = { $nothing } passed for { $seconds }, from { $from } on
outage-down-over = { $nothing } passed for { $seconds }, to its end
outage-down-open = { $nothing } since ({ $seconds })
outage-down-since = { $receiver }down since { $from } ({ $seconds })
outage-down-each = { $nothing } passed for { $seconds } each
outage-nothing = nothing
outage-nothing-to = nothing to { $to }
outage-nothing-large = none
outage-nothing-of-it = no packet
outage-nothing-on-it = nothing on it

outage-deleted = { $who } { $probably }deleted { $what ->
    [ike] the IKE SA
   *[child] an SA
} { $at }
outage-monitored = { $who } { $probably }ended a working tunnel { $at }
outage-break-before-make = { $who } { $probably }{ $renews ->
    [same] renews by deleting first ({ $at })
   *[other] deleted { $what ->
        [ike] the IKE SA
       *[child] an SA
    } { $at }
}
outage-new-ike-deleted = { $who } { $probably }deleted its new IKE SA { $at }
outage-refused = { $who } { $probably }refused the renewal { $at }
outage-refused-child = { $who } { $probably }refused the new child SA { $at }
outage-given-up = { $who } { $probably }did not answer checks { $at }
outage-given-up-login = { $other } { $probably }ended the tunnel for want of a login { $at }
outage-given-up-too-soon = { $who } was { $probably }given up too soon { $at }
outage-unanswered = { $who } { $probably }did not answer the renewal { $at }
outage-fragments-lost-behind = { outage-unanswered }
outage-answered-late = the renewal { $at } { $probably }got no answer for { $took }
outage-answer-lost = a message of the renewal { $at } was { $probably }lost
outage-collision = both sides { $probably }renewed at once { $at }
outage-limit-reached = an SA { $probably }reached its limit { $at }
outage-new-sa-lost = a new SA { $probably }lost its first packets { $at }
outage-first-number = { outage-new-sa-lost }
outage-deleted-early = { $who } { $probably }deleted the old SA too early { $at }
outage-peer-restarted = { $who } { $probably }lost its SAs { $at }
outage-invalid-spi = { $who } { $probably }lost an SA { $at }
outage-came-back = { $other } did not let { $who } back in
outage-session-ended = the PPPoE session of { $who } was ended { $at }
outage-address-changed = the { $what ->
    [port] port
   *[address] address
} of { $who } { $probably }changed { $at }
outage-peer-silent = { $who } { $probably }fell silent { $at }
outage-ike-fragments = requests of { $who } { $probably }arrived incomplete { $at }
outage-unheard = packets of { $who } { $probably }stopped arriving { $at }
outage-silent-rested = { $who } { $probably }was no longer reached { $at }
outage-esp-silent = ESP of { $who } { $probably }stopped coming { $at }
outage-one-sa-silent = one SA of { $who } { $probably }stopped { $at }
outage-silent-on-new-sa = { outage-esp-silent }
outage-path-silent = both sides { $probably }fell silent { $at }
outage-first-fragments = large packets of { $who } { $probably }stopped coming whole { $at }
outage-large-packets = large packets { $probably }stopped passing { $at }
outage-large-or-all = large packets probably stopped passing { $at }
outage-compressed = compressed packets from { $moment } on never passed
outage-no-mtu = packets from { $lost } bytes on { $probably }stopped passing { $at }
outage-cut = { outage-no-mtu }
outage-never-cut = { $often ->
    [again] packets of { $lost } bytes { $probably }never passed { $at }
   *[once] packets of { $lost } bytes from { $moment } on { $probably }never passed
}
outage-large-never-passed = { $often ->
    [again] large packets { $probably }never passed { $at }
   *[once] large packets sent from { $moment } on { $probably }never passed
}
outage-numbers-back = ESP numbers of { $who } { $probably }went back by { $bytes } { $at }
outage-left-out = { $who } { $probably }fell out of a new SA { $at }
outage-by-turns = traffic { $probably }went over to { $to } { $at }
outage-other-tunnel = data { $probably }went into another tunnel { $at }
outage-other-path = data { $probably }came by another tunnel { $at }
outage-networks-by-turns = { $from } and { $to } { $probably }take turns on one SA { $at }
outage-one-sided = { $who } { $known ->
    [inferred] probably sends on a dead SA
   *[read] went on upon a deleted SA
} { $at }
outage-sa-of-others = { $who } sent in the SA of another network { $at }
outage-one-sided-renewed = { $to } had probably dropped an SA by { $from }
outage-one-sided-asked = { $to } probably did not take its new SA { $at }
outage-answered-elsewhere = { $who } { $probably }answered from { $to } { $at }
outage-numbers-used-up = ESP numbers of { $who } { $probably }were used up { $at }
outage-bad-icv = packets of { $who } { $probably }came damaged { $at }
outage-too-big = large packets of { $who } { $probably }stopped passing { $at }
outage-connection-dead = one connection { $probably }got no answer any more { $at }
outage-slow-exchange = a key exchange { $probably }took too long { $at }
outage-slow-renewal = { outage-slow-exchange }
outage-l2tp-silent = { $who } { $probably }ended the L2TP session after a gap { $at }
outage-l2tp-closed = { $who } { $probably }ended the L2TP session { $at }
outage-replay-window = { $who } { $probably }dropped late packets { $at }
outage-unexplained = { $known ->
    [inferred] Data probably did not arrive
    [echo] Pings got no reply
    [cut] Fragmented pings got no reply
   *[proven] Nothing was delivered
} from { $from } to { $to }; the capture shows no cause.
outage-lost-before = Nothing was delivered from { $from } to { $to }: packets of { $who } were lost.
outage-unexplained-open = { $known ->
    [inferred] Data has probably not arrived
    [echo] Pings have got no reply
    [cut] Fragmented pings have got no reply
   *[proven] Nothing has been delivered
}{ $host ->
    [all] {""}
   *[one] {" "}to { $host }
} since { $from } ({ $seconds }); the capture shows no cause.
outage-unexplained-times = { $known ->
    [inferred] Data probably did not arrive
    [echo] Pings got no reply
    [cut] Fragmented pings got no reply
   *[proven] Nothing was delivered
}{ $host ->
    [all] {""}
   *[one] {" "}to { $host }
} { $n } times ({ $seconds }); the capture shows no cause.
outage-capture-hole = the capture lacks packets from { $from } to { $to }: nothing shows whether any passed

# An item of the list of outages; $outage: outage-item
outage-because = { $clause }. { $outage }

## The name of a cause, for tables and lists

cause-capture-hole = the capture lacks packets
cause-deleted = an SA was deleted, and nothing followed
cause-break-before-make = the old SA was deleted before the new one was negotiated
cause-refused = the renewal was refused
cause-unanswered = the renewal was not answered
cause-ike-fragments = a large IKE message arrived incomplete
cause-answered-late = the renewal was answered late
cause-given-up = a living IKE SA was given up
cause-given-up-too-soon = a peer was given up too soon
cause-answer-lost = a message of the renewal was lost
cause-collision = both sides renewed at once
cause-limit-reached = an SA reached its limit
cause-new-sa-lost = the first packets of a new SA were lost
cause-first-number = the first packets of new SAs never came
cause-deleted-early = the old SA was deleted too early
cause-peer-restarted = a peer lost its SAs
cause-invalid-spi = a peer did not know the SA
cause-address-changed = an address or a port changed
cause-peer-silent = the peer fell silent
cause-unheard = packets of one side stopped arriving
cause-esp-silent = ESP of one side stopped coming
cause-silent-on-new-sa = nothing came on a new SA
cause-path-silent = both sides fell silent
cause-numbers-used-up = ESP numbers were used up
cause-bad-icv = packets came damaged
cause-connection-dead = one connection got no answer
cause-numbers-back = ESP numbers went back
cause-left-out = a new SA leaves inner hosts out
cause-one-sided = one side went on upon an SA that the other had deleted
cause-answered-elsewhere = an end answered from another address than was asked
cause-by-turns = two were served by turns
cause-other-tunnel = data went into another tunnel
cause-large-packets = large packets no longer passed
cause-large-never-passed = large packets never passed
cause-first-fragments = only first fragments of large packets came
cause-too-big = a router says that packets are too big
cause-slow-exchange = the key exchange took long
cause-slow-renewal = the renewal was not done in time
cause-l2tp-closed = the L2TP session was ended
cause-replay-window = packets came too late for the replay window
cause-unexplained = these packets do not show why

## Line 2

why-outage = Why: { $text }
explains-deleted = { $what ->
    [ike] with the IKE SA its child SAs ended, and no new exchange was begun up to the end of the silence.
    [child] that SA carried this traffic, and no new exchange was begun up to the end of the silence.
   *[unknown] what was deleted is encrypted; no new exchange was begun up to the end of the silence.
}
explains-break-before-make = { $renews ->
    [other] { $who } deleted { $what ->
        [ike] the IKE SA
       *[child] the SA
    }, and the other side asked for a new one only after that
   *[same] the new exchange began only after the Delete
}{ $timed ->
    [no] , and made no SA by then.
   *[yes] ; the new SA stood { $took } after { $renews ->
        [other] the Delete
       *[same] it
    }.
}
explains-new-ike-deleted = a renewal had just made that IKE SA, and behind it the old one alone goes; with the new one the child SAs ended, too{ $timed ->
    [yes] , and the next SA stood { $took } later
   *[no] , and no other one was made
}.
explains-refused = the answer was { $notify } ({ $count ->
    [one] once
   *[other] { $count } times
}), and no new SA took the place of the old one.
explains-refused-encrypted = { $count ->
    [one] one request was
   *[other] { $count } requests were
} refused (the reason is encrypted), and no new SA took the place of the old one.
explains-refused-child = the new IKE SA came about without a child SA: the answer of { $who } has no room for one, as an earlier answer had, and no ESP followed. The reason is encrypted.
explains-given-up = { $count ->
    [one] one check
   *[other] { $count } checks
} got no answer, and then a new IKE SA took the place of the old one. The request for it was answered at once, so { $who } was reachable: either checks or their answers were lost, or it had restarted.
explains-given-up-away = { $count ->
    [one] one check
   *[other] { $count } checks
} got no answer, so { $other } gave { $who } up and sent nothing for { $took }. Meanwhile { $who } came back and did not know: it sent on upon its old SA.
explains-given-up-too-soon = { $who } lives and answered a check after { $took }, when the other side had taken the tunnel down and begun a new IKE SA: the way is slow, as with a full queue.
explains-given-up-alive = { $count ->
    [one] one check
   *[other] { $count } checks
} got no answer in { $took }, so { $other } deleted its SAs, though ESP of { $who } came all the time: it was alive.
explains-given-up-login = { $other } asked { $count } times in a Transaction exchange (probably XAUTH, for user and password, as at a renewal of the IKE SA), { $who } did not answer, and { $took } after the first time { $other } deleted its SAs. ESP of { $who } came all the time.
explains-unanswered = { $count ->
    [0] requests
    [one] one request
   *[other] { $count } requests
} for a new SA got no answer, while other packets of { $who } came.
explains-unanswered-given-up = { explains-unanswered } { $took } after the first one { $other } fell silent: it had given up, and its SAs with it.
explains-answered-late = a request for a new SA was sent { $count } times before an answer of { $who } came, after { $took }.
explains-answered-late-lossy = { explains-answered-late } Data stopped meanwhile on the old SA as well, which still stood: the path lost other packets with these requests.
explains-ike-fragments = of a large IKE message only some fragments came, so it could not be answered.
explains-answer-lost = a message of the renewal was sent again although its answer is in this capture: that answer did not reach the sender in time.
explains-third-message-lost = the third message of the Quick Mode by { $who } is in this capture, and { $other } sent its own answer again long after it: that message was lost, and without it { $other } has no SA to send on.
explains-third-message-once = { explains-third-message-lost }
explains-collision = each side asked for a new SA before the other had answered, and they did not keep the same one.
explains-collision-silent = each side asked for a new SA before the other had answered. After that no ESP of { $who } came, and its IKE did: it probably has no SA to send on.
explains-limit-read = { $stated ->
    [yes] data stopped when the SA had reached { $limit }, its lifetime by { $source }.
   *[no] data stopped when the SA had reached the negotiated { $limit }.
}
explains-limit-reached = data stopped when an SA had reached about { $limit }.
explains-limit-late = data stopped on the old SA before the new one was in use.
explains-new-sa-lost = { $count ->
    [0] what was
    [one] one packet
   *[other] { $count } packets
} sent first on the new SA did not arrive: { $who } did not have it yet.
explains-second-tunnel = { $count ->
    [0] what was
    [one] one packet
   *[other] { $count } packets
} sent first on the new SA did not arrive. Two IKE SAs between the same ends make SAs beside each other: what goes through one of the two tunnels is lost.
explains-first-number = { $count ->
    [one] the first packet
   *[other] the first { $count } packets
} of the new SA never came to the capture, and other new SAs began in the same way: the sender's offload lost them, or a device before this capture lets a new SPI through late.
explains-deleted-early = { $count ->
    [one] one packet was
   *[other] { $count } packets were
} still on the way on the old SA when it was deleted.
explains-dropped-early = { $count } packets went on upon the old SA behind its renewal, and none of them arrived: { $who } had probably dropped it as soon as the new one stood.
explains-invalid-spi = { $who } said INVALID-SPI { $count ->
    [one] once
   *[other] { $count } times
}: it had no such SA any more.
explains-peer-restarted = nothing came from { $who }{ $timed ->
    [yes] {" "}for { $took },
   *[no] {""}
} until a new IKE SA began: it had lost the old one.
explains-capture-hole = by their numbers { $count } packets of both sides are missing there; without keys nothing shows whether they were sent again.
explains-address-changed = it went from { $from } to { $to }, and not all packets followed at once.
explains-back-elsewhere = { $what ->
    [port] nothing that was sent to { $from } for { $before } arrived, until { $who } sent something itself, from { $to }: a NAT had probably forgotten its port while nothing came from it.
   *[address] nothing passed for { $before }, until { $who } came back at { $to } instead of { $from }: its line had probably been interrupted, or it noticed late that its address had changed.
}
explains-left-behind = it went from { $from } to { $to }, and for { $lasted } packets of { $other } went on to the old place.
explains-moved = it went from { $from } to { $to }, and { $other } sent there { $took } later: the tunnel moved, and only what was on the way was lost.
explains-session-ended = PPPoE Discovery ended the session of the access line (PADT), the next session had the address { $to } instead of { $from }, and the tunnel could only be set up from there.
explains-came-back = { $who } came back from { $address } and asked for a tunnel { $asked } times from { $first } on; { $other } answered at { $answered }, not before{ $known_end ->
    [yes] {" "}it had given the old one up at { $given_up }
   *[no] {""}
}.
explains-silent-came-back = { explains-peer-silent } { $address } asked for a tunnel { $asked } times from { $first } on, maybe the same client, and { $other } answered at { $answered }, not before it had given this one up at { $given_up }.
explains-source-changed = it sent from { $to } instead of { $from }, and { $other } went on asking at the old address and did not hear the answers: whoever is behind NAT hears no address that it never sent to.
explains-peer-silent = neither ESP nor IKE came from { $who } { $span ->
    [part] for { $took }
   *[all] in that time
}.
explains-silent-rested = nothing came from { $who } until it sent something itself. Nobody had sent anything for { $rested }{ $esp ->
    [udp] , no NAT keepalive either, before that was noticed: a NAT had probably forgotten its port
   *[plain] {" "}before that was noticed: a NAT or a filter had probably forgotten its ESP
}, or { $who } slept.
explains-silent-at-rest = { $who } answered none of { $count } checks whether it was alive, and nothing else was sent to it: no data was lost.
explains-unheard = the packets of { $who } are in this capture, and the other side repeats what they had answered: they are lost behind it.
explains-esp-silent = no ESP came from { $who } { $span ->
    [part] for { $took }
   *[all] in that time
}, and its IKE did: { $esp ->
    [udp] a NAT mapping or a filter
   *[plain] a filter
} lets IKE pass alone, or there is no SA to send on.
explains-esp-silent-lost = no ESP came from { $who } { $span ->
    [part] for { $took }
   *[all] in that time
}, and its IKE did. The first number of its new SA in this capture is { $bytes }: { $who } sent ESP, and the packets before were lost on the way.
explains-esp-silent-rested = no ESP came from { $who } { $span ->
    [part] for { $took }
   *[all] in that time
}, and its IKE did. Nobody had sent any for { $rested } before that was noticed: a filter, a NAT or a load balancer had probably forgotten the flow, or there is no SA to send on.
explains-esp-silent-renewed = no ESP came from { $who } { $span ->
    [part] for { $took }
   *[all] in that time
}, and its IKE did, until a new SA was made under the same IKE SA: { $who } had probably dropped the old one, or used it up, and sent no Delete.
explains-one-sa-silent = other SAs of { $who } went on, and { $other } sent on upon the SA of the way back.{ $count ->
    [0] {""}
   *[other] {" "}By its numbers the SA had carried { $bytes } packets (about { $limit }): { $who } may have dropped it at a limit of its own (volume or time), or with a Delete that was lost.
}
explains-silent-on-new-sa = { explains-esp-silent }
explains-path-silent = neither ESP nor IKE came from either side { $span ->
    [part] for { $took }
   *[all] in that time
}.
explains-first-fragments = of { $bytes } ESP packets of { $who } only the first fragment came, none of the others, and small packets passed: something on the way drops fragments.
explains-large-packets = packets of up to { $bytes } bytes passed, and full-sized ones did not, so the limit lies between them.
explains-large-or-all = no full-sized packet was acknowledged. Replies to pings of { $who } (up to { $bytes } bytes) were sent meanwhile, and these packets do not show whether they arrived.
explains-large-never-passed = packets of up to { $bytes } bytes passed, and full-sized ones never did: the limit lies between them.
explains-compressed = each packet of { $who } that was lost is compressed (IPComp), and no such packet ever passed. Packets of up to { $bytes } bytes that are not compressed did.
explains-no-mtu = packets of up to { $bytes } bytes passed, and those of { $lost } and more did not. No MTU is so small: each link of the Internet passes 1,280 bytes (RFC 8200).
explains-cut = the sender repeated packets of { $lost } bytes in vain until it cut them by itself to { $bytes }, which passed: the limit lies between them.
explains-never-cut = { explains-cut }
explains-large-packets-only = echoes were answered, and no full-sized packet arrived.
explains-numbers-back = on the same SA they went from { $from } to { $to }, to numbers that it had used before, as when a restart or failover goes on with an old counter: a receiver with replay protection takes none of these packets.
explains-left-out = packets of { $who } ended both ways with the switch to the new SA, which carries other hosts. Its traffic selectors probably leave { $who } out. Both ends may have stopped by themselves just then: these packets do not show which.
explains-by-turns = each time { $to } sets up a new SA, ESP of { $who } to this client stops, and the other way round: { $who } takes both for one client. { $known ->
    [proven] Both have the same address inside the tunnel.
   *[inferred] They may have the same identity or the same address inside the tunnel.
}
explains-by-turns-transport = each time { $to } sets up a new SA, ESP of { $who } to this client stops, and the other way round. In transport mode (L2TP) clients behind one NAT address look alike, and { $who } takes the newest SA for both.
explains-other-tunnel = { $known ->
    [inferred] ESP of that direction stopped here as it began in the tunnel of { $to }
   *[proven] packets of connections that had come through this tunnel came through that of { $to } from then on
}, and the other direction still goes through this one.
explains-same-address = packets of connections that had come through this tunnel came through that of { $to } from then on, and the other direction still goes through this one: both clients have the same address inside.
explains-networks-by-turns = each new SA ends the one before and carries the other of the two alone, by turns, far sooner than any lifetime: one end keeps one pair of SAs where the other end has one for each network.
explains-one-sided = { $to } deleted this SA at { $moment }, and ESP of { $who } came on it for { $took } after that: its receiver has no key for it.
explains-one-sided-left = { $what ->
    [sealed] { $to } sent a Delete at { $moment } that no key opens
   *[unknown] { $to } left its SA of this pair at { $moment }
} and goes on upon another SA, as who has lost the pair; ESP of { $who } came on it for { $took } after that. These packets do not show what { $to } deleted.
explains-one-sided-newer = { $to } went over to a newer SA. ESP of { $who } came on its old one for { $took } after that, and nothing of it was answered: { $to } has probably dropped the old SA, which checks by IKE do not show.
explains-sa-of-others = { $who } sent { $count } packets of these hosts in the SA that carries others, and { $to } has an SA for each of the two: it drops what comes in the SA of another network (RFC 4301 §5.2).
explains-one-sided-alone = nothing comes back on the SA on which { $who } sends, and ESP of { $to } goes on upon an older one: { $to } does not have the newer one, or no longer. These packets do not show which.
explains-one-sided-renewed = nothing ever came back to the hosts of the SA on which { $who } sent, while { $to } went on upon others. The renewal at { $renewal } brought answers at once, so it was the SA.
explains-one-sided-asked = { $to } asked for a new SA and got its answer. Nothing that { $who } sent on it was heeded, and { $to } goes on upon the old SA alone: it probably does not have the new one.
explains-answered-elsewhere = ESP or IKE went to { $from } and came back with the source { $to }: a NAT, a firewall or the other end drops such packets as a stranger's.
explains-answered-at-port = ESP went to { $from }, the port of IKE, and came from { $to }. A NAT gave IKE and ESP different ports, and drops what comes back to the wrong one.
explains-numbers-used-up = its SA ended with number { $bytes }, behind which there is none without a new SA, and no new one was made in time.
explains-bad-icv = { $bytes } ESP packets of { $who } came with a wrong ICV under a key that other packets prove: their receiver drops them. Smaller packets may have passed.
explains-too-big = a router said by ICMP that packets of { $bytes } bytes at most pass{ $timed ->
    [yes] {", "}for { $took } again and again
   *[no] {""}
}, and { $who } kept sending larger ones. Small packets passed.
explains-too-big-inside = { $router } said by ICMP inside the tunnel that packets of { $bytes } bytes at most pass behind it{ $timed ->
    [yes] {", "}for { $took } again and again
   *[no] {""}
}, and { $from } kept sending larger ones to { $to }.
explains-connection-dead = { $count ->
    [one] one packet of this connection was lost
   *[other] { $bytes } packets of this connection were lost, small ones among them
}, while echoes between the same hosts were answered all the time. The tunnel works: a firewall or host behind { $who } probably dropped the connection.
explains-deleted-elsewhere = with the IKE SA its child SAs ended. A new one stood { $took } later and carries other inner addresses: connections of the old address do not go on.
explains-deleted-replaced = { $who } ended the tunnel, and { $went ->
    [inferred] ESP in the tunnel of { $instead } rose both ways just then: this data probably went on there.
   *[proven] this data went on in both directions in the tunnel of { $instead }.
}
explains-monitored = no ping of { $who } to { $other } itself inside the tunnel ({ $asked } from { $first } to { $last }) got a reply, though data passed: a monitor of { $who } probably took the tunnel for dead.
explains-slow-exchange = the data waited for the new SA, whose exchange began at { $moment }.
explains-slow-renewal = { explains-slow-exchange }
explains-l2tp-closed = a message of L2TP or PPP ended the session inside the tunnel; IPsec went on.
explains-l2tp-unanswered = { $other } answered none of { $asked } keepalives ({ $notify }) of { $who } from { $first } to { $last }, though its data came; so { $who } ended the session. IPsec went on.
explains-l2tp-silent = nothing came from { $other } for { $took }, so that it answered none of { $asked } keepalives ({ $notify }) of { $who } from { $first } to { $last } and { $who } ended the session. What { $other } sent in it later was not answered. IPsec went on.
explains-l2tp-broken-line = { $other } answered none of { $asked } keepalives ({ $notify }) of { $who } from { $first } to { $last }, when nothing came from it. Data passed again when { $who } ended the session, and it did not dial again at once. IPsec went on.
explains-replay-window = { $count } packets came behind 32 or more later ones and had to be sent again.
explains-unexplained = { $known ->
    [cut] all { $count } pings without a reply were cut into fragments before encryption, and these packets do not show where the pieces were lost.
    [echo] not known. { $count } pings got no reply, and no failure of the tunnel would explain it.
   *[other] not known. The capture shows { $count ->
        [0] no lost packet
        [one] one packet that did not arrive
       *[other] { $count } packets that did not arrive
    }, and no failure of the tunnel that would explain it.
}
explains-lost-before = they were lost before this capture: ESP numbers are missing { $count } times in it, and no event of the tunnel would explain that.
outage-dead = The fault itself lasted { $dead }; then the sender still waited for its retransmission timer.
outage-timer = After that the sender still waited for its retransmission timer.
outage-slow-answers = Answers of { $who } took { $took } of that{ $eap ->
    [yes] {" "}(EAP asks several times, and its RADIUS server may be slow)
   *[no] {""}
}.
outage-stopped-before = Data had stopped already, { $took } before the Delete.
outage-late-in-all = In all { $late } packets of that direction ({ $share }) came { $window } or more numbers late.
outage-crossed = A request to renew that SA crossed the Delete and was refused.
outage-alike = SAs end alike, at about { $limit } ({ $count } of them).
outage-renewal-took = The renewal took { $took }.
outage-connections = { $n } connections stood still{ $never ->
    [yes] , each from its first full-sized packet on
   *[no] {""}
}.
outage-unused = For the rest of the silence nothing was sent on the new SA.
outage-taken-back = Then { $who } deleted the new SA, too, and had none until the next one.
outage-renewal-computed = The renewal took { $took }, { $computed } of it for computing keys (DH).
outage-renewal-all-computed = The renewal took { $took }, nearly all of it for computing keys (DH).
outage-brought-back = A renewal at { $moment } ended the silence. An SA that had ended there{ $esp ->
    [udp] , a lost NAT mapping, a restart and an interrupted path
   *[plain] , a restart and an interrupted path
} look alike in this capture.
outage-since-renewal = It began with the renewal at { $moment }.
outage-moments = The outages began at { $list }.
outage-earlier = { $count ->
    [one] It had happened once before.
   *[other] It had happened { $n } times before.
}
outage-others = { $count ->
    [one] One more outage has another cause (-v).
   *[other] { $n } more outages have other causes (-v).
}
outage-elsewhere = The same happened to { $list }.
outage-elsewhere-item = { $client } at { $moment } ({ $seconds })
outage-elsewhere-and = {", "}
outage-one-host = Other hosts got theirs through the same SA meanwhile: the tunnel was open.
outage-behind-another = Each time another client had set up its tunnel right before: the gateway probably allows only so many tunnels, or takes two clients for one.
outage-frames = Frames: { $frames }{ $more ->
    [yes] {" "}and more
   *[no] {""}
}.

## Line 3

cure-deleted = look into the log of { $who } for why it deleted { $what ->
    [ike] the IKE SA
   *[child] the SA
}. If a lifetime ended, let a renewal begin before it (strongSwan: `rekey_time` above 0 and below the lifetime), or let the other side renew first; if it was a command or an idle timeout, change that.
cure-one-host = look at the connection of { $host } itself, behind its end of the tunnel (Wi-Fi, cable, switch, its load), and capture there.
cure-behind-another = at the gateway, look for a limit of tunnels (licence, pool of addresses) and for clients that share one name or certificate (strongSwan: `unique`).
cure-deleted-at-limit = { cure-deleted }
cure-break-before-make = { $what ->
    [ike] let { $who } make before it breaks (strongSwan: `make_before_break = yes`), or rekey instead of reauthenticating.
   *[child] { $by ->
        [packets] let { $who } renew before its packets are used up (strongSwan: `rekey_packets` below `life_packets`), or raise their number.
        [volume] let { $who } renew before its volume is used up (strongSwan: `rekey_bytes` below `life_bytes`), or raise it.
        [either] let { $who } renew before its SA ends (strongSwan: `rekey_bytes` below `life_bytes`, `rekey_time` below `life_time`), or raise both limits: which one ends it these packets do not show.
       *[time] let { $who } renew before the lifetime ends (strongSwan: `rekey_time` below `life_time`).
    }
}
cure-deleted-and-made-anew = look into the log of { $who } for why it deleted { $what ->
    [ike] the IKE SA
   *[child] the SA
} at { $moment }: by hand, an idle timeout, checks without an answer, a lifetime. If a lifetime ended, let one side renew before it (strongSwan: `rekey_time`{ $what ->
    [ike] , and not `reauth_time`
   *[child] {""}
}).
cure-new-ike-deleted = at { $who }, look into the log at { $moment } for why the new IKE SA was deleted (a fault of its software, as when it had repeated the request of the renewal), and update it; let traffic bring the tunnel up again (strongSwan: `start_action = trap`).
cure-refused = look into the log of { $who } for its reason: proposals, PFS group and traffic selectors must match at the renewal, too.
cure-given-up-too-soon = keep the line from filling: send a little less than it carries (shape with `fq_codel` or `cake`), give UDP 500 and 4500 priority, and let dead peer detection wait longer (strongSwan: `retransmit_tries`).
cure-given-up-login = at { $other }, ask for no login when the IKE SA is renewed (Cisco: `re-xauth disable`), or raise the lifetime of the IKE SA; or let { $who } keep user and password; or use IKEv2 with certificates.
cure-given-up-alive = at { $other }, let ESP count as a sign of life (dead peer detection on demand, which asks only when nothing comes), or give it a longer delay and more tries (strongSwan: `dpd_delay`, `dpd_timeout`, `retransmit_tries`). See why { $who } leaves checks unanswered (load, a filter).
cure-unanswered = see in the log of { $who } whether these requests came: it may drop what it does not expect. If they did not, find what drops IKE while ESP passes: { $esp ->
    [udp] a NAT timeout, a filter for UDP 500 and 4500
   *[plain] a filter for UDP 500 and 4500, or a firewall before { $who } that forgets UDP without packets (let { $who } check every 20 s)
}. If large messages alone are lost, use IKE fragmentation or a group with smaller keys (an elliptic curve).
cure-answer-lost = find what loses IKE messages between the ends (a full queue, a filter, NAT), and raise the lifetime of the SAs, so that fewer renewals can be hit. If large messages alone are lost, use IKE fragmentation or a group with smaller keys (an elliptic curve).
cure-third-message-once = update { $who }, which should send its third message again whenever the answer comes again, or use IKEv2, which has none; find what loses IKE messages between the ends (a full queue, a filter, NAT). Until then: clear the SA at { $who }.
cure-answered-late = find what loses IKE messages between the ends (a full queue, a filter, NAT), and start renewals early enough for a repeated request to be answered before the SA ends (strongSwan: `rekey_time` or `rekey_bytes` further below `life_time` or `life_bytes`). If large messages alone are lost, use IKE fragmentation or a group with smaller keys (an elliptic curve).
cure-answered-late-lossy = find what loses packets of every kind between the ends. If somebody sends more than the narrowest link takes, shape that a little below it (`fq_codel` or `cake`) and give IKE (UDP 500 and 4500) priority; and start renewals early enough for a repeated request to be answered before the SA ends (strongSwan: `rekey_time` further below `life_time`).
cure-ike-fragments = switch IKE fragmentation on at both ends (strongSwan: `fragmentation = yes`), or use a group with smaller keys (an elliptic curve).
cure-given-up-away = find why nothing came from { $who } (its line, Wi-Fi, sleep). Let { $other } wait longer before it gives up (strongSwan: `retransmit_tries`, libreswan: `retransmit-timeout`), and { $who } check as well, so that it dials again by itself; until then: reconnect.
cure-given-up = find what drops checks (INFORMATIONAL, UDP 500 and 4500) or the answers of { $who } to them; a dead peer detection that waits longer (strongSwan: `retransmit_tries`) only hides it. The log of { $who } tells whether it restarted.
cure-collision = let one side alone renew, with limits well below the other's, and keep random margins.
cure-collision-silent = let one side alone renew, with limits well below the other's, and update { $who }, which did not take the SA of the other side into use. Until then: clear the SA at { $who }.
cure-limit-reached = { $by ->
    [packets] let { $who } renew earlier, or raise the limit of { $limit } (strongSwan: `rekey_packets` further below `life_packets`): a whole exchange must pass between the two.
   *[volume] give { $who }, which renews, limits below those of the other side, and let it begin well before them (strongSwan: `rekey_bytes` below `life_bytes`, `rekey_time` below `life_time`): a whole exchange must fit in between.
}
cure-new-sa-lost = let the initiator send on a new SA a little later, or use IKEv2: { $who } takes it into use late.
cure-new-sa-initiator = let { $other } begin the renewals (raise the limit at { $who }): whoever answers has the new SA before the other side sends on it. Or update { $who }: it takes a new SA into use late.
cure-new-sa-responder = update { $who }: whoever answers must be able to receive on the new SA by then (RFC 7296 §2.8), and it takes it into use late.
cure-second-tunnel = let one side alone begin the tunnel (strongSwan: `start_action = none` at the other one), so that there is one IKE SA; and see what drops the SAs of the other one (a router or NAT that knows one tunnel alone).
cure-first-number = capture at the sender, too. If these packets leave it, look at the router, NAT or firewall before this capture (IPsec passthrough, a state for each SPI) or use UDP encapsulation; else switch the offload of IPsec off there, or the replay check at the receiver.
cure-deleted-early = let { $who } keep the old SA a few seconds longer (strongSwan: `delete_rekeyed_delay`).
cure-dropped-early = let { $who } keep the old SA a few seconds longer (strongSwan: `delete_rekeyed_delay`), or let { $other } send on the new one as soon as it stands (update it).
cure-peer-restarted = find out why { $who } had no SA any more (a restart, cleared SAs), and let the other side notice it sooner: check more often and give up earlier (strongSwan: `dpd_delay`; `dpd_timeout` with IKEv1, `retransmit_tries` with IKEv2).
cure-invalid-spi = { cure-peer-restarted }
cure-address-changed = use IKEv2 with MOBIKE{ $esp ->
    [udp] , send NAT keepalives at least every 20 s, and raise the timeout of the NAT
   *[plain] , or keep the address
}.
cure-back-elsewhere = { $what ->
    [port] let { $who } send NAT keepalives every 20 s (RFC 3948), or check its peer as often, or raise the UDP timeout of its NAT.
   *[address] let { $who } set the tunnel up again as soon as its line has another address (restart IPsec with the line, check more often), or use IKEv2 with MOBIKE; find out why the line broke, or keep the address.
}
cure-left-behind = { $what ->
    [port] send NAT keepalives at least every 20 s, and raise the timeout of the NAT, so that it keeps the port
   *[address] use IKEv2 with MOBIKE at both ends, and let { $who } dial again as soon as its network changes
}. See in the log of { $other } why it did not follow.
cure-moved = nothing at the VPN: it had moved { $took } after the first message from the new place. What is slower from then on is the new network.
cure-session-ended = nothing at the VPN: ask the provider why it ends the session, let the router reconnect at a quiet hour where this comes once a day, or take a line with a fixed address. MOBIKE or more frequent checks shorten only the time after the line is back.
cure-came-back = let { $other } notice sooner that a client is gone (check more often, give up after fewer checks; Yamaha: `ipsec ike keepalive use N on dpd 5 2`), or take a second tunnel of the same client beside the old one. Until then: delete the old SA there by hand (Yamaha: `ipsec sa delete`).
cure-silent-came-back = { cure-came-back }
cure-source-changed = let { $who } send from one address alone (strongSwan: `local_addrs` of the connection, `charon.interfaces_ignore` for the other interfaces, `mobike = no`). In IKEv2 only the side that set the tunnel up may move.
cure-peer-silent = capture on the side of { $who }, too: that tells whether { $who } or the path fell silent.
cure-silent-rested = { $esp ->
    [udp] let { $who } send NAT keepalives every 20 s (RFC 3948), or check its peer as often, or raise the UDP timeout of its NAT.
   *[plain] let { $who } ping through the tunnel every 20 s, or use UDP encapsulation with keepalives (strongSwan: `encap = yes`), or raise the timeout of ESP in the filter or NAT before it.
} Nothing needs a change where { $who } slept.
cure-silent-at-rest = nothing where { $who } slept, was switched off or left its network; else capture at its end, too.
cure-silent-renewed = look into the log of { $who } at { $from } (SA deleted, restarted?){ $esp ->
    [udp] , send NAT keepalives at least every 20 s,
   *[plain] {""}
} and capture there, too.
cure-silent-without-ike = capture IKE (UDP 500 and 4500), too: its messages tell why the SA ended before the next one began.
cure-unheard = capture at { $other }, and look at the way from { $who } to it: a filter, a NAT mapping, the path. If they come there, { $other } itself drops them: its firewall (ESP on the outer interface, states), policies and counters.
cure-esp-silent = capture on the side of { $who }, too: that tells whether it sent ESP, and see there whether it still has its SAs (strongSwan: `swanctl --list-sas`). { $esp ->
    [udp] Send NAT keepalives at least every 20 s.
   *[plain] If it sent, let IP protocol 50 pass on the way, or use UDP encapsulation (strongSwan: `encap = yes`).
}
cure-esp-silent-rested = let { $other } ping through the tunnel every 20 s, or use UDP encapsulation with keepalives (strongSwan: `encap = yes`), or raise the timeout of ESP in the filter before { $who }. Look there whether it still has its SAs (strongSwan: `swanctl --list-sas`).
cure-esp-silent-lost = find what lets IKE of { $who } pass and drops its ESP: { $esp ->
    [udp] a NAT mapping or a filter
   *[plain] a filter, or a provider that forwards IP protocol 50 elsewhere. Send ESP in UDP (strongSwan: `encap = yes`), or keep the tunnel down for some minutes, so that a wrong entry ends
}.
cure-esp-silent-renewed = give both ends the same lifetimes of the SA, in seconds and in kB, and let one renew well before them. See in the log of { $who } why the old SA ended, and let it send a Delete for what it drops.
cure-one-sa-silent = at { $who }, clear the SAs of these networks, and look into its log and counters for why it sent nothing on that one (Cisco: `show crypto ipsec sa`). Give both ends the same lifetimes, and watch each network by a ping. If its volume was used up: update it, raise or lift the limit of volume, and let the lifetime in seconds end first.
cure-silent-on-new-sa = { cure-esp-silent }
cure-path-silent = look at the path between the ends, and capture at the other one, too.
cure-first-fragments = find the firewall or router between { $who } and this capture that drops fragments, and let them pass; or avoid them: a smaller MTU or MSS inside the tunnel (`rekeyscope overhead{ $suite } --mtu LIMIT`), or fragmentation before encryption.
cure-large-packets = find the largest packet that passes between the tunnel's ends outside the tunnel (`ping` with DF), and set the MSS that `rekeyscope overhead{ $suite } --mtu LIMIT` gives. If it began with a renewal, compare suite and encapsulation before and after it.
cure-large-or-all = find the largest packet that passes between the tunnel's ends outside the tunnel (`ping` with DF), and set the MSS that `rekeyscope overhead{ $suite } --mtu LIMIT` gives. If small packets do not reach { $who } either (its `ping` through the tunnel gets no answer), see whether it has the SA that they come on (its log, its list of SAs).
cure-compressed = switch IPComp off at both ends (libreswan `compress=no`, strongSwan `ipcomp = no`). Or switch off ESP offload and GRO at { $other }, or update it: it does not take such packets.
cure-no-mtu = find what drops them by something else than an MTU: compression (switch IPComp off and try again), offload at the receiver, a filter. Keys show which packets are compressed.
cure-large-never-passed = find the largest packet that passes (`ping` with DF), and set the MSS that `rekeyscope overhead{ $suite } --mtu LIMIT` gives, for both directions; or let ICMP 'fragmentation needed' pass.
cure-numbers-back = at { $who }, let the cluster synchronise ESP sequence numbers (or begin well above the last one known), or let the node that takes over rekey at once.
cure-left-out = see in the logs which traffic selectors the renewal negotiated, and let both ends ask for the same ones each time, with { $who } in them.
cure-by-turns = at { $who }, give each client an identity and an inner address of its own, or let several log in with one (strongSwan: `unique = never`).
cure-by-turns-transport = { cure-other-tunnel }
cure-other-tunnel = two clients behind one NAT address look alike in transport mode (L2TP), and { $who } takes the newest SA for both: use IKEv2 or another tunnel mode, one L2TP client for each NAT address, or marks for each SA at { $who } (strongSwan: the plugin `connmark`).
cure-same-address = { cure-by-turns }
cure-other-path = make both directions use the same tunnel (routes, their metrics, BGP), or let the firewall that drops it accept data of a connection from either tunnel.
cure-networks-by-turns = let both ends have one SA for both networks (selectors 0.0.0.0/0, route-based; of a cloud gateway that allows one pair: AWS), or as many SAs as networks; see in the logs which traffic selectors each end asks for. Not the lifetimes.
cure-one-sided = { $known ->
    [inferred] see whether { $to } has this SA (strongSwan: `swanctl --list-sas`); if not, delete it at { $who }, too, or let it renew
   *[read] at { $who }, delete that SA or let it renew (strongSwan: `swanctl --terminate --child-id`), and see in the log of { $to } why it deleted it
}. Two pairs of SAs beside each other come of both ends setting up, or of reauthentication: let one end alone begin (strongSwan: `start_action`, no `close_action = start`), and see `unique`.
cure-one-sided-renewed = give both ends the same lifetimes, and let a ping through the tunnel watch each SA, which checks by IKE do not. The log of { $to } tells when it dropped the SA. Until it is renewed: delete this SA at { $who }.
cure-one-sided-newer = at { $who }, delete the old SA (press reconnect, clear its SAs), and let it use the newest one and heed INITIAL-CONTACT. At { $to }, send a Delete before SAs are cleared, and let a ping through the tunnel watch it instead of IKE's checks.
cure-sa-of-others = at { $who }, clear the SAs of this network and set them up again; give each network its own policy (strongSwan: an own `reqid`), and update { $who }.
cure-one-sided-asked = let { $who } begin the renewals (raise the limits of the SA at { $to }), update { $to }, and see in its log why it did not take the SA (an invalid SPI?). Until then: clear the SAs at { $to }.
cure-answered-elsewhere = let { $who } answer from the address that was asked: a route for each source address (`ip rule add from { $from }`, a table for each line), or bind IKE to it (strongSwan: `local_addrs`, `left`); or let the other end ask { $to }.
cure-answered-at-port = use another network at { $who }, or a NAT there that gives IKE and ESP one port (switch off its IPsec passthrough or ALG).
cure-numbers-used-up = let { $who } renew before its numbers are used up (strongSwan: `rekey_packets`), or use extended sequence numbers (strongSwan: `esn` in the ESP proposal). The path is not the cause.
cure-bad-icv = find what damages packets at { $who } or on the way: hardware or offload that encrypts (switch it off), memory, a device that changes them. A capture at its end tells which.
cure-too-big = at { $who }, let ICMP 'fragmentation needed' through and heed it, or set a smaller MSS or MTU: `rekeyscope overhead{ $suite } --mtu { $mtu }` gives them.
cure-too-big-inside = let ICMP (IPv4 'fragmentation needed', IPv6 'packet too big') from { $router } through to { $from }, which must heed it; or give the tunnel's interface an MTU of { $mtu } there (MSS 40 bytes less, 60 with IPv6).
cure-connection-dead = look at the firewall and the host behind { $who }: its table of connections (timeout, failover, restart). Restart the transfer.
cure-deleted-replaced = nothing, if the other tunnel is there for this. The log of { $who } tells why it deleted { $what ->
    [ike] the IKE SA
   *[child] the SA
}. Later requests to this tunnel without an answer cost this data nothing.
cure-deleted-elsewhere = give the client the same inner address each time (strongSwan: a lease in the pool, or `vips`), or restart its connections. The log of { $who } tells why it deleted the IKE SA.
cure-slow-exchange = use a smaller or an elliptic-curve group, or no PFS, and give UDP 500 and 4500 priority.
cure-slow-renewal = { cure-slow-exchange }
cure-l2tp-closed = look into the L2TP log of { $who }: why it ended the session (idle or session limit, RADIUS, PPP options).
cure-l2tp-unanswered = at { $who }, switch this keepalive off or let it wait longer (Yamaha: `l2tp keepalive use off`, or more interval and count; pppd: `lcp-echo-failure`), or use a client that answers it.
cure-l2tp-silent = find out why nothing came from { $other }. Let the keepalive of { $who } wait longer than such gaps (pppd: `lcp-echo-failure`; FortiGate: `lcp-max-echo-fails`), and let { $other } check as well and dial again by itself (xl2tpd: `redial = yes`, pppd: `persist`, `lcp-echo-interval`).
cure-l2tp-broken-line = let { $who } dial again by itself (xl2tpd: `redial = yes`, pppd: `persist`) and its keepalive wait longer (pppd: `lcp-echo-failure`); find out why nothing came from { $other } before.
cure-monitored = at { $who }, switch this monitor off, or let it ping, from an address that the tunnel carries, a host behind { $other } that answers (Juniper: `vpn-monitor` with `source-interface`, `destination-ip` and `optimized`; Yamaha: `ipsec ike keepalive use`), or let { $other } answer pings. Dead peer detection of IKE needs none.
cure-lost-fragments = lower the MTU inside the tunnel (L2TP: that of PPP) or clamp the MSS{ $known ->
    [yes] {" "}to { $mss }
   *[no] {""}
}, so that no packet is fragmented; and look for what drops fragments before this capture (firewall, NAT, filter).
cure-damaged = find what damages packets before this capture: line, modem, radio, cable, network card (its offloads). Keys and rekeys are right.
cure-late = let no priority queue sort ESP (QoS belongs before encryption, or voice in an SA of its own), keep each SA on one path, or give the receiver a larger replay window (strongSwan: `replay_window`).
cure-replay-window = let no priority queue sort ESP (QoS belongs before encryption, or voice in an SA of its own), keep each SA on one path, or give { $who } a larger replay window (strongSwan: `replay_window`).
cure-capture-hole = give the keys (--keys FILE): they show whether the path lost these packets or the capture alone.
cure-unexplained = { $known ->
    [cut] send what needs no fragments: let the gateway tell the tunnel's MTU (ICMP), or clamp the MSS. Look for what drops fragments at { $who } (a filter, `scrub` of pf), and capture
   *[other] capture
} on the side of { $who }, too: that would tell where the packets were lost.
# Neither registry nor policy nor IKEv2 changes the limit
cure-windows = { $part }{ $most }. No setting moves the limit: 250,000 kB is what Windows proposes.
cure-windows-ready = let { $gateway } use a new SA as soon as the exchange is over (another version or system)
cure-windows-exchange = shorten the exchange ({ $took }) at { $gateway }: no PFS or an elliptic-curve group, faster hardware
cure-windows-most = , for at most { $rate } (now { $now })

## Times, sizes

outage-seconds = { $n } s
outage-range = { $from }–{ $to } s
outage-packets = { $n } packets
outage-kilobytes-and-seconds = { $kilobytes } and { $seconds }

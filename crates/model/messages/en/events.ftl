### Events of the control plane and the path (words/events.rs).

# $when: a moment, or event-span; $said: one of the sentences below
event-item = { $when }, frame { $frame }: { $said }
event-span = { $from } to { $to }
# $names: a notification, SPIs
event-with = { $said } ({ $names })
# $said: event-address-changed or event-port-changed, as a sentence of the short report; $at: when; $more: how many follow
event-change = { $said } at { $at }{ $more ->
    [0] .
    [one] , and 1 more change (-v).
   *[other] , and { $more } more changes (-v).
}

## One for each kind. $who: the client, the gateway, an address, or one side; $count: copies, checks, bytes, by kind

event-refused = { $who } { $probably }refused a new SA
event-unanswered = { $who } did not answer a request for a new SA ({ $count ->
    [one] sent once
   *[other] sent { $count } times
})
event-answered-late = { $who } answered a request for a new SA that had been sent { $count } times
event-checks-unheard = the answer of { $who } to a check is in the capture, and the check comes again
event-answer-lost = a message of a renewal comes again, though the answer of { $who } is in the capture
event-child-deleted = { $who } { $probably }deleted an SA{ $follows ->
    [nothing] , and none had taken its place
   *[another] {""}
}
event-ike-sa-deleted = { $who } { $probably }deleted the IKE SA{ $follows ->
    [nothing] , and none had taken its place
   *[another] {""}
}
event-deleted = { $who } { $probably }sent a Delete; what it names is encrypted
event-limit-reached = an SA reached its limit
event-collision = both sides { $probably }renewed at once
event-address-changed = { $who } moved from { $from } to { $to }
event-port-changed = { $who } changed its port, from { $from } to { $to }
event-invalid-spi = { $who } did not know an SPI ({ $count ->
    [one] said once
   *[other] said { $count } times
})
event-new-ike-sa = { $who } began a new IKE SA
event-ike-sa-rekeyed = { $who } { $probably }rekeyed the IKE SA
event-initial-contact = { $who } said that it had no other SA (INITIAL_CONTACT)
event-checks-unanswered = { $who } { $probably }did not answer { $count ->
    [one] one check whether it is alive
   *[other] { $count } checks whether it is alive
}
event-stop-ccn = { $who } stopped the L2TP control connection
event-call-disconnected = { $who } disconnected the L2TP session
event-lcp-terminated = { $who } terminated the PPP link
event-login-refused = { $who } refused a PPP login
event-echo-unanswered = { $who } did not answer { $count ->
    [one] one keepalive
   *[other] { $count } keepalives
}
event-fragments-incomplete = of an IKE message in fragments, { $count ->
    [one] one fragment
   *[other] { $count } fragments
} came, and no answer
event-first-number = the first packet of a new SA of { $who } has the number { $count }
event-checks-answered-late = { $who } answered a check whether it is alive, sent { $count ->
    [one] once
   *[other] { $count } times
}, when it had been given up
event-bad-icv = { $count } packets of { $who } came with a wrong ICV
event-one-sided = { $who } { $probably }goes on upon an SA that the other side deleted
event-answered-elsewhere = { $who } { $probably }sends from { $to }, and is sent to at { $from }
event-networks-by-turns = SAs for { $from } and { $to } end each other by turns, { $count } times
event-numbers-back = the ESP numbers of { $who } went back by { $count }
event-only-small-pass = of { $count } ESP packets of { $who } only the first fragment came
event-capture-hole = { $count ->
    [one] one packet that passed is
   *[other] { $count } packets that passed are
} missing in the capture
event-everything-silent = nothing at all was captured
event-unreachable = { $who } answered with ICMP
event-pppoe-ended = the PPPoE session of the line was ended
event-too-big-inside = { $who } said by ICMP that packets from { $from } to { $to } may have { $count } bytes at most
event-ike-silent = { $who } sent no IKE while its ESP passed
event-esp-silent = { $who } { $sas ->
    [one] { $probably }stopped sending on one SA while its others went on
   *[all] sent no ESP while its IKE passed
}
event-other-tunnel = data of the tunnel of { $from } { $probably }came in that of { $to }

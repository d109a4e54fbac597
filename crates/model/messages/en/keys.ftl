### Why keys did not follow from a negotiation that could be read (underivable.rs).

underivable-pfs = { $count } of these SAs { $count ->
    [one] was
   *[other] were
} negotiated with perfect forward secrecy (PFS): the exchange made a Diffie–Hellman secret of its own, which goes into the keys beside SKEYID_d or SK_d (RFC 2409 §5.5, RFC 7296 §2.17) and never crosses the wire, so that phase-1 keys alone cannot give the keys. Needed is a log that holds that secret (charon at level 4 prints it with its seeds) or the ESP keys themselves.
underivable-without-pfs = { $count } of these SAs { $count ->
    [one] was
   *[other] were
} negotiated without PFS in messages that could be read: SKEYID_d (IKEv2: SK_d) of their IKE SA would give their keys; Ka, SKEYID_e, SK_ei and SK_er only open the messages.

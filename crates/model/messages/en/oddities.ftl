### Oddities, counted by kind (diagnostic.rs and who calls it).

## Names of layers that are more than a protocol's own name

layer-l2tp-in-clear = L2TP in clear
layer-udp-4500 = UDP 4500 without ESP or IKE
layer-esp-spi-0 = ESP with SPI 0
layer-ip-in-ip = IP in IP
layer-mpls-in-ip = MPLS in IP
layer-no-next-header = IPv6 without next header
layer-another-protocol = another IP protocol
layer-another-ethertype = another EtherType
layer-flow-control = Ethernet flow control
layer-loopback-test = Ethernet loopback test
layer-pppoe-discovery = PPPoE discovery
layer-ppp-compression = PPP compression or MPPE
layer-ipcomp-whole = IPComp (whole payload needed)
layer-too-many-tags = a stack of too many VLAN tags
layer-too-many-labels = a stack of too many MPLS labels
layer-too-deep = too many layers
layer-mpls-payload = an MPLS payload
layer-snap = a vendor's SNAP protocol
layer-pppoe-version = an unknown version of PPPoE
layer-another-ppp = another PPP protocol
layer-another-family = another address family
layer-capture-header = an unknown kind of capture header
layer-radiotap-version = an unknown version of radiotap
layer-wifi-management = 802.11 management
layer-wifi-control = 802.11 control
layer-wifi-extension = 802.11 extension
layer-wifi-empty = 802.11 data without content
layer-wifi-encrypted = 802.11 data that is encrypted
layer-ppp-network-control = PPP network control
layer-ppp-link-control = PPP link control
layer-ppp-authentication = PPP authentication
layer-ppp-bridging = PPP bridging
layer-ppp-encryption = PPP encryption
layer-ppp-van-jacobson = PPP Van Jacobson compression
layer-gre-keepalive = GRE keepalive
layer-gre-routing = GRE source routing
layer-pptp-acknowledgement = PPTP acknowledgement
layer-dummy = no next header (dummy packet)

## The file

oddity-cut-file = the data ends in the middle of a record, after { $bytes } bytes: { $kept }; if it was still being written or copied, take it again when it is complete
oddity-appended = another capture begins before this packet in the same file or stream, as cat and rotated files leave it: reading goes on with its header
oddity-kept-none = no packet comes before it
oddity-kept = { $packets ->
    [one] the packet before it was
   *[other] the { $packets } packets before it were
} read
oddity-no-packet = a block that Wireshark shows as a frame holds no packet (journal entry, custom block, system call)
oddity-interfaces = a section describes more than { $most } interfaces; packets of the others are left out
oddity-no-time = a simple packet block has no time: it takes that of the packet before it; convert from the original capture if times matter
oddity-unknown-interface = a packet names an interface that the file does not describe: its link type is unknown and it is left out
oddity-cut-packets = packets cut by the snap length (this one after { $bytes } bytes): their lengths on the wire are counted, but nothing checks or opens them; capture again with tcpdump -s 0
oddity-bad-secrets = Decryption Secrets Blocks that claim more bytes than they have (the first is number { $block }): their keys are left out
oddity-too-many-secrets = the capture holds more keys than are read from one ({ $blocks } Decryption Secrets Blocks, { $megabytes } MB): the rest is left out; give it with --keys
oddity-late-secrets = keys stand between the packets of a pipe, which can be read only once: they are not used; save the capture to a file first
oddity-files-not-read = { $files } of the files that make up this capture could not be read: their packets are missing
oddity-key-file = a key file beside the capture cannot be read: it was left out

## Frames

oddity-malformed = { $layer }: needs { $required } bytes at offset { $offset }, { $available } there
oddity-ip-longer = an IP packet claims more bytes than its frame had on the wire: it counts as cut
oddity-udp-longer = a UDP header claims more bytes than its IP packet holds: the IP length counts
oddity-cut-header = the snap length cut a packet inside its { $layer } header: capture with a larger one
oddity-link-type = frames of link type { $type } are not decoded
oddity-not-ip = not IP but { $name }: counted, not looked into
oddity-not-ipsec = { $name } packets that are neither IKE nor ESP; not looked into
oddity-fragment-impossible = a fragment with an impossible place or length
oddity-fragment-behind = a fragment behind the end of its datagram
oddity-fragment-twice = a fragment that was already there: the capture point sees packets twice
oddity-fragment-overlaps = a fragment overlaps an earlier one, which wins
oddity-fragment-replaces = a fragment at the place of an earlier one with other bytes, which it replaces: the identification came round again
oddity-fragments-too-many = a datagram in too many fragments is not put together
oddity-fragments-missing = fragments of this datagram are missing from the capture: what it carried is not analysed
oddity-duplicate = { $name } packets that the capture holds again (both sides of a mirror port, several interfaces, a file twice): each is counted once
oddity-ah = packets that an authentication header alone protects (RFC 4302): nothing in them is encrypted; their ICVs are not checked
oddity-keepalive = NAT keepalives (RFC 3948 §2.3): there is a NAT between the peers
oddity-stream-lost = a TCP stream with ESP in it has a hole in this capture: the packets in it are missing

## IKE

oddity-unprotected-delete = A Delete payload came unencrypted: it is not believed (RFC 2408 §3.15)
oddity-ike-version = IKE version { $version } is not known: the message is not read
oddity-ike-sas = More than { $most } IKE SAs: the later ones are not listed
oddity-exchanges = More than { $most } IKE exchanges: the later ones are not listed
oddity-ike-fragment-dropped = IKE fragments that were given up: their message has more than { $pieces } pieces or { $bytes } bytes, too many messages waited for the rest of their pieces, or the sender's next message came first
oddity-cut-message = An IKE message is longer than what was captured of it: raise the snap length
oddity-exchange-type = IKEv{ $version } exchange type { $type } ({ $name }) is counted, not decoded

## ESP and keys

oddity-esp-too-short = ESP packets without a whole header (cut by the snap length, or damaged)
oddity-not-opened = packets with a good ICV that do not decrypt to a sensible trailer: the encryption key is wrong
oddity-not-decoded-inside = decrypted packets were followed down to { $name } and no further: the rest counts as payload
oddity-nested = IKE and ESP packets inside ESP: analysed as tunnels of their own, their bytes are counted in the innermost flows only
oddity-closed-around = SAs around the chosen tunnel with packets that stay closed: what they carried of it is missing here; without --tunnel the report says which keys it lacks
oddity-one-packet-proof = SAs with a single packet: that their encryption key is right rests on it alone (a wrong one passes in fewer than 1 of 1,000)
oddity-too-few-packets = SAs whose integrity key fits and whose packets are too few to prove an encryption key: { $packets } like them would do
oddity-half-a-key = SAs whose integrity key fits (their ICVs do), while no encryption key in the key files opens their packets
oddity-wrong-key = keys that name an SA and fit none of its packets, where another key does (first: { $place }): the log holds a wrong one
oddity-mining = unlabelled keys were sought with { $trials } trials (at most { $most } per packet of an SA)
oddity-mining-gave-up = unlabelled keys were sought with { $trials } trials (at most { $most } per packet of an SA), and not all bytes of the key files were tried for every SA: give a shorter log, cut around the time of the capture

## The analysis itself

oddity-too-many = more tunnels or SAs than are kept: packets of the later ones are not analysed; filter the capture by address first
oddity-forgot-packets = more packets than are remembered to tell repetitions: where the file holds the same packets twice far apart, they count twice
oddity-no-series = more tunnels than are measured over time; choose some by a capture filter on their addresses
oddity-decoding-died = a batch of packets was lost because decoding it failed; please report this
oddity-close-up-shortened = { $rekeys } rekeys have so many packets around them, or follow each other so fast, that their close-ups were looked for in some of these packets only
oddity-close-up-left-out = { $rekeys } rekeys are more than can be looked at: they have no close-ups
oddity-stretches-left-out = { $stretches } stretches in which nothing was delivered are more than can be kept: outages among them are not named
oddity-events-left-out = { $events } events beyond the first { $most } are left out
oddity-silences-left-out = { $silences } silences are more than can be kept: rests among them do not part transfers

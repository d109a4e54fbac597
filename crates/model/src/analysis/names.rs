//! The names that the document uses for kinds, states and verdicts.

macro_rules! plain_names {
    ($($(#[$meta:meta])* pub enum $name:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal,)* })*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum $name { $($(#[$vmeta])* #[serde(rename = $text)] $variant,)* }
        impl $name {
            /// Every one, in the order of their declaration.
            pub const ALL: &[Self] = &[$($name::$variant,)*];

            /// The name in the document.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }
        }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    )*};
}
pub(crate) use plain_names;

plain_names! {
    /// Container of the capture.
    pub enum CaptureFormat {
        /// libpcap.
        Pcap = "pcap",
        /// pcapng.
        Pcapng = "pcapng",
    }
    /// ESP in IP, in UDP (RFC 3948) or in TCP (RFC 9329); or AH.
    pub enum Encapsulation {
        /// IP protocol 50.
        Esp = "esp",
        /// UDP, usually port 4500.
        Udp = "udp",
        /// TCP, usually port 4500.
        Tcp = "tcp",
        /// AH alone, IP protocol 51 (RFC 4302).
        Ah = "ah",
    }
    /// Protection of an SA's packets.
    pub enum Protocol {
        /// Encapsulating Security Payload (RFC 4303).
        Esp = "esp",
        /// Authentication Header (RFC 4302): nothing is encrypted.
        Ah = "ah",
    }
    /// Label of a second of a transfer.
    pub enum AccountLabel {
        /// The capture lacks packets, or its clock was set.
        CaptureHole = "capture_hole",
        /// No SA carried it: a renewal failed, or the other side was gone.
        TunnelDown = "tunnel_down",
        /// A renewal that succeeded.
        Rekey = "rekey",
        /// The receiver's window was smaller than a segment.
        ZeroWindow = "zero_window",
        /// The receiver's window was full.
        ReceiveWindow = "receive_window",
        /// The sender's buffer was full, or its congestion window was clamped.
        SendBuffer = "send_buffer",
        /// The sender had nothing to send.
        Application = "application",
        /// Loss while the path was not full, and the recovery from it.
        PathLoss = "path_loss",
        /// Loss from a full queue, and the recovery from it.
        QueueLoss = "queue_loss",
        /// Packets that overtook each other were taken for lost.
        Reordering = "reordering",
        /// The congestion window grew.
        Growth = "growth",
        /// The path, or the processor that encrypts, carried what it can.
        Capacity = "capacity",
        /// None of these.
        Unexplained = "unexplained",
    }
    /// The capture point that packets pass first.
    pub enum PointOrder {
        /// This one.
        HereFirst = "here_first",
        /// The other one.
        ThereFirst = "there_first",
        /// Neither their times nor their hop limits tell.
        Unknown = "unknown",
    }
    /// Source of the order of two capture points.
    pub enum OrderSource {
        /// By the times of packets of both directions.
        Times = "times",
        /// By TTL or hop limit of the same packets, which are larger at the first point.
        HopLimit = "hop_limit",
    }
    /// Source of the rate of a path.
    pub enum OwnRate {
        /// Packets came back to back, or queued: nothing faster goes through.
        Proven = "proven",
        /// The best half second or more: it might carry more.
        Best = "best",
        /// The rate beside rekeys and failures, where no TCP could be read: nothing says whether the sender had more to send.
        Beside = "beside",
    }
    /// Reason why a rekey or a failure owns a stretch of a transfer.
    pub enum LedgerWhy {
        /// The old SA swallowed what was sent on it.
        LostOnOld = "lost_on_old",
        /// The new SA swallowed what was sent on it.
        LostOnNew = "lost_on_new",
        /// Nothing was sent, or nothing shows what became of what was sent.
        Silence = "silence",
        /// The sender did not hear of what it had sent, which arrived.
        Reverse = "reverse",
        /// The transfer was slower, without a silence.
        Slow = "slow",
    }
    /// Basis that shows which bytes arrived.
    pub enum LedgerBasis {
        /// Acknowledgements of the receiver.
        Acknowledgements = "acknowledgements",
        /// Datagrams, which nobody acknowledges: what was sent counts, unless its SA had passed its limit.
        Datagrams = "datagrams",
        /// Answers of the receiver to data that cannot be read: what is sent while the answers stop did not arrive.
        Answers = "answers",
        /// Packets that cannot be read, and that nothing that comes back answers: what was sent counts.
        Packets = "packets",
    }
    /// Source of the time from an acknowledgement to the data it releases.
    pub enum D2Source {
        /// From the handshake.
        Handshake = "handshake",
        /// From TCP timestamps.
        Timestamps = "timestamps",
        /// From the pattern of acknowledgements and data.
        Pattern = "pattern",
        /// Not at all.
        None = "none",
    }
    /// Trust in a key.
    pub enum KeyStatus {
        /// The ICV of packets fits (for IKE: messages decrypt to a valid payload chain).
        Verified = "verified",
        /// Given, but nothing to check it against, or it does not fit.
        Unverified = "unverified",
        /// Computed from phase 1, no packet to check it against.
        Derived = "derived",
        /// Only the first eight bytes are known.
        Prefix8 = "prefix8",
        /// The log hides it.
        Masked = "masked",
        /// The log cut it off.
        Truncated = "truncated",
        /// Two different keys for one SA.
        Conflict = "conflict",
        /// None.
        Missing = "missing",
    }
    /// Kinds of IKE exchange.
    pub enum ExchangeKind {
        /// IKEv1 Main Mode (RFC 2409 §5).
        MainMode = "main_mode",
        /// IKEv1 Aggressive Mode.
        AggressiveMode = "aggressive_mode",
        /// IKEv1 Quick Mode (RFC 2409 §5.5).
        QuickMode = "quick_mode",
        /// Informational, both versions.
        Informational = "informational",
        /// IKEv1 Transaction (mode config, XAUTH).
        Transaction = "transaction",
        /// IKEv2 IKE_SA_INIT (RFC 7296 §1.2).
        IkeSaInit = "ike_sa_init",
        /// IKEv2 IKE_AUTH.
        IkeAuth = "ike_auth",
        /// IKEv2 CREATE_CHILD_SA (RFC 7296 §1.3).
        CreateChildSa = "create_child_sa",
        /// Any other exchange type: counted, not decoded.
        Other = "other",
    }
    /// IPsec mode.
    pub enum Mode {
        /// Transport mode.
        Transport = "transport",
        /// Tunnel mode.
        Tunnel = "tunnel",
    }
    /// Evidence of a rekey.
    pub enum RekeyEvidence {
        /// A Quick Mode.
        QuickMode = "quick_mode",
        /// A CREATE_CHILD_SA.
        CreateChildSa = "create_child_sa",
        /// Only one SPI taking over from another.
        SpiSuccession = "spi_succession",
    }
    /// Why a rekey happened.
    #[derive(Default)]
    pub enum TriggerKind {
        /// The kilobyte lifetime.
        Volume = "volume",
        /// The lifetime in seconds.
        Time = "time",
        /// A packet or sequence number limit.
        Packets = "packets",
        /// A new phase 1.
        Reauthentication = "reauthentication",
        /// Both sides at once.
        Collision = "collision",
        /// The capture cannot tell.
        #[default]
        Unknown = "unknown",
    }
    /// Direction in a tunnel.
    #[derive(Default)]
    pub enum Direction {
        /// From the IKE initiator.
        #[default]
        AToB = "a_to_b",
        /// Towards the IKE initiator.
        BToA = "b_to_a",
    }
    /// Meaning of the numbers of a close-up.
    pub enum CloseUpNumbers {
        /// Bytes of an inner TCP connection.
        TcpBytes = "tcp_bytes",
        /// ESP packets.
        EspPackets = "esp_packets",
    }
    /// An SA as a rekey sees it.
    pub enum SaAge {
        /// The SA that ends.
        Old = "old",
        /// The SA that begins.
        New = "new",
        /// Another one.
        Other = "other",
    }
    /// Outcome of an attempt to make or renew an SA.
    pub enum AttemptOutcome {
        /// A new SA carries packets. (Older documents list SAs that were deleted before anybody asked.)
        #[serde(alias = "break_before_make")]
        Completed = "completed",
        /// SAs were agreed on that no packet used.
        CompletedUnused = "completed_unused",
        /// The other side said no.
        Refused = "refused",
        /// The other side never answered. (Older documents list SAs for which nobody asked.)
        #[serde(alias = "limit_without_attempt")]
        Unanswered = "unanswered",
        /// Both sides asked at once, and the other exchange won.
        Superseded = "superseded",
        /// The capture, or the IKE SA, ends before an answer was due.
        Cut = "cut",
    }
    /// End of an outage.
    pub enum OutageEnd {
        /// Data passed on a new SA.
        NewSa = "new_sa",
        /// Data passed on an SA of a new IKE SA.
        NewIkeSa = "new_ike_sa",
        /// Data passed on the old SA again.
        OldSa = "old_sa",
        /// The capture ended first.
        End = "end",
    }
    /// The verdict.
    pub enum Verdict {
        /// Outages cost more than rekeys, or one has not ended, or a renewal failed for good.
        Failed = "failed",
        /// Rekeys cost 1 % of the transfer or more, or half of them hurt.
        Shown = "shown",
        /// Some rekeys hurt, and cost less.
        Some = "some",
        /// No rekey hurts, and the packets would show one that cost more than a bound.
        Bounded = "bounded",
        /// The packets do not show what rekeys cost.
        Inconclusive = "inconclusive",
        /// There is no rekey.
        NoRekeys = "no_rekeys",
        /// There is nothing to measure.
        NoTraffic = "no_traffic",
    }
    /// Meaning of the rates.
    pub enum Counted {
        /// New inner transport bytes.
        InnerNewBytes = "inner_new_bytes",
        /// ESP bytes, from the SPI to the ICV, because keys are missing. (Not the IP total lengths that `outer_bytes` means
        /// elsewhere: the name is older.)
        OuterBytes = "outer_bytes",
    }
    /// Confidence in a cause.
    pub enum Confidence {
        /// The packets show it.
        High = "high",
        /// The packets fit it well.
        Medium = "medium",
        /// The packets do not contradict it.
        Low = "low",
    }
    /// Source of an overlay.
    #[derive(Default)]
    pub enum OverlayKind {
        /// Intervals of iperf3.
        Iperf3 = "iperf3",
        /// Samples from a CSV file.
        #[default]
        Samples = "samples",
    }
    /// Kind of an event of the control plane or the path.
    pub enum EventKind {
        /// A request for a new SA was refused by a notification.
        Refused = "refused",
        /// A request was sent, and repeated, and nobody answered.
        Unanswered = "unanswered",
        /// A request was answered after it had been repeated.
        AnsweredLate = "answered_late",
        /// The answer is in the capture, and the request comes again.
        AnswerLost = "answer_lost",
        /// Child SAs were deleted (RFC 2408 §3.15, RFC 7296 §1.4.1).
        ChildDeleted = "child_deleted",
        /// An IKE SA was deleted, and its child SAs with it.
        IkeSaDeleted = "ike_sa_deleted",
        /// Something was deleted, but encryption hides it.
        Deleted = "deleted",
        /// An SA reached its limit.
        LimitReached = "limit_reached",
        /// The two sides renewed at once.
        Collision = "collision",
        /// An end has another address.
        AddressChanged = "address_changed",
        /// An end has another UDP port.
        PortChanged = "port_changed",
        /// A peer did not know an SPI (RFC 7296 §1.5, RFC 2407 §4.6.3).
        InvalidSpi = "invalid_spi",
        /// An IKE SA began that is no rekey of another one: in place of one, or the first.
        NewIkeSa = "new_ike_sa",
        /// An IKE SA was replaced by a rekey.
        IkeSaRekeyed = "ike_sa_rekeyed",
        /// A peer said that it had no other SA (RFC 7296 §2.4).
        InitialContact = "initial_contact",
        /// Checks whether the peer is alive (RFC 3706, RFC 7296 §2.4) were not answered.
        ChecksUnanswered = "checks_unanswered",
        /// L2TP: the control connection was stopped (RFC 2661 §6.4).
        StopCcn = "stop_ccn",
        /// L2TP: a session was disconnected (RFC 2661 §6.12).
        CallDisconnected = "call_disconnected",
        /// PPP: the link was terminated (RFC 1661 §5.5).
        LcpTerminated = "lcp_terminated",
        /// PPP: a login was refused (RFC 1994 §4.2, RFC 1334 §2.2.2, RFC 3748 §4.2).
        LoginRefused = "login_refused",
        /// L2TP Hellos or LCP echoes were not answered, or no ping of one end of the tunnel to the other one inside of it.
        EchoUnanswered = "echo_unanswered",
        /// A check whether the peer lives was answered, and came again.
        ChecksUnheard = "checks_unheard",
        /// A check whether the peer lives was answered when the side that asked had given up, and begun a new IKE SA.
        ChecksAnsweredLate = "checks_answered_late",
        /// The first fragment of a message came without the others, or no message in fragments was answered.
        FragmentsIncomplete = "fragments_incomplete",
        /// The first packet of a new SA has a number above 1.
        FirstNumber = "first_number",
        /// Large ESP packets no longer come whole: their first fragments come alone, and smaller packets pass.
        OnlySmallPass = "only_small_pass",
        /// The ESP numbers of a side went back to those of earlier packets, which had other bytes.
        NumbersBack = "numbers_back",
        /// A side goes on to send on an SA that its receiver deleted, or left for an older one.
        OneSided = "one_sided",
        /// An end sends from another address than the one that its peer sends to.
        AnsweredElsewhere = "answered_elsewhere",
        /// SAs for two inner networks end each other by turns.
        NetworksByTurns = "networks_by_turns",
        /// Packets came with a wrong ICV under a key that other packets prove.
        BadIcv = "bad_icv",
        /// The capture lacks packets that passed.
        CaptureHole = "capture_hole",
        /// Nothing at all was captured for a while.
        EverythingSilent = "everything_silent",
        /// A host or router answered ESP or IKE with ICMP: destination unreachable, or packet too big.
        Unreachable = "unreachable",
        /// A side ended the PPPoE session of the access line.
        PppoeEnded = "pppoe_ended",
        /// A router said by ICMP inside the tunnel that packets between two hosts are too big.
        TooBigInside = "too_big_inside",
        /// A side sent no IKE while its ESP passed.
        IkeSilent = "ike_silent",
        /// A side sent no ESP while its IKE passed.
        EspSilent = "esp_silent",
        /// Packets of one direction came through another tunnel, while the other direction went on in this one.
        OtherTunnel = "other_tunnel",
    }
    /// Certainty of an event or of an explanation.
    pub enum Certainty {
        /// The fact was read, decrypted or in clear.
        Read = "read",
        /// Packets prove the fact.
        Proven = "proven",
        /// The fact follows from what the packets look like.
        Inferred = "inferred",
    }
    /// Cause of a time without delivery.
    pub enum ExplanationCause {
        /// The capture lacks packets, or its clock was set.
        CaptureHole = "capture_hole",
        /// An IKE SA or child SA was deleted, and nothing followed.
        Deleted = "deleted",
        /// The old SA was deleted before the new one was negotiated.
        BreakBeforeMake = "break_before_make",
        /// The renewal was refused.
        Refused = "refused",
        /// The renewal was not answered.
        Unanswered = "unanswered",
        /// Only fragments of a large IKE message came.
        IkeFragments = "ike_fragments",
        /// A later copy of the request was answered.
        AnsweredLate = "answered_late",
        /// A side whose checks were not answered set up a new IKE SA in place of one that lives.
        GivenUp = "given_up",
        /// A side set up a new IKE SA in place of one that lives, and its check was answered only then.
        GivenUpTooSoon = "given_up_too_soon",
        /// The renewal was answered, and the answer did not arrive.
        AnswerLost = "answer_lost",
        /// The two sides renewed at once.
        Collision = "collision",
        /// A limit was reached, and the renewal came too late, or not at all.
        LimitReached = "limit_reached",
        /// The receiver did not have the new SA yet, or its first packets were lost.
        NewSaLost = "new_sa_lost",
        /// The first packets of several new SAs never came to the capture.
        FirstNumber = "first_number",
        /// The old SA was deleted while packets were on their way.
        DeletedEarly = "deleted_early",
        /// A peer did not know the SPI.
        InvalidSpi = "invalid_spi",
        /// A peer lost its SAs: it began anew, or the other side did.
        #[serde(alias = "peer_lost_sas")]
        PeerRestarted = "peer_restarted",
        /// An address or a port changed.
        AddressChanged = "address_changed",
        /// The peer fell silent.
        PeerSilent = "peer_silent",
        /// The path was silent: nothing came from either side, or of one of several tunnels.
        PathSilent = "path_silent",
        /// Packets of one side did not arrive, though they are in the capture.
        Unheard = "unheard",
        /// ESP of one side no longer came, though its IKE did.
        EspSilent = "esp_silent",
        /// ESP of one side no longer came from a renewal on, whose SA the other side uses.
        SilentOnNewSa = "silent_on_new_sa",
        /// Large packets no longer passed.
        LargePackets = "large_packets",
        /// Large packets never passed, from the first one on.
        LargeNeverPassed = "large_never_passed",
        /// First fragments of large packets came without the others.
        FirstFragments = "first_fragments",
        /// A router says which size passes, and the sender does not heed it.
        TooBig = "too_big",
        /// The renewal was not done when data stopped on the old SA.
        SlowRenewal = "slow_renewal",
        /// The key exchange took long.
        SlowExchange = "slow_exchange",
        /// A side went on with an old counter of ESP numbers, so that a replay check drops its packets.
        NumbersBack = "numbers_back",
        /// A new SA does not carry some of the inner hosts that the old one carried.
        LeftOut = "left_out",
        /// A side serves two others by turns, as if they were one, or two inner networks, of which each new SA ends that of the other.
        ByTurns = "by_turns",
        /// A side went on to send on an SA that its receiver had deleted, or left for an older one.
        OneSided = "one_sided",
        /// An end sent from another address than the one that its peer sends to.
        AnsweredElsewhere = "answered_elsewhere",
        /// Packets of one direction came through another tunnel.
        OtherTunnel = "other_tunnel",
        /// The numbers of an SA were used up, so that its sender had to stop.
        NumbersUsedUp = "numbers_used_up",
        /// Packets came damaged (wrong ICV), so that their receiver dropped them.
        BadIcv = "bad_icv",
        /// One connection inside got no answer, and others of the same hosts did: a firewall or host behind the tunnel dropped it.
        ConnectionDead = "connection_dead",
        /// Packets came too late for the replay window.
        ReplayWindow = "replay_window",
        /// L2TP or PPP ended the session inside the tunnel.
        L2tpClosed = "l2tp_closed",
        /// No known cause fits.
        Unexplained = "unexplained",
    }
    /// Kinds of finding.
    pub enum FindingKind {
        /// Packets are a few bytes too long.
        FragmentationCliff = "fragmentation_cliff",
        /// Packets come in fragments.
        PathMtu = "path_mtu",
        /// SAs live side by side.
        DuplicateSas = "duplicate_sas",
        /// SAs were negotiated and never used.
        RedundantSas = "redundant_sas",
        /// Packets come behind a replay window.
        BehindWindow = "behind_window",
        /// Packets came damaged.
        Damaged = "damaged",
        /// The capture lacks packets that passed.
        CaptureDrops = "capture_drops",
        /// Packets came in part: their later fragments were lost.
        LostFragments = "lost_fragments",
        /// Segments were lost before they were encrypted.
        LostBeforeEncryption = "lost_before_encryption",
        /// Packets of one direction were lost.
        OneDirectionLoss = "one_direction_loss",
        /// Packets of both directions were lost.
        BothDirectionsLoss = "both_directions_loss",
        /// Packets were lost, and nothing tells of the other direction.
        PacketLoss = "packet_loss",
        /// Packets are missing, lost or not captured.
        PacketsMissing = "packets_missing",
        /// Times go back.
        ClockTrouble = "clock_trouble",
        /// The clock was set.
        ClockStep = "clock_step",
        /// Frames stand in another order than their times.
        OutOfOrder = "out_of_order",
        /// The clock was set, or nothing was captured.
        SilenceOrClockStep = "silence_or_clock_step",
        /// Inner packets went in clear.
        CleartextLeak = "cleartext_leak",
        /// L2TP went in clear.
        L2tpInClear = "l2tp_in_clear",
    }
    /// Severity of a finding.
    pub enum Severity {
        /// Good to know.
        Info = "info",
        /// Should be changed.
        Warning = "warning",
    }
}

impl Direction {
    /// The one of two things that belongs to this direction.
    pub fn pick<T>(self, a_to_b: T, b_to_a: T) -> T {
        match self {
            Direction::AToB => a_to_b,
            Direction::BToA => b_to_a,
        }
    }

    /// The opposite direction.
    #[must_use]
    pub fn reverse(self) -> Direction {
        self.pick(Direction::BToA, Direction::AToB)
    }

    /// Both, in the order of the document.
    pub const BOTH: [Direction; 2] = [Direction::AToB, Direction::BToA];
}

impl Protocol {
    /// Documents that were written before the field was there mean ESP.
    pub(super) fn of_older_documents() -> Self {
        Protocol::Esp
    }
}

impl Verdict {
    /// Something failed, or rekeys cost something.
    pub fn is_harm(self) -> bool {
        matches!(self, Verdict::Failed | Verdict::Shown | Verdict::Some)
    }

    /// There was traffic, and no harm of rekeys is seen in it.
    pub fn is_harmless(self) -> bool {
        matches!(self, Verdict::Bounded | Verdict::Inconclusive | Verdict::NoRekeys)
    }
}

impl ExchangeKind {
    /// Tells whether an exchange of this kind begins an IKE SA.
    pub fn begins_ike_sa(self) -> bool {
        use ExchangeKind::{AggressiveMode, IkeSaInit, MainMode};
        matches!(self, MainMode | AggressiveMode | IkeSaInit)
    }
}

impl EventKind {
    /// Deletes, as far as they could be read.
    pub const DELETES: &[EventKind] = &[
        EventKind::ChildDeleted,
        EventKind::IkeSaDeleted,
        EventKind::Deleted,
    ];
}

impl AttemptOutcome {
    /// An SA came of it, whether or not packets use it.
    pub fn succeeded(self) -> bool {
        matches!(self, AttemptOutcome::Completed | AttemptOutcome::CompletedUnused)
    }

    /// No SA came of it that carries packets, and the capture was long enough to tell.
    pub fn failed(self) -> bool {
        matches!(self, AttemptOutcome::Refused | AttemptOutcome::Unanswered)
    }
}

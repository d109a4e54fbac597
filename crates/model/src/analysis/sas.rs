//! IPsec in the document: tunnels, their SAs, and the flows inside.

use crate::analysis::ike::Lifetime;
use crate::analysis::key::Key;
use crate::analysis::names::{Direction, Encapsulation, KeyStatus, Mode, Protocol};
use crate::analysis::plain_data::plain_data;
use crate::spi::Spi;
use crate::time::Timestamp;
use std::net::IpAddr;

plain_data! {
    /// Two ends with IPsec between them: an IKE SA and its successors.
    pub struct Tunnel {
        /// Index in this list.
        pub id: usize,
        /// The client: the IKE initiator of the first exchange seen; without IKE, the end that asks inside, or is behind a NAT, else the
        /// first sender. The address is the first one of that end, wherever it goes.
        pub a: IpAddr,
        /// The other one.
        pub b: IpAddr,
        /// Carrier of ESP.
        pub encapsulation: Encapsulation,
        /// 1 or 2; `null` where no IKE was seen.
        pub ike_version: Option<u8>,
        /// True where packets show which end is the client; else `a` is the first sender (documents of versions before this field: shown).
        #[serde(default = "Tunnel::roles_of_older_documents")]
        pub roles_known: bool,
        /// A NAT detection payload, a changed port, or (IKEv1) the move to port 4500 showed a NAT between the two.
        pub nat: bool,
        /// The vendor ID of the client's IKE is that of Windows; false in documents of versions before this field.
        #[serde(default)]
        pub client_is_windows: bool,
    }
    /// One direction of a pair of SAs.
    pub struct SecurityAssociation {
        /// Index in `tunnels`.
        pub tunnel: usize,
        /// Outer source.
        pub src: IpAddr,
        /// Outer destination.
        pub dst: IpAddr,
        /// ESP or AH.
        #[serde(default = "Protocol::of_older_documents")]
        pub protocol: Protocol,
        /// SPI.
        pub spi: Spi,
        /// 0 for the first of its tunnel and direction, then counted up.
        pub generation: u32,
        /// Transport or tunnel mode; `null` while unknown.
        pub mode: Option<Mode>,
        /// Cipher, for example `AES-CBC-128`; `null` while unknown.
        pub encryption: Option<String>,
        /// Integrity transform, for example `HMAC-SHA1-96`, `none` for an AEAD; `null` while unknown.
        pub integrity: Option<String>,
        /// ESP in IP or in UDP, or AH.
        pub encapsulation: Encapsulation,
        /// Key of the SA.
        pub key: Key,
        /// First packet; `null` where an exchange names it but no packet uses it.
        pub first_time: Option<Timestamp>,
        /// Last packet.
        pub last_time: Option<Timestamp>,
        /// First frame.
        pub first_frame: Option<u64>,
        /// Last frame.
        pub last_frame: Option<u64>,
        /// Packets.
        pub packets: u64,
        /// Sum of IP total lengths.
        pub outer_bytes: u64,
        /// From the ESP header to the ICV, without UDP; of AH, from its header to the end of the packet.
        pub esp_bytes: u64,
        /// Decrypted payload without padding and trailer; `null` without a key. Of AH, what follows its header.
        pub inner_bytes: Option<u64>,
        /// Results of the ICVs.
        pub icv: IcvCounts,
        /// Results of the sequence numbers.
        pub sequence: Sequence,
        /// Lifetime that a text without keys states; absent where no text does, or IKE itself tells the lifetime.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub stated_lifetime: Option<StatedLifetime>,
    }
    /// A lifetime that a text beside the capture states, for example a listing of SAs.
    pub struct StatedLifetime {
        /// The lifetime.
        pub lifetime: Lifetime,
        /// Place in the text, for example `listing.txt:12`.
        pub source: String,
    }
    /// Integrity checks of an SA's packets.
    #[derive(Default)]
    pub struct IcvCounts {
        /// The ICV fits.
        pub verified: u64,
        /// The ICV does not fit.
        pub failed: u64,
        /// Not checked: no key, or a packet cut by the snap length.
        pub unchecked: u64,
    }
    /// Sequence numbers of an SA.
    pub struct Sequence {
        /// Number of the first packet.
        pub first: Option<u64>,
        /// The highest.
        pub last: Option<u64>,
        /// Numbers between those two that never came; from 1 on where the capture holds the SA's negotiation (RFC 4303 §3.3.3).
        pub missing: u64,
        /// Numbers that came twice.
        pub duplicates: u64,
        /// Packets that came after a higher number.
        pub reordered: u64,
    }
    /// An inner transport flow.
    pub struct Flow {
        /// Index in `tunnels`.
        pub tunnel: usize,
        /// Direction of this half.
        pub direction: Direction,
        /// `tcp`, `udp`, or the IP protocol number.
        pub protocol: String,
        /// Inner source.
        pub src: IpAddr,
        /// Inner source port.
        pub src_port: Option<u16>,
        /// Inner destination.
        pub dst: IpAddr,
        /// Inner destination port.
        pub dst_port: Option<u16>,
        /// Transport payload bytes.
        pub bytes: u64,
        /// Without retransmissions.
        pub new_bytes: u64,
        /// Retransmissions.
        pub retransmitted_bytes: u64,
        /// Packets.
        pub packets: u64,
        /// Retransmissions over `bytes`, of TCP with payload.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub retransmitted_share: Option<f64>,
        /// Round trips, window and data in flight, of TCP that carries at least 1 % of the bytes of a direction with an account
        /// and whose tunnel's packets could be read. Of connections that follow each other between the same ports: of the one
        /// with most bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub tcp: Option<FlowTcp>,
    }
    /// Measures of a TCP flow's packets. The capture splits a round trip into two halves: on to the receiver and back, and
    /// from there to the sender and back.
    pub struct FlowTcp {
        /// From the SYN to the acknowledgement of the SYN that answers it, milliseconds: the whole round trip, wherever the
        /// capture is (`tcp.analysis.initial_rtt` of Wireshark). `null` where one of them was not captured or came twice.
        pub handshake_rtt_ms: Option<f64>,
        /// Median of the running round trip, both halves, milliseconds: `ack_rtt_ms`, and from an acknowledgement to the first
        /// data that echoes its timestamp (RFC 7323 §3), or the sender's half of the handshake without timestamps. `null` where
        /// the sender's half is not known.
        pub rtt_ms: Option<f64>,
        /// Median time from a segment to its acknowledgement, milliseconds: the half between the capture and the receiver
        /// (`tcp.analysis.ack_rtt`). Nothing that was sent twice counts (RFC 6298 §3). Within 0.8 %, as `rtt_ms`; `null`
        /// without acknowledgements.
        pub ack_rtt_ms: Option<f64>,
        /// The largest window that the receiver gave, bytes (`tcp.window_size`); `null` where its scale is not known, as the
        /// handshake was not captured.
        pub largest_window_bytes: Option<u64>,
        /// Most bytes that were sent and not acknowledged, as the sender has them: an acknowledgement counts once the sender
        /// has heard it, by the timestamps of its data, else by its half of the round trip. At the sender it is
        /// `tcp.analysis.bytes_in_flight` without regard to SACK.
        pub largest_in_flight_bytes: u64,
        /// Both over time, of the three flows of a direction with most bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub course: Option<FlowCourse>,
    }
    /// Round trip and data in flight over time, in at most 1,024 bins of equal width; `null` for a bin without a sample.
    pub struct FlowCourse {
        /// Begin of the first bin.
        pub start: Timestamp,
        /// Width of a bin, milliseconds.
        pub bin_ms: f64,
        /// `rtt_ms` holds whole round trips; else the receiver's half.
        pub rtt_whole: bool,
        /// Lowest, mean and highest round trip, milliseconds, at its acknowledgement.
        pub rtt_ms: Vec<Option<[f64; 3]>>,
        /// Lowest, mean and highest of the data in flight after a segment, bytes.
        pub in_flight_bytes: Vec<Option<[u64; 3]>>,
    }
}

impl Tunnel {
    /// Documents that were written before the field was there say nothing of roles.
    fn roles_of_older_documents() -> bool {
        true
    }

    /// The end opposite to another one; the client, where that is not known.
    pub fn opposite(&self, end: Option<IpAddr>) -> Option<IpAddr> {
        [self.a, self.b].into_iter().find(|other| Some(*other) != end)
    }
}

impl SecurityAssociation {
    /// Packets of the SA were opened: under a proven key, or under one that nothing can prove when what came out is no noise (which passes
    /// for a packet once in 255).
    pub fn is_decrypted(&self) -> bool {
        /// Share of the ESP bytes, as its inverse; half or more are inner bytes where the key is right, under 0.4 % where it is wrong.
        const LEAST_SHARE: u64 = 20;
        match self.key.status {
            KeyStatus::Verified => true,
            KeyStatus::Unverified => self
                .inner_bytes
                .is_some_and(|inner| inner.saturating_mul(LEAST_SHARE) >= self.esp_bytes),
            _ => false,
        }
    }
}

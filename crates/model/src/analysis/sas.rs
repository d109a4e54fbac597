//! IPsec in the document: tunnels, their SAs, and the flows inside.

use crate::analysis::key::Key;
use crate::analysis::names::{Direction, Encapsulation, Mode, Protocol};
use crate::analysis::plain_data::plain_data;
use crate::spi::Spi;
use crate::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

plain_data! {
    /// Two addresses with IPsec between them.
    pub struct Tunnel {
        /// Index in this list.
        pub id: usize,
        /// The IKE initiator (of the first exchange seen; without IKE, the first sender).
        pub a: IpAddr,
        /// The other one.
        pub b: IpAddr,
        /// How ESP is carried.
        pub encapsulation: Encapsulation,
        /// 1 or 2; `null` where no IKE was seen.
        pub ike_version: Option<u8>,
        /// A NAT detection payload, a changed port, or (IKEv1) the move to port 4500 showed a NAT between the two.
        pub nat: bool,
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
        /// For example `AES-CBC-128`; `null` while unknown.
        pub encryption: Option<String>,
        /// For example `HMAC-SHA1-96`, `none` for an AEAD; `null` while unknown.
        pub integrity: Option<String>,
        /// ESP in IP or in UDP, or AH.
        pub encapsulation: Encapsulation,
        /// Its key.
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
        /// What the ICVs said.
        pub icv: IcvCounts,
        /// What the sequence numbers said.
        pub sequence: Sequence,
    }
    /// Integrity checks of an SA's packets.
    pub struct IcvCounts {
        /// The ICV fits.
        pub verified: u64,
        /// It does not.
        pub failed: u64,
        /// Not checked: no key, a packet cut by the snap length, or `--verify`.
        pub unchecked: u64,
    }
    /// Sequence numbers of an SA.
    pub struct Sequence {
        /// Of the first packet.
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
    }
}

//! The analysis document: plain data, the contract of `--json`. Everything a report shows is in here; a saved document
//! renders again later. Units are in the names, unknown is `null`, times are RFC 3339 in UTC with nanoseconds, frame
//! numbers are 1-based as Wireshark shows them. Key bytes never get in here.
//!
//! More fields may be added; a published `schema_version` never changes meaning.

use crate::spi::{IkeSpi, Spi};
use crate::text::Message;
use crate::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

macro_rules! plain_data {
    ($($(#[$meta:meta])* pub struct $name:ident { $($(#[$fmeta:meta])* pub $field:ident: $type:ty,)* })*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        pub struct $name { $($(#[$fmeta])* pub $field: $type,)* }
    )*};
}

pub mod comparison;
mod names;
mod overlays;
mod rekeys;
mod results;

pub use names::*;
pub use overlays::*;
pub use rekeys::*;
pub use results::*;

/// Version of the meaning of the fields.
pub const SCHEMA_VERSION: u32 = 1;

plain_data! {
    /// The whole document.
    pub struct Analysis {
        /// [`SCHEMA_VERSION`].
        pub schema_version: u32,
        /// Who made it.
        pub generator: Generator,
        /// What was read.
        pub capture: Capture,
        /// Pairs of addresses with IPsec between them.
        pub tunnels: Vec<Tunnel>,
        /// IKE SAs (phase 1 in IKEv1).
        pub ike_sas: Vec<IkeSa>,
        /// IKE exchanges in order of their first message.
        pub exchanges: Vec<Exchange>,
        /// One entry per direction: an SA is one-way (RFC 4301 §4.1).
        pub security_associations: Vec<SecurityAssociation>,
        /// One entry per renewal of an SA pair.
        pub rekeys: Vec<Rekey>,
        /// What makes each side renew, inferred over the trace, per tunnel and initiator (documents of versions before this
        /// field have none).
        #[serde(default)]
        pub trigger_rules: Vec<TriggerRule>,
        /// Inner transport flows, most bytes first (bounded).
        pub flows: Vec<Flow>,
        /// One verdict per tunnel and direction. The first one is the headline's: the direction with most new bytes.
        pub impact: Vec<Impact>,
        /// Mean rate around a rekey, over a placebo band.
        pub mean_rekey: Vec<MeanRekey>,
        /// What other lifetimes would give, per tunnel and direction.
        pub projection: Vec<Projection>,
        /// What was found that no rekey caused.
        pub findings: Vec<Finding>,
        /// Wire bytes against inner bytes, per cipher suite in use.
        pub overhead: Vec<Overhead>,
        /// Throughput over time.
        pub series: Series,
        /// Oddities, counted.
        pub diagnostics: Vec<DiagnosticEntry>,
        /// Key files that were read, in order.
        pub key_files: Vec<KeyFile>,
        /// What was looked for as a cause and not found, or could not be looked for.
        #[serde(default)]
        pub ruled_out: Vec<RuledOut>,
        /// Series from elsewhere on the capture's time axis.
        #[serde(default)]
        pub overlays: Vec<Overlay>,
        /// What the run was asked for beside the files; `null` in documents that do not say.
        #[serde(default)]
        pub settings: Option<Settings>,
    }
    /// The program that made the document.
    pub struct Generator {
        /// `rekeyscope`.
        pub name: String,
        /// Its version.
        pub version: String,
    }
    /// The capture file.
    pub struct Capture {
        /// As given by the user; `-` for standard input.
        pub path: String,
        /// Container.
        pub format: CaptureFormat,
        /// Names of the link types of its interfaces, in order of appearance.
        pub link_types: Vec<String>,
        /// Packets read.
        pub packets: u64,
        /// Bytes on the wire of those packets (not the file's size).
        pub bytes: u64,
        /// Earliest packet.
        pub first_time: Option<Timestamp>,
        /// Latest packet.
        pub last_time: Option<Timestamp>,
        /// Seconds between them.
        pub duration_s: Option<f64>,
        /// The file ends in the middle of a record.
        pub truncated_file: bool,
        /// Packets that hold fewer bytes than were on the wire (snap length).
        pub cut_packets: u64,
        /// Packets that the capture program says it dropped; `null` where the format does not say.
        pub dropped_reported: Option<u64>,
        /// IP packets that the file holds again and that count once: the same SA, sequence number and ICV, or (IKE and what else
        /// is not ESP or AH) the same content close in time. `duplicate` and `duplicate_fragment` in `diagnostics` say which.
        pub duplicates: u64,
        /// Packets with a time before their predecessor's.
        pub time_regressions: u64,
        /// Packets that carry IKE.
        pub ike_packets: u64,
        /// Packets that carry ESP.
        pub esp_packets: u64,
        /// Packets larger than any link: the network card merged or split them later.
        pub offload_suspected: bool,
    }
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
    /// An IKE SA.
    pub struct IkeSa {
        /// Index in `tunnels`.
        pub tunnel: usize,
        /// Initiator's SPI (cookie in IKEv1).
        pub initiator_spi: IkeSpi,
        /// Responder's SPI; `null` while it has not answered.
        pub responder_spi: Option<IkeSpi>,
        /// 1 or 2.
        pub ike_version: u8,
        /// Whether its messages could be decrypted.
        pub key: Key,
        /// First message.
        pub first_time: Timestamp,
        /// Last message.
        pub last_time: Timestamp,
    }
    /// Where a key came from and how far it is trusted.
    pub struct Key {
        /// How far it is trusted.
        pub status: KeyStatus,
        /// For example `keys.esp_sa:3 (explicit)`; `null` without a key.
        pub source: Option<String>,
    }
    /// One IKE exchange: a request with its answers, by message ID.
    pub struct Exchange {
        /// Index in this list.
        pub index: usize,
        /// Index in `tunnels`.
        pub tunnel: usize,
        /// Index in `ike_sas`; `null` where the bound of that table was reached.
        pub ike_sa: Option<usize>,
        /// What it is.
        pub kind: ExchangeKind,
        /// `0x%08x`.
        pub message_id: String,
        /// Address that sent the first message; `null` where that message is not in the capture and the others do not
        /// tell.
        pub initiator: Option<IpAddr>,
        /// The first message in the capture is a later one: the exchange began before `first_time`.
        #[serde(default)]
        pub began_earlier: bool,
        /// First message.
        pub first_time: Timestamp,
        /// Last message.
        pub last_time: Timestamp,
        /// Milliseconds between them.
        pub duration_ms: f64,
        /// Messages, retransmissions included.
        pub messages: u64,
        /// Messages that repeat an earlier one byte for byte.
        pub retransmissions: u64,
        /// Their frames (bounded).
        pub frames: Vec<u64>,
        /// Whether its payloads could be read.
        pub decrypted: bool,
        /// Whether it made a Diffie–Hellman secret of its own (perfect forward secrecy); only known where its payloads
        /// A readable message carries a key exchange: perfect forward secrecy, in an exchange that makes IPsec SAs; `null`
        /// where no message could be read.
        pub key_exchange: Option<bool>,
        /// What was negotiated, where it could be read and IKEv1 negotiates it.
        pub lifetime: Option<Lifetime>,
        /// ESP SPIs that it names, in order.
        pub spis: Vec<Spi>,
        /// ESP SPIs that it deletes.
        pub deletes: Vec<Spi>,
        /// Names of the notifications that could be read, each once, for example `R-U-THERE` (dead peer detection, RFC 3706).
        #[serde(default)]
        pub notifications: Vec<String>,
    }
    /// An IPsec SA lifetime (RFC 2407 §4.5).
    pub struct Lifetime {
        /// Seconds.
        pub seconds: Option<u64>,
        /// Kilobytes.
        pub kilobytes: Option<u64>,
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
    /// An oddity, counted.
    pub struct DiagnosticEntry {
        /// Identifier.
        pub kind: String,
        /// Protocol layer.
        pub layer: String,
        /// How often.
        pub count: u64,
        /// First frame.
        pub first_frame: Option<u64>,
        /// In words.
        pub sentence: String,
        /// The sentence as message identifiers and arguments, from which it is said in another language; empty where it has none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub messages: Vec<Message>,
    }
    /// A key file that was read.
    pub struct KeyFile {
        /// As given or found.
        pub path: String,
        /// Formats recognised in it, for example `esp_sa`.
        pub formats: Vec<String>,
        /// ESP keys in it.
        pub esp_keys: u64,
        /// IKE keys in it.
        pub ike_keys: u64,
        /// Rows that could not be read: `path:line: what to do`.
        pub problems: Vec<String>,
    }
}

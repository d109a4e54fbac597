//! IKE in the document: its SAs and their exchanges.

use crate::analysis::key::Key;
use crate::analysis::names::ExchangeKind;
use crate::analysis::plain_data::plain_data;
use crate::spi::{IkeSpi, Spi};
use crate::time::Timestamp;
use std::net::IpAddr;

plain_data! {
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
        /// Key of its messages.
        pub key: Key,
        /// First message.
        pub first_time: Timestamp,
        /// Last message.
        pub last_time: Timestamp,
    }
    /// One IKE exchange: a request with its answers, by message ID.
    pub struct Exchange {
        /// Index in this list.
        pub index: usize,
        /// Index in `tunnels`.
        pub tunnel: usize,
        /// Index in `ike_sas`; `null` where the bound of that table was reached.
        pub ike_sa: Option<usize>,
        /// Kind of the exchange.
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
        /// True where its payloads could be read.
        pub decrypted: bool,
        /// A readable message carries a key exchange: perfect forward secrecy, in an exchange that makes IPsec SAs; `null`
        /// where no message could be read.
        pub key_exchange: Option<bool>,
        /// Lifetime that was negotiated, where it could be read and IKEv1 negotiates it.
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
    #[derive(Copy, Eq, Default)]
    pub struct Lifetime {
        /// Seconds.
        pub seconds: Option<u64>,
        /// Kilobytes.
        pub kilobytes: Option<u64>,
    }
}

//! The timeline's results: IKE SAs, exchanges, and the IPsec SAs that they negotiate.

use crate::ike::context::{MessageContext, Notice};
use crate::ike::exchange_type::{FirstSeen, exchange_kind, first_seen, other_exchange_name};
use crate::ike::header::IkeHeader;
use crate::ike::outline::Outline;
use rekeyscope_keylog::{IkeKey, KeyOrigin};
use rekeyscope_model::algorithm::Transform;
use rekeyscope_model::analysis::{ExchangeKind, KeyStatus, Lifetime, Mode};
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::{IkeSpi, IpsecProtocol, Spi};
use rekeyscope_model::text::Message;
use rekeyscope_model::time::Timestamp;
use std::net::IpAddr;

/// One IKE SA (IKEv1: the phase-1 SA). The type of this name in `analysis` is the same for readers of the document.
#[derive(Debug, Clone)]
pub struct IkeSa {
    /// Initiator's SPI (cookie).
    pub initiator_spi: IkeSpi,
    /// Responder's SPI once known.
    pub responder_spi: Option<IkeSpi>,
    /// Major version: 1 or 2.
    pub version: u8,
    /// The address that began it (sender of the first message with a zero responder SPI, else by the initiator flag,
    /// else the first sender seen).
    pub initiator: IpAddr,
    /// The peer.
    pub responder: IpAddr,
    /// True where its messages could be decrypted.
    pub key_status: KeyStatus,
    /// Origin of that key.
    pub key_origin: Option<KeyOrigin>,
    /// First message.
    pub first_time: Timestamp,
    /// Last message.
    pub last_time: Timestamp,
    /// A NAT was detected by its payloads, or it floated to port 4500 (IKEv2 may float without a NAT: there the payloads
    /// decide when they were seen).
    pub nat: bool,
    /// The initiator's vendor ID is that of Windows.
    pub initiator_is_windows: bool,
    /// Time of the Delete payload that ended it.
    pub deleted: Option<Timestamp>,
}

impl IkeSa {
    /// A message was opened, with this key.
    pub(super) fn verified_by(&mut self, key: Option<&IkeKey>) {
        if let Some(key) = key {
            self.key_status = KeyStatus::Verified;
            self.key_origin = Some(key.origin.clone());
        }
    }
}

/// One exchange: messages with the same IKE SA, exchange type and message ID. The type of this name in `analysis` is the same
/// for readers of the document.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// Index of its IKE SA in [`Timeline::ike_sas`].
    pub ike_sa: Option<usize>,
    /// Kind.
    pub kind: ExchangeKind,
    /// Message ID.
    pub message_id: u32,
    /// Sender of the first message captured, or its receiver where that message is a response. Whether this one began the
    /// exchange says [`Exchange::known_initiator`].
    pub initiator: IpAddr,
    /// The peer.
    pub responder: IpAddr,
    /// Place of the message that it is first seen with, as far as its header says.
    pub first_seen: FirstSeen,
    /// The messages, in order of time (bounded; `messages` keeps counting).
    pub records: Vec<MessageRecord>,
    /// Messages, retransmissions included.
    pub messages: u64,
    /// Byte-for-byte repetitions.
    pub retransmissions: u64,
    /// Payloads of at least one message could be read.
    pub decrypted: bool,
    /// Lifetime of the IPsec SA that the responder chose (the initiator's offer until then; a RESPONDER-LIFETIME
    /// notification lowers it).
    pub lifetime: Option<Lifetime>,
    /// The SAs that it negotiates.
    pub children: Vec<NegotiatedSa>,
    /// SPIs it deletes, with the address that says so.
    pub deletes: Vec<Deletion>,
    /// Delete of the exchange's own IKE SA; IKEv2 deletes the children with it (RFC 7296 §1.4.1).
    pub ike_sa_delete: Option<Notice>,
    /// Notice of a sender that has no other SA with its peer (RFC 2407 §4.6.3.3, RFC 7296 §2.4).
    pub initial_contact: Option<Notice>,
    /// Carries a key exchange payload (PFS in Quick Mode).
    pub key_exchange: bool,
    /// Ni_b and Nr_b, inputs of the key derivation; empty until they are read.
    pub nonces: [Vec<u8>; 2],
    /// Names of notifications seen, each once, for example `INITIAL-CONTACT`.
    pub notifications: Vec<&'static str>,
    /// Error notifications, in order (bounded as the records).
    pub errors: Vec<ErrorNotice>,
    /// IKEv2: SPIs that its REKEY_SA notifications name (RFC 7296 §1.3.3): inbound to the sender of the request.
    pub rekeys: Vec<Spi>,
    /// IKEv2: it replaces the IKE SA itself, not a child (RFC 7296 §1.3.2).
    pub rekeys_ike_sa: bool,
}

impl Exchange {
    /// Most records that are kept. Beyond it the last one is replaced, so that first and last time stay true.
    pub const MAX_RECORDS: usize = 64;
    /// Most children, deletions and rekeyed SPIs that are kept, each.
    pub const MAX_SPIS: usize = 1_024;

    /// Time of the first message.
    pub fn first_time(&self) -> Option<Timestamp> {
        self.records.first().map(|r| r.time)
    }

    /// Time of the last message.
    pub fn last_time(&self) -> Option<Timestamp> {
        self.records.last().map(|r| r.time)
    }

    /// First and last message, as one that was seen has them.
    pub fn span(&self) -> (Timestamp, Timestamp) {
        let [first, last] = [self.first_time(), self.last_time()].map(Option::unwrap_or_default);
        (first, last)
    }

    /// The other end of the exchange.
    pub fn other_than(&self, end: IpAddr) -> IpAddr {
        if end == self.initiator {
            self.responder
        } else {
            self.initiator
        }
    }

    /// The exchange that a message begins.
    pub(super) fn begin(
        header: &IkeHeader,
        context: &MessageContext,
        ike_sa: Option<usize>,
        diagnostics: &mut Diagnostics,
    ) -> Exchange {
        let kind = exchange_kind(header);
        if kind == ExchangeKind::Other {
            let (identifier, name) = other_exchange_name(header);
            diagnostics.count(identifier, "IKE", Some(context.frame), || {
                Message::new("oddity-exchange-type")
                    .with("version", header.major.to_string())
                    .with("type", header.exchange_type.to_string())
                    .with("name", name)
            });
        }
        // A response whose request is not in the capture: its receiver began the exchange.
        let first_seen = first_seen(header, kind);
        let (initiator, responder) = if first_seen == FirstSeen::Answers {
            (context.dst, context.src)
        } else {
            (context.src, context.dst)
        };
        Exchange {
            message_id: header.message_id,
            first_seen,
            ..Exchange::between(initiator, responder, ike_sa, kind)
        }
    }

    /// Without a message yet, and with the message ID 0.
    pub(crate) fn between(
        initiator: IpAddr,
        responder: IpAddr,
        ike_sa: Option<usize>,
        kind: ExchangeKind,
    ) -> Exchange {
        Exchange {
            ike_sa,
            kind,
            message_id: 0,
            initiator,
            responder,
            first_seen: FirstSeen::Begins,
            records: Vec::new(),
            messages: 0,
            retransmissions: 0,
            decrypted: false,
            lifetime: None,
            children: Vec::new(),
            deletes: Vec::new(),
            ike_sa_delete: None,
            initial_contact: None,
            key_exchange: false,
            nonces: Default::default(),
            notifications: Vec::new(),
            errors: Vec::new(),
            rekeys: Vec::new(),
            rekeys_ike_sa: false,
        }
    }

    /// Takes the first message of the exchange after others, from a file out of order.
    pub(super) fn begins_with(&mut self, context: &MessageContext) {
        if self.first_seen != FirstSeen::Begins {
            self.first_seen = FirstSeen::Begins;
            (self.initiator, self.responder) = (context.src, context.dst);
        }
    }

    /// Notes a message at its place in time, because a file may be out of order.
    pub(super) fn record(&mut self, record: MessageRecord) {
        self.messages += 1;
        self.retransmissions += u64::from(record.retransmission);
        if self.records.len() >= Self::MAX_RECORDS {
            self.records.pop();
        }
        let at = self.records.partition_point(|r| r.time <= record.time);
        self.records.insert(at, record);
    }

    /// The first message of the exchange and its copies.
    pub fn requests(&self) -> impl Iterator<Item = &MessageRecord> {
        let first = self.records.first();
        self.records
            .iter()
            .filter(move |r| first.is_some_and(|f| f.frame == r.frame || r.retransmission && alike(f, r)))
    }

    /// First message of the other side.
    pub fn answer(&self) -> Option<&MessageRecord> {
        self.records.iter().find(|r| self.is_answer(r))
    }

    /// Tells whether a message comes from the side that did not begin. An IKEv2 header says so, whatever became of the addresses meanwhile.
    pub fn is_answer(&self, record: &MessageRecord) -> bool {
        record.outline.response.unwrap_or(record.src != self.initiator)
    }

    pub(super) fn add_rekeyed(&mut self, spi: Option<Spi>) {
        if let Some(spi) = spi.filter(|s| !self.rekeys.contains(s) && self.rekeys.len() < Self::MAX_SPIS) {
            self.rekeys.push(spi);
        }
    }

    pub(super) fn refuse(&mut self, notice: ErrorNotice) {
        if self.errors.len() < Self::MAX_RECORDS {
            self.errors.push(notice);
        }
    }

    pub(super) fn note(&mut self, name: &'static str) {
        if !self.notifications.contains(&name) {
            self.notifications.push(name);
        }
    }
}

fn alike(a: &MessageRecord, b: &MessageRecord) -> bool {
    (a.src, a.len) == (b.src, b.len)
}

/// One message of an exchange.
#[derive(Debug, Clone, Copy)]
pub struct MessageRecord {
    /// Frame.
    pub frame: u64,
    /// Time.
    pub time: Timestamp,
    /// Sender.
    pub src: IpAddr,
    /// IKE message length in bytes, as its header declares it (the snap length may have cut the message).
    pub len: u32,
    /// Repeats an earlier one byte for byte.
    pub retransmission: bool,
    /// Number of IP packets that carried the message.
    pub ip_packets: u16,
    /// Facts that the message shows without keys.
    pub outline: Outline,
}

impl MessageRecord {
    /// A message that came in one packet for the first time, with nothing else known of it.
    pub fn of(frame: u64, time: Timestamp, src: IpAddr, len: u32) -> Self {
        MessageRecord {
            frame,
            time,
            src,
            len,
            retransmission: false,
            ip_packets: 1,
            outline: Outline::default(),
        }
    }
}

/// An error notification: what its sender could not do.
#[derive(Debug, Clone, Copy)]
pub struct ErrorNotice {
    /// The notification's name, for example `NO_PROPOSAL_CHOSEN`.
    pub name: &'static str,
    /// The side that sent it.
    pub by: IpAddr,
    /// Frame.
    pub frame: u64,
    /// Time.
    pub time: Timestamp,
    /// IKEv1: the message ID of the exchange that it is about, where its data is one (RFC 2408 §5.4).
    pub message_id: Option<u32>,
    /// The SPI of ESP or AH that the notification names, if any (RFC 7296 §3.10, RFC 2408 §3.14).
    pub spi: Option<Spi>,
}

/// A one-way IPsec SA that an exchange negotiates. The SPI was chosen by `dst`.
#[derive(Debug, Clone)]
pub struct NegotiatedSa {
    /// Sender of its packets.
    pub src: IpAddr,
    /// Receiver of its packets: who chose the SPI.
    pub dst: IpAddr,
    /// ESP or AH.
    pub protocol: IpsecProtocol,
    /// SPI.
    pub spi: Spi,
    /// The chosen transform, once the responder chose; the first offered one until then.
    pub transform: Option<Transform>,
    /// Transport or tunnel.
    pub mode: Option<Mode>,
}

/// An SPI that a Delete payload names. `spi` is inbound to `by` (RFC 2408 §3.15: the sender no longer accepts it).
#[derive(Debug, Clone, Copy)]
pub struct Deletion {
    /// The side that sent the Delete.
    pub by: IpAddr,
    /// ESP or AH.
    pub protocol: IpsecProtocol,
    /// SPI.
    pub spi: Spi,
    /// Frame.
    pub frame: u64,
    /// Time.
    pub time: Timestamp,
}

/// Keys of one one-way SA, derived.
#[derive(Debug, Clone)]
pub struct ChildKeys {
    /// Encryption key with salt at its end.
    pub encryption: SecretBytes,
    /// Integrity key; empty for an AEAD.
    pub integrity: SecretBytes,
    /// Origin of the phase-1 secret.
    pub origin: KeyOrigin,
}

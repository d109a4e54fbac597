//! The IKE timeline: messages in, exchanges and IKE SAs out. Quick Modes are found without keys; with a phase-1 key
//! their payloads are read.

use crate::algorithm::Transform;
use crate::analysis::{ExchangeKind, KeyStatus, Lifetime, Mode};
use crate::diagnostic::Diagnostics;
use crate::framing::UdpPorts;
use crate::keylog::{IkeKey, KeyOrigin};
use crate::secret::SecretBytes;
use crate::spi::{IkeSpi, IpsecProtocol, Spi};
use crate::time::Timestamp;
use std::net::IpAddr;

/// Where a message was seen.
#[derive(Debug, Clone, Copy)]
pub struct MessageContext {
    /// Frame number.
    pub frame: u64,
    /// Time.
    pub time: Timestamp,
    /// Outer source.
    pub src: IpAddr,
    /// Outer destination.
    pub dst: IpAddr,
    /// Ports.
    pub udp: UdpPorts,
}

/// One IKE SA (IKEv1: the phase-1 SA).
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
    /// Its peer.
    pub responder: IpAddr,
    /// Whether its messages could be decrypted.
    pub key_status: KeyStatus,
    /// Where that key came from.
    pub key_origin: Option<KeyOrigin>,
    /// First message.
    pub first_time: Timestamp,
    /// Last message.
    pub last_time: Timestamp,
    /// A NAT was detected by its payloads, or it floated to port 4500.
    pub nat: bool,
}

/// One exchange: messages with the same IKE SA, exchange type and message ID.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// Index of its IKE SA in [`Timeline::ike_sas`].
    pub ike_sa: Option<usize>,
    /// Kind.
    pub kind: ExchangeKind,
    /// Message ID.
    pub message_id: u32,
    /// Sender of the first message.
    pub initiator: IpAddr,
    /// Its peer.
    pub responder: IpAddr,
    /// The messages, in order (bounded; `messages` keeps counting).
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
    /// Carries a key exchange payload (PFS in Quick Mode).
    pub key_exchange: bool,
    /// Nonces and g^xy inputs for key derivation, once read.
    pub nonces: Option<Nonces>,
    /// Names of notifications seen, for example `INITIAL-CONTACT` (bounded).
    pub notifications: Vec<&'static str>,
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
    /// IKE message length in bytes.
    pub len: u32,
    /// Repeats an earlier one byte for byte.
    pub retransmission: bool,
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
    /// Who sent the Delete.
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

/// Inputs of the key derivation.
#[derive(Debug, Clone)]
pub struct Nonces {
    /// Ni_b.
    pub initiator: Vec<u8>,
    /// Nr_b; empty until the second message.
    pub responder: Vec<u8>,
}

/// What a message meant for the rest of the analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observed {
    /// Index of the exchange it belongs to.
    pub exchange: Option<usize>,
    /// It is the first message of that exchange.
    pub first_of_exchange: bool,
    /// `children` of that exchange changed with this message.
    pub children_changed: bool,
}

/// The timeline. Bounded: [`Timeline::MAX_IKE_SAS`], [`Timeline::MAX_EXCHANGES`]; what exceeds them is counted.
#[derive(Debug)]
pub struct Timeline {
    _private: (),
}

impl Timeline {
    /// Most IKE SAs that are kept.
    pub const MAX_IKE_SAS: usize = 65_536;
    /// Most exchanges that are kept.
    pub const MAX_EXCHANGES: usize = 262_144;

    /// An empty timeline that will try `keys` on encrypted messages.
    pub fn new(_keys: Vec<IkeKey>) -> Self {
        unimplemented!()
    }

    /// Takes one IKE message (from the IKE header on, possibly cut by the snap length).
    pub fn push(
        &mut self,
        _context: MessageContext,
        _message: &[u8],
        _diagnostics: &mut Diagnostics,
    ) -> Observed {
        unimplemented!()
    }

    /// The IKE SAs in order of appearance.
    pub fn ike_sas(&self) -> &[IkeSa] {
        unimplemented!()
    }

    /// The exchanges in order of their first message.
    pub fn exchanges(&self) -> &[Exchange] {
        unimplemented!()
    }

    /// Derives KEYMAT for the children of an exchange, where phase-1 secrets allow it (RFC 2409 §5.5, RFC 7296
    /// §2.17). One entry per child in the order of [`Exchange::children`]; `None` where it cannot be derived.
    pub fn derive_child_keys(&self, _exchange: usize) -> Vec<Option<ChildKeys>> {
        unimplemented!()
    }
}

/// Keys of one one-way SA, derived.
#[derive(Debug, Clone)]
pub struct ChildKeys {
    /// Encryption key with salt at its end.
    pub encryption: SecretBytes,
    /// Integrity key; empty for an AEAD.
    pub integrity: SecretBytes,
    /// Where the phase-1 secret came from.
    pub origin: KeyOrigin,
}

//! The IKE timeline: messages in, exchanges and IKE SAs out. Quick Modes are found without keys; with a phase-1 key
//! their payloads are read.

mod live;

use crate::ike::contents::MessageScene;
pub use crate::ike::context::{MessageContext, Notice};
pub use crate::ike::exchange::{
    ChildKeys, Deletion, ErrorNotice, Exchange, IkeSa, MessageRecord, NegotiatedSa,
};
use crate::ike::exchange_type::{begun_by_initiator, exchange_kind};
use crate::ike::fragment::Ikev1Fragments;
use crate::ike::header::{FLAG_ENCRYPTED, FLAG_INITIATOR, FLAG_RESPONSE, IkeHeader, LEN};
use crate::ike::ikev2_keys::Ikev2Keys;
use crate::ike::outline::Outline;
use crate::ike::payload::v1;
use crate::ike::state::{ExchangeState, Keyring, SaState};
use foldhash::{HashMap, HashMapExt};
use rekeyscope_capture::layers::udp::NAT_T_PORT;
use rekeyscope_keylog::{IkeKey, Seed};
use rekeyscope_model::analysis::{ExchangeKind, KeyStatus};
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::IkeSpi;
use rekeyscope_model::text::Message;

/// A message that was taken into the timeline, for the rest of the analysis. One that was not has no exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Observed {
    /// Index of the exchange it belongs to.
    pub exchange: Option<usize>,
    /// The message is the first one of that exchange.
    pub first_of_exchange: bool,
    /// `children` of that exchange changed with this message.
    pub children_changed: bool,
    /// True where the message repeats an earlier one of that exchange byte for byte.
    pub repeats: bool,
}

/// Decryptions that are tried over all IKE SAs together: some seconds of work at most.
const TRIAL_BUDGET: u64 = 1 << 22;

/// The key that makes messages one exchange. Message IDs mean something within one IKE SA only; in IKEv2 both sides number
/// their requests independently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct ExchangeId {
    ike_sa: Option<usize>,
    /// Tells exchanges apart where the table of IKE SAs is full.
    spis: (IkeSpi, IkeSpi),
    exchange_type: u8,
    message_id: u32,
    begun_by_initiator: bool,
}

/// The timeline. Bounded: [`Timeline::MAX_IKE_SAS`], [`Timeline::MAX_EXCHANGES`]; what exceeds them is counted.
#[derive(Debug, Default)]
pub struct Timeline {
    pub(super) keys: Vec<IkeKey>,
    /// Indices of keys by the initiator SPI that they name.
    pub(super) keys_by_spi: HashMap<Option<IkeSpi>, Vec<usize>>,
    /// Seeds of derivations in the logs.
    pub(super) seeds: Vec<Seed>,
    /// Pre-shared keys: with a key's Diffie–Hellman secret they give the rest.
    pub(super) psks: Vec<SecretBytes>,
    trial_budget: u64,
    pub(super) ike_sas: Vec<IkeSa>,
    pub(super) sa_states: Vec<SaState>,
    /// By version, initiator and responder SPI; a zero responder SPI finds the newest with that initiator SPI.
    ike_sa_by_spis: HashMap<(u8, IkeSpi, IkeSpi), usize>,
    /// IKE SAs that a CREATE_CHILD_SA made, until their first message.
    successors: HashMap<(IkeSpi, IkeSpi), Ikev2Keys>,
    pub(super) exchanges: Vec<Exchange>,
    states: Vec<ExchangeState>,
    exchange_by_id: HashMap<ExchangeId, usize>,
    informational: usize,
    fragments: Ikev1Fragments,
}

impl Timeline {
    /// Most IKE SAs that are kept.
    pub const MAX_IKE_SAS: usize = 1 << 13;
    /// Most exchanges that are kept, some 2 KB each with what the document says of them: those of 10,000 rekeys, as many others, and
    /// the Informational ones.
    pub const MAX_EXCHANGES: usize = 40 << 10;
    /// Informational ones among them: hosts that ask each other all day whether they are alive leave room for those that make SAs.
    const MAX_INFORMATIONAL: usize = Self::MAX_EXCHANGES / 2;

    /// An empty timeline that will try `keys` on encrypted messages.
    pub fn new(keys: Vec<IkeKey>) -> Self {
        let mut keys_by_spi: HashMap<_, Vec<usize>> = HashMap::new();
        for (index, key) in keys.iter().enumerate() {
            keys_by_spi.entry(key.initiator_spi).or_default().push(index);
        }
        Timeline {
            keys,
            keys_by_spi,
            trial_budget: TRIAL_BUDGET,
            ..Timeline::default()
        }
    }

    /// Takes one IKE message (from the IKE header on, possibly cut by the snap length). One that it took before is a
    /// retransmission: copies that the capture made have to be left out before.
    pub fn push(
        &mut self,
        context: MessageContext,
        message: &[u8],
        diagnostics: &mut Diagnostics,
    ) -> Observed {
        let frame = Some(context.frame);
        let header = match IkeHeader::parse(message) {
            Ok(header) => header,
            Err(error) => {
                diagnostics.count_wire_error(error, context.frame);
                return Observed::default();
            }
        };
        if !matches!(header.major, 1 | 2) {
            diagnostics.count("unknown_version", "IKE", frame, || {
                Message::new("oddity-ike-version").with("version", header.major.to_string())
            });
            return Observed::default();
        }
        let message = &message[..message.len().min(header.length as usize)];
        let ike_sa = self.ike_sa_for(&header, &context, diagnostics);
        let Some((index, first_of_exchange)) = self.exchange_for(&header, &context, ike_sa, diagnostics)
        else {
            return Observed::default();
        };
        let repeats = self.record(index, &context, &header, message);
        let children_changed = match ike_sa {
            Some(ike_sa) if !repeats => self.read(ike_sa, index, &header, &context, message, diagnostics),
            _ => false,
        };
        Observed {
            exchange: Some(index),
            first_of_exchange,
            children_changed,
            repeats,
        }
    }

    /// The IKE SAs in order of appearance.
    pub fn ike_sas(&self) -> &[IkeSa] {
        &self.ike_sas
    }

    /// The exchanges in order of their first message.
    pub fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    /// Finds the IKE SA of a message, or begins it. `None` when the table is full.
    fn ike_sa_for(
        &mut self,
        header: &IkeHeader,
        context: &MessageContext,
        diagnostics: &mut Diagnostics,
    ) -> Option<usize> {
        let full = (header.major, header.initiator_spi, header.responder_spi);
        let half_open = (header.major, header.initiator_spi, IkeSpi::ZERO);
        let found = self.ike_sa_by_spis.get(&full).copied();
        let same_peers = |sa: &IkeSa| {
            (sa.initiator, sa.responder) == (context.src, context.dst)
                || (sa.initiator, sa.responder) == (context.dst, context.src)
        };
        // A message without responder SPI belongs to the newest IKE SA with that initiator SPI, whether it was answered
        // meanwhile or not; one with it may be the first answer.
        let found = if header.responder_spi == IkeSpi::ZERO {
            found.filter(|&i| same_peers(&self.ike_sas[i]))
        } else {
            found.or_else(|| {
                let begun = self.ike_sa_by_spis.get(&half_open).copied();
                begun.filter(|&i| self.ike_sas[i].responder_spi.is_none() && same_peers(&self.ike_sas[i]))
            })
        };
        let index = match found {
            Some(index) => index,
            None if self.ike_sas.len() >= Self::MAX_IKE_SAS => {
                diagnostics.count("too_many_ike_sas", "IKE", Some(context.frame), || {
                    Message::new("oddity-ike-sas").with("most", Self::MAX_IKE_SAS)
                });
                return None;
            }
            None => self.begin_ike_sa(header, context),
        };
        self.ike_sa_by_spis.insert(full, index);
        // A file out of order may have the message that began the IKE SA after those with both SPIs.
        self.ike_sa_by_spis.entry(half_open).or_insert(index);
        let sa = &mut self.ike_sas[index];
        if header.major == 1 && begins_ike_sa(header) {
            (sa.initiator, sa.responder) = (context.src, context.dst);
        }
        if header.responder_spi != IkeSpi::ZERO {
            sa.responder_spi.get_or_insert(header.responder_spi);
        }
        sa.first_time = sa.first_time.min(context.time);
        sa.last_time = sa.last_time.max(context.time);
        Some(index)
    }

    fn begin_ike_sa(&mut self, header: &IkeHeader, context: &MessageContext) -> usize {
        // An IKEv2 header says who is the initiator; in IKEv1 the first sender seen has to do.
        let from_initiator = header.major == 1 || header.has(FLAG_INITIATOR);
        let (initiator, responder) = if from_initiator {
            (context.src, context.dst)
        } else {
            (context.dst, context.src)
        };
        let named = self.keys_by_spi.contains_key(&Some(header.initiator_spi));
        self.ike_sas.push(IkeSa {
            initiator_spi: header.initiator_spi,
            responder_spi: None,
            version: header.major,
            initiator,
            responder,
            key_status: if named {
                KeyStatus::Unverified
            } else {
                KeyStatus::Missing
            },
            key_origin: None,
            first_time: context.time,
            last_time: context.time,
            nat: false,
            initiator_is_windows: false,
            deleted: None,
        });
        let spis = (header.initiator_spi, header.responder_spi);
        self.sa_states.push(SaState {
            ikev2: self.successors.remove(&spis).unwrap_or_default(),
            ..SaState::default()
        });
        self.ike_sas.len() - 1
    }

    /// Finds the exchange of a message, or begins it (then `true`). `None` when the table is full.
    fn exchange_for(
        &mut self,
        header: &IkeHeader,
        context: &MessageContext,
        ike_sa: Option<usize>,
        diagnostics: &mut Diagnostics,
    ) -> Option<(usize, bool)> {
        let id = ExchangeId {
            ike_sa,
            spis: match ike_sa {
                Some(_) => Default::default(),
                None => (header.initiator_spi, header.responder_spi),
            },
            exchange_type: header.exchange_type,
            message_id: header.message_id,
            begun_by_initiator: header.major == 2 && begun_by_initiator(header),
        };
        if let Some(&index) = self.exchange_by_id.get(&id) {
            let request = header.major == 2 && !header.has(FLAG_RESPONSE);
            if request || begins_ike_sa(header) {
                self.exchanges[index].begins_with(context);
            }
            return Some((index, false));
        }
        let informational = exchange_kind(header) == ExchangeKind::Informational;
        if self.exchanges.len() >= Self::MAX_EXCHANGES
            || informational && self.informational >= Self::MAX_INFORMATIONAL
        {
            diagnostics.count("too_many_exchanges", "IKE", Some(context.frame), || {
                Message::new("oddity-exchanges").with("most", Self::MAX_EXCHANGES)
            });
            return None;
        }
        self.informational += usize::from(informational);
        let index = self.exchanges.len();
        self.exchanges
            .push(Exchange::begin(header, context, ike_sa, diagnostics));
        self.states.push(ExchangeState::default());
        self.exchange_by_id.insert(id, index);
        Some((index, true))
    }

    /// Counts a message and says whether it repeats an earlier one of its exchange byte for byte.
    fn record(&mut self, index: usize, context: &MessageContext, header: &IkeHeader, message: &[u8]) -> bool {
        let repeats = self.states[index].repeats(message);
        self.exchanges[index].record(MessageRecord {
            retransmission: repeats,
            ip_packets: context.ip_packets,
            outline: Outline::of(header, message),
            ..MessageRecord::of(context.frame, context.time, context.src, header.length)
        });
        repeats
    }

    /// Reads a message that was not seen before. Says whether the exchange's children changed.
    fn read(
        &mut self,
        ike_sa: usize,
        index: usize,
        header: &IkeHeader,
        context: &MessageContext,
        message: &[u8],
        diagnostics: &mut Diagnostics,
    ) -> bool {
        let cut = message.len() < header.length as usize;
        if cut {
            diagnostics.note("cut_message", "IKE", Some(context.frame), "oddity-cut-message");
        }
        let indices = |spi| self.keys_by_spi.get(&spi).map_or(&[][..], Vec::as_slice);
        let mut ring = Keyring {
            keys: &self.keys,
            named: indices(Some(header.initiator_spi)),
            nameless: indices(None),
            responder_spi: header.responder_spi,
            psks: &self.psks,
            budget: &mut self.trial_budget,
        };
        let mut scene = MessageScene {
            context,
            header,
            sa: &mut self.ike_sas[ike_sa],
            sa_state: &mut self.sa_states[ike_sa],
            exchange: &mut self.exchanges[index],
            state: &mut self.states[index],
            diagnostics,
            cut,
        };
        let body = message.get(LEN..).unwrap_or_default();
        let is_fragment = header.major == 1 && header.next_payload == v1::FRAGMENT;
        let changed = if is_fragment {
            let whole = scene.read_fragment(body, ike_sa, &mut self.fragments);
            let inner = whole.as_deref().and_then(|w| Some((w, inner_header(w, header)?)));
            return inner
                .is_some_and(|(whole, inner)| self.read(ike_sa, index, &inner, context, whole, diagnostics));
        } else if header.major == 2 {
            scene.read_ikev2(message, &mut ring)
        } else if header.has(FLAG_ENCRYPTED) {
            scene.read_encrypted(body, &mut ring)
        } else {
            scene.read_cleartext(body)
        };
        let state = &mut self.sa_states[ike_sa];
        for (spis, keys) in state.successors.drain(..) {
            if self.successors.len() < Self::MAX_IKE_SAS {
                self.successors.insert(spis, keys);
            }
        }
        state.floated |= context.udp.src == NAT_T_PORT || context.udp.dst == NAT_T_PORT;
        self.ike_sas[ike_sa].nat = state.nat(header.major);
        changed
    }
}

/// Only the initiator of an IKE SA does not know the responder's SPI (RFC 2408 §2.5.3, RFC 7296 §2.6). An IKEv1 notification of an
/// error may lack that SPI too.
fn begins_ike_sa(header: &IkeHeader) -> bool {
    let kind = exchange_kind(header);
    header.responder_spi == IkeSpi::ZERO
        && matches!(kind, ExchangeKind::MainMode | ExchangeKind::AggressiveMode)
}

/// The header of a message that came in fragments: of the same exchange, and not a fragment again.
fn inner_header(whole: &[u8], outer: &IkeHeader) -> Option<IkeHeader> {
    let inner = IkeHeader::parse(whole).ok()?;
    let same = (inner.major, inner.initiator_spi, inner.exchange_type)
        == (outer.major, outer.initiator_spi, outer.exchange_type);
    (same && inner.next_payload != v1::FRAGMENT).then_some(inner)
}

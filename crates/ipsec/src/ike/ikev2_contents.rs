//! The payloads of an IKEv2 message are written into its exchange and its IKE SA.

use crate::ike::contents::MessageScene;
use crate::ike::crypto::Hash;
use crate::ike::fragment::OpenedPayload;
use crate::ike::header::{FLAG_INITIATOR, FLAG_RESPONSE, LEN};
use crate::ike::ikev2::{Ikev2Proposal, parse_sa};
use crate::ike::ikev2_keys::{IkeProposal, SealedMessage};
use crate::ike::nat;
use crate::ike::notify::{
    self, Delete, INITIAL_CONTACT, NAT_DETECTION_DESTINATION, NAT_DETECTION_SOURCE, Notification, REKEY_SA,
    USE_TRANSPORT_MODE,
};
use crate::ike::payload::{Fields, GENERIC_LEN, Payload, PayloadChain, v2};
use crate::ike::quick::{ExchangeSide, Offer};
use crate::ike::state::{Keyring, LONGEST_NONCE};
use rekeyscope_model::analysis::{ExchangeKind, Mode};
use rekeyscope_model::error::WireError;

/// Bytes of the fragment number and count (RFC 7383 §2.5).
const FRAGMENT_FIELDS: usize = 4;

#[derive(Debug, Default)]
struct Noted {
    transport: bool,
    /// An error: what was asked for is refused.
    refused: bool,
}

impl MessageScene<'_> {
    /// Reads an IKEv2 message, its encrypted part as far as a key fits. Says whether the exchange's children changed.
    pub(super) fn read_ikev2(&mut self, message: &[u8], ring: &mut Keyring<'_>) -> bool {
        let payloads = self.chain(message.get(LEN..).unwrap_or_default());
        let is_sealed = |p: &Payload<'_>| matches!(p.kind, v2::ENCRYPTED | v2::ENCRYPTED_FRAGMENT);
        let Some(sealed) = payloads.last().copied().filter(is_sealed) else {
            self.exchange.decrypted |= !self.state.encrypted && !payloads.is_empty();
            return self.ikev2_payloads(&payloads, false);
        };
        if !std::mem::replace(&mut self.state.encrypted, true) {
            self.exchange.decrypted = false;
        }
        let opened = self.unseal(message, &sealed, ring);
        let Some(opened) = self.accepted(opened).flatten() else {
            return false;
        };
        self.exchange.decrypted = true;
        let payloads: Vec<_> = PayloadChain::new(opened.first, &opened.payloads)
            .flatten()
            .collect();
        self.ikev2_payloads(&payloads, true)
    }

    /// Opens the encrypted payload; of a fragmented message, the last piece that was missing gives the whole.
    fn unseal(
        &mut self,
        message: &[u8],
        payload: &Payload<'_>,
        ring: &mut Keyring<'_>,
    ) -> Result<Option<OpenedPayload>, WireError> {
        let mut fields = Fields::new("IKE fragment", payload.body);
        let piece = match payload.kind {
            v2::ENCRYPTED_FRAGMENT => Some((fields.u16()?, fields.u16()?)),
            _ => None,
        };
        let skip = if piece.is_some() { FRAGMENT_FIELDS } else { 0 };
        let outside = LEN + payload.offset + GENERIC_LEN + skip;
        let sealed = SealedMessage {
            outside: message.get(..outside).unwrap_or_default(),
            sealed: fields.rest(),
            from_initiator: self.header.has(FLAG_INITIATOR),
        };
        let spis = (self.header.initiator_spi, self.header.responder_spi);
        let keys = &mut self.sa_state.ikev2;
        let Some(plaintext) = keys.open(&sealed, spis, ring.keys, ring.candidates(), ring.budget) else {
            return Ok(None);
        };
        let key = keys.session.as_ref().and_then(|s| ring.keys.get(s.key_index));
        self.sa.verified_by(key);
        Ok(match piece {
            None => Some(OpenedPayload {
                first: payload.next,
                payloads: plaintext,
            }),
            Some((number, total)) => {
                let side = self.ikev2_side() as usize;
                let added = self.state.pieces[side].add(number, total, payload.next, plaintext);
                if added.is_none() {
                    self.diagnostics.note(
                        "fragment_impossible",
                        "IKE",
                        Some(self.context.frame),
                        "oddity-fragment-impossible",
                    );
                }
                added.and_then(|added| added.counted(self.context.frame, self.diagnostics))
            }
        })
    }

    fn ikev2_side(&self) -> ExchangeSide {
        ExchangeSide::of(!self.header.has(FLAG_RESPONSE))
    }

    fn ikev2_payloads(&mut self, payloads: &[Payload<'_>], protected: bool) -> bool {
        let side = self.ikev2_side();
        let noted = self.ikev2_notifications(payloads);
        let mode = if noted.transport {
            Mode::Transport
        } else {
            Mode::Tunnel
        };
        let mut said = Vec::new();
        let mut for_ike = None;
        for payload in payloads {
            match payload.kind {
                v2::VENDOR_ID => self.vendor(payload.body),
                v2::SA => {
                    if let Some(proposals) = self.accepted(parse_sa(payload.body)) {
                        for_ike = proposals.first().and_then(Ikev2Proposal::for_ike_sa);
                        self.ikev2_proposals(side, &proposals, mode, &mut said);
                    }
                }
                v2::NONCE if payload.body.len() <= LONGEST_NONCE => {
                    let nonces = match self.exchange.kind {
                        ExchangeKind::IkeSaInit => &mut self.sa_state.ikev2.nonces,
                        _ => &mut self.state.nonces,
                    };
                    nonces[side as usize] = payload.body.to_vec();
                }
                v2::KEY_EXCHANGE => {
                    self.exchange.key_exchange |= self.exchange.kind == ExchangeKind::CreateChildSa;
                }
                v2::DELETE if protected => self.take_delete(Delete::parse(2, payload.body)),
                _ => {}
            }
        }
        if !protected {
            return false;
        }
        self.ikev2_successor(for_ike);
        if side == ExchangeSide::Responder && said.is_empty() && noted.refused {
            return self.refuse_children();
        }
        self.ikev2_children(side, said)
    }

    fn ikev2_proposals(
        &mut self,
        side: ExchangeSide,
        proposals: &[Ikev2Proposal<'_>],
        mode: Mode,
        said: &mut Vec<Offer>,
    ) {
        let ike_spi = proposals.iter().find_map(Ikev2Proposal::ike_spi);
        match self.exchange.kind {
            ExchangeKind::IkeSaInit => {
                let chosen = proposals.first().and_then(Ikev2Proposal::for_ike_sa);
                if side == ExchangeSide::Responder || proposals.len() == 1 {
                    self.sa_state.ikev2.proposal = chosen.or(self.sa_state.ikev2.proposal);
                }
            }
            ExchangeKind::CreateChildSa if ike_spi.is_some() => {
                self.exchange.rekeys_ike_sa = true;
                self.state.ike_spis[side as usize] = ike_spi;
            }
            _ => said.extend(proposals.iter().filter_map(|p| p.offer(mode))),
        }
    }

    /// The children of IKE_AUTH and CREATE_CHILD_SA. IKE_AUTH takes its nonces from IKE_SA_INIT (RFC 7296 §2.17); with EAP
    /// its proposal is in the first request and the choice in the last response (RFC 7296 §2.16).
    fn ikev2_children(&mut self, side: ExchangeSide, said: Vec<Offer>) -> bool {
        if said.is_empty() {
            return false;
        }
        if self.exchange.kind == ExchangeKind::IkeAuth {
            self.state.nonces = self.sa_state.ikev2.nonces.clone();
            let offered = &mut self.sa_state.auth_offers;
            match side {
                ExchangeSide::Initiator => *offered = said.clone(),
                ExchangeSide::Responder => self
                    .state
                    .negotiation
                    .hear(ExchangeSide::Initiator, offered.clone()),
            }
        }
        self.state.negotiation.hear(side, said);
        self.publish(true);
        true
    }

    /// Both SPIs of the IKE SA that replaces this one are known: what its keys follow from is kept.
    fn ikev2_successor(&mut self, proposal: Option<IkeProposal>) {
        let [Some(initiator), Some(responder)] = self.state.ike_spis else {
            return;
        };
        let keys = self.sa_state.ikev2.successor(self.state.nonces.clone(), proposal);
        self.sa_state.successors = vec![((initiator, responder), keys)];
    }

    fn refuse_children(&mut self) -> bool {
        self.state.negotiation = Default::default();
        let changed = !self.exchange.children.is_empty();
        self.exchange.children.clear();
        changed
    }

    fn ikev2_notifications(&mut self, payloads: &[Payload<'_>]) -> Noted {
        let mut noted = Noted::default();
        let (mut source, mut destination) = (Vec::new(), Vec::new());
        for payload in payloads.iter().filter(|p| p.kind == v2::NOTIFY) {
            let Some(notification) = self.accepted(Notification::parse(2, payload.body)) else {
                continue;
            };
            self.exchange.note(notify::name_v2(notification.kind));
            if let Some(error) = notification.error(self.context) {
                noted.refused = true;
                self.exchange.refuse(error);
            }
            match notification.kind {
                NAT_DETECTION_SOURCE => source.push(notification.data),
                NAT_DETECTION_DESTINATION => destination.push(notification.data),
                USE_TRANSPORT_MODE => noted.transport = true,
                INITIAL_CONTACT => {
                    self.exchange.initial_contact.get_or_insert(self.context.notice());
                }
                REKEY_SA => self.exchange.add_rekeyed(notification.ipsec_spi()),
                _ => {}
            }
        }
        self.hear_nat(nat::detected(
            Hash::Sha1,
            self.header,
            self.context,
            &source,
            &destination,
        ));
        noted
    }
}

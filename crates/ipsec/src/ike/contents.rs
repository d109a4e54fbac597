//! The payloads of an IKEv1 message are written into its exchange and its IKE SA.

use crate::ike::context::MessageContext;
use crate::ike::exchange::{Deletion, Exchange, IkeSa};
use crate::ike::fragment::Ikev1Fragments;
use crate::ike::header::IkeHeader;
use crate::ike::ikev1::phase1_choice;
use crate::ike::nat;
use crate::ike::notify::{self, Delete, Notification};
use crate::ike::payload::{Payload, PayloadChain, v1};
use crate::ike::phase1::{CipherTail, Encrypted};
use crate::ike::quick::{ExchangeSide, offers};
use crate::ike::state::{ExchangeState, Keyring, LONGEST_NONCE, LONGEST_PUBLIC, SaState};
use crate::ike::transform::lifetimes;
use rekeyscope_model::analysis::ExchangeKind;
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::error::WireError;

/// First 16 bytes of the vendor ID of Windows' IKE: MD5 of "MS NT5 ISAKMPOAKLEY". The four bytes behind them are its version (MS-IKEE).
const WINDOWS: [u8; 16] = [
    0x1e, 0x2b, 0x51, 0x69, 0x05, 0x99, 0x1c, 0x7d, 0x7c, 0x96, 0xfc, 0xbf, 0xb5, 0x87, 0xe4, 0x61,
];

/// One message and all that it may change.
pub(super) struct MessageScene<'a> {
    pub(super) context: &'a MessageContext,
    pub(super) header: &'a IkeHeader,
    pub(super) sa: &'a mut IkeSa,
    pub(super) sa_state: &'a mut SaState,
    pub(super) exchange: &'a mut Exchange,
    pub(super) state: &'a mut ExchangeState,
    pub(super) diagnostics: &'a mut Diagnostics,
    /// The snap length cut the message.
    pub(super) cut: bool,
}

impl MessageScene<'_> {
    /// The payloads behind the header, as far as they can be walked. What the capture cut off is no fault of the
    /// message.
    pub(super) fn chain<'b>(&mut self, body: &'b [u8]) -> Vec<Payload<'b>> {
        let mut payloads = Vec::new();
        for payload in PayloadChain::new(self.header.next_payload, body) {
            match payload {
                Ok(payload) => payloads.push(payload),
                Err(_) if self.cut => {}
                Err(error) => self.diagnostics.count_wire_error(error, self.context.frame),
            }
        }
        payloads
    }

    pub(super) fn accepted<T>(&mut self, read: Result<T, WireError>) -> Option<T> {
        read.map_err(|error| self.diagnostics.count_wire_error(error, self.context.frame))
            .ok()
    }

    /// Reads an unencrypted IKEv1 message.
    pub(super) fn read_cleartext(&mut self, body: &[u8]) -> bool {
        let payloads = self.chain(body);
        self.exchange.decrypted |= !self.state.encrypted && !payloads.is_empty();
        self.read(&payloads, false)
    }

    /// Takes a fragment of an IKEv1 message. Gives the message once it is whole.
    pub(super) fn read_fragment(
        &mut self,
        body: &[u8],
        ike_sa: usize,
        fragments: &mut Ikev1Fragments,
    ) -> Option<Vec<u8>> {
        let fragment = self.chain(body).into_iter().find(|p| p.kind == v1::FRAGMENT)?;
        let side = usize::from(self.context.src != self.sa.initiator);
        let added = self.accepted(fragments.add((ike_sa, side), fragment.body))?;
        added.counted(self.context.frame, self.diagnostics)
    }

    /// Decrypts and reads an IKEv1 message, as far as a key fits.
    pub(super) fn read_encrypted(&mut self, ciphertext: &[u8], ring: &mut Keyring<'_>) -> bool {
        if !std::mem::replace(&mut self.state.encrypted, true) {
            self.exchange.decrypted = false;
        }
        let message = Encrypted {
            header: self.header,
            kind: self.exchange.kind,
            ciphertext,
            previous: self.state.tail,
        };
        let phase1 = &mut self.sa_state.phase1;
        let plain = if self.cut {
            None
        } else {
            phase1.open(&message, ring.keys, ring.candidates(), ring.psks, ring.budget)
        };
        let tail = CipherTail::of(ciphertext).filter(|_| !self.cut);
        if message.is_phase1() {
            phase1.tail = tail;
        } else {
            self.state.tail = tail;
        }
        let Some(plain) = plain else { return false };
        let key = phase1.session.as_ref().and_then(|s| ring.keys.get(s.key_index));
        self.sa.verified_by(key);
        self.exchange.decrypted = true;
        let payloads: Vec<_> = plain.payloads().flatten().collect();
        self.read(&payloads, true)
    }

    /// Takes in the payloads. `protected`: they were encrypted. Says whether the exchange's children changed.
    pub(super) fn read(&mut self, payloads: &[Payload<'_>], protected: bool) -> bool {
        for payload in payloads {
            match payload.kind {
                v1::NOTIFICATION => self.notification(payload.body),
                v1::DELETE => self.delete(payload.body, protected),
                v1::VENDOR_ID => self.vendor(payload.body),
                // Sent only where a NAT was detected (RFC 3947 §5.2).
                v1::NAT_OA | v1::NAT_OA_DRAFT => self.sa_state.nat_detected = Some(true),
                _ => {}
            }
        }
        match self.exchange.kind {
            ExchangeKind::MainMode | ExchangeKind::AggressiveMode => {
                self.phase1(payloads);
                false
            }
            ExchangeKind::QuickMode if protected => self.quick_mode(payloads),
            _ => false,
        }
    }

    pub(super) fn vendor(&mut self, id: &[u8]) {
        let by_initiator = self.context.src == self.sa.initiator;
        self.sa.initiator_is_windows |= by_initiator && id.starts_with(&WINDOWS);
    }

    /// Side of the sender in the exchange.
    fn side(&self) -> ExchangeSide {
        ExchangeSide::of(self.context.src == self.exchange.initiator)
    }

    fn phase1(&mut self, payloads: &[Payload<'_>]) {
        let side = ExchangeSide::of(self.context.src == self.sa.initiator);
        for payload in payloads {
            match payload.kind {
                v1::SA => {
                    let choice = phase1_choice(payload.body);
                    if side == ExchangeSide::Responder || self.sa_state.phase1.transform.is_none() {
                        self.sa_state.phase1.transform = choice.or(self.sa_state.phase1.transform);
                    }
                }
                v1::KEY_EXCHANGE if payload.body.len() <= LONGEST_PUBLIC => {
                    self.sa_state.phase1.public[side as usize] = Some(payload.body.to_vec());
                }
                v1::NONCE if payload.body.len() <= LONGEST_NONCE => {
                    self.sa_state.phase1.nonces[side as usize] = Some(payload.body.to_vec());
                }
                _ => {}
            }
        }
        self.nat_detection(payloads);
    }

    /// The first NAT-D payload is about the destination, the others about the source (RFC 3947 §3.2).
    fn nat_detection(&mut self, payloads: &[Payload<'_>]) {
        let Some(hash) = self.sa_state.phase1.transform.and_then(|t| t.hash) else {
            return;
        };
        let hashes: Vec<&[u8]> = payloads
            .iter()
            .filter(|p| matches!(p.kind, v1::NAT_D | v1::NAT_D_DRAFT) && p.body.len() == hash.len())
            .map(|p| p.body)
            .collect();
        let Some((destination, source)) = hashes.split_first() else {
            return;
        };
        let detected = nat::detected(hash, self.header, self.context, source, &[destination]);
        self.hear_nat(detected);
    }

    /// One payload that shows a NAT outweighs others that do not.
    pub(super) fn hear_nat(&mut self, detected: Option<bool>) {
        self.sa_state.nat_detected = self.sa_state.nat_detected.max(detected);
    }

    fn notification(&mut self, body: &[u8]) {
        let Some(notification) = self.accepted(Notification::parse(1, body)) else {
            return;
        };
        self.exchange.note(notify::name_v1(notification.kind));
        if let Some(error) = notification.error(self.context) {
            self.exchange.refuse(error);
        }
        if notification.kind == notify::INITIAL_CONTACT_V1 {
            self.exchange.initial_contact.get_or_insert(self.context.notice());
        }
        let for_ipsec = notify::ipsec_protocol(notification.protocol).is_some();
        if notification.kind == notify::RESPONDER_LIFETIME && for_ipsec {
            let said = lifetimes(notification.data).unwrap_or_default();
            let lowered = &mut self.state.negotiation.lowered;
            lowered.seconds = said.seconds.or(lowered.seconds);
            lowered.kilobytes = said.kilobytes.or(lowered.kilobytes);
        }
    }

    /// A Delete in the clear is a forgery or a mistake: RFC 2408 §3.15 has it under a phase-1 SA only.
    fn delete(&mut self, body: &[u8], protected: bool) {
        if !protected {
            let frame = Some(self.context.frame);
            return self
                .diagnostics
                .note("unprotected_delete", "IKE", frame, "oddity-unprotected-delete");
        }
        self.take_delete(Delete::parse(1, body));
    }

    /// Notes what a Delete of the peer ends: the IKE SA, or SAs of IPsec.
    pub(super) fn take_delete(&mut self, read: Result<Delete<'_>, WireError>) {
        let Some(delete) = self.accepted(read) else {
            return;
        };
        if delete.is_ike_sa() {
            self.sa.deleted.get_or_insert(self.context.time);
            self.exchange.ike_sa_delete.get_or_insert(self.context.notice());
        }
        let Some((protocol, spis)) = delete.ipsec_spis() else {
            return;
        };
        let room = Exchange::MAX_SPIS.saturating_sub(self.exchange.deletes.len());
        self.exchange.deletes.extend(spis.take(room).map(|spi| Deletion {
            by: self.context.src,
            protocol,
            spi,
            frame: self.context.frame,
            time: self.context.time,
        }));
    }

    fn quick_mode(&mut self, payloads: &[Payload<'_>]) -> bool {
        self.correct_sides(payloads);
        let side = self.side();
        let mut said = Vec::new();
        for (index, payload) in payloads.iter().filter(|p| p.kind == v1::SA).enumerate() {
            said.extend(self.accepted(offers(index, payload.body)).into_iter().flatten());
        }
        for payload in payloads {
            match payload.kind {
                v1::NONCE if payload.body.len() <= LONGEST_NONCE => {
                    self.state.nonces[side as usize] = payload.body.to_vec();
                }
                v1::KEY_EXCHANGE => self.exchange.key_exchange = true,
                _ => {}
            }
        }
        let changed = !said.is_empty();
        self.state.negotiation.hear(side, said);
        self.publish(changed);
        changed
    }

    /// A capture that begins after the first message shows the responder's first; the third message, a HASH alone,
    /// betrays that (only the initiator sends it, RFC 2409 §5.5).
    fn correct_sides(&mut self, payloads: &[Payload<'_>]) {
        let hash_alone = matches!(payloads, [only] if only.kind == v1::HASH);
        if hash_alone && self.state.distinct == 2 && self.side() == ExchangeSide::Responder {
            std::mem::swap(&mut self.exchange.initiator, &mut self.exchange.responder);
            self.state.negotiation.offers.swap(0, 1);
            self.state.nonces.swap(0, 1);
        }
    }

    pub(super) fn publish(&mut self, children_changed: bool) {
        let exchange = &mut *self.exchange;
        if children_changed || exchange.children.is_empty() {
            exchange.children = self
                .state
                .negotiation
                .children(exchange.initiator, exchange.responder);
        }
        exchange.lifetime = self.state.negotiation.lifetime();
        if self.state.nonces.iter().any(|nonce| !nonce.is_empty()) {
            exchange.nonces.clone_from(&self.state.nonces);
        }
    }
}

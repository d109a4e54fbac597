//! Synthetic IKE conversations, really encrypted, for what the lab's captures do not hold. Test code only.

use crate::ike::lab::key;
use crate::ike::timeline::{Exchange, MessageContext, Observed, Timeline};
use proptest::prelude::*;
use rekeyscope_capture::framing::UdpPorts;
use rekeyscope_keylog::{IkeKey, IkeSecrets};
use rekeyscope_model::analysis::{ExchangeKind, KeyStatus, Mode};
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::{IkeSpi, Spi};
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};
use rekeyscope_testkit::ike::{
    Directed, Hash, Header, INITIATOR, Ikev1, Ikev2, PHASE_1, Payloads, Phase1, RESPONDER, Wire, chain,
    esp_sa, ikev2_ike_sa, ikev2_sa, rekey_sa,
};

mod backwards;
mod ikev1;
mod ikev2;

const QUICK_MODE: u8 = 32;
const INFORMATIONAL: u8 = 5;

/// The wire: a virtual clock, frame numbers, the timeline under test.
struct Observing {
    timeline: Timeline,
    diagnostics: Diagnostics,
    now: Timestamp,
    frame: u64,
    ports: u16,
    last: Vec<u8>,
    last_from_initiator: bool,
}

impl Observing {
    fn new(keys: Vec<IkeKey>) -> Self {
        Observing {
            timeline: Timeline::new(keys),
            diagnostics: Diagnostics::default(),
            now: Timestamp(1_000_000_000_000),
            frame: 0,
            ports: 500,
            last: Vec::new(),
            last_from_initiator: true,
        }
    }

    fn repeat(&mut self) -> Observed {
        let message = self.last.clone();
        self.send(self.last_from_initiator, &message)
    }

    fn exchange(&self, index: usize) -> &Exchange {
        &self.timeline.exchanges()[index]
    }
}

impl Wire for Observing {
    type Seen = Observed;

    fn send(&mut self, from_initiator: bool, message: &[u8]) -> Observed {
        self.now = self.now.plus_nanos(20 * NANOS_PER_MILLI);
        self.frame += 1;
        let (a, b) = (INITIATOR.into(), RESPONDER.into());
        let (src, dst) = if from_initiator { (a, b) } else { (b, a) };
        let context = MessageContext {
            frame: self.frame,
            time: self.now,
            src,
            dst,
            outer: (src, dst),
            udp: UdpPorts {
                src: self.ports,
                dst: self.ports,
            },
            ip_packets: 1,
        };
        self.last = message.to_vec();
        self.last_from_initiator = from_initiator;
        self.timeline.push(context, message, &mut self.diagnostics)
    }
}

/// IKEv1 with its secrets in the key log.
fn ikev1(phase1: Phase1) -> Ikev1<Observing> {
    Ikev1::new(phase1, Observing::new(vec![key(1, ikev1_secrets(phase1))]))
}

fn ikev1_secrets(phase1: Phase1) -> IkeSecrets {
    let [skeyid_d, skeyid_a, skeyid_e] = phase1.skeyids().map(|secret| Some(SecretBytes::new(secret)));
    IkeSecrets {
        skeyid_d,
        skeyid_a,
        skeyid_e,
        ..IkeSecrets::default()
    }
}

/// IKEv2 with its secrets, and an SK_d, in the key log.
fn ikev2() -> Ikev2<Observing> {
    let secret = |n: u8| Some(SecretBytes::new(vec![n; 32]));
    let secrets = IkeSecrets {
        sk_ei: secret(1),
        sk_er: secret(2),
        sk_ai: secret(3),
        sk_ar: secret(4),
        sk_d: secret(5),
        ..IkeSecrets::default()
    };
    Ikev2::new(Observing::new(vec![key(2, secrets)]))
}

fn spis(exchange: &Exchange) -> Vec<(u32, bool)> {
    let inbound = |dst| dst == std::net::IpAddr::from(INITIATOR);
    exchange
        .children
        .iter()
        .map(|c| (c.spi.0, inbound(c.dst)))
        .collect()
}

/// What comes after decryption is as hostile as what comes before: any peer can send it.
fn payloads() -> impl Strategy<Value = Payloads> {
    let kind = prop_oneof![1u8..=21, Just(130), Just(131), 33u8..=53, any::<u8>()];
    let body = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..60),
        Just(esp_sa(&[(1, 100)])),
        Just(ikev2_sa(3, &[0, 0, 0, 9], 12)),
    ];
    let body = (body, any::<(u8, u8, u8)>()).prop_map(|(mut body, (at, value, cut))| {
        if !body.is_empty() {
            let at = usize::from(at) % body.len();
            body[at] = value;
            body.truncate(usize::from(cut).max(4));
        }
        body
    });
    proptest::collection::vec((kind, body), 0..6)
}

proptest! {
    #[test]
    fn noise_never_panics(messages in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..120), 0..8)) {
        let mut wire = Observing::new(vec![key(1, ikev1_secrets(PHASE_1[0]))]);
        for message in &messages {
            wire.send(true, message);
        }
    }

    #[test]
    fn hostile_ikev1_payloads_never_panic(first in payloads(), second in payloads(), kind in prop_oneof![Just(32u8), 1u8..=6]) {
        let mut ike = ikev1(PHASE_1[0]);
        ike.main_mode();
        ike.phase2(true, kind, 7, &first);
        ike.phase2(false, kind, 7, &second);
        ike.clear(false, kind, &first);
        for index in 0..ike.wire.timeline.exchanges().len() {
            ike.wire.timeline.child_key_candidates(index);
        }
    }

    #[test]
    fn hostile_ikev2_payloads_never_panic(first in payloads(), second in payloads(), kind in 34u8..=38) {
        let mut ike = ikev2();
        ike.whole(kind, 0x08, 1, &first);
        ike.whole(kind, 0x20, 1, &second);
        let (next, inner) = chain(&first);
        ike.sealed(kind, 0x08, 2, next, (53, &[0, 1, 0, 1]), &inner);
        for index in 0..ike.wire.timeline.exchanges().len() {
            ike.wire.timeline.child_key_candidates(index);
        }
    }
}

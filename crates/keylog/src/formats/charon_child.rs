//! The CHILD_SA that a charon thread is keying: which of its four keys belongs to which SPI.

use crate::lines::dump::Dump;
use crate::lines::fields::{address, find, word_after};
use crate::lines::hex;
use crate::material::key::{EspKey, KeyDefect, Seed, SeedOf};
use crate::material::sink::Sink;
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::Spi;
use zeroize::Zeroizing;

/// ISAKMP's number of ESP (RFC 2407 §4.4.1), which stands before the SPI in an IKEv1 seed.
const PROTO_IPSEC_ESP: u8 = 3;

type Bytes = Zeroizing<Vec<u8>>;

/// Keys and names since the last `using … for encryption`.
#[derive(Default)]
pub(crate) struct Child {
    /// The logging side started the exchange at hand.
    initiator: Option<bool>,
    encryption: Option<Encryption>,
    integrity: Option<Integrity>,
    /// The line of the first key.
    line: u64,
    /// The keys of the initiator, then the responder's.
    keys: [SideKeys; 2],
    seeds: Vec<(SeedOf, u64, Bytes)>,
    dh_secret: Option<Bytes>,
    adding_inbound: Option<bool>,
    /// The two SAs as `SPI 0x…, src … dst …` names them.
    inbound: EspKey,
    outbound: EspKey,
}

/// The keys with which one side sends.
#[derive(Default)]
struct SideKeys {
    encryption: Bytes,
    integrity: Bytes,
    /// Line of a dump of one of them that lacks rows.
    cut: Option<u64>,
}

impl Child {
    /// `parsed QUICK_MODE response 3005173579 [ … ]`
    pub(crate) fn begin_message(&mut self, message: &[u8]) {
        let exchange = [&b"QUICK_MODE"[..], b"CREATE_CHILD_SA", b"IKE_AUTH"]
            .into_iter()
            .find(|e| find(message, e).is_some());
        match exchange.and_then(|exchange| word_after(message, exchange)) {
            Some(b"request") => self.initiator = Some(false),
            Some(b"response") => self.initiator = Some(true),
            _ => {}
        }
    }

    /// `  using AES_CBC for encryption`: a new CHILD_SA begins.
    pub(crate) fn begin(&mut self, name: Option<&[u8]>, sink: &mut Sink<'_>) {
        self.hand_over(sink);
        self.encryption = name.and_then(Encryption::named);
        self.integrity = None;
    }

    /// `  using HMAC_SHA1_96 for integrity`
    pub(crate) fn integrity(&mut self, name: Option<&[u8]>) {
        self.integrity = name.and_then(Integrity::named);
    }

    /// A dump that lacks rows: of a key there is what says that it was there.
    pub(crate) fn cut(&mut self, dump: &Dump, sink: &mut Sink<'_>) {
        let Some((of_initiator, _)) = key_of(&dump.label) else {
            return;
        };
        self.value(dump, sink);
        let [initiator, responder] = &mut self.keys;
        let side = if of_initiator { initiator } else { responder };
        side.cut.get_or_insert(dump.line);
    }

    /// Tells whether a dump of this label is of a CHILD_SA.
    pub(crate) fn has_label(label: &[u8]) -> bool {
        key_of(label).is_some()
            || matches!(
                label,
                b"DH secret" | b"KE secret" | b"initiator SA seed" | b"responder SA seed" | b"seed"
            )
    }

    /// A dump; true when its label is one of a CHILD_SA.
    pub(crate) fn value(&mut self, dump: &Dump, sink: &mut Sink<'_>) -> bool {
        if let Some((of_initiator, encrypts)) = key_of(&dump.label) {
            if of_initiator && encrypts && !self.keys[0].encryption.is_empty() {
                self.hand_over(sink);
            }
            if of_initiator && (encrypts || self.line == 0) {
                self.line = dump.line;
            }
        }
        let [initiator, responder] = &mut self.keys;
        let slot = match (key_of(&dump.label), dump.label.as_slice()) {
            (Some((true, true)), _) => &mut initiator.encryption,
            (Some((true, false)), _) => &mut initiator.integrity,
            (Some((false, true)), _) => &mut responder.encryption,
            (Some((false, false)), _) => &mut responder.integrity,
            (_, b"DH secret" | b"KE secret") => self.dh_secret.insert(Bytes::default()),
            (_, b"initiator SA seed") => return self.seed(SeedOf::InitiatorSa, dump),
            (_, b"responder SA seed") => return self.seed(SeedOf::ResponderSa, dump),
            (_, b"seed") => return self.seed(SeedOf::ChildSa, dump),
            _ => return false,
        };
        slot.clone_from(&dump.bytes);
        true
    }

    fn seed(&mut self, of: SeedOf, dump: &Dump) -> bool {
        self.seeds.retain(|(known, ..)| *known != of);
        self.seeds.push((of, dump.line, dump.bytes.clone()));
        true
    }

    /// `adding inbound ESP SA`
    pub(crate) fn adding(&mut self, inbound: bool) {
        self.adding_inbound = Some(inbound);
    }

    /// The rest of `  SPI 0xc7df968a, src 10.9.0.1 dst 10.9.0.2`.
    pub(crate) fn added(&mut self, rest: &[u8], line: u64, sink: &mut Sink<'_>) {
        let digits = rest.split(|b| *b == b',').next().unwrap_or_default();
        let Some(spi) = hex::spi_digits(digits).map(Spi) else {
            return;
        };
        sink.sighting(line, spi);
        let named = |name: &[u8]| word_after(rest, name).and_then(address);
        let added = EspKey {
            spi: Some(spi),
            src: named(b"src"),
            dst: named(b"dst"),
            ..EspKey::default()
        };
        match self.adding_inbound {
            Some(true) => self.inbound = added,
            Some(false) => self.outbound = added,
            None => {}
        }
    }

    /// `CHILD_SA lab{1} established with SPIs c7df968a_i c06e0f04_o`: inbound, then outbound.
    pub(crate) fn established(&mut self, inbound: Spi, outbound: Spi, line: u64, sink: &mut Sink<'_>) {
        sink.sighting(line, inbound);
        sink.sighting(line, outbound);
        for (added, spi) in [(&mut self.inbound, inbound), (&mut self.outbound, outbound)] {
            if added.spi != Some(spi) {
                *added = EspKey::default();
                added.spi = Some(spi);
            }
        }
        self.hand_over(sink);
    }

    /// Claims the keys. Without knowing who began the exchange both ways are claimed; the ICV tells.
    pub(crate) fn hand_over(&mut self, sink: &mut Sink<'_>) {
        let mut child = std::mem::take(self);
        self.initiator = child.initiator;
        if !child.has_keys() && child.seeds.is_empty() {
            return;
        }
        // The addresses of one SA are those of the other, turned round.
        let (inbound, outbound) = (&mut child.inbound, &mut child.outbound);
        (inbound.src, inbound.dst) = (inbound.src.or(outbound.dst), inbound.dst.or(outbound.src));
        (outbound.src, outbound.dst) = (outbound.src.or(inbound.dst), outbound.dst.or(inbound.src));
        let spis = inbound.spi.zip(outbound.spi);
        let initiator = child.seed_says_initiator().or(child.initiator);
        if child.has_keys() {
            let [of_initiator, of_responder] = &child.keys;
            for ours in initiator.map_or(vec![true, false], |known| vec![known]) {
                let (sent, received) = if ours {
                    (of_initiator, of_responder)
                } else {
                    (of_responder, of_initiator)
                };
                child.claim(&child.outbound, sent, sink);
                child.claim(&child.inbound, received, sink);
            }
        }
        for (of, line, bytes) in &child.seeds {
            sink.seed(Seed {
                of: *of,
                bytes: SecretBytes::from(bytes.as_slice()),
                dh_secret: child
                    .dh_secret
                    .as_ref()
                    .map(|secret| SecretBytes::from(secret.as_slice())),
                spis,
                origin: sink.explicit(*line),
            });
        }
    }

    /// NULL encryption (RFC 2410) has no key; what is logged then is the integrity key alone.
    fn has_keys(&self) -> bool {
        let [initiator, _] = &self.keys;
        !initiator.encryption.is_empty()
            || self.keys.iter().any(|side| side.cut.is_some())
            || self.encryption == Some(Encryption::Null) && !initiator.integrity.is_empty()
    }

    /// In IKEv1 the initiator's seed holds the SPI of the SA on which the initiator sends.
    fn seed_says_initiator(&self) -> Option<bool> {
        let (_, _, seed) = self.seeds.iter().find(|(of, ..)| *of == SeedOf::InitiatorSa)?;
        let holds = |added: &EspKey| {
            let [a, b, c, d] = added.spi?.0.to_be_bytes();
            find(seed, &[PROTO_IPSEC_ESP, a, b, c, d])
        };
        match (holds(&self.outbound), holds(&self.inbound)) {
            (Some(_), None) => Some(true),
            (None, Some(_)) => Some(false),
            _ => None,
        }
    }

    fn claim(&self, added: &EspKey, keys: &SideKeys, sink: &mut Sink<'_>) {
        if added.spi.is_none() {
            sink.blob(self.line, b"encryption key", &keys.encryption);
            return sink.blob(self.line, b"integrity key", &keys.integrity);
        }
        let claim = EspKey {
            src: added.src,
            dst: added.dst,
            spi: added.spi,
            encryption: self.encryption,
            encryption_key: keys.encryption.as_slice().into(),
            integrity: self.integrity,
            integrity_key: keys.integrity.as_slice().into(),
            ..EspKey::at(keys.cut.unwrap_or(self.line))
        };
        match keys.cut {
            None => claim.hand_over(sink),
            Some(line) => {
                sink.problem(
                    line,
                    "a dump of this SA's keys lacks rows: lines of the log are missing here",
                );
                claim.hand_over_defective(KeyDefect::Truncated, sink);
            }
        }
    }
}

/// Tells of a label whether its key is the initiator's, and whether it encrypts.
fn key_of(label: &[u8]) -> Option<(bool, bool)> {
    match label {
        b"encryption initiator key" => Some((true, true)),
        b"encryption responder key" => Some((false, true)),
        b"integrity initiator key" => Some((true, false)),
        b"integrity responder key" => Some((false, false)),
        _ => None,
    }
}

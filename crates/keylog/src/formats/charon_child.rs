//! The CHILD_SA that a charon thread is keying: which of its four keys belongs to which SPI.

use crate::lines::dump::Dump;
use crate::lines::fields::{address, find, word_after};
use crate::lines::hex;
use crate::material::claim::Claim;
use crate::material::key::{KeyDefect, Seed, SeedOf};
use crate::material::sink::Sink;
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::Spi;
use std::net::IpAddr;
use zeroize::Zeroizing;

/// ISAKMP's number of ESP (RFC 2407 §4.4.1), which stands before the SPI in an IKEv1 seed.
const PROTO_IPSEC_ESP: u8 = 3;

type Bytes = Zeroizing<Vec<u8>>;

/// Keys and names since the last `using … for encryption`.
#[derive(Default)]
pub(crate) struct Child {
    /// Whether the logging side started the exchange at hand.
    initiator: Option<bool>,
    encryption: Option<Encryption>,
    integrity: Option<Integrity>,
    keys: LoggedChildKeys,
    /// Where a dump of the initiator's or the responder's keys lacks rows.
    cut: [Option<u64>; 2],
    seeds: Vec<(SeedOf, u64, Bytes)>,
    dh_secret: Option<Bytes>,
    adding_inbound: Option<bool>,
    inbound: AddedSa,
    outbound: AddedSa,
}

#[derive(Default)]
struct LoggedChildKeys {
    line: u64,
    encryption_initiator: Bytes,
    encryption_responder: Bytes,
    integrity_initiator: Bytes,
    integrity_responder: Bytes,
}

/// An SA as `SPI 0x…, src … dst …` names it.
#[derive(Default, Clone, Copy)]
struct AddedSa {
    spi: Option<Spi>,
    src: Option<IpAddr>,
    dst: Option<IpAddr>,
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
        if dump.label.ends_with(b" key") && self.value(dump, sink) {
            let [initiator, responder] = &mut self.cut;
            let side = if dump.label.ends_with(b"initiator key") {
                initiator
            } else {
                responder
            };
            side.get_or_insert(dump.line);
        }
    }

    /// Whether a dump of this label is of a CHILD_SA.
    pub(crate) fn has_label(label: &[u8]) -> bool {
        let key = label
            .strip_suffix(b" initiator key")
            .or_else(|| label.strip_suffix(b" responder key"));
        matches!(key, Some(b"encryption" | b"integrity"))
            || matches!(
                label,
                b"DH secret" | b"KE secret" | b"initiator SA seed" | b"responder SA seed" | b"seed"
            )
    }

    /// A dump; true when its label is one of a CHILD_SA.
    pub(crate) fn value(&mut self, dump: &Dump, sink: &mut Sink<'_>) -> bool {
        let slot = match dump.label.as_slice() {
            b"encryption initiator key" => {
                if !self.keys.encryption_initiator.is_empty() {
                    self.hand_over(sink);
                }
                self.keys.line = dump.line;
                &mut self.keys.encryption_initiator
            }
            b"encryption responder key" => &mut self.keys.encryption_responder,
            b"integrity initiator key" => {
                if self.keys.line == 0 {
                    self.keys.line = dump.line;
                }
                &mut self.keys.integrity_initiator
            }
            b"integrity responder key" => &mut self.keys.integrity_responder,
            b"DH secret" | b"KE secret" => self.dh_secret.insert(Bytes::default()),
            b"initiator SA seed" => return self.seed(SeedOf::InitiatorSa, dump),
            b"responder SA seed" => return self.seed(SeedOf::ResponderSa, dump),
            b"seed" => return self.seed(SeedOf::ChildSa, dump),
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
        let added = AddedSa {
            spi: Some(spi),
            src: named(b"src"),
            dst: named(b"dst"),
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
                *added = AddedSa {
                    spi: Some(spi),
                    ..AddedSa::default()
                };
            }
        }
        self.hand_over(sink);
    }

    /// Claims the keys. Without knowing who began the exchange both ways are claimed; the ICV tells.
    pub(crate) fn hand_over(&mut self, sink: &mut Sink<'_>) {
        let initiator = self.initiator;
        let child = std::mem::take(self);
        self.initiator = initiator;
        let keys = &child.keys;
        if !child.has_keys() && child.seeds.is_empty() {
            return;
        }
        let (inbound, outbound) = child.completed();
        let spis = inbound.spi.zip(outbound.spi);
        let initiator = child.seed_says_initiator(inbound, outbound).or(initiator);
        if child.has_keys() {
            let [cut_initiator, cut_responder] = child.cut;
            let of_initiator = (
                &keys.encryption_initiator,
                &keys.integrity_initiator,
                cut_initiator,
            );
            let of_responder = (
                &keys.encryption_responder,
                &keys.integrity_responder,
                cut_responder,
            );
            for ours in initiator.map_or(vec![true, false], |known| vec![known]) {
                let (sent, received) = if ours {
                    (of_initiator, of_responder)
                } else {
                    (of_responder, of_initiator)
                };
                child.claim(outbound, sent, sink);
                child.claim(inbound, received, sink);
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
        let keys = &self.keys;
        !keys.encryption_initiator.is_empty()
            || self.cut.iter().any(Option::is_some)
            || self.encryption == Some(Encryption::Null) && !keys.integrity_initiator.is_empty()
    }

    /// Both SAs; the addresses of one are those of the other, turned round.
    fn completed(&self) -> (AddedSa, AddedSa) {
        let fill = |one: AddedSa, other: AddedSa| AddedSa {
            spi: one.spi,
            src: one.src.or(other.dst),
            dst: one.dst.or(other.src),
        };
        (
            fill(self.inbound, self.outbound),
            fill(self.outbound, self.inbound),
        )
    }

    /// In IKEv1 the initiator's seed holds the SPI of the SA on which the initiator sends.
    fn seed_says_initiator(&self, inbound: AddedSa, outbound: AddedSa) -> Option<bool> {
        let (_, _, seed) = self.seeds.iter().find(|(of, ..)| *of == SeedOf::InitiatorSa)?;
        let holds = |added: AddedSa| {
            let [a, b, c, d] = added.spi?.0.to_be_bytes();
            find(seed, &[PROTO_IPSEC_ESP, a, b, c, d])
        };
        match (holds(outbound), holds(inbound)) {
            (Some(_), None) => Some(true),
            (None, Some(_)) => Some(false),
            _ => None,
        }
    }

    fn claim(
        &self,
        added: AddedSa,
        (encryption_key, integrity_key, cut): (&Bytes, &Bytes, Option<u64>),
        sink: &mut Sink<'_>,
    ) {
        if added.spi.is_none() {
            sink.blob(self.keys.line, b"encryption key", encryption_key);
            return sink.blob(self.keys.line, b"integrity key", integrity_key);
        }
        let claim = Claim {
            line: cut.unwrap_or(self.keys.line),
            src: added.src,
            dst: added.dst,
            spi: added.spi,
            encryption: self.encryption,
            encryption_key: encryption_key.clone(),
            integrity: self.integrity,
            integrity_key: integrity_key.clone(),
        };
        match cut {
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

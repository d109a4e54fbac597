//! One SA of a listing, field by field.

use crate::lines::algorithm_names::{self, fits_encryption};
use crate::lines::fields::{self, split_at_sign};
use crate::lines::hex;
use crate::material::key::{EspKey, KeyDefect};
use crate::material::sink::Sink;
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_model::spi::Spi;
use std::net::IpAddr;
use zeroize::Zeroizing;

/// Meaning of a label.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Field {
    /// Values follow.
    Values(&'static [Awaited]),
    /// The SA is of another protocol.
    NotEsp,
    /// The SA is one on which this side sends.
    Outbound,
    /// Values that follow are of that transform.
    Of(KeyKind),
    /// Nothing more stands on this line.
    Skip,
}

/// A value that is awaited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Awaited {
    Src,
    Dst,
    /// The protocol's name.
    Protocol,
    /// A number in hex with `0x`, or decimal.
    Spi,
    /// A number in hex, with `0x` or without.
    HexSpi,
    Name(KeyKind),
    /// A key's number of bytes.
    Count(KeyKind),
    Key(KeyKind),
    /// The cipher's name, a colon, and its key.
    NamedKey,
    /// The number of bits of the ICV.
    Bits(KeyKind),
    /// The salt of a combined mode.
    Salt,
}

/// One of the two transforms of an SA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyKind {
    Encryption,
    Integrity,
    /// The one that the line named last.
    Last,
}

impl Awaited {
    /// The value, where `last` is the transform that the line named last.
    pub(super) fn of(self, last: KeyKind) -> Awaited {
        match self {
            Awaited::Name(KeyKind::Last) => Awaited::Name(last),
            Awaited::Count(KeyKind::Last) => Awaited::Count(last),
            Awaited::Key(KeyKind::Last) => Awaited::Key(last),
            other => other,
        }
    }
}

#[derive(Default)]
struct ListingKey {
    line: u64,
    /// Digits of its first word.
    group: usize,
    /// Hex digits, as far as they are there.
    digits: Zeroizing<Vec<u8>>,
    /// The characters of a key that is no hex.
    text: Option<Zeroizing<Vec<u8>>>,
    /// Bytes that the listing says it has.
    count: Option<u64>,
    hidden: bool,
    /// Something else than a key stands there.
    odd: bool,
}

/// An SA that is being read.
#[derive(Default)]
pub(super) struct ListingRecord {
    /// Everything but its keys.
    sa: EspKey,
    pub(super) other_protocol: bool,
    keys: [ListingKey; 2],
    salt: Option<u32>,
    wrong: Option<(u64, &'static str)>,
}

impl ListingRecord {
    pub(super) fn at(&mut self, line: u64, ends: Option<(IpAddr, IpAddr)>) {
        self.sa.origin.line = line;
        if let Some((local, remote)) = ends {
            (self.sa.src, self.sa.dst) = (Some(remote), Some(local));
        }
    }

    pub(super) fn outbound(&mut self) {
        std::mem::swap(&mut self.sa.src, &mut self.sa.dst);
    }

    fn key(&mut self, half: KeyKind) -> &mut ListingKey {
        let [encryption, integrity] = &mut self.keys;
        if half == KeyKind::Encryption {
            encryption
        } else {
            integrity
        }
    }

    /// Takes a value.
    pub(super) fn value(&mut self, awaited: Awaited, word: &[u8], quoted: bool, line: u64) {
        match awaited {
            Awaited::Src => self.sa.src = address(word).or(self.sa.src),
            Awaited::Dst => self.sa.dst = address(word).or(self.sa.dst),
            Awaited::Protocol => self.other_protocol = word != b"esp" && word != b"50",
            Awaited::Spi => {
                // Others repeat it in brackets: `0xc7df968a(3353319050)`.
                let number = word.split(|b| *b == b'(').next().unwrap_or_default();
                self.sa.spi = self.sa.spi.or(hex::spi_number(number).map(Spi));
            }
            Awaited::HexSpi => {
                let digits = hex::after_0x(word).unwrap_or(word);
                self.sa.spi = self.sa.spi.or(hex::spi_digits(digits).map(Spi));
            }
            Awaited::Name(half) => self.name(half, word, line),
            Awaited::NamedKey => {
                let (name, key) = split_at_sign(word, b':').unwrap_or((word, b""));
                self.name(KeyKind::Encryption, name, line);
                // The characters are the key where no `0x` stands before them.
                let characters = hex::after_0x(key).is_none();
                self.value(Awaited::Key(KeyKind::Encryption), key, characters, line);
            }
            Awaited::Count(half) => self.key(half).count = fields::number(word),
            Awaited::Bits(half) => self.bits(half, word),
            Awaited::Salt => self.salt = hex::after_0x(word).and_then(hex::spi_digits),
            Awaited::Key(half) => {
                let key = self.key(half);
                if word == b"None" {
                    return; // scapy's word for no key
                }
                key.line = line;
                key.digits.clear();
                if key.add(word) {
                    key.group = key.digits.len();
                } else {
                    key.hidden = !quoted && matches!(word.first(), Some(b'<' | b'['))
                        || word.iter().all(|b| *b == b'*');
                    key.odd = !key.hidden;
                    key.text = (quoted && key.odd).then(|| Zeroizing::new(of_python(word)));
                }
            }
        }
    }

    /// A word behind a key, or at the start of the next line, that goes on with it. On the same line only groups do.
    pub(super) fn goes_on(&mut self, half: KeyKind, word: &[u8], next_line: bool) -> bool {
        let grouped = matches!(self.key(half).group, 2 | 4 | 8);
        (if next_line { !self.is_whole(half) } else { grouped })
            && !word.starts_with(b"0x")
            && self.key(half).add(word)
    }

    /// Tells whether the key is as long as its transform asks for.
    pub(super) fn is_whole(&mut self, half: KeyKind) -> bool {
        let (encryption, integrity) = (self.sa.encryption, self.sa.integrity);
        let key = self.key(half);
        let len = key.digits.len() / 2;
        let named = match half {
            KeyKind::Integrity => integrity.map(|i| len == i.key_len()),
            _ => encryption.map(|e| fits_encryption(e, len)),
        };
        let counted = key.count.map(|count| len as u64 == count);
        key.text.is_some()
            || key.hidden
            || key.digits.len().is_multiple_of(2)
                && counted
                    .or(named)
                    .unwrap_or(matches!(len, 16 | 20 | 24 | 28 | 32 | 36 | 48 | 64))
    }

    fn name(&mut self, half: KeyKind, word: &[u8], line: u64) {
        let sentence = if half == KeyKind::Integrity {
            self.sa.integrity = algorithm_names::integrity(word);
            let unknown = self.sa.integrity.is_none();
            unknown.then_some("the authentication of this SA is not supported here")
        } else {
            self.sa.encryption = algorithm_names::encryption(word);
            let unknown = self.sa.encryption.is_none();
            unknown.then_some("the encryption of this SA is not supported here")
        };
        self.wrong = self.wrong.or(sentence.map(|sentence| (line, sentence)));
    }

    fn bits(&mut self, half: KeyKind, word: &[u8]) {
        let Some(bits) = fields::number(word).and_then(|bits| u32::try_from(bits).ok()) else {
            return;
        };
        if half == KeyKind::Encryption {
            self.sa.encryption = self
                .sa
                .encryption
                .map(|e| algorithm_names::with_icv_bits(e, bits));
        } else if bits == 96 && self.sa.integrity == Some(Integrity::HmacSha256_128) {
            self.sa.integrity = Some(Integrity::HmacSha256_96);
        }
    }

    /// The SA is complete. `told` keeps hidden keys from being told SA by SA.
    pub(super) fn hand_over(self, hidden: &'static str, told: &mut bool, sink: &mut Sink<'_>) {
        if self.sa.spi.is_none() || self.other_protocol {
            return;
        }
        let (keys, mut claim) = (self.keys, self.sa);
        let [encryption_key, integrity_key] = &keys;
        let line = encryption_key.line.max(integrity_key.line).max(claim.origin.line);
        claim.origin.line = line;
        let any = |is: fn(&ListingKey) -> bool| keys.iter().any(is);
        if !any(|key| !key.digits.is_empty() || key.text.is_some()) {
            if any(|key| key.hidden) {
                if !std::mem::replace(told, true) {
                    sink.problem(line, hidden);
                }
                claim.hand_over_defective(KeyDefect::Masked, sink);
            } else if any(|key| key.line > 0) && claim.encryption == Some(Encryption::Null) {
                claim.hand_over(sink);
            }
            return;
        }
        if let Some((line, sentence)) = self.wrong {
            return sink.problem(line, sentence);
        }
        let bytes = |key: &ListingKey, what: &'static str| key.bytes().ok_or((key.line, what));
        let both = bytes(encryption_key, "the encryption key is not an even number of hex digits, or not as long as the listing says: copy it again, in a wider window")
            .and_then(|e| Ok((e, bytes(integrity_key, "the authentication key is not an even number of hex digits, or not as long as the listing says: copy it again, in a wider window")?)));
        match both {
            Ok((mut encryption, integrity)) => {
                // A salt that stands apart is not at the end of the key.
                if let (Some(aead), Some(salt)) = (
                    claim
                        .encryption
                        .filter(|e| !fits_encryption(*e, encryption.len())),
                    self.salt,
                ) && aead.salt_len() == 4
                {
                    encryption.extend_from_slice(&salt.to_be_bytes());
                }
                claim.encryption_key = encryption.as_slice().into();
                claim.integrity_key = integrity.as_slice().into();
                claim.hand_over(sink);
            }
            Err((line, sentence)) => {
                sink.problem(line, sentence);
                claim.hand_over_defective(KeyDefect::Truncated, sink);
            }
        }
    }
}

impl ListingKey {
    /// Appends a word's hex digits; false when it has others.
    fn add(&mut self, word: &[u8]) -> bool {
        let digits = hex::after_0x(word).unwrap_or(word);
        let bare: Vec<u8> = digits
            .iter()
            .copied()
            .filter(|b| !matches!(b, b':' | b'-' | b'.'))
            .collect();
        let is_hex = hex::all_digits(&bare);
        if is_hex {
            self.digits.extend_from_slice(&bare);
        }
        is_hex || word == b"0x"
    }

    fn bytes(&self) -> Option<Zeroizing<Vec<u8>>> {
        if let Some(text) = &self.text {
            return Some(text.clone());
        }
        let bytes = hex::decode(&self.digits)?;
        let counted = self.count.is_none_or(|count| count == bytes.len() as u64);
        (counted && !(self.odd && bytes.is_empty() && self.line > 0)).then(|| Zeroizing::new(bytes))
    }
}

/// The bytes of a literal of Python or C: `\x49v]…`.
fn of_python(literal: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(literal.len());
    let mut rest = literal;
    while let Some((&byte, after)) = rest.split_first() {
        let (value, len) = match (byte, after) {
            (b'\\', [b'x', a, b, ..]) => match (hex::digit(*a), hex::digit(*b)) {
                (Some(a), Some(b)) => (a << 4 | b, 3),
                _ => (byte, 0),
            },
            (b'\\', [b'n', ..]) => (b'\n', 1),
            (b'\\', [b'r', ..]) => (b'\r', 1),
            (b'\\', [b't', ..]) => (b'\t', 1),
            (b'\\', [quoted @ (b'\\' | b'\'' | b'"'), ..]) => (*quoted, 1),
            _ => (byte, 0),
        };
        out.push(value);
        rest = after.get(len..).unwrap_or_default();
    }
    out
}

/// `10.9.0.1`, `10.9.0.1/32`, or behind NAT `10.9.0.1:4500`.
fn address(text: &[u8]) -> Option<IpAddr> {
    fields::address(text).or_else(|| {
        let colon = text.iter().rposition(|b| *b == b':')?;
        fields::address(text.get(..colon)?)
    })
}

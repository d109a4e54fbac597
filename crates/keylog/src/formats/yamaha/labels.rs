//! Labels before hex. Which ones a Yamaha router prints before its keys is not documented, so a label is known by its words, not by
//! its form.

use crate::lines::algorithm_names::keymat_encryption_len;
use crate::material::key::SecretName;

const SKEYID: Kind = Kind::Secret(SecretName::Skeyid);

/// Bytes before a value in which its label's words are looked for.
const LABEL_REACH: usize = 96;

/// Meaning of a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Kind {
    /// Nothing that is known here.
    #[default]
    Unknown,
    /// A secret of phase 1.
    Secret(SecretName),
    /// Encryption key, then authentication key, of one SA.
    Keymat,
    /// Encryption key of an SA.
    EncryptionKey,
    /// Authentication key of an SA.
    IntegrityKey,
    /// A key that the label does not describe further.
    Key,
    /// An SPI: of ESP (4 bytes) or IKE (8 or 16).
    Spi,
    /// The initiator's cookie.
    InitiatorCookie,
    /// The responder's cookie.
    ResponderCookie,
    /// A shared Diffie–Hellman secret, of phase 1 or of a Quick Mode with perfect forward secrecy.
    SharedSecret,
    /// Start of an IKE message: cookies follow.
    Message,
    /// Something that is no key: an IV, a nonce.
    NoKey,
}

impl Kind {
    /// An odd number of digits lacks a part.
    pub(super) fn is_key(self) -> bool {
        !matches!(self, Kind::Unknown | Kind::NoKey | Kind::Message | Kind::Spi)
    }

    /// Mining may use its bytes.
    pub(super) fn may_hold_a_key(self) -> bool {
        matches!(
            self,
            Kind::Unknown
                | Kind::Keymat
                | Kind::EncryptionKey
                | Kind::IntegrityKey
                | Kind::Key
                | Kind::Message
        )
    }

    /// Tells whether that many bytes can be all of such a value.
    pub(super) fn is_whole(self, len: usize) -> bool {
        match self {
            Kind::EncryptionKey | Kind::Secret(SecretName::Ka | SecretName::SkEi | SecretName::SkEr) => {
                matches!(len, 8 | 16 | 20 | 24 | 28 | 32 | 36)
            }
            Kind::Key | Kind::Keymat => keymat_encryption_len(len, None, None).is_some(),
            Kind::Spi => matches!(len, 4 | 8 | 16),
            Kind::SharedSecret | Kind::Unknown | Kind::NoKey | Kind::Message => false,
            // The length is that of one digest.
            _ => matches!(len, 16 | 20 | 32 | 48 | 64),
        }
    }
}

/// Kind of a label by its words; the last one that says anything decides.
pub(crate) fn kind(label: &[u8]) -> Kind {
    let start = label.len().saturating_sub(LABEL_REACH);
    let mut reader = LabelReader::default();
    for word in label
        .get(start..)
        .unwrap_or_default()
        .split(|b| !b.is_ascii_alphanumeric() && *b != b'_')
    {
        if !word.is_empty() && word.len() <= 24 {
            reader.word(&word.to_ascii_lowercase());
        }
    }
    match reader.kind {
        Kind::EncryptionKey if reader.of_ike => Kind::Secret(SecretName::Ka),
        Kind::Unknown if reader.for_integrity => Kind::IntegrityKey,
        kind => kind,
    }
}

#[derive(Default)]
struct LabelReader {
    kind: Kind,
    encryption: bool,
    integrity: bool,
    initiator: bool,
    responder: bool,
    of_ike: bool,
    diffie_hellman: bool,
    /// "shared" stood before, and not "pre" before that.
    shared: bool,
    pre: bool,
    /// "for" stood right before: `Key: … (for Auth.: …)`.
    after_for: bool,
    for_integrity: bool,
}

impl LabelReader {
    fn word(&mut self, word: &[u8]) {
        self.kind = match word {
            b"d" if self.kind == SKEYID => Kind::Secret(SecretName::SkeyidD),
            b"a" if self.kind == SKEYID => Kind::Secret(SecretName::SkeyidA),
            b"e" if self.kind == SKEYID => Kind::Secret(SecretName::SkeyidE),
            b"keymat" => Kind::Keymat,
            b"secret" if self.diffie_hellman || self.shared => Kind::SharedSecret,
            b"xy" | b"gxy" | b"g_xy" => Kind::SharedSecret,
            b"iv" | b"nonce" | b"ni" | b"nr" | b"hash" => Kind::NoKey,
            b"spi" => Kind::Spi,
            b"icookie" | b"i_cookie" => Kind::InitiatorCookie,
            b"rcookie" | b"r_cookie" => Kind::ResponderCookie,
            b"cookie" if self.responder => Kind::ResponderCookie,
            b"cookie" if self.initiator => Kind::InitiatorCookie,
            b"message" => Kind::Message,
            b"key" | b"keys" => self.key(),
            _ => match SecretName::named(word) {
                Some(name) => Kind::Secret(name),
                None => return self.describing_word(word),
            },
        };
    }

    /// Words that describe a later one, or `enckey` written together.
    fn describing_word(&mut self, word: &[u8]) {
        if word.starts_with(b"enc") || word.starts_with(b"cipher") {
            (self.encryption, self.integrity) = (true, false);
        } else if word.starts_with(b"auth") || word.starts_with(b"integ") || word.starts_with(b"hmac") {
            (self.encryption, self.integrity) = (false, true);
            self.for_integrity = self.after_for;
        } else {
            self.initiator = word == b"initiator" || (self.initiator && word != b"responder");
            self.responder = word == b"responder" || (self.responder && word != b"initiator");
            self.of_ike |= matches!(word, b"ike" | b"isakmp" | b"phase1");
            self.diffie_hellman |= matches!(word, b"dh" | b"diffie");
            self.shared |= word == b"shared" && !self.pre;
            (self.pre, self.after_for) = (word == b"pre", word == b"for");
            return;
        }
        if word.ends_with(b"key") {
            self.kind = self.key();
        }
    }

    fn key(&self) -> Kind {
        match (self.encryption, self.integrity) {
            _ if self.diffie_hellman => Kind::SharedSecret,
            (true, _) => Kind::EncryptionKey,
            (_, true) => Kind::IntegrityKey,
            _ => Kind::Key,
        }
    }
}

/// The router shows that there is a key, but not its bytes.
pub(crate) fn is_masked(text: &[u8]) -> bool {
    memchr::memmem::find(text, b"** **").is_some() || memchr::memmem::find(text, b"(confidential)").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_by_their_words() {
        for (label, want) in [
            ("ESP encryption key (AES-CBC)", Kind::EncryptionKey),
            ("IKE enc key", Kind::Secret(SecretName::Ka)),
            ("enckey", Kind::EncryptionKey),
            ("Integrity Key", Kind::IntegrityKey),
            ("Initiator cookie", Kind::InitiatorCookie),
            ("R_COOKIE", Kind::ResponderCookie),
            ("SK_ei", Kind::Secret(SecretName::SkEi)),
            ("Ka", Kind::Secret(SecretName::Ka)),
            ("SK_ai", Kind::Secret(SecretName::SkAi)),
            ("SK_d", Kind::Secret(SecretName::SkD)),
            ("SKEYSEED", Kind::Secret(SecretName::Skeyseed)),
            ("SKEYID a", Kind::Secret(SecretName::SkeyidA)),
            ("Diffie-Hellman secret", Kind::SharedSecret),
            ("secret", Kind::Unknown),
            ("IV", Kind::NoKey),
            ("DH shared secret", Kind::SharedSecret),
            ("Diffie-Hellman secret", Kind::SharedSecret),
            ("g^xy", Kind::SharedSecret),
            ("DH shared key", Kind::SharedSecret),
            ("pre-shared key", Kind::Key),
            ("pre-shared secret", Kind::Unknown),
            ("(for Auth.", Kind::IntegrityKey),
            ("whatever", Kind::Unknown),
        ] {
            assert_eq!(kind(label.as_bytes()), want, "{label}");
        }
    }
}

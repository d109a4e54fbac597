//! VPP's `show ikev2 sa details`. A value of more than 32 bytes is a dump with offsets; the salt of a child's combined mode is not shown, but SK_d
//! gives its keys.
//!
//! ```text
//!  iip 10.9.0.2 ispi f717b0cbd17e27c3 rip 10.9.0.1 rspi e9b7af7fc9b13361
//!  SK_d    96bd4feb…
//!  SK_e  i:00000000: 5b75b9d8…
//!          00000020: c4db9114
//!        r:00000000: 95121b63…
//!    child sa 0:encr:aes-cbc-128 integ:sha1-96 esn:no
//!     spi(i) 9dffd57a spi(r) c4e0ef53
//!     SK_e  i:290c6816…
//!           r:0a09fa18…
//! ```

use crate::formats::format::KeyFormat;
use crate::lines::fields::{word_after, words};
use crate::lines::hex;
use crate::lines::outer::LogLine;
use crate::material::claim::Claim;
use crate::material::key::IkeSecrets;
use crate::material::sink::Sink;
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::{IkeSpi, Spi};
use zeroize::Zeroizing;

/// Reader of the listing.
#[derive(Default)]
pub(crate) struct VppIke {
    sa: Option<ListedSa>,
}

/// An IKE SA, or a child of it.
#[derive(Default)]
struct ListedSa {
    line: u64,
    ike: Option<(IkeSpi, IkeSpi)>,
    child: Option<(Spi, Spi)>,
    is_child: bool,
    /// The values of `SK_d`, `SK_e`, `SK_a` of the initiator, then of the responder, in hex.
    values: Vec<(Name, Zeroizing<Vec<u8>>)>,
    open: Option<u8>,
}

/// A value: the letter of its name, and the side.
type Name = (u8, u8);

impl KeyFormat for VppIke {
    fn line(&mut self, line: &LogLine<'_>, sink: &mut Sink<'_>) -> bool {
        let text = line.text;
        let begins = text.starts_with(b"iip ").then(|| {
            let spi = |name: &[u8]| hex::decode(word_after(text, name)?)?.try_into().ok().map(IkeSpi);
            Some((spi(b"ispi")?, spi(b"rspi")?))
        });
        if let Some(Some(ike)) = begins {
            self.finish(sink);
            self.sa = Some(ListedSa {
                line: line.number,
                ike: Some(ike),
                ..ListedSa::default()
            });
            return true;
        }
        let Some(sa) = &mut self.sa else { return false };
        if text.starts_with(b"child sa ") {
            self.finish(sink);
            self.sa = Some(ListedSa {
                line: line.number,
                is_child: true,
                ..ListedSa::default()
            });
            return true;
        }
        if text.starts_with(b"spi(i) ") {
            let spi = |name: &[u8]| word_after(text, name).and_then(hex::spi_digits).map(Spi);
            sa.child = spi(b"spi(i)").zip(spi(b"spi(r)"));
            return true;
        }
        sa.value(text)
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        if let Some(sa) = self.sa.take() {
            sa.hand_over(sink);
        }
    }
}

/// Tells whether a line begins an IKE SA.
pub(crate) fn begins(line: &[u8]) -> bool {
    line.starts_with(b"iip ") && word_after(line, b"ispi").is_some()
}

impl ListedSa {
    /// `SK_e  i:…`, a side of the value above (`r:…`), or a row of a dump.
    fn value(&mut self, text: &[u8]) -> bool {
        let named = text.strip_prefix(b"SK_").and_then(<[u8]>::split_first);
        let rest = match named {
            Some((letter, rest)) => {
                self.open = Some(*letter);
                rest.trim_ascii_start()
            }
            None => text,
        };
        let Some(letter) = self.open else { return false };
        let (side, rest) = match rest {
            [side @ (b'i' | b'r'), b':', rest @ ..] => (*side, rest),
            _ if letter == b'd' && named.is_some() => (b'i', rest),
            _ => (0, rest),
        };
        let digits: Option<Vec<&[u8]>> = words(rest)
            .filter(|word| !word.ends_with(b":"))
            .map(|word| hex::all_digits(word).then_some(word))
            .collect();
        let Some(digits) = digits
            .filter(|digits| !digits.is_empty())
            .map(|digits| digits.concat())
        else {
            self.open = None;
            return false;
        };
        match self.values.last_mut() {
            Some((_, value)) if side == 0 => value.extend_from_slice(&digits),
            _ => self.values.push(((letter, side), Zeroizing::new(digits))),
        }
        true
    }

    fn take(&mut self, name: Name) -> Option<Vec<u8>> {
        let at = self.values.iter().position(|(known, _)| *known == name)?;
        hex::decode(&self.values.swap_remove(at).1)
    }

    fn hand_over(mut self, sink: &mut Sink<'_>) {
        let [encryption_i, encryption_r, integrity_i, integrity_r, sk_d] = [
            (b'e', b'i'),
            (b'e', b'r'),
            (b'a', b'i'),
            (b'a', b'r'),
            (b'd', b'i'),
        ]
        .map(|name| self.take(name));
        if let Some((initiator, responder)) = self.ike.filter(|_| encryption_i.is_some() || sk_d.is_some()) {
            let [sk_ei, sk_er, sk_ai, sk_ar, sk_d] =
                [encryption_i, encryption_r, integrity_i, integrity_r, sk_d]
                    .map(|key| key.map(SecretBytes::new));
            let secrets = IkeSecrets {
                sk_ei,
                sk_er,
                sk_ai,
                sk_ar,
                sk_d,
                ..IkeSecrets::default()
            };
            sink.secrets(self.line, (Some(initiator), Some(responder)), secrets);
        } else if let Some((initiator, responder)) = self.child.filter(|_| self.is_child) {
            // A packet of the initiator carries the SPI that the responder chose.
            let sides = [
                (responder, encryption_i, integrity_i),
                (initiator, encryption_r, integrity_r),
            ];
            for (spi, encryption, integrity) in sides {
                sink.sighting(self.line, spi);
                if let (Some(encryption), Some(integrity)) = (encryption, integrity) {
                    let claim = Claim {
                        line: self.line,
                        spi: Some(spi),
                        encryption_key: encryption.into(),
                        integrity_key: integrity.into(),
                        ..Claim::default()
                    };
                    claim.hand_over(sink);
                }
            }
        }
    }
}

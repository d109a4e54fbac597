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
use crate::material::ike_record::{IkeRecord, ike_spi};
use crate::material::key::{EspKey, SecretName};
use crate::material::sink::Sink;
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::{IkeSpi, Spi};
use zeroize::Zeroizing;

/// Reader of the listing.
#[derive(Default)]
pub(crate) struct VppIke {
    sa: Option<ListedSa>,
}

/// An IKE SA with its cookies, or a child of it with its SPIs.
#[derive(Default)]
struct ListedSa {
    line: u64,
    ike: Option<(IkeSpi, IkeSpi)>,
    child: Option<(Spi, Spi)>,
    /// Values by their names in RFC 7296, `sk_ei` and its like, in hex.
    values: Vec<(Vec<u8>, Zeroizing<Vec<u8>>)>,
    /// The letter of the value to which the next row belongs.
    open: Option<u8>,
}

impl KeyFormat for VppIke {
    fn line(&mut self, line: &LogLine<'_>, sink: &mut Sink<'_>) -> bool {
        let text = line.text;
        let spi = |name: &[u8]| ike_spi(&hex::decode(word_after(text, name)?)?);
        let begins = text.starts_with(b"iip ");
        let ike = begins.then(|| spi(b"ispi").zip(spi(b"rspi"))).flatten();
        if ike.is_some() || self.sa.is_some() && text.starts_with(b"child sa ") {
            self.finish(sink);
            self.sa = Some(ListedSa {
                line: line.number,
                ike,
                ..ListedSa::default()
            });
            return true;
        }
        let Some(sa) = &mut self.sa else { return false };
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
        let (name, rest) = match rest {
            [side @ (b'i' | b'r'), b':', rest @ ..] => (vec![b's', b'k', b'_', letter, *side], rest),
            _ if letter == b'd' && named.is_some() => (b"sk_d".to_vec(), rest),
            _ => (Vec::new(), rest),
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
            Some((_, value)) if name.is_empty() => value.extend_from_slice(&digits),
            _ => self.values.push((name, Zeroizing::new(digits))),
        }
        true
    }

    fn hand_over(self, sink: &mut Sink<'_>) {
        if let Some((initiator, responder)) = self.ike {
            let mut record = IkeRecord::default();
            record.initiator(Some(initiator), sink);
            record.responder(Some(responder));
            for (name, value) in &self.values {
                if let (Some(name), Some(secret)) = (SecretName::named(name), hex::decode(value)) {
                    record.secret(name, self.line, &secret, sink);
                }
            }
            return record.emit(sink);
        }
        let Some((initiator, responder)) = self.child else {
            return;
        };
        let value = |name: &[u8]| {
            let (_, value) = self.values.iter().find(|(known, _)| known == name)?;
            hex::decode(value)
        };
        // A packet of the initiator carries the SPI that the responder chose.
        let sides = [
            (responder, value(b"sk_ei"), value(b"sk_ai")),
            (initiator, value(b"sk_er"), value(b"sk_ar")),
        ];
        for (spi, encryption, integrity) in sides {
            sink.sighting(self.line, spi);
            if let (Some(encryption), Some(integrity)) = (encryption, integrity) {
                let claim = EspKey {
                    spi: Some(spi),
                    encryption_key: SecretBytes::new(encryption),
                    integrity_key: SecretBytes::new(integrity),
                    ..EspKey::at(self.line)
                };
                claim.hand_over(sink);
            }
        }
    }
}

//! Linux: `ip xfrm state`, `ip xfrm monitor` (also with timestamps), `ip xfrm state add` commands.
//!
//! ```text
//! [2026-11-20T20:11:53.874136] Updated src 10.9.0.1 dst 10.9.0.2
//!         proto esp spi 0xc7df968a reqid 1 mode transport
//!         auth-trunc hmac(sha1) 0x… 96
//!         enc cbc(aes) 0x…
//!         aead rfc4106(gcm(aes)) 0x… 128
//! ```

use crate::formats::format::KeyFormat;
use crate::lines::fields::{address, find, words};
use crate::lines::outer::LogLine;
use crate::lines::{algorithm_names, hex};
use crate::material::claim::Claim;
use crate::material::key::KeyDefect;
use crate::material::sink::Sink;
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_model::spi::Spi;

/// First words of the lines that describe an SA further.
const DETAILS: [&[u8]; 32] = [
    b"proto",
    b"replay-window",
    b"replay",
    b"seq",
    b"auth",
    b"auth-trunc",
    b"enc",
    b"aead",
    b"comp",
    b"encap",
    b"coa",
    b"anti-replay",
    b"lifetime",
    b"limit:",
    b"expire",
    b"stats:",
    b"current:",
    b"add",
    b"used",
    b"lastused",
    b"mark",
    b"output-mark",
    b"if_id",
    b"security",
    b"sel",
    b"crypto",
    b"dir",
    b"tfcpad:",
    b"hard",
    b"soft",
    b"flag",
    b"offload",
];

/// Reader of the listing.
#[derive(Default)]
pub(crate) struct Xfrm {
    block: Option<StateBlock>,
    told_hidden: bool,
}

#[derive(Default)]
struct StateBlock {
    claim: Claim,
    esp: bool,
    keyed: bool,
    hidden: bool,
    /// A key is hex, but not all of it.
    cut: bool,
    wrong: Option<&'static str>,
}

impl KeyFormat for Xfrm {
    fn line(&mut self, line: &LogLine<'_>, sink: &mut Sink<'_>) -> bool {
        if let Some(header) = header(line.raw) {
            self.finish(sink);
            let mut block = StateBlock::default();
            block.words(header, line.number);
            self.block = Some(block);
            return true;
        }
        let known = words(line.raw).next().is_some_and(|word| DETAILS.contains(&word));
        let Some(block) = self.block.as_mut().filter(|_| known) else {
            self.finish(sink);
            return false;
        };
        block.words(line.raw, line.number);
        true
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        let Some(block) = self.block.take().filter(|block| block.esp) else {
            return;
        };
        if let Some(sentence) = block.wrong {
            sink.problem(block.claim.line, sentence);
            if block.cut {
                block.claim.hand_over_defective(KeyDefect::Truncated, sink);
            }
        } else if block.keyed {
            block.claim.hand_over(sink);
        } else if block.hidden {
            if !self.told_hidden {
                self.told_hidden = true;
                sink.problem(
                    block.claim.line,
                    "the kernel hides the keys: run `ip xfrm state` as root, without `nokeys`",
                );
            }
            block.claim.hand_over_defective(KeyDefect::Masked, sink);
        }
    }
}

/// The part from `src` on of a line that starts an SA: `[time] Updated src A dst B`, `ip xfrm state add src A dst B …`.
fn header(raw: &[u8]) -> Option<&[u8]> {
    let text = raw.trim_ascii_start();
    if !matches!(
        text.first(),
        Some(b's' | b'[' | b'U' | b'D' | b'E' | b'i' | b'#' | b'$')
    ) || memchr::memchr(b'.', text).is_none() && memchr::memchr(b':', text).is_none()
    {
        return None;
    }
    let at = if raw.starts_with(b"src ") {
        0
    } else {
        find(raw, b" src ")? + 1
    };
    let before = raw.get(..at)?.trim_ascii_end();
    let rest = raw.get(at..)?;
    let told = before.is_empty()
        || before.ends_with(b"]")
        || [&b"Updated"[..], b"Deleted", b"Expired", b"add", b"update"]
            .iter()
            .any(|word| before.ends_with(word));
    let mut words = words(rest);
    let shape = words.next() == Some(b"src")
        && words.next().is_some_and(|w| address(w).is_some())
        && words.next() == Some(b"dst")
        && words.next().is_some_and(|w| address(w).is_some());
    (told && shape).then_some(rest)
}

impl StateBlock {
    fn words(&mut self, text: &[u8], line: u64) {
        let mut words = words(text);
        while let Some(word) = words.next() {
            match word {
                b"sel" | b"encap" => return, // selectors and UDP encapsulation have addresses of their own
                b"src" => self.claim.src = words.next().and_then(address),
                b"dst" => self.claim.dst = words.next().and_then(address),
                b"proto" => self.esp = words.next() == Some(b"esp"),
                b"spi" => self.claim.spi = words.next().and_then(hex::spi_number).map(Spi),
                b"enc" => self.encryption(words.next(), words.next(), None, line),
                b"aead" => self.encryption(words.next(), words.next(), words.next(), line),
                b"auth" | b"auth-trunc" => {
                    let (name, key) = (words.next(), words.next());
                    let bits = if word == b"auth-trunc" { words.next() } else { None };
                    self.integrity(name, key, bits, line);
                }
                _ => {}
            }
        }
    }

    fn encryption(&mut self, name: Option<&[u8]>, key: Option<&[u8]>, icv_bits: Option<&[u8]>, line: u64) {
        let encryption = name.and_then(Encryption::named);
        let Some(encryption) = encryption else {
            self.wrong = Some("the encryption of this SA is not supported here");
            self.claim.line = line;
            return;
        };
        self.claim.encryption = Some(
            match icv_bits.and_then(|bits| std::str::from_utf8(bits).ok()?.parse().ok()) {
                Some(bits) => algorithm_names::with_icv_bits(encryption, bits),
                None => encryption,
            },
        );
        if let Some(key) = self.key(key, encryption == Encryption::Null, line) {
            self.claim.encryption_key = key.into();
        }
    }

    fn integrity(&mut self, name: Option<&[u8]>, key: Option<&[u8]>, bits: Option<&[u8]>, line: u64) {
        let integrity = match (name.and_then(Integrity::named), bits) {
            (Some(Integrity::HmacSha256_128), Some(b"96")) => Some(Integrity::HmacSha256_96),
            (Some(integrity), _) => Some(integrity),
            (None, _) => {
                self.wrong = Some("the authentication of this SA is not supported here");
                self.claim.line = line;
                None
            }
        };
        self.claim.integrity = integrity;
        if let Some(key) = self.key(key, integrity == Some(Integrity::None), line) {
            self.claim.integrity_key = key.into();
        }
    }

    /// Hex after `0x`; `<<Keys hidden>>` is none.
    fn key(&mut self, text: Option<&[u8]>, may_lack: bool, line: u64) -> Option<Vec<u8>> {
        self.claim.line = line;
        let text = text.unwrap_or_default();
        if text.starts_with(b"<") {
            self.hidden = true;
            return None;
        }
        let key = hex::after_0x(text).and_then(hex::decode);
        self.keyed |= key.is_some();
        if key.is_none() && !may_lack {
            self.cut |= hex::is_cut(hex::after_0x(text).unwrap_or_default());
            self.wrong = Some("the key is not 0x and an even number of hex digits: copy the listing again");
        }
        key
    }
}

//! A secrets file of `tcpdump -E`: `0x12345678@1.2.3.4 aes128-cbc-hmac96:0x…`. It knows no authentication keys, so
//! what it gives cannot be proven by an ICV.

use crate::formats::format::KeyFormat;
use crate::lines::fields::{address, words};
use crate::lines::hex;
use crate::lines::outer::LogLine;
use crate::material::claim::Claim;
use crate::material::key::KeyDefect;
use crate::material::sink::Sink;
use rekeyscope_model::algorithm::Encryption;
use rekeyscope_model::spi::Spi;

/// Reader of the file.
pub(crate) struct TcpdumpE;

impl KeyFormat for TcpdumpE {
    fn line(&mut self, line: &LogLine<'_>, sink: &mut Sink<'_>) -> bool {
        let Some(at) = memchr::memchr(b'@', line.text.get(..line.text.len().min(32)).unwrap_or_default())
        else {
            return false;
        };
        let (spi, rest) = line.text.split_at(at);
        let mut words = words(rest.get(1..).unwrap_or_default());
        let (Some(host), Some(secret)) = (words.next(), words.next()) else {
            return false;
        };
        let Some(spi) = hex::after_0x(spi.trim_ascii()).and_then(hex::spi_digits) else {
            return false;
        };
        let Some(colon) = secret.iter().position(|b| *b == b':') else {
            return false;
        };
        let (name, key) = (
            secret.get(..colon).unwrap_or_default(),
            secret.get(colon + 1..).unwrap_or_default(),
        );
        let Some(dst) = address(host) else {
            sink.problem(
                line.number,
                "the part after @ is no IP address: write the destination of the SA there",
            );
            return true;
        };
        let mut claim = Claim {
            line: line.number,
            dst: Some(dst),
            spi: Some(Spi(spi)),
            ..Claim::default()
        };
        match encryption(name) {
            Ok(encryption) => claim.encryption = Some(encryption),
            Err(sentence) => {
                sink.problem(line.number, sentence);
                return true;
            }
        }
        match hex::after_0x(key).map(|digits| hex::decode(digits).ok_or(hex::is_cut(digits))) {
            None => claim.encryption_key = key.to_vec().into(),
            Some(Ok(key)) => claim.encryption_key = key.into(),
            Some(Err(cut)) => {
                sink.problem(
                    line.number,
                    "the key is not an even number of hex digits: copy it again",
                );
                if cut {
                    claim.hand_over_defective(KeyDefect::Truncated, sink);
                }
                return true;
            }
        }
        claim.hand_over(sink);
        true
    }
}

/// `aes128-cbc-hmac96`, `aes-256-cbc`, `3des-cbc`: the key's length and the ICV's are part of the name.
fn encryption(name: &[u8]) -> Result<Encryption, &'static str> {
    let name = name.strip_suffix(b"-hmac96").unwrap_or(name);
    let family = name.strip_prefix(b"aes").map(|rest| rest.trim_ascii_start());
    let mode = family.map(|rest| {
        let digits = rest
            .iter()
            .take_while(|b| b.is_ascii_digit() || **b == b'-')
            .count();
        rest.get(digits..).unwrap_or_default()
    });
    match (mode, name) {
        (Some(b"cbc"), _) => Ok(Encryption::AesCbc),
        (Some(b"ctr"), _) => Ok(Encryption::AesCtr),
        (_, b"none") => Ok(Encryption::Null),
        (_, name) => Encryption::named(name).ok_or(
            "the encryption of this row is not supported here: aes128-cbc, aes256-cbc, 3des-cbc, des-cbc are",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_the_key_is_part_of_the_name() {
        for (name, expected) in [
            (&b"aes128-cbc-hmac96"[..], Some(Encryption::AesCbc)),
            (b"aes-256-cbc", Some(Encryption::AesCbc)),
            (b"aes192cbc", Some(Encryption::AesCbc)),
            (b"aes256-ctr", Some(Encryption::AesCtr)),
            (b"none", Some(Encryption::Null)),
            (b"aes128-ecb", None),
            (b"rot13", None),
        ] {
            assert_eq!(
                encryption(name).ok(),
                expected,
                "{}",
                String::from_utf8_lossy(name)
            );
        }
    }
}

//! ESP suites by the names of strongSwan's `esp_proposals`: `aes128-sha1`, `aes256gcm16`, `3des-md5`, `null-md5`.

use rekeyscope_model::algorithm::{Encryption, Integrity, Transform};

const ACCEPTED: &str = "aes128-sha1 and the like. Encryption: aes128 aes192 aes256 (CBC), aes128ctr, aes128gcm8 gcm12 gcm16, aes128ccm8 \
                        ccm12 ccm16, aes128gmac (each also with 192 and 256), chacha20poly1305, 3des, des, camellia128 192 \
                        256, null. Integrity: md5 sha1 sha256 sha256_96 sha384 sha512 aesxcbc aescmac, none with gcm, ccm, gmac and \
                        chacha20poly1305";
/// Parts of a proposal that do not change packets: key exchange groups, sequence number sizes.
const WITHOUT_BYTES: [&str; 6] = ["modp", "ecp", "curve", "x25519", "esn", "noesn"];

/// A cipher suite, as far as it makes sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Suite {
    /// The transform.
    pub transform: Transform,
}

impl Suite {
    /// By strongSwan's name.
    ///
    /// # Errors
    /// A sentence that says what is accepted.
    pub fn named(name: &str) -> Result<Self, String> {
        let lower = name.to_ascii_lowercase();
        let mut parts = lower.split('-');
        let first = parts.next().unwrap_or_default();
        let (encryption, key_len) = encryption(first).ok_or_else(|| unknown(name, first))?;
        let mut found = None;
        for part in parts.filter(|part| !WITHOUT_BYTES.iter().any(|w| part.starts_with(w))) {
            let integrity = integrity(part).ok_or_else(|| unknown(name, part))?;
            if found.replace(integrity).is_some() {
                return Err(format!("'{name}' names two integrity algorithms: expected one"));
            }
        }
        let integrity = match (encryption.is_aead(), found) {
            (true, None) => Integrity::None,
            (true, Some(_)) => {
                return Err(format!(
                    "{first} brings its own ICV: leave the integrity algorithm of '{name}' out"
                ));
            }
            (false, Some(integrity)) => integrity,
            (false, None) => {
                return Err(format!(
                    "'{name}' lacks an integrity algorithm, for example {name}-sha1"
                ));
            }
        };
        Ok(Suite {
            transform: Transform {
                encryption,
                key_len,
                integrity,
            },
        })
    }

    /// Explicit IV, bytes.
    pub fn iv(&self) -> usize {
        self.transform.encryption.iv_len()
    }

    /// Payload and trailer are padded to a multiple of this, bytes (RFC 4303 §2.4: at least 4).
    pub fn align(&self) -> usize {
        self.transform.encryption.block_len().max(4)
    }

    /// ICV, bytes.
    pub fn icv(&self) -> usize {
        let own = self.transform.encryption.row().icv_len;
        own.max(self.transform.integrity.icv_len())
    }
}

fn unknown(name: &str, part: &str) -> String {
    format!("'{part}' in the suite '{name}' is not known: expected {ACCEPTED}")
}

fn encryption(name: &str) -> Option<(Encryption, Option<usize>)> {
    Encryption::rows().find_map(|row| {
        let key_len = |keyword: &&str| key_len(keyword, name, row.key_lens);
        Some((row.encryption, Some(row.proposals.iter().find_map(key_len)?)))
    })
}

/// The key length in bytes that `name` says, where it is `keyword` with one of `lens` in bits, or with none, in place of `{}`.
fn key_len(keyword: &str, name: &str, lens: &[usize]) -> Option<usize> {
    let (before, after) = keyword.split_once("{}").unwrap_or((keyword, ""));
    match name.strip_prefix(before)?.strip_suffix(after)? {
        "" => lens.first().copied(),
        bits if keyword.contains("{}") => lens.iter().copied().find(|len| bits == (len * 8).to_string()),
        _ => None,
    }
}

fn integrity(name: &str) -> Option<Integrity> {
    let row = Integrity::rows().find(|row| row.proposals.contains(&name))?;
    Some(row.integrity)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// IV, alignment and ICV by the RFC of each transform.
    #[test]
    fn the_lengths_are_those_of_the_rfcs() {
        for (name, iv, align, icv) in [
            ("aes128-sha1", 16, 16, 12),
            ("aes256-sha256-modp2048", 16, 16, 16),
            ("aes192-sha384", 16, 16, 24),
            ("aes-sha512", 16, 16, 32),
            ("aes256-sha256_96", 16, 16, 12),
            ("camellia256-aesxcbc", 16, 16, 12),
            ("3des-md5", 8, 8, 12),
            ("des-aescmac", 8, 8, 12),
            ("null-md5", 0, 4, 12),
            ("aes128ctr-sha1", 8, 4, 12),
            ("aes128gcm16-ecp256-esn", 8, 4, 16),
            ("AES256GCM8", 8, 4, 8),
            ("aes256gcm96", 8, 4, 12),
            ("aes128ccm12", 8, 4, 12),
            ("aes256gmac", 8, 4, 16),
            ("chacha20poly1305", 8, 4, 16),
        ] {
            let suite = Suite::named(name).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(
                (suite.iv(), suite.align(), suite.icv()),
                (iv, align, icv),
                "{name}"
            );
        }
    }

    #[test]
    fn what_is_no_suite_is_told_from_what_is() {
        for (name, told) in [
            ("aes128", "lacks an integrity algorithm"),
            ("aes128gcm16-sha1", "brings its own ICV"),
            ("aes128-sha1-md5", "two integrity"),
            ("blowfish-sha1", "chacha20poly1305"),
            ("aes128-sha3", "'sha3' in the suite"),
            ("aes100-sha1", "aes192"),
            ("", "expected"),
        ] {
            let error = Suite::named(name).unwrap_err();
            assert!(error.contains(told), "{name}: {error}");
        }
    }
}

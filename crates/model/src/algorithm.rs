//! Names of the ESP transforms, shared by IKE (which negotiates them), key logs (which give their keys) and ESP
//! (which runs them).

mod encryption;
mod integrity;
mod spelling;

pub use encryption::{Encryption, EncryptionRow};
pub use integrity::{Integrity, IntegrityRow};

/// A full ESP transform: what an SA was negotiated to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Transform {
    /// The cipher.
    pub encryption: Encryption,
    /// Key length in bytes without salt; `None` while unknown.
    pub key_len: Option<usize>,
    /// The integrity algorithm ([`Integrity::None`] for an AEAD).
    pub integrity: Integrity,
}

/// The keyword of strongSwan's `esp_proposals` for transforms that reports name so; `None` of one that has none.
pub fn proposal(encryption: &str, integrity: &str) -> Option<String> {
    let of = |row: &EncryptionRow| {
        let bits = encryption.strip_prefix(row.name)?.trim_start_matches('-');
        let known = bits.is_empty() || row.key_lens.iter().any(|len| bits == (len * 8).to_string());
        Some(row.proposals.first()?.replace("{}", bits)).filter(|_| known)
    };
    let cipher = Encryption::rows().find_map(of)?;
    let beside = Integrity::rows().find(|row| row.name == integrity)?;
    Some(match beside.proposals.first() {
        Some(keyword) => format!("{cipher}-{keyword}"),
        None => cipher,
    })
}

impl Transform {
    /// `AES-CBC-128`, `AES-GCM-16-256`, `NULL`: the cipher with its key length in bits.
    pub fn encryption_name(&self) -> String {
        match self.key_len {
            Some(bytes) if self.encryption.key_lens().len() > 1 => {
                format!("{}-{}", self.encryption, bytes * 8)
            }
            _ => self.encryption.to_string(),
        }
    }
}

//! Key bytes: zeroized when dropped, never shown.

use std::fmt;
use std::hash::{Hash, Hasher};
use zeroize::Zeroizing;

/// Key material. `Debug` shows the length only; the bytes are wiped on drop.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct SecretBytes(Zeroizing<Vec<u8>>);

impl SecretBytes {
    /// Takes the bytes over.
    pub fn new(bytes: Vec<u8>) -> Self {
        SecretBytes(Zeroizing::new(bytes))
    }

    /// The bytes themselves. Every call is a place to audit: they may go into a cipher or into a key table that the
    /// user asked for, nowhere else.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True for a key of no bytes (NULL encryption, AEAD integrity).
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&[u8]> for SecretBytes {
    fn from(bytes: &[u8]) -> Self {
        SecretBytes::new(bytes.to_vec())
    }
}

impl Hash for SecretBytes {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.expose().hash(state);
    }
}

impl fmt::Debug for SecretBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{} secret bytes>", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_no_byte() {
        let shown = format!("{:?}", SecretBytes::new(vec![0xab; 16]));
        assert_eq!(shown, "<16 secret bytes>");
    }
}

//! Keys: where one came from, and the files that were read for them.

use crate::analysis::names::KeyStatus;
use crate::analysis::plain_data::plain_data;

plain_data! {
    /// The source of a key and how far it is trusted.
    pub struct Key {
        /// Trust in the key.
        pub status: KeyStatus,
        /// Place of the key, for example `keys.esp_sa:3 (explicit)` or `trace.pcapng, Decryption Secrets Block 1, line 3 (explicit)`; `null` without
        /// a key.
        pub source: Option<String>,
    }
    /// A key file that was read.
    pub struct KeyFile {
        /// Path as given or found; of keys inside the capture, the capture.
        pub path: String,
        /// The number of the Decryption Secrets Block of the capture that holds the keys; `null` for a file of its own.
        pub block: Option<u64>,
        /// Formats recognised in it, for example `esp_sa`.
        pub formats: Vec<String>,
        /// ESP keys in it.
        pub esp_keys: u64,
        /// IKE keys in it.
        pub ike_keys: u64,
        /// Rows that could not be read: the place as a key's source has it, a colon, and what to do.
        pub problems: Vec<String>,
    }
}

impl KeyFile {
    /// Tells whether a key was found in it.
    pub fn holds_keys(&self) -> bool {
        self.esp_keys > 0 || self.ike_keys > 0
    }
}

/// The keys that were read, by what they open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeysFit {
    /// Keys open an SA or more.
    Some,
    /// None, though there were keys: they are of another run, or were copied wrongly.
    Nothing,
    /// None opens anything, because the packets were cut.
    Cut,
    /// There were no keys.
    Absent,
}

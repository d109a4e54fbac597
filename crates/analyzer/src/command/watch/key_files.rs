//! Key files that grow while the capture goes on: a router writes its log, charon its table.

use crate::command::options::Input;
use crate::command::{output, read};
use rekeyscope_capture::file::EspSecrets;
use rekeyscope_keylog::KeyMaterial;
use std::path::PathBuf;
use std::time::SystemTime;

/// State by which a changed file is known.
type FileState = Option<(u64, Option<SystemTime>)>;

/// The key files, and those inside the capture.
pub(super) struct GrowingKeys {
    input: Input,
    /// Blocks with keys in the capture.
    secrets: Vec<EspSecrets>,
    states: Vec<FileState>,
    changed: bool,
}

impl GrowingKeys {
    pub(super) fn new(input: Input, secrets: Vec<EspSecrets>) -> Self {
        let mut keys = GrowingKeys {
            input,
            secrets,
            states: Vec::new(),
            changed: false,
        };
        keys.states = keys.states_now();
        keys
    }

    /// Tells whether there is a file that keys may come to.
    pub(super) fn may_grow(&self) -> bool {
        self.files().next().is_some()
    }

    /// Keys inside the capture came.
    pub(super) fn met(&mut self, secrets: Vec<EspSecrets>) {
        self.secrets.extend(secrets);
        self.changed = true;
    }

    /// All keys, where there are other ones than at the last call.
    pub(super) fn grown(&mut self) -> Option<KeyMaterial> {
        let states = self.states_now();
        if !self.changed && states == self.states {
            return None;
        }
        (self.states, self.changed) = (states, false);
        match read::read_keys(&self.input, &self.secrets) {
            Ok(keys) => Some(keys.material),
            Err(error) => {
                // A log that is being turned over is there again soon.
                output::complain(&format!("{error}; going on with the keys read before"));
                None
            }
        }
    }

    fn states_now(&self) -> Vec<FileState> {
        let state = |file: PathBuf| {
            let metadata = std::fs::metadata(file).ok()?;
            Some((metadata.len(), metadata.modified().ok()))
        };
        self.files().map(state).collect()
    }

    fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.input.keys_given().chain(self.input.keys_found())
    }
}

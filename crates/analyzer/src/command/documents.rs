//! Analyses saved by `--json`, read again.

use anyhow::Result;
use rekeyscope_keylog::utf8_text;
use rekeyscope_model::analysis::{Analysis, OLDEST_READ, SCHEMA_VERSION};
use rekeyscope_model::error::Error;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Largest document that is read, bytes: 64 tunnels of 20,000 bins in both directions take under 64 MB.
const LARGEST: u64 = 1 << 30;

/// Reads a document; one of another version is told apart from a file that is none.
pub(crate) fn read(path: &Path) -> Result<Analysis, Error> {
    let failed = |reason: String| Error::Document {
        path: path.into(),
        reason,
    };
    let opened: io::Result<Box<dyn Read>> = match path.to_str() {
        Some("-") => Ok(Box::new(io::stdin())),
        _ => File::open(path).map(|file| Box::new(file) as Box<dyn Read>),
    };
    let mut bytes = Vec::new();
    let read = opened.and_then(|file| file.take(LARGEST).read_to_end(&mut bytes));
    read.map_err(|error| failed(error.to_string()))?;
    let analysis: Analysis = serde_json::from_slice(&utf8_text(&bytes)).map_err(|error| {
        failed(format!(
            "it is no analysis that --json wrote ({error}); to analyse a capture, 'rekeyscope FILE' is enough"
        ))
    })?;
    match analysis.schema_version {
        OLDEST_READ..=SCHEMA_VERSION => Ok(analysis),
        theirs => Err(failed(format!(
            "its schema version is {theirs}, this program reads {OLDEST_READ} to {SCHEMA_VERSION}: analyse the capture again"
        ))),
    }
}

//! Tier 1 of three: what stops a run. Tier 2 is [`WireError`] (a parser says where a packet is wrong), tier 3 is
//! [`crate::diagnostic`] (counted, shown, never fatal).

use std::path::{Path, PathBuf};

/// A reason why there is no analysis. Each message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The capture cannot be opened or read at all.
    #[error("cannot read the capture {}: {}", path.display(), about_reading(source))]
    Capture {
        /// Path as given by the user.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The file is empty.
    #[error("{} is empty: the capture program wrote nothing, or the copy was interrupted", path.display())]
    EmptyCapture {
        /// Path as given by the user.
        path: PathBuf,
    },
    /// The file is not a capture.
    #[error(
        "{0} is not a capture: expected pcap or pcapng (also .gz, .zst, .lz4), found {found}{1}",
        path.display(), as_keys(path, found)
    )]
    NotACapture {
        /// Path as given by the user.
        path: PathBuf,
        /// Kind of the first bytes.
        found: String,
    },
    /// A key file cannot be read.
    #[error("cannot read the key file {}: {}", path.display(), about_a_key_file(source))]
    KeyFile {
        /// Path as given by the user, or as found beside the capture.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A capture stands where a key file is expected.
    #[error("{} is a capture, not a key log: give it without --keys or --claims", path.display())]
    CaptureAsKeys {
        /// Path as given by the user.
        path: PathBuf,
    },
    /// A key log stands where the capture is expected.
    #[error("{0} holds keys and no packets: rekeyscope trace.pcapng --keys {0}", path.display())]
    KeysAsCapture {
        /// Path as given by the user.
        path: PathBuf,
    },
    /// A saved document cannot be read.
    #[error("cannot read the analysis {}: {reason}", path.display())]
    Document {
        /// Path as given by the user.
        path: PathBuf,
        /// Why, and what to do.
        reason: String,
    },
    /// A series to be drawn over the capture cannot be read.
    #[error("cannot read the overlay {}: {reason}", path.display())]
    Overlay {
        /// Path as given by the user.
        path: PathBuf,
        /// Why, and what to do.
        reason: String,
    },
    /// A plot cannot be turned into an image.
    #[error("cannot draw {plot} as PNG: {reason}; --svg writes it as it is")]
    Image {
        /// Name of the plot.
        plot: String,
        /// Reason of the renderer.
        reason: String,
    },
    /// An output would take the place of what stays.
    #[error("cannot write {}: {reason}", path.display())]
    Kept {
        /// Path as given by the user.
        path: PathBuf,
        /// The thing that is there, and what to do.
        reason: String,
    },
    /// An output cannot be written.
    #[error("cannot write {}: {}; {}", path.display(), plain(source), about_an_output(path, source))]
    Output {
        /// Path as given by the user.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
}

/// Key logs are text, and are handed over in the place of the capture.
fn as_keys(path: &Path, found: &str) -> String {
    if found.contains("text") {
        format!(
            "; a log with keys goes behind --keys: rekeyscope trace.pcapng --keys {}",
            path.display()
        )
    } else {
        String::new()
    }
}

/// A reason of the system without its number.
fn plain(reason: &std::io::Error) -> String {
    let said = reason.to_string();
    said.split(" (os error").next().unwrap_or_default().to_owned()
}

/// Why a file cannot be read, and what to do. A folder in the place of a capture holds none, else it would stand for those in it.
pub fn about_reading(reason: &std::io::Error) -> String {
    let advice = match reason.kind() {
        std::io::ErrorKind::IsADirectory => {
            return "that folder holds no capture (pcap, pcapng, .gz, .zst, .lz4)".to_owned();
        }
        std::io::ErrorKind::NotFound => "check its name",
        std::io::ErrorKind::PermissionDenied => "you may not read it (sudo, or chmod)",
        _ => "check its name, and that you may read it",
    };
    format!("{}; {advice}", plain(reason))
}

/// Advises about a key file that cannot be read; where its content is wrong, the reason says that.
fn about_a_key_file(reason: &std::io::Error) -> String {
    match reason.kind() {
        std::io::ErrorKind::InvalidData => plain(reason),
        _ => about_reading(reason),
    }
}

/// Advice about an output that cannot be written.
fn about_an_output(path: &Path, reason: &std::io::Error) -> String {
    use std::io::ErrorKind::*;
    let what = match (reason.kind(), path.parent()) {
        (StorageFull | QuotaExceeded | FileTooLarge, _) => "make room there, or choose another place",
        (NotFound, Some(folder)) => {
            return format!("its folder is not there: mkdir -p {} makes it", folder.display());
        }
        (AlreadyExists, _) => "choose another name",
        _ => "choose a place that exists and that you may write to",
    };
    what.to_owned()
}

/// A packet that does not have the shape its protocol asks for. Never fatal: it becomes a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{layer}: needs {required} bytes at offset {offset}, {available} there")]
pub struct WireError {
    /// The protocol whose rule is broken, for example `"IKE payload"`.
    pub layer: &'static str,
    /// Bytes from the start of that layer; of link layers and tunnels, from the start of the frame or of the IP payload.
    pub offset: usize,
    /// Bytes that the rule needs from there.
    pub required: usize,
    /// Bytes that are there.
    pub available: usize,
}

impl WireError {
    /// The rule is about the beginning of the layer.
    pub fn at_start(layer: &'static str, required: usize, available: usize) -> WireError {
        WireError {
            layer,
            offset: 0,
            required,
            available,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_is_asked_to_be_a_key_log() {
        let asks = |found: &str| !as_keys(Path::new("router.log"), found).is_empty();
        for text in [
            "text",
            "text in UTF-16",
            "a gzip file holding text",
            "JSON or similar text",
        ] {
            assert!(asks(text), "{text}");
        }
        for other in [
            "a snoop file: convert it with editcap -F pcapng first",
            "an HTML page",
            "zero bytes only: the file was allocated but never written",
        ] {
            assert!(!asks(other), "{other}");
        }
    }
}

//! The place of a key, in words.

/// A line of a key file, or of a Decryption Secrets Block of the capture.
pub(crate) fn key_place(path: &str, block: Option<u64>, line: u64) -> String {
    match block {
        Some(block) => format!("{path}, Decryption Secrets Block {block}, line {line}"),
        None => format!("{path}:{line}"),
    }
}

//! A pre-shared key of IKE, from a file of its own: as an argument every user of the machine could read it.

use crate::lines::hex;
use rekeyscope_model::error::Error;
use rekeyscope_model::secret::SecretBytes;
use std::io::{self, Read};
use std::path::Path;

/// Longest file in bytes: IKE daemons take pre-shared keys of up to some hundred.
const LONGEST: u64 = 4096;

/// Reads a pre-shared key: the file's bytes without a newline at their end, or, when they are `0x` and an even number of hex
/// digits, the bytes that those stand for.
///
/// # Errors
/// [`Error::KeyFile`] when the file cannot be read, is empty, or is too long for a pre-shared key.
pub fn read_pre_shared_key(path: &Path) -> Result<SecretBytes, Error> {
    let failed = |source| Error::KeyFile {
        path: path.to_owned(),
        source,
    };
    let invalid = |sentence| failed(io::Error::new(io::ErrorKind::InvalidData, sentence));
    // The first allocation is large enough, so that no copy stays behind.
    let mut bytes = zeroize::Zeroizing::new(Vec::with_capacity(LONGEST as usize + 1));
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LONGEST {
        return Err(invalid(
            "it is too long for a pre-shared key: put the key alone into the file",
        ));
    }
    let key = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let key = key.strip_suffix(b"\r").unwrap_or(key);
    if key.is_empty() {
        return Err(invalid("it is empty: put the pre-shared key into it"));
    }
    let decoded = hex::after_0x(key)
        .and_then(hex::decode)
        .filter(|key| !key.is_empty());
    Ok(decoded.map_or_else(|| SecretBytes::from(key), SecretBytes::new))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &[u8]) -> Result<SecretBytes, Error> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), content).unwrap();
        read_pre_shared_key(file.path())
    }

    #[test]
    fn text_or_hex_and_one_newline() {
        for (content, key) in [
            (&b"a secret\n"[..], &b"a secret"[..]),
            (b"a secret\r\n", b"a secret"),
            (b"two\n\n", b"two\n"),
            (b" blanks ", b" blanks "),
            (b"0x00ff41\n", b"\x00\xff\x41"),
            (b"0x123\n", b"0x123"),
            (b"0x\n", b"0x"),
            (b"\xff\xfe", b"\xff\xfe"),
        ] {
            assert_eq!(read(content).unwrap().expose(), key);
        }
    }

    #[test]
    fn what_is_no_key_is_refused_without_showing_it() {
        assert_eq!(
            read(&[b'k'; LONGEST as usize]).unwrap().expose().len(),
            LONGEST as usize
        );
        for content in [Vec::new(), b"\n".to_vec(), vec![b'k'; LONGEST as usize + 1]] {
            let error = read(&content).unwrap_err().to_string();
            assert!(
                error.contains("pre-shared key") && !error.contains("kkk"),
                "{error}"
            );
        }
    }
}

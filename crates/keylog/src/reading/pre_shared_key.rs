//! A pre-shared key of IKE, from a file of its own: as an argument every user of the machine could read it.

use crate::lines::encoding::utf8_text;
use crate::lines::hex;
use rekeyscope_model::error::Error;
use rekeyscope_model::secret::SecretBytes;
use std::io::{self, Read};
use std::path::Path;
use zeroize::Zeroizing;

/// Longest file in bytes: IKE daemons take pre-shared keys of up to some hundred.
const LONGEST: u64 = 4096;

/// Reads a pre-shared key: the file's text without what an editor or a shell puts behind it (ends of lines, blanks: `echo` of cmd.exe writes one),
/// in UTF-8 where it is written in UTF-16; or, when that is `0x` and an even number of hex digits, the bytes that those stand for.
///
/// # Errors
/// [`Error::KeyFile`] when the file cannot be read, is empty, is too long for a pre-shared key, or has the mark of UTF-16 and no text of it.
pub fn read_pre_shared_key(path: &Path) -> Result<SecretBytes, Error> {
    let failed = |source| Error::KeyFile {
        path: path.to_owned(),
        source,
    };
    let invalid = |sentence| failed(io::Error::new(io::ErrorKind::InvalidData, sentence));
    // The first allocation is large enough, so that no copy stays behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(LONGEST as usize + 1));
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LONGEST {
        return Err(invalid(
            "it is too long for a pre-shared key: put the key alone into the file",
        ));
    }
    let text = Zeroizing::new(utf8_text(&bytes).into_owned());
    let key = text.trim_ascii_end();
    if key.starts_with(b"\xff\xfe") || key.starts_with(b"\xfe\xff") {
        return Err(invalid(
            "it begins as UTF-16 does and goes on as no such text: save it as UTF-8, or write the pre-shared key as 0x and its bytes in hex",
        ));
    }
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
    fn text_or_hex_without_what_an_editor_adds() {
        for (content, key) in [
            (&b"a secret\n"[..], &b"a secret"[..]),
            (b"a secret\r\n", b"a secret"),
            (b"two\n\n", b"two"),
            (b"echo of cmd.exe \r\n", b"echo of cmd.exe"),
            (b" a blank before\t", b" a blank before"),
            (b"\xef\xbb\xbfNotepad\r\n", b"Notepad"),
            (b"\xff\xfeP\0S\0K\0\r\0\n\0", b"PSK"),
            (b"\xfe\xff\0P\0S\0K\0\r\0\n", b"PSK"),
            (b"\xff\xfe0\0x\x004\x001\0 \0\r\0\n\0", b"A"),
            ("\u{feff}事前共有鍵\r\n".as_bytes(), "事前共有鍵".as_bytes()),
            (b"0x20\n", b" "),
            (b"0x00ff41\n", b"\x00\xff\x41"),
            (b"0x123\n", b"0x123"),
            (b"0x\n", b"0x"),
            (b"0xfffe", b"\xff\xfe"),
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
        for content in [
            Vec::new(),
            b"\n".to_vec(),
            b"\xef\xbb\xbf \r\n".to_vec(),
            b"\xff\xfe\x8b\x4e\x4d\x52kkkk".to_vec(),
            vec![b'k'; LONGEST as usize + 1],
        ] {
            let error = read(&content).unwrap_err().to_string();
            assert!(
                error.contains("pre-shared key") && !error.contains("kkk"),
                "{error}"
            );
        }
    }
}

//! Hex digits in every grouping that logs use.

use crate::lines::fields::parsed;

/// Value of a hex digit.
pub(crate) fn digit(b: u8) -> Option<u8> {
    char::from(b).to_digit(16).map(|value| value as u8)
}

/// Bytes of a string of digit pairs, without prefix and separators; `None` for an odd number of digits or any other
/// character.
pub(crate) fn decode(digits: &[u8]) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits
        .chunks_exact(2)
        .map(|pair| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        })
        .collect()
}

/// Packs digit values; an odd last one is left out.
pub(crate) fn pack(nibbles: &[u8]) -> Vec<u8> {
    nibbles
        .chunks_exact(2)
        .map(|pair| pair.iter().fold(0, |byte, nibble| byte << 4 | nibble))
        .collect()
}

/// The text after `0x` or `0X`.
pub(crate) fn after_0x(text: &[u8]) -> Option<&[u8]> {
    text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X"))
}

/// True when every byte is a hex digit, and there is one.
pub(crate) fn all_digits(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_hexdigit)
}

/// Hex as far as it goes, but not whole bytes: the rest was cut off.
pub(crate) fn is_cut(text: &[u8]) -> bool {
    !text.len().is_multiple_of(2) && all_digits(text)
}

/// `0x` with up to eight hex digits, or a decimal number, as an SPI.
pub(crate) fn spi_number(text: &[u8]) -> Option<u32> {
    match after_0x(text) {
        Some(digits) => spi_digits(digits),
        None if text.is_empty() || !text.iter().all(u8::is_ascii_digit) => None,
        None => parsed(text),
    }
}

/// Up to eight hex digits as an SPI; leading zeros may be missing.
pub(crate) fn spi_digits(digits: &[u8]) -> Option<u32> {
    if digits.len() > 8 || !all_digits(digits) {
        return None;
    }
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_pairs_only() {
        assert_eq!(decode(b"00fFa5"), Some(vec![0, 0xff, 0xa5]));
        assert_eq!(decode(b""), Some(vec![]));
        assert_eq!(decode(b"abc"), None);
        assert_eq!(decode(b"0x"), None);
        assert_eq!(pack(&[1, 2, 3]), [0x12]);
        assert!(is_cut(b"abc") && !is_cut(b"abcd") && !is_cut(b"abg") && !is_cut(b""));
    }

    #[test]
    fn spi_forms() {
        assert_eq!(spi_number(b"0xe841441"), Some(0x0e84_1441));
        assert_eq!(spi_number(b"163029363"), Some(0x09b7_a173));
        for bad in [&b""[..], b"0x", b"0x123456789", b"4294967296", b"+1", b"12ab"] {
            assert_eq!(spi_number(bad), None);
        }
        assert_eq!(spi_digits(b"e841441"), Some(0x0e84_1441));
        for bad in [&b""[..], b"+e84144", b"00e841441", b"e84144g"] {
            assert_eq!(spi_digits(bad), None, "{bad:?}");
        }
    }
}

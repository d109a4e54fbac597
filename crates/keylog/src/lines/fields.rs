//! Small readers of words and values on a line of bytes.

use std::net::IpAddr;
use std::str::FromStr;

/// First position of `needle` in `text`.
pub(crate) fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, needle)
}

/// Words separated by blanks.
pub(crate) fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty())
}

/// The text behind a program's name: `charon: `, `racoon[321]: `.
pub(crate) fn after_program<'l>(text: &'l [u8], names: &[&[u8]]) -> &'l [u8] {
    let text = text.trim_ascii_start();
    let word = words(text).next().unwrap_or_default();
    let is_one = word.ends_with(b":") && names.iter().any(|name| word.starts_with(name));
    text.get(word.len()..)
        .filter(|_| is_one)
        .map_or(text, <[u8]>::trim_ascii_start)
}

/// The texts before and behind the first `sign`.
pub(crate) fn split_at_sign(text: &[u8], sign: u8) -> Option<(&[u8], &[u8])> {
    let at = memchr::memchr(sign, text)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// The word that follows `key` in `text` (both whole words).
pub(crate) fn word_after<'a>(text: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let mut words = words(text);
    words.find(|w| *w == key)?;
    words.next()
}

/// A value in its usual text form.
pub(crate) fn parsed<T: FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// A decimal number.
pub(crate) fn number(text: &[u8]) -> Option<u64> {
    parsed(text).filter(|_| text.first().is_some_and(u8::is_ascii_digit))
}

/// An IP address; a prefix length, an interface scope or a port in brackets after it is left out.
pub(crate) fn address(text: &[u8]) -> Option<IpAddr> {
    parsed(until(text, |b| matches!(b, b'/' | b'%' | b'[' | b',')))
}

/// The value after `name=`, up to a blank or a comma, or between quotes.
pub(crate) fn value_of<'a>(text: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let mut from = 0;
    while let Some(at) = find(text.get(from..)?, name) {
        let start = from + at;
        let after = text.get(start + name.len()..)?;
        let whole = start == 0
            || text
                .get(start - 1)
                .is_some_and(|b| !b.is_ascii_alphanumeric() && *b != b'-');
        if let (true, Some(value)) = (whole, after.strip_prefix(b"=")) {
            return Some(match value.strip_prefix(b"\"") {
                Some(quoted) => until(quoted, |b| b == b'"'),
                None => until(value, |b| b.is_ascii_whitespace() || b == b','),
            });
        }
        from = start + name.len();
    }
    None
}

/// The text before the first byte that `stop` holds for; all of it where there is none.
pub(crate) fn until(text: &[u8], stop: impl Fn(u8) -> bool) -> &[u8] {
    let end = text.iter().position(|b| stop(*b)).unwrap_or(text.len());
    text.get(..end).unwrap_or(text)
}

/// The text between the quotes around it; the text itself where there are none.
pub(crate) fn unquoted(text: &[u8]) -> &[u8] {
    let inside = text
        .strip_prefix(b"\"")
        .and_then(|inside| inside.strip_suffix(b"\""));
    inside.unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_by_name() {
        let text = b"enc-key=\"12 34\" spi=0xE841441, key=5 sha-key=7";
        assert_eq!(value_of(text, b"enc-key"), Some(&b"12 34"[..]));
        assert_eq!(value_of(text, b"spi"), Some(&b"0xE841441"[..]));
        assert_eq!(value_of(text, b"key"), Some(&b"5"[..]));
        assert_eq!(value_of(text, b"dst"), None);
    }

    #[test]
    fn addresses() {
        assert_eq!(
            address(b"10.9.0.2/32[17/1701]"),
            Some("10.9.0.2".parse().unwrap())
        );
        assert_eq!(address(b"fe80::1%eth0"), Some("fe80::1".parse().unwrap()));
        assert_eq!(address(b"300.1.1.1"), None);
        assert_eq!(
            word_after(b"src 1.2.3.4 dst 5.6.7.8", b"dst"),
            Some(&b"5.6.7.8"[..])
        );
    }
}

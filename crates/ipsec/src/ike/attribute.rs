//! Data attributes (RFC 2408 §3.3, RFC 7296 §3.3.5): short ones hold two bytes, long ones a length and a value.

use crate::ike::payload::Fields;

/// The format bit: set for a two-byte value.
const SHORT: u16 = 0x8000;

/// Walks attributes; ends at the first one that does not fit.
#[derive(Debug, Clone)]
pub(super) struct Attributes<'a>(Fields<'a>);

impl<'a> Attributes<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Attributes(Fields::new("IKE attribute", bytes))
    }
}

impl<'a> Iterator for Attributes<'a> {
    /// Type without the format bit, and the value.
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let kind = self.0.u16().ok()?;
        let len = if kind & SHORT != 0 {
            2
        } else {
            usize::from(self.0.u16().ok()?)
        };
        Some((kind & !SHORT, self.0.bytes(len).ok()?))
    }
}

/// The number of one class.
pub(super) fn numbered(attributes: &[u8], class: u16) -> Option<u64> {
    let (_, value) = Attributes::new(attributes).find(|a| a.0 == class)?;
    number(value)
}

/// A value as a number: `None` above 64 bits. RFC 2407 §4.5 allows durations of any length.
pub(super) fn number(value: &[u8]) -> Option<u64> {
    let start = value.iter().position(|&b| b != 0).unwrap_or(value.len());
    let significant = &value[start..];
    (significant.len() <= 8).then(|| significant.iter().fold(0, |sum, &b| sum << 8 | u64::from(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hex_literal::hex;

    #[test]
    fn short_and_long_forms() {
        let bytes = hex!("80010002 00020004000003e8 8004");
        let found: Vec<_> = Attributes::new(&bytes).collect();
        assert_eq!(found, [(1, &hex!("0002")[..]), (2, &hex!("000003e8")[..])]);
        assert_eq!(number(found[1].1), Some(1000));
    }

    #[test]
    fn numbers_of_any_length() {
        assert_eq!(number(&[]), Some(0));
        assert_eq!(number(&[0; 20]), Some(0));
        assert_eq!(number(&[0xff; 8]), Some(u64::MAX));
        assert_eq!(number(&[0xff; 9]), None);
    }
}

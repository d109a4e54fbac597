//! Hex dumps with a label, as IKE daemons write them.

use crate::lines::hex::digit;
use zeroize::Zeroizing;

/// Most bytes of one dump; the longest with a use is a seed with a Diffie–Hellman secret of 8192 bits.
pub(crate) const MOST_DUMP_BYTES: usize = 8_192;

/// A dump that is being collected.
#[derive(Default)]
pub(crate) struct Dump {
    pub(crate) label: Vec<u8>,
    pub(crate) line: u64,
    pub(crate) bytes: Zeroizing<Vec<u8>>,
}

impl Dump {
    pub(crate) fn new(label: &[u8], line: u64) -> Dump {
        Dump {
            label: label.to_vec(),
            line,
            bytes: Zeroizing::default(),
        }
    }

    /// Appends, up to the bound.
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        let room = MOST_DUMP_BYTES.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }
}

/// Bytes of a row of groups of digit pairs, when the row holds nothing else. Any number of blanks parts the groups.
pub(crate) fn whole_row(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 2);
    for group in crate::lines::fields::words(text) {
        bytes.extend(crate::lines::hex::decode(group)?);
    }
    (!bytes.is_empty()).then_some(bytes)
}

/// Up to sixteen pairs parted by single blanks, as strongSwan prints them; what follows (the same as characters) is
/// left alone.
pub(crate) fn spaced_pairs(mut text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(16);
    while let [high, low, rest @ ..] = text {
        let (Some(high), Some(low), true) = (digit(*high), digit(*low), bytes.len() < 16) else {
            break;
        };
        if rest.first().is_some_and(|b| *b != b' ') {
            break;
        }
        bytes.push(high << 4 | low);
        text = rest.get(1..).unwrap_or_default();
    }
    bytes
}

/// Tells whether the line is a row of a dump: an offset, a colon, pairs. What stands at its end is a column of characters, any of them.
pub(crate) fn is_dump_row(line: &[u8]) -> bool {
    memchr::memmem::find_iter(line, b": ").any(|at| {
        let number = at > 0 && line.get(at - 1).is_some_and(u8::is_ascii_digit);
        number && spaced_pairs(line.get(at + 2..).unwrap_or_default()).len() >= 4
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_character_column_is_not_swallowed() {
        assert_eq!(
            spaced_pairs(b"85 96 52 29                                      AB CD"),
            [0x85, 0x96, 0x52, 0x29]
        );
        let full = b"55 A5 1C D0 EA FB 9C 97 8D AE 05 9E 95 A3 33 E0  AB CD EF 01";
        assert_eq!(spaced_pairs(full).len(), 16);
        assert_eq!(spaced_pairs(b"55 A5"), [0x55, 0xa5]);
        assert!(spaced_pairs(b"zz").is_empty());
    }

    #[test]
    fn rows_of_groups() {
        assert_eq!(
            whole_row(b"  7575d5cc 0102  03"),
            Some(vec![0x75, 0x75, 0xd5, 0xcc, 1, 2, 3])
        );
        assert_eq!(whole_row(b"seq=0"), None);
        assert_eq!(whole_row(b""), None);
    }
}

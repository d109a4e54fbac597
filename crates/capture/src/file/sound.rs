//! Rules of what may stand in a copy: Wireshark refuses a file at the first block that contradicts itself, also where the packets before and
//! behind it are read here. What is not sound is mended, or left out.

use crate::file::order::ByteOrder;
use crate::file::pcapng::{
    CUSTOM, CUSTOM_NOT_COPIED, JOURNAL, OBSOLETE_PACKET, SYSDIG_EVENT, SYSDIG_EVENT_2, SYSDIG_EVENT_2_LARGE,
};
use crate::file::secrets::SECRETS_BLOCK;
use pcap_parser::{EPB_MAGIC, IDB_MAGIC, ISB_MAGIC, NRB_MAGIC};

/// Longest packet that others read: `MAXIMUM_SNAPLEN` of libpcap, `WTAP_MAX_PACKET_SIZE_STANDARD` of Wireshark. Longer ones are cut.
pub(super) const LONGEST_PACKET: usize = 262_144;

/// The option that ends the others (§3.5).
pub(super) const END_OF_OPTIONS: u16 = 0;

/// Shortest body of a journal entry that Wireshark reads: a time stamp and its end of line.
const SHORTEST_JOURNAL_ENTRY: usize = 23;
/// The fields of a sysdig event: processor, time, thread, length, type; in version 2 also the number of parameters.
const SYSDIG_FIELDS: usize = 24;
const SYSDIG_2_FIELDS: usize = 28;
/// The enterprise whose custom blocks Wireshark reads, by a type of their own: event and skip, which has a number more.
const NETFLIX: u32 = 10_949;

/// The options in a block's tail: code and whole bytes of each (§3.5), up to the end mark or the first malformed one.
pub(super) fn options(order: ByteOrder, mut tail: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let code = order.u16(tail, 0).filter(|&code| code != END_OF_OPTIONS)?;
        let len = 4 + usize::from(order.u16(tail, 2)?).next_multiple_of(4);
        let (option, rest) = tail.split_at_checked(len)?;
        tail = rest;
        Some((code, option))
    })
}

/// The options of a block of this kind that fit it, without the end mark.
pub(super) fn sound_options(order: ByteOrder, kind: u32, tail: &[u8]) -> Vec<u8> {
    let fitting = options(order, tail).filter(|&(code, option)| fits(order, kind, code, option));
    fitting.flat_map(|(_, option)| option).copied().collect()
}

/// True where all options of a tail fit, up to its end or the end mark.
pub(super) fn are_sound_options(order: ByteOrder, kind: u32, tail: &[u8]) -> bool {
    let rest = tail
        .get(sound_options(order, kind, tail).len()..)
        .unwrap_or_default();
    rest.is_empty() || rest.starts_with(&[0; 4])
}

/// True where an option has the length that its code demands.
fn fits(order: ByteOrder, kind: u32, code: u16, option: &[u8]) -> bool {
    let len = usize::from(order.u16(option, 2).unwrap_or(0));
    let value = option
        .get(4..)
        .and_then(|value| value.get(..len))
        .unwrap_or_default();
    match (kind, code) {
        // Custom options begin with the number of an enterprise.
        (_, 2_988 | 2_989 | 19_372 | 19_373) => len >= 4,
        // if_filter
        (IDB_MAGIC, 11) => len >= 1,
        // Flags and queue; drops and number; verdict, of which two kinds have a number of 64 bits.
        (EPB_MAGIC | OBSOLETE_PACKET, 2 | 6) => len == 4,
        (EPB_MAGIC | OBSOLETE_PACKET, 4 | 5) => len == 8,
        (EPB_MAGIC | OBSOLETE_PACKET, 7) => match value {
            [1 | 2, number @ ..] => number.len() == 8,
            _ => len >= 1,
        },
        _ => true,
    }
}

/// True where a block is sound that holds no packet and describes neither section nor interface.
pub(super) fn is_sound(order: ByteOrder, block: &[u8]) -> bool {
    let body = block.get(8..block.len().saturating_sub(4)).unwrap_or_default();
    let kind = order.u32(block, 0).unwrap_or(0);
    match kind {
        NRB_MAGIC => are_sound_names(order, body),
        ISB_MAGIC => body
            .get(12..)
            .is_some_and(|tail| are_sound_options(order, kind, tail)),
        SECRETS_BLOCK => order
            .u32(body, 4)
            .and_then(|len| body.get((len as usize).checked_next_multiple_of(4)?.checked_add(8)?..))
            .is_some_and(|tail| are_sound_options(order, kind, tail)),
        CUSTOM | CUSTOM_NOT_COPIED => match (order.u32(body, 0), order.u32(body, 4)) {
            (Some(NETFLIX), Some(1)) => true,
            (Some(NETFLIX), Some(2)) => body.len() >= 12,
            (enterprise, _) => enterprise.is_some_and(|number| number != NETFLIX),
        },
        JOURNAL => body.len() >= SHORTEST_JOURNAL_ENTRY,
        SYSDIG_EVENT => body.len() >= SYSDIG_FIELDS,
        SYSDIG_EVENT_2 | SYSDIG_EVENT_2_LARGE => body.len() >= SYSDIG_2_FIELDS,
        _ => true,
    }
}

/// §4.5: records of an address and names that end with a zero byte, an end record, options.
fn are_sound_names(order: ByteOrder, mut body: &[u8]) -> bool {
    if body.is_empty() {
        return false;
    }
    while let (Some(kind), Some(len)) = (order.u16(body, 0), order.u16(body, 2)) {
        let len = usize::from(len);
        let Some((record, rest)) = body.split_at_checked(4 + len.next_multiple_of(4)) else {
            return false;
        };
        let address = match kind {
            0 => return len == 0 && are_sound_options(order, NRB_MAGIC, rest),
            1 => 4,
            2 => 16,
            _ => 0,
        };
        let names = record.get(4 + address..4 + len);
        if names.is_none_or(|names| address > 0 && names.last().is_some_and(|last| *last != 0)) {
            return false;
        }
        body = rest;
    }
    body.is_empty()
}

//! IEEE 802.11 data frames, with or without a radiotap header.

use super::link::{MOST_HEADERS, Network, llc, need};
use crate::error::WireError;

/// Radiotap (radiotap.org): version, pad, length (little-endian), then fields of which only the flags matter: they say
/// whether the header is padded to four bytes.
pub(super) fn radiotap(data: &[u8]) -> Result<Network<'_>, WireError> {
    let len = match need("radiotap", data, 0, 8)? {
        &[0, _, low, high, ..] => usize::from(u16::from_le_bytes([low, high])),
        _ => return Ok(Network::NotIp("an unknown version of radiotap")),
    };
    let header = need("radiotap", data, 0, len.max(8))?;
    data_frame(data.get(header.len()..).unwrap_or_default(), has_padding(header))
}

/// A frame without radiotap.
pub(super) fn ieee802_11(data: &[u8]) -> Result<Network<'_>, WireError> {
    data_frame(data, false)
}

/// The bit `0x20` of the flags field: padding between the 802.11 header and its payload.
fn has_padding(radiotap: &[u8]) -> bool {
    const MORE: u32 = 1 << 31;
    let word = |at: usize| {
        radiotap
            .get(at..at + 4)
            .and_then(|b| <[u8; 4]>::try_from(b).ok())
            .map_or(0, u32::from_le_bytes)
    };
    let first = word(4);
    let mut at = 8;
    let mut present = first;
    while present & MORE != 0 && at + 4 <= radiotap.len() {
        present = word(at);
        at += 4;
    }
    // Field 0 (TSFT) has eight bytes, aligned to eight; field 1 is the flags byte.
    if first & 1 != 0 {
        at = at.next_multiple_of(8) + 8;
    }
    first & 2 != 0 && radiotap.get(at).is_some_and(|flags| flags & 0x20 != 0)
}

/// IEEE 802.11-2020 §9.3.2: frame control, duration, three or four addresses, sequence, QoS, HT control.
fn data_frame(data: &[u8], padded: bool) -> Result<Network<'_>, WireError> {
    const LAYER: &str = "IEEE 802.11";
    let (control, flags) = match need(LAYER, data, 0, 2)? {
        &[control, flags] => (control, flags),
        _ => (0, 0),
    };
    match (control >> 2) & 3 {
        0 => return Ok(Network::NotIp("802.11 management")),
        1 => return Ok(Network::NotIp("802.11 control")),
        2 => {}
        _ => return Ok(Network::NotIp("802.11 extension")),
    }
    let subtype = control >> 4;
    if subtype & 4 != 0 {
        return Ok(Network::NotIp("802.11 data without content"));
    }
    if flags & 0x40 != 0 {
        return Ok(Network::NotIp("802.11 data that is encrypted"));
    }
    let (qos, four_addresses, order) = (subtype & 8 != 0, flags & 3 == 3, flags & 0x80 != 0);
    let mut len = 24 + if four_addresses { 6 } else { 0 };
    if qos {
        // The A-MSDU bit: several frames in one, each with a header of its own.
        if need(LAYER, data, len, 2)?
            .first()
            .is_some_and(|first| first & 0x80 != 0)
        {
            return Ok(Network::NotIp("802.11 A-MSDU"));
        }
        len += 2;
        len += if order { 4 } else { 0 };
    }
    if padded {
        len = len.next_multiple_of(4);
    }
    llc(data, len, MOST_HEADERS)
}

//! IEEE 802.11 data frames, with or without a radiotap header.

use crate::layers::{Layer, Stop, Walk};

/// Radiotap (radiotap.org): version, pad, length (little-endian), then fields of which only the flags matter: they say
/// whether the header is padded to four bytes.
pub(super) fn radiotap(walk: &mut Walk<'_>) -> Result<Layer, Stop> {
    const LAYER: &str = "radiotap";
    const SHORTEST: usize = 8;
    let &[version, _, low, high, ..] = walk.peek::<SHORTEST>(LAYER)?;
    if version != 0 {
        return Err(Stop::Other("an unknown version of radiotap"));
    }
    let (header, len) = (
        walk.bytes(),
        usize::from(u16::from_le_bytes([low, high])).max(SHORTEST),
    );
    walk.skip(LAYER, len)?;
    data_frame(walk, has_padding(header.get(..len).unwrap_or_default()))
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
pub(super) fn data_frame(walk: &mut Walk<'_>, padded: bool) -> Result<Layer, Stop> {
    const LAYER: &str = "IEEE 802.11";
    let &[control, flags] = walk.peek(LAYER)?;
    match (control >> 2) & 3 {
        0 => return Err(Stop::Other("802.11 management")),
        1 => return Err(Stop::Other("802.11 control")),
        2 => {}
        _ => return Err(Stop::Other("802.11 extension")),
    }
    let subtype = control >> 4;
    if subtype & 4 != 0 {
        return Err(Stop::Other("802.11 data without content"));
    }
    if flags & 0x40 != 0 {
        return Err(Stop::Other("802.11 data that is encrypted"));
    }
    let (qos, four_addresses, order) = (subtype & 8 != 0, flags & 3 == 3, flags & 0x80 != 0);
    let mut len = 24 + if four_addresses { 6 } else { 0 };
    if qos {
        let Some(qos_control) = walk.bytes().get(len) else {
            return Err(walk.short(LAYER, len + 2));
        };
        // The A-MSDU bit: several frames in one, each with a header of its own.
        if qos_control & 0x80 != 0 {
            return Err(Stop::Other("802.11 A-MSDU"));
        }
        len += 2;
        len += if order { 4 } else { 0 };
    }
    if padded {
        len = len.next_multiple_of(4);
    }
    walk.skip(LAYER, len)?;
    Ok(Layer::Llc)
}

//! Plausibility of bytes that nothing announces, or a port alone does: an IP packet or an Ethernet frame tells its own length.

/// The length that an IP header at the start of `bytes` tells; `None` where there is none.
fn ip_len(bytes: &[u8]) -> Option<usize> {
    match *bytes {
        [0x45..0x50, _, l0, l1, ..] => Some(usize::from(u16::from_be_bytes([l0, l1]))),
        [0x60..0x70, _, _, _, l0, l1, ..] => Some(usize::from(u16::from_be_bytes([l0, l1])) + 40),
        _ => None,
    }
}

/// An IP packet that ends where its `room` does.
pub(super) fn is_ip(bytes: &[u8], room: usize) -> bool {
    ip_len(bytes) == Some(room)
}

/// An IP packet that fits into its `room`, which may have padding behind it. 0 is what segmentation offload leaves.
pub(super) fn fits_ip(bytes: &[u8], room: usize) -> bool {
    ip_len(bytes).is_some_and(|len| len <= room)
}

/// An Ethernet frame, perhaps with a VLAN tag, whose IP packet ends where its `room` does, or before the padding to the
/// smallest frame (IEEE 802.3: 60 bytes). ARP for IPv4 has 28.
pub(super) fn is_ethernet(bytes: &[u8], room: usize) -> bool {
    const ADDRESSES_LEN: usize = 12;
    const SMALLEST_FRAME: usize = 60;
    let (packet, header_len) = match bytes.get(ADDRESSES_LEN..) {
        Some([0x81, 0, _, _, rest @ ..]) => (rest, ADDRESSES_LEN + 4 + 2),
        Some(rest) => (rest, ADDRESSES_LEN + 2),
        None => return false,
    };
    let len = match packet {
        [0x08, 0x00, ip @ ..] | [0x86, 0xdd, ip @ ..] => ip_len(ip),
        [0x08, 0x06, 0x00, 0x01, 0x08, 0x00, ..] => Some(28),
        _ => None,
    };
    len.is_some_and(|len| {
        let used = header_len + len;
        used == room || used < room && room <= SMALLEST_FRAME
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_to_fit() {
        let mut v4 = vec![0; 40];
        v4[..4].copy_from_slice(&[0x45, 0, 0, 40]);
        let mut v6 = vec![0; 60];
        v6[..6].copy_from_slice(&[0x60, 0, 0, 0, 0, 20]);
        for (packet, kind) in [(v4, [0x08, 0x00]), (v6, [0x86, 0xdd])] {
            let len = packet.len();
            assert!(is_ip(&packet, len) && fits_ip(&packet, len) && fits_ip(&packet, len + 6));
            assert!(!is_ip(&packet, len + 1) && !is_ip(&packet, len - 1) && !fits_ip(&packet, len - 1));
            assert!(is_ip(&packet[..6], len), "the length is at the beginning");
            let frame = [&[2; 12], &kind[..], &packet].concat();
            let tagged = [&[2; 12][..], &[0x81, 0, 0, 5], &kind, &packet].concat();
            for frame in [frame, tagged] {
                assert!(is_ethernet(&frame, frame.len()));
                assert_eq!(is_ethernet(&frame, 60), frame.len() <= 60, "padding");
                assert!(
                    !is_ethernet(&frame, frame.len() - 1) && !is_ethernet(&frame, 61.max(frame.len() + 1))
                );
            }
        }
        assert!(!is_ip(&[], 0) && !is_ethernet(&[], 0) && !is_ip(&[0x44, 0, 0, 40], 40));
    }
}

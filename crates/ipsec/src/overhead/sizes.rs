//! Sizes of ESP packets and of their fragments.

use crate::esp::header::HEADER_LEN;
use crate::sa::association::{AssignedKey, Association};
use rekeyscope_model::analysis::Encapsulation;

/// Pad length and next header (RFC 4303 §2.4).
const TRAILER: usize = 2;
/// Header of UDP (RFC 768).
pub const UDP_HEADER: usize = 8;
/// Header of IPv4 without options (RFC 791).
pub const IPV4_HEADER: usize = 20;
/// Header of IPv6 without extensions (RFC 8200).
pub const IPV6_HEADER: usize = 40;
/// Header of TCP without options (RFC 9293).
const TCP_HEADER: usize = 20;
/// Fragment header of IPv6 (RFC 8200 §4.5), and the unit of offsets (there and in RFC 791 §3.1).
const FRAGMENT_HEADER: usize = 8;
const FRAGMENT_UNIT: usize = 8;

/// The lengths that make a packet's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EspSizes {
    /// Outer IP header, bytes.
    pub ip_header: usize,
    /// UDP header of NAT traversal: 8, or 0 without.
    pub udp: usize,
    /// Explicit IV, bytes.
    pub iv: usize,
    /// Payload, padding and trailer together are a multiple of this: the cipher's block, at least 4.
    pub align: usize,
    /// ICV, bytes.
    pub icv: usize,
}

/// The parts of one packet on the wire, in bytes. The parts add up to [`Split::wire`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split {
    /// IP total length.
    pub wire: usize,
    /// Outer IP header, and UDP of NAT traversal.
    pub outer_headers: usize,
    /// SPI and sequence number.
    pub esp_header: usize,
    /// Explicit IV.
    pub iv: usize,
    /// ESP payload: the inner packet with what a tunnel protocol puts before it.
    pub payload: usize,
    /// Padding, pad length and next header.
    pub padding: usize,
    /// ICV.
    pub icv: usize,
}

/// The pieces of a packet on a path that it is too large for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragments {
    /// IP packets; 1 where it fits.
    pub count: usize,
    /// Sum of their IP total lengths.
    pub bytes: usize,
}

impl EspSizes {
    /// The lengths that make the packets of an SA.
    pub fn of(sa: &Association, key: &AssignedKey) -> EspSizes {
        EspSizes {
            ip_header: if sa.dst.is_ipv6() {
                IPV6_HEADER
            } else {
                IPV4_HEADER
            },
            udp: match sa.encapsulation {
                Encapsulation::Udp => UDP_HEADER,
                _ => 0,
            },
            iv: key.cipher.iv_len(),
            align: key.transform.encryption.block_len().max(4),
            icv: key.cipher.icv_len(),
        }
    }

    /// The fragments of an outer packet of `wire` bytes on a path with this MTU: every one has the IP header, over IPv6 with
    /// a fragment header, and all but the last hold a multiple of 8 bytes (RFC 791 §3.2, RFC 8200 §4.5). `None` where not even
    /// 8 bytes fit behind the headers.
    pub fn fragments(&self, wire: usize, mtu: usize) -> Option<Fragments> {
        if wire <= mtu {
            return Some(Fragments {
                count: 1,
                bytes: wire,
            });
        }
        let header = match self.ip_header {
            IPV6_HEADER => IPV6_HEADER + FRAGMENT_HEADER,
            ip => ip,
        };
        let last_room = mtu.checked_sub(header)?;
        let room = last_room - last_room % FRAGMENT_UNIT;
        let data = wire - self.ip_header;
        let others = data.saturating_sub(last_room).checked_add(room.checked_sub(1)?)? / room;
        let count = others + 1;
        Some(Fragments {
            count,
            bytes: data + count * header,
        })
    }

    /// Sizes of a packet whose ESP payload has this many bytes, when the sender pads as little as it may.
    pub fn split(&self, payload: usize) -> Split {
        let padding = (payload + TRAILER).next_multiple_of(self.align) - payload;
        let outer_headers = self.ip_header + self.udp;
        Split {
            wire: outer_headers + HEADER_LEN + self.iv + payload + padding + self.icv,
            outer_headers,
            esp_header: HEADER_LEN,
            iv: self.iv,
            payload,
            padding,
            icv: self.icv,
        }
    }

    /// The largest ESP payload whose packet is not larger than `mtu`; `None` when not even an empty one fits.
    pub fn largest_payload(&self, mtu: usize) -> Option<usize> {
        let fixed = self.ip_header + self.udp + HEADER_LEN + self.iv + self.icv;
        let room = mtu.checked_sub(fixed)?;
        (room - room % self.align).checked_sub(TRAILER)
    }
}

/// TCP maximum segment size for inner packets of at most `packet` bytes: over IPv4 and over IPv6, without options.
pub fn mss(packet: usize) -> [Option<usize>; 2] {
    [IPV4_HEADER, IPV6_HEADER].map(|ip| packet.checked_sub(ip + TCP_HEADER).filter(|mss| *mss > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// AES-128-CBC with HMAC-SHA1-96 and AES-128-GCM-16, IPv4, without NAT: sizes counted by hand from RFC 3602 and RFC 4106.
    #[test]
    fn sizes_counted_by_hand() {
        let cbc = EspSizes {
            ip_header: 20,
            udp: 0,
            iv: 16,
            align: 16,
            icv: 12,
        };
        // 20 + 8 + 16 + (14 + 2) + 12; one byte more takes a block more.
        assert_eq!((cbc.split(14).wire, cbc.split(15).wire), (72, 88));
        let gcm = EspSizes {
            iv: 8,
            align: 4,
            icv: 16,
            udp: 8,
            ..cbc
        };
        // 20 + 8 + 8 + 8 + (1400 + 4) + 16
        assert_eq!(gcm.split(1_400).wire, 1_464);
        assert_eq!((gcm.split(1_400).padding, gcm.split(1_402).padding), (4, 2));
    }

    #[test]
    fn fragments_counted_by_hand() {
        let v4 = EspSizes {
            ip_header: 20,
            udp: 0,
            iv: 8,
            align: 4,
            icv: 16,
        };
        let v6 = EspSizes { ip_header: 40, ..v4 };
        for (sizes, wire, mtu, count, bytes) in [
            (v4, 1_400, 1_400, 1, 1_400),
            // 3036 bytes of data: 1376 (not 1380), 1376, 284.
            (v4, 3_056, 1_400, 3, 3_036 + 3 * 20),
            // 1376 + 1380: the last one needs no multiple of 8.
            (v4, 20 + 2_756, 1_400, 2, 2_756 + 2 * 20),
            (v4, 20 + 2_757, 1_400, 3, 2_757 + 3 * 20),
            // 3016 bytes of data: 1352, 1352, 312.
            (v6, 3_056, 1_400, 3, 3_016 + 3 * 48),
        ] {
            assert_eq!(
                sizes.fragments(wire, mtu),
                Some(Fragments { count, bytes }),
                "{wire}"
            );
        }
        assert_eq!(
            (v4.fragments(100, 27), v4.fragments(100, 28).map(|f| f.count)),
            (None, Some(10))
        );
    }

    #[test]
    fn the_parts_add_up_and_the_largest_payload_is_the_largest() {
        for (iv, align, icv) in [(16, 16, 12), (8, 8, 12), (8, 4, 16), (0, 4, 12), (0, 4, 0)] {
            for udp in [0, 8] {
                let sizes = EspSizes {
                    ip_header: 20,
                    udp,
                    iv,
                    align,
                    icv,
                };
                for mtu in 100..1_600 {
                    let largest = sizes.largest_payload(mtu).unwrap();
                    let split = sizes.split(largest);
                    assert!(split.wire <= mtu && sizes.split(largest + 1).wire > mtu);
                    let parts = split.outer_headers + split.esp_header + split.iv + split.payload;
                    assert_eq!(parts + split.padding + split.icv, split.wire);
                }
                assert_eq!(sizes.largest_payload(20), None);
            }
        }
    }
}

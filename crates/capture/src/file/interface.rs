//! A pcapng interface (draft-ietf-opsawg-pcapng): its link type, its clock, and what it says it lost.

use crate::file::link_type::LinkType;
use crate::file::order::ByteOrder;
use pcap_parser::{InterfaceDescriptionBlock, OptionCode, PcapNGOption};
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};

#[derive(Debug, Default)]
pub(super) struct Interface {
    pub(super) link_type: LinkType,
    /// 0: no limit.
    pub(super) snap_len: u32,
    pub(super) clock: Clock,
    /// Losses that packets told (`epb_dropcount`, the drops field of obsolete packet blocks).
    pub(super) dropped_by_packets: Option<u64>,
    /// The latest totals of its statistics: interface, operating system.
    dropped_by_statistics: [Option<u64>; 2],
}

impl Interface {
    /// From an interface description block (§4.2).
    pub(super) fn described(order: ByteOrder, block: &InterfaceDescriptionBlock<'_>) -> Interface {
        let mut interface = Interface {
            link_type: LinkType(block.linktype.0 as u16),
            snap_len: block.snaplen,
            ..Interface::default()
        };
        for option in listed(&block.options) {
            match (option.code, option.as_bytes()) {
                (OptionCode::IfTsresol, Ok([resolution, ..])) => interface.clock.set_resolution(*resolution),
                (OptionCode::IfTsoffset, _) => {
                    if let Some(offset) = number(order, option) {
                        interface.clock.set_offset(offset.cast_signed());
                    }
                }
                _ => {}
            }
        }
        interface
    }

    /// From the options of an interface statistics block (§4.6): counters since the start of the capture, so the latest ones
    /// replace earlier ones.
    pub(super) fn note_statistics(&mut self, order: ByteOrder, options: &[PcapNGOption<'_>]) {
        let [interface, system] = &mut self.dropped_by_statistics;
        for option in listed(options) {
            match option.code {
                OptionCode::IsbIfDrop => *interface = number(order, option).or(*interface),
                OptionCode::IsbOsDrop => *system = number(order, option).or(*system),
                _ => {}
            }
        }
    }

    /// A writer may tell the same loss packet by packet and as a total: the larger sum holds.
    pub(super) fn dropped(&self) -> Option<u64> {
        let [interface, system] = self.dropped_by_statistics;
        let statistics = match (interface, system) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
        };
        statistics.max(self.dropped_by_packets)
    }
}

/// The options (§3.5) before the end mark: pcap-parser goes on behind it.
pub(super) fn listed<'o, 'b>(options: &'o [PcapNGOption<'b>]) -> impl Iterator<Item = &'o PcapNGOption<'b>> {
    options
        .iter()
        .take_while(|option| option.code != OptionCode::EndOfOpt)
}

/// An option's 64-bit number. pcap-parser reads `if_tsoffset`, `isb_ifdrop` and the like as little-endian in every section,
/// which is wrong in big-endian ones (`the_same_packets_from_every_container`, `drop_counters_are_summed_once`).
pub(super) fn number(order: ByteOrder, option: &PcapNGOption<'_>) -> Option<u64> {
    order.u64(option.as_bytes().ok()?, 0)
}

/// Turns an interface's ticks into nanoseconds since the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Clock {
    scale: TickScale,
    offset_seconds: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TickScale {
    /// A tick is so many nanoseconds.
    Times(u64),
    /// A nanosecond has so many ticks; `None` where a tick is so short that 64 bits of them are no nanosecond.
    DividedBy(Option<u128>),
    /// A second has two to the power of this many ticks.
    BinaryFraction(u32),
}

impl Default for Clock {
    /// Microseconds, as the format says for an interface without the option.
    fn default() -> Self {
        Clock {
            scale: TickScale::Times(1_000),
            offset_seconds: 0,
        }
    }
}

impl Clock {
    /// Sets the resolution: 10^-n seconds, or 2^-n with the top bit set.
    pub(super) fn set_resolution(&mut self, if_tsresol: u8) {
        let exponent = u32::from(if_tsresol & 0x7f);
        self.scale = if if_tsresol & 0x80 != 0 {
            TickScale::BinaryFraction(exponent)
        } else if exponent <= 9 {
            TickScale::Times(10_u64.pow(9 - exponent))
        } else {
            TickScale::DividedBy(10_u128.checked_pow(exponent - 9))
        };
    }

    /// Sets the seconds to add.
    pub(super) fn set_offset(&mut self, if_tsoffset: i64) {
        self.offset_seconds = if_tsoffset;
    }

    /// The moment of `ticks`, rounded down to a nanosecond. Saturates at the ends of [`Timestamp`].
    #[inline]
    pub(super) fn at(&self, ticks: u64) -> Timestamp {
        if let (TickScale::Times(nanos), 0) = (self.scale, self.offset_seconds)
            && let Some(total) = ticks.checked_mul(nanos)
            && let Ok(total) = i64::try_from(total)
        {
            return Timestamp(total);
        }
        self.at_any(ticks)
    }

    fn at_any(&self, ticks: u64) -> Timestamp {
        let ticks = u128::from(ticks);
        let per_second = NANOS_PER_SECOND.unsigned_abs();
        let nanos = match self.scale {
            TickScale::Times(nanos) => ticks * u128::from(nanos),
            TickScale::DividedBy(divisor) => divisor.map_or(0, |divisor| ticks / divisor),
            TickScale::BinaryFraction(bits) => {
                (ticks * u128::from(per_second)).checked_shr(bits).unwrap_or(0)
            }
        };
        // At most 2^64 · 10^9 < 2^94 plus 2^63 · 10^9 < 2^93: no overflow in 128 bits.
        let total = nanos.cast_signed() + i128::from(self.offset_seconds) * i128::from(NANOS_PER_SECOND);
        Timestamp(i64::try_from(total).unwrap_or(if total < 0 { i64::MIN } else { i64::MAX }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(resolution: u8, offset: i64) -> Clock {
        let mut clock = Clock::default();
        clock.set_resolution(resolution);
        clock.set_offset(offset);
        clock
    }

    #[test]
    fn the_same_moment_in_every_resolution() {
        let moment = Timestamp(1_795_205_509_500_000_000);
        let tenths = 17_952_055_095_u64;
        for n in 1..=9_u8 {
            assert_eq!(
                clock(n, 0).at(tenths * 10_u64.pow(u32::from(n) - 1)),
                moment,
                "10^-{n}"
            );
        }
        assert_eq!(clock(10, 0).at(tenths * 1_000_000_000), moment);
        for n in 1..=33_u8 {
            assert_eq!(
                clock(0x80 | n, 0).at((2 * 1_795_205_509 + 1) << (n - 1)),
                moment,
                "2^-{n}"
            );
        }
        // Picoseconds do not reach that far in 64 bits without an offset.
        assert_eq!(clock(12, 1_795_205_509).at(500_000_000_000), moment);
        assert_eq!(clock(6, -3600).at(1_795_209_109_500_000), moment);
    }

    #[test]
    fn the_example_of_the_format_description() {
        // draft-ietf-opsawg-pcapng §4.6: 97 c3 04 00 aa 47 ca 64 is 2012-06-29 07:28:25.298858 UTC.
        let ticks = (0x0004_c397_u64 << 32) | 0x64ca_47aa;
        assert_eq!(
            Clock::default().at(ticks).to_string(),
            "2012-06-29T07:28:25.298858000Z"
        );
    }

    #[test]
    fn extremes_saturate() {
        assert_eq!(clock(0, 0).at(u64::MAX), Timestamp(i64::MAX));
        assert_eq!(clock(6, i64::MIN).at(0), Timestamp(i64::MIN));
        assert_eq!(clock(6, i64::MAX).at(u64::MAX), Timestamp(i64::MAX));
        assert_eq!(clock(0x80, i64::MAX).at(u64::MAX), Timestamp(i64::MAX));
        for n in [47, 48, 127, 0xff] {
            assert_eq!(clock(n, 0).at(u64::MAX), Timestamp(0), "resolution {n:#x}");
        }
    }
}

//! Names that capture programs give to the pieces of one capture.

/// Endings of packed files: `dumpcap --compress-type`, or a cron job that packs what is complete.
const PACKED: [&str; 3] = [".gz", ".zst", ".lz4"];
/// Endings of captures.
const CAPTURES: [&str; 5] = [".pcapng", ".pcap", ".cap", ".dmp", ".ntar"];
/// `YYYYMMDDHHMMSS`.
const STAMP_DIGITS: usize = 14;
/// dumpcap counts with five digits at least.
const COUNT_DIGITS: usize = 5;

/// The way the pieces are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    /// dumpcap and editcap: a number that only grows, and a time.
    Counted,
    /// `tcpdump -C`, and `-W`: a number behind the ending, which begins again.
    Cycled,
    /// `tcpdump -G`: a time, and with `-C` a number behind the ending.
    Dated,
    /// Neither: the first piece of `tcpdump -C`, or no piece at all.
    Plain,
}

/// A file name, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PieceName {
    /// The name with `*` in place of what tells the pieces apart; the same for all of them, packed or not.
    pub(super) family: String,
    pub(super) naming: Naming,
    /// The digits of its time.
    pub(super) stamp: String,
    pub(super) number: u64,
}

/// Takes a file name apart.
pub(super) fn take_apart(file_name: &str) -> PieceName {
    let bare = PACKED
        .iter()
        .find_map(|end| file_name.strip_suffix(end))
        .unwrap_or(file_name);
    let (unnumbered, number) = behind_the_ending(bare);
    let ending = CAPTURES
        .iter()
        .find(|end| unnumbered.ends_with(**end))
        .copied()
        .unwrap_or_default();
    let stem = unnumbered.strip_suffix(ending).unwrap_or(unnumbered);
    if let Some((stem, stamp, number)) = counted(stem).filter(|_| number.is_none()) {
        return PieceName {
            family: format!("{stem}_*{ending}"),
            naming: Naming::Counted,
            stamp: stamp.into(),
            number,
        };
    }
    let (family, stamp, naming) = match (dated(stem), number) {
        (Some((before, stamp, behind)), _) => (format!("{before}*{behind}{ending}"), stamp, Naming::Dated),
        (None, Some(_)) => (format!("{stem}{ending}*"), String::new(), Naming::Cycled),
        (None, None) => (format!("{stem}{ending}*"), String::new(), Naming::Plain),
    };
    PieceName {
        family,
        naming,
        stamp,
        number: number.unwrap_or(0),
    }
}

/// `x.pcap17` → `x.pcap` and 17.
fn behind_the_ending(name: &str) -> (&str, Option<u64>) {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = name.get(bare.len()..).and_then(|digits| digits.parse().ok());
    match number {
        Some(number) if CAPTURES.iter().any(|end| bare.ends_with(end)) => (bare, Some(number)),
        _ => (name, None),
    }
}

/// `x_00017_20260131120000`, or `x_20260131120000_00017` (`-b nametimenum`): stem, time, number.
fn counted(stem: &str) -> Option<(&str, &str, u64)> {
    let (front, last) = stem.rsplit_once('_')?;
    let (front, middle) = front.rsplit_once('_')?;
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if !digits(last) || !digits(middle) {
        return None;
    }
    let (count, stamp) = match (middle.len(), last.len()) {
        (_, STAMP_DIGITS) => (middle, last),
        (STAMP_DIGITS, _) => (last, middle),
        _ => return None,
    };
    (count.len() >= COUNT_DIGITS).then(|| Some((front, stamp, count.parse().ok()?)))?
}

/// Text before a date with a time, its digits, and the text behind it: `x-2026-01-31_12.00.00-y`.
fn dated(stem: &str) -> Option<(&str, String, &str)> {
    let starts = stem.match_indices("20").chain(stem.match_indices("19"));
    let mut starts: Vec<usize> = starts.map(|(at, _)| at).collect();
    starts.sort_unstable();
    let inside_digits = |at: usize| at > 0 && stem.as_bytes().get(at - 1).is_some_and(u8::is_ascii_digit);
    starts
        .into_iter()
        .filter(|&at| !inside_digits(at))
        .find_map(|at| {
            let (before, rest) = stem.split_at(at);
            let (digits, len) = date_and_time(rest.as_bytes())?;
            Some((before, digits, rest.get(len..)?))
        })
}

/// Year, month, day, hour, minute and perhaps second with at most one separator between two; and how long they are.
fn date_and_time(text: &[u8]) -> Option<(String, usize)> {
    let mut digits = String::new();
    let mut at = 0;
    for (field, len, most) in [
        (0, 4, 9_999),
        (1, 2, 12),
        (2, 2, 31),
        (3, 2, 23),
        (4, 2, 59),
        (5, 2, 60),
    ] {
        let separated = text.get(at).is_some_and(|b| b"-_.:T+".contains(b));
        let from = at + usize::from(field > 0 && separated);
        let number = text
            .get(from..from + len)
            .filter(|n| n.iter().all(u8::is_ascii_digit));
        let number = number.and_then(|n| std::str::from_utf8(n).ok());
        match number.filter(|n| n.parse().is_ok_and(|n: u32| n <= most)) {
            Some(number) => {
                digits.push_str(number);
                at = from + len;
            }
            // Seconds are not in every name.
            None if field == 5 => break,
            None => return None,
        }
    }
    let ends = !text.get(at).is_some_and(u8::is_ascii_digit);
    ends.then_some((digits, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_capture_programs() {
        use Naming::*;
        for (name, family, naming, stamp, number) in [
            (
                "ring_00017_20260131120000.pcapng",
                "ring_*.pcapng",
                Counted,
                "20260131120000",
                17,
            ),
            (
                "ring_20260131120000_00017.pcapng.zst",
                "ring_*.pcapng",
                Counted,
                "20260131120000",
                17,
            ),
            (
                "a_b_123456_20260131120000",
                "a_b_*",
                Counted,
                "20260131120000",
                123_456,
            ),
            ("trace.pcap", "trace.pcap*", Plain, "", 0),
            ("trace.pcap3", "trace.pcap*", Cycled, "", 3),
            ("trace.pcap07.gz", "trace.pcap*", Cycled, "", 7),
            ("gw-20260131-120000.pcap", "gw-*.pcap", Dated, "20260131120000", 0),
            (
                "gw_2026-01-31_12.00-lan.cap2",
                "gw_*-lan.cap",
                Dated,
                "202601311200",
                2,
            ),
            // Numbers of somebody's own, and dates without a time, say nothing of pieces.
            ("run_2.pcap", "run_2.pcap*", Plain, "", 0),
            ("gw-20260131.pcap", "gw-20260131.pcap*", Plain, "", 0),
            ("x_00001_2026.pcap", "x_00001_2026.pcap*", Plain, "", 0),
            ("120260131120000.pcap", "120260131120000.pcap*", Plain, "", 0),
            (
                "gw-20261331-120000.pcap",
                "gw-20261331-120000.pcap*",
                Plain,
                "",
                0,
            ),
        ] {
            let expected = PieceName {
                family: family.into(),
                naming,
                stamp: stamp.into(),
                number,
            };
            assert_eq!(take_apart(name), expected);
        }
    }
}

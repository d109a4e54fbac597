//! The capture and what it is worth.

use crate::words::{clean, format};
use rekeyscope_model::analysis::{Analysis, Capture, DiagnosticEntry, SecurityAssociation};
use rekeyscope_model::text::Catalogue;
use rekeyscope_model::time::Timestamp;

/// Link types named.
const MOST_LINKS: usize = 4;

/// The day and the time of the first packet, from which times count; `unknown` where the capture tells none.
pub(crate) fn day_and_time(c: &Capture) -> String {
    let first = c.first_time.and_then(Timestamp::day_and_time);
    first.unwrap_or_else(|| "unknown".to_owned())
}

/// Whence times count.
pub(crate) fn first_packet(t: &Catalogue, c: &Capture) -> String {
    fill!(t, "times-count", first = day_and_time(c))
}

/// The file, what it holds, and whence times count.
pub(crate) fn capture(t: &Catalogue, c: &Capture) -> String {
    let named = c.link_types.iter().take(MOST_LINKS);
    let mut parts: Vec<String> = named.map(|l| clean::line(l)).collect();
    if c.link_types.len() > parts.len() {
        let more = c.link_types.len() - parts.len();
        parts.push(fill!(t, "capture-and-more", n = more));
    }
    let comma = t.word("comma");
    let links: String = parts.iter().map(|link| format!("{comma}{link}")).collect();
    let duration = c
        .duration_s
        .map(|s| format!("{comma}{}", format::seconds(s)))
        .unwrap_or_default();
    let said = fill!(
        t,
        "capture",
        path = clean::line(&c.path),
        format = c.format,
        links,
        packets = format::counted(t, "counted-packets", c.packets),
        bytes = format::bytes(c.bytes),
        duration,
        esp = format::count(c.esp_packets),
        ike = format::count(c.ike_packets)
    );
    match c.first_time {
        Some(_) => t.sentences(&[said, first_packet(t, c)]),
        None => said,
    }
}

/// Limits of the capture, as short sentences; one that there are none when nothing limits it.
pub(crate) fn quality(t: &Catalogue, c: &Capture) -> Vec<String> {
    let mut out = Vec::new();
    let with = |id: &str, n: u64| fill!(t, id, packets = format::counted(t, "counted-packets", n));
    match c.dropped_reported {
        Some(0) => {}
        Some(dropped) => out.push(with("quality-dropped", dropped)),
        None => out.push(t.word("quality-drops-unknown")),
    }
    if c.truncated_file {
        out.push(t.word("quality-truncated"));
    }
    let counted = [
        ("quality-cut", c.cut_packets),
        ("quality-duplicates", c.duplicates),
        ("quality-time-regressions", c.time_regressions),
    ];
    out.extend(counted.iter().filter(|(_, n)| *n > 0).map(|(id, n)| with(id, *n)));
    if c.offload_suspected {
        out.push(t.word("quality-offload"));
    }
    if out.is_empty() {
        out.push(t.word("quality-good"));
    }
    out
}

/// Packets that most frames of the capture show again: two lines for one packet in another program are no retransmission.
pub(crate) fn doubled(t: &Catalogue, c: &Capture) -> Option<String> {
    let once = c.packets.saturating_sub(c.duplicates);
    (c.duplicates > once / 2).then(|| {
        let packets = format::counted(t, "counted-packets", c.packets);
        fill!(t, "answer-doubled", again = format::count(c.duplicates), packets)
    })
}

/// The SAs that carried something.
pub(crate) fn with_packets(analysis: &Analysis) -> impl Iterator<Item = &SecurityAssociation> {
    analysis.security_associations.iter().filter(|sa| sa.packets > 0)
}

/// SAs with packets: the opened ones, and all.
pub(crate) fn decrypted(analysis: &Analysis) -> (u64, u64) {
    let opened = with_packets(analysis).filter(|sa| sa.is_decrypted()).count();
    (opened as u64, with_packets(analysis).count() as u64)
}

/// The number of SAs that are decrypted, and the results of their ICVs.
pub(crate) fn decryption(t: &Catalogue, analysis: &Analysis) -> String {
    let (verified, total) = decrypted(analysis);
    let sum = |f: fn(&SecurityAssociation) -> u64| {
        format::count(with_packets(analysis).fold(0u64, |n, sa| n.saturating_add(f(sa))))
    };
    if total == 0 {
        return t.word("decryption-none");
    }
    fill!(
        t,
        "decryption",
        verified = format::count(verified),
        total = format::counted(t, "counted-sas", total),
        fit = sum(|sa| sa.icv.verified),
        bad = sum(|sa| sa.icv.failed),
        unchecked = sum(|sa| sa.icv.unchecked)
    )
}

/// An oddity in one sentence.
pub(crate) fn diagnostic(t: &Catalogue, d: &DiagnosticEntry) -> String {
    let (sentence, count) = (clean::said(t, &d.sentence, &d.messages), format::count(d.count));
    match d.first_frame.map(|f| f.to_string()) {
        Some(frame) => fill!(t, "diagnostic-first", sentence, count, frame),
        None => fill!(t, "diagnostic", sentence, count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::focus::Focus;
    use rekeyscope_model::text::Language;
    use rekeyscope_testkit::example;

    #[test]
    fn a_few_copies_are_not_told_of_below_the_answer() {
        let document = example::seven_rekeys();
        let t = Focus::new(&document, Language::English).t;
        let mut capture = document.capture.clone();
        let mut said = |packets, duplicates| {
            (capture.packets, capture.duplicates) = (packets, duplicates);
            doubled(t, &capture)
        };
        assert_eq!(said(1_000, 300), None);
        let all = said(1_000, 500).unwrap();
        assert!(all.starts_with("500 of 1,000 packets are copies"), "{all}");
    }
}

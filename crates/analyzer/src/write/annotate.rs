//! `--annotate`: the original packets, with comments at each rekey, what it cost, and each missing key. Wireshark shows them in the packet
//! and in its expert information.

use crate::write::copies::{buffered, output_error, wipe};
use rekeyscope_capture::file::{CaptureCopy, CaptureReader};
use rekeyscope_model::analysis::{Analysis, Direction, KeyStatus, Rekey, RekeyEvidence, TriggerKind};
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::error::Error;
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::Spi;
use rekeyscope_model::text::Language;
use rekeyscope_model::time::Timestamp;
use rekeyscope_report::words::focus::Focus;
use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::path::Path;

/// Most frames that get a comment; later rekeys go without. Each costs some 200 bytes while the file is written.
const MOST_COMMENTED: usize = 100_000;
/// Begins every comment, so that a display filter finds them: `frame.comment contains "rekeyscope"`.
const MARK: &str = "rekeyscope: ";

/// Comments by frame number.
#[derive(Debug, Default)]
struct Comments(BTreeMap<u64, String>);

impl Comments {
    fn add(&mut self, frame: Option<u64>, text: &str) {
        let Some(frame) = frame else { return };
        if self.0.len() >= MOST_COMMENTED && !self.0.contains_key(&frame) {
            return;
        }
        let comment = self.0.entry(frame).or_default();
        if !comment.is_empty() {
            comment.push('\n');
        }
        comment.push_str(MARK);
        comment.push_str(text);
    }
}

/// Copies a capture with comments from its analysis, and with these rows of `esp_sa` inside it where there are some. Gives the
/// number of packets that have a comment. `path` is what errors call the output.
///
/// # Errors
/// [`Error::Capture`], [`Error::Output`].
pub fn write(
    mut reader: CaptureReader,
    analysis: &Analysis,
    esp_sa: Option<SecretBytes>,
    out: impl Write,
    path: &Path,
) -> Result<u64, Error> {
    let failed = output_error(path);
    // Frames come in the order of their numbers.
    let mut comments = comments(analysis).0.into_iter().peekable();
    let mut copy = CaptureCopy::of_packets(buffered(out));
    if let Some(rows) = esp_sa {
        copy = copy.with_esp_secrets(rows);
    }
    let mut counted_before = Diagnostics::default();
    let mut commented = 0;
    while let Some(item) = reader.next_item(&mut counted_before)? {
        let comment = item.number.and_then(|number| {
            while comments.next_if(|(of, _)| *of < number).is_some() {}
            comments.next_if(|(of, _)| *of == number)
        });
        match comment {
            Some((_, comment)) => {
                commented += 1;
                copy.annotate(&item, &comment)
            }
            None => copy.pass(&item),
        }
        .map_err(&failed)?;
    }
    let link_type = reader.info().link_types.first().copied();
    wipe(copy.finish(link_type.unwrap_or_default()).map_err(&failed)?);
    Ok(commented)
}

fn comments(analysis: &Analysis) -> Comments {
    let mut comments = Comments::default();
    let firsts = first_packets(analysis);
    let focus = Focus::new(analysis, Language::English);
    for rekey in &analysis.rekeys {
        note_rekey(&mut comments, analysis, &firsts, (rekey, &focus.name(rekey)));
    }
    note_failures(&mut comments, analysis);
    for sa in &analysis.security_associations {
        if sa.key.status != KeyStatus::Verified {
            let text = format!(
                "no usable key for SA {} to {}: its packets stay closed",
                sa.spi, sa.dst
            );
            comments.add(sa.first_frame, &text);
        }
    }
    for finding in &analysis.findings {
        let text = format!("{}: {}", finding.id, finding.sentence);
        comments.add(finding.evidence_frames.first().copied(), &text);
    }
    comments
}

fn note_failures(comments: &mut Comments, analysis: &Analysis) {
    for attempt in analysis.attempts.iter().filter(|a| a.outcome.failed()) {
        let reason = attempt
            .reason
            .as_ref()
            .map_or_else(String::new, |r| format!(" ({r})"));
        let text = format!("attempt failed: {}{reason}", attempt.outcome);
        comments.add(attempt.evidence_frames.first().copied(), &text);
    }
    for outage in &analysis.outages {
        let least = if outage.at_least { " at least" } else { "" };
        let text = format!(
            "the last data before {:.2} s{least} in which nothing passes {}",
            outage.seconds, outage.direction
        );
        comments.add(outage.frames.first().copied(), &text);
        let text = format!("data passes again {}: {}", outage.direction, outage.ended_by);
        comments.add(
            outage.frames.last().copied().filter(|_| outage.end.is_some()),
            &text,
        );
    }
}

fn note_rekey(
    comments: &mut Comments,
    analysis: &Analysis,
    firsts: &FirstPackets,
    (rekey, name): (&Rekey, &str),
) {
    let begins = rekey
        .exchange
        .and_then(|e| analysis.exchanges.get(e)?.frames.first().copied());
    comments.add(begins, &beginning(name, rekey));
    for direction in Direction::BOTH {
        let (old, new) = (rekey.old.get(direction), rekey.new.get(direction));
        let (at, gap_ms) = (rekey.switched.get(direction), rekey.gap_ms.get(direction));
        let first = new
            .zip(at)
            .and_then(|(spi, at)| firsts.get(&(rekey.tunnel, spi, at)).copied());
        if let Some(new) = new {
            let after = match (old, gap_ms) {
                (Some(old), Some(gap)) => format!(", {gap:.1} ms after the last on {old}"),
                _ => String::new(),
            };
            comments.add(first, &format!("rekey {name}: first packet on {new}{after}"));
        }
        for impact in rekey.impact.iter().filter(|i| i.direction == direction && i.hurt) {
            let silence = impact
                .silence_ms
                .map_or_else(String::new, |ms| format!(", nothing arrived for {ms:.0} ms"));
            let cost = impact
                .cost_seconds
                .map_or_else(String::new, |cost| format!(", which cost {cost:.2} s"));
            let text = format!("rekey {name}: it held this direction up around here{silence}{cost}");
            comments.add(first.or(begins), &text);
        }
    }
    let costs = analysis.ledger.iter().flat_map(|ledger| &ledger.rekeys);
    for own in costs.filter(|own| own.rekey == rekey.index) {
        if let Some(explanation) = &own.explanation {
            let text = format!("rekey {name}: {}", explanation.cause.as_str());
            comments.add(explanation.frames.first().copied(), &text);
        }
    }
}

/// First frames of SAs, by tunnel, SPI and the time of that frame: the SA that a rekey switched to is, of those with its SPI, the
/// one whose first packet was then.
type FirstPackets = HashMap<(usize, Spi, Timestamp), u64>;

fn first_packets(analysis: &Analysis) -> FirstPackets {
    let mut firsts = HashMap::new();
    for sa in &analysis.security_associations {
        if let (Some(time), Some(frame)) = (sa.first_time, sa.first_frame) {
            firsts.entry((sa.tunnel, sa.spi, time)).or_insert(frame);
        }
    }
    firsts
}

fn beginning(name: &str, rekey: &Rekey) -> String {
    let kind = match rekey.evidence {
        RekeyEvidence::QuickMode => "Quick Mode",
        RekeyEvidence::CreateChildSa => "CREATE_CHILD_SA",
        RekeyEvidence::SpiSuccession => "a new SPI",
    };
    let trigger = match rekey.trigger.kind {
        TriggerKind::Volume => ", triggered by volume",
        TriggerKind::Time => ", triggered by time",
        TriggerKind::Packets => ", triggered by the number of packets",
        TriggerKind::Reauthentication => ", a reauthentication",
        TriggerKind::Collision => ", both sides at once",
        TriggerKind::Unknown => "",
    };
    format!("rekey {name} begins here ({kind}){trigger}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_testkit::example;

    /// A comment calls a rekey what the report calls it.
    #[test]
    fn rekeys_are_called_as_in_the_report() {
        let said = |document: &Analysis| comments(document).0.into_values().collect::<Vec<_>>().join("\n");
        let one = said(&example::seven_rekeys());
        assert!(
            one.contains("rekey 1 begins here") && !one.contains("rekey 0"),
            "{one}"
        );
        let two = said(&example::build(&example::Shape {
            tunnels: 2,
            ..Default::default()
        }));
        assert!(two.contains("rekey 7 of tunnel 1"), "{two}");
    }
}

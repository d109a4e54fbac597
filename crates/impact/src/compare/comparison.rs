//! Several analyses against each other: what does a rekey cost, seen from outside, and what does each cipher suite carry?
//!
//! Every capture gives one point to [`crate::compare::line`]: the transfer of its headline direction. Nothing in here looks at
//! packets.

#[cfg(test)]
mod tests;

use crate::compare::{gap, sentence};

pub use rekeyscope_model::analysis::comparison::{
    ComparedCapture, Comparison, SCHEMA_VERSION, Slope, Unread,
};

use crate::compare::line::{CapturePoint, line_through};
use crate::verdict::cost_of_a_rekey;
use rekeyscope_model::analysis::{Analysis, Counted, Generator, Impact, SecurityAssociation, Verdict};
use rekeyscope_model::text::{Catalogue, Language, Message, Said};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// One row from one analysis. `path` names it (an analysis read from a file has the path of its capture inside).
pub fn row_of(path: &str, analysis: &Analysis) -> ComparedCapture {
    let headline = analysis.impact.first();
    let transfer = headline.and_then(|i| i.transfer.as_ref());
    let point = transfer.and_then(|t| CapturePoint::new(t.bytes, t.duration_s, t.rekeys));
    let ledger = headline.and_then(|i| analysis.ledger_of(i.tunnel, i.direction));
    let sas = headline.map_or_else(Vec::new, |i| of_direction(analysis, i));
    let (inner_bytes, outer_bytes, packets) = opened(&sas);
    let ends = headline.and_then(|i| ends(analysis, i));
    let tunnel = headline.map(|i| i.tunnel);
    let limits = analysis.rekeys.iter().filter(|r| Some(r.tunnel) == tunnel);
    let (kilobytes, seconds): (Vec<_>, Vec<_>) = limits
        .map(|r| (r.trigger.limit_kilobytes, r.trigger.limit_seconds))
        .unzip();
    let why_not = point.is_none().then(|| why_no_point(headline));
    let why_not = Said::of(why_not.into_iter().collect());
    ComparedCapture {
        path: path.to_owned(),
        name: path.to_owned(),
        src: ends.map(|e| e.0),
        dst: ends.map(|e| e.1),
        direction: headline.map(|i| i.direction),
        verdict: headline.map(|i| i.verdict),
        counted: headline.map(|i| i.counted),
        suite: suite(&sas),
        lifetime_kilobytes: kilobytes.into_iter().flatten().next(),
        lifetime_seconds: seconds.into_iter().flatten().next(),
        rekeys: transfer.map(|t| t.rekeys),
        bytes: transfer.map(|t| t.bytes),
        duration_s: transfer.map(|t| t.duration_s),
        rate_bps: point.and(transfer).map(|t| 8.0 * t.bytes / t.duration_s),
        rekeys_per_gb: point.map(|p| p.rekeys_per_gb),
        seconds_per_gb: point.map(|p| p.seconds_per_gb),
        rekey_cost_s: headline
            .zip(ledger)
            .filter(|(i, ledger)| i.rekeys_used.max(ledger.rekeys.len()) > 0)
            .map(|(i, ledger)| cost_of_a_rekey(ledger, i.rekeys_used)),
        at_least: ledger.is_some_and(|ledger| ledger.at_least),
        account: headline.and_then(|i| gap::of_direction(analysis, i.tunnel, i.direction)),
        inner_bytes,
        outer_bytes,
        packets,
        efficiency: (outer_bytes > 0).then(|| inner_bytes as f64 / outer_bytes as f64),
        used: point.is_some(),
        left_out: point.is_none().then_some(why_not.sentence),
        left_out_messages: why_not.messages,
    }
}

fn point(row: &ComparedCapture) -> Option<CapturePoint> {
    row.rekeys_per_gb
        .zip(row.seconds_per_gb)
        .filter(|_| row.used)
        .map(|(rekeys_per_gb, seconds_per_gb)| CapturePoint {
            rekeys_per_gb,
            seconds_per_gb,
        })
}

fn leave_out(row: &mut ComparedCapture, why: Message) {
    let why = Said::from(why);
    row.used = false;
    (row.left_out, row.left_out_messages) = (Some(why.sentence), why.messages);
}

fn why_no_point(headline: Option<&Impact>) -> Message {
    match headline {
        None => Message::new("left-out-no-tunnel"),
        Some(i) if i.verdict == Verdict::NoTraffic => Message::new("left-out-little-data"),
        Some(i) if i.observed_bps.is_some() => Message::new("left-out-old-document"),
        Some(_) => Message::new("left-out-nothing"),
    }
}

/// Compares captures in the order given.
pub fn compare(mut captures: Vec<ComparedCapture>, unread: Vec<Unread>) -> Comparison {
    name(&mut captures);
    let mut notes_messages = agree_on_what_counts(&mut captures);
    let points: Vec<CapturePoint> = captures.iter().filter_map(point).collect();
    let slope = line_through(&points);
    let gaps = gap::gaps(&captures);
    let mut comparison = Comparison {
        schema_version: SCHEMA_VERSION,
        generator: Generator {
            name: "rekeyscope".into(),
            version: env!("CARGO_PKG_VERSION").into(),
        },
        answer: String::new(),
        answer_messages: Vec::new(),
        slope,
        captures,
        gaps,
        efficiency: String::new(),
        efficiency_messages: Vec::new(),
        notes: Vec::new(),
        notes_messages: Vec::new(),
        unread,
    };
    let (answer, efficiency) = (sentence::answers(&comparison), sentence::efficiency(&comparison));
    (comparison.answer, comparison.answer_messages) = both(answer.into());
    (comparison.efficiency, comparison.efficiency_messages) = both(efficiency.into());
    notes_messages.extend(sentence::reservations(&comparison));
    let english = Catalogue::of(Language::English);
    comparison.notes = notes_messages.iter().map(|note| english.say(note)).collect();
    comparison.notes_messages = notes_messages;
    comparison
}

fn both(said: Said) -> (String, Vec<Message>) {
    (said.sentence, said.messages)
}

/// New inner bytes and ESP bytes are no common measure: where both occur, the captures without keys leave the line.
fn agree_on_what_counts(captures: &mut [ComparedCapture]) -> Vec<Message> {
    let counts = |c: &ComparedCapture, what| c.used && c.counted == Some(what);
    let inner = captures.iter().any(|c| counts(c, Counted::InnerNewBytes));
    let outer = captures.iter().any(|c| counts(c, Counted::OuterBytes));
    for capture in captures.iter_mut().filter(|_| inner && outer) {
        if counts(capture, Counted::OuterBytes) {
            leave_out(capture, Message::new("left-out-no-keys"));
        }
    }
    if outer && !inner {
        vec![Message::new("note-outer-bytes")]
    } else {
        Vec::new()
    }
}

/// The shortest end of each path that no other path has, from whole components.
fn name(captures: &mut [ComparedCapture]) {
    let end = |path: &str, n: usize| -> String {
        let parts: Vec<&str> = path.split(['/', '\\']).filter(|p| !p.is_empty()).collect();
        parts[parts.len().saturating_sub(n)..].join("/")
    };
    let longest = captures
        .iter()
        .map(|c| c.path.matches(['/', '\\']).count() + 1)
        .max();
    for n in 1..=longest.unwrap_or(0) {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        captures
            .iter()
            .for_each(|c| *seen.entry(end(&c.path, n)).or_default() += 1);
        if n == longest.unwrap_or(0) || seen.values().all(|&times| times == 1) {
            // A file name that all have says nothing: the folders tell them apart.
            let last = end(&captures[0].path, 1);
            let idle = seen.keys().all(|name| name.ends_with(&format!("/{last}")));
            for capture in captures.iter_mut() {
                let name = end(&capture.path, n);
                let cut = if idle { last.len() + 1 } else { 0 };
                capture.name = name[..name.len() - cut].to_owned();
            }
            return;
        }
    }
}

fn ends(analysis: &Analysis, headline: &Impact) -> Option<(IpAddr, IpAddr)> {
    let tunnel = analysis.tunnels.get(headline.tunnel)?;
    let (a, b) = (tunnel.a, tunnel.b);
    Some(headline.direction.pick((a, b), (b, a)))
}

/// SAs with packets towards the end that the headline's direction has. (Behind a NAT an address may change; the
/// tunnel's own ends are those of its first packets.)
fn of_direction<'a>(analysis: &'a Analysis, headline: &Impact) -> Vec<&'a SecurityAssociation> {
    let dst = ends(analysis, headline).map(|e| e.1);
    let own = analysis.sas_of(headline.tunnel);
    own.filter(|sa| Some(sa.dst) == dst && sa.packets > 0).collect()
}

/// Inner bytes, outer bytes and packets of the SAs whose every packet was opened: of others the two are no pair.
fn opened(sas: &[&SecurityAssociation]) -> (u64, u64, u64) {
    let whole = sas.iter().filter(|sa| sa.icv.failed == 0);
    whole
        .filter_map(|sa| Some((sa.inner_bytes?, sa.outer_bytes, sa.packets)))
        .fold((0, 0, 0), |sum, sa| {
            (
                sum.0.saturating_add(sa.0),
                sum.1.saturating_add(sa.1),
                sum.2.saturating_add(sa.2),
            )
        })
}

/// `AES-CBC-128/HMAC-SHA1-96`; several with a plus between them.
fn suite(sas: &[&SecurityAssociation]) -> Option<String> {
    let mut packets: BTreeMap<String, u64> = BTreeMap::new();
    for sa in sas {
        let Some(encryption) = &sa.encryption else {
            continue;
        };
        let suite = match sa.integrity.as_deref() {
            None | Some("none") => encryption.clone(),
            Some(integrity) => format!("{encryption}/{integrity}"),
        };
        let sum = packets.entry(suite).or_default();
        *sum = sum.saturating_add(sa.packets);
    }
    let mut suites: Vec<(String, u64)> = packets.into_iter().collect();
    suites.sort_by_key(|s| std::cmp::Reverse(s.1));
    let names: Vec<String> = suites.into_iter().map(|s| s.0).collect();
    (!names.is_empty()).then(|| names.join(" + "))
}

//! Prints the ledger of a capture: packets by tshark's decryption and without it, rekeys and attempts as the document of the program has
//! them.
#![allow(clippy::print_stdout, reason = "it is a program")]

use rekeyscope_impact::ledger::{
    FailedSpan, LedgerBook, LedgerInput, Owner, RekeySpan, SealedBook, ledger, sealed_ledger,
    swallow_beyond_volume,
};
use rekeyscope_lab::tables::{LabCapture, read};
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp, seconds};
use rekeyscope_traffic::{DeliveredBytes, DeliveryLine, SealedTraffic, Tracker, TransmissionRun};
use serde_json::Value;

/// Longest time from the last byte to a failure that ended the transfer.
const NEAR: i64 = 10 * NANOS_PER_SECOND;

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [outer, inner, document, rest @ ..] = words.as_slice() else {
        return Err(std::io::Error::other(
            "usage: ledger OUTER.tsv INNER.tsv DOCUMENT.json [-v]",
        ));
    };
    let capture = read(outer, inner)?;
    let document = Document(serde_json::from_str(&std::fs::read_to_string(document)?)?);
    let (mut tracker, mut delivered) = (Tracker::new(), DeliveredBytes::new());
    for (packet, _) in &capture.packets {
        let segment = tracker.push(packet);
        delivered.take(packet, &segment, &tracker);
    }
    let mut lines = delivered.lines(&tracker, capture.last);
    let bytes = |line: &DeliveryLine| line.arrived.iter().map(|run| run.bytes).sum::<u64>();
    lines.sort_by_key(|line| std::cmp::Reverse(bytes(line)));
    let verbose = rest.iter().any(|word| word == "-v");
    for line in lines.iter_mut().take(if verbose { 2 } else { 1 }) {
        if line.datagrams {
            swallow(line, &document);
        }
        print(&capture, line, &document, verbose);
        print_sealed(&capture, line.direction, &document, verbose);
    }
    Ok(())
}

/// The document that the program writes of the capture.
struct Document(Value);

fn time(value: &Value) -> Option<Timestamp> {
    serde_json::from_value(value.clone()).ok()
}

fn direction_name(direction: Direction) -> &'static str {
    match direction {
        Direction::AToB => "a_to_b",
        Direction::BToA => "b_to_a",
    }
}

impl Document {
    fn list(&self, name: &str) -> &[Value] {
        self.0[name].as_array().map_or(&[], Vec::as_slice)
    }

    /// The SA of a rekey in a direction: `old` or `new`.
    fn association<'a>(&'a self, rekey: &Value, age: &str, direction: Direction) -> Option<&'a Value> {
        let spi = &rekey[age][direction_name(direction)];
        let mut all = self.list("security_associations").iter();
        all.find(|sa| !spi.is_null() && sa["spi"] == *spi)
    }

    fn rekeys(&self, direction: Direction) -> Vec<RekeySpan> {
        let span = |rekey: &Value| {
            let exchange = &self.list("exchanges")[usize::try_from(rekey["exchange"].as_u64()?).ok()?];
            let first = |of| time(&self.association(rekey, "new", of)?["first_time"]);
            let old = self.association(rekey, "old", direction);
            let limit = rekey["trigger"]["limit_kilobytes"]
                .as_f64()
                .map(|kilobytes| 1e3 * kilobytes);
            let used = old.and_then(|old| old["inner_bytes"].as_f64());
            Some(RekeySpan {
                rekey: usize::try_from(rekey["index"].as_u64()?).ok()?,
                asked: time(&exchange["first_time"])?,
                last_message: time(&exchange["last_time"])?,
                first_on_new: [first(direction), first(direction.reverse())],
                last_on_old: old.and_then(|old| time(&old["last_time"])),
                deleted: None,
                volume: used.zip(limit).map(|(used, limit)| used / limit),
            })
        };
        self.list("rekeys").iter().filter_map(span).collect()
    }

    fn failed(&self) -> Vec<FailedSpan> {
        let mut begins: Vec<Timestamp> = self
            .list("security_associations")
            .iter()
            .filter_map(|sa| time(&sa["first_time"]))
            .collect();
        begins.sort_unstable();
        let next = |from: Timestamp| begins.iter().copied().find(|at| *at > from);
        let span = |attempt: &Value| {
            let swallows = attempt["causes"]
                .as_array()?
                .iter()
                .any(|cause| cause["id"] == "blackhole_after_rekey");
            let completed = attempt["outcome"] == "completed";
            let from = time(&attempt[if completed { "last_time" } else { "first_time" }])?;
            // The SAs of an exchange that swallow everything begin right behind it.
            let behind = if completed {
                from.plus_nanos(NANOS_PER_SECOND)
            } else {
                from
            };
            (!completed || swallows).then(|| FailedSpan {
                attempt: attempt["index"].as_u64().unwrap_or(0) as usize,
                from,
                to: next(behind),
            })
        };
        self.list("attempts").iter().filter_map(span).collect()
    }

    /// Highest rate that the path carries, bytes a second.
    fn capacity(&self, direction: Direction) -> Option<f64> {
        let mut accounts = self.list("account").iter();
        let own = accounts.find(|account| account["direction"] == direction_name(direction))?;
        let mbps = own["own_mbps"].as_f64().filter(|_| own["own_from"] == "proven")?;
        Some(mbps * 1e6 / 8.0)
    }

    /// Outages that packets prove.
    fn outages(&self, direction: Direction) -> Vec<(Timestamp, Timestamp)> {
        let own = self.list("outages").iter();
        let own = own.filter(|outage| outage["direction"] == direction_name(direction));
        own.filter_map(|outage| Some((time(&outage["start"])?, time(&outage["end"])?)))
            .collect()
    }
}

/// Marks datagrams beyond the volume of their SA, which do not arrive.
fn swallow(line: &mut DeliveryLine, document: &Document) {
    let outages = document.outages(line.direction);
    let beyond = |(from, to): &(Timestamp, Timestamp)| {
        let mut within = line.arrived.iter().filter(|run| *from < run.to && run.from < *to);
        Some((within.next()?.spi?, *from))
    };
    let beyond: Vec<(u32, Timestamp)> = outages.iter().filter_map(beyond).collect();
    swallow_beyond_volume(&mut line.arrived, &mut line.in_vain, &beyond);
}

/// The transfer: to the end of the capture where the tunnel died.
fn transfer<'a>(
    capture: &LabCapture,
    runs: impl Iterator<Item = &'a TransmissionRun> + Clone,
    failed: &[FailedSpan],
    closed: bool,
) -> Option<((Timestamp, Timestamp), bool)> {
    let from = runs.clone().map(|run| run.from).min()?;
    let last = runs.map(|run| run.to).max()?;
    let near = |own: &FailedSpan| own.to.is_none() && own.from.nanos_since(last) <= NEAR;
    let died = failed.iter().any(near) && !closed;
    Some(((from, if died { capture.last } else { last }), died))
}

fn print(capture: &LabCapture, line: &DeliveryLine, document: &Document, verbose: bool) {
    let (rekeys, failed) = (document.rekeys(line.direction), document.failed());
    let runs = line.arrived.iter().chain(&line.in_vain);
    let Some((transfer, died)) = transfer(capture, runs, &failed, line.closed) else {
        return;
    };
    let input = LedgerInput {
        arrived: &line.arrived,
        in_vain: &line.in_vain,
        transfer,
        died,
        round_trip: line.round_trip.unwrap_or(0),
        capacity: document.capacity(line.direction),
        rekeys: &rekeys,
        failed: &failed,
        outages: &[],
        rests: &[],
        holes: &[],
    };
    print_book(
        capture,
        document,
        (line.direction, "with keys"),
        &ledger(&input),
        verbose,
    );
}

/// Prints the ledger of the direction's ESP packets alone.
fn print_sealed(capture: &LabCapture, direction: Direction, document: &Document, verbose: bool) {
    let mut traffic = SealedTraffic::new();
    for (direction, packet) in &capture.sealed {
        traffic.take(0, *direction, *packet);
    }
    let (mut rekeys, failed) = (document.rekeys(direction), document.failed());
    // The volume of a rekey is that of payloads.
    rekeys.iter_mut().for_each(|rekey| rekey.volume = None);
    let Some(line) = traffic.line(0, direction) else {
        return;
    };
    let Some((transfer, died)) = transfer(capture, line.data.iter(), &failed, false) else {
        return;
    };
    let input = LedgerInput {
        arrived: &line.data,
        in_vain: &[],
        transfer,
        died,
        round_trip: 0,
        capacity: None,
        rekeys: &rekeys,
        failed: &failed,
        outages: &[],
        rests: &[],
        holes: &[],
    };
    let SealedBook { book, basis, .. } = sealed_ledger(&input, &line.answers, line.reverse_bytes);
    let bound = book.bound().map_or_else(String::new, |bound| {
        format!(", bound {:.3} s", bound as f64 / 1e9)
    });
    let by = format!(
        "without, by {basis}{}{bound}",
        if book.is_at_least() { ", at least" } else { "" }
    );
    print_book(capture, document, (direction, &by), &book, verbose);
}

fn print_book(
    capture: &LabCapture,
    document: &Document,
    (direction, by): (Direction, &str),
    book: &LedgerBook,
    verbose: bool,
) {
    let (rekeys, all) = (seconds(book.rekeys_nanos()), seconds(book.nanos));
    println!(
        "{} {:?} {by}: T {all:.3} s, {} bytes, rekeys {rekeys:.3} s ({:.1} %), down {:.3} s; {:.2} Mbit/s, {:.2} without; undisturbed {:.2} s",
        capture_name(document),
        direction,
        book.bytes,
        100.0 * rekeys / all,
        seconds(book.down),
        book.bytes as f64 * 8e-6 / all,
        book.bytes as f64 * 8e-6 / (all - rekeys),
        seconds(book.undisturbed),
    );
    for cost in &book.rekeys {
        println!(
            "  rekey {}: {:.3} s ({:.3} to {:.3}), silence {:.3} s, {} in vain, {:?}, r0 {:.3} Mbit/s{}",
            cost.rekey + 1,
            seconds(cost.nanos),
            seconds(cost.range.0),
            seconds(cost.range.1),
            seconds(cost.silence),
            cost.in_vain,
            cost.why,
            cost.rate * 8e-6,
            if cost.at_least { ", at least" } else { "" },
        );
    }
    if let Some(slow) = &book.slow {
        println!(
            "  slow without a silence: {:.3} s, p {:.3}, bound {:.3} s each, {} rekeys",
            seconds(slow.nanos),
            slow.p,
            seconds(slow.bound),
            slow.rekeys.len()
        );
    }
    if verbose {
        print_intervals(capture, book);
    }
}

fn print_intervals(capture: &LabCapture, book: &LedgerBook) {
    for own in &book.intervals {
        let at = |time: Timestamp| time.seconds_since(capture.first);
        println!(
            "    {} {:.3} – {:.3} – {:.3} s: cost {:.3} s, {} in vain, {:?}, {} bytes, r0 {:.3} Mbit/s, frames {:?}",
            match own.owner {
                Owner::Rekey(rekey) => format!("rekey {}", rekey + 1),
                Owner::Attempt(attempt) => format!("attempt {attempt}"),
                Owner::DownBefore(rekey) => format!("down before rekey {}", rekey + 1),
                Owner::Outage(outage) => format!("outage {outage}"),
            },
            at(own.from),
            at(own.arrived.unwrap_or(own.to)),
            at(own.to),
            seconds(own.nanos),
            own.in_vain,
            own.why,
            own.bytes,
            own.rate * 8e-6,
            own.frames,
        );
    }
}

fn capture_name(document: &Document) -> String {
    let path = document.0["capture"]["path"].as_str().unwrap_or_default();
    let mut parts = path.rsplit('/');
    parts.nth(1).unwrap_or(path).to_owned()
}

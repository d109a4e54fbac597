//! Two capture points in words.

use rekeyscope_model::analysis::{
    CaptureFile, OrderSource, PointClock, PointDirection, PointOrder, PointRekey, TwoPoints,
};
use rekeyscope_model::spi::Spi;
use rekeyscope_model::text::{Arg, Message, Said, grouped};

/// Directions with a sentence of their own; the others are in the table.
const MOST_DIRECTIONS: usize = 4;

/// `37.02 ms`, `0.052 ms`, `1,240 ms`: three or four figures.
pub fn millis(ms: f64) -> String {
    let text = match ms.abs() {
        size if size < 1.0 => format!("{ms:.3}"),
        size if size < 100.0 => format!("{ms:.2}"),
        size if size < 1000.0 => format!("{ms:.1}"),
        _ if ms < 0.0 => format!("-{}", grouped(ms.abs().round() as u64)),
        _ => grouped(ms.round() as u64),
    };
    format!("{} ms", text.replace('-', "−"))
}

/// What could be compared, the clocks, the losses, and what to keep in mind. Of this capture: packets that it dropped, its files.
pub(crate) fn whole(points: &TwoPoints, dropped_here: Option<u64>, files_here: &[CaptureFile]) -> Said {
    let other = points.path.as_str();
    let Some(clock) = &points.clock else {
        let message = match points.sas {
            0 => Message::new("two-points-no-common-sa"),
            sas => Message::new("two-points-no-common-packet").with("sas", sas),
        };
        return Said::from(message.with("other", other));
    };
    let span = points.from.zip(points.to);
    let seconds = span.map_or(0.0, |(from, to)| to.seconds_since(from));
    if seconds <= 0.0 {
        return Said::from(Message::new("two-points-no-common-time").with("other", other));
    }
    let mut said = self::clock(other, clock);
    said.extend(points.directions.iter().take(MOST_DIRECTIONS).map(direction));
    let by_hops = |d: &PointDirection| d.order_by == Some(OrderSource::HopLimit);
    if points.directions.iter().any(by_hops) {
        said.push(Message::new("two-points-order-by-hops"));
    }
    let messages: u64 = points.directions.iter().map(messages_lost).sum();
    if messages > 0 {
        said.push(Message::new("two-points-ike-lost").with("messages", messages));
    }
    if points.kept_until.is_some() {
        let seconds = format!("{seconds:.1} s");
        said.push(Message::new("two-points-kept-until").with("seconds", seconds));
    }
    if points.sas_behind_nat > 0 {
        said.push(Message::new("two-points-behind-nat").with("sas", points.sas_behind_nat));
    }
    if points.sas_only_here + points.sas_only_there > 0 {
        said.push(
            Message::new("two-points-sas-left-out")
                .with("here", points.sas_only_here)
                .with("there", points.sas_only_there),
        );
    }
    let lost = points.directions.iter().any(|d| d.only_here + d.only_there > 0);
    if lost {
        said.push(drops(dropped_here, points.dropped_reported));
    }
    let files = files_here.iter().chain(&points.files);
    let unread = files.filter(|file| file.problem.is_some()).count();
    if unread > 0 {
        said.push(Message::new("two-points-files-unread").with("files", unread));
    }
    Said::from(said)
}

fn clock(other: &str, clock: &PointClock) -> Vec<Message> {
    if !clock.straight {
        return vec![Message::new("two-points-clock-set").with("other", other)];
    }
    let mut said = match clock.offset_ms.zip(clock.offset_error_ms) {
        Some((offset, error)) => {
            let id = match offset < 0.0 {
                true => "two-points-clock-behind",
                false => "two-points-clock-ahead",
            };
            let message = Message::new(id).with("other", other);
            vec![
                message
                    .with("offset", millis(offset.abs()))
                    .with("error", millis(error)),
            ]
        }
        None => vec![Message::new("two-points-one-way").with("other", other)],
    };
    said.push(match clock.drift_ppm {
        Some(drift) if drift <= -0.05 => Message::new("two-points-drift-loses").with("ppm", ppm(-drift)),
        // To the tenth that is told.
        Some(drift) => Message::new("two-points-drift-gains").with("ppm", ppm(drift.max(0.0))),
        None => Message::new("two-points-drift-unknown"),
    });
    said
}

fn ppm(drift: f64) -> String {
    format!("{drift:.1} ppm")
}

fn direction(d: &PointDirection) -> Message {
    let of = |id: &str| {
        Message::new(id)
            .with("src", d.src.to_string())
            .with("dst", d.dst.to_string())
            .with("both", grouped(d.both))
    };
    match (d.order, d.lost_between, d.not_recorded) {
        (PointOrder::Unknown, ..) | (_, None, _) | (.., None) => of("two-points-lost-unknown")
            .with("here", grouped(d.only_here))
            .with("there", grouped(d.only_there)),
        (_, Some(lost), Some(not_recorded)) => {
            let id = match d.order {
                PointOrder::HereFirst => "two-points-lost-behind-here",
                _ => "two-points-lost-before-here",
            };
            of(id)
                .with("lost", lost)
                .with("grouped", grouped(lost))
                .with("sent", grouped(d.both + lost))
                .with("missing", grouped(d.missing_at_both))
                .with("unrecorded", grouped(not_recorded))
        }
    }
}

fn messages_lost(d: &PointDirection) -> u64 {
    match d.order {
        PointOrder::HereFirst => d.ike_only_here,
        PointOrder::ThereFirst => d.ike_only_there,
        PointOrder::Unknown => 0,
    }
}

/// What looks like a loss and may be none.
fn drops(here: Option<u64>, there: Option<u64>) -> Message {
    match (here, there) {
        (Some(0), Some(0)) => Message::new("two-points-drops-none"),
        (None, None) => Message::new("two-points-drops-unknown"),
        (here, there) => {
            let said = |dropped: Option<u64>| -> Arg {
                dropped.map_or_else(
                    || Message::new("two-points-not-told").into(),
                    |n| grouped(n).into(),
                )
            };
            Message::new("two-points-drops")
                .with("here", said(here))
                .with("there", said(there))
        }
    }
}

/// What a rekey lost between the points.
pub(crate) fn rekey(rekey: &PointRekey) -> Said {
    let mut lost: Vec<Arg> = Vec::new();
    let mut packets = |id: &str, count: u64, spi: Option<Spi>| {
        if let (1.., Some(spi)) = (count, spi) {
            let message = Message::new(id).with("packets", count);
            lost.push(message.with("spi", spi.to_string()).into());
        }
    };
    packets("two-points-packets-old", rekey.old_lost, rekey.old_spi);
    packets("two-points-packets-new", rekey.new_lost, rekey.new_spi);
    if rekey.ike_lost > 0 {
        let messages = Message::new("two-points-messages");
        lost.push(messages.with("messages", rekey.ike_lost).into());
    }
    let id = match (rekey.first_ms, rekey.last_ms) {
        (_, last) if last < 0.0 => "two-points-rekey-before",
        (first, _) if first >= 0.0 => "two-points-rekey-after",
        _ => "two-points-rekey-around",
    };
    let message = Message::new(id)
        .with("first", millis(rekey.first_ms.abs()))
        .with("last", millis(rekey.last_ms.abs()))
        .with("number", rekey.number.to_string())
        .with("lost", lost);
    let packets = rekey.old_lost + rekey.new_lost;
    let usual = rekey.usual_lost.filter(|_| packets > 0).map(|usual| {
        Message::new("two-points-usual")
            .with("sent", grouped(rekey.sent))
            .with("usual", format!("{usual:.1}"))
    });
    Said::from(std::iter::once(message).chain(usual).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests;

//! Samples from a CSV file: a time and a number per row, whatever else stands behind them.

use rekeyscope_model::analysis::OverlayPoint;
use rekeyscope_model::text::Message;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};

/// Numbers from here on are Unix seconds (3 March 1973), smaller ones seconds since the start of the capture.
const FIRST_UNIX_SECOND: f64 = 1e8;
/// And from here on Unix milliseconds.
const FIRST_UNIX_MILLI: f64 = 1e11;
/// Longest name of a column that is kept.
const LONGEST_NAME: usize = 80;

pub(crate) struct SampleTable {
    /// From the header, where there is one.
    pub(crate) name: Option<String>,
    /// In order of time.
    pub(crate) points: Vec<OverlayPoint>,
    pub(crate) messages: Vec<Message>,
}

/// Reads it. `origin`: time zero of relative times.
pub(crate) fn parse(text: &[u8], origin: Option<Timestamp>) -> Result<SampleTable, String> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .from_reader(text);
    let (mut points, mut name, mut bad, mut first_bad) = (Vec::new(), None, 0_u64, 0);
    for (n, record) in reader.byte_records().enumerate() {
        let record =
            record.map_err(|e| format!("it is no CSV file ({e}); write a time and a value per row"))?;
        let cell = |i: usize| record.get(i).map(|c| String::from_utf8_lossy(c).into_owned());
        let row = cell(0).zip(cell(1));
        let point = row.as_ref().and_then(|(time, value)| point(time, value, origin));
        match (point, row) {
            (Some(point), _) => points.push(point),
            (None, Some((_, header))) if n == 0 => {
                name = Some(header.chars().take(LONGEST_NAME).collect()).filter(|h: &String| !h.is_empty());
            }
            (None, _) => {
                bad += 1;
                first_bad = if bad == 1 { n + 1 } else { first_bad };
            }
        }
    }
    if points.is_empty() {
        return Err(
            "no row is a time and a number: write 2026-11-20T20:11:49Z,37 or 1795205509,37 or, in seconds since the start of \
             the capture, 12.5,37"
                .into(),
        );
    }
    points.sort_by_key(|p: &OverlayPoint| p.time);
    let mut messages = Vec::new();
    if bad > 0 {
        messages.push(
            Message::new("overlay-bad-rows")
                .with("rows", bad)
                .with("first", first_bad),
        );
    }
    Ok(SampleTable {
        name,
        points,
        messages,
    })
}

fn point(time: &str, value: &str, origin: Option<Timestamp>) -> Option<OverlayPoint> {
    let value: f64 = value.trim_end_matches('%').trim_end().parse().ok()?;
    let time = moment(time, origin)?;
    value.is_finite().then_some(OverlayPoint {
        time,
        seconds: 0.0,
        value,
    })
}

fn moment(text: &str, origin: Option<Timestamp>) -> Option<Timestamp> {
    let nanos = |n: i128| i64::try_from(n).ok().map(Timestamp);
    if let Ok(number) = text.parse::<f64>() {
        return match number {
            n if !n.is_finite() || n < 0.0 => None,
            n if n >= FIRST_UNIX_MILLI => nanos((n * 1e6) as i128),
            n if n >= FIRST_UNIX_SECOND => nanos((n * NANOS_PER_SECOND as f64) as i128),
            n => Some(origin?.plus_seconds(n)),
        };
    }
    if let Ok(zoned) = text.parse::<jiff::Timestamp>() {
        return nanos(zoned.as_nanosecond());
    }
    // Without a zone it is UTC, as everything in the document.
    let civil: jiff::civil::DateTime = text.parse().ok()?;
    let zoned = civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    nanos(zoned.timestamp().as_nanosecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp(1_795_205_509_000_000_000);

    #[test]
    fn every_kind_of_time_is_the_same_moment() {
        let rows = [
            "2026-11-20T20:11:59Z",
            "2026-11-21T05:11:59+09:00",
            "2026-11-20 20:11:59",
            "1795205519",
            "1795205519000",
            "10.0",
        ];
        for row in rows {
            let table = parse(format!("time,cpu\n{row},37 %\n").as_bytes(), Some(START)).unwrap();
            assert_eq!(table.name.as_deref(), Some("cpu"), "{row}");
            assert_eq!(
                (table.points[0].time, table.points[0].value),
                (START.plus_seconds(10.0), 37.0),
                "{row}"
            );
        }
    }

    #[test]
    fn what_is_no_number_is_told() {
        let table = parse(b"5,1\nnan,2\n4,3\nx,y\n", Some(START)).unwrap();
        assert_eq!(
            table.points.iter().map(|p| p.value).collect::<Vec<_>>(),
            [3.0, 1.0]
        );
        assert_eq!(
            rekeyscope_model::text::Said::of(table.messages).sentence,
            "2 rows are no time and number and were left out, row 2 first."
        );
        assert!(parse(b"a,b\nc,d\n", None).is_err() && parse(b"", None).is_err());
        assert!(parse(b"1,2\n", None).is_err(), "relative to nothing");
    }
}

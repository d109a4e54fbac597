//! Throughput over time in one line of text, with a line of rekey marks below it.

use crate::plot::reduce::columns;
use crate::words::focus::{Focus, began, is_hurt};
use crate::words::{self, format};
use rekeyscope_model::analysis::TunnelSeries;
use rekeyscope_model::text::Catalogue;

/// Eighths of a character cell.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A sparkline with what belongs to it.
pub(crate) struct Sparkline {
    pub(crate) caption: String,
    pub(crate) rates: String,
    pub(crate) marks: String,
}

/// The direction of a tunnel that carries the data, at most `width` characters wide.
pub(crate) fn draw(focus: &Focus, tunnel: usize, width: usize) -> Option<Sparkline> {
    let direction = focus.main_direction(tunnel);
    let series = focus.series(tunnel, direction)?;
    let bin_s = focus.analysis.series.bin_ms / 1000.0;
    let columns = columns(&series.inner_new_bytes, bin_s, width);
    let highest = columns.iter().map(|c| c.mean).fold(0.0, f64::max);
    if highest <= 0.0 {
        return None;
    }
    let level = |rate: f64| match rate {
        r if r <= 0.0 => ' ',
        r => LEVELS[((r / highest * 8.0).ceil() as usize).clamp(1, 8) - 1],
    };
    let seconds = series.inner_new_bytes.len() as f64 * bin_s;
    let mut marks = vec![' '; columns.len()];
    for rekey in focus.analysis.rekeys_of(tunnel) {
        let Some(moment) = began(rekey) else { continue };
        let column = moment.seconds_since(series.start) / seconds * columns.len() as f64;
        // A mark outside the series stands at no column.
        if let Some(mark) = (column >= 0.0).then(|| marks.get_mut(column as usize)).flatten() {
            *mark = if is_hurt(rekey) || *mark == '!' { '!' } else { '^' };
        }
    }
    // The first bin begins a little before the first packet, which is time 0.
    let from = focus
        .seconds(series.start)
        .map_or_else(String::new, |s| format::clock(s.max(0.0)));
    let to = focus
        .seconds(series.start.plus_seconds(seconds))
        .map_or_else(String::new, format::clock);
    Some(Sparkline {
        caption: fill!(
            focus.t,
            "spark-caption",
            direction = words::direction(focus.t, focus.analysis, tunnel, direction),
            from,
            to,
            highest = highest_of(focus.t, series)
        ),
        rates: columns.iter().map(|c| level(c.mean)).collect(),
        marks: marks.into_iter().collect(),
    })
}

/// `, highest 9.42 Mbit/s over 1 s`; nothing where the document does not say.
fn highest_of(t: &Catalogue, series: &TunnelSeries) -> String {
    let Some(highest) = &series.highest else {
        return String::new();
    };
    let over = (highest.seconds * 100.0).round() / 100.0;
    fill!(
        t,
        "spark-highest",
        rate = format::rate(highest.bps),
        seconds = over
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_testkit::example;

    #[test]
    fn marks_stand_below_their_time() {
        let document = example::seven_rekeys();
        let spark = draw(
            &Focus::new(&document, rekeyscope_model::text::Language::English),
            0,
            60,
        )
        .unwrap();
        assert_eq!(spark.rates.chars().count(), 60);
        // 30 s in 60 columns: the rekeys at 3.75 s, 7.5 s, … stand in columns 7, 15, …
        let at: Vec<usize> = spark
            .marks
            .chars()
            .enumerate()
            .filter(|(_, c)| *c != ' ')
            .map(|(i, _)| i)
            .collect();
        assert_eq!(at, [7, 15, 22, 30, 37, 45, 52]);
        assert_eq!(spark.marks.chars().filter(|c| *c == '!').count(), 2);
    }

    #[test]
    fn a_document_without_the_highest_rate_does_not_say_it() {
        let mut document = example::seven_rekeys();
        let caption = |document: &_| {
            let focus = Focus::new(document, rekeyscope_model::text::Language::English);
            draw(&focus, 0, 60).unwrap().caption
        };
        assert!(
            caption(&document).contains(" s, highest ") && caption(&document).contains("Mbit/s over 1 s (^")
        );
        document.series.tunnels.iter_mut().for_each(|s| s.highest = None);
        assert!(
            caption(&document).contains(" s (^ rekey"),
            "{}",
            caption(&document)
        );
    }

    #[test]
    fn hostile_documents_draw_or_do_not() {
        for document in example::all() {
            let focus = Focus::new(&document, rekeyscope_model::text::Language::English);
            for tunnel in 0..3 {
                if let Some(spark) = draw(&focus, tunnel, 80) {
                    assert!(spark.rates.chars().count() <= 80);
                }
            }
        }
    }
}

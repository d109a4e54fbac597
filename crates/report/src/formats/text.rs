//! The terminal report: an answer that fits a screen, and with everything behind it.

mod answer;
mod full;
pub(crate) mod top;

use crate::words::focus::Focus;
use rekeyscope_model::analysis::Analysis;

pub(crate) use full::list_key_files;
pub use top::TextOptions;

/// The answer, at most 30 lines, ending in a newline.
pub fn render(analysis: &Analysis, options: TextOptions) -> String {
    answer::page(&Focus::new(analysis, options.language), options)
}

/// The whole text: every row and filter, events, projections, overhead, flows and how to make it again.
pub fn render_in_full(analysis: &Analysis, options: TextOptions) -> String {
    full::page(&Focus::new(analysis, options.language), options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::clean;
    use rekeyscope_model::text::Language;
    use rekeyscope_testkit::example;

    fn at(width: usize) -> TextOptions {
        TextOptions {
            width,
            color: false,
            language: Language::English,
        }
    }

    #[test]
    fn golden_80() {
        insta::assert_snapshot!(render(&example::seven_rekeys(), at(80)));
    }

    #[test]
    fn golden_140() {
        insta::assert_snapshot!(render(&example::seven_rekeys(), at(140)));
    }

    #[test]
    fn golden_80_without_keys() {
        let document = example::build(&example::Shape {
            keys: false,
            rekeys: 3,
            ..Default::default()
        });
        insta::assert_snapshot!(render(&document, at(80)));
    }

    /// A router's log tells times of day: whoever reads an outage in seconds finds it there by the time of the first packet, once.
    #[test]
    fn seconds_are_told_as_a_time_of_day_where_the_capture_had_a_clock() {
        let mut documents: Vec<Analysis> = example::outages();
        documents
            .iter_mut()
            .step_by(2)
            .for_each(|own| own.account.clear());
        for document in &mut documents {
            let first = document.capture.first_time;
            let text = render(document, at(80));
            assert_eq!(text.matches(" UTC").count(), 1, "{text}");
            assert!(text.contains("2026-11-20 20:11:49.00 UTC"), "{text}");
            document.capture.first_time = first.map(|first| first.plus_nanos(-1_795_205_509_000_000_000));
            assert!(!render(document, at(80)).contains("UTC"));
        }
    }

    #[test]
    fn golden_80_empty() {
        insta::assert_snapshot!(render(&example::empty(), at(80)));
    }

    #[test]
    fn the_full_report_holds_the_verdict_and_every_line_of_the_answer() {
        let document = example::seven_rekeys();
        let (answer, full) = (render(&document, at(300)), render_in_full(&document, at(300)));
        let lines = |text: &str| text.lines().take(3).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(lines(&answer), lines(&full));
        assert!(
            full.lines().any(|line| line == document.impact[0].sentence),
            "{full}"
        );
        assert!(!answer.contains(&document.impact[0].sentence));
    }

    /// Data that went in clear is never cut, and stands above.
    #[test]
    fn an_answer_fits_a_screen() {
        for language in Language::ALL {
            for document in example::all() {
                for width in [80, 110, 140, 220] {
                    let options = TextOptions {
                        language,
                        ..at(width)
                    };
                    let text = render(&document, options);
                    assert!(text.lines().count() <= 30, "{width}:\n{text}");
                    let last = text.lines().last().unwrap();
                    assert!(last.contains("-v") && last.contains("--html"), "{text}");
                }
            }
        }
    }

    #[test]
    fn data_in_clear_comes_first() {
        let mut document = example::build(&example::Shape {
            rekeys: 100,
            ..Default::default()
        });
        let leak = rekeyscope_model::analysis::Finding {
            id: "cleartext_leak".into(),
            sentence: "It went in clear.".into(),
            ..document.findings[0].clone()
        };
        document.findings.push(leak);
        let text = render(&document, at(80));
        assert!(
            text.starts_with("Warning: It went in clear.\n   ip.flags.mf == 1\n\n"),
            "{text}"
        );
        assert_eq!(text.matches("It went in clear.").count(), 1);
        assert!(text.lines().count() <= 30 && text.contains("all: -v\n"), "{text}");
    }

    #[test]
    fn no_line_is_wider_than_asked_for() {
        for document in example::all() {
            let filters = example::filters(&document);
            let filters: std::collections::HashSet<String> =
                filters.iter().map(|f| clean::sentence(f)).collect();
            for width in [80, 81, 100, 110, 140, 200] {
                for line in render(&document, at(width)).lines() {
                    assert!(
                        filters.contains(line.trim()) || line.chars().count() <= width,
                        "{width}: {line}"
                    );
                }
            }
        }
    }

    #[test]
    fn nothing_steers_the_terminal() {
        let text = render(&example::hostile(example::seven_rekeys()), at(120));
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text}");
        assert!(!text.contains('\u{202e}'));
    }

    #[test]
    fn colour_changes_nothing_but_colour() {
        let document = example::seven_rekeys();
        let colored = render(
            &document,
            TextOptions {
                width: 80,
                color: true,
                language: Language::English,
            },
        );
        let plain = render(&document, at(80));
        let words = |s: &str| s.split_whitespace().map(str::to_string).collect::<Vec<_>>();
        assert_eq!(words(&without_ansi(&colored)), words(&plain));
    }

    /// Drops CSI sequences that end in `m`.
    fn without_ansi(text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("\u{1b}[") {
            out.push_str(before);
            rest = after.split_once('m').map_or("", |(_, after)| after);
        }
        out + rest
    }
}

//! Every report in every language: no message is missing, no line is wider than its terminal, every letter has a shape.

use crate::formats::text::{self, TextOptions};
use crate::formats::{comparison, html, index, keys, markdown};
use crate::plot;
use crate::words::clean;
use rekeyscope_impact::compare::{compare, row_of};
use rekeyscope_model::analysis::Analysis;
use rekeyscope_model::analysis::comparison::{Comparison, Unread};
use rekeyscope_model::mining::MiningEffort;
use rekeyscope_model::text::{Language, take_missing};
use rekeyscope_testkit::example;
use serde_json::{Value, json};
use std::collections::HashSet;

/// A document as version 2 had it: figures that no type knows any more, and sentences of messages that no catalogue knows.
fn version_2() -> Analysis {
    let unknown = |ids: &[&str]| {
        let message = |id: &&str| json!({"id": id, "args": {"stall": "62 ms"}});
        Value::from_iter(ids.iter().map(message))
    };
    let mut document = serde_json::to_value(example::seven_rekeys()).unwrap();
    document["schema_version"] = json!(2);
    document["mean_rekey"] =
        json!([{"tunnel": 0, "direction": "b_to_a", "offset_ms": [0.0], "rate_bps": [1.0]}]);
    document["settings"] =
        json!({"interest_percent": 3.0, "verify": "all", "seed": 1, "reference_bps": null});
    document.as_object_mut().unwrap().remove("ledger");
    for impact in document["impact"].as_array_mut().unwrap() {
        impact["sentence"] = json!("Rekeys cost 0.7 % of this download. The interval is −31 to 155 ms.");
        impact["messages"] = unknown(&["verdict-shown-mean", "verdict-interval"]);
        impact["stall_ms"] = json!({"mean": 62.0, "low": -31.0, "high": 155.0});
        impact["counterfactual_bps"] = json!(8.72e6);
        impact["arithmetic_bound"] = json!("Each would have to waste 0.43 s.");
        impact["arithmetic_bound_messages"] = unknown(&["arithmetic-bound"]);
        impact["sensitivity"] = json!([{"change": "bins of 5 ms", "verdict": "some", "p": 0.079}]);
        impact["transfers"] = json!([
            {"start": "2026-11-20T20:11:49Z", "end": "2026-11-20T20:11:59Z", "bytes": 1e7, "rekeys": [1], "verdict": "some"},
            {"start": "2026-11-20T20:12:09Z", "end": "2026-11-20T20:12:19Z", "bytes": 1e7, "rekeys": [4], "verdict": "some"}
        ]);
    }
    for rekey in document["rekeys"].as_array_mut().unwrap() {
        for impact in rekey["impact"].as_array_mut().unwrap() {
            let hurt = impact["hurt"].clone();
            *impact = json!({
                "direction": impact["direction"], "used": impact["used"], "hurt": hurt, "flags": [],
                "depth": 1.0, "dip_ms": 210.0, "longest_gap_ms": 210.0, "p_gap": 0.0004, "q": 0.0021,
                "windows": [{"window_s": 0.5, "lost_bytes": 225675.0, "stall_ms": 201.0, "p": 0.0001}]
            });
        }
    }
    serde_json::from_value(document).unwrap()
}

#[test]
fn a_document_of_version_2_is_told_by_its_english_sentence() {
    let document = version_2();
    for language in Language::ALL {
        let options = TextOptions {
            width: 80,
            color: false,
            language,
        };
        let short = text::render(&document, options);
        assert!(
            short.starts_with("Rekeys cost 0.7 % of this download.\n"),
            "{language}: {short}"
        );
        let full = [
            text::render_in_full(&document, options),
            html::render(&document, language),
            markdown::render(&document, language),
        ];
        for report in full {
            assert!(
                report.contains("The interval is −31 to 155 ms."),
                "{language}: {report}"
            );
            assert!(
                !report.contains("verdict-shown-mean") && !report.contains("0.43 s"),
                "{language}: {report}"
            );
        }
    }
}

const WIDTHS: [usize; 4] = [80, 100, 140, 200];

fn documents() -> Vec<Analysis> {
    let mut documents = example::all();
    documents.push(example::with_overlays(example::seven_rekeys()));
    // Their words have a test of their own: here a few for the widths.
    let outages = example::outages().into_iter().step_by(8);
    documents.extend(outages);
    documents.push(example::build(&example::Shape {
        keys: false,
        ..Default::default()
    }));
    documents.push(example::build(&example::Shape {
        rekeys: 100,
        tunnels: 6,
        ..Default::default()
    }));
    documents
}

fn compared(documents: &[Analysis]) -> Comparison {
    let captures = documents.iter().enumerate();
    let captures = captures.map(|(n, d)| row_of(&format!("synthetic-{n}.pcapng"), d));
    let unread = Unread {
        path: "gone.pcapng".into(),
        reason: "gone.pcapng cannot be read".into(),
    };
    compare(captures.collect(), vec![unread])
}

fn entries(documents: &[Analysis], language: Language) -> Vec<index::Entry> {
    let entry = |d: &Analysis| index::Entry::new(d, "report.html", language);
    let unreadable = index::Entry::unreadable("gone.pcapng", "cannot be read", language);
    documents.iter().map(entry).chain([unreadable]).collect()
}

/// Everything that a terminal gets, for each of its widths.
fn terminal(language: Language) -> Vec<(usize, String)> {
    let documents = documents();
    let mut out = Vec::new();
    for width in WIDTHS {
        let options = TextOptions {
            width,
            color: false,
            language,
        };
        let efforts = [(0, false), (1234, false), (1234, true)];
        let efforts = efforts.map(|(trials, gave_up)| MiningEffort {
            trials,
            gave_up,
            ..MiningEffort::default()
        });
        for (document, effort) in documents.iter().zip(efforts.iter().cycle()) {
            out.push((width, text::render(document, options)));
            out.push((width, text::render_in_full(document, options)));
            out.push((width, keys::render(document, *effort, options)));
        }
        out.push((width, index::text(&entries(&documents, language), options)));
        out.push((
            width,
            comparison::render_text(&compared(&documents[..4]), options),
        ));
    }
    out
}

fn pages(language: Language) -> Vec<String> {
    let documents = documents();
    let entries = entries(&documents, language);
    let mut out: Vec<String> = documents.iter().map(|d| html::render(d, language)).collect();
    out.extend(documents.iter().map(|d| markdown::render(d, language)));
    out.push(index::html(&entries, language));
    out.push(index::markdown(&entries, language));
    out.push(html::comparison::render(&compared(&documents[..4]), language));
    out
}

#[test]
fn no_message_is_missing() {
    take_missing();
    for language in Language::ALL {
        let said = terminal(language).len() + pages(language).len();
        assert!(said > 100, "{said}");
        assert_eq!(take_missing(), [] as [String; 0], "{language}");
    }
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for language in Language::ALL {
        let filters = documents().into_iter().flat_map(|d| example::filters(&d));
        let filters: HashSet<String> = filters.map(|f| clean::sentence(&f)).collect();
        for (width, report) in terminal(language) {
            for line in report.lines().filter(|line| !filters.contains(line.trim())) {
                let columns = console::measure_text_width(line);
                assert!(
                    columns <= width,
                    "{language}, {columns} of {width} columns: {line}"
                );
            }
        }
    }
}

#[test]
fn a_page_says_its_language_and_brings_its_font_alone() {
    for language in Language::ALL {
        for page in pages(language).iter().filter(|p| p.starts_with("<!DOCTYPE")) {
            assert!(page.contains(&format!("<html lang=\"{language}\">")));
            assert_eq!(page.matches("@font-face").count(), 1);
        }
    }
    let english = html::render(&example::seven_rekeys(), Language::English);
    let japanese = html::render(&example::seven_rekeys(), Language::Japanese);
    let family = |page: &str| page.contains("font-family:\"rekeyscope-plot-ja\"");
    assert!(family(&japanese) && !family(&english));
    let kana = |c: char| ('\u{3041}'..='\u{30fc}').contains(&c);
    assert!(japanese.contains(kana) && !english.contains(kana));
}

/// The characters of the messages that plots draw and of the names that they may take, comments and identifiers left out.
fn drawn() -> String {
    let files = [
        include_str!("../../../model/messages/ja/plot.ftl"),
        include_str!("../../../model/messages/ja/labels.ftl"),
    ];
    let lines = files.iter().flat_map(|file| file.lines());
    let messages = lines.filter(|line| !line.starts_with('#'));
    messages.map(|l| l.split_once(" = ").map_or(l, |m| m.1)).collect()
}

#[test]
fn every_character_of_a_plot_has_a_shape_in_its_font() {
    let font = plot::style::font(Language::Japanese);
    let face = ttf_parser::Face::parse(font, 0).unwrap();
    let shapeless: Vec<char> = drawn()
        .chars()
        .filter(|c| face.glyph_index(*c).is_none())
        .collect();
    assert!(
        drawn().contains('ス') && shapeless.is_empty(),
        "run fonts/subset: {shapeless:?}"
    );
    assert!(face.glyph_index('龍').is_none(), "the font is no subset");
}

/// Plots draw these texts, wherever in the catalogue they come from; names given by the user may hold any letter.
#[test]
fn every_text_of_a_drawn_plot_has_its_shapes() {
    let face = ttf_parser::Face::parse(plot::style::font(Language::Japanese), 0).unwrap();
    let mut texts = 0;
    for document in documents().into_iter().filter(|d| d.overlays.is_empty()) {
        for plot in plot::render(&document, Language::Japanese)
            .iter()
            .flat_map(|p| p.iter())
        {
            let svg = plot.inline();
            for text in svg.split("<text").skip(1).filter_map(|t| t.split_once('>')) {
                let text = text.1.split("</text>").next().unwrap_or_default().trim();
                let shapeless: Vec<char> = text.chars().filter(|c| face.glyph_index(*c).is_none()).collect();
                assert!(shapeless.is_empty(), "run fonts/subset: {shapeless:?} in {text}");
                texts += 1;
            }
        }
    }
    assert!(texts > 100);
}

#[test]
#[cfg(feature = "png")]
fn plots_in_japanese_are_drawn() {
    use crate::plot::raster;
    for plots in plot::render(&example::seven_rekeys(), Language::Japanese) {
        assert!(!plots.panels.is_empty());
        let timeline = plots.timeline.unwrap();
        let svg = timeline.standalone();
        assert!(svg.contains("キャプチャ開始からの秒") && svg.contains("font-family=\"rekeyscope-plot-ja\""));
        // Another font draws other letters: the image differs from one without text.
        let (image, english) = (
            raster::png(&timeline),
            plot::render(&example::seven_rekeys(), Language::English),
        );
        assert_ne!(
            image.unwrap(),
            raster::png(english[0].timeline.as_ref().unwrap()).unwrap()
        );
    }
}

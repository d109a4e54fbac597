//! Golden files: the terminal report of every sample and of a rekey that failed, and the JSON Schemas of the documents. Nothing is masked: the same
//! capture gives the same report. `BLESS=1 cargo test --test tests golden` writes them anew; read the difference before committing it.

use crate::scenarios::played_by_name;
use crate::support::{analyze, analyze_with, lab_of_sample, repository, sample_names};
use rekeyscope::overlay;
use rekeyscope_keylog::KeyMaterial;
use rekeyscope_model::analysis::Analysis;
use rekeyscope_model::analysis::comparison::Comparison;
use rekeyscope_model::text::{Catalogue, Language, Message};
use rekeyscope_report::formats::text::{TextOptions, render, render_in_full};
use std::path::Path;

fn compare(path: &Path, ours: &str) {
    if std::env::var_os("BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, ours).unwrap();
    }
    let golden = std::fs::read_to_string(path).unwrap_or_default();
    let first = golden
        .lines()
        .zip(ours.lines())
        .position(|(a, b)| a != b)
        .map_or(0, |n| n + 1);
    assert!(
        golden == ours,
        "{} differs from line {first} on; BLESS=1 writes it anew:\n{ours}",
        path.display()
    );
}

/// The key files go by their names alone, as if analysed in the folder of samples: no golden file holds a folder of this machine.
fn analysis_of_sample(name: &str) -> Analysis {
    let lab = lab_of_sample(name);
    let mut material = KeyMaterial::default();
    for file in &lab.keys {
        material.read_bytes(file.file_name().unwrap().as_ref(), &std::fs::read(file).unwrap());
    }
    analyze_with(&lab.capture, material)
}

/// How lines with a display filter begin.
const FILTERS: [&str; 4] = [
    "   frame.number in {",
    "   frame.number >= ",
    "   (frame.number >= ",
    "   esp.spi in {",
];

/// Compares the report in every width and language with the files of this name.
fn compare_reports(analysis: &Analysis, name: &str, render: fn(&Analysis, TextOptions) -> String) {
    for (width, language) in shapes() {
        let color = false;
        let options = TextOptions {
            width,
            color,
            language,
        };
        let text = render(analysis, options);
        assert!(
            text.lines()
                // Filters are never broken.
                .filter(|l| !FILTERS.iter().any(|begin| l.starts_with(begin)))
                .all(|l| console::measure_text_width(l) <= width),
            "{name} in {language} at {width} columns"
        );
        let file = match language {
            Language::English => format!("{name}.{width}.txt"),
            _ => format!("{name}.{language}.{width}.txt"),
        };
        let folder = repository().canonicalize().unwrap().join("tests/golden");
        compare(&folder.join(file), &text);
    }
}

#[test]
fn terminal_reports() {
    for name in sample_names() {
        compare_reports(&analysis_of_sample(name), name, render);
    }
}

/// The limit holds with keys and without.
#[test]
fn an_answer_has_at_most_thirty_lines() {
    for name in sample_names() {
        let sealed = analyze(&lab_of_sample(name).capture, &[]);
        for analysis in [analysis_of_sample(name), sealed] {
            for (width, language) in shapes() {
                let color = false;
                let options = TextOptions {
                    width,
                    color,
                    language,
                };
                let text = render(&analysis, options);
                assert!(text.lines().count() <= 30, "{name} at {width}:\n{text}");
            }
        }
    }
}

/// A **synthetic** capture of a rekey that is refused.
#[test]
fn the_report_of_a_rekey_that_failed() {
    compare_reports(played_by_name("refused"), "synthetic_refused", render);
}

/// In Japanese no line begins with what ends a word, a sentence or a bracket (JIS X 4051).
#[test]
fn no_line_begins_with_a_comma() {
    let folder = repository().join("tests/golden");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files: Vec<_> = files.filter(|f| f.to_string_lossy().contains(".ja.")).collect();
    assert!(files.len() >= 8, "{files:?}");
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        // Cells stand two columns or more apart.
        let cells = text.lines().flat_map(|line| line.split("  "));
        let wrong: Vec<&str> = cells
            .map(str::trim_start)
            .filter(|cell| cell.starts_with(NEVER_FIRST))
            .collect();
        assert!(wrong.is_empty(), "{}: {wrong:?}", file.display());
    }
}

const NEVER_FIRST: [char; 27] = [
    '、', '。', '，', '．', '：', '；', '）', '」', '』', '】', '・', '～', 'ー', 'っ', 'ゃ', 'ゅ', 'ょ',
    'ッ', 'ャ', 'ュ', 'ョ', 'ァ', 'ィ', 'ゥ', 'ェ', 'ォ', '々',
];

/// The READMEs show the whole answer.
#[test]
fn the_readmes_show_what_is_printed() {
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    for (readme, golden) in [
        ("README.md", "l2tp_pfs4096_down.80.txt"),
        ("README.ja.md", "l2tp_pfs4096_down.ja.80.txt"),
    ] {
        let text = std::fs::read_to_string(repository().join(readme)).unwrap();
        let (_, block) = text.split_once("samples/l2tp_pfs4096_down.pcap\n").unwrap();
        let (shown, _) = block.split_once("\n```").unwrap();
        let printed = std::fs::read_to_string(repository().join("tests/golden").join(golden)).unwrap();
        assert!(
            squeezed(&printed) == squeezed(shown),
            "{readme} shows something else"
        );
    }
}

/// Every block of the post-mortem that shows a part of a report is in it, and so is every figure of its prose that has a unit.
#[test]
fn the_post_mortem_shows_what_is_printed() {
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    let text = std::fs::read_to_string(repository().join("docs/post-mortem-sample.md")).unwrap();
    let printed =
        std::fs::read_to_string(repository().join("tests/golden/l2tp_pfs4096_down.80.txt")).unwrap();
    let printed = squeezed(&printed);
    let mut compared = 0;
    for block in text.split("\n```").skip(1).step_by(2) {
        let Some(shown) = block.strip_prefix('\n') else {
            continue;
        };
        let shown = squeezed(&shown.replace("samples/", ""));
        assert!(printed.contains(&shown), "another report: {block}");
        compared += shown.chars().count();
    }
    assert!(compared > 900, "{compared} characters were compared");
    let prose: Vec<&str> = text
        .split("\n```")
        .step_by(2)
        .flat_map(str::split_whitespace)
        .collect();
    let figures = prose.windows(2).filter(|pair| {
        let unit = pair[1].trim_end_matches([',', '.', ':', ')']);
        pair[0].starts_with(|c: char| c.is_ascii_digit()) && ["s", "kB", "Mbit/s"].contains(&unit)
    });
    let figures: Vec<String> = figures
        .map(|pair| pair[0].to_owned() + pair[1].trim_end_matches([',', '.']))
        .collect();
    assert!(
        figures.len() >= 4 && figures.iter().all(|figure| printed.contains(figure)),
        "{figures:?}"
    );
}

/// `-v`, with **synthetic** overlays.
#[test]
fn terminal_reports_in_full() {
    let name = "l2tp_kb_modp1024_down";
    let names =
        ["synthetic_iperf3.json", "synthetic_cpu.csv"].map(|f| format!("../tests/golden/overlays/{f}"));
    let [iperf3, samples] = names
        .clone()
        .map(|name| [repository().join("samples").join(name)]);
    let mut analysis = overlay::with_overlays(analysis_of_sample(name), &iperf3, &samples).unwrap();
    for (overlay, name) in analysis.overlays.iter_mut().zip(names) {
        overlay.path = name;
    }
    compare_reports(&analysis, &format!("{name}.full"), render_in_full);
}

/// Widths of a terminal, in every language.
fn shapes() -> Vec<(usize, Language)> {
    let both = |width| Language::ALL.map(|language| (width, language));
    [80, 140].into_iter().flat_map(both).collect()
}

/// Words in Latin letters that a Japanese sentence about a sample may hold: names of protocols and transforms, and units.
const LATIN: [&str; 33] = [
    "CPU",
    "ACK",
    "AES",
    "CBC",
    "CDN",
    "CHILD",
    "CREATE",
    "Configure",
    "Delete",
    "ESP",
    "HMAC",
    "Hello",
    "ICMP",
    "ICMPv",
    "IKE",
    "INVALID",
    "IPsec",
    "LCP",
    "MB",
    "Mbit",
    "Protocol",
    "Reject",
    "Request",
    "SA",
    "SHA",
    "SPI",
    "StopCCN",
    "TCP",
    "TP",
    "Terminate",
    "UDP",
    "kB",
    "ms",
];

/// All lists of messages of a document, with the field that they are in.
fn messages(value: &serde_json::Value, found: &mut Vec<Message>) {
    match value {
        serde_json::Value::Object(fields) => {
            for (name, value) in fields {
                match serde_json::from_value::<Vec<Message>>(value.clone()) {
                    Ok(list) if name.ends_with("messages") => found.extend(list),
                    _ => messages(value, found),
                }
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| messages(item, found)),
        _ => {}
    }
}

#[test]
fn what_is_said_about_the_samples_is_japanese() {
    let japanese = Catalogue::of(Language::Japanese);
    for name in sample_names() {
        let lab = lab_of_sample(name);
        let analysis = analyze(&lab.capture, &lab.keys);
        let mut found = Vec::new();
        messages(&serde_json::to_value(&analysis).unwrap(), &mut found);
        assert!(found.len() > 10, "{name}: {} messages", found.len());
        for message in &found {
            let said = japanese.say(message);
            assert!(!said.is_ascii(), "{}: {said}", message.id);
            let words = said.split(|c: char| !c.is_ascii_alphabetic());
            let foreign: Vec<&str> = words.filter(|w| w.len() > 1 && !LATIN.contains(w)).collect();
            assert!(foreign.is_empty(), "{}: {foreign:?} in {said}", message.id);
        }
        let silent: Vec<&str> = analysis
            .diagnostics
            .iter()
            .filter(|d| d.messages.is_empty())
            .map(|d| d.kind.as_str())
            .collect();
        assert!(silent.is_empty(), "{name}: only in English: {silent:?}");
    }
}

fn compare_schema(file: &str, schema: &schemars::Schema) {
    let text = serde_json::to_string_pretty(schema).unwrap() + "\n";
    compare(
        &repository().canonicalize().unwrap().join("docs").join(file),
        &text,
    );
}

#[test]
fn schema_of_the_document() {
    compare_schema("analysis.schema.json", &schemars::schema_for!(Analysis));
}

#[test]
fn schema_of_the_comparison() {
    compare_schema("comparison.schema.json", &schemars::schema_for!(Comparison));
}

#[test]
fn a_saved_document_reads_back() {
    let lab = lab_of_sample("l2tp_pfs4096_down");
    let analysis = analyze(&lab.capture, &lab.keys);
    let text = serde_json::to_string(&analysis).unwrap();
    let again: Analysis = serde_json::from_str(&text).unwrap();
    assert!(
        serde_json::to_string(&again).unwrap() == text,
        "a document changed by being saved"
    );
    assert!(again == analysis);
}

//! The program from end to end: capture and keys, document, reports, and what is written for other programs.

use rekeyscope::assembly::{Asked, assemble};
use rekeyscope::overlay::with_overlays;
use rekeyscope::pipeline::{Analyzer, Options, Record};
use rekeyscope::write::export::{embedded, tcpdump, wireshark};
use rekeyscope::write::key_ring::KeyRing;
use rekeyscope::write::{annotate, inner};
use rekeyscope_capture::file::CaptureReader;
use rekeyscope_keylog::{KeyMaterial, read_pre_shared_key};
use rekeyscope_model::analysis::{Analysis, OLDEST_READ, SCHEMA_VERSION};
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::text::Language;
use rekeyscope_report::formats::text::TextOptions;
use rekeyscope_report::formats::{csv, html, index, keys, markdown, text};
use rekeyscope_report::plot;
use rekeyscope_testkit::example;
use std::path::Path;

fn options() -> Options {
    Options::default()
}

fn open(bytes: &[u8]) -> Option<CaptureReader> {
    let stream = Box::new(std::io::Cursor::new(bytes.to_vec()));
    CaptureReader::from_stream(stream, "fuzzed").ok()
}

/// The document of a capture, where it is one.
pub(super) fn analysed(capture: &[u8], material: KeyMaterial) -> Option<(Analysis, Record)> {
    let mut reader = open(capture)?;
    let mut analyzer = Analyzer::new(options(), material);
    let mut container = Diagnostics::default();
    while let Ok(Some(frame)) = reader.next_frame(&mut container) {
        analyzer.push(&frame);
    }
    analyzer.diagnostics_mut().absorb(container);
    let record = analyzer.finish();
    let analysis = assemble(&record, reader.info(), &Asked::of("fuzzed"));
    Some((analysis, record))
}

/// Two bytes of length, so many of a key file, then a capture.
fn keys_and_capture(data: &[u8]) -> Option<(KeyMaterial, &[u8])> {
    let (len, rest) = data.split_first_chunk::<2>()?;
    let (log, capture) = rest.split_at_checked(u16::from_le_bytes(*len).into())?;
    let mut material = KeyMaterial::default();
    material.read_bytes(Path::new("fuzzed keys"), log);
    Some((material, capture))
}

/// Capture and keys → document → saved and read again → every report.
pub(super) fn reports(data: &[u8]) {
    let Some((material, capture)) = keys_and_capture(data) else {
        return;
    };
    let Some((analysis, record)) = analysed(capture, material) else {
        return;
    };
    let saved = serde_json::to_vec(&analysis).expect("a document can be saved");
    let read: Analysis = serde_json::from_slice(&saved).expect("what was saved can be read");
    assert!(
        saved == serde_json::to_vec(&read).expect("and saved again"),
        "saved twice, two documents"
    );
    every_report(&read, data.len());
    keys::render(&analysis, KeyRing::new(&record).mining, text_options(80, 0));
}

/// A saved document, as `rekeyscope report` takes it.
pub(super) fn document(data: &[u8]) {
    let Ok(analysis) = serde_json::from_slice::<Analysis>(data) else {
        return;
    };
    if (OLDEST_READ..=SCHEMA_VERSION).contains(&analysis.schema_version) {
        every_report(&analysis, data.len());
    }
}

fn text_options(width: usize, choice: usize) -> TextOptions {
    TextOptions {
        width,
        color: choice & 2 != 0,
        language: Language::ALL[choice % Language::ALL.len()],
    }
}

/// In one language and width, which `choice` says.
fn every_report(analysis: &Analysis, choice: usize) {
    let options = text_options([80, 20, 220][choice % 3], choice);
    let language = options.language;
    text::render(analysis, options);
    text::render_in_full(analysis, options);
    html::render(analysis, language);
    markdown::render(analysis, language);
    csv::render(analysis);
    csv::rekeys(analysis);
    index::html(&[index::Entry::new(analysis, "a link", language)], language);
    for plot in plot::render(analysis, language).iter().flat_map(|t| t.iter()) {
        plot.standalone();
    }
}

/// A file of these bytes for what reads files only.
fn with_file(bytes: &[u8], read: impl FnOnce(&Path)) {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), bytes).expect("a temporary file");
    read(file.path());
}

/// A byte that says which kind, then what iperf3 wrote, or a table of times and values.
pub(super) fn overlay(data: &[u8]) {
    let Some((kind, bytes)) = data.split_first() else {
        return;
    };
    with_file(bytes, |path| {
        let file = [path.to_owned()];
        let (iperf3, samples) = if kind % 2 == 0 {
            (&file[..], &[][..])
        } else {
            (&[][..], &file[..])
        };
        if let Ok(analysis) = with_overlays(example::seven_rekeys(), iperf3, samples) {
            every_report(&analysis, data.len());
        }
    });
}

/// A file with a pre-shared key; the words about it repeat none of it.
pub(super) fn pre_shared_key(data: &[u8]) {
    with_file(data, |path| {
        let said = match read_pre_shared_key(path) {
            // It says how long it is in words that a key may be made of.
            Ok(key) => format!("{key:?}").replace(" secret bytes", ""),
            Err(error) => error.to_string().replace(&path.display().to_string(), ""),
        };
        let text = String::from_utf8_lossy(data);
        // Shorter ones occur in any sentence.
        assert!(text.len() < 12 || !said.contains(&*text), "{said}");
    });
}

/// Capture and keys → decrypted packets, annotated capture and key tables, each read again.
pub(super) fn copies(data: &[u8]) {
    let Some((material, capture)) = keys_and_capture(data) else {
        return;
    };
    let Some((analysis, record)) = analysed(capture, material) else {
        return;
    };
    let ring = KeyRing::new(&record);
    for keep_l2tp in [false, true] {
        let mut out = Vec::new();
        let Some(reader) = open(capture) else { return };
        // A capture may break off in the middle; what was written before is thrown away then.
        if let Ok(written) = inner::write(reader, &ring, &options(), keep_l2tp, &mut out, Path::new("out")) {
            assert!(
                packets(&out) >= written.packets,
                "every packet that was written is read"
            );
        }
    }
    let Some(reader) = open(capture) else { return };
    let mut out = Vec::new();
    let rows = embedded::esp_sa(&ring).text;
    if annotate::write(reader, &analysis, Some(rows), &mut out, Path::new("out")).is_ok() {
        assert_eq!(
            packets(&out),
            analysis.capture.packets,
            "as many packets as before"
        );
    }
    tables(&ring);
}

fn packets(pcapng: &[u8]) -> u64 {
    let mut reader = open(pcapng).expect("what was written is a capture");
    let (mut count, mut said) = (0, Diagnostics::default());
    while reader.next_frame(&mut said).expect("and whole").is_some() {
        count += 1;
    }
    count
}

/// What is exported is read back without a complaint.
fn tables(ring: &KeyRing) {
    let mut material = KeyMaterial::default();
    let made = wireshark::tables(ring);
    for table in made.texts().into_iter().filter(|t| !t.is_empty()) {
        material.read_bytes(Path::new("table"), table.expose());
    }
    assert_eq!(material.problems.len(), 0, "{:?}", material.problems);
    tcpdump::secrets_file(ring);
}

//! Shared by the integration tests: where real captures with ground truth are, and one analysis of each.

pub(crate) mod ipsec;

use rekeyscope::assembly::{Asked, assemble};
use rekeyscope::pipeline::{Analyzer, Options};
use rekeyscope::write::key_ring::KeyRing;
use rekeyscope_capture::file::CaptureReader;
use rekeyscope_keylog::KeyMaterial;
use rekeyscope_model::analysis::Analysis;
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::text::Language;
use rekeyscope_report::formats::text::{TextOptions, render};
use rekeyscope_testkit::lab;
use rekeyscope_testkit::scenario::World;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The top of the repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A real capture with its keys and ground truth.
pub(crate) struct Lab {
    pub name: String,
    pub capture: PathBuf,
    pub keys: Vec<PathBuf>,
    pub truth: Value,
}

/// All captures of `../shared/lab` where it is, else the samples.
pub(crate) fn labs() -> Vec<Lab> {
    let mut labs: Vec<Lab> = match lab::folder().and_then(|folder| std::fs::read_dir(folder).ok()) {
        Some(folders) => folders.flatten().map(|f| lab_of_folder(&f.path())).collect(),
        None => sample_names().iter().map(|name| lab_of_sample(name)).collect(),
    };
    labs.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(labs.len() >= 3, "the samples are part of the repository");
    labs
}

/// The captures in `samples/`.
pub(crate) fn sample_names() -> [&'static str; 3] {
    ["l2tp_kb_modp1024_down", "l2tp_pfs4096_down", "l2tp_time_down"]
}

fn lab_of_folder(folder: &Path) -> Lab {
    let keys = ["keys.esp_sa", "keys.ikev1", "keys.ikev2"].map(|k| folder.join(k));
    Lab {
        name: folder.file_name().unwrap().to_string_lossy().into_owned(),
        capture: folder.join("trace.pcap"),
        keys: keys.into_iter().filter(|k| k.exists()).collect(),
        truth: json(&folder.join("truth.json")),
    }
}

pub(crate) fn lab_of_sample(name: &str) -> Lab {
    let samples = repository().join("samples");
    let keys = [
        format!("{name}.keylog"),
        format!("{name}.esp_sa"),
        "keys.ikev1".into(),
    ]
    .map(|k| samples.join(k));
    Lab {
        name: name.into(),
        capture: samples.join(format!("{name}.pcap")),
        keys: keys.into_iter().filter(|k| k.exists()).collect(),
        truth: json(&samples.join(format!("{name}.truth.json"))),
    }
}

fn json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap()
}

/// Analyses a capture with the given key files.
pub(crate) fn analyze(capture: &Path, keys: &[PathBuf]) -> Analysis {
    let mut material = KeyMaterial::default();
    for file in keys {
        material.read(file).unwrap();
    }
    analyze_with(capture, material)
}

/// Analyses what happened in a **synthetic** world, with its keys.
pub(crate) fn analyze_world(world: World, with_ike_key: bool) -> Analysis {
    let folder = tempfile::tempdir().unwrap();
    let keys = world.write(folder.path(), with_ike_key);
    analyze(&folder.path().join("trace.pcap"), &keys)
}

/// Analyses a capture with keys that were read.
pub(crate) fn analyze_with(capture: &Path, keys: KeyMaterial) -> Analysis {
    open_with(capture, keys).0
}

/// The analysis of a capture, and the keys that opened it.
pub(crate) fn open_with(capture: &Path, keys: KeyMaterial) -> (Analysis, KeyRing) {
    let mut reader = CaptureReader::open(capture).unwrap();
    let mut analyzer = Analyzer::new(Options::default(), keys);
    let mut container = Diagnostics::default();
    while let Some(frame) = reader.next_frame(&mut container).unwrap() {
        analyzer.push(&frame);
    }
    analyzer.diagnostics_mut().absorb(container);
    let name = capture.file_name().unwrap().to_string_lossy();
    let record = analyzer.finish();
    let analysis = assemble(&record, reader.info(), &Asked::of(name));
    assert_answer_is_short(&analysis);
    (analysis, KeyRing::new(&record))
}

/// Columns of the first line: a terminal of 80 breaks a longer one once, and its second row holds no more than the share.
const LONGEST_ANSWER: usize = 90;

/// Whatever a capture holds, its answer fits a screen and begins with a line of 15 words, or of 40 wide characters.
pub(crate) fn assert_answer_is_short(analysis: &Analysis) {
    for language in Language::ALL {
        let at = |width| TextOptions {
            width,
            color: false,
            language,
        };
        let text = render(analysis, at(80));
        assert!(text.lines().count() <= 30, "{text}");
        // Few packets in clear stand above the answer, with their filter and an empty line; with many it begins.
        let leaks = analysis
            .findings
            .iter()
            .filter(|f| f.id == "cleartext_leak" && f.evidence_frames.len() < 20)
            .count();
        let wide = render(analysis, at(220));
        let first = wide.split("\n\n").nth(leaks).unwrap().lines().next().unwrap();
        // The name of one of several clients stands before it.
        let named = [": ", "："].iter().find_map(|colon| first.split_once(colon));
        let is_address = |name: &str| {
            let address = name.split(['（', ' ']).next();
            address.is_some_and(|address| address.parse::<std::net::IpAddr>().is_ok())
        };
        let said = named
            .filter(|(name, _)| is_address(name))
            .map_or(first, |(_, said)| said);
        assert!(console::measure_text_width(said) <= LONGEST_ANSWER, "{first}");
    }
}

/// All captures, each analysed once.
pub(crate) fn analyses() -> &'static [(Lab, Analysis)] {
    &with_rings().0
}

/// All captures with the keys that opened them.
pub(crate) fn opened() -> impl Iterator<Item = (&'static Lab, &'static Analysis, &'static KeyRing)> {
    let (analyses, rings) = with_rings();
    analyses
        .iter()
        .zip(rings)
        .map(|((lab, analysis), ring)| (lab, analysis, ring))
}

fn with_rings() -> &'static (Vec<(Lab, Analysis)>, Vec<KeyRing>) {
    static ALL: OnceLock<(Vec<(Lab, Analysis)>, Vec<KeyRing>)> = OnceLock::new();
    lab::folder(); // also where another test made the analyses
    let opened = |lab: Lab| {
        let mut keys = KeyMaterial::default();
        lab.keys.iter().for_each(|file| keys.read(file).unwrap());
        let (analysis, ring) = open_with(&lab.capture, keys);
        ((lab, analysis), ring)
    };
    ALL.get_or_init(|| labs().into_iter().map(opened).unzip())
}

/// All captures, each analysed once without keys.
pub(crate) fn keyless() -> &'static [(Lab, Analysis)] {
    static ALL: OnceLock<Vec<(Lab, Analysis)>> = OnceLock::new();
    lab::folder(); // as above
    let analyzed = |lab: Lab| {
        let analysis = analyze(&lab.capture, &[]);
        (lab, analysis)
    };
    ALL.get_or_init(|| labs().into_iter().map(analyzed).collect())
}

/// One capture of each way to carry and protect packets: what another program shows of a packet depends on these, not on what
/// happens at a rekey, and tshark takes seconds for each.
pub(crate) fn one_of_each_kind() -> Vec<&'static Lab> {
    let mut kinds = Vec::new();
    let is_new = |(_, analysis): &&(Lab, Analysis)| {
        let sa = analysis.security_associations.iter().find(|sa| sa.packets > 0);
        let ciphers = sa.map(|sa| {
            (
                sa.mode,
                sa.encapsulation,
                sa.encryption.clone(),
                sa.integrity.clone(),
            )
        });
        let kind = (ciphers, analysis.ike_sas.first().map(|ike| ike.ike_version));
        let is_new = !kinds.contains(&kind);
        kinds.push(kind);
        is_new
    };
    analyses().iter().filter(is_new).map(|(lab, _)| lab).collect()
}

/// The analysis of one capture, where it is there.
#[allow(clippy::print_stdout)] // `tests/run` counts what is skipped
pub(crate) fn one(name: &str) -> Option<&'static Analysis> {
    let found = analyses().iter().find(|(lab, _)| lab.name == name);
    if found.is_none() {
        println!("skipped: the capture {name} is not here");
    }
    found.map(|(_, analysis)| analysis)
}

/// A time of `truth.json` in nanoseconds. Its seconds are rounded to the microsecond, and an `f64` of that size holds
/// 0.24 µs, so the text's digits are all there is.
pub(crate) fn nanos(value: &Value) -> i64 {
    (value.as_f64().unwrap() * 1e6).round() as i64 * 1_000
}

//! From a key file to decrypted packets, by every road: whole logs, parts of them, logs whose labels are gone; and from
//! there to the tables of Wireshark and tcpdump. Where the lab lies beside the repository its captures are used, else the
//! samples.

mod budget;
mod exports;
mod lifetimes;
mod memory;
mod mining;
mod outputs;
#[cfg(unix)]
mod programs;
mod roads;
mod secrets;

use rekeyscope::assembly::{Asked, assemble};
use rekeyscope::pipeline::{Analyzer, Options};
use rekeyscope::write::key_ring::KeyRing;
use rekeyscope_capture::file::CaptureReader;
use rekeyscope_keylog::KeyMaterial;
use rekeyscope_model::analysis::{Analysis, KeyStatus, SecurityAssociation};
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_testkit::lab;
use std::path::{Path, PathBuf};

/// A capture of the lab with its logs.
struct Capture {
    name: String,
    folder: PathBuf,
}

impl Capture {
    fn pcap(&self) -> PathBuf {
        self.folder.join("trace.pcap")
    }

    fn log(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.folder.join(name)).unwrap()
    }
}

/// The lab's captures in order; none (and a word about it) where the lab is not there.
fn captures() -> Vec<Capture> {
    let captures = lab::captures().into_iter().map(|folder| Capture {
        name: folder.file_name().unwrap().to_string_lossy().into_owned(),
        folder,
    });
    captures.collect()
}

/// Analyses a capture with one key log from memory.
fn open_with(capture: &Path, log: &[u8]) -> (Analysis, KeyRing) {
    open_with_psk(capture, log, None)
}

fn open_with_psk(capture: &Path, log: &[u8], psk: Option<&[u8]>) -> (Analysis, KeyRing) {
    let mut reader = CaptureReader::open(capture).unwrap();
    analyze(&mut reader, log, psk)
}

fn analyze(reader: &mut CaptureReader, log: &[u8], psk: Option<&[u8]>) -> (Analysis, KeyRing) {
    let mut material = KeyMaterial::default();
    material.read_bytes(Path::new("log"), log);
    let options = Options::default();
    let psks = psk.into_iter().map(SecretBytes::from).collect();
    let mut analyzer = Analyzer::with_pre_shared_keys(options, material, psks);
    let mut container = Diagnostics::default();
    while let Some(frame) = reader.next_frame(&mut container).unwrap() {
        analyzer.push(&frame);
    }
    let record = analyzer.finish();
    let analysis = assemble(&record, reader.info(), &Asked::of("capture"));
    (analysis, KeyRing::new(&record))
}

/// The SAs that carry packets.
fn used(analysis: &Analysis) -> Vec<&SecurityAssociation> {
    analysis
        .security_associations
        .iter()
        .filter(|sa| sa.packets > 0)
        .collect()
}

/// The road that a key came by.
fn road(sa: &SecurityAssociation) -> &str {
    let source = sa.key.source.as_deref().unwrap_or_default();
    source
        .rsplit_once(" (")
        .map_or("", |(_, road)| road.trim_end_matches(')'))
}

fn count(sas: &[&SecurityAssociation], status: KeyStatus) -> usize {
    sas.iter().filter(|sa| sa.key.status == status).count()
}

/// SAs with packets in the lab's captures (from the captures themselves; `README.md` of the lab says the same).
fn sas_with_packets(name: &str) -> usize {
    match name {
        "l2tp_kb_modp1024_down" | "l2tp_time_down" => 16,
        "l2tp_kb_modp2048_natt_down" => 14,
        "l2tp_pfs4096_down" | "l2tp_qm3drop_down" | "ikev2_gcm_kb_down" | "x_udp_slowike" => 12,
        "acct_rwnd_down" => 10,
        "fail_blackhole_down" => 8,
        "acct_mixed_down" | "fail_unanswered_down" => 6,
        "fail_refused_ikev2_down" => 2,
        other => panic!("{other} is not known here: add its figure"),
    }
}

/// Every SA with packets is verified, and so is every packet; the others' keys cannot be checked.
fn assert_complete(what: &str, analysis: &Analysis, sas: usize) {
    let used = used(analysis);
    assert_eq!(used.len(), sas, "{what}");
    for sa in &used {
        assert_eq!(sa.key.status, KeyStatus::Verified, "{what}: {sa:?}");
        assert_eq!(sa.icv.verified, sa.packets, "{what}: {sa:?}");
    }
    let unused = analysis.security_associations.iter().filter(|sa| sa.packets == 0);
    for sa in unused {
        assert!(
            matches!(sa.key.status, KeyStatus::Derived | KeyStatus::Unverified),
            "{what}: {sa:?}"
        );
    }
}

/// The level-4 dumps of a charon log whose labels `wanted` chooses: `LABEL => N bytes @ …` and the rows below.
fn dumps(log: &[u8], wanted: impl Fn(&str) -> bool) -> Vec<u8> {
    let mut out = String::new();
    for_each_line(log, &wanted, |line, is_wanted| {
        if is_wanted {
            out += line;
            out.push('\n');
        }
    });
    assert!(!out.is_empty(), "the log has no such dump");
    out.into_bytes()
}

/// The log without those dumps.
fn without_dumps(log: &[u8], unwanted: impl Fn(&str) -> bool) -> Vec<u8> {
    let mut out = String::new();
    for_each_line(log, &unwanted, |line, is_unwanted| {
        if !is_unwanted {
            out += line;
            out.push('\n');
        }
    });
    out.into_bytes()
}

fn for_each_line(log: &[u8], chosen: &dyn Fn(&str) -> bool, mut each: impl FnMut(&str, bool)) {
    let mut inside = false;
    for line in String::from_utf8_lossy(log).lines() {
        let message = line.split_once("] ").map_or("", |(_, message)| message);
        if let Some((label, _)) = message.split_once(" => ") {
            inside = chosen(label.trim());
        } else if !is_dump_row(message) {
            inside = false;
        }
        each(line, inside);
    }
}

/// `   0: 35 0D 59 …`.
fn is_dump_row(message: &str) -> bool {
    let Some((offset, bytes)) = message.split_once(": ") else {
        return false;
    };
    offset.trim().parse::<u32>().is_ok()
        && bytes
            .get(..2)
            .is_some_and(|b| b.bytes().all(|b| b.is_ascii_hexdigit()))
}

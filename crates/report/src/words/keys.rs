//! Keys: how far they are trusted, what is missing and how to get it.

use crate::words::capture::with_packets;
use crate::words::{clean, format, underivable};
use rekeyscope_model::analysis::{Analysis, KeyFile, KeyStatus, KeysFit};
use rekeyscope_model::text::{Catalogue, Message};
use std::collections::BTreeMap;

/// Names of key files that are found without being named, for the sentence that says what is missing.
const FOUND_BESIDE: &str = "<capture>.keylog, <capture>.keys, <capture>.esp_sa, keys.esp_sa, keys.ikev1, keys.ikev2, \
                            esp_sa, ikev1_decryption_table, ikev2_decryption_table";

pub(crate) fn key_status(t: &Catalogue, status: KeyStatus) -> String {
    t.name("key", status.as_str())
}

/// By which road a key came; one that this version does not know stays as it is.
pub(crate) fn road(t: &Catalogue, road: &str) -> String {
    t.word(match road {
        "explicit" => "road-explicit",
        "mined" => "road-mined",
        "derived" => "road-derived",
        "known" => "road-known",
        other => return clean::line(other),
    })
}

/// The keys that are missing and how to get them, paragraph by paragraph; empty when every SA with packets has its key.
pub(crate) fn missing_keys(t: &Catalogue, analysis: &Analysis) -> Vec<String> {
    let mut by_status: BTreeMap<KeyStatus, u64> = BTreeMap::new();
    for sa in with_packets(analysis) {
        if sa.key.status != KeyStatus::Verified && !underivable::only_integrity_fits(sa) {
            *by_status.entry(sa.key.status).or_default() += 1;
        }
    }
    let sas = analysis.security_associations.iter();
    let half = sas.filter(|sa| underivable::only_integrity_fits(sa)).count() as u64;
    let mut out = Vec::new();
    if half > 0 && !analysis.capture.is_cut() {
        out.push(format::counted(t, "missing-keys-half", half));
    }
    if by_status.is_empty() {
        return out;
    }
    let list: Vec<String> = by_status
        .iter()
        .map(|(s, n)| format!("{} {}", format::count(*n), key_status(t, *s)))
        .collect();
    let total: u64 = by_status.values().sum();
    let missing = format::number_of("missing-keys", total).with("list", t.joined(&list));
    out.push(t.say(&missing));
    out.extend((analysis.keys_fit() == KeysFit::Nothing).then(|| t.word("missing-keys-wrong")));
    out.extend(underivable::messages(analysis).iter().map(|m| t.say(m)));
    out.extend(
        underivable::lines_that_would_open(analysis)
            .iter()
            .map(|m| t.say(m)),
    );
    // Other programs hide keys too; what shows them there stands beside the file.
    let of_router = || {
        let mut formats = analysis.key_files.iter().flat_map(|file| &file.formats);
        formats.any(|format| format.starts_with("Yamaha"))
    };
    let masked = by_status.contains_key(&KeyStatus::Masked) || by_status.contains_key(&KeyStatus::Prefix8);
    if masked && of_router() {
        out.push(t.word("missing-keys-masked"));
    }
    out.push(t.word("missing-keys-how"));
    out.push(fill!(t, "missing-keys-where", names = FOUND_BESIDE));
    out
}

fn name_of(file: &KeyFile) -> String {
    match file.block {
        // The name that the format has for it, in every language.
        Some(block) => format!("{}, Decryption Secrets Block {block}", file.path),
        None => file.path.clone(),
    }
}

/// A key file in one sentence.
pub(crate) fn key_file(t: &Catalogue, f: &KeyFile) -> String {
    let formats: Vec<String> = f.formats.iter().map(|x| clean::line(x)).collect();
    let formats = if formats.is_empty() {
        t.word("key-file-no-format")
    } else {
        t.joined(&formats)
    };
    let problems = f.problems.len() as u64;
    let message = match problems {
        0 => Message::new("key-file"),
        n => format::number_of("key-file-problems", n),
    };
    t.say(
        &message
            .with("path", clean::line(&name_of(f)))
            .with("formats", formats)
            .with("esp", format::counted(t, "counted-esp-keys", f.esp_keys))
            .with("ike", format::counted(t, "counted-ike-keys", f.ike_keys)),
    )
}

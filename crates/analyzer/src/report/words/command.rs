//! The command that makes a report again.

use crate::analysis::{Analysis, OverlayKind};
use crate::report::clean;

/// How the run is started again: a word of the shell is what can stand there without quotes, all else is quoted.
pub(crate) fn command(analysis: &Analysis) -> String {
    let mut words = vec!["rekeyscope".to_string(), quoted(&analysis.capture.path)];
    let with_keys = analysis.key_files.iter().filter(|f| f.esp_keys + f.ike_keys > 0);
    for file in with_keys.take(MOST_FILES) {
        words.extend(["--keys".into(), quoted(&file.path)]);
    }
    if let Some(s) = &analysis.settings {
        words.extend(["--seed".into(), s.seed.to_string()]);
        words.extend(["--interest".into(), s.interest_percent.to_string()]);
        words.extend(["--verify".into(), quoted(&s.verify)]);
        let reference = s.reference_bps.map(|r| (r / 1e6).to_string());
        words.extend(reference.into_iter().flat_map(|r| ["--reference-mbps".into(), r]));
    }
    for overlay in analysis.overlays.iter().take(MOST_FILES) {
        let option = match overlay.kind {
            OverlayKind::Iperf3 => "--iperf3",
            OverlayKind::Samples => "--overlay",
        };
        words.extend([option.into(), quoted(&overlay.path)]);
    }
    words.extend(["--html".into(), "report.html".into()]);
    words.join(" ")
}

/// Files named in a command.
const MOST_FILES: usize = 12;

fn quoted(word: &str) -> String {
    let word = clean::line(word);
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/:,+@%=".contains(c);
    match word.starts_with('-') {
        false if !word.is_empty() && word.chars().all(plain) => word,
        _ => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

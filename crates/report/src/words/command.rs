//! The command that makes a report again.

use crate::words::clean;
use rekeyscope_model::analysis::{Analysis, OverlayKind};

/// The command line that starts the run again. Words that the shell could misread are quoted. A report is the same wherever it is rendered, so the
/// quotes follow the document's shell, not the system that renders.
pub(crate) fn command(analysis: &Analysis) -> String {
    let mut words = vec!["rekeyscope".to_string(), quoted(&analysis.capture.path)];
    // Keys inside the capture come with it.
    let of_their_own = analysis.key_files.iter().filter(|f| f.block.is_none());
    let with_keys = of_their_own.filter(|f| f.esp_keys.max(f.ike_keys) > 0);
    for file in with_keys.take(MOST_FILES) {
        words.extend(["--keys".into(), quoted(&file.path)]);
    }
    if let Some(s) = &analysis.settings {
        words.extend(s.no_keys.then(|| "--no-keys".to_string()));
        for file in s.psk_files.iter().take(MOST_FILES) {
            words.extend(["--psk-file".into(), quoted(file)]);
        }
        for port in s.esp_ports.iter().take(MOST_FILES) {
            words.extend(["--esp-port".into(), port.to_string()]);
        }
        let tunnel = s.tunnel.iter();
        words.extend(tunnel.flat_map(|tunnel| ["--tunnel".into(), quoted(tunnel)]));
        let reference = s.reference_bps.map(|r| (r / 1e6).to_string());
        words.extend(reference.into_iter().flat_map(|r| ["--reference-mbps".into(), r]));
    }
    if let Some(points) = &analysis.two_points {
        words.extend(["--also-from".into(), quoted(&points.path)]);
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

/// Files, and ports, named in a command.
const MOST_FILES: usize = 12;

fn quoted(word: &str) -> String {
    let word = clean::line(word);
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/:,+@%=".contains(c);
    match word.starts_with('-') {
        false if !word.is_empty() && word.chars().all(plain) => word,
        // cmd.exe knows no other quotes, and sh, bash and PowerShell change nothing in them but these.
        _ if is_path_of_windows(&word) || !word.contains(['$', '`', '"', '\\', '!']) => format!("\"{word}\""),
        _ => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// `C:\traces\a.pcapng`, or `\\server\share\a.pcapng`. No such path holds a quotation mark.
fn is_path_of_windows(word: &str) -> bool {
    let behind_drive = word
        .strip_prefix(|c: char| c.is_ascii_alphabetic())
        .and_then(|rest| rest.strip_prefix(':'));
    (behind_drive.is_some_and(|rest| rest.starts_with('\\')) || word.starts_with("\\\\"))
        && !word.contains('"')
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_testkit::example;

    /// Everything that changes what is found is in the command.
    #[test]
    fn the_command_holds_what_was_asked_for() {
        let mut document = example::seven_rekeys();
        document.settings = Some(rekeyscope_model::analysis::Settings {
            reference_bps: Some(94.5e6),
            no_keys: true,
            tunnel: Some("192.0.2.1".into()),
            esp_ports: vec![5555, 6666],
            psk_files: vec!["my psk".into()],
        });
        let command = command(&document);
        for words in [
            " --no-keys",
            " --psk-file \"my psk\"",
            " --esp-port 5555 --esp-port 6666",
            " --tunnel 192.0.2.1",
            " --reference-mbps 94.5",
        ] {
            assert!(command.contains(words), "{words} is not in {command}");
        }
    }

    #[test]
    fn quotes_are_those_of_the_shell() {
        for (word, written) in [
            ("/tmp/a-1.pcap", "/tmp/a-1.pcap"),
            ("a b.pcap", "\"a b.pcap\""),
            ("計測 1.pcap", "\"計測 1.pcap\""),
            ("it's.pcap", "\"it's.pcap\""),
            ("-rf.pcap", "\"-rf.pcap\""),
            ("C:\\Users\\a b\\x.pcapng", "\"C:\\Users\\a b\\x.pcapng\""),
            ("\\\\nas\\traces\\x.pcap", "\"\\\\nas\\traces\\x.pcap\""),
            ("$(reboot) x", "'$(reboot) x'"),
            ("`x` isn't", "'`x` isn'\\''t'"),
            ("C:\\a\" & reboot", "'C:\\a\" & reboot'"),
        ] {
            assert_eq!(quoted(word), written);
        }
    }
}

//! Texts as Windows' editors and shells write them: every option that reads a text reads the same in all of them.

use super::*;

/// The text in each of its forms: UTF-8 with a mark, UTF-16 in both byte orders, all with CRLF and blanks at the ends of lines.
fn forms(text: &str) -> Vec<(&'static str, Vec<u8>)> {
    let lines = text.lines().map(|line| format!("{line} \r\n"));
    let marked = format!("\u{feff}{}", lines.collect::<String>());
    let units = || marked.encode_utf16();
    vec![
        ("plain", text.as_bytes().to_vec()),
        ("UTF-8 with a mark", marked.as_bytes().to_vec()),
        ("UTF-16 LE", units().flat_map(u16::to_le_bytes).collect()),
        ("UTF-16 BE", units().flat_map(u16::to_be_bytes).collect()),
    ]
}

/// Runs the program in `folder` with `name` written in each form; it says the same each time. What it says.
fn same_in_every_form(folder: &TempDir, name: &str, text: &str, arguments: &[&str]) -> String {
    let mut said: Option<String> = None;
    for (form, bytes) in forms(text) {
        std::fs::write(folder.path().join(name), bytes).unwrap();
        let output = rekeyscope()
            .current_dir(folder.path())
            .args(arguments)
            .arg("--quiet")
            .output()
            .unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.status.success() && stderr.is_empty(),
            "{name} in {form}: {stderr}"
        );
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert_eq!(
            said.get_or_insert_with(|| stdout.clone()),
            &stdout,
            "{name} in {form}"
        );
    }
    said.unwrap()
}

#[test]
fn every_text_is_read_as_windows_writes_it() {
    let folder = TempDir::new().unwrap();
    alone(&folder, usize::MAX);
    let keys = std::fs::read_to_string(sample().with_extension("keylog")).unwrap();
    let said = same_in_every_form(
        &folder,
        "keys.txt",
        &keys,
        &["keys", "alone.pcap", "--keys", "keys.txt"],
    );
    assert!(said.contains("16 of 16 SAs decrypted"), "{said}");

    let samples = "time,プロセッサ\n0.5,37\n1.5,99\n2.5,12\n";
    let with_overlay = [
        "alone.pcap",
        "--no-keys",
        "--format",
        "json",
        "--overlay",
        "cpu.csv",
    ];
    let document = same_in_every_form(&folder, "cpu.csv", samples, &with_overlay);
    assert!(document.contains("プロセッサ"), "the name of the column");

    let rows: Vec<String> = (0..20)
        .map(|s| {
            format!(
                "{{\"sum\": {{\"start\": {s}, \"end\": {}, \"bytes\": {}}}}}",
                s + 1,
                1_000_000 + s * s
            )
        })
        .collect();
    let run = format!(
        "{{\"start\": {{\"timestamp\": {{\"timesecs\": 1795205509}}}},\n\"intervals\": [{}]}}\n",
        rows.join(",\n")
    );
    let with_run = [
        "alone.pcap",
        "--no-keys",
        "--format",
        "json",
        "--iperf3",
        "run.json",
    ];
    assert!(same_in_every_form(&folder, "run.json", &run, &with_run).contains("iperf3"));

    for arguments in [
        &["report", "saved.json"][..],
        &["compare", "saved.json", "saved.json"],
        &["alone.pcap", "--no-keys", "--reference", "saved.json"],
    ] {
        same_in_every_form(&folder, "saved.json", &document, arguments);
    }
}

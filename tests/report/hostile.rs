//! Hostile text in every place where a capture or a user can put it.

use super::*;

#[test]
fn what_names_steer_is_not_obeyed_and_outputs_have_names_of_their_own() {
    let folder = TempDir::new().unwrap();
    let capture = sample(SAMPLE);
    let out = run_in(folder.path(), &[&capture, "--tunnel", "a\u{202e}b"]);
    assert_eq!(out.status, 2);
    assert!(
        out.stderr.contains("a\\u{202e}b") && !out.stderr.contains('\u{202e}'),
        "{}",
        out.stderr
    );
    assert!(run_well(folder.path(), &["--help"]).contains("Usage:"));
    let out = run_in(folder.path(), &[&capture, "--json", "a.x", "--html", "a.x"]);
    assert!(
        out.status == 2 && out.stderr.contains("a name of its own"),
        "{}",
        out.stderr
    );
    let out = run_in(folder.path(), &[&capture, "--keys", &capture]);
    assert!(
        out.status == 1 && out.stderr.contains("is a capture, not a key log"),
        "{}",
        out.stderr
    );
}

/// A pcapng file with the packets of a sample, and hostile text wherever the format takes text.
fn hostile_pcapng(evil: &str) -> Vec<u8> {
    let pcap = fs::read(lab_of_sample(SAMPLE).capture).unwrap();
    let option = |code: u16| {
        let mut out = [code.to_le_bytes(), (evil.len() as u16).to_le_bytes()].concat();
        out.extend(evil.as_bytes());
        out.resize(out.len().next_multiple_of(4), 0);
        out
    };
    let block = |kind: u32, body: Vec<u8>| {
        let length = (body.len() as u32 + 12).to_le_bytes();
        [&kind.to_le_bytes()[..], &length, &body, &length].concat()
    };
    let end = [0; 4];
    let mut section = [
        &0x1a2b_3c4d_u32.to_le_bytes()[..],
        &1_u16.to_le_bytes(),
        &[0; 2],
        &[0xff; 8],
    ]
    .concat();
    (1..=4).for_each(|code| section.extend(option(code))); // comment, hardware, system, program
    section.extend(end);
    let mut interface = [&1_u16.to_le_bytes()[..], &[0; 2], &[0; 4]].concat();
    [1, 2, 3, 12]
        .into_iter()
        .for_each(|code| interface.extend(option(code))); // comment, name, description, system
    interface.extend([9_u16.to_le_bytes(), 1_u16.to_le_bytes()].concat()); // times in nanoseconds
    interface.extend([9, 0, 0, 0]);
    interface.extend(end);
    let mut out = [block(0x0a0d_0d0a, section), block(1, interface)].concat();
    let mut at = 24;
    while let Some(record) = pcap.get(at..at + 16) {
        let word = |n: usize| u32::from_le_bytes(record[4 * n..4 * n + 4].try_into().unwrap());
        let time = u64::from(word(0)) * 1_000_000_000 + u64::from(word(1));
        let data = &pcap[at + 16..at + 16 + word(2) as usize];
        let mut body = [0_u32, (time >> 32) as u32, time as u32, word(2), word(3)]
            .map(u32::to_le_bytes)
            .concat();
        body.extend(data);
        body.resize(body.len().next_multiple_of(4), 0);
        if at == 24 {
            body.extend(option(1)); // comment
            body.extend(end);
        }
        out.extend(block(6, body));
        at += 16 + data.len();
    }
    out
}

#[test]
fn hostile_names_are_harmless_in_every_format() {
    let folder = TempDir::new().unwrap();
    let within = |name: String| folder.path().join(name);
    fs::write(within(format!("{EVIL}.pcapng")), hostile_pcapng(EVIL)).unwrap();
    fs::copy(
        repository().join(format!("samples/{SAMPLE}.esp_sa")),
        within(format!("{EVIL}.esp_sa")),
    )
    .unwrap();
    fs::write(
        within(format!("{EVIL}.csv")),
        format!("t,\"{}\"\n5,1\n15,2\n", EVIL.replace('"', "\"\"")),
    )
    .unwrap();
    let (capture, overlay) = (format!("{EVIL}.pcapng"), format!("{EVIL}.csv"));
    let all = [&[capture.as_str(), "--overlay", &overlay][..], EVERYTHING].concat();
    let out = run_in(folder.path(), &all);
    assert_eq!(out.status, 0, "{}", out.stderr);
    let document: serde_json::Value =
        serde_json::from_slice(&fs::read(within("r.json".into())).unwrap()).unwrap();
    assert_eq!(
        document["capture"]["path"], capture,
        "the document keeps the name as it is"
    );
    assert_eq!(document["capture"]["packets"], 16_822);
    assert_eq!(document["overlays"][0]["name"], EVIL);
    let markdown = run_well(folder.path(), &["report", "r.json", "--format", "markdown"]);
    let full = run_well(folder.path(), &["report", "r.json", "-v"]);
    let index = run_well(folder.path(), &["report", "r.json", "r.json", "--format", "html"]);
    let steers = |text: &str| {
        text.chars()
            .any(|c| (c.is_control() && !"\r\n".contains(c)) || c == '\u{202e}')
    };
    for (name, text) in [
        ("text", &out.stdout),
        ("notes", &out.stderr),
        ("markdown", &markdown),
        ("full", &full),
    ] {
        assert!(!steers(text), "{name}: {text}");
    }
    assert!(
        markdown
            .lines()
            .all(|l| !l.contains("<script") || l.contains("``")),
        "{markdown}"
    );
    let mut pages = vec![("index".to_string(), index)];
    for (name, bytes) in files(folder.path()) {
        let kept = name.ends_with(".html") || name.starts_with("csv/") || name.starts_with("svg/");
        pages.extend(kept.then(|| (name, String::from_utf8(bytes).unwrap())));
    }
    assert!(pages.len() > 10);
    for (name, text) in &pages {
        if name.starts_with("csv/") {
            // Every cell that begins as a formula is a number.
            let mut reader = csv::ReaderBuilder::new()
                .has_headers(false)
                .from_reader(text.as_bytes());
            for cell in reader
                .records()
                .flat_map(|r| r.unwrap().iter().map(String::from).collect::<Vec<_>>())
            {
                let formula = cell.trim_start().starts_with(['=', '+', '-', '@', '\t', '\r']);
                assert!(!formula || cell.parse::<f64>().is_ok(), "{name}: {cell}");
            }
        } else {
            assert!(!steers(text), "{name}");
            assert!(
                !text.contains("<script>alert") && !text.contains("<img"),
                "{name}"
            );
        }
    }
}

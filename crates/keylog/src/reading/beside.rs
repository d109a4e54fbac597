//! Key files that lie beside a capture.

use std::path::{Path, PathBuf};

/// Compressions whose ending is not part of the stem.
const COMPRESSIONS: [&str; 3] = ["gz", "zst", "lz4"];
/// Endings that go with the capture's stem.
const STEM_ENDINGS: [&str; 3] = ["keylog", "keys", "esp_sa"];
/// Names that serve every capture of the folder.
const COMMON_NAMES: [&str; 6] = [
    "keys.esp_sa",
    "keys.ikev1",
    "keys.ikev2",
    "esp_sa",
    "ikev1_decryption_table",
    "ikev2_decryption_table",
];

/// Key files beside a capture, by the names that people use: `<stem>.keylog`, `<stem>.keys`, `<stem>.esp_sa`,
/// `keys.esp_sa`, `keys.ikev1`, `keys.ikev2`, `esp_sa`, `ikev1_decryption_table`, `ikev2_decryption_table` (the stem also without `.gz`,
/// `.zst`, `.lz4`). Existing regular files only, in this order.
pub fn find_beside(capture: &Path) -> Vec<PathBuf> {
    let folder = capture.parent().unwrap_or(Path::new(""));
    let mut stems = Vec::new();
    if let Some(stem) = capture.file_stem() {
        stems.push(PathBuf::from(stem));
        if capture
            .extension()
            .is_some_and(|e| COMPRESSIONS.iter().any(|c| e.eq_ignore_ascii_case(c)))
        {
            stems.extend(Path::new(stem).file_stem().map(PathBuf::from));
        }
    }
    let with_stem = STEM_ENDINGS.iter().flat_map(|ending| {
        stems.iter().map(move |stem| {
            let mut name = stem.clone().into_os_string();
            name.push(".");
            name.push(ending);
            PathBuf::from(name)
        })
    });
    let mut found: Vec<PathBuf> = Vec::new();
    for name in with_stem.chain(COMMON_NAMES.iter().map(PathBuf::from)) {
        let path = folder.join(name);
        if path.is_file() && path != capture && !found.contains(&path) {
            found.push(path);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_by_name_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let touch = |name: &str| std::fs::write(folder.path().join(name), b"").unwrap();
        for name in [
            "keys.ikev1",
            "trace.keylog",
            "trace.esp_sa",
            "other.keylog",
            "esp_sa",
            "trace.pcap.keys",
        ] {
            touch(name);
        }
        std::fs::create_dir(folder.path().join("keys.esp_sa")).unwrap();
        let names = |capture: &str| -> Vec<String> {
            find_beside(&folder.path().join(capture))
                .iter()
                .map(|p| p.file_name().unwrap().to_string_lossy().into_owned())
                .collect()
        };
        assert_eq!(
            names("trace.pcap"),
            ["trace.keylog", "trace.esp_sa", "keys.ikev1", "esp_sa"]
        );
        assert_eq!(
            names("trace.pcap.gz"),
            [
                "trace.keylog",
                "trace.pcap.keys",
                "trace.esp_sa",
                "keys.ikev1",
                "esp_sa"
            ]
        );
        assert_eq!(names("none.pcap"), ["keys.ikev1", "esp_sa"]);
    }
}

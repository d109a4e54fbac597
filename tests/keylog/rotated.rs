//! A folder of rotated logs is one log, wherever it was cut.

use crate::{corpus, outcome};
use rekeyscope_keylog::KeyMaterial;
use std::path::Path;

/// As logrotate calls the older file and the newer one.
const NAMES: [[&str; 2]; 3] = [
    ["vpn.log.1", "vpn.log"],
    ["vpn.log.10", "vpn.log.9"],
    ["vpn.log-20261120", "vpn.log"],
];

fn keys(path: &Path) -> Vec<String> {
    let mut material = KeyMaterial::default();
    material.read(path).unwrap();
    outcome(&material)
}

#[test]
fn a_log_cut_anywhere_gives_the_keys_of_the_whole() {
    for name in ["charon_ikev1.log", "racoon.log", "xfrm_state.log"] {
        let log = corpus().into_iter().find(|log| log.ends_with(name)).unwrap();
        let text = std::fs::read_to_string(&log).unwrap();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let whole = keys(&log);
        for cut in (1..lines.len()).step_by(4) {
            let [older, newest] = NAMES[cut % NAMES.len()];
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join(older), lines[..cut].concat()).unwrap();
            std::fs::write(folder.path().join(newest), lines[cut..].concat()).unwrap();
            assert_eq!(keys(folder.path()), whole, "{name}, {older} up to line {cut}");
        }
    }
}

#[test]
fn other_files_of_the_folder_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let log = corpus()
        .into_iter()
        .find(|log| log.ends_with("racoon.log"))
        .unwrap();
    std::fs::copy(&log, folder.path().join("racoon.log")).unwrap();
    std::fs::write(folder.path().join("trace.pcap"), b"\xd4\xc3\xb2\xa1\x02\0\x04\0").unwrap();
    std::fs::create_dir(folder.path().join("older")).unwrap();
    assert_eq!(keys(folder.path()), keys(&log));
}

//! After the last use no key is left in the memory of the process: another process looks.
#![cfg(target_os = "linux")]

use crate::support::analyze;
use memchr::memmem;
use rekeyscope_testkit::esp::Suite;
use rekeyscope_testkit::scenario::World;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::process::{Command, Stdio};

/// The folder that the process reads from.
const FOLDER: &str = "REKEYSCOPE_FORGETS";
const READY: &str = "all dropped";
const KEY_FILES: [&str; 3] = ["keys.esp_sa", "keys.ikev1", "keys.ikev2"];

/// What the other process is told to do. It makes no key itself.
#[test]
fn forgets() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let folder = Path::new(&folder);
    let analysis = analyze(
        &folder.join("trace.pcap"),
        &KEY_FILES.map(|name| folder.join(name)),
    );
    let decrypted = analysis
        .security_associations
        .iter()
        .filter(|sa| sa.inner_bytes.is_some());
    println!("{READY}: {}", decrypted.count());
    let _ = std::io::stdin().read(&mut [0]);
}

/// Every form in which the key files and the ciphers have them.
fn keys(spis: &[u32]) -> Vec<Vec<u8>> {
    let suites = spis.iter().map(|spi| Suite::of_spi(*spi));
    let raw: Vec<Vec<u8>> = suites
        .flat_map(|suite| [suite.key, suite.integrity_key])
        .collect();
    // As bytes those of IKE are like other things: HMAC fills a block with 0x5c.
    let of_ike = ["5c", "1e", "2e", "1a", "2a"].map(|byte| byte.repeat(16).into_bytes());
    let hex = |key: &Vec<u8>| {
        key.iter()
            .map(|b| format!("{b:02x}"))
            .collect::<String>()
            .into_bytes()
    };
    let in_hex: Vec<Vec<u8>> = raw.iter().map(hex).collect();
    [raw, in_hex, of_ike.to_vec()].concat()
}

/// Where in the writable memory of a process one of these stands.
fn found(process: u32, keys: &[Vec<u8>]) -> Vec<String> {
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).unwrap();
    let mut memory = File::open(format!("/proc/{process}/mem")).unwrap();
    let mut found = Vec::new();
    for line in maps.lines().filter(|line| line.contains(" rw")) {
        let (from, to) = line.split(' ').next().unwrap().split_once('-').unwrap();
        let [from, to] = [from, to].map(|at| u64::from_str_radix(at, 16).unwrap());
        let mut bytes = vec![0; (to - from) as usize];
        memory.seek(SeekFrom::Start(from)).unwrap();
        if memory.read_exact(&mut bytes).is_err() {
            continue; // a page that is no more, or the kernel's
        }
        for (number, key) in keys.iter().enumerate() {
            found.extend(memmem::find(&bytes, key).map(|at| {
                format!(
                    "key {number} of {} bytes at {:#x} in {line}",
                    key.len(),
                    from + at as u64
                )
            }));
        }
    }
    found
}

#[test]
fn nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new();
    world.establish(1_000);
    world.steady(500);
    let mut qm = world.begin(true);
    (0..3).for_each(|_| world.message(&mut qm));
    world.switch_up(&qm);
    world.switch_down(&qm);
    world.steady(500);
    let spis = [qm.down, qm.up, qm.down - 1, qm.up - 1];
    world.write(folder.path(), true);
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "keys::memory::forgets",
            "--nocapture",
            "--test-threads",
            "1",
        ])
        .env(FOLDER, folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let ready = lines
        .by_ref()
        .map(Result::unwrap)
        .find(|line| line.contains(READY));
    assert!(ready.is_some_and(|line| line.ends_with(": 4")), "it had the keys");
    let found = found(child.id(), &keys(&spis));
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    assert!(found.is_empty(), "{found:#?}");
}

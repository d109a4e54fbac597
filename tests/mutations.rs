//! A short run of what the fuzz targets (`fuzz/`) do for hours: seeds, a few bytes changed, through every door. Nothing may panic.
//! The same mutants each time; with `REKEYSCOPE_FUZZ_SECONDS` as many as that time allows, from the seed `REKEYSCOPE_FUZZ_SEED`.

#[path = "../fuzz/entry.rs"]
mod entry;
#[path = "mutations/seeds.rs"]
mod seeds;

use crate::support::repository;
use entry::Door;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Up to eight changes: a bit, a byte, a run of equal bytes, a cut.
fn mutate(rng: &mut ChaCha8Rng, original: &[u8]) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for _ in 0..rng.random_range(1..=8) {
        if bytes.is_empty() {
            break;
        }
        let at = rng.random_range(0..bytes.len());
        match rng.random_range(0..4) {
            0 => bytes[at] ^= 1 << rng.random_range(0..8),
            1 => bytes[at] = rng.random(),
            2 => {
                let (end, value) = (bytes.len().min(at + 8), [0, 0xff, 0x7f][rng.random_range(0..3)]);
                bytes[at..end].fill(value);
            }
            _ => bytes.truncate(at),
        }
    }
    bytes
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// `count` mutants, or as many as there is time for.
#[allow(clippy::disallowed_methods, reason = "a run of so many seconds needs a clock")]
fn run(name: &str, count: usize) {
    let (door, seeds) = (entry::door(name), seeds::of(name));
    let seconds = number("REKEYSCOPE_FUZZ_SECONDS");
    let mut rng = ChaCha8Rng::seed_from_u64(number("REKEYSCOPE_FUZZ_SEED").unwrap_or(1));
    let began = Instant::now();
    for k in 0.. {
        let over = match seconds {
            Some(seconds) => began.elapsed() > Duration::from_secs(seconds),
            None => k == count,
        };
        if over {
            println!("{name}: {k} mutants");
            break;
        }
        survives(name, door, &mutate(&mut rng, &seeds[k % seeds.len()]));
    }
}

/// Keeps what does not.
fn survives(name: &str, door: Door, input: &[u8]) {
    if catch_unwind(AssertUnwindSafe(|| door(input))).is_err() {
        let kept = std::env::temp_dir().join(format!("rekeyscope-{name}-{}", input.len()));
        std::fs::write(&kept, input).unwrap();
        panic!("the door {name} fell: its input is kept in {}", kept.display());
    }
}

/// Mutants of each door: about a second in an unoptimised build.
mod door {
    macro_rules! doors {
        ($($name:ident $count:literal)*) => {
            $(#[test] fn $name() { super::run(stringify!($name), $count); })*
            pub(super) const TESTED: &[&str] = &[$(stringify!($name)),*];
        };
    }
    doors! {
        framing 4_000 ike 4_000 inner 4_000 key_log 1_000 capture 60 esp 400 ike_sealed 1_000 whole 30 document 60 overlay 60
        psk 400 copies 60
    }
}

#[test]
fn every_door_is_tried() {
    let doors: Vec<&str> = entry::DOORS.iter().map(|(name, _)| *name).collect();
    assert_eq!(doors, door::TESTED);
    let manifest = std::fs::read_to_string(repository().join("fuzz/Cargo.toml")).unwrap();
    let targets: Vec<&str> = manifest
        .split("[[bin]]\nname = \"")
        .skip(1)
        .filter_map(|bin| bin.split('"').next())
        .collect();
    assert_eq!(doors, targets);
}

/// Every input that once made a door fall.
#[test]
fn what_was_found_stays_harmless() {
    let folder = repository().join("tests/fuzz/regressions");
    for file in std::fs::read_dir(folder).unwrap().flatten() {
        let name = file.file_name().into_string().unwrap();
        let (door, _) = name
            .split_once('.')
            .unwrap_or_else(|| panic!("{name}: TARGET.what-it-was"));
        if door != "README" {
            survives(&name, entry::door(door), &std::fs::read(file.path()).unwrap());
        }
    }
}

//! Writes captures for `tests/differential/run`: **synthetic** ones, and mutants of any.
//!
//! ```text
//! inputs scenarios FOLDER                      a folder for each, with its keys as Wireshark's tables
//! inputs mutants CAPTURE FOLDER FIRST COUNT    mutants of a pcap file by the seeds FIRST, FIRST + 1, …: FOLDER/SEED.pcap
//! ```

// The mutator was written for libFuzzer, whose own changes are made here.
extern crate self as libfuzzer_sys;

#[path = "../../fuzz/mutator.rs"]
#[allow(unreachable_pub, reason = "it is another crate's face")]
mod mutator;

use rekeyscope_testkit::scenario::World;
use std::cell::Cell;
use std::io::{Error, Result};
use std::path::Path;

/// Changes of one mutant.
const CHANGES: u32 = 48;
/// A mutant is longer than its original by no more than this.
const GROWTH: usize = 1 << 16;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["scenarios", folder] => scenarios(Path::new(folder)),
        ["mutants", capture, folder, first, count] => {
            let number = |text: &str| text.parse::<u32>().map_err(Error::other);
            let first = number(first)?;
            mutants(
                Path::new(capture),
                Path::new(folder),
                first..first + number(count)?,
            )
        }
        _ => Err(Error::other(
            "usage: inputs scenarios FOLDER | mutants CAPTURE FOLDER FIRST COUNT",
        )),
    }
}

fn mutants(capture: &Path, folder: &Path, seeds: std::ops::Range<u32>) -> Result<()> {
    let original = std::fs::read(capture)?;
    std::fs::create_dir_all(folder)?;
    for seed in seeds {
        let (mut data, mut len) = (original.clone(), original.len());
        let most = len + GROWTH;
        data.resize(most, 0);
        STATE.set(u64::from(seed) << 1 | 1);
        for change in 0..CHANGES {
            len = mutator::mutate(
                "capture",
                &mut data,
                len,
                most,
                seed.wrapping_mul(1_000_003) ^ shaped(change),
            );
        }
        std::fs::write(
            folder.join(format!("{seed}.pcap")),
            data.get(..len).unwrap_or(&data),
        )?;
    }
    Ok(())
}

/// The mutator draws whether it keeps the shape of the capture: the upper bits of a seed reach that draw, and these do.
fn shaped(change: u32) -> u32 {
    change.wrapping_mul(0x9e37_79b9)
}

thread_local! {
    static STATE: Cell<u64> = const { Cell::new(1) };
}

fn below(end: usize) -> usize {
    let mut state = STATE.get();
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    STATE.set(state);
    (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % end.max(1)
}

/// In the place of libFuzzer's: a bit, a byte, a few equal bytes, or a cut at the end.
pub fn fuzzer_mutate(data: &mut [u8], len: usize, most: usize) -> usize {
    if len == 0 {
        return 0;
    }
    // A whole file has a header, without which nobody reads it.
    let from = if len > 4_096 { 24 } else { 0 };
    let at = from + below(len - from);
    let Some(there) = data.get_mut(at..len.min(most)) else {
        return len;
    };
    let run = 1 + below(there.len().min(8));
    match below(8) {
        0 if from == 0 => return at,
        0..=3 => there[0] ^= 1 << below(8),
        4 | 5 => there[0] = below(256) as u8,
        _ => there[..run].fill([0, 0xff, 0x7f][below(3)]),
    }
    len
}

fn scenarios(folder: &Path) -> Result<()> {
    let play: [(&str, fn(&mut World)); 8] = [
        ("quick_modes", quick_modes),
        ("create_child_sas", create_child_sas),
        ("nat", |world| {
            world.nat_port = Some(61_000);
            quick_modes(world);
        }),
        ("fragments", |world| {
            world.mtu = Some(600);
            quick_modes(world);
        }),
        ("authentication_header", |world| {
            world.ah = true;
            quick_modes(world);
        }),
        ("repeated", repeated),
        ("datagrams", |world| {
            world.establish(1_000);
            world.datagrams(2_000);
            rekey(world);
            world.datagrams(2_000);
        }),
        ("control", |world| {
            world.establish(1_000);
            for kind in [Some(1), Some(2), Some(3), Some(6), None] {
                world.l2tp_control(true, kind);
                world.l2tp_control(false, None);
                world.steady(50);
            }
        }),
    ];
    for (name, play) in play {
        let place = folder.join(name);
        std::fs::create_dir_all(&place)?;
        let mut world = World::new();
        play(&mut world);
        world.write(&place, true);
    }
    Ok(())
}

fn rekey(world: &mut World) {
    let mut exchange = world.begin(true);
    for _ in 0..3 {
        world.message(&mut exchange);
        world.steady(40);
    }
    world.switch_up(&exchange);
    world.switch_down(&exchange);
}

fn quick_modes(world: &mut World) {
    world.main_mode();
    world.establish(1_000);
    world.steady(1_000);
    for _ in 0..3 {
        let old = world.down.spi;
        rekey(world);
        world.delete(old);
        world.steady(1_000);
    }
}

fn create_child_sas(world: &mut World) {
    world.steady(1_000);
    for from_client in [true, false, true] {
        let (down, up) = (world.down.spi, world.up.spi);
        world.renew_v2(from_client);
        world.steady(500);
        world.delete_v2(from_client, down, up);
        world.steady(500);
    }
}

/// Messages that come twice.
fn repeated(world: &mut World) {
    world.establish(1_000);
    world.steady(500);
    let mut exchange = world.begin(true);
    world.message(&mut exchange);
    world.wait(500);
    world.repeat(&exchange, 0);
    world.message(&mut exchange);
    world.message(&mut exchange);
    world.switch_up(&exchange);
    world.switch_down(&exchange);
    world.steady(500);
    let mut exchange = world.begin_v2(true);
    world.message_v2(&mut exchange);
    world.wait(500);
    world.repeat_v2(&exchange, 0);
    world.message_v2(&mut exchange);
    world.steady(500);
}

//! Draws rekeys that never happened into real captures without rekeys, and counts what the method says of them:
//!
//! ```text
//! cargo run --example pseudo_rekeys -- 50 CAPTURE KEYS [CAPTURE KEYS…]
//! ```
//!
//! 50 is the number of runs per capture. `tests/lab/pseudo` makes the captures first. Ends with status 1 when a run is *shown*
//! or more than 2 % are *some*.

use anyhow::{Context, Result};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rekeyscope::pipeline::{Analyzer, Options};
use rekeyscope_capture::file::CaptureReader;
use rekeyscope_impact::{MethodSettings, ProvenEffect, RekeyMoment, Start, Traffic, judge};
use rekeyscope_keylog::KeyMaterial;
use rekeyscope_model::analysis::{Direction, Verdict};
use rekeyscope_model::diagnostic::Diagnostics;
use std::path::Path;
use std::process::ExitCode;

/// Rekeys per run: from what a mean needs, comfortably, to what 90 s hold at one every 4 s.
const REKEYS: std::ops::RangeInclusive<usize> = 6..=20;
/// First message to first packet on the new SA, seconds: the lab's range (0.02 s plain, 0.3 s with a slow group).
const EXCHANGE_S: std::ops::Range<f64> = 0.02..0.3;
/// A soft limit is met within this share of its volume (measured in the lab: 1.5 to 5 %).
const VOLUME_SCATTER: f64 = 0.05;
/// Placebo draws per run, as in the calibration.
const DRAWS: usize = 1_999;
/// At most this share may be *some*.
const MOST_SOME: f64 = 0.02;

/// Uniform in [0, 1).
fn unit(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// The series of a capture.
fn traffic(capture: &Path, keys: &Path) -> Result<Traffic> {
    let mut material = KeyMaterial::default();
    material.read(keys)?;
    let mut reader = CaptureReader::open(capture)?;
    let mut analyzer = Analyzer::new(Options::default(), material);
    let mut diagnostics = Diagnostics::default();
    while let Some(frame) = reader.next_frame(&mut diagnostics)? {
        analyzer.push(&frame);
    }
    analyzer
        .finish()
        .traffic()
        .with_context(|| format!("{}: no traffic", capture.display()))
}

/// Seconds at which the series has carried `volume` new bytes.
fn when(traffic: &Traffic, volume: f64) -> f64 {
    let mut sum = 0.0;
    let bins = traffic.bytes.iter().take_while(|&&b| {
        sum += f64::from(b);
        sum < volume
    });
    bins.count() as f64 * traffic.base_bin_s
}

/// Rekeys at every so many bytes from a random phase on, as a volume lifetime makes them.
fn moments(traffic: &Traffic, rng: &mut ChaCha8Rng) -> Vec<RekeyMoment> {
    let count = REKEYS.start() + (unit(rng) * (REKEYS.end() - REKEYS.start() + 1) as f64) as usize;
    let total: f64 = traffic.bytes.iter().map(|&b| f64::from(b)).sum();
    let volume = total / count as f64;
    let phase = unit(rng);
    (0..count)
        .map(|index| {
            let scatter = VOLUME_SCATTER * unit(rng);
            let started_s = when(traffic, (index as f64 + phase + scatter) * volume);
            RekeyMoment {
                index,
                start: Start::Message(started_s),
                switched_s: started_s + EXCHANGE_S.start + (EXCHANGE_S.end - EXCHANGE_S.start) * unit(rng),
                proven: ProvenEffect::Nothing,
            }
        })
        .collect()
}

#[expect(clippy::print_stdout, reason = "a program")]
fn main() -> Result<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    let runs: u64 = arguments.next().context("how many runs per capture?")?.parse()?;
    let files: Vec<String> = arguments.collect();
    let (mut all, mut shown, mut some) = (0u64, 0u64, 0u64);
    println!("# Rekeys that never happened\n");
    println!(
        "Made by `tests/lab/pseudo > docs/evidence/pseudo_rekeys.md`: fresh real captures without rekeys (10 Mbit/s, 90 s; variants in \
         `tests/lab/variants.py`), into each of which {runs} times {} to {} rekeys are drawn at equal volumes from a random phase \
         on.\n",
        REKEYS.start(),
        REKEYS.end()
    );
    println!("| capture | runs | *shown* | *some* | *bounded* | *inconclusive* |\n|---|---|---|---|---|---|");
    for pair in files.chunks_exact(2) {
        let traffic = traffic(Path::new(&pair[0]), Path::new(&pair[1]))?;
        let mut counts = [0u64; 4];
        for seed in 0..runs {
            let moments = moments(&traffic, &mut ChaCha8Rng::seed_from_u64(seed));
            let settings = MethodSettings {
                rekeys_total: moments.len(),
                seed,
                draws: DRAWS,
                ..MethodSettings::new(0, Direction::BToA)
            };
            let verdict = judge(&traffic, &moments, &settings).verdict;
            let position = match verdict {
                Verdict::Shown => 0,
                Verdict::Some => 1,
                Verdict::Bounded => 2,
                _ => 3,
            };
            counts[position] += 1;
        }
        let name = Path::new(&pair[0])
            .parent()
            .and_then(Path::file_name)
            .unwrap_or_default();
        let [a, b, c, d] = counts;
        println!("| {} | {runs} | {a} | {b} | {c} | {d} |", name.to_string_lossy());
        (all, shown, some) = (all + runs, shown + a, some + b);
    }
    let held = all > 0 && shown == 0 && some as f64 <= MOST_SOME * all as f64;
    println!(
        "\n{all} runs: {shown} *shown*, {some} *some*; none and at most 2 % demanded: {}.",
        if held { "held" } else { "broken" }
    );
    Ok(if held {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

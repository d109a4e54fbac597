//! Wrong encryption keys behind right integrity keys: none is believed, and the bits that they come to stay within the budget.

use super::{OF_EACH_SA, interval, sas, traces};
use crate::sa::budget::Budget;
use crate::sa::weigh::{HOPELESS_BITS, Weight};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rekeyscope_keylog::KeyRoad;

/// What wrong encryption keys behind a right integrity key come to.
#[derive(Default)]
struct Wrong {
    pairs: u64,
    accepted: u64,
    /// How many reached so many bits on one packet, and on all.
    on_one: Vec<u64>,
    on_all: Vec<u64>,
}

const MOST_BITS: usize = 24;

fn wrong_pairs(pairs: u64) -> Wrong {
    let sas = sas();
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let work = |seed: u64| {
        let mut rng = ChaCha8Rng::seed_from_u64(1_000 + seed);
        let mut wrong = Wrong {
            on_one: vec![0; MOST_BITS],
            on_all: vec![0; MOST_BITS],
            ..Wrong::default()
        };
        let mut budget = Budget::default();
        for i in 0..pairs / threads {
            let sa = &sas[i as usize % sas.len()];
            let cipher = sa.cipher(&rng.random());
            budget.spend(1);
            wrong.pairs += 1;
            let mut weight = Weight::default();
            let mut most = f64::NEG_INFINITY;
            for (n, packet) in sa.packets.iter().enumerate() {
                weight.add(&cipher, packet, None);
                most = most.max(weight.bits);
                let reached = (weight.bits.max(-1.0) + 1.0) as usize;
                let tally = if n == 0 { Some(&mut wrong.on_one) } else { None };
                tally
                    .into_iter()
                    .flatten()
                    .take(reached)
                    .for_each(|count| *count += 1);
                if weight.bits < HOPELESS_BITS {
                    break;
                }
            }
            let reached = (most.max(-1.0) + 1.0) as usize;
            wrong
                .on_all
                .iter_mut()
                .take(reached)
                .for_each(|count| *count += 1);
            // The weaker of the rules: as if the key stood beside the integrity key in one record.
            wrong.accepted += u64::from(most > budget.needed(KeyRoad::Explicit, true));
        }
        wrong
    };
    let mut sum = Wrong {
        on_one: vec![0; MOST_BITS],
        on_all: vec![0; MOST_BITS],
        ..Wrong::default()
    };
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|seed| scope.spawn(move || work(seed))).collect();
        for wrong in running.into_iter().map(|thread| thread.join().unwrap()) {
            sum.pairs += wrong.pairs;
            sum.accepted += wrong.accepted;
            let add = |mine: &mut Vec<u64>, theirs: Vec<u64>| {
                mine.iter_mut().zip(theirs).for_each(|(m, t)| *m += t)
            };
            add(&mut sum.on_one, wrong.on_one);
            add(&mut sum.on_all, wrong.on_all);
        }
    });
    sum
}

/// No wrong key is believed, and as many reach b bits as the budget says at most: one in 2^b.
fn assert_within_the_budget(wrong: &Wrong) {
    assert_eq!(wrong.accepted, 0);
    for counts in [&wrong.on_one, &wrong.on_all] {
        for (bits, found) in counts.iter().enumerate() {
            let (low, _) = interval(*found, wrong.pairs);
            assert!(
                low <= (-(bits as f64)).exp2(),
                "{bits} bits: {found} of {}",
                wrong.pairs
            );
        }
    }
    assert!(
        wrong.on_all[5] > 0,
        "noise is not that empty: the test would see nothing"
    );
}

#[test]
fn wrong_encryption_keys_stay_within_the_budget() {
    assert_within_the_budget(&wrong_pairs(100_000));
}

/// `cargo test --release -p rekeyscope-ipsec --lib ten_million -- --ignored --nocapture`
#[test]
#[ignore = "a minute; release"]
fn ten_million_wrong_encryption_keys_are_not_believed() {
    let wrong = wrong_pairs(10_000_000);
    println!(
        "{} wrong pairs over the SAs of {} captures: {} accepted",
        wrong.pairs,
        traces().len(),
        wrong.accepted
    );
    println!("bits  at most (budget)  on one packet  on up to {OF_EACH_SA}");
    for (bits, (one, all)) in wrong.on_one.iter().zip(&wrong.on_all).enumerate() {
        let most = wrong.pairs as f64 * (-(bits as f64)).exp2();
        println!("{bits:4}  {most:16.1}  {one:13}  {all}");
    }
    assert_within_the_budget(&wrong);
}

//! SHA-1 and SHA-256 in all lanes.

use crate::{Avx2, Avx512, Block, Chain, Compress, LaneHash, ShaNi, Simd128, States};
use hex_literal::hex;
use proptest::prelude::*;
use std::fmt::Debug;

#[test]
fn sixteen_lanes_of_avx512() {
    match Avx512::detect() {
        Some(lanes) => all_of(lanes),
        None => println!("skipped: sixteen_lanes_of_avx512, this processor has no AVX-512"),
    }
}

#[test]
fn eight_lanes_of_avx2() {
    match Avx2::detect() {
        Some(lanes) => all_of(lanes),
        None => println!("skipped: eight_lanes_of_avx2, this processor has no AVX2"),
    }
}

#[test]
fn two_lanes_of_sha_ni() {
    match ShaNi::detect() {
        Some(lanes) => all_of(lanes),
        None => println!("skipped: two_lanes_of_sha_ni, this processor has no SHA-NI"),
    }
}

#[test]
fn four_lanes_of_simd128() {
    match Simd128::detect() {
        Some(lanes) => all_of(lanes),
        None => println!("skipped: four_lanes_of_simd128, this is no WebAssembly"),
    }
}

/// One message after the other, by RustCrypto.
#[derive(Debug, Clone, Copy)]
struct Alone;

impl Compress<3> for Alone {
    fn compress(self, hash: LaneHash, states: &mut States<3>, messages: &[&[Block]; 3], steps: usize) {
        for (lane, message) in messages.iter().enumerate() {
            let mut chain = chain(states, lane);
            hash.compress_alone(&mut chain, &message[..steps]);
            for (words, word) in states.iter_mut().zip(chain) {
                words[lane] = word;
            }
        }
    }
}

#[test]
fn one_message_alone() {
    vectors_of_fips_180(Alone);
}

fn all_of<const LANES: usize>(lanes: impl Compress<LANES> + Debug) {
    vectors_of_fips_180(lanes);
    as_each_alone(lanes);
}

/// The state of one lane.
fn chain<const LANES: usize>(states: &States<LANES>, lane: usize) -> Chain {
    states.map(|words| words[lane])
}

/// A text of less than two blocks with the padding of FIPS 180-4 §5.1.1.
fn padded(text: &[u8]) -> Vec<Block> {
    let mut blocks = vec![[0; 64]; (text.len() + 9).div_ceil(64)];
    let bytes = blocks.as_flattened_mut();
    bytes[..text.len()].copy_from_slice(text);
    bytes[text.len()] = 0x80;
    *bytes.last_chunk_mut().unwrap() = (8 * text.len() as u64).to_be_bytes();
    blocks
}

/// The examples that NIST publishes for FIPS 180-4, of one block and of two, each in every lane beside the other.
fn vectors_of_fips_180<const LANES: usize>(lanes: impl Compress<LANES> + Debug) {
    let texts: [&[u8]; 2] = [
        b"abc",
        b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
    ];
    let [one, two] = texts.map(padded);
    let sha1 = [
        hex!("a9993e364706816aba3e25717850c26c9cd0d89d"),
        hex!("84983e441c3bd26ebaae4aa1f95129e5e54670f1"),
    ];
    let sha256 = [
        hex!("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        hex!("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
    ];
    let expected = [
        (LaneHash::Sha1, sha1.each_ref().map(|digest| &digest[..])),
        (LaneHash::Sha256, sha256.each_ref().map(|digest| &digest[..])),
    ];
    for (hash, expected) in expected {
        for odd in [0, 1] {
            let is_long = |lane: usize| lane % 2 == odd;
            let mut states: States<LANES> = hash.initial().map(|word| [word; LANES]);
            let first: [&[Block]; LANES] =
                std::array::from_fn(|lane| if is_long(lane) { &two[..] } else { &one });
            lanes.compress(hash, &mut states, &first, 1);
            let after_one = states;
            let second: [&[Block]; LANES] = [&two[1..]; LANES];
            lanes.compress(hash, &mut states, &second, 1);
            for lane in 0..LANES {
                let (chain, expected) = match is_long(lane) {
                    true => (chain(&states, lane), expected[1]),
                    false => (chain(&after_one, lane), expected[0]),
                };
                let digest = chain.map(u32::to_be_bytes);
                assert_eq!(
                    &digest.as_flattened()[..hash.digest_len()],
                    expected,
                    "{lanes:?} {hash:?} lane {lane}"
                );
            }
        }
    }
}

/// Any states and any blocks, as many as there are in one call: in each lane the same as of its message alone.
fn as_each_alone<const LANES: usize>(lanes: impl Compress<LANES> + Debug) {
    proptest!(|(
        states in proptest::collection::vec(any::<[u32; 8]>(), LANES),
        (steps, bytes) in (0..5_usize)
            .prop_flat_map(|steps| (Just(steps), proptest::collection::vec(any::<u8>(), LANES * steps * 64))),
    )| {
        let blocks = bytes.as_chunks::<64>().0;
        let messages: [&[Block]; LANES] = std::array::from_fn(|lane| &blocks[lane * steps..][..steps]);
        for hash in [LaneHash::Sha1, LaneHash::Sha256] {
            let words = match hash {
                LaneHash::Sha1 => 5,
                LaneHash::Sha256 => 8,
            };
            let mut together: States<LANES> =
                std::array::from_fn(|word| std::array::from_fn(|lane| states[lane][word]));
            lanes.compress(hash, &mut together, &messages, steps);
            for (lane, mut alone) in states.iter().copied().enumerate() {
                hash.compress_alone(&mut alone, messages[lane]);
                prop_assert_eq!(&chain(&together, lane)[..words], &alone[..words], "{:?} lane {}", hash, lane);
            }
        }
    });
}

//! HMAC-SHA1 (RFC 2104, RFC 2404) over many messages at once, for [`crate::esp::cipher::many`]. A lane that is done with its message
//! takes the next one, whatever its key and its length.

use crate::esp::cipher::lanes::{Block, LANES, States};
use std::cmp::Reverse;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// A state of SHA-1 between two blocks.
pub(super) type Chain = [u32; 5];

/// FIPS 180-4 §5.3.1.
const START: Chain = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
const BLOCK: usize = size_of::<Block>();
/// A digest of SHA-1.
const DIGEST: usize = 20;
/// The bit that ends a message, and its length in bits (FIPS 180-4 §5.1.1).
const PADDING: usize = 1 + 8;

/// A key after its first block: where the inner and the outer hash of every message start (RFC 2104 §4).
#[derive(Zeroize, ZeroizeOnDrop)]
pub(super) struct Chains {
    inner: Chain,
    outer: Chain,
}

impl Chains {
    /// `None` for a key that is longer than a block: HMAC would hash it first.
    pub(super) fn new(key: &[u8]) -> Option<Self> {
        let chain = |mask: u8| {
            let mut block = [mask; BLOCK];
            for (cell, byte) in block.get_mut(..key.len())?.iter_mut().zip(key) {
                *cell ^= byte;
            }
            let mut chain = START;
            sha1::block_api::compress(&mut chain, &[block]);
            block.zeroize();
            Some(chain)
        };
        Some(Chains {
            inner: chain(0x36)?,
            outer: chain(0x5c)?,
        })
    }
}

/// A message to authenticate.
pub(super) struct Job<'a> {
    /// The caller's number for it: the order of jobs changes.
    pub(super) number: usize,
    /// Its key.
    pub(super) chains: &'a Chains,
    /// Its bytes.
    pub(super) message: &'a [u8],
    /// The ICV that came with it, for the caller.
    pub(super) icv: &'a [u8],
    /// The result.
    pub(super) mac: [u8; DIGEST],
}

/// What a lane is hashing.
enum Phase {
    /// Whole blocks of the message.
    Body,
    /// The rest of it, with padding.
    Tail,
    /// The digest of the message.
    Outer,
}

struct HashLane<'a> {
    /// Index of the job; `None` when there are no more.
    job: Option<usize>,
    phase: Phase,
    body: &'a [Block],
    tail: [Block; 2],
    tail_blocks: usize,
    /// Blocks done in this phase.
    done: usize,
}

impl<'a> HashLane<'a> {
    fn idle() -> Self {
        HashLane {
            job: None,
            phase: Phase::Body,
            body: &[],
            tail: [[0; BLOCK]; 2],
            tail_blocks: 0,
            done: 0,
        }
    }

    fn start(&mut self, index: usize, message: &'a [u8]) {
        let (body, rest) = message.as_chunks::<BLOCK>();
        self.job = Some(index);
        self.phase = Phase::Body;
        self.body = body;
        self.pad(rest, message.len());
    }

    /// Fills the tail with the last bytes of a message of `len` bytes behind the block of its key.
    fn pad(&mut self, rest: &[u8], len: usize) {
        self.tail_blocks = (rest.len() + PADDING).div_ceil(BLOCK);
        let bits = 8 * (BLOCK + len) as u64;
        let bytes = self.tail.as_flattened_mut();
        if let Some((text, padding)) = bytes.split_at_mut_checked(rest.len()) {
            text.copy_from_slice(rest);
            padding.fill(0);
            if let Some(end) = padding.first_mut() {
                *end = 0x80;
            }
        }
        if let Some(cell) = bytes
            .get_mut(..self.tail_blocks * BLOCK)
            .and_then(<[u8]>::last_chunk_mut::<8>)
        {
            *cell = bits.to_be_bytes();
        }
    }

    /// Blocks that can be hashed now.
    fn ready(&self) -> &[Block] {
        let blocks = match self.phase {
            Phase::Body => Some(self.body),
            Phase::Tail | Phase::Outer => self.tail.get(..self.tail_blocks),
        };
        blocks.and_then(|b| b.get(self.done..)).unwrap_or_default()
    }
}

/// Fills in the MACs. `compress` hashes the first blocks of sixteen messages, as many as its last argument says.
pub(super) fn authenticate(jobs: &mut [Job<'_>], compress: impl Fn(&mut States, &[&[Block]; LANES], usize)) {
    // The longest first: lanes with equal lengths stay in step, and short ones fill the end.
    jobs.sort_unstable_by_key(|job| Reverse(job.message.len()));
    let mut states: States = [[0; LANES]; 5];
    let mut lanes: [HashLane<'_>; LANES] = std::array::from_fn(|_| HashLane::idle());
    let mut next = 0;
    loop {
        for (index, lane) in lanes.iter_mut().enumerate() {
            while lane.ready().is_empty() && turn(lane, index, &mut states, jobs, &mut next) {}
        }
        // Lanes without a job hash somebody else's blocks; nobody reads the result.
        let shortest = lanes
            .iter()
            .map(HashLane::ready)
            .filter(|r| !r.is_empty())
            .min_by_key(|r| r.len());
        let Some(shortest) = shortest else { return };
        let messages = lanes.each_ref().map(|lane| match lane.ready() {
            [] => shortest,
            ready => ready,
        });
        let steps = shortest.len();
        compress(&mut states, &messages, steps);
        for lane in &mut lanes {
            lane.done += steps;
        }
    }
}

/// Takes a lane that has hashed all its blocks to its next phase or job; false when there is none.
fn turn<'a>(
    lane: &mut HashLane<'a>,
    index: usize,
    states: &mut States,
    jobs: &mut [Job<'a>],
    next: &mut usize,
) -> bool {
    lane.done = 0;
    if let Some(job) = lane.job.and_then(|job| jobs.get_mut(job)) {
        match lane.phase {
            Phase::Body => {
                lane.phase = Phase::Tail;
                return true;
            }
            Phase::Tail => {
                lane.phase = Phase::Outer;
                lane.pad(&digest(states, index), DIGEST);
                set(states, index, &job.chains.outer);
                return true;
            }
            Phase::Outer => job.mac = digest(states, index),
        }
    }
    let Some(job) = jobs.get(*next) else {
        *lane = HashLane::idle();
        return false;
    };
    lane.start(*next, job.message);
    set(states, index, &job.chains.inner);
    *next += 1;
    true
}

fn set(states: &mut States, lane: usize, chain: &Chain) {
    for (words, value) in states.iter_mut().zip(chain) {
        if let Some(word) = words.get_mut(lane) {
            *word = *value;
        }
    }
}

fn digest(states: &States, lane: usize) -> [u8; DIGEST] {
    let mut digest = [0; DIGEST];
    for (cell, words) in digest.as_chunks_mut::<4>().0.iter_mut().zip(states) {
        *cell = words.get(lane).copied().unwrap_or_default().to_be_bytes();
    }
    digest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::esp::cipher::sha1_lanes::Sha1Lanes;
    use hex_literal::hex;
    use hmac::{Hmac, KeyInit, Mac};

    /// Sixteen lanes, one after the other, on any processor.
    fn portable(states: &mut States, messages: &[&[Block]; LANES], steps: usize) {
        for (lane, message) in messages.iter().enumerate() {
            let mut chain = states.map(|words| words[lane]);
            sha1::block_api::compress(&mut chain, &message[..steps]);
            set(states, lane, &chain);
        }
    }

    /// MACs in the order of `messages`, each with its key: by the processor's lanes, where it has them, and by others.
    fn macs(messages: &[(&[u8], &[u8])]) -> Vec<Vec<[u8; DIGEST]>> {
        let chains: Vec<Chains> = messages
            .iter()
            .map(|(key, _)| Chains::new(key).unwrap())
            .collect();
        let jobs = || -> Vec<Job<'_>> {
            let job = |(number, (chains, (_, message)))| Job {
                number,
                chains,
                message,
                icv: &[],
                mac: [0; DIGEST],
            };
            chains
                .iter()
                .zip(messages.iter().copied())
                .enumerate()
                .map(job)
                .collect()
        };
        let sorted = |mut jobs: Vec<Job<'_>>| {
            jobs.sort_by_key(|job| job.number);
            jobs.iter().map(|job| job.mac).collect()
        };
        let mut results = Vec::new();
        let mut by_others = jobs();
        authenticate(&mut by_others, portable);
        results.push(sorted(by_others));
        if let Some(lanes) = Sha1Lanes::detect() {
            let mut by_lanes = jobs();
            authenticate(&mut by_lanes, |s, m, n| lanes.compress(s, m, n));
            results.push(sorted(by_lanes));
        }
        results
    }

    /// RFC 2202 §3, the cases whose key is no longer than a block (ESP has no others), all in one go and each filling the lanes.
    #[test]
    fn rfc2202() {
        let case_4_key: Vec<u8> = (1..=25).collect();
        let cases: [(&[u8], &[u8], [u8; DIGEST]); 5] = [
            (
                &[0x0b; 20],
                b"Hi There",
                hex!("b617318655057264e28bc0b6fb378c8ef146be00"),
            ),
            (
                b"Jefe",
                b"what do ya want for nothing?",
                hex!("effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
            ),
            (
                &[0xaa; 20],
                &[0xdd; 50],
                hex!("125d7342b9ac11cd91a39af48aa17b4f63f175d3"),
            ),
            (
                &case_4_key,
                &[0xcd; 50],
                hex!("4c9007f4026250c6bc8414f9bf50c86c2d7235da"),
            ),
            (
                &[0x0c; 20],
                b"Test With Truncation",
                hex!("4c1a03424b55e07fe7f27be1d58bb9324a9a5a04"),
            ),
        ];
        let messages: Vec<(&[u8], &[u8])> = cases.iter().map(|(key, message, _)| (*key, *message)).collect();
        for macs in macs(&messages) {
            assert_eq!(macs, cases.map(|(_, _, mac)| mac));
        }
        for (key, message, mac) in cases {
            for macs in macs(&[(key, message); 35]) {
                assert_eq!(macs, [mac; 35]);
            }
        }
    }

    /// Every place of the padding in its block, and lanes that end at different times.
    #[test]
    fn every_length_up_to_five_blocks() {
        let text: Vec<u8> = (0..320).map(|i| (i * 7) as u8).collect();
        let key = [0x5a; 20];
        let messages: Vec<(&[u8], &[u8])> = (0..=text.len()).map(|len| (&key[..], &text[..len])).collect();
        for macs in macs(&messages) {
            assert_eq!(macs.len(), messages.len());
            for (mac, (_, message)) in macs.iter().zip(&messages) {
                let expected = Hmac::<sha1::Sha1>::new_from_slice(&key)
                    .unwrap()
                    .chain_update(message)
                    .finalize();
                assert_eq!(mac[..], expected.into_bytes()[..], "{} bytes", message.len());
            }
        }
    }

    #[test]
    fn a_key_longer_than_a_block_is_refused() {
        assert!(Chains::new(&[1; 64]).is_some());
        assert!(Chains::new(&[1; 65]).is_none());
    }
}

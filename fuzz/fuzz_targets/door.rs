//! Every target is this file: a door by the name of the program.
#![no_main]

use std::sync::LazyLock;

const NAME: &str = env!("CARGO_BIN_NAME");
static DOOR: LazyLock<fn(&[u8])> = LazyLock::new(|| rekeyscope_fuzz::door(NAME));

libfuzzer_sys::fuzz_target!(|data: &[u8]| DOOR(data));

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], len: usize, most: usize, seed: u32| {
    rekeyscope_fuzz::mutate(NAME, data, len, most, seed)
});

//! Decrypting leaves traces on a thread's stack: the compiler may spill round keys to it, one of which is the key.
//! A value that is copied later takes such bytes along, in the parts that it does not use, and the heap is not wiped.

use zeroize::Zeroize;

/// Words that are wiped after a task: verifying and decrypting go some kilobytes deep.
const WORDS: usize = 1 << 11;
/// Words that are wiped at the end: trying keys on packets starts far deeper.
const MOST_WORDS: usize = 1 << 14;

/// Wipes 16 kB of the stack below the caller. To be called where packets were decrypted, or a key was expanded, not deeper.
#[inline(never)]
pub fn wipe_stack() {
    [0_u64; WORDS].zeroize();
}

/// Wipes 128 kB of it: where keys were tried on packets, once that is over.
#[inline(never)]
pub fn wipe_deep_stack() {
    [0_u64; MOST_WORDS].zeroize();
}

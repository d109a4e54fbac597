//! What decrypting leaves on a thread's stack.

use zeroize::Zeroize;

/// Words of it that are wiped: decrypting goes some kilobytes deep.
const WORDS: usize = 2048;

/// Wipes the stack below the caller. The compiler may spill round keys to it, one of which is the key. To be called where packets were
/// decrypted, not deeper.
#[inline(never)]
pub fn wipe_stack() {
    [0_u64; WORDS].zeroize();
}

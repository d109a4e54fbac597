//! SHA-1 (FIPS 180-4 §6.1) and SHA-256 (§6.2), written once for vectors of any width.
//!
//! A module that has `LANES`, `load`, `store`, `transposed` and the operations `add`, `splat`, `xor3`, `choose`,
//! `majority`, `rotate` and `shift` gets `sha1` and `sha256` from `hashes!`. These are macros because on x86-64
//! `#[target_feature]` must stand on each function, and a trait's functions cannot have it and be inlined.

/// FIPS 180-4 §4.2.2.
pub(crate) const K: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
];

/// One round of SHA-1 for each `$t`. Instead of moving a..e on by one after each round, their places move: in round t the
/// i-th of them is at (i − t) mod 5. The message schedule needs only its last 16 words.
macro_rules! sha1_rounds {
    ($v:ident, $w:ident, $k:literal, $logic:ident, $($t:literal)*) => {
        let k = splat($k);
        $(
            if $t >= 16 {
                let three = xor3($w[($t + 13) % 16], $w[($t + 8) % 16], $w[($t + 2) % 16]);
                $w[$t % 16] = rotate::<1, 31>(xor(three, $w[$t % 16]));
            }
            let [a, b, c, d, e] = [80 - $t, 81 - $t, 82 - $t, 83 - $t, 84 - $t];
            let known = add($v[e % 5], add($w[$t % 16], k));
            let sum = add(add(known, $logic($v[b % 5], $v[c % 5], $v[d % 5])), rotate::<5, 27>($v[a % 5]));
            $v[b % 5] = rotate::<30, 2>($v[b % 5]);
            $v[e % 5] = sum;
        )*
    };
}

/// One round of SHA-256 for each `$t`, with places that move likewise: in round t the i-th of a..h is at (i − t) mod 8.
macro_rules! sha256_rounds {
    ($v:ident, $w:ident, $($t:literal)*) => {$(
        if $t >= 16 {
            let (late, early) = ($w[($t + 14) % 16], $w[($t + 1) % 16]);
            let late = xor3(rotate::<15, 17>(late), rotate::<13, 19>(late), shift::<10>(late));
            let early = xor3(rotate::<25, 7>(early), rotate::<14, 18>(early), shift::<3>(early));
            $w[$t % 16] = add(add($w[$t % 16], early), add($w[($t + 9) % 16], late));
        }
        let [a, b, c, d] = [$v[(64 - $t) % 8], $v[(65 - $t) % 8], $v[(66 - $t) % 8], $v[(67 - $t) % 8]];
        let [e, f, g, h] = [$v[(68 - $t) % 8], $v[(69 - $t) % 8], $v[(70 - $t) % 8], $v[(71 - $t) % 8]];
        let known = add(h, add($w[$t % 16], splat(K[$t])));
        let mixed = xor3(rotate::<26, 6>(e), rotate::<21, 11>(e), rotate::<7, 25>(e));
        let first = add(add(known, choose(e, f, g)), mixed);
        let mixed = xor3(rotate::<30, 2>(a), rotate::<19, 13>(a), rotate::<10, 22>(a));
        $v[(67 - $t) % 8] = add(d, first);
        $v[(71 - $t) % 8] = add(first, add(mixed, majority(a, b, c)));
    )*};
}

/// `sha1` and `sha256` of the module this stands in, with `$attribute` on each, such as the instructions that they are compiled for.
macro_rules! hashes {
    ($(#[$attribute:meta])?) => {
        $(#[$attribute])?
        fn sha1(states: &mut States<LANES>, messages: &Messages<'_, LANES>, steps: usize) {
            let [a, b, c, d, e, ..] = &*states;
            let mut v = [load(a), load(b), load(c), load(d), load(e)];
            for step in 0..steps {
                let before = v;
                let mut w = transposed(messages, step);
                sha1_rounds!(v, w, 0x5a82_7999, choose, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19);
                sha1_rounds!(v, w, 0x6ed9_eba1, xor3, 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39);
                sha1_rounds!(v, w, 0x8f1b_bcdc, majority, 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59);
                sha1_rounds!(v, w, 0xca62_c1d6, xor3, 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79);
                for (word, before) in v.iter_mut().zip(before) {
                    *word = add(*word, before);
                }
            }
            for (words, vector) in states.iter_mut().zip(v) {
                store(words, vector);
            }
        }

        $(#[$attribute])?
        fn sha256(states: &mut States<LANES>, messages: &Messages<'_, LANES>, steps: usize) {
            let mut v = [splat(0); 8];
            for (vector, words) in v.iter_mut().zip(&*states) {
                *vector = load(words);
            }
            for step in 0..steps {
                let before = v;
                let mut w = transposed(messages, step);
                sha256_rounds!(v, w, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
                sha256_rounds!(v, w, 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63);
                for (word, before) in v.iter_mut().zip(before) {
                    *word = add(*word, before);
                }
            }
            for (words, vector) in states.iter_mut().zip(v) {
                store(words, vector);
            }
        }
    };
}

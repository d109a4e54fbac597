//! Listings of SAs, program by program.

use crate::formats::listing::record::Awaited::{
    self, Bits, Count, Dst, HexSpi, Key, Name, NamedKey, Protocol, Salt, Spi, Src,
};
use crate::formats::listing::record::Field::{self, NotEsp, Of, Outbound, Skip, Values};
use crate::formats::listing::record::KeyKind::{Encryption, Integrity, Last};
use crate::lines::dump::whole_row;
use crate::lines::fields::{address, find, split_at_sign, words};
use crate::lines::hex;
use std::net::IpAddr;

/// One program's listing.
pub(crate) struct Spec {
    /// Place of the first field on a line that begins an SA.
    pub(super) begins: fn(&[u8]) -> Option<usize>,
    /// Characters that part words, beside blanks.
    pub(super) separators: &'static [u8],
    pub(super) labels: &'static [(&'static [u8], Field)],
    /// Values at the beginning of an SA, without labels.
    pub(super) unlabelled: &'static [Awaited],
    /// Local and remote address of the SAs that follow.
    pub(super) ends: fn(&[u8]) -> Option<(IpAddr, IpAddr)>,
    /// Advice where the program hides the keys.
    pub(super) hidden: &'static str,
}

/// The settings that most listings have in common.
const USUAL: Spec = Spec {
    begins: |_| None,
    separators: b"",
    labels: &[],
    unlabelled: &[],
    ends: |_| None,
    hidden: "the keys are hidden here: copy the listing where they are shown",
};

/// `ip xfrm state`, `ip xfrm monitor` and `ip xfrm state add` of Linux:
///
/// ```text
/// [2026-11-20T20:11:53.874136] Updated src 10.9.0.1 dst 10.9.0.2
///         proto esp spi 0xc7df968a reqid 1 mode transport
///         auth-trunc hmac(sha1) 0x… (160 bits) 96
///         enc cbc(aes) 0x… (128 bits)
///         aead rfc4106(gcm(aes)) 0x… 128
/// ```
pub(crate) static XFRM: Spec = Spec {
    begins: xfrm_header,
    separators: b"\\",
    labels: &[
        (b"src", Values(&[Src])),
        (b"dst", Values(&[Dst])),
        (b"proto", Values(&[Protocol])),
        (b"spi", Values(&[Spi])),
        (b"enc", Values(&[Name(Encryption), Key(Encryption)])),
        (
            b"aead",
            Values(&[Name(Encryption), Key(Encryption), Bits(Encryption)]),
        ),
        (b"auth", Values(&[Name(Integrity), Key(Integrity)])),
        (
            b"auth-trunc",
            Values(&[Name(Integrity), Key(Integrity), Bits(Integrity)]),
        ),
        // Selectors, UDP encapsulation and offload have addresses of their own.
        (b"sel", Skip),
        (b"encap", Skip),
    ],
    hidden: "the kernel hides the keys: run `ip xfrm state` as root, without `nokeys`",
    ..USUAL
};

/// `setkey -D` of the KAME tools (BSD, macOS, racoon's hosts):
///
/// ```text
/// 10.9.0.1 10.9.0.2
///         esp mode=transport spi=163029363(0x09b7a173) reqid=0(0x00000000)
///         E: aes-cbc  7575d5cc 49a0d5c3 …
///         A: hmac-sha1  9a3c…
/// ```
pub(crate) static SETKEY: Spec = Spec {
    begins: |line| two_addresses(line, 0),
    separators: b"=()",
    unlabelled: &[Src, Dst],
    labels: &[
        (b"ah", NotEsp),
        (b"ipcomp", NotEsp),
        (b"spi", Values(&[Spi])),
        (b"E:", Values(&[Name(Encryption), Key(Encryption)])),
        (b"A:", Values(&[Name(Integrity), Key(Integrity)])),
    ],
    ..USUAL
};

/// `setkey.conf`: `add 10.9.0.1 10.9.0.2 esp 0x201 -m transport -E rijndael-cbc 0x… -A hmac-sha1 0x…;`
pub(crate) static SETKEY_CONF: Spec = Spec {
    begins: |line| {
        let at = line.iter().position(u8::is_ascii_alphanumeric)?;
        let ends = line.get(at..)?.strip_prefix(b"add ")?;
        two_addresses(ends, at + 4)
    },
    separators: b";",
    unlabelled: &[Src, Dst],
    labels: &[
        (b"esp", Values(&[Spi])),
        (b"esp-udp", Values(&[Spi])),
        (b"-E", Values(&[Name(Encryption), Key(Encryption)])),
        (b"-A", Values(&[Name(Integrity), Key(Integrity)])),
    ],
    ..USUAL
};

/// MikroTik's `/ip ipsec installed-sa print`, whose SPIs have no leading zeros, and in old versions no `0x`:
///
/// ```text
///  0 HE spi=0xE841441 src-address=10.9.0.1 dst-address=10.9.0.2 state=mature
///       auth-algorithm=sha1 enc-algorithm=aes-cbc enc-key-size=128
///       auth-key="c46a…" enc-key="4976…"
/// ```
pub(crate) static MIKROTIK: Spec = Spec {
    begins: |line| {
        memchr::memchr(b'=', line).or_else(|| {
            line.trim_ascii_start()
                .first()
                .filter(|b| b.is_ascii_digit())
                .map(|_| 0)
        })?;
        let mut words = words(line);
        let number = words.next().is_some_and(|w| w.iter().all(u8::is_ascii_digit));
        let flags = |w: &[u8]| w.len() <= 4 && w.iter().all(u8::is_ascii_uppercase) && w.contains(&b'E');
        let told = find(line, b"spi=").is_some()
            && (find(line, b"src-address=").is_some() || find(line, b"enc-key=").is_some());
        let numbered =
            number && words.next().is_some_and(flags) && words.next().is_none_or(|word| word.contains(&b'='));
        (told || numbered).then_some(0)
    },
    separators: b"=\",;",
    labels: &[
        (b"spi", Values(&[HexSpi])),
        (b"src-address", Values(&[Src])),
        (b"dst-address", Values(&[Dst])),
        (b"enc-algorithm", Values(&[Name(Encryption)])),
        (b"enc-key", Values(&[Key(Encryption)])),
        (b"auth-algorithm", Values(&[Name(Integrity)])),
        (b"auth-key", Values(&[Key(Integrity)])),
    ],
    ..USUAL
};

/// FortiOS: `diagnose vpn tunnel list`; `dec` is what this side decrypts.
///
/// ```text
/// name=lab ver=1 serial=1 10.9.0.2:0->10.9.0.1:0
///   dec: spi=24c2ab68 esp=aes key=16 3de8…
///        ah=sha1 key=20 f054…
/// ```
pub(crate) static FORTIOS: Spec = Spec {
    begins: |line| {
        let text = line.trim_ascii_start();
        let begins =
            (text.starts_with(b"dec:") || text.starts_with(b"enc:")) && find(text, b" esp=").is_some();
        begins.then_some(0)
    },
    separators: b"=",
    labels: &[
        (b"enc:", Outbound),
        (b"spi", Values(&[HexSpi])),
        (b"esp", Values(&[Name(Encryption)])),
        (b"ah", Values(&[Name(Integrity)])),
        (b"key", Values(&[Count(Last), Key(Last)])),
    ],
    ends: |line| {
        words(line)
            .filter(|_| line.trim_ascii_start().starts_with(b"name="))
            .find_map(arrow)
    },
    hidden: "FortiOS shows no keys here: run `diagnose vpn tunnel list` as an administrator with full rights",
    ..USUAL
};

/// FortiOS: `diagnose debug application ike -1`; a line for each SA.
///
/// ```text
/// ike 0:HQ:7:HQ:12: IPsec SA dec spi c7df968a key 16:4976… auth 20:C46A…
/// ```
pub(crate) static FORTIOS_IKE: Spec = Spec {
    begins: |line| {
        memchr::memchr(b'P', line)?;
        find(line, b"IPsec SA ").filter(|at| {
            line.get(at + 9..)
                .is_some_and(|l| l.starts_with(b"dec spi") || l.starts_with(b"enc spi"))
        })
    },
    separators: b":",
    labels: &[
        (b"spi", Values(&[HexSpi])),
        (b"key", Values(&[Count(Encryption), Key(Encryption)])),
        (b"auth", Values(&[Count(Integrity), Key(Integrity)])),
    ],
    ..USUAL
};

/// VPP: `show ipsec sa detail`, and `ipsec sa add 1 spi 3353319050 esp crypto-alg aes-cbc-128 crypto-key 4976… integ-alg sha1-96 integ-key c46a…`; the salt of a combined mode stands apart.
///
/// ```text
/// [0] sa 1 (0x1) spi 3353319050 (0xc7df968a) protocol:esp flags:[tunnel]
///    salt 0x0
///    crypto alg aes-cbc-128 key 4976…
///    integrity alg sha1-96 key c46a…
/// ```
pub(crate) static VPP: Spec = Spec {
    begins: |line| {
        // `[0] sa …` or `sa …`, `ipsec sa add …` or `vppctl ipsec sa add …`
        matches!(line.trim_ascii_start().first(), Some(b'[' | b's' | b'i' | b'v')).then_some(())?;
        if let Some(at) = find(line, b"ipsec sa add ") {
            return Some(at);
        }
        let esp = find(line, b"protocol:esp").or_else(|| find(line, b"protocol esp"));
        esp.and(find(line, b"sa "))
            .filter(|_| find(line, b" spi ").is_some())
    },
    separators: b"()",
    labels: &[
        (b"spi", Values(&[Spi])),
        (b"salt", Values(&[Salt])),
        (b"crypto", Of(Encryption)),
        (b"integrity", Of(Integrity)),
        (b"alg", Values(&[Name(Last)])),
        (b"key", Values(&[Key(Last)])),
        (b"crypto-alg", Values(&[Name(Encryption)])),
        (b"crypto-key", Values(&[Key(Encryption)])),
        (b"integ-alg", Values(&[Name(Integrity)])),
        (b"integ-key", Values(&[Key(Integrity)])),
        (b"ah", NotEsp),
        (b"src", Values(&[Src])),
        (b"dst", Values(&[Dst])),
    ],
    hidden: "VPP redacts the keys in a list: run `show ipsec sa 0`, with the number in brackets of each SA, which shows them",
    ..USUAL
};

/// DPDK's ipsec-secgw: `sa in 3353319050 cipher_algo aes-128-cbc cipher_key 49:76:… auth_algo sha1-hmac auth_key c4:6a:… mode transport`
pub(crate) static DPDK: Spec = Spec {
    begins: |line| {
        let mut words = words(line);
        let sa = words.next() == Some(b"sa") && words.next().is_some_and(|w| w == b"in" || w == b"out");
        (sa && words.next().and_then(hex::spi_number).is_some()).then_some(0)
    },
    labels: &[
        (b"in", Values(&[Spi])),
        (b"out", Values(&[Spi])),
        (b"cipher_algo", Values(&[Name(Encryption)])),
        (b"cipher_key", Values(&[Key(Encryption)])),
        (b"aead_algo", Values(&[Name(Encryption)])),
        (b"aead_key", Values(&[Key(Encryption)])),
        (b"auth_algo", Values(&[Name(Integrity)])),
        (b"auth_key", Values(&[Key(Integrity)])),
        (b"src", Values(&[Src])),
        (b"dst", Values(&[Dst])),
    ],
    ..USUAL
};

/// scapy: `SecurityAssociation(ESP, spi=0xc7df968a, crypt_algo='AES-CBC', crypt_key=bytes.fromhex('4976…'), …)`
pub(crate) static SCAPY: Spec = Spec {
    begins: |line| {
        memchr::memchr(b'(', line)?;
        find(line, b"SecurityAssociation(")
            .filter(|at| line.get(*at..).is_some_and(|l| find(l, b"AH,").is_none()))
    },
    separators: b"=,()",
    labels: &[
        (b"spi", Values(&[Spi])),
        (b"crypt_algo", Values(&[Name(Encryption)])),
        (b"crypt_key", Values(&[Key(Encryption)])),
        (b"auth_algo", Values(&[Name(Integrity)])),
        (b"auth_key", Values(&[Key(Integrity)])),
    ],
    ..USUAL
};

/// A secrets file of `tcpdump -E`: `0x12345678@1.2.3.4 aes128-cbc-hmac96:0x…`. It knows no authentication keys, so that no ICV can prove what it gives.
pub(crate) static TCPDUMP: Spec = Spec {
    begins: |line| {
        let mut words = words(line);
        let (spi, _host) = split_at_sign(words.next()?, b'@')?;
        let (_name, _key) = split_at_sign(words.next()?, b':')?;
        hex::after_0x(spi).and_then(hex::spi_digits).map(|_| 0)
    },
    separators: b"@",
    unlabelled: &[Spi, Dst, NamedKey],
    ..USUAL
};

/// Tells whether a line begins an SA of any listing.
pub(crate) fn begins_any(line: &[u8]) -> bool {
    [
        &XFRM,
        &SETKEY,
        &SETKEY_CONF,
        &TCPDUMP,
        &MIKROTIK,
        &FORTIOS,
        &FORTIOS_IKE,
        &VPP,
        &DPDK,
        &SCAPY,
    ]
    .iter()
    .any(|spec| (spec.begins)(line).is_some())
}

/// The part from `src` on: `[time] Updated src A dst B`, `ip xfrm state add src A dst B …`.
fn xfrm_header(line: &[u8]) -> Option<usize> {
    let text = line.trim_ascii_start();
    if matches!(text.first(), None | Some(b'0'..=b'9' | b'|' | b'"')) {
        return None; // most lines
    }
    let at = if text.starts_with(b"src ") {
        line.len() - text.len()
    } else {
        find(line, b" src ")? + 1
    };
    let before = line.get(..at)?.trim_ascii_end();
    let told = before.is_empty()
        || before.ends_with(b"]")
        || before.ends_with(b":")
        || [&b"Updated"[..], b"Deleted", b"Expired", b"add", b"update"]
            .iter()
            .any(|word| before.ends_with(word));
    let mut words = words(line.get(at..)?);
    let address = |word: &[u8]| address(word.strip_suffix(b"\\").unwrap_or(word));
    let mut end =
        |name: &[u8]| words.next() == Some(name) && words.next().is_some_and(|w| address(w).is_some());
    (told && end(b"src") && end(b"dst")).then_some(at)
}

/// Two addresses, also with ports, and nothing else than an SA behind them.
fn two_addresses(text: &[u8], offset: usize) -> Option<usize> {
    let mut words = words(text);
    let pair = words.next().and_then(address).is_some() && words.next().and_then(address).is_some();
    let rest = words.next();
    let esp = rest.is_some_and(|word| word == b"esp" || word == b"esp-udp");
    (pair && (esp || rest.is_none() && offset == 0) && whole_row(text).is_none()).then_some(offset)
}

/// `10.9.0.2:0->10.9.0.1:0`: local, then remote.
fn arrow(word: &[u8]) -> Option<(IpAddr, IpAddr)> {
    let at = find(word, b"->")?;
    let end = |text: &[u8]| {
        let colon = text.iter().rposition(|b| *b == b':').unwrap_or(text.len());
        address(text.get(..colon)?)
    };
    Some((end(word.get(..at)?)?, end(word.get(at + 2..)?)?))
}

//! However a log is framed, grouped, wrapped, interleaved and repeated: the same keys. All keys here are random.

use super::{hex, read};
use proptest::prelude::*;
use std::collections::BTreeSet;

#[derive(Debug, Clone)]
struct Sa {
    spi: u32,
    key: Vec<u8>,
    auth: Vec<u8>,
}

fn sa() -> impl Strategy<Value = Sa> {
    (
        256_u32..,
        prop::collection::vec(any::<u8>(), 16),
        prop::collection::vec(any::<u8>(), 20),
    )
        .prop_map(|(spi, key, auth)| Sa { spi, key, auth })
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// Hex in one of the groupings that logs use.
fn grouped(bytes: &[u8], grouping: u8) -> String {
    let solid = digits(bytes);
    let groups = |len: usize, separator: &str| {
        solid
            .as_bytes()
            .chunks(len)
            .map(|g| std::str::from_utf8(g).unwrap())
            .collect::<Vec<_>>()
            .join(separator)
    };
    match grouping % 7 {
        0 => groups(2, " "),
        1 => groups(2, " ").to_uppercase(),
        2 => groups(8, " "),
        3 => groups(16, " "),
        4 => groups(2, ":"),
        5 => solid.clone(),
        _ => groups(2, "-"),
    }
}

/// A value on one line, or on two when `wrap` lies inside it.
fn value(label: &str, bytes: &[u8], grouping: u8, wrap: usize) -> Vec<String> {
    // A wrapped line keeps its groups whole; a group of 4 or 8 bytes is not cut.
    let unit = match grouping % 7 {
        2 => 4,
        3 => 8,
        _ => 1,
    };
    let at = wrap / unit * unit;
    if at == 0 || at >= bytes.len() || at < 4 {
        return vec![format!("{label}: {}", grouped(bytes, grouping))];
    }
    let (first, rest) = bytes.split_at(at);
    vec![
        format!("{label}: {}", grouped(first, grouping)),
        format!("  {}", grouped(rest, grouping)),
    ]
}

fn messages(sa: &Sa, grouping: u8, wrap: usize) -> Vec<String> {
    let mut lines = value("SPI", &sa.spi.to_be_bytes(), grouping % 2, 0);
    lines.extend(value("encryption key", &sa.key, grouping, wrap));
    lines.extend(value("authentication key", &sa.auth, grouping, wrap));
    lines
}

fn framed(message: &str, framing: u8, number: usize, second: usize) -> String {
    let time = format!("2026/11/20 20:{:02}:{:02}", second / 60 % 60, second % 60);
    let said = format!("GW:1/SA:{number}/IPSEC {message}");
    match framing % 6 {
        0 => format!("{time}: [IKE] {said}"),
        1 => format!("<15>[IKE] {said}"),
        2 => format!("<15>Nov 20 20:11:53 rt1 [IKE] {said}"),
        3 => format!("<15>1 2026-11-20T20:11:53Z rt1 - - - - [IKE1] {said}"),
        4 => format!("2026-11-20T20:11:53+09:00 rt1 user.debug {time}: [IKE2] {said}"),
        _ => format!("{time}: {said}"),
    }
}

fn table_row(sa: &Sa) -> String {
    format!(
        "\"IPv4\",\"10.0.0.1\",\"10.0.0.2\",\"0x{:08x}\",\"AES-CBC [RFC3602]\",\"0x{}\",\"HMAC-SHA-1-96 [RFC2404]\",\"0x{}\"",
        sa.spi,
        digits(&sa.key),
        digits(&sa.auth)
    )
}

/// A block of one of the formats that say everything about an SA in one place.
fn block(sa: &Sa, format: u8) -> String {
    let (spi, key, auth) = (format!("{:08x}", sa.spi), digits(&sa.key), digits(&sa.auth));
    let four = |bytes: &[u8]| grouped(bytes, 2);
    match format % 6 {
        0 => table_row(sa),
        1 => format!(
            "src 10.0.0.1 dst 10.0.0.2\n\tproto esp spi 0x{spi} reqid 1 mode transport\n\tauth-trunc hmac(sha1) 0x{auth} 96\n\tenc cbc(aes) 0x{key}"
        ),
        2 => format!(
            "10.0.0.1 10.0.0.2 \n\tesp mode=transport spi={}(0x{spi}) reqid=0(0x0)\n\tE: aes-cbc  {}\n\tA: hmac-sha1  {}\n\tseq=0x0 replay=4",
            sa.spi,
            four(&sa.key),
            four(&sa.auth)
        ),
        3 => format!(
            " 0 HE spi=0x{:X} src-address=10.0.0.1 dst-address=10.0.0.2\n   auth-algorithm=sha1 enc-algorithm=aes-cbc\n   auth-key=\"{auth}\"\n   enc-key=\"{key}\" state=mature",
            sa.spi
        ),
        4 => format!("dec: spi={spi} esp=aes key=16 {key}\n     ah=sha1 key=20 {auth}"),
        _ => format!("2026/11/20 20:00:00: [IKE] SPI: {spi} enc key: {key} auth key: {auth}"),
    }
}

fn keys_of(log: &str) -> BTreeSet<(u32, String, String)> {
    let keys = read(log.as_bytes())
        .esp
        .into_iter()
        .filter(|k| k.defect.is_none());
    keys.map(|k| (k.spi.unwrap().0, hex(&k.encryption_key), hex(&k.integrity_key)))
        .collect()
}

fn expected(sas: &[Sa]) -> BTreeSet<(u32, String, String)> {
    sas.iter()
        .map(|sa| (sa.spi, digits(&sa.key), digits(&sa.auth)))
        .collect()
}

/// Merges lists, keeping the order within each; `choices` says from which the next one comes.
fn interleaved(lists: Vec<Vec<String>>, choices: &[u8]) -> Vec<String> {
    let mut lists: Vec<_> = lists
        .into_iter()
        .map(|list| list.into_iter().peekable())
        .collect();
    let mut out = Vec::new();
    for turn in 0.. {
        let left: Vec<usize> = (0..lists.len()).filter(|i| lists[*i].peek().is_some()).collect();
        if left.is_empty() {
            return out;
        }
        let choice = usize::from(choices[turn % choices.len()]);
        out.extend(lists[left[choice % left.len()]].next());
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn router_logs_interleaved_reframed_and_wrapped(
        sas in prop::collection::vec((sa(), any::<u8>(), 0_usize..24), 1..6),
        framing: u8,
        choices in prop::collection::vec(any::<u8>(), 1..40),
        crlf: bool,
        twice: bool,
        noise: bool,
    ) {
        let lists = sas.iter().enumerate().map(|(number, (sa, grouping, wrap))| {
            messages(sa, *grouping, *wrap).into_iter().map(|m| framed(&m, framing, number + 1, 0)).collect()
        }).collect();
        let mut lines = interleaved(lists, &choices);
        if noise {
            lines = lines.into_iter().flat_map(|l| [l, "2026/11/20 20:00:00: [L2TP] TUNNEL[1] connected".into()]).collect();
        }
        if twice {
            lines.extend(lines.clone());
        }
        let log = lines.join(if crlf { "\r\n" } else { "\n" });
        let sas: Vec<Sa> = sas.into_iter().map(|(sa, ..)| sa).collect();
        prop_assert_eq!(keys_of(&log), expected(&sas), "{}", log);
    }

    #[test]
    fn reversed_logs(sas in prop::collection::vec((sa(), any::<u8>(), 0_usize..24), 2..6)) {
        let mut lines = Vec::new();
        for (number, (sa, grouping, wrap)) in sas.iter().enumerate() {
            lines.extend(messages(sa, *grouping, *wrap).iter().map(|m| framed(m, 0, number + 1, 10 * number)));
        }
        lines.reverse();
        let sas: Vec<Sa> = sas.into_iter().map(|(sa, ..)| sa).collect();
        prop_assert_eq!(keys_of(&lines.join("\n")), expected(&sas), "{}", lines.join("\n"));
    }

    #[test]
    fn formats_mixed_and_repeated(
        sas in prop::collection::vec((sa(), any::<u8>()), 1..8),
        order in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        crlf: bool,
    ) {
        let mut blocks: Vec<String> = sas.iter().map(|(sa, format)| block(sa, *format)).collect();
        blocks.extend(order.iter().map(|i| { let (sa, format) = i.get(&sas); block(sa, *format) }));
        let mut log = blocks.join("\n");
        if crlf {
            log = log.replace('\n', "\r\n");
        }
        let sas: Vec<Sa> = sas.into_iter().map(|(sa, _)| sa).collect();
        prop_assert_eq!(keys_of(&log), expected(&sas), "{}", log);
    }

    #[test]
    fn tables_wrapped_by_a_terminal(sas in prop::collection::vec(sa(), 1..6), width in 20_usize..200) {
        let mut lines = Vec::new();
        for row in sas.iter().map(table_row) {
            lines.extend(row.as_bytes().chunks(width).map(|part| String::from_utf8(part.to_vec()).unwrap()));
        }
        prop_assert_eq!(keys_of(&lines.join("\n")), expected(&sas), "{}", lines.join("\n"));
    }

    #[test]
    fn hex_noise_claims_nothing(
        rows in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..64), any::<u8>()), 0..40),
        framing: u8,
    ) {
        let lines: Vec<String> = rows.iter().map(|(bytes, grouping)| framed(&grouped(bytes, *grouping), framing, 1, 0)).collect();
        let material = read(lines.join("\n").as_bytes());
        prop_assert!(material.esp.is_empty() && material.ike.is_empty() && material.seeds.is_empty());
    }

    #[test]
    fn any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        read(&bytes);
    }

    /// Rows of real logs in any order and cut anywhere.
    #[test]
    fn shuffled_pieces_of_real_logs_end(
        picks in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 1_usize..300), 1..60),
    ) {
        let logs = &*super::LOGS;
        let mut mixed = Vec::new();
        for (log, start, len) in picks {
            let log = log.get(logs);
            if !log.is_empty() {
                let start = start.index(log.len());
                mixed.extend_from_slice(&log[start..(start + len).min(log.len())]);
            }
        }
        read(&mixed);
    }
}

//! The tables of `rekeyscope keys`: which SA has a key, from where, by which road.

use crate::tables::table::{Mark, Table, WIDE, from, left, right};
use crate::words::format::{self, UNKNOWN, or_unknown};
use crate::words::{self, clean};
use rekeyscope_model::analysis::{Analysis, Key, KeyFile, KeyStatus};
use rekeyscope_model::text::Catalogue;

/// ESP SAs of one tunnel in order of appearance, at most `most`.
pub(crate) fn sa_keys(t: &Catalogue, analysis: &Analysis, tunnel: usize, most: usize) -> Table {
    let mut table = Table::new(
        t,
        &[
            left("column-dir"),
            from(WIDE, left("column-source-address")),
            from(WIDE, left("column-destination-address")),
            left("column-spi"),
            right("column-packets"),
            left("column-key"),
            left("column-road"),
            left("column-source"),
        ],
    );
    let of_tunnel = analysis
        .security_associations
        .iter()
        .filter(|sa| sa.tunnel == tunnel);
    let all = of_tunnel.clone().count();
    for sa in of_tunnel.take(most) {
        let mark = match (sa.packets, sa.key.status) {
            (0, _) => Mark::Faint,
            (_, KeyStatus::Verified) => Mark::None,
            _ => Mark::Alert,
        };
        let to_a = analysis.tunnels.get(tunnel).is_some_and(|t| t.a == sa.dst);
        let mut cells = vec![
            if to_a { "b→a" } else { "a→b" }.to_string(),
            sa.src.to_string(),
            sa.dst.to_string(),
            sa.spi.to_string(),
            format::count(sa.packets),
        ];
        cells.extend(key_cells(t, analysis, &sa.key));
        table.push(mark, cells);
    }
    table.notes.extend(analysis.tunnels.get(tunnel).map(|ends| {
        t.fill(
            "ends-sentence",
            &[("a", &ends.a.to_string()), ("b", &ends.b.to_string())],
        )
    }));
    table.note_left_out(t, "left-out-sa-keys", all.saturating_sub(most));
    table
}

/// IKE SAs, at most `most`.
pub(crate) fn ike_keys(t: &Catalogue, analysis: &Analysis, most: usize) -> Table {
    let mut table = Table::new(
        t,
        &[
            left("column-initiator-spi"),
            left("column-responder-spi"),
            left("column-ike"),
            left("column-key"),
            left("column-road"),
            left("column-source"),
        ],
    );
    for sa in analysis.ike_sas.iter().take(most) {
        let mut cells = vec![
            sa.initiator_spi.to_string(),
            or_unknown(sa.responder_spi, |spi| spi.to_string()),
            format!("v{}", sa.ike_version),
        ];
        cells.extend(key_cells(t, analysis, &sa.key));
        let verified = sa.key.status == KeyStatus::Verified;
        table.push(if verified { Mark::None } else { Mark::Faint }, cells);
    }
    let left_out = analysis.ike_sas.len().saturating_sub(most);
    table.note_left_out(t, "left-out-ike-sas", left_out);
    table
}

/// Status, road and source.
fn key_cells(t: &Catalogue, analysis: &Analysis, key: &Key) -> [String; 3] {
    let unknown = || UNKNOWN.to_string();
    let (source, road) = match &key.source {
        None => (unknown(), unknown()),
        Some(text) => split_source(text).map_or_else(
            || (clean::line(text), unknown()),
            |(source, road)| (clean::line(file_name(analysis, source)), words::road(t, road)),
        ),
    };
    [words::key_status(t, key.status), road, source]
}

/// The source without its folder, where no two key files have the same name: the list of key files says the rest.
fn file_name<'a>(analysis: &Analysis, source: &'a str) -> &'a str {
    let last = |path: &'a str| path.rsplit(['/', '\\']).next().unwrap_or(path);
    let (path, name) = match source.rsplit_once(':') {
        Some((path, _)) => (path, last(source)),
        // Inside the capture, of which there is one.
        None => return last(source),
    };
    let same = |file: &&KeyFile| file.path.ends_with(last(path));
    if analysis.key_files.iter().filter(same).count() > 1 {
        source
    } else {
        name
    }
}

/// A source as the table of security associations has it: without its folder, with its road.
pub(crate) fn source_in_short(t: &Catalogue, analysis: &Analysis, text: &str) -> String {
    split_source(text).map_or_else(
        || clean::line(text),
        |(source, road)| {
            let road = words::road(t, road);
            format!("{} ({road})", clean::line(file_name(analysis, source)))
        },
    )
}

/// `keys.esp_sa:3 (explicit)` → `keys.esp_sa:3`, `explicit`.
pub(crate) fn split_source(source: &str) -> Option<(&str, &str)> {
    source.strip_suffix(')')?.rsplit_once(" (")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::text::Language;
    use rekeyscope_testkit::example;

    #[test]
    fn folders_are_left_out_where_names_suffice() {
        let mut document = example::seven_rekeys();
        let file = |path: &str| KeyFile {
            path: path.into(),
            block: None,
            formats: Vec::new(),
            esp_keys: 0,
            ike_keys: 0,
            problems: Vec::new(),
        };
        document.key_files = vec![file("/here/router.log"), file("/here/other.log")];
        assert_eq!(file_name(&document, "/here/router.log:12"), "router.log:12");
        assert_eq!(
            source_in_short(
                Catalogue::of(Language::English),
                &document,
                "/here/router.log:12 (mined)"
            ),
            "router.log:12 (mined)"
        );
        document.key_files.push(file("/there/router.log"));
        assert_eq!(file_name(&document, "/here/router.log:12"), "/here/router.log:12");
        assert_eq!(
            file_name(&document, "/here/t.pcapng, Decryption Secrets Block 1, line 3"),
            "t.pcapng, Decryption Secrets Block 1, line 3"
        );
        assert_eq!(
            split_source("a (b).log:3 (mined)"),
            Some(("a (b).log:3", "mined"))
        );
    }
}

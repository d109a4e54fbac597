//! The tables of `rekeyscope keys`: which SA has a key, from where, by which road.

use crate::tables::table::{Mark, Table, WIDE, alert_if, first};
use crate::words::ends::{ends_and_up, up_or_down};
use crate::words::format::{self, UNKNOWN, or_unknown};
use crate::words::{self, clean};
use rekeyscope_model::analysis::{Analysis, Direction, Key, KeyFile, KeyStatus};
use rekeyscope_model::text::Catalogue;

/// ESP SAs of one tunnel in order of appearance, at most `most`.
pub(crate) fn sa_keys(t: &Catalogue, analysis: &Analysis, tunnel: usize, most: usize) -> Table {
    let ends = analysis.tunnels.get(tunnel);
    let all = analysis.security_associations.iter();
    let all: Vec<_> = all.filter(|sa| sa.tunnel == tunnel).collect();
    let listed: Vec<_> = first(&all, most)
        .iter()
        .map(|sa| (*sa, key_cells(t, analysis, &sa.key)))
        .collect();
    let mut table = Table::of(t, &listed)
        .marked(|(sa, _)| match (sa.packets, sa.key.status) {
            (0, _) => Mark::Faint,
            (_, status) => alert_if(status != KeyStatus::Verified),
        })
        .left("column-dir", |(sa, _)| {
            let to_client = ends.is_some_and(|t| t.a == sa.dst);
            up_or_down(
                t,
                if to_client {
                    Direction::BToA
                } else {
                    Direction::AToB
                },
            )
        })
        .left_from(WIDE, "column-source-address", |(sa, _)| sa.src.to_string())
        .left_from(WIDE, "column-destination-address", |(sa, _)| sa.dst.to_string())
        .left("column-spi", |(sa, _)| sa.spi.to_string())
        .right("column-packets", |(sa, _)| format::count(sa.packets))
        .left("column-key", |(_, key)| key[0].clone())
        .left("column-road", |(_, key)| key[1].clone())
        .left("column-source", |(_, key)| key[2].clone())
        .table;
    table.notes.extend(ends.map(|ends| ends_and_up(t, ends)));
    table.note_left_out(t, "left-out-sa-keys", all.len().saturating_sub(most));
    table
}

/// IKE SAs, at most `most`.
pub(crate) fn ike_keys(t: &Catalogue, analysis: &Analysis, most: usize) -> Table {
    let listed = first(&analysis.ike_sas, most).iter();
    let listed: Vec<_> = listed.map(|sa| (sa, key_cells(t, analysis, &sa.key))).collect();
    let mut table = Table::of(t, &listed)
        .marked(|(sa, _)| match sa.key.status {
            KeyStatus::Verified => Mark::None,
            _ => Mark::Faint,
        })
        .left("column-initiator-spi", |(sa, _)| sa.initiator_spi.to_string())
        .left("column-responder-spi", |(sa, _)| {
            or_unknown(sa.responder_spi, |spi| spi.to_string())
        })
        .left("column-ike", |(sa, _)| format!("v{}", sa.ike_version))
        .left("column-key", |(_, key)| key[0].clone())
        .left("column-road", |(_, key)| key[1].clone())
        .left("column-source", |(_, key)| key[2].clone())
        .table;
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

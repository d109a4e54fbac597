//! The tables of `rekeyscope keys`: which SA has a key, from where, by which road.

use crate::tables::table::{Mark, Table, WIDE, WIDEST, alert_if, first};
use crate::words::ends::{ends_and_up, up_or_down};
use crate::words::focus::Focus;
use crate::words::format::{self, UNKNOWN, or_unknown};
use crate::words::{self, clean};
use rekeyscope_model::analysis::{Analysis, Direction, Key, KeyFile, KeyStatus, SecurityAssociation};
use rekeyscope_model::text::Catalogue;
use std::collections::BTreeSet;

/// ESP SAs of one tunnel in order of appearance, at most `most`.
pub(crate) fn sa_keys(t: &Catalogue, analysis: &Analysis, tunnel: usize, most: usize) -> Table {
    let ends = analysis.tunnels.get(tunnel);
    let all: Vec<_> = analysis.sas_of(tunnel).collect();
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
            let to_client = ends.filter(|ends| ends.a == sa.dst);
            up_or_down(t, to_client.map_or(Direction::AToB, |_| Direction::BToA))
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
fn source_in_short(t: &Catalogue, analysis: &Analysis, text: &str) -> String {
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

// The table of security associations.

/// SAs of one tunnel, both directions, at most `most` of each.
pub(crate) fn security_associations(focus: &Focus, tunnel: usize, most: usize) -> Table {
    let t = focus.t;
    let (mut listed, mut left_out) = (Vec::new(), 0);
    for direction in focus.directions(tunnel) {
        let all: Vec<&SecurityAssociation> = focus.analysis.sas_towards(tunnel, direction).collect();
        left_out += all.len().saturating_sub(most);
        listed.extend(all.into_iter().take(most).map(|sa| (direction, sa)));
    }
    let source = |text: &str| source_in_short(t, focus.analysis, text);
    let mut table = Table::of(t, &listed)
        .marked(|(_, sa)| match (sa.packets, sa.key.status) {
            (0, _) => Mark::Faint,
            (_, status) => alert_if(status != KeyStatus::Verified || sa.icv.failed > 0),
        })
        .left("column-dir", |(direction, _)| up_or_down(t, *direction))
        .right("column-gen", |(_, sa)| sa.generation.to_string())
        .left("column-spi", |(_, sa)| sa.spi.to_string())
        .left("column-key", |(_, sa)| words::key_status(t, sa.key.status))
        .left_from(WIDEST, "column-key-from", |(_, sa)| {
            or_unknown(sa.key.source.as_deref(), source)
        })
        .left_from(WIDEST, "column-suite", |(_, sa)| words::suite(sa))
        .left_from(WIDEST, "column-mode", |(_, sa)| {
            or_unknown(sa.mode, |m| t.name("mode", m.as_str()))
        })
        .right_from(WIDE, "column-from-s", |(_, sa)| focus.clock(sa.first_time))
        .right_from(WIDE, "column-to-s", |(_, sa)| focus.clock(sa.last_time))
        .right("column-packets", |(_, sa)| format::count(sa.packets))
        .right("column-esp-bytes", |(_, sa)| format::bytes(sa.esp_bytes))
        .right("column-icv-fit", |(_, sa)| format::count(sa.icv.verified))
        .right("column-bad", |(_, sa)| format::count(sa.icv.failed))
        .right("column-unchecked", |(_, sa)| format::count(sa.icv.unchecked))
        .right("column-missing", |(_, sa)| format::count(sa.sequence.missing))
        .table;
    let suite = table.drop_uniform("column-suite");
    let mode = table.drop_uniform("column-mode").filter(|m| m != UNKNOWN);
    let source = table.drop_uniform("column-key-from").filter(|m| m != UNKNOWN);
    let mut notes = vec![suite.map_or_else(|| suites(focus, tunnel), |s| fill!(t, "note-suite", suite = s))];
    notes.extend(mode.map(|m| fill!(t, "note-mode", mode = m)));
    notes.extend(source.map(|s| fill!(t, "note-keys-from", source = s)));
    notes.push(t.word("note-missing"));
    let ends = focus.analysis.tunnels.get(tunnel);
    notes.extend(ends.map(|ends| ends_and_up(t, ends)));
    let notes = notes.join(&t.word("semicolon"));
    table.notes.push(fill!(t, "full-stop", text = notes));
    table.note_left_out(t, "left-out-sas", left_out);
    table
}

/// The cipher suites of a tunnel, for where the table has no room for them.
fn suites(focus: &Focus, tunnel: usize) -> String {
    let suites: BTreeSet<String> = focus.analysis.sas_of(tunnel).map(words::suite).collect();
    let named: Vec<String> = suites.iter().take(4).cloned().collect();
    let more = (suites.len() > named.len()).then(|| focus.t.word("and-more"));
    let more = more.unwrap_or_default();
    let suites = focus.t.joined(&named);
    fill!(focus.t, "note-suites", suites, more)
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

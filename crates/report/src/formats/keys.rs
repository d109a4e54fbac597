//! The report of `rekeyscope keys`: the answer first, then the table, then what is missing and how to get it.

use crate::formats::sections::Page;
use crate::formats::terminal::TerminalPage;
use crate::formats::text::list_key_files;
use crate::formats::text::top::TextOptions;
use crate::tables::{self, split_source};
use crate::words::{self, format};
use rekeyscope_model::analysis::{Analysis, IkeSa, KeyStatus};
use rekeyscope_model::mining::MiningEffort;
use rekeyscope_model::text::{Catalogue, Message};
use std::collections::BTreeMap;

/// SAs listed per tunnel.
const MOST_SAS: usize = 1_000;
/// IKE SAs, tunnels, files and problems listed, each.
const MOST_ENTRIES: usize = 100;

/// The report, ending in a newline.
pub fn render(analysis: &Analysis, mining: MiningEffort, options: TextOptions) -> String {
    let mut page = TerminalPage::new(options.width, options.color);
    let t = Catalogue::of(options.language);
    page.emphasised(&answer(t, analysis), None);
    let cut = analysis.capture.cut_packets;
    if cut > 0 {
        let packets = format::counted(t, "counted-packets", cut);
        page.paragraph(&fill!(t, "keys-cut", packets));
    }
    for (tunnel, ends) in analysis.tunnels.iter().enumerate().take(MOST_ENTRIES) {
        let sas = tables::sa_keys(t, analysis, tunnel, MOST_SAS);
        if !sas.rows.is_empty() {
            let what = words::tunnel(t, ends);
            page.heading(&fill!(t, "heading-tunnel", tunnel, what));
            page.table(&sas);
        }
    }
    more(&mut page, t, analysis.tunnels.len());
    let ike = tables::ike_keys(t, analysis, MOST_ENTRIES);
    if !ike.rows.is_empty() {
        page.heading(&t.word("heading-ike-sas"));
        page.table(&ike);
    }
    let missing = words::missing_keys(t, analysis);
    if !missing.is_empty() {
        page.heading(&t.word("heading-missing"));
        page.paragraphs(&missing);
    }
    key_files(&mut page, t, analysis, mining);
    page.finish()
}

/// `16 of 16 SAs decrypted: 12 explicit, 4 derived.`
fn answer(t: &Catalogue, analysis: &Analysis) -> String {
    let (verified, total) = words::decrypted(analysis);
    if total == 0 {
        return without_packets(t, analysis);
    }
    let mut roads: BTreeMap<&str, u64> = BTreeMap::new();
    for sa in words::with_packets(analysis).filter(|sa| sa.is_decrypted()) {
        let source = sa.key.source.as_deref().and_then(split_source);
        let road = source.map_or("known", |(_, road)| road);
        *roads.entry(road).or_default() += 1;
    }
    let roads: Vec<String> = roads
        .into_iter()
        .map(|(road, n)| format!("{} {}", format::count(n), words::road(t, road)))
        .collect();
    let (roads, without) = (t.joined(&roads), format::count(total - verified));
    let (verified_text, total_text) = (format::count(verified), format::counted(t, "counted-sas", total));
    let message = match (verified < total, roads.is_empty()) {
        (false, true) => Message::new("keys-all"),
        (false, false) => Message::new("keys-all-roads").with("roads", roads),
        (true, true) => Message::new("keys-part").with("without", without),
        (true, false) => Message::new("keys-part-roads")
            .with("roads", roads)
            .with("without", without),
    };
    t.say(&message.with("verified", verified_text).with("total", total_text))
}

/// IKE may be open where no SA carries a packet.
fn without_packets(t: &Catalogue, analysis: &Analysis) -> String {
    let is_open = |sa: &&IkeSa| sa.key.status == KeyStatus::Verified;
    match analysis.ike_sas.iter().filter(is_open).count() as u64 {
        0 => t.word("keys-none"),
        opened => {
            let (opened, total) = (
                format::count(opened),
                format::count(analysis.ike_sas.len() as u64),
            );
            fill!(t, "keys-ike-only", opened, total)
        }
    }
}

fn key_files(page: &mut TerminalPage, t: &Catalogue, analysis: &Analysis, mining: MiningEffort) {
    page.heading(&t.word("heading-key-files"));
    if analysis.key_files.is_empty() {
        page.paragraph(&t.word("keys-no-file"));
    }
    list_key_files(page, t, &analysis.key_files, MOST_ENTRIES, more);
    if mining.trials > 0 {
        page.paragraph(&effort(t, mining));
    }
}

/// The trials that unlabelled keys took, and the most that they may take.
fn effort(t: &Catalogue, mining: MiningEffort) -> String {
    let trials = format::counted(t, "counted-trials", mining.trials);
    let (each, all) = (format::count(mining.most_per_packet), format::count(mining.most));
    let id = if mining.gave_up {
        "keys-gave-up"
    } else {
        "keys-sought"
    };
    fill!(t, id, trials, each, all)
}

fn more(page: &mut TerminalPage, t: &Catalogue, total: usize) {
    if total > MOST_ENTRIES {
        page.paragraph(&fill!(t, "more-in-main-json", n = (total - MOST_ENTRIES)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::underivable::why_not_derived;
    use rekeyscope_model::spi::Spi;
    use rekeyscope_testkit::example;

    const AT_80: TextOptions = TextOptions {
        width: 80,
        color: false,
        language: rekeyscope_model::text::Language::English,
    };

    #[test]
    fn the_first_line_is_the_answer() {
        let text = render(&example::seven_rekeys(), MiningEffort::default(), AT_80);
        let first = text.lines().next().unwrap();
        assert!(first.starts_with("16 of 16 SAs decrypted: 16 "), "{first}");
        assert!(!text.contains("What is missing") && !text.contains("unlabelled"));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let text = render(&example::empty(), MiningEffort::default(), AT_80);
        assert!(text.starts_with("No SA carries a packet"), "{text}");
    }

    #[test]
    fn perfect_forward_secrecy_is_explained() {
        let mut document = example::build(&example::Shape {
            keys: false,
            ..Default::default()
        });
        assert_eq!(why_not_derived(&document), [] as [String; 0]);
        let spis: Vec<Spi> = document.security_associations.iter().map(|sa| sa.spi).collect();
        let exchange = &mut document.exchanges[0];
        (exchange.decrypted, exchange.key_exchange) = (true, Some(true));
        exchange.spis = spis[..2].to_vec();
        let effort = MiningEffort {
            trials: 1234,
            gave_up: true,
            ..MiningEffort::default()
        };
        let text = render(&document, effort, AT_80).replace('\n', " ");
        for needed in [
            "2 of these SAs were negotiated with perfect forward secrecy",
            "16 without a key that fits",
            "key-info",
            "1,234 trials",
        ] {
            assert!(text.contains(needed), "{needed} in {text}");
        }
        document.exchanges[0].key_exchange = Some(false);
        assert!(why_not_derived(&document)[0].contains("SKEYID_d"));
    }

    #[test]
    fn nothing_steers_the_terminal() {
        let text = render(
            &example::hostile(example::seven_rekeys()),
            MiningEffort::default(),
            AT_80,
        );
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text}");
    }
}

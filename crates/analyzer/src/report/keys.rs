//! The report of `rekeyscope keys`: the answer first, then the table, then what is missing and how to get it.

use super::clean;
use super::format;
use super::tables::{self, split_source};
use super::terminal::Page;
use super::text::TextOptions;
use super::words;
use crate::analysis::{Analysis, KeyStatus};
use crate::key_ring::MiningEffort;
use crate::keylog::mine::MOST_TRIALS_PER_SPI;
use crate::sa::mine::MOST_TRIALS;
use std::collections::BTreeMap;

/// SAs listed per tunnel.
const MOST_SAS: usize = 1_000;
/// IKE SAs, tunnels, files and problems listed, each.
const MOST_ENTRIES: usize = 100;

/// The report, ending in a newline.
pub fn render(analysis: &Analysis, mining: MiningEffort, options: TextOptions) -> String {
    let mut page = Page::new(options.width, options.color);
    page.emphasised(&answer(analysis), None);
    for (tunnel, t) in analysis.tunnels.iter().enumerate().take(MOST_ENTRIES) {
        let sas = tables::sa_keys(analysis, tunnel, MOST_SAS);
        if !sas.rows.is_empty() {
            page.heading(&format!("Tunnel {tunnel}: {}", words::tunnel(t)));
            page.table(&sas);
        }
    }
    more(&mut page, analysis.tunnels.len());
    let ike = tables::ike_keys(analysis, MOST_ENTRIES);
    if !ike.rows.is_empty() {
        page.heading("IKE SAs");
        page.table(&ike);
    }
    let missing = words::missing_keys(analysis);
    if !missing.is_empty() {
        page.heading("What is missing");
        missing.iter().for_each(|paragraph| page.paragraph(paragraph));
    }
    key_files(&mut page, analysis, mining);
    page.finish()
}

/// `16 of 16 SAs decrypted: 12 explicit, 4 derived.`
fn answer(analysis: &Analysis) -> String {
    let used = || analysis.security_associations.iter().filter(|sa| sa.packets > 0);
    let total = used().count() as u64;
    if total == 0 {
        return "No SA carries a packet in this capture, so no key can be proven.".to_string();
    }
    let mut roads: BTreeMap<&str, u64> = BTreeMap::new();
    let verified: Vec<_> = used().filter(|sa| sa.key.status == KeyStatus::Verified).collect();
    for sa in &verified {
        let road = sa
            .key
            .source
            .as_deref()
            .and_then(split_source)
            .map_or("known", |s| s.1);
        *roads.entry(road).or_default() += 1;
    }
    let roads: Vec<String> = roads
        .into_iter()
        .map(|(road, n)| format!("{} {}", format::count(n), clean::line(road)))
        .collect();
    let verified = verified.len() as u64;
    let mut answer = format!(
        "{} of {} decrypted",
        format::count(verified),
        format::counted(total, "SA", "SAs")
    );
    if !roads.is_empty() {
        answer += &format!(": {}", roads.join(", "));
    }
    if verified < total {
        answer += &format!("; {} without a key that fits", format::count(total - verified));
    }
    answer + "."
}

fn key_files(page: &mut Page, analysis: &Analysis, mining: MiningEffort) {
    page.heading("Key files");
    if analysis.key_files.is_empty() {
        page.paragraph("None was given, and none found beside the capture.");
    }
    for file in analysis.key_files.iter().take(MOST_ENTRIES) {
        page.item(&words::key_file(file));
        for problem in file.problems.iter().take(MOST_ENTRIES) {
            page.paragraph(&format!("   {}", clean::line(problem)));
        }
        more(page, file.problems.len());
    }
    more(page, analysis.key_files.len());
    page.paragraph(&effort(mining));
}

/// What finding unlabelled keys cost, and what it may cost.
fn effort(mining: MiningEffort) -> String {
    let (per_sa, all) = (format::count(MOST_TRIALS_PER_SPI), format::count(MOST_TRIALS));
    match (mining.trials, mining.gave_up) {
        (0, _) => format!(
            "No key had to be sought among unlabelled bytes (the bound is {per_sa} trials per packet, {all} in all)."
        ),
        (trials, false) => format!(
            "Keys were sought among unlabelled bytes with {} (the bound is {per_sa} per packet, {all} in all).",
            format::counted(trials, "trial", "trials")
        ),
        (trials, true) => format!(
            "Keys were sought among unlabelled bytes with {}; the bound ({per_sa} per packet, {all} in all) ended the search \
             before all bytes were tried: give a shorter log, cut around the time of the capture.",
            format::counted(trials, "trial", "trials")
        ),
    }
}

fn more(page: &mut Page, total: usize) {
    if total > MOST_ENTRIES {
        page.paragraph(&format!(
            "   {} more are in --json of the main job.",
            total - MOST_ENTRIES
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;
    use crate::spi::Spi;
    use crate::underivable::why_not_derived;

    const AT_80: TextOptions = TextOptions {
        width: 80,
        color: false,
        language: crate::text::Language::English,
    };

    #[test]
    fn the_first_line_is_the_answer() {
        let text = render(&example::seven_rekeys(), MiningEffort::default(), AT_80);
        let first = text.lines().next().unwrap();
        assert!(first.starts_with("16 of 16 SAs decrypted: 16 "), "{first}");
        assert!(!text.contains("What is missing") && text.contains("No key had to be sought"));
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

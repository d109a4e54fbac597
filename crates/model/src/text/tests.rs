//! Nothing is missing in either language, and nothing is left over.

use super::*;
use crate::analysis::{
    AccountLabel, AttemptOutcome, EventKind, ExplanationCause, KeyStatus, LedgerWhy, Mode, OutageEnd,
    OwnRate, TriggerKind, Verdict,
};
use crate::watch::KernelMeaning;
use fluent_syntax::ast::{CallArguments, Entry, Expression, InlineExpression, Pattern, PatternElement};
use rekeyscope_testkit::figures;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Messages that read alike in both languages: figures with units, names, and what is put together from arguments.
const ALIKE: [&str; 21] = [
    "account-filter",
    "advice",
    "answer-listed",
    "attempt-filter",
    "cell",
    "column-ack-rtt-ms",
    "column-icv",
    "column-ike",
    "column-ike-ms",
    "column-iv",
    "column-mss-ipv4",
    "column-mss-ipv6",
    "column-number",
    "column-rtt-ms",
    "column-spi",
    "direction-sentence",
    "do-lifetime-yamaha",
    "note-suite-of",
    "outcome-because",
    "plot-effect",
    "verdict-just",
];

/// Catalogue files whose sentences stand in documents.
const OF_DOCUMENTS: [&str; 9] = [
    "account",
    "comparison",
    "findings",
    "keys",
    "oddities",
    "overlay",
    "rule",
    "two-points",
    "verdict",
];

/// Words in Latin letters that stay as they are in their Japanese: names of protocols, products and units.
const LATIN: [&str; 72] = [
    "ACK",
    "Block",
    "CDN",
    "CHILD",
    "CPU",
    "CREATE",
    "Child",
    "Configure",
    "Decryption",
    "Delete",
    "Diffie",
    "ESP",
    "EtherType",
    "Ethernet",
    "GB",
    "GRE",
    "GTP",
    "Hellman",
    "Hello",
    "ICV",
    "IKE",
    "IKEv",
    "INVALID",
    "IP",
    "IPComp",
    "IPsec",
    "IPv",
    "Jacobson",
    "Ka",
    "LCP",
    "MB",
    "MPLS",
    "MPPE",
    "MSS",
    "MTU",
    "NAT",
    "PFS",
    "PPP",
    "PPPoE",
    "PPTP",
    "Protocol",
    "RFC",
    "Reject",
    "Request",
    "SA",
    "SK",
    "SKEYID",
    "SNAP",
    "SPI",
    "Secrets",
    "StopCCN",
    "TCP",
    "TP",
    "Terminate",
    "TTL",
    "UDP",
    "VLAN",
    "Van",
    "Wireshark",
    "charon",
    "ei",
    "er",
    "get",
    "iperf",
    "kB",
    "keys",
    "ms",
    "output",
    "radiotap",
    "reordercap",
    "server",
    "tcpdump",
];

/// What stands in a message beside its arguments, whichever variant is taken.
fn literal(pattern: &Pattern<&str>, text: &mut String) {
    for element in &pattern.elements {
        match element {
            PatternElement::TextElement { value } => *text += value,
            PatternElement::Placeable {
                expression: Expression::Select { variants, .. },
            } => variants.iter().for_each(|v| literal(&v.value, text)),
            PatternElement::Placeable { .. } => *text += " ",
        }
    }
}

/// The messages of one file beside their arguments.
fn literals(language: Language, file: &str) -> BTreeMap<String, String> {
    let name = format!("messages/{language}/{file}.ftl");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let source = std::fs::read_to_string(path).unwrap();
    let mut found = BTreeMap::new();
    for entry in fluent_syntax::parser::parse(source.as_str()).unwrap().body {
        if let Entry::Message(message) = entry {
            let mut text = String::new();
            literal(message.value.as_ref().unwrap(), &mut text);
            found.insert(message.id.name.to_owned(), text);
        }
    }
    found
}

/// Messages with those of their variables that are only asked whether they are one or several: a language without plurals
/// may leave them out.
fn only_selected(language: Language) -> BTreeMap<String, BTreeSet<String>> {
    let mut found = parsed(language);
    for file in Catalogue::files(language) {
        for entry in fluent_syntax::parser::parse(*file).unwrap().body {
            if let Entry::Message(message) = entry {
                let mut shown = BTreeSet::new();
                shown_in(message.value.as_ref().unwrap(), &mut shown);
                let of_message = found.get_mut(message.id.name).unwrap();
                of_message.retain(|variable| !shown.contains(variable));
            }
        }
    }
    found
}

/// The variables whose value stands in the sentence.
fn shown_in(pattern: &Pattern<&str>, shown: &mut BTreeSet<String>) {
    for element in &pattern.elements {
        match element {
            PatternElement::Placeable {
                expression: Expression::Select { variants, .. },
            } => variants.iter().for_each(|v| shown_in(&v.value, shown)),
            PatternElement::Placeable { expression } => of_expression(expression, shown),
            PatternElement::TextElement { .. } => {}
        }
    }
}

/// Identifiers with the variables of each message, from the files of a language. One that names another message has the variables of that one.
fn parsed(language: Language) -> BTreeMap<String, BTreeSet<String>> {
    let written = written(language);
    let whole = |variables: &BTreeSet<String>| {
        let own = variables.iter().flat_map(|name| match name.strip_prefix('=') {
            Some(other) => written[other].iter().cloned().collect(),
            None => vec![name.clone()],
        });
        own.collect()
    };
    let all = written.iter();
    all.map(|(id, variables)| (id.clone(), whole(variables)))
        .collect()
}

/// Identifiers with the variables as they are written, and `=other` for a message that is named.
fn written(language: Language) -> BTreeMap<String, BTreeSet<String>> {
    let mut found = BTreeMap::new();
    for file in Catalogue::files(language) {
        let resource = fluent_syntax::parser::parse(*file)
            .unwrap_or_else(|(_, errors)| panic!("{language}: {errors:?}"));
        for entry in &resource.body {
            match entry {
                Entry::Message(message) => {
                    let mut variables = BTreeSet::new();
                    let value = message.value.as_ref();
                    of_pattern(
                        value.unwrap_or_else(|| panic!("{} is empty", message.id.name)),
                        &mut variables,
                    );
                    let id = message.id.name.to_owned();
                    assert_eq!(
                        found.insert(id.clone(), variables),
                        None,
                        "{language}: {id} twice"
                    );
                }
                Entry::Term(_) | Entry::Junk { .. } => {
                    panic!("{language}: neither terms nor junk are read here")
                }
                _ => {}
            }
        }
    }
    found
}

fn of_pattern(pattern: &Pattern<&str>, variables: &mut BTreeSet<String>) {
    for element in &pattern.elements {
        if let PatternElement::Placeable { expression } = element {
            of_expression(expression, variables);
        }
    }
}

fn of_expression(expression: &Expression<&str>, variables: &mut BTreeSet<String>) {
    match expression {
        Expression::Inline(inline) => of_inline(inline, variables),
        Expression::Select { selector, variants } => {
            of_inline(selector, variables);
            variants.iter().for_each(|v| of_pattern(&v.value, variables));
        }
    }
}

fn of_inline(inline: &InlineExpression<&str>, variables: &mut BTreeSet<String>) {
    match inline {
        InlineExpression::VariableReference { id } => {
            variables.insert(id.name.to_owned());
        }
        InlineExpression::FunctionReference {
            arguments: CallArguments { positional, .. },
            ..
        } => {
            positional.iter().for_each(|p| of_inline(p, variables));
        }
        InlineExpression::Placeable { expression } => of_expression(expression, variables),
        InlineExpression::MessageReference { id, .. } => {
            variables.insert(format!("={}", id.name));
        }
        _ => {}
    }
}

/// The sources of all crates, without tests.
fn sources() -> String {
    fn collect(folder: &Path, all: &mut String) {
        let mut entries: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|e| e.unwrap().path())
            .collect();
        entries.sort();
        for path in entries {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                if name != "tests" && name != "testkit" {
                    collect(&path, all);
                }
            } else if (name.ends_with(".rs") || name.ends_with(".html")) && name != "tests.rs" {
                let text = std::fs::read_to_string(&path).unwrap();
                *all += text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            }
        }
    }
    let mut all = String::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut all);
    all
}

/// What stands in quotes after each `call`.
fn named_after(source: &str, call: &str) -> BTreeSet<String> {
    let calls = source
        .match_indices(call)
        .map(|(at, _)| source[at + call.len()..].trim_start());
    let quoted = calls.filter_map(|rest| rest.strip_prefix('"')?.split('"').next());
    quoted.map(str::to_owned).collect()
}

#[test]
fn both_languages_have_the_same_messages_with_the_same_variables() {
    let (english, mut japanese) = (parsed(Language::English), parsed(Language::Japanese));
    for (id, plurals) in only_selected(Language::English) {
        let own = japanese.get_mut(&id);
        own.unwrap_or_else(|| panic!("{id} is not in Japanese"))
            .extend(plurals);
    }
    for (id, variables) in &english {
        assert_eq!(
            Some(variables),
            japanese.get(id),
            "{id}: English is left, Japanese right"
        );
    }
    let only: Vec<_> = japanese.keys().filter(|id| !english.contains_key(*id)).collect();
    assert!(only.is_empty(), "only in Japanese: {only:?}");
    assert!(!english.is_empty());
}

/// The messages of [`Message::of`]: its kinds, each with the names of an enumeration, but for those that have messages of their own.
fn of_values() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    macro_rules! kinds {
        ($($kind:literal: $names:ident without $except:expr;)*) => {$({
            let all = $names::ALL.iter().map(|name| name.as_str());
            let all = all.filter(|name| !$except.contains(name));
            found.extend(all.map(|name| Message::of($kind, name).id));
        })*};
    }
    const NONE: [&str; 0] = [];
    kinds! {
        "account": AccountLabel without NONE;
        "account-part": AccountLabel without NONE;
        "account-than": OwnRate without NONE;
        "advice": AccountLabel without ["rekey", "tunnel_down", "capture_hole", "unexplained"];
        "cause": ExplanationCause without NONE;
        "cure": ExplanationCause without NONE;
        "effect": LedgerWhy without NONE;
        "event": EventKind without NONE;
        "explains": ExplanationCause without NONE;
        "key": KeyStatus without NONE;
        "mode": Mode without NONE;
        "outage": ExplanationCause without NONE;
        "outage-end": OutageEnd without NONE;
        "outcome": AttemptOutcome without NONE;
        "trigger": TriggerKind without NONE;
        "verdict-label": Verdict without NONE;
        "watch-kernel": KernelMeaning without NONE;
        "why": LedgerWhy without NONE;
    }
    found
}

#[test]
fn every_value_has_its_words() {
    let known = parsed(Language::English);
    let missing: Vec<String> = of_values()
        .into_iter()
        .filter(|id| !known.contains_key(id))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_message_named_in_the_source_is_there_and_every_message_is_used() {
    let (source, known) = (sources(), parsed(Language::English));
    let mut named = BTreeSet::new();
    // The catalogue stands before the identifier there.
    let fills = source
        .split("fill!(")
        .skip(1)
        .filter_map(|rest| rest.split_once(','));
    let fills: String = fills
        .map(|(_, rest)| format!("fill!{}", rest.trim_start()))
        .collect();
    named.extend(named_after(&fills, "fill!"));
    for call in [
        "Message::new(",
        ".word(",
        ".fill(",
        ".fill_with(",
        "counted(t, ",
        " left(",
        " right(",
    ] {
        named.extend(named_after(&source, call));
    }
    let oddities = source
        .split("\"oddity-")
        .skip(1)
        .filter_map(|rest| rest.split('"').next());
    named.extend(oddities.map(|end| format!("oddity-{end}")));
    let unknown: Vec<_> = named.iter().filter(|id| !known.contains_key(*id)).collect();
    assert!(
        unknown.is_empty(),
        "named in the source, in no catalogue: {unknown:?}"
    );
    let of_values = of_values();
    // The variants of a row are named once for its three kinds of message.
    let is_of_variant = |id: &str| {
        let kinds = ["outage-", "explains-", "cure-"].iter();
        let mut names = kinds.filter_map(|kind| id.strip_prefix(kind));
        names.any(|name| source.contains(&format!("\"{name}\"")))
    };
    let unused: Vec<_> = known
        .keys()
        .filter(|id| !of_values.contains(*id) && !source.contains(&format!("\"{id}\"")) && !is_of_variant(id))
        .collect();
    assert!(unused.is_empty(), "in the catalogues, never named: {unused:?}");
}

#[test]
fn japanese_is_japanese() {
    let values = |language| -> BTreeMap<String, String> {
        let mut values = BTreeMap::new();
        for file in Catalogue::files(language) {
            let resource = fluent_syntax::parser::parse(*file).unwrap();
            for entry in resource.body {
                if let Entry::Message(message) = entry {
                    let text = format!("{:?}", message.value);
                    if !text.contains("MessageReference") {
                        values.insert(message.id.name.to_owned(), text);
                    }
                }
            }
        }
        values
    };
    let (english, japanese) = (values(Language::English), values(Language::Japanese));
    let alike: Vec<&str> = english
        .iter()
        .filter(|(id, text)| japanese.get(*id) == Some(text))
        .map(|(id, _)| id.as_str())
        .collect();
    assert_eq!(
        alike, ALIKE,
        "the same in both languages (right: those that may be)"
    );
}

#[test]
fn japanese_keeps_every_figure_and_no_english_word() {
    for file in OF_DOCUMENTS {
        let english = literals(Language::English, file);
        for (id, text) in literals(Language::Japanese, file) {
            let words = text.split(|c: char| !c.is_ascii_alphabetic());
            let foreign: Vec<&str> = words.filter(|w| w.len() > 1 && !LATIN.contains(w)).collect();
            assert!(foreign.is_empty(), "{id}: {foreign:?} in {text}");
            // "one", "three" may be digits in Japanese, so it may have more.
            let (theirs, ours) = (figures(&english[&id]), figures(&text));
            let lost: Vec<&String> = theirs.difference(&ours).collect();
            assert!(lost.is_empty(), "{id}: {lost:?} is not in {text}");
        }
    }
}

/// Their count stands behind them in brackets.
#[test]
fn sentences_of_diagnostics_have_no_full_stop() {
    for language in [Language::English, Language::Japanese] {
        for (id, text) in literals(language, "oddities") {
            assert!(!text.trim_end().ends_with(['.', '。']), "{id}: {text}");
        }
    }
}

/// A row of the glossary in one language: the terms of a thing, and the words that are not used for it.
struct GlossaryRow {
    terms: Vec<String>,
    ruled_out: Vec<String>,
}

fn glossary(language: Language) -> Vec<GlossaryRow> {
    let rows = include_str!("../../messages/glossary.md")
        .lines()
        .filter(|line| line.starts_with("| "))
        .skip(1);
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').collect();
        let [_, english, japanese, _, not_english, not_japanese, _] = cells[..] else {
            panic!("not five cells: {row}")
        };
        let words = |cell: &str| -> Vec<String> {
            let words = cell.split(',').map(|word| word.trim().to_lowercase());
            words.filter(|word| !word.is_empty()).collect()
        };
        let (terms, ruled_out) = match language {
            Language::English => (words(english), words(not_english)),
            Language::Japanese => (words(japanese), words(not_japanese)),
        };
        GlossaryRow { terms, ruled_out }
    })
    .collect()
}

/// The messages of a language beside their arguments, without what is typed (in backticks).
fn all_literals(language: Language) -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("messages/{language}"));
    let files = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let stems = files.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned());
    let messages = stems.flat_map(|stem| literals(language, &stem));
    messages
        .map(|(id, text)| (id, text.split('`').step_by(2).collect::<String>().to_lowercase()))
        .collect()
}

/// Whether a text has a word that no Latin letter continues: `RTO` is not in `export to`.
fn has_word(text: &str, word: &str) -> bool {
    let continues = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let (before, behind) = (&text[..at], &text[at + word.len()..]);
        let begins = !word.starts_with(continues) || !before.ends_with(continues);
        begins && (!word.ends_with(continues) || !behind.starts_with(continues))
    })
}

#[test]
fn the_catalogues_keep_to_the_glossary() {
    for language in Language::ALL {
        let messages = all_literals(language);
        let rows = glossary(language);
        assert!(rows.len() > 40);
        let mut wrong = Vec::new();
        for GlossaryRow { terms, ruled_out } in &rows {
            let unused = |term: &&String| !messages.values().any(|text| has_word(text, term));
            wrong.extend(
                terms
                    .iter()
                    .filter(unused)
                    .map(|t| format!("{t} is in no message")),
            );
            for (id, text) in &messages {
                // A term may contain a word that is ruled out beside it.
                let rest = terms
                    .iter()
                    .fold(text.clone(), |rest, term| rest.replace(term, "\n"));
                let used = ruled_out.iter().filter(|word| has_word(&rest, word));
                wrong.extend(used.map(|word| format!("{id}: {word}, where the glossary has {terms:?}")));
            }
        }
        assert!(wrong.is_empty(), "{language}: {wrong:#?}");
    }
}

/// Heads of tables have the symbol of the unit.
#[test]
fn seconds_are_spelt_out_in_japanese() {
    let heads = literals(Language::Japanese, "labels");
    for (id, text) in all_literals(Language::Japanese) {
        assert!(heads.contains_key(&id) || !has_word(&text, " s"), "{id}: {text}");
    }
    let japanese = Catalogue::of(Language::Japanese);
    let said = |duration: &str| {
        let message = Message::new("note-slow").with("rekeys", 2_u64);
        japanese.say(&message.with("cost", duration))
    };
    for (duration, begins) in [
        ("4.4 s", "そのうち 4.4 秒は"),
        ("0.51–1.53 s", "そのうち 0.51～1.53 秒は"),
        ("2 min 5 s", "そのうち 2 分 5 秒は"),
        ("3 h 12 min", "そのうち 3 時間 12 分は"),
        ("603 ms", "そのうち 603 ms は"),
        ("router s", "そのうち router s は"),
    ] {
        assert!(said(duration).starts_with(begins), "{}", said(duration));
    }
}

#[test]
fn lists_are_joined_as_the_language_joins_them() {
    let joined = |language, items: Vec<Arg>| Catalogue::of(language).list(&items).unwrap();
    let three = || vec![Arg::Count(2), Arg::Count(3), Arg::Count(6)];
    assert_eq!(joined(Language::English, three()), "2, 3 and 6");
    assert_eq!(joined(Language::Japanese, three()), "2、3、6");
    assert_eq!(joined(Language::English, vec!["one".into()]), "one");
    assert_eq!(joined(Language::English, Vec::new()), "");
}

#[test]
fn what_is_missing_falls_back_and_stops_nothing() {
    let japanese = Catalogue::of(Language::Japanese);
    assert_eq!(japanese.word("of-a-later-version"), "of-a-later-version");
    let unknown = [
        Message::new("arithmetic-none"),
        Message::new("of-a-later-version"),
    ];
    assert_eq!(japanese.sentence("As it was.", &unknown), "As it was.");
    assert_eq!(japanese.sentence("As it was.", &[]), "As it was.");
    let without = Message::new("arithmetic-reference").with("observed", "8 Mbit/s");
    assert_eq!(japanese.say(&without), "arithmetic-reference");
    assert!(japanese.attempt(&without).is_none());
}

#[test]
fn a_message_survives_the_document() {
    let message = Message::new("arithmetic-halve")
        .with("count", 7_u64)
        .with("share", 0.5)
        .with("list", vec![Message::new("arithmetic-none")])
        .with("text", "{ $count } is no placeholder here");
    let text = serde_json::to_string(&message).unwrap();
    assert_eq!(serde_json::from_str::<Message>(&text).unwrap(), message);
    assert!(text.contains("\"count\":7,"), "{text}");
}

#[test]
fn arguments_are_never_read_as_patterns() {
    let message = Message::new("note-rates")
        .with("observed", "{ $without }")
        .with("without", "\u{2068}{\"x\"}");
    let said = Catalogue::of(Language::Japanese).say(&message);
    assert!(
        said.contains("{ $without } で") && said.contains("\u{2068}{\"x\"} だった"),
        "{said}"
    );
}

#[test]
fn locales() {
    for (locale, language) in [
        ("ja_JP.UTF-8", Language::Japanese),
        ("ja", Language::Japanese),
        ("JA_jp", Language::Japanese),
        ("jam_JM", Language::English),
        ("C.UTF-8", Language::English),
        ("de_DE", Language::English),
        ("", Language::English),
    ] {
        assert_eq!(Language::from_locale(locale), language, "{locale}");
    }
    assert!("jp".parse::<Language>().is_err());
}

#[test]
fn a_list_of_one_is_read_as_a_list() {
    let said = Message::new("x").with("names", vec!["2"]);
    let saved = serde_json::to_string(&said).unwrap();
    assert_eq!(serde_json::from_str::<Message>(&saved).unwrap(), said);
}

/// Messages that the Wireshark plugin says as reports do, with the arguments in the order in which it gives them.
const OF_THE_PLUGIN: [(&str, &[&str]); 25] = [
    ("column-number", &[]),
    ("column-time-s", &[]),
    ("column-by", &[]),
    ("column-trigger", &[]),
    ("column-volume", &[]),
    ("column-ike-ms", &[]),
    ("column-silence-ms", &[]),
    ("column-outcome", &[]),
    ("end-client", &[]),
    ("end-gateway", &[]),
    ("ends", &["client", "gateway"]),
    ("outcome-because", &["what", "reason"]),
    ("outcome-completed", &[]),
    ("outcome-completed-unused", &[]),
    ("outcome-cut", &[]),
    ("outcome-refused", &[]),
    ("outcome-superseded", &[]),
    ("outcome-unanswered", &[]),
    ("trigger-age-no-limit", &["age"]),
    ("trigger-age-of", &["age", "limit"]),
    ("trigger-bytes-no-limit", &["bytes"]),
    ("trigger-bytes-of", &["kilobytes", "limit"]),
    ("trigger-time", &[]),
    ("trigger-unknown", &[]),
    ("trigger-volume", &[]),
];

/// `BLESS=1` writes the plugin's words anew.
#[test]
fn the_plugin_says_what_reports_say() {
    let t = Catalogue::of(Language::English);
    let lua = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wireshark/lua");
    let path = lua.join("rekeyscope_words.lua");
    let mut file = String::from(
        "-- Made by `BLESS=1 cargo test -p rekeyscope-model the_plugin_says` from crates/model/messages/en: what the plugin says\n\
         -- as the program's reports do. An argument is %s. Pure.\n\nreturn {\n",
    );
    for (id, args) in OF_THE_PLUGIN {
        let args: Vec<_> = args.iter().map(|name| (*name, "%s")).collect();
        file += &format!("  [{id:?}] = {:?},\n", t.fill_with(id, &args));
    }
    file += "}\n";
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &file).expect("the plugin's folder is writable");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == file,
        "BLESS=1 cargo test -p rekeyscope-model the_plugin_says"
    );
    assert_eq!(take_missing(), Vec::<String>::new());
    let report = std::fs::read_to_string(lua.join("rekeyscope_report.lua")).unwrap();
    for (id, _) in OF_THE_PLUGIN {
        let kind = id.split('-').next().unwrap_or_default();
        let ways = [format!("{id:?}"), format!("words[\"{kind}-\" ..")];
        assert!(
            ways.iter().any(|way| report.contains(way)),
            "the plugin does not use {id}"
        );
    }
}

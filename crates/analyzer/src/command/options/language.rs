//! In which language a report is written.

use crate::command::options::help::REPORT;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use rekeyscope_model::text::Language;
use std::env;

/// Variables that decide on the language of messages, the first one that is set (POSIX.1-2017, Base Definitions §8.2).
const LOCALE: [&str; 3] = ["LC_ALL", "LC_MESSAGES", "LANG"];

/// `--lang`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct LanguageArgument {
    /// Write the report in English (en) or Japanese (ja)
    ///
    /// Without this the locale decides. JSON, CSV, notes and errors are English always.
    #[arg(id = "lang", long = "lang", value_name = "LANG", value_parser = tags(), help_heading = REPORT)]
    given: Option<Language>,
}

impl LanguageArgument {
    /// The language asked for, or the locale's.
    pub(crate) fn language(&self) -> Language {
        let set = |name: &&str| env::var(name).ok().filter(|locale| !locale.is_empty());
        let locale = || {
            LOCALE
                .iter()
                .find_map(set)
                .or_else(of_the_system)
                .unwrap_or_default()
        };
        self.given.unwrap_or_else(|| Language::from_locale(&locale()))
    }
}

/// Windows has no such variables, unless a shell of another system sets them.
fn of_the_system() -> Option<String> {
    #[cfg(windows)]
    return crate::command::windows::user_language();
    #[cfg(not(windows))]
    None
}

fn tags() -> impl TypedValueParser<Value = Language> {
    PossibleValuesParser::new(Language::ALL.map(Language::tag)).try_map(|tag| tag.parse::<Language>())
}

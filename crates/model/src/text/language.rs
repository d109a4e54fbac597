//! The languages of a report.

use std::fmt;
use std::str::FromStr;

/// Language of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// `en`.
    #[default]
    English,
    /// `ja`.
    Japanese,
}

impl Language {
    /// All of them.
    pub const ALL: [Language; 2] = [Language::English, Language::Japanese];

    /// The language of a POSIX locale such as `ja_JP.UTF-8`; English for every locale without a catalogue.
    pub fn from_locale(locale: &str) -> Self {
        let language = locale.split(['_', '.', '-', '@']).next().unwrap_or_default();
        language.to_ascii_lowercase().parse().unwrap_or_default()
    }

    /// The tag of BCP 47, as in `<html lang="…">`.
    pub fn tag(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::Japanese => "ja",
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.tag())
    }
}

impl FromStr for Language {
    type Err = String;

    fn from_str(tag: &str) -> Result<Self, String> {
        let known = Language::ALL.into_iter().find(|language| language.tag() == tag);
        known.ok_or_else(|| "expected en (English) or ja (Japanese)".to_owned())
    }
}

//! What people read, in English and in Japanese.
//!
//! Every sentence and label is a message of a Fluent catalogue (`messages/en/*.ftl`, `messages/ja/*.ftl`), embedded in the
//! program and parsed once per language. Code names a message and its arguments ([`Message`]); a [`Catalogue`] says it.
//!
//! The analysis document stays English: its `sentence` fields are the messages beside them said by the English catalogue, so
//! there is one source. A report in another language says those messages again ([`Catalogue::sentence`]); where a document
//! has none (an earlier version wrote it, or a later one with messages unknown here), it shows the English sentence as it is.
//!
//! English stays, whatever the language: JSON, the headers and identifiers of CSV, `--help`, errors and notes on standard
//! error, display filters, and the names of the RFCs, of ciphers, of options and of units. Figures are put into words before
//! they become arguments, because units are written alike in both languages.
//!
//! Of the sentences of the document, these have no messages and stay English everywhere: what was found where a container is
//! damaged or its compression is broken, rows of key files that cannot be read, and the countings among the candidates of a
//! trigger rule (identifiers of the document; the rule's sentence says them in either language).
//!
//! An unknown message or a missing argument never stops a report: the English message is said instead, then the
//! identifier. The tests at the end make sure that neither happens with what the program itself says.

mod catalogue;
mod message;
mod said;
#[cfg(test)]
pub(crate) mod tests;

pub use catalogue::Catalogue;
pub use message::{Arg, Message};
pub use said::Said;

use std::fmt;
use std::str::FromStr;

/// A count with its digits in groups of three, as both languages write it: `24,102`. Not for numbers that are looked up
/// elsewhere, such as those of frames.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// What a report is written in.
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

//! Words that people read, in English and in Japanese.
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
//! they become arguments, because units are written alike in both languages; only durations in a Japanese sentence have their
//! units spelt out (秒).
//!
//! `messages/glossary.md` says which word stands for which thing; a test holds both catalogues against it.
//!
//! Of the sentences of the document, these have no messages and stay English everywhere: what was found where a container is
//! damaged or its compression is broken, rows of key files that cannot be read, and the countings among the candidates of a
//! trigger rule (identifiers of the document; the rule's sentence says them in either language).
//!
//! An unknown message or a missing argument never stops a report: the English message is said instead, then the
//! identifier. The tests at the end make sure that neither happens with what the program itself says.

mod catalogue;
mod grouped;
mod japanese;
mod language;
mod message;
mod said;
#[cfg(test)]
mod tests;

pub use catalogue::{Catalogue, take_missing};
pub use grouped::grouped;
pub use language::Language;
pub use message::{Arg, Message};
pub use said::Said;

//! A sentence on its way into the document.

use crate::text::catalogue::Catalogue;
use crate::text::language::Language;
use crate::text::message::Message;

/// A sentence in English and the messages that it is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// Sentence in the document.
    pub sentence: String,
    /// The same as messages; empty where a sentence has none and stays English.
    pub messages: Vec<Message>,
}

impl Said {
    /// Messages one after the other, in English.
    pub fn of(messages: Vec<Message>) -> Self {
        Said {
            sentence: Catalogue::of(Language::English).say_all(&messages),
            messages,
        }
    }
}

impl From<Message> for Said {
    fn from(message: Message) -> Self {
        Said::of(vec![message])
    }
}

impl From<Vec<Message>> for Said {
    fn from(messages: Vec<Message>) -> Self {
        Said::of(messages)
    }
}

impl From<String> for Said {
    fn from(sentence: String) -> Self {
        Said {
            sentence,
            messages: Vec::new(),
        }
    }
}

impl From<&str> for Said {
    fn from(sentence: &str) -> Self {
        sentence.to_owned().into()
    }
}

//! A sentence as an identifier and arguments.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A sentence, or a part of one, as it stands in a catalogue: which, and what goes into it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    /// Identifier in the catalogues (`crates/model/messages`).
    pub id: String,
    /// By name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub args: BTreeMap<String, Arg>,
}

/// Argument of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Arg {
    /// A number of things: it decides on singular and plural.
    Count(u64),
    /// Any other number.
    Number(f64),
    /// Text that is the same in every language: a name, a figure with its unit.
    Text(String),
    // Before a message: serde would read one of a list with one text, its identifier.
    /// Several, joined as the language joins them: "2, 3 and 6".
    List(Vec<Arg>),
    /// Another message.
    Message(Box<Message>),
}

impl Message {
    /// A message without arguments so far. Identifiers are written out at the call: a test looks for them there.
    pub fn new(id: &str) -> Self {
        Message {
            id: id.to_owned(),
            args: BTreeMap::new(),
        }
    }

    /// The message of a value that the document names, such as `cause-new-sa-lost` of `new_sa_lost`. A test looks for those of every name.
    pub fn of(kind: &str, name: &str) -> Self {
        Message::new(&format!("{kind}-{}", name.replace('_', "-")))
    }

    /// The same with one more argument.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Arg>) -> Self {
        self.args.insert(name.to_owned(), value.into());
        self
    }
}

macro_rules! counts {
    ($($number:ty),*) => {$(
        impl From<$number> for Arg {
            fn from(n: $number) -> Self {
                Arg::Count(n as u64)
            }
        }
    )*};
}
counts!(u32, u64, usize);

impl From<f64> for Arg {
    fn from(n: f64) -> Self {
        Arg::Number(n)
    }
}

impl From<&str> for Arg {
    fn from(text: &str) -> Self {
        Arg::Text(text.to_owned())
    }
}

impl From<String> for Arg {
    fn from(text: String) -> Self {
        Arg::Text(text)
    }
}

impl From<Message> for Arg {
    fn from(message: Message) -> Self {
        Arg::Message(Box::new(message))
    }
}

impl<T: Into<Arg>> From<Vec<T>> for Arg {
    fn from(items: Vec<T>) -> Self {
        Arg::List(items.into_iter().map(Into::into).collect())
    }
}

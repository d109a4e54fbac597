//! The words that all other crates say. Plain data: nothing here computes, and nothing of ours is imported.
//!
//! - On the wire: [`spi`] (SPIs, SA identities), [`algorithm`] (the table of ciphers), [`flow`] (inner flows, TCP headers), [`lifetime`], [`time`].
//! - The document: [`analysis`] is what the program finds out, the JSON contract and its schema.
//! - What is said: [`text`] holds messages and their catalogues; [`diagnostic`] counts oddities, [`error`] stops a run.
//! - Keys: [`secret`] holds bytes that no `Debug` shows and that are wiped when dropped; [`mining`] is what looking for them cost.
//! - [`watch`]: what happens while a capture goes on.
//! - One definition for all: [`sample`] (mean and spread), [`chance`] (losses that are none).

/// A type that JSON has as the text that it prints and reads.
macro_rules! serde_by_text {
    ($type:ident, $schema:tt) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!($schema)
            }
        }
    };
}

pub mod algorithm;
pub mod analysis;
pub mod chance;
pub mod diagnostic;
pub mod error;
pub mod flow;
pub mod lifetime;
pub mod mining;
pub mod sample;
pub mod secret;
pub mod spi;
pub mod text;
pub mod time;
pub mod watch;

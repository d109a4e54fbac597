//! Structures of the document are compared, printed, written and read as JSON, and described by the schema.

macro_rules! plain_data {
    ($($(#[$meta:meta])* pub struct $name:ident { $($(#[$fmeta:meta])* pub $field:ident: $type:ty,)* })*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub struct $name { $($(#[$fmeta])* pub $field: $type,)* }
    )*};
}

pub(super) use plain_data;

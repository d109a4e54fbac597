//! Listings of SAs: fields behind labels, SA after SA. One reader, and a table that says what each program's labels are.

pub(crate) mod reader;
mod record;
mod specs;

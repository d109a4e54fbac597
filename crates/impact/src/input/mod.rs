//! What goes in: traffic and moments, and which part of them is the transfer.

pub(crate) mod grid;
pub(crate) mod moment;
pub(crate) mod settings;
pub(crate) mod start;
pub(crate) mod traffic;
pub(crate) mod transfer;
pub(crate) mod unobserved;

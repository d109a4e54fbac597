//! Reads key files into a [`KeyMaterial`](crate::KeyMaterial): those that are named, those beside a capture, and text that no
//! format knows, from which keys are mined.

pub mod beside;
pub mod mine;
pub mod pre_shared_key;
mod read;
mod unpack;

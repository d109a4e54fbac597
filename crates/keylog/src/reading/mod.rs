pub mod beside;
pub mod mine;
pub mod pre_shared_key;
mod read;

pub mod algorithm_names;
pub mod dump;
pub mod fields;
pub mod hex;
mod lines;
pub mod order;
pub mod outer;

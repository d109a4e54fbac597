//! Words of the report for a judgement: sentences, numbers for people.

pub mod account;
pub mod two_points;
pub mod words;

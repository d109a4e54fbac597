//! What the report shows of a judgement: sentences, the mean rekey, the projection to other lifetimes.

pub mod account;
pub mod failed;
mod listing;
pub mod mean_rekey;
pub mod projection;
pub mod sentence;
pub mod two_points;

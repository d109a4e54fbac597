mod listing;
pub mod mean_rekey;
pub mod projection;
pub mod sentence;

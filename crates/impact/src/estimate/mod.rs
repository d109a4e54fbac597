pub mod aggregate;
pub mod baseline;
pub mod compare;
pub mod gap;
pub mod highest;
pub mod late;
pub mod placebo;
pub mod stall;

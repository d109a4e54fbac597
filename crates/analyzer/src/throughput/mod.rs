pub mod flow;
pub mod meter;
pub mod series;

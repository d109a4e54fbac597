//! The estimators: baselines, stalls, gaps, placebos, means with their intervals.

pub(crate) mod aggregate;
pub(crate) mod baseline;
pub(crate) mod burst;
pub(crate) mod compare;
pub(crate) mod dot;
pub(crate) mod gap;
pub(crate) mod highest;
pub(crate) mod late;
pub(crate) mod placebo;
pub(crate) mod stall;

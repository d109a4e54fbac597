//! Which rekeys hurt, what the verdict is, and the whole method on one direction ([`assess`]).

pub(crate) mod all_transfers;
pub(crate) mod assess;
pub(crate) mod course;
pub(crate) mod evaluate;
pub(crate) mod evaluation;
mod hurt;
pub(crate) mod leg;
#[cfg(test)]
pub(crate) mod made_up;
pub(crate) mod outcome;
mod sensitivity;
pub(crate) mod verdict;

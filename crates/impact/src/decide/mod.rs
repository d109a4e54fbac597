pub mod assess;
pub mod evaluate;
pub mod evaluation;
mod hurt;
pub mod outcome;
mod sensitivity;
#[cfg(test)]
mod tests;
pub mod verdict;

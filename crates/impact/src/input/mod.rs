pub mod grid;
pub mod moment;
pub mod settings;
pub mod start;
pub mod traffic;
pub mod transfer;
pub mod unobserved;

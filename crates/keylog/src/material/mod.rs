pub mod bounds;
pub mod claim;
pub mod index;
pub mod key;
pub mod material;
pub mod sink;

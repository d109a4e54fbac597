pub mod key_info;
mod labels;
mod records;
pub mod show_sa;

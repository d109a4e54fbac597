#![no_main]
#[path = "../entry.rs"]
#[allow(dead_code)] // each target uses one door
mod entry;

libfuzzer_sys::fuzz_target!(|data: &[u8]| entry::capture(data));

//! The tests of the program and of its whole pipeline, one module a subject. They are one binary: the analyses of the real captures are
//! made once, and the libraries linked once. The key logs have a binary of their own, `tests/keylog/tests.rs`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking and says what it skips"
)]

mod account;
mod authentication_header;
mod capture_quality;
mod capture_truth;
mod ciphers;
mod cli;
mod comparisons;
mod copies;
mod costs;
mod diagnosis;
mod directions;
mod docs;
mod duplicates;
mod encapsulation;
mod events;
mod failures;
mod faults;
mod formats;
mod golden;
mod house;
mod ike_documents;
mod ike_scenarios;
mod joined;
mod keys;
mod mutations;
mod properties;
mod report;
mod robustness;
mod scenarios;
mod support;
mod transfers;
mod trigger_rules;
mod truth;
mod tunnels;
mod two_points;
mod watch;

//! Values of the document as words, the same in every format: what is asked for comes first, in the language of a catalogue.

mod account;
pub(crate) mod advice;
pub(crate) mod answer;
mod attempts;
mod capture;
mod causes;
pub mod clean;
mod close_up;
mod command;
mod common;
pub(crate) mod ends;
mod events;
pub(crate) mod explanations;
pub mod focus;
pub(crate) mod format;
mod keys;
mod lengths;
pub mod underivable;
mod verdict;

pub(crate) use account::{
    account_label, account_label_of, account_notes, account_of_headline, accounts, is_headline, loss_label,
    lost_to, outage_note, seconds_of, stretch_filter, stretch_length, stretches_filter, times,
};
pub(crate) use answer::{Answer, LineFigure, answer, figure, question};
pub use answer::{answer_lines, line_1};
pub(crate) use attempts::{is_leak, is_trouble, leaks, outage_end, outage_length, outages, outcome_because};
pub(crate) use capture::{
    capture, decrypted, decryption, diagnostic, doubled, first_packet, quality, with_packets,
};
pub(crate) use causes::{CausePlace, cause, causes};
pub(crate) use close_up::{close_up, close_up_filter};
pub(crate) use command::command;
pub(crate) use common::{
    PROGRAM, brief_finding, direction, exchange_name, few_values, finding, flow, limits_figures,
    lost_between, overlay, overlay_sentences, overlay_value, program, protocol, suite, trigger,
    trigger_in_full, trigger_kind, trigger_rules, tunnel,
};
pub(crate) use events::{change_of_address, events};
pub(crate) use keys::{key_file, key_status, missing_keys, road};
pub(crate) use verdict::{cost_of, cost_seconds, counted, effect, in_full, rates, share_of_gap, verdict};

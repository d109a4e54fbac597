//! What is said of an account. Every figure in here is synthetic.

use super::*;
use rekeyscope_model::text::{Catalogue, Language};
use rekeyscope_testkit::example;
use rekeyscope_testkit::figures;

/// 24 s lost of 60 s: 13 s to rekeys, 11 s to the window.
fn account() -> Account {
    example::account(
        36.0,
        &[
            (AccountLabel::Rekey, 13.0, 0),
            (AccountLabel::ReceiveWindow, 20.0, 40_500_000),
            (AccountLabel::Capacity, 27.0, 121_500_000),
        ],
    )
}

fn english(account: &Account) -> String {
    sentence(account).sentence
}

#[test]
fn the_largest_losses_come_first_and_add_up() {
    assert_eq!(
        english(&account()),
        "It took 24 s longer than at 36.0 Mbit/s: 13 s (54 %) went to rekeys, \
         11 s (46 %) it waited for the receiver's window of 64 kB, 0.0 s unexplained."
    );
    let japanese = Catalogue::of(Language::Japanese).say_all(&sentence(&account()).messages);
    assert_eq!(
        japanese,
        "36.0 Mbit/s の場合より 24 秒長くかかっています。内訳: リキー 13 秒（54 %）、\
         受信ウィンドウ（64 kB）待ち 11 秒（46 %）、原因不明 0.0 秒。"
    );
}

#[test]
fn the_rate_says_where_it_comes_from() {
    let mut account = account();
    account.reference_given = false;
    assert!(english(&account).contains("longer than at this path's best rate of 36.0 Mbit/s: "));
    account.own_from = OwnRate::Best;
    assert!(english(&account).contains("longer than at its own best rate of 36.0 Mbit/s: "));
}

#[test]
fn a_path_at_its_limit_lost_nothing() {
    let mut account = example::account(9.2, &[(AccountLabel::Capacity, 30.0, 34_500_000)]);
    account.reference_given = false;
    assert_eq!(
        english(&account),
        "The transfer took no longer than at this path's best rate of 9.20 Mbit/s (within 1 %); of its 30 s, \
         30 s (100 %) at the limit of link or CPU (9.20 Mbit/s), 0.0 s unexplained."
    );
    let account = example::account(4.6, &[(AccountLabel::Application, 30.0, 34_500_000)]);
    assert_eq!(
        english(&account),
        "The transfer was faster than at 4.60 Mbit/s; of its 30 s, 30 s (100 %) the application had nothing to send, \
         0.0 s unexplained."
    );
}

#[test]
fn in_brief_a_label_counts_from_a_hundredth_on() {
    let labels = [
        (AccountLabel::Growth, 0.9, 0),
        (AccountLabel::PathLoss, 40.0, 0),
        (AccountLabel::Rekey, 61.1, 0),
        // 2 s at the rate: 2 s won back.
        (AccountLabel::Capacity, 0.0, 2_500_000),
    ];
    let account = example::account(10.0, &labels);
    let brief = in_brief(&account).unwrap();
    let named: Vec<AccountLabel> = brief.lines.iter().map(|line| line.label).collect();
    assert_eq!(named, [AccountLabel::Rekey, AccountLabel::PathLoss]);
    let english = Catalogue::of(Language::English);
    assert_eq!(
        english.say(&brief.lead),
        "It took 102 s, 100 s longer than at 10.0 Mbit/s:"
    );
    assert_eq!(
        brief.won_back.map(|message| english.say(&message)).as_deref(),
        Some("2.0 s (2 %) was won back where it was faster.")
    );
}

#[test]
fn in_brief_a_path_at_its_limit_is_told_by_its_time() {
    let labels = [
        (AccountLabel::Rekey, 0.2, 0),
        (AccountLabel::Capacity, 30.0, 34_500_000),
    ];
    let account = example::account(9.2, &labels);
    let brief = in_brief(&account).unwrap();
    assert!(!brief.by_loss && brief.won_back.is_none());
    let named: Vec<AccountLabel> = brief.lines.iter().map(|line| line.label).collect();
    assert_eq!(named, [AccountLabel::Capacity]);
    assert!(in_brief(&example::account(9.2, &[])).is_none());
}

#[test]
fn small_losses_are_not_named_and_no_more_than_three() {
    let labels = [
        (AccountLabel::PathLoss, 40.0, 0),
        (AccountLabel::Growth, 30.0, 0),
        (AccountLabel::Application, 20.0, 0),
        (AccountLabel::SendBuffer, 9.0, 0),
        (AccountLabel::Reordering, 0.5, 0),
        (AccountLabel::Unexplained, 1.5, 0),
    ];
    let said = english(&example::account(10.0, &labels));
    assert!(
        said.ends_with(", 20 s (20 %) the application had nothing to send, 1.5 s (1 %) unexplained."),
        "{said}"
    );
    assert!(!said.contains("buffer") && !said.contains("reordered"), "{said}");
}

/// Stretches above the rate it is compared with have negative losses; without them the shares would exceed all.
#[test]
fn what_was_won_back_is_said() {
    let labels = [
        (AccountLabel::Rekey, 12.0, 0),
        (AccountLabel::Capacity, 8.0, 12_500_000),
    ];
    let said = english(&example::account(10.0, &labels));
    assert!(
        said.contains("It took 10 s longer")
            && said.contains("2.0 s (17 %) won back where it was faster, 0.0 s"),
        "{said}"
    );
}

#[test]
fn what_could_not_be_told_is_said() {
    let mut account = account();
    account.not_testable = vec![AccountLabel::ReceiveWindow, AccountLabel::SendBuffer];
    (account.scale_known, account.window_bytes) = (false, None);
    let said = english(&account);
    assert!(
        said.ends_with(
            "These packets do not show how much of the time went to: receiver's window and sender's buffer."
        ),
        "{said}"
    );
    account.d2_from = D2Source::Pattern;
    let said = english(&account);
    assert!(
        said.contains("it waited for the receiver's window or the sender's buffer")
            && said.ends_with("cannot be told apart."),
        "{said}"
    );
    account.d2_from = D2Source::None;
    let said = english(&account);
    assert!(
        said.ends_with("so these are not told apart: receiver's window and sender's buffer."),
        "{said}"
    );
    account.rtt_ms = None;
    assert!(english(&account).contains("No TCP with acknowledgements was seen inside"));
    let nothing = example::account(9.0, &[]);
    assert!(english(&nothing).starts_with("No transfer was long enough"));
}

#[test]
fn japanese_has_every_figure_of_the_english() {
    let labels: Vec<_> = example::LABELS.iter().map(|l| (*l, 3.0, 7_000)).collect();
    for few in labels.chunks(2) {
        let said = sentence(&example::account(50.0, few));
        let japanese = Catalogue::of(Language::Japanese).say_all(&said.messages);
        assert_eq!(figures(&said.sentence), figures(&japanese), "{japanese}");
    }
}

#[test]
fn amounts_and_windows() {
    assert_eq!(
        [
            (24.3, 60.0),
            (-12.4, 60.0),
            (9.94, 60.0),
            (0.04, 60.0),
            (-0.04, 60.0)
        ]
        .map(|(s, w)| amount(s, w)),
        ["24 s", "−12 s", "9.9 s", "0.0 s", "0.0 s"]
    );
    assert_eq!(
        [(0.25, 0.5), (0.0, 0.5), (0.0123, 0.05), (4321.0, 9000.0)].map(|(s, w)| amount(s, w)),
        ["0.25 s", "0.00 s", "12 ms", "4,321 s"]
    );
    // As soon as the whole rounds to the next unit.
    assert_eq!(
        [
            (0.05, 0.0994),
            (0.05, 0.0995),
            (0.5, 0.9949),
            (0.5, 0.995),
            (9.949, 20.0),
            (9.95, 20.0)
        ]
        .map(|(s, w)| amount(s, w)),
        ["50 ms", "0.05 s", "0.50 s", "0.5 s", "9.9 s", "10 s"]
    );
    assert_eq!([amount(-0.0004, 0.05), amount(-0.0006, 0.05)], ["0 ms", "−1 ms"]);
    // 999.5 and 99.95 units.
    assert_eq!(
        [1_023_487, 1_023_488, 102_348, 102_349].map(window),
        ["999 kB", "1 MB", "99.9 kB", "100 kB"]
    );
    assert_eq!(
        [65_535, 13_140, 4_194_304, 500].map(window),
        ["64 kB", "12.8 kB", "4 MB", "0.5 kB"]
    );
}

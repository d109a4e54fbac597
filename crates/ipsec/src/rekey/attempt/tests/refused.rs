//! Requests that the other side refuses.

use super::*;

#[test]
fn ikev2_refuses_in_its_answer() {
    let mut story = Story::new(2, 9_000, 60_000);
    let read = story.tell(CreateChildSa, CLIENT, "5000 > 480, 5030 < 80");
    story.refuse(read, "NO_PROPOSAL_CHOSEN", None);
    let unread = story.tell(CreateChildSa, CLIENT, "7000 > 480, 7030 < 80");
    assert_eq!(story.of(read), Some((Refused, Some("NO_PROPOSAL_CHOSEN"))));
    assert_eq!(story.of(unread), Some((Refused, None)), "by its length");
}

#[test]
fn ikev1_refuses_in_another_exchange() {
    let mut story = Story::new(1, 9_000, 60_000);
    let asked = story.tell(QuickMode, CLIENT, "5000 > 300");
    let no = story.tell(Informational, SERVER, "5030 > 76");
    assert_eq!(
        story.of(asked),
        Some((Refused, None)),
        "nothing read, and nobody asks again"
    );
    story.refuse(no, "NO-PROPOSAL-CHOSEN", None);
    assert_eq!(story.of(asked), Some((Refused, Some("NO-PROPOSAL-CHOSEN"))));
    let message_id = story.exchanges[asked].message_id;
    story.exchanges[no].errors[0].message_id = Some(message_id);
    assert_eq!(story.of(asked), Some((Refused, Some("NO-PROPOSAL-CHOSEN"))));
    story.exchanges[no].errors[0].message_id = Some(story.exchanges[0].message_id);
    assert_ne!(
        story.of(asked).unwrap().1,
        Some("NO-PROPOSAL-CHOSEN"),
        "of another exchange"
    );
}

/// Two requests are under way, and a refusal that names neither comes behind both.
#[test]
fn a_refusal_without_a_name_is_of_the_newest_request() {
    let mut story = Story::new(1, 20_000, 60_000);
    let diagram = "5000 > 300, 9000 > 300, 16000 > 300";
    let first = story.tell(QuickMode, CLIENT, diagram);
    let second = story.tell(QuickMode, CLIENT, "5020 > 300");
    let no = story.tell(Informational, SERVER, "5030 > 76");
    story.refuse(no, "NO-PROPOSAL-CHOSEN", None);
    assert_eq!(story.of(first), Some((Unanswered, Some("peer_sends_esp"))));
    assert_eq!(story.of(second), Some((Refused, Some("NO-PROPOSAL-CHOSEN"))));
    // What it holds instead of a message ID is none of this IKE SA.
    story.exchanges[no].errors[0].message_id = Some(0xdead_beef);
    assert_eq!(story.of(second), Some((Refused, Some("NO-PROPOSAL-CHOSEN"))));
}

#[test]
fn a_refusal_comes_behind_what_it_refuses() {
    let mut story = Story::new(1, 20_000, 60_000);
    let no = story.tell(Informational, SERVER, "4999 > 76");
    let asked = story.tell(QuickMode, CLIENT, "5000 > 300, 9000 > 300, 16000 > 300");
    let message_id = story.exchanges[asked].message_id;
    story.refuse(no, "NO-PROPOSAL-CHOSEN", Some(message_id));
    assert_eq!(story.of(asked), Some((Unanswered, Some("peer_sends_esp"))));
}

#[test]
fn a_refusal_that_names_nothing_comes_within_two_seconds() {
    for (ms, refused) in [(7_000, true), (7_001, false)] {
        let mut story = Story::new(1, 20_000, 60_000);
        let asked = story.tell(QuickMode, CLIENT, "5000 > 300");
        let no = story.tell(Informational, SERVER, &format!("{ms} > 76"));
        assert_eq!(story.of(asked).unwrap().0 == Refused, refused, "unread at {ms}");
        story.refuse(no, "NO-PROPOSAL-CHOSEN", None);
        assert_eq!(story.of(asked).unwrap().0 == Refused, refused, "read at {ms}");
        let message_id = story.exchanges[asked].message_id;
        story.exchanges[no].errors[0].message_id = Some(message_id);
        assert_eq!(story.of(asked).unwrap().0, Refused, "it names the request");
    }
}

#[test]
fn what_was_read_and_holds_no_error_refuses_nothing() {
    let mut story = Story::new(1, 20_000, 60_000);
    let asked = story.tell(QuickMode, CLIENT, "5000 > 300");
    let said = story.tell(Informational, SERVER, "5030 > 76");
    assert_eq!(story.of(asked).unwrap().0, Refused);
    story.exchanges[said].decrypted = true;
    assert_eq!(story.of(asked).unwrap().0, Unanswered);
}

/// The peer's dead peer detection or Delete is no answer: the request is sent again.
#[test]
fn another_message_of_the_peer_is_no_refusal() {
    let mut story = Story::new(1, 20_000, 60_000);
    let asked = story.tell(QuickMode, CLIENT, "5000 > 300, 9000 > 300, 16000 > 300");
    story.tell(Informational, SERVER, "5030 > 92");
    assert_eq!(story.of(asked), Some((Unanswered, Some("peer_sends_esp"))));
}

/// The IKE SA stands, and its answer has no room for the child SA that the one before had made.
#[test]
fn an_ike_sa_without_its_child() {
    let begun = |diagram: &str, esp: Option<(i64, i64)>, again: u32| {
        let mut story = Story::new(2, 9_000, 60_000);
        story.exchanges[0].decrypted = false;
        let auth = story.tell(IkeAuth, CLIENT, diagram);
        (story.exchanges[auth].ike_sa, story.exchanges[auth].message_id) = (None, again);
        if esp.is_some() {
            story.pair(auth, 0x200, esp);
            story.exchanges[auth].decrypted = false;
        }
        story.of_ike(auth)
    };
    let id = 0x1000;
    let short = "11000 > 288, 11020 < 168";
    assert_eq!(begun(short, None, id), Some((Refused, None)));
    assert_eq!(
        begun("11000 > 288, 11020 < 169", None, id),
        Some((Completed, None)),
        "room for one"
    );
    assert_eq!(
        begun(short, Some((11_100, 20_000)), id),
        Some((Completed, None)),
        "it carries packets"
    );
    assert_eq!(
        begun(short, None, id + 1),
        Some((Completed, None)),
        "another message"
    );
}

/// A side that deletes all its SAs says several things at once; a Quick Mode that was out then was neither refused nor left without an answer.
#[test]
fn deletes_of_all_sas_refuse_nothing() {
    for (messages, told) in [(1, Refused), (4, Cut)] {
        let mut story = Story::new(1, 9_000, 60_000);
        let asked = story.tell(QuickMode, CLIENT, "5000 > 300");
        for n in 0..messages {
            story.tell(Informational, SERVER, &format!("{} > 76", 5_300 + n));
        }
        assert_eq!(
            story.of(asked).map(|(outcome, _)| outcome),
            Some(told),
            "{messages}"
        );
    }
}

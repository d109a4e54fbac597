//! The table: the rows in the order in which they are tried. The first one that holds explains an outage.

use crate::explain::scene::Scene;
use crate::explain::view::OutageView;
use crate::explain::{control, path, sas};
use rekeyscope_model::analysis::{Explanation, ExplanationCause};

/// A row of the table.
#[derive(Debug)]
pub struct ExplanationRow {
    /// Name of the row in catalogues and documentation.
    pub id: &'static str,
    /// The causes that it gives.
    pub causes: &'static [ExplanationCause],
    /// Needs of the row, for the documentation.
    pub needs: &'static str,
    /// The exclusions of the row, for the documentation.
    pub unless: &'static str,
    /// Whether it makes an outage of a time that is shorter than two retransmission timeouts.
    pub explains_short: bool,
    /// Whether it explains the silence of a rekey.
    pub explains_rekeys: bool,
    holds: fn(&OutageView<'_>) -> Option<Explanation>,
    excluded: fn(&OutageView<'_>, &Explanation) -> bool,
}

fn never(_: &OutageView<'_>, _: &Explanation) -> bool {
    false
}

/// All rows, in the order of the test.
pub static ROWS: [ExplanationRow; 27] = [
    ExplanationRow {
        id: "capture-hole",
        causes: &[ExplanationCause::CaptureHole],
        needs: "the capture lacks packets, or its clock was set, for half of the outage",
        unless: "",
        explains_short: false,
        explains_rekeys: false,
        holds: path::capture_hole,
        excluded: never,
    },
    ExplanationRow {
        id: "numbers-back",
        causes: &[ExplanationCause::NumbersBack],
        needs: "the ESP numbers of one SA go back to those of three earlier packets or more, which had other bytes, for half of the outage",
        unless: "",
        explains_short: true,
        explains_rekeys: true,
        holds: sas::numbers_back,
        excluded: never,
    },
    ExplanationRow {
        id: "numbers-used-up",
        causes: &[ExplanationCause::NumbersUsedUp],
        needs: "an SA of these inner addresses ended with the last of its ESP numbers (2³² − 1; 2⁶⁴ − 1 where they are extended) when data stopped",
        unless: "",
        explains_short: true,
        explains_rekeys: true,
        holds: sas::numbers_used_up,
        excluded: never,
    },
    ExplanationRow {
        id: "bad-icv",
        causes: &[ExplanationCause::BadIcv],
        needs: "three packets or more came one after the other with a wrong ICV under a key that other packets prove, and none as large came whole, for half of the outage",
        unless: "",
        explains_short: true,
        explains_rekeys: true,
        holds: sas::bad_icv,
        excluded: never,
    },
    ExplanationRow {
        id: "invalid-spi",
        causes: &[ExplanationCause::PeerLostSas],
        needs: "a peer says INVALID-SPI of an SA of these inner addresses, in the outage",
        unless: "ESP of that peer passes for half of the outage",
        explains_short: true,
        explains_rekeys: true,
        holds: control::invalid_spi,
        excluded: control::esp_passes,
    },
    ExplanationRow {
        id: "l2tp-closed",
        causes: &[ExplanationCause::L2tpClosed],
        needs: "StopCCN, CDN or an LCP Terminate-Request inside the tunnel, at most three round trips (at least 0.3 s) beside the begin",
        unless: "",
        explains_short: true,
        explains_rekeys: true,
        holds: control::l2tp_closed,
        excluded: never,
    },
    ExplanationRow {
        id: "collision",
        causes: &[ExplanationCause::Collision],
        needs: "exchanges of both sides overlap, or a notification says so, at most 6 s before; the outage is of the SA that they renew",
        unless: "it is a refusal for now (TEMPORARY_FAILURE) of the side that had just deleted the SA; or both sides went on with one pair of SAs that was made since, and no Delete came when data stopped",
        explains_short: true,
        explains_rekeys: true,
        holds: control::collision,
        excluded: control::was_settled,
    },
    ExplanationRow {
        id: "refused",
        causes: &[ExplanationCause::Refused],
        needs: "a request for an SA of these inner addresses was refused and none has been made since; a Delete lies in the outage, or it has not ended, or it begins within 3 s",
        unless: "a second request was granted at once (INVALID_KE_PAYLOAD), or it is a refusal for now of the side that had just deleted the SA",
        explains_short: true,
        explains_rekeys: true,
        holds: control::refused,
        excluded: control::granted_at_once,
    },
    ExplanationRow {
        id: "unanswered",
        causes: &[ExplanationCause::Unanswered],
        needs: "a request was not answered, its last copy at most 30 s before or in the outage, and no SA has been made since; or only the first fragments of IKE messages came; or the answer came to a later copy, after data had stopped; or checks were not answered, and a new IKE SA was begun in place of one that lives, which was answered at once; or the answer to a check came when its sender had begun a new IKE SA",
        unless: "neither ESP nor IKE comes from the side that did not answer for half of the outage, unless a copy had waited while data arrived and nothing was sent to that side since; or that side lost its SAs before it was asked; fragments of its messages are a sign of life",
        explains_short: true,
        explains_rekeys: true,
        holds: control::unanswered,
        excluded: control::not_answered_by_the_silent,
    },
    ExplanationRow {
        id: "answer-lost",
        causes: &[ExplanationCause::AnswerLost],
        needs: "the answer is in the capture, and the request came again until the outage or in it",
        unless: "neither ESP nor IKE comes from the side that asked again for half of the outage, and no copy of its request lies in it",
        explains_short: true,
        explains_rekeys: true,
        holds: control::answer_lost,
        excluded: control::asks_no_more,
    },
    ExplanationRow {
        id: "peer-restarted",
        causes: &[ExplanationCause::PeerLostSas],
        needs: "checks were not answered and then a new IKE SA began, with nothing from the peer in between; or a new IKE SA began although the old one lived, after one side alone had fallen silent, or said that no daemon listens",
        unless: "ESP of that peer passes for half of the time up to the new IKE SA; an SA was deleted before",
        explains_short: true,
        explains_rekeys: true,
        holds: control::peer_restarted,
        excluded: control::no_restart,
    },
    ExplanationRow {
        id: "deleted",
        causes: &[ExplanationCause::Deleted],
        needs: "an SA of these inner addresses, or their IKE SA, was deleted up to three round trips (at least 0.3 s) after the begin (or in the 4 s before, by the side that fell silent, or in the 6 s before a refusal for now that crossed it), and no exchange begins until the end",
        unless: "an exchange of this tunnel was answered in the 5 s before the Delete: an ordinary rekey",
        explains_short: true,
        explains_rekeys: true,
        holds: control::deleted,
        excluded: control::rekeyed_just_before,
    },
    ExplanationRow {
        id: "break-before-make",
        causes: &[ExplanationCause::BreakBeforeMake],
        needs: "the same, and an exchange begins after the Delete",
        unless: "an exchange of this tunnel was answered in the 5 s before the Delete: an ordinary rekey",
        explains_short: true,
        explains_rekeys: true,
        holds: control::break_before_make,
        excluded: control::rekeyed_just_before,
    },
    ExplanationRow {
        id: "large-packets",
        causes: &[ExplanationCause::LargePackets],
        needs: "first fragments of ESP come without the others, and small packets pass; or two echoes or small packets passed in it, and all that was lost is larger than what passed, or numbers are missing three times between what came",
        unless: "packets came behind the replay window, or an address or port changed at its begin, and fragments do not tell",
        explains_short: false,
        explains_rekeys: false,
        holds: path::large_packets,
        excluded: path::size_does_not_matter,
    },
    ExplanationRow {
        id: "new-sa-lost",
        causes: &[ExplanationCause::NewSaLost],
        needs: "half of the lost packets are of a new SA, from number 3 or lower on, for half of the outage; or acknowledgements on a new SA were not heard by a sender that had not taken it into use; or the first packets of several new SAs never came; or the new SA ends at once and nothing comes back on it",
        unless: "the capture lacks packets; only small packets pass",
        explains_short: true,
        explains_rekeys: true,
        holds: sas::new_sa_lost,
        excluded: sas::hole_in_it,
    },
    ExplanationRow {
        id: "silent-on-new-sa",
        causes: &[ExplanationCause::EspSilent],
        needs: "ESP of one side stops as a renewal ends whose SA the other side uses, and its IKE passes; nothing comes on its own new SA until a later one, for half of the outage",
        unless: "the capture lacks packets",
        explains_short: false,
        explains_rekeys: false,
        holds: sas::silent_on_the_new,
        excluded: sas::hole_in_it,
    },
    ExplanationRow {
        id: "address-changed",
        causes: &[ExplanationCause::AddressChanged],
        needs: "an address or port changed in the outage or at most 3 s before, and one side is silent for half of it or the outage begins within 3 s of the change",
        unless: "data was delivered, or three packets were lost, more than three round trips (at least 0.3 s) behind the change, and its peer does not go on to the old place",
        explains_short: true,
        explains_rekeys: true,
        holds: path::address_changed,
        excluded: never,
    },
    ExplanationRow {
        id: "deleted-early",
        causes: &[ExplanationCause::DeletedEarly],
        needs: "half of the lost packets are of the old SA and were sent around its Delete, and the silence is mostly what came after; or a rekey's silence begins with the Delete, at no common volume, swallows three packets, and packets pass on the old SA for half of it",
        unless: "a packet was lost on it more than a round trip and 50 ms before the Delete: the SA was dead already",
        explains_short: true,
        explains_rekeys: true,
        holds: sas::deleted_early,
        excluded: never,
    },
    ExplanationRow {
        id: "limit-reached",
        causes: &[ExplanationCause::LimitReached],
        needs: "data stops on its SA and comes back on another one, or not at all; and the limit that was read is reached (3 %), or two outages begin at the same volume or age (3 %), or the renewal was under way, three packets were lost, and no limit was read that is not reached",
        unless: "it is the only one, and no limit could be read",
        explains_short: true,
        explains_rekeys: true,
        holds: sas::limit_reached,
        excluded: never,
    },
    ExplanationRow {
        id: "slow-renewal",
        causes: &[ExplanationCause::SlowExchange],
        needs: "data stops on its SA and comes back on another one; its renewal was under way, and nothing shows that a limit was reached",
        unless: "neither ESP nor IKE came from the side that was asked for half of it, and packets were lost before it was asked, or ESP came on the old SA then",
        explains_short: true,
        explains_rekeys: true,
        holds: sas::slow_renewal,
        excluded: sas::way_was_closed,
    },
    ExplanationRow {
        id: "slow-exchange",
        causes: &[ExplanationCause::SlowExchange],
        needs: "an exchange that lies in it fills half of it, and the way came back with the SA that it made, or, of a rekey, when it was done",
        unless: "neither ESP nor IKE came from the side that was asked for half of it, and packets were lost before it was asked, or ESP came on the old SA then",
        explains_short: false,
        explains_rekeys: true,
        holds: sas::slow_exchange,
        excluded: sas::way_was_closed,
    },
    ExplanationRow {
        id: "replay-window",
        causes: &[ExplanationCause::ReplayWindow],
        needs: "half of what was lost came behind a number higher by 32 or more",
        unless: "acknowledgements advance: then it is no outage",
        explains_short: false,
        explains_rekeys: true,
        holds: sas::replay_window,
        excluded: never,
    },
    ExplanationRow {
        id: "silent",
        causes: &[ExplanationCause::PeerSilent, ExplanationCause::PathSilent],
        needs: "neither ESP nor IKE came from one side, or from both, for half of it",
        unless: "small packets pass",
        explains_short: false,
        explains_rekeys: false,
        holds: path::silent,
        excluded: never,
    },
    ExplanationRow {
        id: "unheard",
        causes: &[ExplanationCause::Unheard],
        needs: "three acknowledgements in the capture were not heard, or a check was answered in the capture and came again",
        unless: "",
        explains_short: false,
        explains_rekeys: false,
        holds: path::unheard,
        excluded: never,
    },
    ExplanationRow {
        id: "esp-silent",
        causes: &[ExplanationCause::EspSilent],
        needs: "no ESP came from one side for half of it, and its IKE did; the sender has lost fewer than three packets that the capture shows",
        unless: "",
        explains_short: false,
        explains_rekeys: false,
        holds: path::esp_silent,
        excluded: never,
    },
    ExplanationRow {
        id: "connection-dead",
        causes: &[ExplanationCause::ConnectionDead],
        needs: "TCP sends packets again and again in vain, of which one is no larger than what passes, and three echoes between the same hosts are answered in it",
        unless: "",
        explains_short: false,
        explains_rekeys: false,
        holds: path::connection_dead,
        excluded: never,
    },
    ExplanationRow {
        id: "unexplained",
        causes: &[ExplanationCause::Unexplained],
        needs: "nothing of these holds",
        unless: "the transfer was over, and nothing was lost",
        explains_short: false,
        explains_rekeys: false,
        holds: path::unexplained,
        excluded: never,
    },
];

/// Explanations, one for each outage of a scene; `None` where there is no outage: nothing explains a short one, and a transfer was over.
pub fn explain(scene: &Scene) -> Vec<Option<Explanation>> {
    let first_that_holds = |view: &OutageView<'_>| {
        let rows = ROWS.iter().filter(|row| match view.outage.of_rekey {
            true => row.explains_rekeys,
            false => row.explains_short || !view.outage.short,
        });
        rows.filter_map(|row| (row.holds)(view).filter(|explanation| !(row.excluded)(view, explanation)))
            .next()
    };
    let views = scene.outages.iter().map(|outage| OutageView { scene, outage });
    views.map(|view| first_that_holds(&view)).collect()
}

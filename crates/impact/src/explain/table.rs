//! The table: the rows in the order in which they are tried. The first one that holds explains an outage or the silence of a rekey; what the
//! program knows of a cause beside its sentences stands here, in its row.

use crate::explain::scene::Scene;
use crate::explain::view::OutageView;
use crate::explain::{control, path, sas};
use rekeyscope_model::analysis::{Explanation, ExplanationCause};

/// A row of the table.
#[derive(Debug)]
pub struct ExplanationRow {
    /// The cause that the row gives: its name in the document, in the catalogues (`outage-…`, `explains-…`, `cure-…`) and in the documentation.
    pub cause: ExplanationCause,
    /// Needs of the row, for the documentation.
    pub needs: &'static str,
    /// The exclusions of the row, for the documentation.
    pub unless: &'static str,
    /// Whether it makes an outage of a time that is shorter than two retransmission timeouts.
    pub explains_short: bool,
    /// Whether it explains the silence of a rekey.
    pub explains_rekeys: bool,
    /// The moment at which it happened.
    pub moment: Moment,
    /// The condition under which such an outage is a cost of a renewal, and no failure.
    pub cost_of_renewal: CostOfRenewal,
    /// Small packets passed meanwhile.
    pub lets_small_pass: bool,
    /// No renewal brings it about, unless it begins at one.
    pub apart_from_rekeys: bool,
    /// Each renewal costs this as it is, so fewer cost less. Whatever else explains a cost is a fault of its own.
    pub at_each_renewal: bool,
    holds: Test,
    excluded: fn(&OutageView<'_>, &Explanation) -> bool,
}

/// The question whether a row holds for an outage; the answer is its evidence.
type Test = fn(&OutageView<'_>) -> Option<Explanation>;

/// The moment of a cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// The last delivery.
    Outage,
    /// The event.
    Event,
    /// The event, which may lie far before: the old SA still carried data after it.
    Request,
    /// The begin of the exchange.
    Exchange,
}

/// Times at which an outage is a cost of a renewal that succeeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CostOfRenewal {
    /// The cause lies in the messages or SAs of a renewal.
    Always,
    /// Somebody asked for the new SA as soon as the old one had ended.
    WhenAskedInTime,
    /// One lost message delayed the renewal.
    WhenSoonAnswered,
    /// The outage begins at a renewal: only silence shows.
    WhenItBeginsThere,
    /// Never.
    Never,
}

/// A row that explains neither short outages nor rekeys, and that nothing excludes.
const fn row(cause: ExplanationCause, holds: Test) -> ExplanationRow {
    ExplanationRow {
        cause,
        needs: "",
        unless: "",
        explains_short: false,
        explains_rekeys: false,
        moment: Moment::Outage,
        cost_of_renewal: CostOfRenewal::Never,
        lets_small_pass: false,
        apart_from_rekeys: false,
        at_each_renewal: false,
        holds,
        excluded: never,
    }
}

/// A row that explains short outages and rekeys, too.
const fn row_of_all(cause: ExplanationCause, holds: Test) -> ExplanationRow {
    ExplanationRow {
        explains_short: true,
        explains_rekeys: true,
        ..row(cause, holds)
    }
}

/// Exclusion of a Delete that follows a renewal.
const MADE_BEFORE: &str = "an exchange of this tunnel was answered in the 5 s before the Delete: an ordinary rekey; or the packets of a new SA that it had made were lost until the Delete; or one SA had stopped for half of it before the Delete";

/// Exclusion of a peer that could not answer.
const SILENT_THEN: &str = "neither ESP nor IKE comes from the side that did not answer for half of the outage, unless a copy had waited while data arrived and nothing was sent to that side since; or that side lost its SAs before it was asked";

fn never(_: &OutageView<'_>, _: &Explanation) -> bool {
    false
}

/// All rows, in the order of the test. Rows of one way to look stand side by side: what it finds says which of them holds.
pub static ROWS: [ExplanationRow; 41] = [
    ExplanationRow {
        needs: "the capture lacks packets, or its clock was set, for half of the outage",
        ..row(ExplanationCause::CaptureHole, path::capture_hole)
    },
    ExplanationRow {
        needs: "the ESP numbers of one SA go back to those of three earlier packets or more, which had other bytes, or below those that the capture begins with, for half of the outage",
        apart_from_rekeys: true,
        ..row_of_all(ExplanationCause::NumbersBack, sas::numbers_back)
    },
    ExplanationRow {
        needs: "an SA of these inner addresses ended with the last of its ESP numbers (2³² − 1; 2⁶⁴ − 1 where they are extended) when data stopped",
        ..row_of_all(ExplanationCause::NumbersUsedUp, sas::numbers_used_up)
    },
    ExplanationRow {
        needs: "three packets or more came one after the other with a wrong ICV under a key that other packets prove, and none as large came whole, for half of the outage",
        lets_small_pass: true,
        apart_from_rekeys: true,
        ..row_of_all(ExplanationCause::BadIcv, sas::bad_icv)
    },
    ExplanationRow {
        needs: "a peer says INVALID-SPI of an SA of these inner addresses, in the outage",
        unless: "ESP of that peer passes for half of the outage",
        excluded: control::esp_passes,
        ..row_of_all(ExplanationCause::InvalidSpi, control::invalid_spi)
    },
    ExplanationRow {
        needs: "two echoes of the sender were answered in it, or small segments acknowledged, or its sender cut what was lost and that passed; and all that was lost again and again is larger than what ever passed, up to the end; or of the answer to a request that was acknowledged only missing numbers show anything, as a timer leaves them that doubles, and no segment as large ever came",
        unless: "packets came behind the replay window, or an address or port changed at its begin",
        excluded: path::size_does_not_matter,
        lets_small_pass: true,
        apart_from_rekeys: true,
        ..row(ExplanationCause::LargeNeverPassed, path::large_packets)
    },
    ExplanationRow {
        needs: "StopCCN, CDN or an LCP Terminate-Request inside the tunnel, at most three round trips (at least 0.3 s) beside the begin; the reason is known where the other side answered no Hello or LCP echo before, though data was delivered",
        apart_from_rekeys: true,
        ..row_of_all(ExplanationCause::L2tpClosed, control::l2tp_closed)
    },
    ExplanationRow {
        needs: "exchanges of both sides overlap, or a notification says so, at most 6 s before; the outage is of the SA that they renew",
        unless: "it is a refusal for now (TEMPORARY_FAILURE) of the side that had just deleted the SA; or both sides went on with one pair of SAs that was made since, and no Delete came when data stopped; or an end had moved before, at the begin",
        moment: Moment::Request,
        excluded: control::did_no_harm,
        ..row_of_all(ExplanationCause::Collision, control::collision)
    },
    ExplanationRow {
        needs: "a request for an SA of these inner addresses was refused and none has been made since; a Delete lies in the outage, or it has not ended, or it begins within 3 s",
        unless: "a second request was granted at once (INVALID_KE_PAYLOAD), or it is a refusal for now of the side that had just deleted the SA",
        moment: Moment::Request,
        excluded: control::granted_at_once,
        ..row_of_all(ExplanationCause::Refused, control::refused)
    },
    ExplanationRow {
        needs: "a request was not answered, its last copy in the outage, or at most 30 s before or as long as its sender waits (three copies or more), and no SA has been made since",
        unless: SILENT_THEN,
        moment: Moment::Request,
        excluded: control::not_answered_by_the_silent,
        ..row_of_all(ExplanationCause::Unanswered, control::unanswered)
    },
    ExplanationRow {
        needs: "only fragments of a large IKE message came, at most 30 s before or in the outage, nothing answered it, and no SA has been made since",
        moment: Moment::Request,
        ..row_of_all(ExplanationCause::IkeFragments, control::unanswered)
    },
    ExplanationRow {
        needs: "the answer came to a later copy of the request, after data had stopped, and the request was not for a new IKE SA in place of one that lives",
        unless: SILENT_THEN,
        moment: Moment::Request,
        cost_of_renewal: CostOfRenewal::WhenSoonAnswered,
        excluded: control::not_answered_by_the_silent,
        ..row_of_all(ExplanationCause::AnsweredLate, control::unanswered)
    },
    ExplanationRow {
        needs: "checks were not answered, and a new IKE SA was begun in place of one that lives, which was answered at once; or their sender fell silent a wait after the last of them, and the peer came back on an SA that it had before",
        unless: SILENT_THEN,
        moment: Moment::Request,
        cost_of_renewal: CostOfRenewal::WhenSoonAnswered,
        excluded: control::not_answered_by_the_silent,
        ..row_of_all(ExplanationCause::GivenUp, control::unanswered)
    },
    ExplanationRow {
        needs: "the answer to a check came when its sender had begun a new IKE SA; or its sender deleted an SA a wait after checks without an answer, and ESP of the peer came behind the last of them",
        moment: Moment::Request,
        apart_from_rekeys: true,
        ..row_of_all(ExplanationCause::GivenUpTooSoon, control::unanswered)
    },
    ExplanationRow {
        needs: "the answer is in the capture, and the request came again until the outage or in it",
        unless: "neither ESP nor IKE comes from the side that asked again for half of the outage, and no copy of its request lies in it",
        moment: Moment::Request,
        cost_of_renewal: CostOfRenewal::Always,
        excluded: control::asks_no_more,
        ..row_of_all(ExplanationCause::AnswerLost, control::answer_lost)
    },
    ExplanationRow {
        needs: "ESP of one side stops for half of it, at most three round trips (at least 0.3 s) beside its first packet on a new SA of another tunnel, and in an outage of that one beside its first packet on a new SA of this one; or SAs of two inner networks end each other by turns (A, B, A, B) while it begins",
        unless: "the other side fell silent as well: it went elsewhere",
        ..row(ExplanationCause::ByTurns, sas::by_turns)
    },
    ExplanationRow {
        needs: "one direction of an inner connection comes through another tunnel for half of it, and the other direction goes on in this one, TCP resets in that one aside; or, where no key shows connections, ESP of one side stops as it begins in another tunnel between the same addresses, or in one towards the same receiver that answers nothing there, and the other side goes on here, at half of its rate at most",
        unless: "both directions went over: another tunnel took the place of this one",
        moment: Moment::Event,
        apart_from_rekeys: true,
        ..row(ExplanationCause::OtherTunnel, sas::other_tunnel)
    },
    ExplanationRow {
        needs: "checks were not answered and then a new IKE SA began, with nothing from the peer in between; or a new IKE SA began although the old one lived, after one side alone had fallen silent, or said that no daemon listens",
        unless: "ESP of that peer passes for half of the time up to the new IKE SA; an SA was deleted before",
        excluded: control::no_restart,
        ..row_of_all(ExplanationCause::PeerRestarted, control::peer_restarted)
    },
    ExplanationRow {
        needs: "ESP goes on, for half of it, upon an SA that its receiver deleted more than 5 s before its last packet, or left by an unread Delete or for an older SA that had rested since, and the receiver sends on another one; or half of the lost packets are of an SA on whose pair nothing comes back for more than 5 s while the receiver sends on an older one alone, or has sent on a newer one for as long when the last of them comes; or no host of that SA was ever answered, ESP of the receiver goes on for others, and the next SA brings answers within a second; or half of the lost packets went in an SA that carries those of another host, and the receiver sends to each of the two on an SA of its own",
        unless: "the SA began as the receiver's own one ended: the two may be of two pairs",
        moment: Moment::Event,
        ..row_of_all(ExplanationCause::OneSided, sas::one_sided)
    },
    ExplanationRow {
        needs: "an SA of these inner addresses, or their IKE SA, was deleted up to three round trips (at least 0.3 s) after the begin (or in the 4 s before, by the side that fell silent, or in the 6 s before a refusal for now that crossed it), or the tunnel had no IKE SA after it for half of the outage, in which the peer was still heard behind it, and no exchange begins until the end",
        unless: MADE_BEFORE,
        moment: Moment::Event,
        excluded: control::made_just_before,
        ..row_of_all(ExplanationCause::Deleted, control::deleted)
    },
    ExplanationRow {
        needs: "the same, and an exchange begins after the Delete; with either row the reason is known where no ping of the end that deletes to the other one, inside the tunnel, was ever answered, though data passed",
        unless: MADE_BEFORE,
        moment: Moment::Event,
        excluded: control::made_just_before,
        ..row_of_all(ExplanationCause::BreakBeforeMake, control::break_before_make)
    },
    ExplanationRow {
        needs: "datagrams between two inner addresses end both ways as a new SA replaces theirs; it carries others, and never these",
        ..row(ExplanationCause::LeftOut, sas::left_out)
    },
    ExplanationRow {
        needs: "first fragments of ESP come without the others, and small packets pass",
        lets_small_pass: true,
        apart_from_rekeys: true,
        ..row(ExplanationCause::FirstFragments, path::large_packets)
    },
    ExplanationRow {
        needs: "a router says by ICMP, at its begin and later again, which size passes, and ESP of both sides goes on; or it says so inside the tunnel, to the host that sends",
        lets_small_pass: true,
        apart_from_rekeys: true,
        ..row(ExplanationCause::TooBig, path::too_big)
    },
    ExplanationRow {
        needs: "two echoes of the sender were answered in it, or small packets acknowledged, and all that was lost is larger than what passed, or numbers are missing three times between what came",
        unless: "packets came behind the replay window, or an address or port changed at its begin, or data passed again on the same SA and its sender had not cut it: nothing had changed the sizes",
        excluded: path::size_does_not_matter,
        lets_small_pass: true,
        ..row(ExplanationCause::LargePackets, path::large_packets)
    },
    ExplanationRow {
        needs: "half of the lost packets are of a new SA, from number 3 or lower on, for half of the outage; or acknowledgements on a new SA were not heard by a sender that had not taken it into use; or the new SA ends at once and nothing comes back on it",
        unless: "three packets were lost on an older SA, or acknowledgements unheard, more than 5 s before the request for the new one; the next SA carried packets for a second before anything arrived; the capture lacks packets; only small packets pass",
        cost_of_renewal: CostOfRenewal::Always,
        at_each_renewal: true,
        excluded: sas::hole_in_it,
        ..row_of_all(ExplanationCause::NewSaLost, sas::new_sa_lost)
    },
    ExplanationRow {
        needs: "the first packets of several new SAs never came to the capture",
        unless: "the capture lacks packets; only small packets pass",
        cost_of_renewal: CostOfRenewal::Always,
        at_each_renewal: true,
        excluded: sas::hole_in_it,
        ..row_of_all(ExplanationCause::FirstNumber, sas::new_sa_lost)
    },
    ExplanationRow {
        needs: "ESP of one side stops as a renewal ends whose SA the other side uses, and its IKE passes; nothing comes on its own new SA until a later one, for half of the outage",
        unless: "the capture lacks packets",
        cost_of_renewal: CostOfRenewal::WhenItBeginsThere,
        excluded: sas::hole_in_it,
        ..row(ExplanationCause::SilentOnNewSa, sas::silent_on_the_new)
    },
    ExplanationRow {
        needs: "one end sends its first packets of ESP or of IKE, and all that follow, from another address than the one that its peer sends to, and nothing was delivered since",
        unless: "its peer follows it there: it had moved",
        moment: Moment::Request,
        apart_from_rekeys: true,
        ..row_of_all(ExplanationCause::AnsweredElsewhere, path::answered_elsewhere)
    },
    ExplanationRow {
        needs: "an address or port changed in the outage or at most 3 s before, and one side is silent for half of it or the outage begins within 3 s of the change",
        unless: "data was delivered, or three packets were lost, more than three round trips (at least 0.3 s) behind the change, and its peer does not go on to the old place",
        moment: Moment::Event,
        apart_from_rekeys: true,
        ..row_of_all(ExplanationCause::AddressChanged, path::address_changed)
    },
    ExplanationRow {
        needs: "half of the lost packets are of the old SA and were sent around its Delete, and the silence is mostly what came after; or a rekey's silence begins with the Delete, at no common volume, swallows three packets, and packets pass on the old SA for half of it; or three packets that went on upon the old SA behind its renewal are lost, and none before, while its receiver sends on the new one, and no limit that was read is reached",
        unless: "a packet was lost on it more than a round trip and 50 ms before the Delete: the SA was dead already",
        moment: Moment::Event,
        cost_of_renewal: CostOfRenewal::Always,
        ..row_of_all(ExplanationCause::DeletedEarly, sas::deleted_early)
    },
    ExplanationRow {
        needs: "data stops on its SA and comes back on another one, or not at all; and the limit that was read is reached (3 %), or two outages begin at the same volume or age (3 %), or the renewal was under way, three packets were lost, and no limit was read that is not reached",
        unless: "it is the only one, and no limit could be read",
        cost_of_renewal: CostOfRenewal::WhenAskedInTime,
        at_each_renewal: true,
        ..row_of_all(ExplanationCause::LimitReached, sas::limit_reached)
    },
    ExplanationRow {
        needs: "data stops on its SA and comes back on another one; its renewal was under way, and nothing shows that a limit was reached",
        unless: "neither ESP nor IKE came from the side that was asked for half of it, and packets were lost before it was asked, or ESP came on the old SA then",
        moment: Moment::Exchange,
        cost_of_renewal: CostOfRenewal::Always,
        at_each_renewal: true,
        excluded: sas::way_was_closed,
        ..row_of_all(ExplanationCause::SlowRenewal, sas::slow_renewal)
    },
    ExplanationRow {
        needs: "an exchange that lies in it fills half of it, and the way came back with the SA that it made, or, of a rekey, when it was done",
        unless: "neither ESP nor IKE came from the side that was asked for half of it, and packets were lost before it was asked, or ESP came on the old SA then",
        explains_rekeys: true,
        moment: Moment::Exchange,
        cost_of_renewal: CostOfRenewal::Always,
        at_each_renewal: true,
        excluded: sas::way_was_closed,
        ..row(ExplanationCause::SlowExchange, sas::slow_exchange)
    },
    ExplanationRow {
        needs: "half of what was lost came behind a number higher by 32 or more",
        unless: "acknowledgements advance: then it is no outage",
        explains_rekeys: true,
        at_each_renewal: true,
        apart_from_rekeys: true,
        ..row(ExplanationCause::ReplayWindow, sas::replay_window)
    },
    ExplanationRow {
        needs: "neither ESP nor IKE came from both sides for half of it",
        unless: "small packets pass",
        cost_of_renewal: CostOfRenewal::WhenItBeginsThere,
        apart_from_rekeys: true,
        ..row(ExplanationCause::PathSilent, path::silent)
    },
    ExplanationRow {
        needs: "neither ESP nor IKE came from one side for half of it",
        unless: "small packets pass; or IKE of that side came before that silence and behind it while its ESP stayed away, no SA was made but by a request that was answered at once, and nothing that was asked of it meanwhile went unanswered",
        cost_of_renewal: CostOfRenewal::WhenItBeginsThere,
        apart_from_rekeys: true,
        ..row(ExplanationCause::PeerSilent, path::silent)
    },
    ExplanationRow {
        needs: "three acknowledgements in the capture were not heard, in it or in an outage of the other direction that fills half of it, or a check was answered in the capture and came again",
        cost_of_renewal: CostOfRenewal::WhenItBeginsThere,
        apart_from_rekeys: true,
        ..row(ExplanationCause::Unheard, path::unheard)
    },
    ExplanationRow {
        needs: "no ESP came from one side for half of it (or, until a renewal brought some at once, since the capture began), and its IKE did, or answered all that was asked; the sender has lost fewer than three packets that the capture shows; or one SA of a side stops for more than 5 s in the midst of its packets, while its peer sends on the SA of the way back, its other SAs go on, and no new one takes over, until the next one brings packets at once, or keys show what is not answered",
        moment: Moment::Event,
        cost_of_renewal: CostOfRenewal::WhenItBeginsThere,
        ..row(ExplanationCause::EspSilent, path::esp_silent)
    },
    ExplanationRow {
        needs: "TCP sends packets again and again in vain, of which one is no larger than what passes, and three echoes between the same hosts are answered in it",
        apart_from_rekeys: true,
        ..row(ExplanationCause::ConnectionDead, path::connection_dead)
    },
    ExplanationRow {
        needs: "nothing of these holds",
        unless: "the transfer was over, and nothing was lost",
        cost_of_renewal: CostOfRenewal::WhenItBeginsThere,
        ..row(ExplanationCause::Unexplained, path::unexplained)
    },
];

/// The row of a cause.
pub fn row_of(cause: ExplanationCause) -> &'static ExplanationRow {
    static NONE: ExplanationRow = row(ExplanationCause::Unexplained, |_| None);
    ROWS.iter().find(|row| row.cause == cause).unwrap_or(&NONE)
}

/// Explanations, one for each outage of a scene; `None` where there is no outage: nothing explains a short one, a transfer was over, or a side
/// had nothing to send.
pub fn explain(scene: &Scene) -> Vec<Option<Explanation>> {
    let first_that_holds = |view: &OutageView<'_>| {
        let rows = ROWS.iter().filter(|row| match view.outage.of_rekey {
            true => row.explains_rekeys,
            false => row.explains_short || !view.outage.short,
        });
        let holds = |row: &ExplanationRow| {
            let found = (row.holds)(view).filter(|found| found.cause == row.cause)?;
            (!(row.excluded)(view, &found)).then(|| view.with_frames(found))
        };
        rows.filter_map(holds).next()
    };
    let views = scene.outages.iter().map(|outage| OutageView { scene, outage });
    let explained = |view: OutageView<'_>| match path::receiver_rests(&view) {
        true => None,
        false => first_that_holds(&view),
    };
    views.map(explained).collect()
}

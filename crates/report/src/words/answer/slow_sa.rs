//! The three lines where one SA is slower than its neighbours.

use crate::words::answer::Answer;
use crate::words::ends::{side, upload_or_download};
use crate::words::focus::Focus;
use crate::words::format;
use crate::words::lengths::moment;
use rekeyscope_impact::explain::ToldSlowSa;
use rekeyscope_impact::tell::account::amount_alone;
use rekeyscope_model::analysis::Impact;

/// The answer where a transfer was slow on one SA alone.
pub(super) fn of_slow_sa(focus: &Focus, told: &ToldSlowSa<'_>, headline: &Impact) -> Option<Answer> {
    let t = focus.t;
    let tunnel = focus.analysis.tunnels.get(headline.tunnel)?;
    let direction = headline.direction;
    let (sender, receiver) = direction.pick((tunnel.a, tunnel.b), (tunnel.b, tunnel.a));
    let busy = told
        .behind_capture
        .map(|behind| if behind { receiver } else { sender });
    let spi = direction.pick(&told.rekey.new.a_to_b, &told.rekey.new.b_to_a);
    let [own, other] = told.rates_bps.map(format::rate);
    let [from, to] = [told.span.0, told.span.1].map(|time| moment(focus, time));
    let [delay, usual] = told.delays_ms.unwrap_or_default().map(format::duration_ms);
    Some(Answer {
        headline: fill!(t, "slow-sa-line", from, to, own, other),
        why: fill!(
            t,
            "slow-sa-why",
            spi = spi.map(|spi| spi.to_string()).unwrap_or_default(),
            delays = format::yes(told.delays_ms.is_some()),
            delay,
            usual,
            direction = upload_or_download(t, direction),
            lost = amount_alone(told.lost_seconds)
        ),
        change: fill!(t, "do-slow-sa", who = side(t, Some(tunnel), busy)),
    })
}

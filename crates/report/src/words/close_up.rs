//! The packets around a rekey, in words.

use crate::words::account::frames_filter;
use crate::words::format;
use rekeyscope_model::analysis::{CloseUp, CloseUpNumbers};
use rekeyscope_model::text::Catalogue;

/// In a sentence or two: how one SA follows the other, and what was lost.
pub(crate) fn close_up(t: &Catalogue, shown: &CloseUp) -> String {
    let mut sentences = vec![switch(t, shown)];
    if shown.numbers == CloseUpNumbers::TcpBytes {
        sentences.push(lost(t, &shown.lost_frames));
    }
    if shown.left_out > 0 {
        sentences.push(format::counted(t, "close-up-left-out", shown.left_out));
    }
    t.sentences(&sentences)
}

fn switch(t: &Catalogue, shown: &CloseUp) -> String {
    match (&shown.last_on_old, &shown.first_on_new) {
        (Some(last), Some(first)) => {
            let (id, ms) = match first.ms >= last.ms {
                true => ("close-up-gap", first.ms - last.ms),
                false => ("close-up-overlap", last.ms - first.ms),
            };
            fill!(
                t,
                id,
                last = last.frame,
                first = first.frame,
                time = format::duration_ms(ms)
            )
        }
        (None, Some(first)) => fill!(t, "close-up-first", first = first.frame),
        (Some(last), None) => fill!(t, "close-up-last", last = last.frame),
        (None, None) => t.word("close-up-neither"),
    }
}

fn lost(t: &Catalogue, frames: &[u64]) -> String {
    match (frames.iter().min(), frames.iter().max()) {
        (Some(first), Some(last)) if first < last => fill!(t, "close-up-lost", n = frames.len(), first, last),
        (Some(one), _) => fill!(t, "close-up-lost-one", frame = one),
        _ => t.word("close-up-none-lost"),
    }
}

/// Shows all packets between the ends in Wireshark.
pub(crate) fn close_up_filter(shown: &CloseUp) -> String {
    let data = shown.series.iter().flat_map(|s| &s.frames);
    let ike = shown.ike.iter().map(|m| &m.frame);
    let switch = [&shown.last_on_old, &shown.first_on_new].into_iter().flatten();
    let all = data.chain(ike).chain(switch.map(|packet| &packet.frame));
    match (all.clone().min(), all.max()) {
        (Some(first), Some(last)) => frames_filter(*first, *last),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::analysis::CloseUpPacket;
    use rekeyscope_model::text::Language;
    use rekeyscope_testkit::example;

    fn said(change: impl FnOnce(&mut CloseUp)) -> String {
        let mut shown = example::seven_rekeys().rekeys.remove(1).close_up.unwrap();
        (shown.left_out, shown.lost_frames) = (0, vec![7, 9, 8]);
        let packet = |ms, frame| Some(CloseUpPacket { ms, frame });
        (shown.last_on_old, shown.first_on_new) = (packet(10.0, 100), packet(386.0, 101));
        change(&mut shown);
        close_up(Catalogue::of(Language::English), &shown)
    }

    #[test]
    fn one_sa_follows_the_other_in_one_of_five_ways() {
        let lost = "3 of the segments drawn are sent again later, presumably lost: frame 7 is the first of them, frame 9 the last.";
        assert_eq!(
            said(|_| ()),
            format!(
                "The last packet on the old SA is frame 100; the first one on the new SA, frame 101, comes 376 ms later. {lost}"
            )
        );
        assert_eq!(
            said(|shown| std::mem::swap(&mut shown.last_on_old, &mut shown.first_on_new)),
            format!(
                "The first packet on the new SA is frame 100; the old SA carries packets for another 376 ms, up to frame 101. {lost}"
            )
        );
        let begins = |text: String, with: &str| assert!(text.starts_with(with), "{text}");
        begins(
            said(|shown| shown.last_on_old = None),
            "The first packet on the new SA is frame 101.",
        );
        begins(
            said(|shown| shown.first_on_new = None),
            "The last packet on the old SA is frame 100.",
        );
        let neither = |shown: &mut CloseUp| (shown.last_on_old, shown.first_on_new) = (None, None);
        begins(said(neither), "Neither");
    }

    #[test]
    fn what_was_lost_is_said_of_tcp_alone() {
        let ends = |text: String, with: &str| assert!(text.ends_with(with), "{text}");
        ends(
            said(|shown| shown.lost_frames.clear()),
            "None of the segments drawn is sent again later.",
        );
        ends(
            said(|shown| shown.lost_frames = vec![5]),
            "presumably lost: frame 5.",
        );
        ends(
            said(|shown| shown.numbers = CloseUpNumbers::EspPackets),
            "comes 376 ms later.",
        );
        ends(
            said(|shown| shown.left_out = 1),
            "1 packet in between is not drawn.",
        );
        ends(
            said(|shown| shown.left_out = 2_345),
            "2,345 packets in between are not drawn.",
        );
    }
}

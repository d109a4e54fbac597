use super::*;
use rekeyscope_model::analysis::{Analysis, CloseUp, Direction};
use rekeyscope_model::text::Language;
use rekeyscope_testkit::example;

const CROSS: &str = "l12 12m0 -12l-12 12";
const TRIANGLE: &str = "l7 -12l7 12z";

fn plots(analysis: &Analysis, language: Language) -> Vec<Plot> {
    draw(&Focus::new(analysis, language), 0, 24)
}

fn shown(rekey: &Rekey) -> &CloseUp {
    rekey.close_up.as_ref().unwrap()
}

/// The first and the last frame of every place in a plot that can be pointed at.
fn picked(svg: &str) -> Vec<(u64, u64)> {
    let places = svg.split("data-frames=\"").skip(1);
    let frames = places.map(|rest| {
        let (first, last) = rest.split('"').next().unwrap().split_once(' ').unwrap();
        (first.parse().unwrap(), last.parse().unwrap())
    });
    frames.collect()
}

#[test]
fn every_rekey_with_packets_has_a_plot_with_its_marks() {
    let document = example::seven_rekeys();
    let all = plots(&document, Language::English);
    assert_eq!(all.len(), 7);
    for (plot, rekey) in all.iter().zip(&document.rekeys) {
        let svg = plot.inline();
        let (lost, repeated) = (shown(rekey).lost_frames.len(), shown(rekey).repeated_frames.len());
        // One more stands in the legend.
        let marks = |n: usize| if n > 0 { n + 1 } else { 0 };
        assert_eq!(svg.matches(CROSS).count(), marks(lost), "{}", plot.name);
        assert_eq!(svg.matches(TRIANGLE).count(), marks(repeated), "{}", plot.name);
        let frame = shown(rekey).first_on_new.as_ref().unwrap().frame;
        assert!(svg.contains(&format!("first packet on the new SA: frame {frame}")));
        assert!(svg.contains("Quick Mode 1"), "a name for the first message");
        assert!(svg.len() < 60_000, "{}: {}", plot.name, svg.len());
    }
    assert_eq!(
        document
            .rekeys
            .iter()
            .filter(|r| !shown(r).lost_frames.is_empty())
            .count(),
        2
    );
}

#[test]
fn every_packet_is_named_where_it_is_drawn() {
    let document = example::seven_rekeys();
    for (plot, rekey) in plots(&document, Language::English).iter().zip(&document.rekeys) {
        let picked = picked(&plot.inline());
        let packets = shown(rekey).series.iter().flat_map(|s| &s.frames);
        for frame in packets.chain(shown(rekey).ike.iter().map(|m| &m.frame)) {
            let named = picked.iter().any(|(from, to)| (from..=to).contains(&frame));
            assert!(named, "{}: frame {frame}", plot.name);
        }
    }
}

#[test]
fn without_keys_there_is_no_acknowledgement() {
    let document = example::build(&example::Shape {
        keys: false,
        ..Default::default()
    });
    for plot in plots(&document, Language::English) {
        let svg = plot.inline();
        assert!(svg.contains("ESP sequence numbers") && svg.contains("the other direction"));
        assert!(!svg.contains("acknowledged") && !svg.contains("window"));
    }
}

#[test]
fn a_plot_in_japanese_has_its_words() {
    let all = plots(&example::seven_rekeys(), Language::Japanese);
    assert!(all[1].standalone().contains("旧 SA の最後のパケット"));
}

/// A document is only a file: columns need not be as long as each other, and numbers may be anything.
#[test]
fn strange_numbers_do_no_harm() {
    let mut document = example::seven_rekeys();
    let all = document.rekeys.iter_mut().filter_map(|r| r.close_up.as_mut());
    for (n, shown) in all.enumerate() {
        match n {
            0 => (shown.from_ms, shown.to_ms) = (f64::MIN, f64::MAX),
            1 => (shown.from_ms, shown.to_ms) = (5.0, 5.0),
            2 => shown.series.clear(),
            3 => shown.series[0].values[..2].copy_from_slice(&[i64::MIN, i64::MAX]),
            4 => shown.series.iter_mut().for_each(|s| s.frames.truncate(3)),
            5 => shown
                .series
                .iter_mut()
                .for_each(|s| s.values = vec![7; s.ms.len()]),
            _ => {
                shown.ike[0].exchange = 99;
                shown.ike[0].message = usize::MAX;
                shown.series[0].direction = Direction::AToB;
            }
        }
    }
    let all = plots(&document, Language::English);
    let names: Vec<&str> = all.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["close-up-4", "close-up-5", "close-up-6", "close-up-7"]);
    for plot in all {
        let svg = plot.inline();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}", plot.name);
    }
}

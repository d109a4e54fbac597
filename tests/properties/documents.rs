//! Documents: saved, read and saved again; what stands in them.

use proptest::prelude::*;
use rekeyscope_model::analysis::Analysis;
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::text::Language;
use rekeyscope_model::time::Timestamp;
use rekeyscope_report::formats::{csv, html, markdown};
use rekeyscope_testkit::example::{Shape, build};

/// Tunnels, rekeys and seconds; how many rekeys stall; with keys; with traffic.
type Choice = ((usize, usize, f64), usize, bool, bool);

fn choice() -> impl Strategy<Value = Choice> {
    let size = (1_usize..3, 0_usize..20, 1.0..500.0_f64);
    (size, 0_usize..4, any::<bool>(), any::<bool>())
}

fn document(((tunnels, rekeys, seconds), hurt_every, keys, traffic): Choice) -> Analysis {
    build(&Shape {
        tunnels,
        rekeys,
        seconds,
        bin_ms: 10.0 * (1.0 + (seconds / 100.0).floor()),
        hurt_every,
        keys,
        traffic,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn saved_and_read_it_is_the_same(choice in choice()) {
        let saved = serde_json::to_string(&document(choice)).unwrap();
        let read: Analysis = serde_json::from_str(&saved).unwrap();
        prop_assert_eq!(serde_json::to_string(&read).unwrap(), saved);
    }

    #[test]
    fn reports_of_the_saved_one_are_the_same(choice in choice(), japanese: bool) {
        let language = Language::ALL[usize::from(japanese)];
        let made = document(choice);
        let read: Analysis = serde_json::from_slice(&serde_json::to_vec(&made).unwrap()).unwrap();
        prop_assert!(html::render(&made, language) == html::render(&read, language));
        prop_assert!(markdown::render(&made, language) == markdown::render(&read, language));
        prop_assert!(csv::render(&made) == csv::render(&read));
    }

    #[test]
    fn every_moment_survives(nanos: i64) {
        let saved = serde_json::to_string(&Timestamp(nanos)).unwrap();
        prop_assert_eq!(serde_json::from_str::<Timestamp>(&saved).unwrap(), Timestamp(nanos));
    }

    #[test]
    fn a_secret_tells_its_length_only(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let len = bytes.len();
        prop_assert_eq!(format!("{:#?}", SecretBytes::new(bytes)), format!("<{len} secret bytes>"));
    }
}

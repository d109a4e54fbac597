use super::*;
use rekeyscope_model::analysis::Direction;

/// A **synthetic** row: a transfer of 20 GB at 700 Mbit/s with a stall at each rekey.
fn synthetic(path: &str, suite: &str, lifetime_bytes: f64, stall_s: f64) -> ComparedCapture {
    let bytes = 20e9;
    let rekeys = (bytes / lifetime_bytes) as usize;
    let point = CapturePoint::new(bytes, bytes * 8.0 / 700e6 + stall_s * rekeys as f64, rekeys).unwrap();
    ComparedCapture {
        path: path.into(),
        name: String::new(),
        src: None,
        dst: None,
        direction: Some(Direction::BToA),
        verdict: Some(Verdict::Shown),
        counted: Some(Counted::InnerNewBytes),
        suite: Some(suite.into()),
        lifetime_kilobytes: Some(250_000),
        lifetime_seconds: None,
        rekeys: Some(rekeys),
        bytes: Some(bytes),
        duration_s: Some(point.seconds_per_gb * bytes / 1e9),
        rate_bps: Some(8e9 / point.seconds_per_gb),
        rekeys_per_gb: Some(point.rekeys_per_gb),
        seconds_per_gb: Some(point.seconds_per_gb),
        rekey_cost_s: None,
        at_least: false,
        account: None,
        inner_bytes: 1_400,
        outer_bytes: if suite.contains("GCM") { 1_456 } else { 1_500 },
        packets: 1,
        efficiency: Some(0.9),
        used: true,
        left_out: None,
        left_out_messages: Vec::new(),
    }
}

const CBC: &str = "AES-CBC-128/HMAC-SHA1-96";

#[test]
fn a_planted_stall_is_the_slope_and_the_first_sentence() {
    let rows = [("a", 250e6), ("b", 500e6), ("c", 1e9), ("d", 2e9)].map(|(p, l)| synthetic(p, CBC, l, 0.5));
    let c = compare(rows.into(), Vec::new());
    let slope = c.slope.as_ref().unwrap();
    assert!((slope.seconds_per_rekey - 0.5).abs() < 1e-9, "{slope:?}");
    assert!((slope.without_rekeys_bps.unwrap() / 700e6 - 1.0).abs() < 1e-9);
    assert_eq!(
        c.answer,
        "A rekey costs 0.50 s (95 % interval 0.50–0.50 s), over 4 captures with 0.50 to 4.00 rekeys per GB; without rekeys \
         the line gives 700 Mbit/s."
    );
    assert!(c.efficiency.contains("no other cipher suite"), "{}", c.efficiency);
}

#[test]
fn what_cannot_be_told_says_why() {
    let answer = |rows: Vec<ComparedCapture>| compare(rows, Vec::new()).answer;
    let two = answer(vec![
        synthetic("a", CBC, 250e6, 0.5),
        synthetic("b", CBC, 500e6, 0.5),
    ]);
    assert!(
        two.contains("cannot be told by comparing 2 captures") && two.contains("0.50 s per rekey"),
        "{two}"
    );
    let same = answer(
        (0..3)
            .map(|n| synthetic(&n.to_string(), CBC, 250e6, 0.5))
            .collect(),
    );
    assert!(same.contains("same number of rekeys per GB (4.00)"), "{same}");
    assert!(answer(vec![synthetic("a", CBC, 250e6, 0.5)]).contains("only one capture"));
    assert!(answer(Vec::new()).contains("no capture holds a transfer"));
}

#[test]
fn no_effect_is_bounded_and_faster_captures_are_not_a_gain() {
    let rows: Vec<_> = [250e6, 500e6, 1e9, 2e9]
        .map(|l| synthetic("x", CBC, l, 0.0))
        .into();
    let noisy = |size: f64| {
        let mut rows = rows.clone();
        for (row, noise) in rows.iter_mut().zip([size, -size, -size / 2.0, size / 2.0]) {
            row.seconds_per_gb = row.seconds_per_gb.map(|s| s + noise);
        }
        compare(rows, Vec::new()).answer
    };
    // A rekey that took 3 % of the time between two of them would matter: 0.18 s. The interval is four times the noise wide.
    let answer = noisy(0.2);
    assert!(
        answer.starts_with("What a rekey costs cannot be told")
            && answer.contains("0.18 s (3 % of throughput) would matter"),
        "{answer}"
    );
    let answer = noisy(0.05);
    assert!(
        answer.starts_with("No cost of rekeys is shown") && answer.contains("at most"),
        "{answer}"
    );
    let rows = [250e6, 500e6, 1e9].map(|l| synthetic("x", CBC, l, -0.5));
    let answer = compare(rows.into(), Vec::new()).answer;
    assert!(
        answer.contains("captures with more of them are faster"),
        "{answer}"
    );
}

#[test]
fn suites_are_compared_by_what_they_carry() {
    let rows = [("a", CBC), ("b", "AES-GCM-128"), ("c", CBC)].map(|(p, s)| synthetic(p, s, 250e6, 0.5));
    let c = compare(rows.into(), Vec::new());
    // 1400/1456 = 96.2 %, 1400/1500 = 93.3 %; 1 − 1456/1500 = 2.9 %.
    for part in [
        "AES-GCM-128 96.2 %, AES-CBC-128/HMAC-SHA1-96 93.3 %",
        "puts 2.9 % fewer bytes",
    ] {
        assert!(c.efficiency.contains(part), "{part} in {}", c.efficiency);
    }
}

#[test]
fn outer_bytes_do_not_stand_beside_payload() {
    let mut rows: Vec<_> = [250e6, 500e6, 1e9, 2e9]
        .map(|l| synthetic("x", CBC, l, 0.5))
        .into();
    rows[3].counted = Some(Counted::OuterBytes);
    let c = compare(rows.clone(), Vec::new());
    assert_eq!(c.slope.unwrap().captures, 3);
    assert!(
        c.captures[3]
            .left_out
            .as_ref()
            .unwrap()
            .contains("keys are missing")
    );
    rows.iter_mut()
        .for_each(|r| r.counted = Some(Counted::OuterBytes));
    let c = compare(rows, Vec::new());
    assert_eq!(c.slope.unwrap().captures, 4);
    assert!(c.notes[0].contains("ESP bytes"), "{:?}", c.notes);
}

#[test]
fn names_are_the_shortest_ends_that_differ() {
    let names = |paths: &[&str]| -> Vec<String> {
        let rows = paths.iter().map(|p| synthetic(p, CBC, 250e6, 0.5)).collect();
        let c = compare(rows, Vec::new());
        c.captures.into_iter().map(|c| c.name).collect()
    };
    assert_eq!(names(&["/x/a.pcap", "/y/b.pcap"]), ["a.pcap", "b.pcap"]);
    assert_eq!(names(&["/x/t.pcap", "/y/t.pcap"]), ["x", "y"]);
    assert_eq!(names(&["t.pcap", "t.pcap"]), ["t.pcap", "t.pcap"]);
    assert_eq!(
        names(&["/x/t.pcap", "/y/u.pcap", "/z/t.pcap"]),
        ["x/t.pcap", "y/u.pcap", "z/t.pcap"]
    );
    assert_eq!(names(&["/x/one/t.pcap", "/y/one/t.pcap"]), ["x/one", "y/one"]);
}

/// Twenty packets of an SA towards the client with bytes inside; their number is the SPI.
fn towards_the_client(analysis: &Analysis, spi: u32) -> SecurityAssociation {
    let headline = &analysis.impact[0];
    let (src, dst) = ends(analysis, headline).unwrap();
    let mut sa = analysis.security_associations[0].clone();
    (sa.tunnel, sa.src, sa.dst, sa.packets) = (headline.tunnel, src, dst, 20);
    (sa.inner_bytes, sa.outer_bytes, sa.icv.failed) = (Some(1_400), 1_500, 0);
    (sa.encryption, sa.integrity) = (Some("AES-CBC-128".into()), Some("HMAC-SHA1-96".into()));
    sa.spi = rekeyscope_model::spi::Spi(spi);
    sa
}

#[test]
fn a_row_counts_the_sas_of_its_direction() {
    let row = |change: &dyn Fn(&mut [SecurityAssociation])| {
        let mut analysis = rekeyscope_testkit::example::seven_rekeys();
        let mut sas = [1, 2].map(|spi| towards_the_client(&analysis, spi));
        change(&mut sas);
        analysis.security_associations = sas.into();
        analysis.impact[0].transfer = Some(rekeyscope_model::analysis::Transfer {
            start: rekeyscope_model::time::Timestamp(0),
            duration_s: 10.0,
            bytes: 5e6,
            rekeys: 3,
        });
        row_of("a.pcap", &analysis)
    };
    let counted = |r: &ComparedCapture| (r.inner_bytes, r.outer_bytes, r.packets);
    let both = row(&|_| ());
    assert_eq!(counted(&both), (2_800, 3_000, 40));
    assert!((both.efficiency.unwrap() - 2_800.0 / 3_000.0).abs() < 1e-12);
    assert_eq!(both.suite.as_deref(), Some(CBC));
    assert_eq!((both.rate_bps, both.rekeys_per_gb), (Some(4e6), Some(600.0)));
    // Packets that could not be opened make no pair of bytes, but were sent with the suite.
    let failed = row(&|sas| sas[1].icv.failed = 1);
    assert_eq!(
        (counted(&failed), failed.suite.as_deref()),
        ((1_400, 1_500, 20), Some(CBC))
    );
    let unread = row(&|sas| sas.iter_mut().for_each(|sa| sa.inner_bytes = None));
    assert_eq!((counted(&unread), unread.efficiency), ((0, 0, 0), None));
    let other_tunnel = row(&|sas| sas[1].tunnel += 1);
    assert_eq!(counted(&other_tunnel).2, 20);
    let other_way = row(&|sas| (sas[1].src, sas[1].dst) = (sas[1].dst, sas[1].src));
    assert_eq!(counted(&other_way).2, 20);
}

#[test]
fn the_busiest_suite_is_named_first() {
    let analysis = rekeyscope_testkit::example::seven_rekeys();
    let suites = |of: &[(u64, Option<&str>, Option<&str>)]| {
        let sas: Vec<SecurityAssociation> = of
            .iter()
            .map(|&(packets, encryption, integrity)| {
                let mut sa = towards_the_client(&analysis, 1);
                sa.packets = packets;
                (sa.encryption, sa.integrity) = (encryption.map(Into::into), integrity.map(Into::into));
                sa
            })
            .collect();
        suite(&sas.iter().collect::<Vec<_>>())
    };
    let (gcm, cbc) = (Some("AES-GCM-128"), Some("AES-CBC-128"));
    assert_eq!(suites(&[(9, gcm, None)]).as_deref(), gcm);
    assert_eq!(suites(&[(9, gcm, Some("none"))]).as_deref(), gcm);
    let sha = Some("HMAC-SHA1-96");
    let two = suites(&[(9, gcm, None), (5, cbc, sha), (5, cbc, sha)]);
    assert_eq!(two.as_deref(), Some("AES-CBC-128/HMAC-SHA1-96 + AES-GCM-128"));
    assert_eq!(suites(&[(9, None, sha)]), None);
}

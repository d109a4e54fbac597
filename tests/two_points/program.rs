//! What the command takes as the other point, and what it writes.

use super::*;

/// Both points of the scenario, under [`NAMES`]; two of a hundred packets are lost between them.
fn with_losses() -> TempDir {
    let folder = TempDir::new().unwrap();
    let packets = scenario();
    let sides = FarPoint::of(SERVER).sides(&packets, |n, p| match n % 50 {
        0 if spi(p).is_some() => Fate::LostBetween,
        _ => Fate::Passes,
    });
    write_pcap(&folder.path().join(NAMES[0]), &sides.0);
    write_pcap(&folder.path().join(NAMES[1]), &sides.1);
    folder
}

#[test]
fn the_other_point_may_be_a_ring_buffer() {
    let packets = scenario();
    let (here, there) = FarPoint::of(SERVER).sides(&packets, |n, p| match n % 400 {
        0 if spi(p).is_some() => Fate::LostBetween,
        _ => Fate::Passes,
    });
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    write_pcap(&path("here.pcap"), &here);
    write_pcap(&path("there.pcap"), &there);
    std::fs::create_dir(path("far")).unwrap();
    let names: Vec<String> = (1..=5)
        .map(|n| format!("far/b_0000{n}_2026112312000{n}.pcap"))
        .collect();
    for (name, piece) in names.iter().zip(there.chunks(there.len().div_ceil(5))) {
        write_pcap(&path(name), piece);
    }
    let said = |others: &[&str]| {
        let others = others.iter().flat_map(|other| ["--also-from", *other]);
        let words: Vec<&str> = ["here.pcap", "-q", "--json", "-"]
            .into_iter()
            .chain(others)
            .collect();
        let output = run(folder.path(), &words);
        let told = text(&output.stderr);
        let analysis = serde_json::from_slice::<Analysis>(&output.stdout).ok();
        (
            output.status.code().unwrap(),
            told,
            analysis.and_then(|a| a.two_points),
        )
    };
    let whole = said(&["there.pcap"]).2.unwrap();
    assert!(whole.files.is_empty());
    let each: Vec<&str> = names.iter().map(String::as_str).collect();
    for others in [&["far"][..], &["far/b_*.pcap"], &each] {
        let (status, told, found) = said(others);
        let found = found.unwrap();
        assert_eq!((status, told.as_str(), found.files.len()), (0, "", 5));
        assert_eq!(found.path, "far/b_*.pcap");
        assert_eq!(
            (&found.directions, &found.clock),
            (&whole.directions, &whole.clock)
        );
    }
    // Several captures are refused, an unreadable piece is told and the others are compared.
    let (status, told, _) = said(&["far", "there.pcap"]);
    assert!(
        status == 2 && told.contains("--also-from far: these are 2 captures"),
        "{told}"
    );
    std::fs::write(path(&names[2]), "damaged").unwrap();
    let (status, told, found) = said(&["far"]);
    assert_eq!((status, told.lines().count()), (1, 1), "{told}");
    assert!(told.contains(&names[2]), "{told}");
    let found = found.unwrap();
    assert!(found.files[2].problem.is_some() && found.directions[0].both > 100);
    assert!(
        found.sentence.contains("could not be read whole"),
        "{}",
        found.sentence
    );
    // None of them is replaced by an output.
    let words = ["here.pcap", "--also-from", "far", "--json", names[3].as_str()];
    let output = run(folder.path(), &words);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
}

#[test]
fn tables_for_spreadsheets() {
    let folder = with_losses();
    let output = run(
        folder.path(),
        &[
            NAMES[0],
            "--also-from",
            NAMES[1],
            "-q",
            "--csv",
            "csv/",
            "--json",
            "a.json",
        ],
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let analysis: Analysis = serde_json::from_str(&read("a.json")).unwrap();
    let found = points(&analysis);
    let column = |table: &str, name: &str| -> Vec<String> {
        let lines: Vec<Vec<String>> = read(table)
            .lines()
            .map(|line| line.split(',').map(str::to_owned).collect())
            .collect();
        let place = lines[0].iter().position(|head| head == name).unwrap();
        lines[1..].iter().map(|line| line[place].clone()).collect()
    };
    let lost: Vec<String> = found
        .directions
        .iter()
        .map(|d| d.lost_between.unwrap().to_string())
        .collect();
    assert_eq!(column("csv/two_points.csv", "lost_between"), lost);
    let old: Vec<String> = found.rekeys.iter().map(|r| r.old_lost.to_string()).collect();
    assert_eq!(column("csv/two_points_rekeys.csv", "old_lost"), old);
    assert!(!old.is_empty());
}

/// The second message of the exchange does not reach the client.
#[test]
fn every_report_tells_it_and_without_the_option_there_is_nothing() {
    let folder = with_losses();
    let plain = run(folder.path(), &[NAMES[0], "--json", "-", "-q"]);
    assert!(!text(&plain.stdout).contains("two_points"));
    for language in ["en", "ja"] {
        let heading = if language == "en" {
            "Between the two capture points"
        } else {
            "2 つのキャプチャ地点の間"
        };
        let base = [NAMES[0], "--also-from", NAMES[1], "-q", "--lang", language];
        for more in [&[][..], &["-v"], &["--format", "markdown"], &["--html", "-"]] {
            let output = run(folder.path(), &[&base[..], more].concat());
            let report = text(&output.stdout);
            assert!(
                output.status.success() && report.contains(heading),
                "{more:?}: {report}"
            );
            assert!(report.contains("0xa0000002"), "{more:?} names the SA: {report}");
            assert!(
                more.is_empty() || report.contains("--also-from there.pcap"),
                "{more:?}: the command"
            );
        }
    }
}

#[test]
fn errors_are_a_sentence_each() {
    let folder = TempDir::new().unwrap();
    let packets = scenario();
    let (here, there) = FarPoint::of(SERVER).sides(&packets, |_, _| Fate::Passes);
    write_pcap(&folder.path().join(NAMES[0]), &here);
    write_pcap(&folder.path().join(NAMES[1]), &there);
    std::fs::write(folder.path().join("notes.txt"), "no capture").unwrap();
    let sample = lab_of_sample("l2tp_time_down").capture;
    let said = |arguments: &[&str]| {
        let output = run(folder.path(), arguments);
        (
            output.status.code().unwrap(),
            text(&output.stderr),
            text(&output.stdout),
        )
    };
    for other in ["notes.txt", "absent.pcap"] {
        let (status, stderr, stdout) = said(&["here.pcap", "--also-from", other]);
        assert_eq!((status, stdout.as_str()), (1, ""), "{stderr}");
        assert!(stderr.contains(other) && stderr.lines().count() == 1, "{stderr}");
    }
    // Another tunnel: said, and the report carries on.
    let sample = sample.to_str().unwrap();
    let (status, stderr, stdout) = said(&["here.pcap", "--also-from", sample]);
    assert!(
        status == 0 && stdout.contains("Between the two capture points"),
        "{stdout}"
    );
    assert!(
        stderr.contains("has no SA in common with this capture"),
        "{stderr}"
    );
    for wrong in [
        &["here.pcap", "there.pcap", "--also-from", "there.pcap"][..],
        &["here.pcap", "--also-from", "-"],
    ] {
        let (status, stderr, _) = said(wrong);
        assert!(status == 2 && stderr.contains("--also-from"), "{stderr}");
    }
    // An output does not take the place of the other capture.
    let (status, stderr, _) = said(&["here.pcap", "--also-from", "there.pcap", "--json", "there.pcap"]);
    assert!(status == 1 && stderr.contains("there.pcap"), "{stderr}");
    assert_eq!(read_pcap(&folder.path().join(NAMES[1])).len(), there.len());
}

//! Which part of a log is enough for which SA.

use super::*;
use crate::support::repository;
use rekeyscope_model::analysis::ExchangeKind;
use rekeyscope_report::words::underivable::why_not_derived;

const PFS: &str = "l2tp_pfs4096_down";
const IKEV2: &str = "ikev2_gcm_kb_down";
const NATT: &str = "l2tp_kb_modp2048_natt_down";

fn ikev1_without_pfs(name: &str) -> bool {
    name != PFS && !name.contains("ikev2")
}

/// Labels of the keys of one SA in a charon log.
fn is_child_key(label: &str) -> bool {
    [
        "encryption initiator key",
        "encryption responder key",
        "integrity initiator key",
        "integrity responder key",
    ]
    .contains(&label)
}

#[test]
fn each_log_alone_opens_every_packet() {
    for capture in captures() {
        for log in [
            "charon.cli.log",
            "charon.srv.log",
            "xfrm.cli.log",
            "xfrm.srv.log",
            "keys.esp_sa",
        ] {
            let (analysis, _) = open_with(&capture.pcap(), &capture.log(log));
            let what = format!("{} from {log}", capture.name);
            assert_complete(&what, &analysis, sas_with_packets(&capture.name));
        }
    }
}

#[test]
fn phase_1_alone_gives_every_sa_without_pfs() {
    for capture in captures().iter().filter(|c| ikev1_without_pfs(&c.name)) {
        let log = dumps(&capture.log("charon.cli.log"), |l| {
            l == "SKEYID_d" || l == "SKEYID_e"
        });
        let (analysis, _) = open_with(&capture.pcap(), &log);
        assert_complete(&capture.name, &analysis, sas_with_packets(&capture.name));
        assert!(
            used(&analysis).iter().all(|sa| road(sa) == "derived"),
            "{}",
            capture.name
        );
        assert_eq!(why_not_derived(&analysis), [] as [String; 0]);
    }
}

/// Runs without the lab too.
#[test]
fn phase_1_alone_gives_every_sa_of_the_sample() {
    let log = std::fs::read(repository().join("tests/keylog/charon_skeyid_d_and_e_only.log")).unwrap();
    let capture = repository().join("samples/l2tp_kb_modp1024_down.pcap");
    let (analysis, _) = open_with(&capture, &log);
    assert_complete("the sample", &analysis, 16);
    assert!(used(&analysis).iter().all(|sa| road(sa) == "derived"));
}

/// Ka from `show ipsec sa` or from a line that says no more than "Key", and SKEYID_d from another place: together they give what
/// SKEYID_e and SKEYID_d give.
#[test]
fn ka_and_skeyid_d_from_two_places_give_every_sa_of_the_sample() {
    for name in [
        "show_sa_key_and_skeyid_d_below",
        "show_sa_key_and_skeyid_d_logged",
        "show_sa_key_and_skeyid_d_udp",
        "nvr_skeyid_d_and_key",
        "nvr_key_and_skeyid_d",
    ] {
        let log = std::fs::read(repository().join(format!("tests/keylog/{name}.log"))).unwrap();
        let capture = repository().join("samples/l2tp_kb_modp1024_down.pcap");
        let (analysis, _) = open_with(&capture, &log);
        assert_complete(name, &analysis, 16);
        assert!(used(&analysis).iter().all(|sa| road(sa) == "derived"), "{name}");
    }
}

/// A router's log prints the Diffie–Hellman secrets of the Quick Modes without saying which is whose.
#[test]
fn printed_dh_secrets_give_every_sa_with_pfs() {
    for capture in captures().iter().filter(|c| c.name == PFS) {
        let log = std::fs::read(repository().join("tests/keylog/nvr_pfs_dh_shared_secret.log")).unwrap();
        let (analysis, _) = open_with(&capture.pcap(), &log);
        assert_complete(PFS, &analysis, 12);
        assert!(used(&analysis).iter().all(|sa| road(sa) == "derived"));
    }
}

#[test]
fn with_pfs_phase_1_alone_says_why_it_cannot() {
    for capture in captures().iter().filter(|c| c.name == PFS) {
        let log = dumps(&capture.log("charon.cli.log"), |l| {
            l == "SKEYID_d" || l == "SKEYID_e"
        });
        let (analysis, ring) = open_with(&capture.pcap(), &log);
        assert_eq!(count(&used(&analysis), KeyStatus::Missing), 12);
        assert!(ring.esp.is_empty() && ring.ike.len() == 1);
        let quick = analysis
            .exchanges
            .iter()
            .filter(|e| e.kind == ExchangeKind::QuickMode);
        assert!(
            quick.clone().count() == 6 && quick.clone().all(|e| e.decrypted && e.key_exchange == Some(true))
        );
        let why = why_not_derived(&analysis).join("\n");
        assert!(
            why.starts_with("12 of these SAs were negotiated with perfect forward secrecy"),
            "{why}"
        );
        // The main job says so too, in its report and beside it.
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &log).unwrap();
        let mut main_job = std::process::Command::new(env!("CARGO_BIN_EXE_rekeyscope"));
        let out = main_job
            .env("LC_ALL", "C")
            .arg(capture.pcap())
            .arg("-v")
            .arg("--keys")
            .arg(file.path())
            .output()
            .unwrap();
        for stream in [out.stdout, out.stderr] {
            let text = String::from_utf8(stream).unwrap();
            assert!(text.contains("perfect forward secrecy"), "{text}");
        }
    }
}

/// Of IKEv2, SK_d gives the pair of IKE_AUTH; the rekeys of this capture made secrets of their own.
#[test]
fn sk_d_gives_the_first_pair() {
    for capture in captures().iter().filter(|c| c.name == IKEV2) {
        let log = dumps(&capture.log("charon.cli.log"), |l| l.starts_with("Sk_"));
        let (analysis, _) = open_with(&capture.pcap(), &log);
        let used = used(&analysis);
        assert_eq!(
            (
                count(&used, KeyStatus::Verified),
                count(&used, KeyStatus::Missing)
            ),
            (2, 10)
        );
        assert!(why_not_derived(&analysis)[0].starts_with("10 of these SAs"));
    }
}

/// The derivation seeds hold the Diffie–Hellman secrets: with them PFS is no obstacle, in both versions of IKE.
#[test]
fn seeds_give_every_sa_with_pfs() {
    for capture in captures() {
        let log = without_dumps(&capture.log("charon.cli.log"), is_child_key);
        let (analysis, _) = open_with(&capture.pcap(), &log);
        assert_complete(&capture.name, &analysis, sas_with_packets(&capture.name));
        assert!(
            used(&analysis).iter().all(|sa| road(sa) == "derived"),
            "{}",
            capture.name
        );
    }
}

/// A pre-shared key and the Diffie–Hellman secret of phase 1 make SKEYID and all that follows.
#[test]
fn a_pre_shared_key_and_the_dh_secret_give_every_sa() {
    for capture in captures().iter().filter(|c| ikev1_without_pfs(&c.name)) {
        let log = dumps(&capture.log("charon.cli.log"), |l| {
            l == "shared Diffie Hellman secret"
        });
        let (analysis, _) = open_with_psk(&capture.pcap(), &log, Some(b"rekeyscope-lab-psk"));
        assert_complete(&capture.name, &analysis, sas_with_packets(&capture.name));
        let (analysis, ring) = open_with_psk(&capture.pcap(), &log, Some(b"another"));
        assert_eq!(count(&used(&analysis), KeyStatus::Verified), 0);
        assert!(ring.ike.is_empty());
    }
}

/// Behind NAT the log knows the client by an address that the capture never shows.
#[test]
fn addresses_behind_nat_do_not_matter() {
    for capture in captures().iter().filter(|c| c.name == NATT) {
        let log = capture.log("xfrm.cli.log");
        assert!(String::from_utf8_lossy(&log).contains("192.168.77.2"));
        let (analysis, ring) = open_with(&capture.pcap(), &log);
        assert_complete(NATT, &analysis, 14);
        let client: std::net::IpAddr = "10.9.0.9".parse().unwrap();
        assert!(ring.esp.iter().all(|key| key.src == client || key.dst == client));
    }
}

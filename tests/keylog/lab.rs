//! The lab's whole logs: each alone gives every SA's key as the ground truth has it. Runs where the lab is.

use rekeyscope_keylog::{KeyMaterial, KeyRoad};
use rekeyscope_model::algorithm::Integrity;
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::Spi;
use rekeyscope_testkit::lab::captures;
use std::collections::BTreeMap;
use std::path::Path;

type Keys = BTreeMap<u32, (String, String)>;

fn truth(capture: &Path) -> Keys {
    let truth: serde_json::Value =
        serde_json::from_slice(&std::fs::read(capture.join("truth.json")).unwrap()).unwrap();
    let text = |sa: &serde_json::Value, name: &str| {
        sa[name]
            .as_str()
            .unwrap_or("")
            .trim_start_matches("0x")
            .to_owned()
    };
    let sas = truth["sas"].as_array().unwrap().iter();
    sas.map(|sa| {
        (
            text(sa, "spi").parse_hex(),
            (text(sa, "enc_key"), text(sa, "auth_key")),
        )
    })
    .collect()
}

trait ParseHex {
    fn parse_hex(&self) -> u32;
}

impl ParseHex for String {
    fn parse_hex(&self) -> u32 {
        u32::from_str_radix(self, 16).unwrap()
    }
}

fn keys(material: &KeyMaterial) -> Keys {
    let digits = |secret: &SecretBytes| {
        secret
            .expose()
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect::<String>()
    };
    let explicit = material
        .esp
        .iter()
        .filter(|k| k.defect.is_none() && k.origin.road == KeyRoad::Explicit);
    explicit
        .map(|k| {
            (
                k.spi.unwrap().0,
                (digits(&k.encryption_key), digits(&k.integrity_key)),
            )
        })
        .collect()
}

fn read(path: &Path) -> KeyMaterial {
    let mut material = KeyMaterial::default();
    material.read(path).unwrap();
    material
}

#[test]
fn each_log_alone_gives_every_key() {
    for capture in captures() {
        let truth = truth(&capture);
        for log in [
            "charon.cli.log",
            "charon.srv.log",
            "xfrm.cli.log",
            "xfrm.srv.log",
            "keys.esp_sa",
        ] {
            let material = read(&capture.join(log));
            assert_eq!(material.problems, [], "{} {log}", capture.display());
            assert_eq!(keys(&material), truth, "{} {log}", capture.display());
            assert_eq!(
                material.esp.len(),
                truth.len(),
                "{} {log}: one entry per SA",
                capture.display()
            );
        }
    }
}

#[test]
fn transforms_are_named() {
    for capture in captures() {
        for key in read(&capture.join("charon.cli.log")).esp {
            assert!(key.encryption.is_some() && key.src.is_some() && key.dst.is_some());
            assert_eq!(
                key.integrity == Some(Integrity::None),
                key.encryption.unwrap().is_aead()
            );
        }
    }
}

#[test]
fn phase_1_comes_with_its_cookie() {
    for capture in captures() {
        let (log, table) = (read(&capture.join("charon.cli.log")), capture.join("keys.ikev1"));
        if !table.is_file() {
            continue;
        }
        let table = read(&table);
        let [of_log] = log.ike.as_slice() else {
            panic!("{}: {:?}", capture.display(), log.ike)
        };
        let [of_table] = table.ike.as_slice() else {
            panic!("{:?}", table.ike)
        };
        assert_eq!(of_log.initiator_spi, of_table.initiator_spi);
        assert_eq!(of_log.secrets.ka, of_table.secrets.ka);
        assert!(
            of_log.responder_spi.is_some()
                && of_log.secrets.skeyid_d.is_some()
                && of_log.secrets.skeyid.is_some()
        );
    }
}

#[test]
fn every_child_sa_has_its_seeds() {
    for capture in captures() {
        let material = read(&capture.join("charon.cli.log"));
        let pairs = truth(&capture).len() / 2;
        let ikev2 = material.ike.iter().any(|ike| ike.version == 2);
        assert_eq!(
            material.seeds.len(),
            if ikev2 { pairs } else { 2 * pairs },
            "{}",
            capture.display()
        );
        assert!(material.seeds.iter().all(|seed| seed.spis.is_some()));
    }
}

#[test]
fn the_constructed_router_log_of_the_main_sample() {
    let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/l2tp_kb_modp1024_down.keylog");
    let material = read(&log);
    assert_eq!(material.problems, []);
    assert_eq!(material.esp.len(), 16);
    assert!(material.esp.iter().any(|k| k.spi == Some(Spi(0xc7df968a))));
    for capture in captures()
        .iter()
        .filter(|path| path.ends_with("l2tp_kb_modp1024_down"))
    {
        assert_eq!(keys(&material), truth(capture));
    }
}

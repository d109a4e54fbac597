//! Texts that hold no keys: one true sentence each, and no key. Constructed in the shapes of what the programs print.

use crate::read;
use rekeyscope_keylog::{KeyDefect, SaLifetime};
use rekeyscope_model::spi::Spi;

const WINDOWS: &str = "Name             : {A1B2}\nLocalEndpoint    : 10.9.0.2\nRemoteEndpoint   : 10.9.0.1\nTransportLayerFilterName : L2TP\nInboundSPI : 3353319050\nLifetimeSeconds  : 3600\nLifetimeKilobytes : 250000\n";
const WFP: &str = "<?xml version=\"1.0\"?>\n<wfpstate>\n <ikeSaDb>\n  <item>\n   <spi>3353319050</spi>\n   <lifetimeSeconds>3600</lifetimeSeconds><lifetimeKilobytes>250000</lifetimeKilobytes>\n  </item>\n </ikeSaDb>\n</wfpstate>\n";
const CISCO: &str = "interface: Tunnel0\n    Crypto map tag: Tunnel0-head-0, local addr 10.9.0.2\n     current outbound spi: 0xC06E0F04(3228438276)\n     inbound esp sas:\n      spi: 0xC7DF968A(3353319050)\n        transform: esp-aes esp-sha-hmac ,\n        sa timing: remaining key lifetime (k/sec): (4608000/3563)\n";
const ANDROID: &str = "IpSecService dump:\n\nmUserResourceTracker:\n{mUserRecords={1000={mTransforms={2=TransformRecord{mSpiResourceId=1, mSpi=-941648246, mConfig={mMode=TUNNEL, mEncryption={mName=cbc(aes), mKey=<hidden>/16}}}}}}}\n";
const SWANCTL: &str = "lab: #1, ESTABLISHED, IKEv1, 33acac7650479d9d_i* 4330a6ed090669bf_r\n  lab: #1, reqid 1, INSTALLED, TRANSPORT, ESP:AES_CBC-128/HMAC_SHA1_96\n    in  c7df968a,   84 bytes\n    out c06e0f04,   84 bytes\n";

#[test]
fn each_is_named_with_what_it_tells() {
    for (text, name, tells) in [
        (
            WINDOWS,
            "Get-NetIPsecQuickModeSA",
            &["0xc7df968a", "3600 s", "other end"][..],
        ),
        (WFP, "netsh wfp", &["0xc7df968a", "3600 s", "other end"]),
        (
            CISCO,
            "show crypto ipsec sa",
            &["0xc06e0f04", "0xc7df968a", "3563 s", "other end"],
        ),
        (ANDROID, "dumpsys ipsec", &["0xc7df968a", "ip xfrm state"]),
        (SWANCTL, "swanctl --list-sas", &["ip xfrm state", "level 4"]),
    ] {
        for copy in [
            text.to_owned(),
            text.lines().map(|line| format!("> {line}\n")).collect(),
        ] {
            let material = read(copy.as_bytes());
            let [problem] = material.problems.as_slice() else {
                panic!("{name}: {:?}", material.problems)
            };
            assert!(
                problem.sentence.contains(name) && material.ike.is_empty(),
                "{name}: {problem:?}"
            );
            // The SAs that it names have keys that it does not show.
            assert!(
                material
                    .esp
                    .iter()
                    .all(|key| key.defect == Some(KeyDefect::Masked)),
                "{name}: a key"
            );
            let inbound = material.esp.iter().any(|key| key.spi == Some(Spi(0xc7df_968a)));
            assert!(inbound, "{name}: no SPI");
            for told in tells {
                assert!(problem.sentence.contains(told), "{told}: {}", problem.sentence);
            }
        }
    }
}

#[test]
fn what_another_program_has_to_unpack_is_named() {
    for (magic, name, how) in [
        (&b"PK\x03\x04rest"[..], "zip", "unpack it"),
        (b"\xfd7zXZ\0rest", "xz", "unpack it"),
        (b"BZh91AY", "bzip2", "unpack it"),
        (b"7z\xbc\xaf\x27\x1c", "7z", "unpack it"),
        (b"{\\rtf1\\ansi", "RTF", "as plain text"),
    ] {
        let problems = read(magic).problems;
        assert!(
            problems.len() == 1 && problems[0].sentence.contains(name) && problems[0].sentence.contains(how),
            "{problems:?}"
        );
    }
}

#[test]
fn keys_that_are_hidden_are_asked_for_where_they_are_shown() {
    let vpp = "[0] sa 1 (0x1) spi 3353319050 (0xc7df968a) protocol:esp flags:[tunnel]\n   salt 0x0\n   crypto alg aes-cbc-128 key [redacted]\n   integrity alg sha1-96 key [redacted]\n";
    let kernel = "src 10.9.0.1 dst 10.9.0.2\n\tproto esp spi 0xc7df968a reqid 1 mode transport\n\tauth-trunc hmac(sha1) <<Keys hidden>> 96\n\tenc cbc(aes) <<Keys hidden>>\n";
    for (text, command) in [(vpp, "show ipsec sa 0"), (kernel, "without `nokeys`")] {
        let material = read(text.as_bytes());
        assert!(
            material.problems.len() == 1 && material.problems[0].sentence.contains(command),
            "{:?}",
            material.problems
        );
        assert_eq!(material.esp.len(), 1);
    }
}

/// SPIs with the seconds and kilobytes of their lifetimes.
fn lifetimes(text: &str) -> Vec<(u32, Option<u64>, Option<u64>)> {
    let lifetimes = read(text.as_bytes()).lifetimes;
    let parts = |stated: &SaLifetime| (stated.spi.0, stated.lifetime.seconds, stated.lifetime.kilobytes);
    lifetimes.iter().map(parts).collect()
}

#[test]
fn a_whole_lifetime_is_that_of_the_spis_beside_it() {
    let of_both = (0xc7df_968a, Some(3_600), Some(250_000));
    assert_eq!(lifetimes(WINDOWS), [of_both]);
    assert_eq!(lifetimes(WFP), [of_both]);
    assert_eq!(lifetimes(CISCO), [], "what remains is no lifetime");
    let debug = "IPSEC(create_sa): sa created,\n  (sa) sa_dest= 10.9.0.2, sa_proto= 50,\n    sa_spi= 0xC7DF968A(3353319050),\n    sa_trans= esp-aes , sa_conn_id= 1\n    sa_lifetime(k/sec)= (4608000/3600)\n";
    assert_eq!(lifetimes(debug), [(0xc7df_968a, Some(3_600), Some(4_608_000))]);
    let listed = |spis: [&str; 2], installed: u64| {
        format!(
            "    installed {installed}s ago, rekeying in 3014s, expires in {}s\n    in  {}, 84 bytes\n    out {}, 84 bytes\n",
            3_960 - installed,
            spis[0],
            spis[1]
        )
    };
    let swanctl = SWANCTL.split("    in ").next().unwrap().to_owned()
        + &listed(["c7df968a", "c06e0f04"], 12)
        + &listed(["c7df968b", "c06e0f05"], 900);
    let found = lifetimes(&swanctl);
    assert_eq!(found.len(), 4);
    assert!(
        found
            .iter()
            .all(|(_, seconds, kilobytes)| (*seconds, *kilobytes) == (Some(3_960), None))
    );
    // Linux and KAME state lifetimes of SAs whose keys they show.
    let kernel = "src 10.9.0.1 dst 10.9.0.2\n\tproto esp spi 0xc7df968a(3353319050) reqid 1(0x00000001) mode transport\n\tenc cbc(aes) 0x49765da92b655347d2fb3aa5b1e9a1ae (128 bits)\n\tlifetime config:\n\t  limit: soft (INF)(bytes), hard 2600000(bytes)\n\t  limit: soft (INF)(packets), hard (INF)(packets)\n\t  expire add: soft 3060(sec), hard 3600(sec)\n\t  expire use: soft 0(sec), hard 0(sec)\n";
    assert_eq!(lifetimes(kernel), [(0xc7df_968a, Some(3_600), Some(2_600))]);
    let kame = "10.9.0.1 10.9.0.2 \n\tesp mode=transport spi=3353319050(0xc7df968a) reqid=0(0x00000000)\n\tdiff: 5(s)\thard: 3600(s)\tsoft: 2880(s)\n\tcurrent: 84(bytes)\thard: 0(bytes)\tsoft: 0(bytes)\n\tallocated: 1\thard: 0\tsoft: 0\n";
    assert_eq!(lifetimes(kame), [(0xc7df_968a, Some(3_600), None)]);
}

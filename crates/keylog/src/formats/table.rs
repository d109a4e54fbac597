//! The table of formats. A new one is a row here and a file with a type that implements [`KeyFormat`].

use crate::formats::charon::Charon;
use crate::formats::esp_sa::{EspSa, starts_row};
use crate::formats::format::KeyFormat;
use crate::formats::fortios_ike::FortiosPhase1;
use crate::formats::ike_tables::{Ikev1Table, Ikev2Table};
use crate::formats::listing::reader::{
    DPDK, FORTIOS, FORTIOS_IKE, Listing, MIKROTIK, SCAPY, SETKEY, SETKEY_CONF, TCPDUMP, VPP, XFRM, begins_any,
};
use crate::formats::pluto::{self, Pluto};
use crate::formats::racoon::{self, Racoon};
use crate::formats::vpp_ike::{self, VppIke};
use crate::formats::yamaha::key_info::YamahaKeyInfo;

/// A format: the name that reports show, and what recognises and reads its lines.
pub(crate) type FormatRow = (&'static str, fn() -> Box<dyn KeyFormat>);

/// Logs of a router, whose lines a collector may bring in any framing: their reader keeps senders apart itself. Of the others each sender has a reader of its
/// own, so that two logs in one file do not mix.
pub(crate) fn keeps_senders_apart(name: &str) -> bool {
    name == YAMAHA_LOG
}

const YAMAHA_LOG: &str = "Yamaha key log";
const FORTIOS_DEBUG: &str = "FortiOS ike debug";

/// Tells whether a line begins a record of a format that says nothing of what stands before its lines.
pub(crate) fn begins_record(line: &[u8]) -> bool {
    // `30 EA` ends a key as well as it numbers an SA with its flags.
    let digits = line
        .iter()
        .all(|byte| byte.is_ascii_hexdigit() || byte.is_ascii_whitespace());
    begins_any(line) && !digits
        || starts_row(line)
        || pluto::begins(line)
        || racoon::begins(line)
        || vpp_ike::begins(line)
}

/// The strictest first: a line belongs to the first that takes it.
pub(crate) const FORMATS: [FormatRow; 19] = [
    ("Wireshark esp_sa", || Box::<EspSa>::default()),
    ("Wireshark ikev1_decryption_table", || Box::new(Ikev1Table)),
    ("Wireshark ikev2_decryption_table", || Box::new(Ikev2Table)),
    ("strongSwan charon log", || Box::<Charon>::default()),
    ("ip xfrm", || Box::new(Listing::new(&XFRM))),
    ("setkey -D", || Box::new(Listing::new(&SETKEY))),
    ("setkey.conf", || Box::new(Listing::new(&SETKEY_CONF))),
    ("tcpdump -E", || Box::new(Listing::new(&TCPDUMP))),
    ("FortiOS tunnel list", || Box::new(Listing::new(&FORTIOS))),
    (FORTIOS_DEBUG, || Box::<FortiosPhase1>::default()),
    (FORTIOS_DEBUG, || Box::new(Listing::new(&FORTIOS_IKE))),
    ("MikroTik installed-sa", || Box::new(Listing::new(&MIKROTIK))),
    ("VPP show ipsec sa", || Box::new(Listing::new(&VPP))),
    ("VPP show ikev2 sa", || Box::<VppIke>::default()),
    ("DPDK ipsec-secgw", || Box::new(Listing::new(&DPDK))),
    ("scapy", || Box::new(Listing::new(&SCAPY))),
    ("pluto log", || Box::<Pluto>::default()),
    ("racoon log", || Box::<Racoon>::default()),
    (YAMAHA_LOG, || Box::<YamahaKeyInfo>::default()),
];

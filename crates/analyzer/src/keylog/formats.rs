//! The table of formats. A new one is a row here and a file with a type that implements [`KeyFormat`].

use crate::keylog::charon::Charon;
use crate::keylog::esp_sa::EspSa;
use crate::keylog::format::KeyFormat;
use crate::keylog::fortios::FortiOs;
use crate::keylog::ike_tables::{Ikev1Table, Ikev2Table};
use crate::keylog::mikrotik::MikroTik;
use crate::keylog::pluto::Pluto;
use crate::keylog::racoon::Racoon;
use crate::keylog::setkey::Setkey;
use crate::keylog::tcpdump::TcpdumpE;
use crate::keylog::xfrm::Xfrm;
use crate::keylog::yamaha::YamahaKeyInfo;
use crate::keylog::yamaha_show_sa::YamahaShowSa;

/// A format: the name that reports show, and what recognises and reads its lines.
pub(super) struct FormatRow {
    pub(super) name: &'static str,
    pub(super) reader: fn() -> Box<dyn KeyFormat>,
}

const fn row(name: &'static str, reader: fn() -> Box<dyn KeyFormat>) -> FormatRow {
    FormatRow { name, reader }
}

/// The strictest first: a line belongs to the first that takes it.
pub(super) const FORMATS: [FormatRow; 13] = [
    row("Wireshark esp_sa", || Box::new(EspSa::default())),
    row("Wireshark ikev1_decryption_table", || Box::new(Ikev1Table)),
    row("Wireshark ikev2_decryption_table", || Box::new(Ikev2Table)),
    row("strongSwan charon log", || Box::new(Charon::default())),
    row("ip xfrm", || Box::new(Xfrm::default())),
    row("setkey -D", || Box::new(Setkey::default())),
    row("tcpdump -E", || Box::new(TcpdumpE)),
    row("FortiOS tunnel list", || Box::new(FortiOs::default())),
    row("MikroTik installed-sa", || Box::new(MikroTik::default())),
    row("pluto log", || Box::new(Pluto::default())),
    row("racoon log", || Box::new(Racoon::default())),
    row("Yamaha show ipsec sa", || Box::new(YamahaShowSa::default())),
    row("Yamaha key log", || Box::new(YamahaKeyInfo::default())),
];

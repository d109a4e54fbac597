//! The table of formats. A new one is a row here and a file with a type that implements [`KeyFormat`].

use crate::formats::charon::Charon;
use crate::formats::esp_sa::EspSa;
use crate::formats::format::KeyFormat;
use crate::formats::fortios::FortiOs;
use crate::formats::ike_tables::{Ikev1Table, Ikev2Table};
use crate::formats::mikrotik::MikroTik;
use crate::formats::pluto::Pluto;
use crate::formats::racoon::Racoon;
use crate::formats::setkey::Setkey;
use crate::formats::tcpdump::TcpdumpE;
use crate::formats::xfrm::Xfrm;
use crate::formats::yamaha::key_info::YamahaKeyInfo;
use crate::formats::yamaha::show_sa::YamahaShowSa;

/// A format: the name that reports show, and what recognises and reads its lines.
pub(crate) struct FormatRow {
    pub(crate) name: &'static str,
    pub(crate) reader: fn() -> Box<dyn KeyFormat>,
}

const fn row(name: &'static str, reader: fn() -> Box<dyn KeyFormat>) -> FormatRow {
    FormatRow { name, reader }
}

/// The strictest first: a line belongs to the first that takes it.
pub(crate) const FORMATS: [FormatRow; 13] = [
    row("Wireshark esp_sa", || Box::<EspSa>::default()),
    row("Wireshark ikev1_decryption_table", || Box::new(Ikev1Table)),
    row("Wireshark ikev2_decryption_table", || Box::new(Ikev2Table)),
    row("strongSwan charon log", || Box::<Charon>::default()),
    row("ip xfrm", || Box::<Xfrm>::default()),
    row("setkey -D", || Box::<Setkey>::default()),
    row("tcpdump -E", || Box::new(TcpdumpE)),
    row("FortiOS tunnel list", || Box::<FortiOs>::default()),
    row("MikroTik installed-sa", || Box::<MikroTik>::default()),
    row("pluto log", || Box::<Pluto>::default()),
    row("racoon log", || Box::<Racoon>::default()),
    row("Yamaha show ipsec sa", || Box::<YamahaShowSa>::default()),
    row("Yamaha key log", || Box::<YamahaKeyInfo>::default()),
];

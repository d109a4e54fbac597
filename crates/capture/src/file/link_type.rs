//! Link types and their names, as <https://www.tcpdump.org/linktypes.html> lists them.

/// A link type as tcpdump.org numbers them (`LINKTYPE_…`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct LinkType(pub u16);

impl LinkType {
    /// Each packet begins with its IPv4 or IPv6 header.
    pub const RAW: LinkType = LinkType(101);
}

/// Number and name without `LINKTYPE_`, in order of the numbers.
const NAMES: &[(u16, &str)] = &[
    (0, "NULL"),
    (1, "ETHERNET"),
    (3, "AX25"),
    (6, "IEEE802_5"),
    (7, "ARCNET_BSD"),
    (8, "SLIP"),
    (9, "PPP"),
    (10, "FDDI"),
    // BSDs call this DLT_RAW inside the system; LINKTYPE_RAW in a file is 101.
    (12, "RAW"),
    (14, "RAW"),
    (50, "PPP_HDLC"),
    (51, "PPP_ETHER"),
    (100, "ATM_RFC1483"),
    (101, "RAW"),
    (104, "C_HDLC"),
    (105, "IEEE802_11"),
    (107, "FRELAY"),
    (108, "LOOP"),
    (109, "ENC"),
    (113, "LINUX_SLL"),
    (114, "LTALK"),
    (117, "PFLOG"),
    (119, "IEEE802_11_PRISM"),
    (122, "IP_OVER_FC"),
    (123, "SUNATM"),
    (127, "IEEE802_11_RADIOTAP"),
    (129, "ARCNET_LINUX"),
    (138, "APPLE_IP_OVER_IEEE1394"),
    (139, "MTP2_WITH_PHDR"),
    (140, "MTP2"),
    (141, "MTP3"),
    (142, "SCCP"),
    (143, "DOCSIS"),
    (144, "LINUX_IRDA"),
    (163, "IEEE802_11_AVS"),
    (165, "BACNET_MS_TP"),
    (166, "PPP_PPPD"),
    (169, "GPRS_LLC"),
    (177, "LINUX_LAPD"),
    (187, "BLUETOOTH_HCI_H4"),
    (189, "USB_LINUX"),
    (192, "PPI"),
    (195, "IEEE802_15_4_WITHFCS"),
    (197, "ERF"),
    (201, "BLUETOOTH_HCI_H4_WITH_PHDR"),
    (203, "LAPD"),
    (204, "PPP_WITH_DIR"),
    (205, "C_HDLC_WITH_DIR"),
    (206, "FRELAY_WITH_DIR"),
    (220, "USB_LINUX_MMAPPED"),
    (224, "FC_2"),
    (226, "IPNET"),
    (227, "CAN_SOCKETCAN"),
    (228, "IPV4"),
    (229, "IPV6"),
    (230, "IEEE802_15_4_NOFCS"),
    (231, "DBUS"),
    (239, "NFLOG"),
    (240, "NETANALYZER"),
    (241, "NETANALYZER_TRANSPARENT"),
    (242, "IPOIB"),
    (243, "MPEG_2_TS"),
    (248, "SCTP"),
    (249, "USBPCAP"),
    (251, "BLUETOOTH_LE_LL"),
    (252, "WIRESHARK_UPPER_PDU"),
    (253, "NETLINK"),
    (254, "BLUETOOTH_LINUX_MONITOR"),
    (256, "BLUETOOTH_LE_LL_WITH_PHDR"),
    (258, "PKTAP"),
    (259, "EPON"),
    (266, "USB_DARWIN"),
    (271, "VSOCK"),
    (272, "NORDIC_BLE"),
    (273, "DOCSIS31_XRA31"),
    (274, "ETHERNET_MPACKET"),
    (276, "LINUX_SLL2"),
    (278, "OPENVIZSLA"),
    (279, "EBHSCR"),
    (280, "VPP_DISPATCH"),
    (281, "DSA_TAG_BRCM"),
    (282, "DSA_TAG_BRCM_PREPEND"),
    (283, "IEEE802_15_4_TAP"),
    (284, "DSA_TAG_DSA"),
    (285, "DSA_TAG_EDSA"),
    (286, "ELEE"),
];

/// The name of a link type as tcpdump.org lists it without the prefix: `ETHERNET`, `LINUX_SLL2`; else `LINKTYPE_<n>`.
pub fn link_type_name(link_type: LinkType) -> String {
    match NAMES.binary_search_by_key(&link_type.0, |&(number, _)| number) {
        Ok(at) => NAMES
            .get(at)
            .map_or_else(String::new, |&(_, name)| name.to_owned()),
        Err(_) => format!("LINKTYPE_{}", link_type.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_the_sorted_table() {
        assert!(NAMES.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(link_type_name(LinkType(1)), "ETHERNET");
        assert_eq!(link_type_name(LinkType(276)), "LINUX_SLL2");
        assert_eq!(link_type_name(LinkType(147)), "LINKTYPE_147");
    }

    /// As draft-ietf-opsawg-pcaplinktype numbers them.
    #[test]
    fn names_behind_a_gap_are_those_of_the_list() {
        for (number, name) in [
            (277, "LINKTYPE_277"),
            (278, "OPENVIZSLA"),
            (280, "VPP_DISPATCH"),
            (281, "DSA_TAG_BRCM"),
            (283, "IEEE802_15_4_TAP"),
            (285, "DSA_TAG_EDSA"),
            (286, "ELEE"),
            (288, "LINKTYPE_288"),
        ] {
            assert_eq!(link_type_name(LinkType(number)), name);
        }
    }
}

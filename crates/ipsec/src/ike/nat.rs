//! NAT detection (RFC 3947 §3.2, RFC 7296 §2.23): both sides send hashes over the addresses that they see; a NAT in
//! between makes them differ.

use crate::ike::context::MessageContext;
use crate::ike::crypto::Hash;
use crate::ike::header::IkeHeader;
use std::net::IpAddr;

/// HASH(CKY-I | CKY-R | IP | port).
fn endpoint_hash(hash: Hash, header: &IkeHeader, address: IpAddr, port: u16) -> Vec<u8> {
    let address = match address {
        IpAddr::V4(a) => a.octets().to_vec(),
        IpAddr::V6(a) => a.octets().to_vec(),
    };
    hash.digest(&[
        &header.initiator_spi.0,
        &header.responder_spi.0,
        &address,
        &port.to_be_bytes(),
    ])
}

/// Result of one message's NAT detection payloads: `None` without any. The destination must be among
/// `destination`, the source among `source` (one per address of a multihomed host).
pub(super) fn detected(
    hash: Hash,
    header: &IkeHeader,
    context: &MessageContext,
    source: &[&[u8]],
    destination: &[&[u8]],
) -> Option<bool> {
    if source.is_empty() && destination.is_empty() {
        return None;
    }
    let differs = |list: &[&[u8]], address, port| {
        let own = endpoint_hash(hash, header, address, port);
        !list.is_empty() && !list.iter().any(|&given| given == own)
    };
    Some(
        differs(source, context.outer.0, context.udp.src)
            || differs(destination, context.outer.1, context.udp.dst),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_capture::framing::UdpPorts;
    use rekeyscope_model::spi::IkeSpi;
    use rekeyscope_model::time::Timestamp;

    #[test]
    fn a_changed_port_is_a_nat() {
        let header = IkeHeader {
            initiator_spi: IkeSpi([1; 8]),
            responder_spi: IkeSpi([2; 8]),
            next_payload: 0,
            major: 1,
            exchange_type: 2,
            flags: 0,
            message_id: 0,
            length: 28,
        };
        let mut context = MessageContext {
            frame: 1,
            time: Timestamp(0),
            src: [192, 0, 2, 1].into(),
            dst: [198, 51, 100, 7].into(),
            outer: ([192, 0, 2, 1].into(), [198, 51, 100, 7].into()),
            udp: UdpPorts { src: 500, dst: 500 },
            ip_packets: 1,
        };
        let mut input = vec![1; 8];
        input.extend([2; 8]);
        input.extend([192, 0, 2, 1, 0x01, 0xf4]);
        let source = Hash::Sha1.digest(&[&input]);
        assert_eq!(
            detected(Hash::Sha1, &header, &context, &[&source], &[]),
            Some(false)
        );
        context.udp.src = 1024;
        assert_eq!(
            detected(Hash::Sha1, &header, &context, &[&source], &[]),
            Some(true)
        );
        assert_eq!(detected(Hash::Sha1, &header, &context, &[], &[]), None);
    }
}

//! IPsec packets and what is inside them.

use crate::esp::Suite;
use crate::headers;
use crate::scenario::sa::Sa;

/// UDP.
const INNER: u8 = 17;

/// RFC 4303 §2 with AES-CBC (RFC 3602) and HMAC-SHA1-96 (RFC 2404).
pub(super) fn seal(sa: Sa, inner: u8, payload: &[u8]) -> Vec<u8> {
    let iv = [&sa.spi.to_be_bytes()[..], &[0; 8], &sa.sequence.to_be_bytes()].concat();
    Suite::of_spi(sa.spi).seal_with(&iv, sa.spi, sa.sequence.into(), false, inner, payload)
}

/// RFC 4302 §2 around UDP. The ICV is made of the header and the payload only: nobody checks it.
pub(super) fn authenticate(sa: Sa, payload: &[u8]) -> Vec<u8> {
    let packet = |icv: &[u8], payload| headers::ah(INNER, sa.spi, sa.sequence, icv, payload);
    let icv = Suite::of_spi(sa.spi).mac(&[&packet(&[0; 12], &[])[..12], payload]);
    packet(&icv, payload)
}

/// UDP 1701, L2TP data header with length, PPP.
pub(super) fn l2tp(ip: &[u8]) -> Vec<u8> {
    headers::l2tp(0x4000, 1, &headers::ppp(ip))
}

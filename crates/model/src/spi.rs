//! Security Parameter Indexes. An ESP SPI is four bytes (RFC 4303 §2.1), an IKE SPI eight (RFC 7296 §2.6; in IKEv1
//! the same field is the cookie, RFC 2408 §3.1). The types never mix.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// An ESP (or AH) SPI, in host order. Shown as `0x%08x`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Spi(pub u32);

/// An IKE SPI; in IKEv1 the cookie. Shown as 16 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct IkeSpi(pub [u8; 8]);

/// IP protocol numbers of the IPsec protocols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IpsecProtocol {
    /// ESP, IP protocol 50.
    Esp,
    /// AH, IP protocol 51.
    Ah,
}

/// Name of an SA on the wire (RFC 4301 §4.1): an SPI means nothing without its destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SaId {
    /// The outer destination address.
    pub dst: IpAddr,
    /// ESP or AH.
    pub protocol: IpsecProtocol,
    /// The SPI that the destination chose.
    pub spi: Spi,
}

/// The text is not an SPI in the `0x%08x` form, or not a cookie of 16 hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an SPI: expected 0x and up to 8 hex digits, or a cookie of 16 hex digits")]
pub struct SpiParseError;

impl IkeSpi {
    /// The all-zero SPI of a first message, before the responder chose one.
    pub const ZERO: IkeSpi = IkeSpi([0; 8]);
}

impl fmt::Display for Spi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:08x}", self.0)
    }
}

impl fmt::Debug for Spi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Spi({self})")
    }
}

impl FromStr for Spi {
    type Err = SpiParseError;
    fn from_str(s: &str) -> Result<Self, SpiParseError> {
        let digits = s
            .strip_prefix("0x")
            .or_else(|| s.strip_prefix("0X"))
            .ok_or(SpiParseError)?;
        if digits.is_empty() || digits.len() > 8 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(SpiParseError);
        }
        u32::from_str_radix(digits, 16)
            .map(Spi)
            .map_err(|_| SpiParseError)
    }
}

impl fmt::Display for IkeSpi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

impl fmt::Debug for IkeSpi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IkeSpi({self})")
    }
}

impl FromStr for IkeSpi {
    type Err = SpiParseError;
    fn from_str(s: &str) -> Result<Self, SpiParseError> {
        if s.len() != 16 || !s.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(SpiParseError);
        }
        u64::from_str_radix(s, 16)
            .map(|v| IkeSpi(v.to_be_bytes()))
            .map_err(|_| SpiParseError)
    }
}

serde_by_text!(Spi, {"type": "string", "pattern": "^0x[0-9a-f]{8}$"});
serde_by_text!(IkeSpi, {"type": "string", "pattern": "^[0-9a-f]{16}$"});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_forms() {
        assert_eq!(Spi(0xe841441).to_string(), "0x0e841441");
        assert_eq!("0xe841441".parse(), Ok(Spi(0xe841441)));
        assert!("0x+e84144".parse::<Spi>().is_err());
        assert!("1234".parse::<Spi>().is_err());
        let cookie: IkeSpi = "44f4d0e2ec4e43b7".parse().unwrap();
        assert_eq!(cookie.to_string(), "44f4d0e2ec4e43b7");
        assert!("44f4d0e2ec4e43".parse::<IkeSpi>().is_err());
    }
}

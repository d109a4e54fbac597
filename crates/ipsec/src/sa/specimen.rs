//! The packets that keys are tried on, and what keys lack.

/// A packet to try keys on.
#[derive(Debug, Clone, Copy)]
pub struct Specimen<'a> {
    /// From the SPI on.
    pub packet: &'a [u8],
    /// Nothing of it was cut off.
    pub whole: bool,
}

/// The evidence for a key, and the evidence that it would need.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lacking {
    /// Bits that `packets` say for it.
    pub bits: f64,
    /// Bits that it needs.
    pub needed: f64,
    /// Packets that were weighed.
    pub packets: usize,
}

impl Lacking {
    /// Packets like those seen that would be enough.
    pub fn packets_needed(&self) -> u64 {
        let each = self.bits / self.packets.max(1) as f64;
        (self.needed / each).ceil() as u64
    }
}

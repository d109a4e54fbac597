//! One SA and what it has carried.

/// SPI and the last sequence number.
#[derive(Debug, Clone, Copy)]
pub struct Sa {
    /// What its receiver knows it by.
    pub spi: u32,
    /// Of the last packet.
    pub sequence: u32,
}

impl Sa {
    /// Before its first packet.
    pub fn new(spi: u32) -> Self {
        Sa { spi, sequence: 0 }
    }
}

/// What an SA has carried, as its ends count it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Carried {
    /// How many.
    pub packets: u64,
    /// Payload before encryption.
    pub inner: u64,
    /// From the SPI to the ICV.
    pub esp: u64,
}

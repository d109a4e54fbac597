//! The SPIs of a capture and nothing else: which keys of a large log matter.

use rekeyscope_capture::file::CaptureReader;
use rekeyscope_capture::framing::{DatagramKind, Framing};
use rekeyscope_ipsec::sa::database::SaDatabase;
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::error::Error;
use rekeyscope_model::spi::Spi;
use std::collections::HashSet;

/// Reads a capture to its end. At most [`SaDatabase::MAX_SAS`] SPIs: packets of further SAs are not analysed either.
///
/// # Errors
/// [`Error::Capture`] when the system cannot read on.
pub fn spis_of(mut reader: CaptureReader) -> Result<HashSet<Spi>, Error> {
    // The analysis reads the capture again, and reports.
    let mut unheard = Diagnostics::default();
    let mut framing = Framing::default();
    let mut spis = HashSet::new();
    while let Some(frame) = reader.next_frame(&mut unheard)? {
        if let Some(datagram) = framing.decode(&frame, &mut unheard)
            && let DatagramKind::Esp { packet, .. } = datagram.kind
            && let Some(spi) = packet.first_chunk::<4>()
            && spis.len() < SaDatabase::MAX_SAS
        {
            spis.insert(Spi(u32::from_be_bytes(*spi)));
        }
    }
    Ok(spis)
}

//! The user's choices for an analysis.

use crate::pipeline::choice::TunnelChoice;
use rekeyscope_impact::account::AccountSettings;

/// The user's choices.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Rate that the tunnel should reach, bit/s.
    pub reference_bps: Option<f64>,
    /// Tunnels whose packets are analysed; all where `None`.
    pub tunnel: Option<TunnelChoice>,
    /// UDP and TCP ports that carry IKE and ESP like port 4500.
    pub esp_ports: Vec<u16>,
    /// Keep what a comparison with another capture point needs of each packet.
    pub two_points: bool,
}

impl Options {
    pub(crate) fn account(&self) -> AccountSettings {
        AccountSettings {
            reference_bps: self.reference_bps,
        }
    }
}

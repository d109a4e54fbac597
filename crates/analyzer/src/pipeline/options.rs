//! The user's choices for an analysis.

use crate::pipeline::choice::TunnelChoice;
use rekeyscope_impact::account::AccountSettings;
use std::fmt;

/// The ICVs that are checked. A key is always proven first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verify {
    /// Every packet.
    #[default]
    All,
    /// Every n-th packet of each SA.
    Sample(u64),
    /// The first n packets of each SA.
    First(u64),
}

impl fmt::Display for Verify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verify::All => f.write_str("all"),
            Verify::Sample(n) => write!(f, "sample:{n}"),
            Verify::First(k) => write!(f, "first:{k}"),
        }
    }
}

/// The user's choices.
#[derive(Debug, Clone)]
pub struct Options {
    /// The ICVs that are checked.
    pub verify: Verify,
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

impl Default for Options {
    fn default() -> Self {
        Options {
            verify: Verify::All,
            reference_bps: None,
            tunnel: None,
            esp_ports: Vec::new(),
            two_points: false,
        }
    }
}

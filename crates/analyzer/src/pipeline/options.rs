//! The user's choices for an analysis.

use rekeyscope_impact::account::AccountSettings;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::Tunnel;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

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

/// Most tunnels that an error lists.
const MOST_LISTED: usize = 20;

/// A choice among the tunnels. They are numbered in order of appearance, whatever is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TunnelChoice {
    /// By its `id` in the document.
    Index(usize),
    /// All that have this address at one of their ends.
    Address(IpAddr),
}

impl FromStr for TunnelChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let index = text.parse().map(TunnelChoice::Index);
        index
            .or_else(|_| text.parse().map(TunnelChoice::Address))
            .map_err(|_| {
                "expected the number of a tunnel, as the report has it, or the address of one of its ends"
                    .into()
            })
    }
}

impl fmt::Display for TunnelChoice {
    /// The choice as the command line has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TunnelChoice::Index(index) => index.fmt(f),
            TunnelChoice::Address(address) => address.fmt(f),
        }
    }
}

impl TunnelChoice {
    /// Tells whether a tunnel with this index and these ends is chosen.
    pub fn takes(self, index: TunnelIndex, ends: [IpAddr; 2]) -> bool {
        match self {
            TunnelChoice::Index(chosen) => chosen == index,
            TunnelChoice::Address(address) => ends.contains(&address),
        }
    }

    /// Makes sure that the capture holds such a tunnel.
    ///
    /// # Errors
    /// A sentence that lists what can be chosen.
    pub fn among(self, tunnels: &[Tunnel]) -> Result<(), String> {
        if tunnels.iter().any(|t| self.takes(t.id, [t.a, t.b])) {
            return Ok(());
        }
        let listed: Vec<String> = tunnels
            .iter()
            .take(MOST_LISTED)
            .map(|t| format!("{} ({} and {})", t.id, t.a, t.b))
            .collect();
        let more = match tunnels.len().saturating_sub(MOST_LISTED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Err(match listed.as_slice() {
            [] => format!("there is no tunnel {self}: the capture holds no IPsec"),
            listed => format!(
                "there is no tunnel {self}: choose one of {}{more}; one inside another's ESP is among them where the keys of that are known",
                listed.join(", ")
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::analysis::Encapsulation;

    #[test]
    fn an_error_lists_the_choices() {
        let tunnel = |id: usize| Tunnel {
            id,
            a: IpAddr::from([192, 0, 2, id as u8]),
            b: IpAddr::from([198, 51, 100, 1]),
            encapsulation: Encapsulation::Esp,
            ike_version: None,
            roles_known: true,
            nat: false,
            client_is_windows: false,
        };
        let tunnels: Vec<Tunnel> = (0..22).map(tunnel).collect();
        for choice in ["3", "192.0.2.21", "198.51.100.1"] {
            assert_eq!(choice.parse::<TunnelChoice>().unwrap().among(&tunnels), Ok(()));
        }
        let told = TunnelChoice::Index(22).among(&tunnels).unwrap_err();
        assert!(
            told.contains("no tunnel 22")
                && told.contains("19 (192.0.2.19 and")
                && told.contains("and 2 more;")
        );
        assert!(
            TunnelChoice::Index(0)
                .among(&[])
                .unwrap_err()
                .contains("no IPsec")
        );
        assert!("the first".parse::<TunnelChoice>().is_err());
    }
}

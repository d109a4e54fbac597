//! Windows' own client, whose limits nobody can set, in the finished lists.

use rekeyscope_model::analysis::{Analysis, Mode, TriggerKind};

/// Kilobyte lifetime that Windows' L2TP client proposes.
const KILOBYTES: u64 = 250_000;

/// How the packets show that the client of a tunnel is Windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowsClient {
    /// The limit that it proposes is that of Windows.
    Proposes,
    /// The vendor ID of its IKE says so.
    Named,
    /// IKEv1 in transport mode, as Windows' L2TP client speaks it (RFC 3193).
    Possible,
}

/// How the packets show that the client of this tunnel is Windows, if they do.
pub fn told_windows(analysis: &Analysis, tunnel: usize) -> Option<WindowsClient> {
    let client = analysis.tunnels.get(tunnel)?;
    let exchanges = analysis.exchanges_of(tunnel);
    let mut proposed = exchanges.filter_map(|e| e.lifetime?.kilobytes);
    let rekeys = analysis.rekeys_of(tunnel);
    let mut limits = rekeys.filter_map(|r| r.trigger.limit_kilobytes);
    let sas = analysis.sas_of(tunnel);
    let mut modes = sas.filter_map(|sa| sa.mode);
    if proposed.any(|kilobytes| kilobytes == KILOBYTES) || limits.any(|limit| limit == KILOBYTES) {
        Some(WindowsClient::Proposes)
    } else if client.client_is_windows {
        Some(WindowsClient::Named)
    } else {
        (client.ike_version == Some(1) && modes.any(|mode| mode == Mode::Transport))
            .then_some(WindowsClient::Possible)
    }
}

/// A volume at which SAs end may be the limit of Windows: it renews a little before that, others count 1,024 bytes as a kilobyte, and
/// without keys a full packet has up to 57 bytes of ESP around 1,200 (header, IV, padding, ICV).
pub fn is_of_windows(kilobytes: u64) -> bool {
    (KILOBYTES * 9 / 10..=KILOBYTES * 1_024 / 1_000 * 1_257 / 1_200).contains(&kilobytes)
}

/// The client of this tunnel is Windows or may be, and its SAs end at the volume that no setting moves.
pub fn renews_as_windows(analysis: &Analysis, tunnel: usize, explained_kilobytes: Option<u64>) -> bool {
    let rekeys = analysis.rekeys_of(tunnel);
    let by_volume = rekeys.filter(|r| r.trigger.kind == TriggerKind::Volume);
    let mut limits =
        by_volume.filter_map(|r| r.trigger.bytes.map(|b| b / 1_000).or(r.trigger.limit_kilobytes));
    told_windows(analysis, tunnel).is_some()
        && (limits.any(is_of_windows) || explained_kilobytes.is_some_and(is_of_windows))
}

//! What the user and the trigger analysis set.

use rekeyscope_model::analysis::Direction;

/// Effect of interest as a share of throughput, where nobody says otherwise.
pub const INTEREST: f64 = 0.03;
/// Lifetimes that a person would set instead of Windows' 250,000 kB.
pub const PROJECTED_KILOBYTES: [u64; 4] = [500_000, 1_000_000, 2_000_000, 10_000_000];

/// What the user and the trigger analysis set.
#[derive(Debug, Clone)]
pub struct MethodSettings {
    /// Index of the tunnel, copied into the results.
    pub tunnel: usize,
    /// Direction, copied into the results.
    pub direction: Direction,
    /// Draw placebos on the time clock instead of the byte clock.
    pub time_triggered: bool,
    /// Some rekeys are known to be triggered by volume.
    pub volume_triggered: bool,
    /// Rates count ESP bytes (SPI to ICV) because keys are missing.
    pub outer: bool,
    /// Rate to explain, bit/s.
    pub reference_bps: Option<f64>,
    /// Effect of interest as a share of throughput (default 0.03).
    pub interest: f64,
    /// Seed of the placebo draws.
    pub seed: u64,
    /// Placebo draws R (default 9,999).
    pub draws: usize,
    /// All rekeys of the tunnel, also those without a switch in this direction.
    pub rekeys_total: usize,
    /// Indexes in the document's `rekeys` of the rekeys of the tunnel, ascending: sentences call a rekey by its place in
    /// here. One that is not in here is called by its index, as in a document with one tunnel.
    pub own_rekeys: Vec<usize>,
    /// Lifetimes to project, kilobytes.
    pub projected_kilobytes: Vec<u64>,
    /// Mean bytes per rekey of the SA's own counting over new bytes of this series (1 where unknown): turns a lifetime
    /// into series bytes.
    pub lifetime_bytes_per_new_byte: f64,
}

impl MethodSettings {
    /// What holds when nobody says otherwise: interest 3 % of throughput, 9,999 draws on the byte clock, seed 1, no
    /// reference rate, lifetimes of
    /// [`PROJECTED_KILOBYTES`].
    pub fn new(tunnel: usize, direction: Direction) -> MethodSettings {
        MethodSettings {
            tunnel,
            direction,
            time_triggered: false,
            volume_triggered: true,
            outer: false,
            reference_bps: None,
            interest: INTEREST,
            seed: 1,
            draws: 9_999,
            rekeys_total: 0,
            own_rekeys: Vec::new(),
            projected_kilobytes: PROJECTED_KILOBYTES.to_vec(),
            lifetime_bytes_per_new_byte: 1.0,
        }
    }
}

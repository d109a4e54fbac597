//! The three lines of an answer.

/// The three lines that everyone reads.
pub(crate) struct Answer {
    /// Index in `tunnels` of the tunnel that the answer speaks of; `None` where there is none.
    pub(crate) tunnel: Option<usize>,
    /// Line 1 with the number: in English a line of 80 columns.
    pub(crate) headline: String,
    /// The cause that most of them share, or what there is instead; may be empty.
    pub(crate) why: String,
    /// Line 3, the remedy; backticks set off what is typed.
    pub(crate) change: String,
}

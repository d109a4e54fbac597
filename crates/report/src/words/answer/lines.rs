//! The three lines of an answer.

/// The three lines that everyone reads.
pub(crate) struct Answer {
    /// Line 1 with the number: in English a line of 80 columns.
    pub(crate) headline: String,
    /// The cause that most of them share, or what there is instead; may be empty.
    pub(crate) why: String,
    /// Line 3, the remedy; backticks set off what is typed.
    pub(crate) change: String,
}

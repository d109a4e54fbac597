//! The three lines of an answer.

/// What everyone reads.
pub(crate) struct Answer {
    /// At most 15 words with the number (in Japanese 40 wide characters: both are a line of 80 columns).
    pub(crate) headline: String,
    /// The cause that most of them share, or what there is instead; may be empty.
    pub(crate) why: String,
    /// What to do; backticks set off what is typed.
    pub(crate) change: String,
}

//! Demands on the ledger.

/// A table, and the demands on it.
#[derive(Debug, Clone)]
pub(super) struct Section {
    title: &'static str,
    about: &'static str,
    table: String,
    /// Demands, and the cells in which they do not hold.
    demands: Vec<(&'static str, Vec<String>)>,
}

impl Section {
    pub(super) fn new(title: &'static str, about: &'static str, table: String) -> Self {
        Section {
            title,
            about,
            table,
            demands: Vec::new(),
        }
    }

    /// Demands something, which does not hold in the cells named.
    pub(super) fn demand(&mut self, what: &'static str, broken: Vec<&str>) {
        let broken = broken.into_iter().map(str::to_owned).collect();
        self.demands.push((what, broken));
    }

    /// The section as Markdown.
    pub(super) fn markdown(&self) -> String {
        format!("## {}\n\n{}\n\n{}", self.title, self.about, self.table)
    }

    /// Rows of the table of demands.
    pub(super) fn rows(&self) -> impl Iterator<Item = Vec<String>> {
        self.demands.iter().map(|(what, broken)| {
            let found = if broken.is_empty() {
                "holds".to_owned()
            } else {
                format!("**broken**: {}", broken.join("; "))
            };
            vec![(*what).to_owned(), found]
        })
    }
}

//! Tables as Markdown.

/// A table with its head; columns but the first stand to the right.
pub(super) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head: Vec<String> = head.iter().map(|cell| (*cell).to_owned()).collect();
    let sides = head
        .iter()
        .enumerate()
        .map(|(k, _)| if k == 0 { "---" } else { "--:" });
    let sides: Vec<String> = sides.map(str::to_owned).collect();
    let body: String = rows.iter().map(|row| line(row)).collect();
    format!("{}{}{body}", line(&head), line(&sides))
}

/// Percent of a whole.
pub(super) fn percent(part: f64, whole: f64) -> String {
    if whole > 0.0 {
        format!("{:.1} %", 100.0 * part / whole)
    } else {
        "–".to_owned()
    }
}

/// Milliseconds.
pub(super) fn milliseconds(nanos: f64) -> String {
    format!("{:.0} ms", nanos / 1e6)
}

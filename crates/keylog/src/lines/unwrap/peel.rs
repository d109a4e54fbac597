//! Takes wrappings off, one after the other, until none is left: a mail may quote a page that shows an export of a log.

use crate::lines::text::Text;
use crate::lines::unwrap::framed::{Begins, framed};
use crate::lines::unwrap::quoting::bars;
use crate::lines::unwrap::{
    characters, columns, escapes, export, html, json, newest_first, prefixes, quoting, terminal,
};

/// A layer: the text without its wrapping, `None` where there is none.
type Unwrapping = fn(&Text) -> Option<Text>;

/// The order matters where one wrapping looks like another: a value is whole only when the terminal's line ends are gone, and times are compared
/// when everything before them is.
const LAYERS: [Unwrapping; 16] = [
    export::export,
    characters::characters,
    escapes::quoted_printable,
    terminal::wrapped,
    quoting::quoting,
    json::json,
    html::html,
    columns::columns,
    prefixes::numbered,
    prefixes::named,
    terminal::pager,
    escapes::as_value,
    escapes::escapes,
    escapes::continued,
    prefixes::collector,
    newest_first::newest_first,
];
/// Most wrappings of one text.
const MOST_LAYERS: usize = 24;

/// The text as its writer had it, where `begins` tells the lines that begin a record.
pub(crate) fn unwrapped(mut text: Text, begins: Begins) -> Text {
    for _ in 0..MOST_LAYERS {
        let layers = || LAYERS.iter().find_map(|layer| layer(&text));
        let next = bars(&text, begins)
            .or_else(layers)
            .or_else(|| framed(&text, begins));
        let Some(next) = next else {
            break;
        };
        text = next;
    }
    text
}

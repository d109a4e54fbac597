//! A piece of advice.

use rekeyscope_model::text::{Catalogue, Message};

/// A piece of advice; its texts are messages of the catalogues.
pub(crate) struct Advice {
    /// Whom it concerns.
    pub(super) system: String,
    /// Why it is given here; `None` where nothing in the capture names the system.
    pub(super) because: Option<Message>,
    /// The change; backticks set off what is typed.
    pub(super) text: Message,
}

impl Advice {
    /// The change alone: the first sentence of the text.
    pub(crate) fn instruction(&self, t: &Catalogue) -> String {
        let text = t.say(&self.text);
        let end = [". ", "。"]
            .iter()
            .find_map(|stop| Some(text.find(stop)? + stop.trim_end().len()));
        text.get(..end.unwrap_or(text.len()))
            .unwrap_or_default()
            .to_owned()
    }

    /// The advice as one paragraph.
    pub(crate) fn sentence(&self, t: &Catalogue) -> String {
        let (id, because) = match &self.because {
            None => ("advice", String::new()),
            Some(because) => ("advice-because", t.say(because)),
        };
        fill!(t, id, system = self.system, because, text = t.say(&self.text))
    }
}

//! The messages of one language.

use crate::text::japanese;
use crate::text::language::Language;
use crate::text::message::{Arg, Message};
use fluent::concurrent::FluentBundle;
use fluent::{FluentArgs, FluentResource, FluentValue};
use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::sync::LazyLock;

/// The files of each language, as they are found in `messages/`.
macro_rules! files {
    ($($file:literal)*) => {
        const ENGLISH: &[&str] = &[$(include_str!(concat!("../../messages/en/", $file, ".ftl")),)*];
        const JAPANESE: &[&str] = &[$(include_str!(concat!("../../messages/ja/", $file, ".ftl")),)*];
    };
}

files! {
    "general" "labels" "page" "plot" "report" "answer" "verdict" "account" "comparison" "attempts"
    "explanations" "events" "watch" "findings" "rule" "keys" "overlay" "oddities" "two-points"
}

/// All messages of one language.
pub struct Catalogue {
    language: Language,
    bundle: FluentBundle<FluentResource>,
}

thread_local! {
    static MISSING: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}
/// Most identifiers that are noted: a program with more of them missing has been told enough.
const MOST_MISSING: usize = 100;

/// Called where a catalogue cannot say a message.
fn note_missing(id: &str) {
    MISSING.with_borrow_mut(|ids| {
        if ids.len() < MOST_MISSING {
            ids.push(id.to_owned());
        }
    });
}

/// The messages that catalogues could not say on this thread since it was asked last: how the tests of every crate know that
/// nothing is missing.
pub fn take_missing() -> Vec<String> {
    MISSING.take()
}

impl Catalogue {
    /// The catalogue of a language; parsed when it is first asked for.
    pub fn of(language: Language) -> &'static Catalogue {
        static ENGLISH: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::parse(Language::English));
        static JAPANESE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::parse(Language::Japanese));
        match language {
            Language::English => &ENGLISH,
            Language::Japanese => &JAPANESE,
        }
    }

    /// The language that it is in.
    pub fn language(&self) -> Language {
        self.language
    }

    /// A label: a message without arguments.
    pub fn word(&self, id: &str) -> String {
        self.say(&Message::new(id))
    }

    /// Tells whether it has a message.
    pub fn has(&self, message: &Message) -> bool {
        self.bundle.has_message(&message.id)
    }

    /// The label of a value that the document names; see [`Message::of`].
    pub fn name(&self, kind: &str, name: &str) -> String {
        self.say(&Message::of(kind, name))
    }

    /// A message whose arguments are shown as they are.
    pub fn fill(&self, id: &str, args: &[(&str, &dyn fmt::Display)]) -> String {
        self.fill_with(id, args)
    }

    /// The same of values of one kind: for templates.
    pub fn fill_with<V: fmt::Display>(&self, id: &str, args: &[(&str, V)]) -> String {
        let message = Message::new(id);
        self.say(
            &args
                .iter()
                .fold(message, |m, (name, value)| m.with(name, value.to_string())),
        )
    }

    /// Several texts as the language joins them where none is the last one: "2, 3, 6".
    pub fn joined(&self, items: &[String]) -> String {
        items.join(&self.word("comma"))
    }

    /// A message in words; in English where this language lacks it, its identifier where that does too.
    pub fn say(&self, message: &Message) -> String {
        self.attempt(message)
            .or_else(|| {
                note_missing(&message.id);
                Catalogue::of(Language::English).attempt(message)
            })
            .unwrap_or_else(|| message.id.clone())
    }

    /// Sentences one after the other.
    pub fn say_all(&self, messages: &[Message]) -> String {
        let said: Vec<String> = messages.iter().map(|m| self.say(m)).collect();
        self.sentences(&said)
    }

    /// The same of sentences that are said already.
    pub fn sentences(&self, said: &[String]) -> String {
        let mut text = String::new();
        for (place, sentence) in said.iter().enumerate() {
            match self.language {
                Language::English if place > 0 => text.push(' '),
                // A Japanese headline has no full stop of its own.
                Language::Japanese if place > 0 && !text.ends_with('。') => text.push('。'),
                _ => {}
            }
            text.push_str(sentence);
        }
        text
    }

    /// A sentence of a document: as it stands there in English, otherwise said from its messages where this catalogue
    /// knows all of them.
    pub fn sentence<'a>(&self, english: &'a str, messages: &[Message]) -> Cow<'a, str> {
        if self.language == Language::English || messages.is_empty() {
            return Cow::Borrowed(english);
        }
        let said: Option<Vec<String>> = messages.iter().map(|m| self.attempt(m)).collect();
        match said {
            Some(said) => Cow::Owned(self.sentences(&said)),
            None => Cow::Borrowed(english),
        }
    }

    /// `None` where this language lacks the message, or the message an argument.
    pub(super) fn attempt(&self, message: &Message) -> Option<String> {
        let pattern = self.bundle.get_message(&message.id)?.value()?;
        let mut args = FluentArgs::new();
        for (name, arg) in &message.args {
            args.set(name.as_str(), self.value(arg)?);
        }
        let mut errors = Vec::new();
        let said = self.bundle.format_pattern(pattern, Some(&args), &mut errors);
        errors.is_empty().then(|| self.spaced(said.into_owned()))
    }

    fn value(&self, arg: &Arg) -> Option<FluentValue<'static>> {
        Some(match arg {
            Arg::Count(n) => (*n).into(),
            Arg::Number(n) => (*n).into(),
            other => self.item(other)?.into(),
        })
    }

    /// Several arguments as one text; `None` where one of them cannot be said.
    pub fn list(&self, items: &[Arg]) -> Option<String> {
        let said: Option<Vec<String>> = items.iter().map(|item| self.item(item)).collect();
        let said = said?;
        Some(match said.split_last() {
            None => String::new(),
            Some((only, [])) => only.clone(),
            Some((last, others)) => {
                let comma = self.attempt(&Message::new("list-comma"))?;
                others.join(&comma) + &self.attempt(&Message::new("list-and"))? + last
            }
        })
    }

    fn item(&self, arg: &Arg) -> Option<String> {
        Some(match arg {
            Arg::Count(n) => n.to_string(),
            Arg::Number(n) => n.to_string(),
            Arg::Text(text) => self.text(text),
            Arg::Message(message) => self.attempt(message)?,
            Arg::List(items) => self.list(items)?,
        })
    }

    /// A text as this language writes it in a sentence: Japanese spells the units of a duration out.
    fn text(&self, text: &str) -> String {
        match self.language {
            Language::English => text.to_owned(),
            Language::Japanese => {
                japanese::range(&japanese::duration(text).unwrap_or_else(|| text.to_owned()))
            }
        }
    }

    /// A sentence with the spaces of its language: Japanese has none behind a unit that is spelt out.
    fn spaced(&self, said: String) -> String {
        match self.language {
            Language::English => said,
            Language::Japanese => japanese::tightened(&said),
        }
    }

    fn parse(language: Language) -> Self {
        let mut bundle = FluentBundle::new_concurrent(vec![language.tag().parse().unwrap_or_default()]);
        // The marks of Unicode TR 9 around arguments are for mixed directions; terminals show them as boxes.
        bundle.set_use_isolating(false);
        for file in Self::files(language) {
            // Mistakes in a file are left out here and found by the tests.
            let resource = FluentResource::try_new((*file).to_owned()).unwrap_or_else(|(whole, _)| whole);
            let _ = bundle.add_resource(resource);
        }
        Catalogue { language, bundle }
    }

    /// The text of the files.
    pub(super) fn files(language: Language) -> &'static [&'static str] {
        match language {
            Language::English => ENGLISH,
            Language::Japanese => JAPANESE,
        }
    }
}

impl fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Catalogue")
            .field("language", &self.language)
            .finish_non_exhaustive()
    }
}

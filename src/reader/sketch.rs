//! What a record's text looks like to derivation: its prose, names and commands, whatever the format.

use crate::text::head;

/// The most texts of one sort that a sketch keeps; what comes later adds nothing to short tiers.
const MAX_TEXTS: usize = 24;
/// The most bytes of one text that a sketch keeps.
const MAX_BYTES: usize = 2_000;

/// The pieces of a text that tiers are derived from, each sort in the order of the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sketch {
    /// Paragraphs of running text.
    pub prose: Vec<String>,
    /// Items of lists, rows of tables, quotes: used where there is no prose.
    pub asides: Vec<String>,
    /// Code inside lines: commands, identifiers, messages.
    pub code: Vec<String>,
    /// Terms that a paragraph or item begins with, in bold.
    pub terms: Vec<String>,
    /// Lines of the first block of code.
    pub commands: Vec<String>,
    /// How many paragraphs, items and lines of code stand before those of sections that were folded into this one.
    own: Option<[usize; 3]>,
}

impl Sketch {
    /// Adds a text to one of the lists, unless it is empty or the list is full.
    pub(super) fn push(list: &mut Vec<String>, text: &str) {
        let text = text.trim();
        if !text.is_empty() && list.len() < MAX_TEXTS {
            list.push(head(text, MAX_BYTES).to_owned());
        }
    }

    /// How many texts of each sort there are.
    pub(super) fn lengths(&self) -> [usize; 5] {
        let Self { prose, asides, code, terms, commands, .. } = self;
        [prose, asides, code, terms, commands].map(Vec::len)
    }

    /// Drops what was added since there were so many texts of each sort.
    pub(super) fn truncate(&mut self, lengths: [usize; 5]) {
        let Self { prose, asides, code, terms, commands, .. } = self;
        for (texts, n) in [prose, asides, code, terms, commands].into_iter().zip(lengths) {
            texts.truncate(n);
        }
    }

    /// Adds the pieces of a section that is folded into this one.
    pub(super) fn fold(&mut self, next: Self) {
        let own = [self.prose.len(), self.asides.len(), self.commands.len()];
        self.own.get_or_insert(own);
        self.append(next);
    }

    /// The sketch without the sections that were folded into it, unless nothing else is there.
    pub(super) fn own(&self) -> std::borrow::Cow<'_, Self> {
        let Some([n_prose, n_asides, n_commands]) = self.own else {
            return std::borrow::Cow::Borrowed(self);
        };
        if n_prose + n_asides + n_commands == 0 {
            return std::borrow::Cow::Borrowed(self);
        }
        let mut own = self.clone();
        own.prose.truncate(n_prose);
        own.asides.truncate(n_asides);
        own.commands.truncate(n_commands);
        std::borrow::Cow::Owned(own)
    }

    /// Adds the pieces of a text that follows this one.
    pub(super) fn append(&mut self, next: Self) {
        self.prose.extend(next.prose);
        self.asides.extend(next.asides);
        self.code.extend(next.code);
        self.terms.extend(next.terms);
        if self.commands.is_empty() {
            self.commands = next.commands;
        }
    }
}

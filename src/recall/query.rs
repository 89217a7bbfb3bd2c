//! A question as the stages take it: its words, what they weigh, and how they may be indexed.

use std::collections::BTreeSet;

use crate::recall::RecallError;
use crate::record::Tier;
use crate::store::{Field, Forward};
use crate::text::{self, Form, Language};

/// The most words of a query that count. Longer questions are texts; their first words say enough,
/// and the time of an answer stays bounded.
const MAX_WORDS: usize = 512;

/// A question that has at least one word.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    text: String,
    phrase: String,
    words: Vec<QueryWord>,
    depth: Tier,
    tag: String,
}

/// A distinct word of a query.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QueryWord {
    /// Folded, not stemmed.
    pub(crate) text: String,
    /// The forms of the word that stand in the query, folded: `text` and what was merged into it.
    pub(crate) forms: Vec<String>,
    /// How it stands in the query.
    pub(crate) form: Form,
    /// How often it stands there.
    pub(crate) n: u32,
    /// The places among all words of the query where it stands.
    pub(crate) places: Vec<u32>,
}

impl Query {
    /// Takes a question as it was asked.
    ///
    /// # Errors
    /// [`RecallError::EmptyQuery`] if there is nothing but white space,
    /// [`RecallError::NoWords`] if there is no letter or digit in it.
    pub fn parse(text: &str) -> Result<Self, RecallError> {
        if text.trim().is_empty() {
            return Err(RecallError::EmptyQuery);
        }
        let mut words: Vec<QueryWord> = Vec::new();
        for (place, word) in (0..).zip(text::words(text).into_iter().take(MAX_WORDS)) {
            match words.iter_mut().find(|known| known.text == word.text) {
                Some(known) => {
                    known.n += 1;
                    known.places.push(place);
                }
                None => words.push(QueryWord {
                    forms: vec![word.text.clone()],
                    text: word.text,
                    form: word.form,
                    n: 1,
                    places: vec![place],
                }),
            }
        }
        if words.is_empty() {
            return Err(RecallError::NoWords { query: text.to_owned() });
        }
        Ok(Self {
            text: text.to_owned(),
            phrase: text::phrase(text),
            words,
            depth: Tier::Detail,
            tag: String::new(),
        })
    }

    /// The question as it was asked.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The question in the form in which triggers are looked up.
    pub fn phrase(&self) -> &str {
        &self.phrase
    }

    /// Gives the question a name of its own, which formats with a place for it repeat.
    #[must_use]
    pub fn tagged(mut self, tag: &str) -> Self {
        tag.clone_into(&mut self.tag);
        self
    }

    /// The name of the question; empty for none.
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// Ranks by the tiers down to `depth` alone: for measuring what each tier adds.
    ///
    /// Triggers, title and breadcrumb always count. Which records are candidates and how rare a word is
    /// stays as it is with all tiers.
    #[must_use]
    pub fn ranked_down_to(mut self, depth: Tier) -> Self {
        self.depth = depth;
        self
    }

    /// The fields that count, from the first on.
    pub(crate) fn fields(&self) -> impl Iterator<Item = Field> {
        let n_below = Tier::ALL.into_iter().filter(|tier| *tier > self.depth).count();
        Field::ALL.into_iter().take(Field::ALL.len() - n_below)
    }

    /// Takes out of a record what lies below the depth.
    pub(crate) fn limit(&self, forward: &mut Forward) {
        let Forward { description, summary, detail, forms, .. } = forward;
        if self.depth < Tier::Description {
            description.clear();
        }
        if self.depth < Tier::Summary {
            summary.clear();
        }
        if self.depth < Tier::Detail {
            detail.clear();
            // Those of all fields together: which are of the detail alone is not told.
            forms.clear();
        }
    }

    pub(crate) fn words(&self) -> &[QueryWord] {
        &self.words
    }
}

impl QueryWord {
    /// Takes in another form of the same word.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.n += other.n;
        self.forms.extend(other.forms.iter().cloned());
        self.places.extend(&other.places);
        self.places.sort_unstable();
    }

    /// The terms under which records in any of `languages` have this word, without repeats.
    ///
    /// The language of a query is not guessed: questions are too short for that, and one store
    /// may hold many languages.
    pub(crate) fn variants(&self, languages: &[Language]) -> Vec<String> {
        let word = text::Word { text: self.text.clone(), form: self.form };
        languages
            .iter()
            .map(|&language| word.term(language))
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect()
    }
}

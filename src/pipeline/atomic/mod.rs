//! Questions for models with a window of a few hundred tokens. The harness enumerates, decides by code
//! what code can decide, asks one closed question for each candidate that is left, and composes the
//! answer itself. The model never searches, counts, lists or writes.
//!
//! Every candidate is in the answer: as a site, as rejected, or as undecided. An answer with undecided
//! candidates is partial and says which they are.

mod narrow;
mod prompt;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::pipeline::citation::search::{Hit, Mode, Pattern, Search, search_files};
use crate::reader::{Usage, usages};

pub use narrow::{Asked, Mark, Narrow, NarrowError, Probe, RESERVED_TOKENS};

/// A question that can be answered candidate by candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Question {
    /// Where is this function called?
    Calls {
        /// The name of the function, without its scopes.
        name: String,
    },
    /// On which of the lines that hold this text is the answer yes?
    Lines {
        /// The text that makes a line a candidate.
        pattern: Pattern,
        /// What is asked of each: a question that yes or no answers.
        ask: String,
    },
}

impl Question {
    /// Reads a question as people write it: `Where is the function `f` called?`, with or without
    /// quotation marks. `None` for any other.
    ///
    /// # Examples
    /// ```
    /// use psos::pipeline::atomic::Question;
    ///
    /// let question = Question::parse("Where is the function `add_line` called?");
    /// assert_eq!(question, Some(Question::Calls { name: "add_line".to_owned() }));
    /// assert_eq!(Question::parse("Why is the function slow?"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
        let lower: Vec<&str> = lower.iter().map(String::as_str).collect();
        let at = match lower.as_slice() {
            ["where", "is" | "are", "the", "function" | "method", _, rest @ ..]
                if is_call(rest) =>
            {
                4
            }
            ["where", "is" | "are", "function" | "method" | "the", _, rest @ ..]
                if is_call(rest) =>
            {
                3
            }
            ["where", "is" | "are", _, rest @ ..] if is_call(rest) => 2,
            ["what" | "who", "calls", "the", "function" | "method", _] => 4,
            ["what" | "who", "calls", _] => 2,
            _ => return None,
        };
        let is_quote =
            |c: char| !(c.is_alphanumeric() || c == '_' || c == ':' || c == '.' || c == '-');
        // What is no name unless it is quoted.
        if matches!(*lower.get(at)?, "the" | "function" | "method" | "this" | "that" | "it") {
            return None;
        }
        let name = words.get(at)?.trim_matches(is_quote).trim_end_matches(['.', ':']);
        // The last part of a path is what stands at a call.
        let name = name.rsplit([':', '.']).next().unwrap_or_default();
        (!name.is_empty()).then(|| Self::Calls { name: name.to_owned() })
    }

    fn pattern(&self) -> Pattern {
        match self {
            Self::Calls { name } => Pattern { text: name.clone(), mode: Mode::Word },
            Self::Lines { pattern, .. } => pattern.clone(),
        }
    }
}

fn is_call(rest: &[&str]) -> bool {
    let first = rest.first().map(|word| word.trim_end_matches(['?', '.']));
    matches!(first, Some("called" | "invoked")) && rest.len() == 1
}

/// A line that is part of the answer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Site {
    /// From the root, with `/` between folders.
    pub file: String,
    /// Counted from 1.
    pub line: u32,
    /// Who said so.
    pub by: Decider,
}

/// Who decided a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decider {
    /// Code, by the syntax of the file.
    Syntax,
    /// The model, by one closed question.
    Model,
}

/// A candidate about which nothing is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undecided {
    /// Where it is.
    pub hit: Hit,
    /// Why nothing is known.
    pub why: String,
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The lines for which the answer is yes, by file and line.
    pub sites: Vec<Site>,
    /// How many candidates code rejected, by what they are.
    pub rejected_by_syntax: BTreeMap<String, u32>,
    /// How many the model rejected.
    pub rejected_by_model: u32,
    /// Those about which nothing is known. Without any, the answer is complete.
    pub undecided: Vec<Undecided>,
    /// The search behind it: its candidates are all there are.
    pub search: Search,
}

impl Answer {
    /// Whether every candidate was found and decided.
    pub fn is_complete(&self) -> bool {
        self.undecided.is_empty() && self.search.is_exhaustive()
    }

    /// The answer in words, composed by the harness.
    pub fn text(&self) -> String {
        let place = |file: &str, line: u32| format!("- {file}:{line}\n");
        let mut text = match self.sites.len() {
            0 if self.is_complete() => format!(
                "Nowhere: {} files ({} bytes) were searched, and none of {} candidates is one.\n",
                self.search.n_files,
                self.search.n_bytes,
                self.search.hits.len()
            ),
            0 => "None found, but not everything could be decided.\n".to_owned(),
            n => format!("{n} {}:\n", if n == 1 { "place" } else { "places" }),
        };
        text.extend(self.sites.iter().map(|site| place(&site.file, site.line)));
        if !self.undecided.is_empty() {
            text.push_str("Undecided:\n");
            for Undecided { hit, why } in &self.undecided {
                text.push_str(place(&hit.file, hit.line).trim_end());
                text.extend([format!(": {why}\n")]);
            }
        }
        for unsearched in &self.search.unsearched {
            text.extend([format!("Not searched: {} ({})\n", unsearched.file, unsearched.why)]);
        }
        text
    }
}

/// A candidate that code could not decide, with what stands around it.
struct Open {
    hit: Hit,
    context: prompt::Context,
}

/// Answers a question about a tree. The model is asked at most `max_calls` times, the three calls that
/// measure its window included, and not at all when code can decide everything.
///
/// Errors of the model leave candidates undecided; nothing here fails.
pub fn answer(root: &Path, question: &Question, model: &mut Narrow<'_>, max_calls: u32) -> Answer {
    let mut sites = BTreeSet::new();
    let mut rejected_by_syntax = BTreeMap::new();
    let mut open = Vec::new();
    let search = search_files(root, &question.pattern(), &mut |file, bytes, hits| {
        let kinds = match question {
            Question::Calls { name } => {
                let offsets: Vec<usize> =
                    hits.iter().filter_map(|hit| usize::try_from(hit.offset).ok()).collect();
                usages(file, bytes, name, &offsets)
            }
            Question::Lines { .. } => vec![Usage::Unclear; hits.len()],
        };
        for (hit, kind) in hits.iter().zip(kinds) {
            match kind {
                Usage::Call => {
                    let (file, line) = (hit.file.clone(), hit.line);
                    sites.insert(Site { file, line, by: Decider::Syntax });
                }
                Usage::Unclear => {
                    open.push(Open { hit: hit.clone(), context: prompt::Context::of(bytes, hit) });
                }
                other => *rejected_by_syntax.entry(kind_name(other).to_owned()).or_insert(0) += 1,
            }
        }
    });
    // A line that is a site already needs no question; a line of several candidates needs one.
    let mut asked = BTreeSet::new();
    open.retain(|open| {
        let place = (open.hit.file.clone(), open.hit.line);
        let is_site = sites.iter().any(|site| (&site.file, site.line) == (&place.0, place.1));
        !is_site && asked.insert(place)
    });
    let mut undecided = Vec::new();
    let mut rejected_by_model = 0;
    for Open { hit, context } in open {
        match ask(question, &hit, &context, model, max_calls) {
            Ok(true) => {
                sites.insert(Site { file: hit.file, line: hit.line, by: Decider::Model });
            }
            Ok(false) => rejected_by_model += 1,
            Err(error) => undecided.push(Undecided { hit, why: error.to_string() }),
        }
    }
    Answer {
        sites: sites.into_iter().collect(),
        rejected_by_syntax,
        rejected_by_model,
        undecided,
        search,
    }
}

/// One candidate, one question.
fn ask(
    question: &Question,
    hit: &Hit,
    context: &prompt::Context,
    model: &mut Narrow<'_>,
    max_calls: u32,
) -> Result<bool, NarrowError> {
    if !model.is_probed() {
        if model.asked().len() + 4 > max_calls as usize {
            return Err(NarrowError::NoCallsLeft);
        }
        model.probe()?;
    }
    if model.asked().len() >= max_calls as usize {
        return Err(NarrowError::NoCallsLeft);
    }
    let prompt = prompt::closed(question, hit, context, model.max_prompt_bytes())?;
    model.ask(&format!("{}:{}", hit.file, hit.line), &prompt)
}

fn kind_name(usage: Usage) -> &'static str {
    match usage {
        Usage::Call => "call",
        Usage::Definition => "definition",
        Usage::Import => "import",
        Usage::Comment => "comment",
        Usage::Text => "text",
        Usage::Mention => "mention",
        Usage::Unclear => "unclear",
    }
}

#[cfg(test)]
mod tests;

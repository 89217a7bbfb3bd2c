//! A suite: a tree of content, files of questions about it, and what is reported of the answers.
//!
//! Each file of questions has a role. Code that tunes loads [`Role::Tune`] and nothing else
//! (`load::splits` reads only the roles it is asked for); the other roles are for judging.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::problem::{Notes, lines};
use super::{EvalError, Judged, Parsed, Problem, ProblemKind, Question};

/// The level of a question that nothing in the corpus answers.
pub const NEGATIVE: &str = "negative";

/// What a suite file says, as it stands there.
///
/// # Examples
/// ```
/// let suite = psos::eval::Suite::parse("guide.toml", r#"
///     schema_version = 1
///     name = "guide"
///     tree = "../corpora/guide"
///     forms = ["authored", "derived"]
///     budget_tokens = 2000
///     [[split]]
///     name = "tune"
///     role = "tune"
///     questions = "guide/tune.jsonl"
/// "#)?;
/// assert_eq!(suite.splits.len(), 1);
/// # Ok::<(), psos::eval::EvalError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// The version of the format, [`Suite::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The name under which its numbers are reported.
    pub name: String,
    /// The folder with the content, relative to the suite file.
    pub tree: String,
    /// In which forms of its tiers the tree is judged, each by itself.
    pub forms: Vec<Form>,
    /// What an answer may cost, in tokens of [`crate::text::count`].
    pub budget_tokens: u32,
    /// The budgets at which the recall-against-budget curve is measured; no curve when empty.
    #[serde(default)]
    pub curve_tokens: Vec<u32>,
    /// What the tokens of an answer are compared with.
    #[serde(default)]
    pub token_baselines: Vec<TokenBaseline>,
    /// The files of questions.
    #[serde(rename = "split")]
    pub splits: Vec<Split>,
}

/// Who wrote the tiers that a tree is judged with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// The tiers that people wrote, where there are any: frontmatter, comments, sidecars.
    Authored,
    /// Only what psos derives from the content, as if nobody had written tiers.
    Derived,
}

impl Form {
    /// The name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Authored => "authored",
            Self::Derived => "derived",
        }
    }
}

/// What the questions of a file may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Looked at while building: its numbers show progress and prove nothing.
    Tune,
    /// For judging only.
    Heldout,
    /// For judging only; questions that avoid the words of their answers.
    Hard,
    /// For judging only; questions that nothing answers.
    Negative,
}

impl Role {
    /// All roles, in their order.
    pub const ALL: [Self; 4] = [Self::Tune, Self::Heldout, Self::Hard, Self::Negative];

    /// The name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tune => "tune",
            Self::Heldout => "heldout",
            Self::Hard => "hard",
            Self::Negative => "negative",
        }
    }

    /// Whether whoever builds must not learn from it.
    pub const fn is_held_out(self) -> bool {
        !matches!(self, Self::Tune)
    }
}

/// What an answer's tokens are compared with: what a reader without recall would have to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TokenBaseline {
    /// The whole file that the right record stands in.
    GoldFile,
    /// The whole files of the first three hits.
    Top3Files,
    /// The description of every record of the corpus.
    DescriptionList,
}

impl TokenBaseline {
    /// All of them, in their order.
    pub const ALL: [Self; 3] = [Self::GoldFile, Self::Top3Files, Self::DescriptionList];

    /// What it is, in words.
    pub const fn title(self) -> &'static str {
        match self {
            Self::GoldFile => "whole file of the right record",
            Self::Top3Files => "whole files of the first three hits",
            Self::DescriptionList => "descriptions of all records",
        }
    }
}

/// A file of questions.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// The name under which it is reported.
    pub name: String,
    /// What it may be used for.
    pub role: Role,
    /// The file, relative to the suite file.
    pub questions: String,
}

impl Suite {
    /// The version of the format that this build reads.
    pub const SCHEMA_VERSION: u32 = 1;

    /// Reads a suite file.
    ///
    /// # Errors
    /// [`EvalError::Format`] when it is not TOML of this shape, [`EvalError::Version`] when it is of
    /// another version, [`EvalError::Refused`] when it has no form or no split, or two of one name.
    pub fn parse(file: &str, text: &str) -> Result<Self, EvalError> {
        let format = |source: toml::de::Error| EvalError::Format {
            file: file.to_owned(),
            what: "suite",
            source: Box::new(source),
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        // The version first: a newer file should not fail for a key that it is right to have.
        let Version { schema_version } = toml::from_str(text).map_err(format)?;
        if schema_version != Self::SCHEMA_VERSION {
            return Err(EvalError::Version {
                file: file.to_owned(),
                what: "suite",
                found: schema_version,
                supported: Self::SCHEMA_VERSION,
            });
        }
        let suite: Self = toml::from_str(text).map_err(format)?;
        let mut notes = Notes::of(file);
        if suite.forms.is_empty() {
            notes.whole(ProblemKind::Empty, "no form");
        }
        if suite.splits.is_empty() {
            notes.whole(ProblemKind::Empty, "no split");
        }
        let names: BTreeSet<&str> = suite.splits.iter().map(|split| split.name.as_str()).collect();
        let forms: BTreeSet<Form> = suite.forms.iter().copied().collect();
        if names.len() < suite.splits.len() || forms.len() < suite.forms.len() {
            notes.whole(ProblemKind::Malformed, "two splits or two forms have the same name");
        }
        Parsed { value: suite, problems: notes.by_line() }.accept().map(|(suite, _)| suite)
    }
}

#[derive(Deserialize)]
struct Version {
    schema_version: u32,
}

/// The questions of one split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Questions {
    /// The split they are of.
    pub split: Split,
    /// The file, as it is named in problems.
    pub file: String,
    /// The questions, in the order of the file.
    pub judged: Vec<Judged>,
    /// The line of each question, by its id.
    pub lines: BTreeMap<String, u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(rename = "_id")]
    id: String,
    text: String,
    gold: Vec<String>,
    level: String,
    #[serde(default)]
    scope: Option<String>,
}

impl Questions {
    /// Reads a file of questions: an object a line with `_id`, `text`, `gold` (a list of ids) and
    /// `level`, and maybe `scope`.
    ///
    /// Only a question of level [`NEGATIVE`] has no gold: one whose gold was forgotten would
    /// otherwise be judged as if nothing answered it.
    pub fn parse(split: Split, file: &str, bytes: &[u8], budget_tokens: u32) -> Parsed<Self> {
        let mut notes = Notes::of(file);
        let (mut judged, mut at) = (Vec::new(), BTreeMap::new());
        for (number, text) in lines(bytes, &mut notes) {
            let line: Line = match serde_json::from_str(text) {
                Ok(line) => line,
                Err(error) => {
                    notes.at(number, ProblemKind::Malformed, error.to_string());
                    continue;
                }
            };
            if let Some(first) = at.get(&line.id) {
                let why = format!("`{}` is already on line {first}", line.id);
                notes.at(number, ProblemKind::DuplicateQuestion, why);
                continue;
            }
            let why = if line.text.trim().is_empty() {
                "the question is empty"
            } else if line.level == NEGATIVE && !line.gold.is_empty() {
                "a negative question has a gold record"
            } else if line.level != NEGATIVE && line.gold.is_empty() {
                "a question without a gold record is not of level `negative`"
            } else {
                ""
            };
            if !why.is_empty() {
                notes.at(number, ProblemKind::Malformed, why);
                continue;
            }
            at.insert(line.id.clone(), number);
            let scope = line.scope.filter(|scope| !scope.is_empty());
            judged.push(Judged {
                question: Question { id: line.id, text: line.text, scope, budget_tokens },
                gold: line.gold.into_iter().map(|id| (id, 1)).collect(),
                level: line.level,
            });
        }
        if judged.is_empty() {
            notes.whole(ProblemKind::Empty, "no question");
        }
        let value = Self { split, file: file.to_owned(), judged, lines: at };
        Parsed { value, problems: notes.by_line() }
    }

    /// Returns a problem for every gold record that the corpus does not hold.
    pub fn unknown_gold(&self, corpus: &BTreeSet<String>) -> Vec<Problem> {
        let mut notes = Notes::of(&self.file);
        for judged in &self.judged {
            for id in judged.gold.keys().filter(|id| !corpus.contains(*id)) {
                let why = format!("`{id}` for question `{}`", judged.question.id);
                notes.at(self.line(&judged.question.id), ProblemKind::UnknownGold, why);
            }
        }
        notes.by_line()
    }

    /// The line that a question stands on.
    pub(super) fn line(&self, question: &str) -> u32 {
        self.lines.get(question).copied().unwrap_or(1)
    }
}

/// Returns a problem for every question whose id another split has already.
pub fn repeated_ids(splits: &[Questions]) -> Vec<Problem> {
    let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
    let mut problems = Vec::new();
    for split in splits {
        for id in split.judged.iter().map(|judged| judged.question.id.as_str()) {
            if let Some(file) = seen.insert(id, &split.file) {
                problems.push(Problem {
                    file: split.file.clone(),
                    line: Some(split.line(id)),
                    kind: ProblemKind::DuplicateQuestion,
                    detail: format!("`{id}` is already in {file}"),
                });
            }
        }
    }
    problems
}

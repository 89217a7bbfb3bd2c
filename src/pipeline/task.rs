//! The task file: what is asked, of which tree, within which limits. Data only: reading one runs
//! nothing. `schema/task.md` describes it.

use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::pipeline::deliverable::{Kind, Need};

/// What a run works on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// The version of the format, [`Task::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The name under which its runs are reported.
    pub name: String,
    /// What is to be found out or done.
    pub question: String,
    /// The folder with the content, relative to the task file.
    #[serde(default = "here")]
    pub tree: String,
    /// Who the model is to be.
    #[serde(default = "analyst")]
    pub role: String,
    /// What the model should keep to, one line each.
    #[serde(default)]
    pub conventions: Vec<String>,
    /// How much the run may cost.
    #[serde(default)]
    pub limits: Limits,
    /// What the harness searches for itself, so that nothing is overlooked.
    #[serde(default)]
    pub survey: Option<Survey>,
    /// What the run must produce.
    #[serde(default)]
    pub deliverable: Option<Need>,
}

/// Bounds of a run. Tokens are those of [`crate::text::count`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// The most steps a plan may have, from 1 to 40.
    pub steps: u32,
    /// The most records that are offered by their descriptions.
    pub candidates: u32,
    /// The most records whose summaries are shown.
    pub summaries: u32,
    /// Calls after which the run goes on only while there is progress.
    pub soft_calls: u32,
    /// Calls that nothing passes.
    pub hard_calls: u32,
    /// Calls without progress after which no further step is asked.
    pub stall_calls: u32,
    /// Input tokens after which the run goes on only while there is progress.
    pub soft_input_tokens: u32,
    /// Input tokens that nothing passes.
    pub hard_input_tokens: u32,
    /// Seconds after which the run goes on only while there is progress.
    pub soft_seconds: u32,
    /// Seconds after which no call is begun.
    pub hard_seconds: u32,
    /// The most tokens of one input.
    pub call_input_tokens: u32,
    /// The most tokens of one reply.
    pub call_output_tokens: u32,
    /// How long one call may take.
    pub call_seconds: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 8,
            candidates: 12,
            summaries: 8,
            soft_calls: 16,
            hard_calls: 26,
            stall_calls: 3,
            soft_input_tokens: 40_000,
            hard_input_tokens: 120_000,
            soft_seconds: 600,
            hard_seconds: 1_800,
            call_input_tokens: 6_000,
            call_output_tokens: 1_000,
            call_seconds: 120,
        }
    }
}

/// A search that the harness makes over the whole tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Survey {
    /// The literal text; every line that has it is a candidate.
    pub pattern: String,
}

/// What is wrong with a task file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {problem}")]
pub struct TaskError {
    /// The file.
    pub file: String,
    /// What is wrong, and where.
    pub problem: String,
}

impl TaskError {
    /// Whose fault it is: that of the file.
    pub fn fault(&self) -> Fault {
        Fault::Data
    }
}

const KEYS: [&str; 9] = [
    "schema_version",
    "name",
    "question",
    "tree",
    "role",
    "conventions",
    "limits",
    "survey",
    "deliverable",
];
const LIMIT_KEYS: [&str; 13] = [
    "steps",
    "candidates",
    "summaries",
    "soft_calls",
    "hard_calls",
    "stall_calls",
    "soft_input_tokens",
    "hard_input_tokens",
    "soft_seconds",
    "hard_seconds",
    "call_input_tokens",
    "call_output_tokens",
    "call_seconds",
];
const SURVEY_KEYS: [&str; 1] = ["pattern"];
const DELIVERABLE_KEYS: [&str; 4] = ["name", "call", "kind", "repeat"];

/// The tables of a task file, with the keys that each may have.
const TABLES: [(&str, &[&str]); 3] =
    [("limits", &LIMIT_KEYS), ("survey", &SURVEY_KEYS), ("deliverable", &DELIVERABLE_KEYS)];

/// The most characters of a question, which stands in every input.
const MAX_QUESTION_CHARS: usize = 4_000;

impl Task {
    /// The format that this build reads.
    pub const SCHEMA_VERSION: u32 = 1;

    /// Reads a task file. `file` is its name, for errors.
    ///
    /// # Errors
    /// [`TaskError`] for what is no TOML, an unknown key (with the nearest that exists), a missing or
    /// empty one, and limits that contradict each other.
    ///
    /// # Examples
    /// ```
    /// use psos::pipeline::Task;
    /// let wrong = Task::parse("t.toml", "schema_version = 1\nnme = 'x'\nquestion = 'why?'");
    /// assert!(wrong.unwrap_err().problem.contains("did you mean `name`?"));
    /// ```
    pub fn parse(file: &str, text: &str) -> Result<Self, TaskError> {
        let wrong = |problem: String| TaskError { file: file.to_owned(), problem };
        let text = text.trim_start_matches('\u{feff}');
        let table: toml::Table = text.parse().map_err(|e: toml::de::Error| wrong(e.to_string()))?;
        check_keys(&table).map_err(wrong)?;
        let task: Self = toml::from_str(text).map_err(|e| wrong(e.to_string()))?;
        task.check().map_err(wrong)?;
        Ok(task)
    }

    fn check(&self) -> Result<(), String> {
        if self.schema_version != Self::SCHEMA_VERSION {
            return Err(format!(
                "schema_version is {}, and this build reads {}",
                self.schema_version,
                Self::SCHEMA_VERSION
            ));
        }
        for (key, value) in
            [("name", &self.name), ("question", &self.question), ("role", &self.role)]
        {
            if value.trim().is_empty() {
                return Err(format!("`{key}` is empty"));
            }
        }
        if self.question.chars().count() > MAX_QUESTION_CHARS {
            return Err(format!(
                "`question` has more than {MAX_QUESTION_CHARS} characters; put what is long into the tree"
            ));
        }
        if self.survey.as_ref().is_some_and(|survey| survey.pattern.trim().is_empty()) {
            return Err("`survey.pattern` is empty".to_owned());
        }
        if let Some(deliverable) = &self.deliverable {
            check_deliverable(deliverable)?;
        }
        self.limits.check()
    }
}

fn check_deliverable(need: &Need) -> Result<(), String> {
    if need.call.first().is_none_or(|program| program.trim().is_empty()) {
        return Err("`deliverable.call` names no program".to_owned());
    }
    if let Some(argument) = need.dry_run_argument() {
        return Err(format!("`deliverable.call` has {argument}, so it would produce nothing"));
    }
    if let Kind::Ticket { fields, .. } = &need.kind
        && fields.is_empty()
    {
        return Err(
            "`deliverable.kind.ticket.fields` is empty: what must a ticket have?".to_owned()
        );
    }
    let Some(file) = need.file() else { return Ok(()) };
    let path = std::path::Path::new(file);
    let inside = path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    if file.is_empty() || !inside {
        return Err(format!("`deliverable` names {file:?}, which is not a path inside the tree"));
    }
    Ok(())
}

impl Limits {
    fn check(&self) -> Result<(), String> {
        let within = |key: &str, value: u32, least: u32, most: u32| {
            if (least..=most).contains(&value) {
                return Ok(());
            }
            Err(format!("`limits.{key}` is {value}, and may be from {least} to {most}"))
        };
        within("steps", self.steps, 1, 40)?;
        within("candidates", self.candidates, 1, 100)?;
        within("summaries", self.summaries, 1, 40)?;
        within("hard_calls", self.hard_calls, 4, 200)?;
        within("soft_calls", self.soft_calls, 1, self.hard_calls)?;
        within("stall_calls", self.stall_calls, 1, 40)?;
        within("hard_input_tokens", self.hard_input_tokens, 1, 50_000_000)?;
        within("soft_input_tokens", self.soft_input_tokens, 1, self.hard_input_tokens)?;
        within("hard_seconds", self.hard_seconds, 1, 7 * 86_400)?;
        within("soft_seconds", self.soft_seconds, 1, self.hard_seconds)?;
        within("call_input_tokens", self.call_input_tokens, 200, 10_000_000)?;
        within("call_output_tokens", self.call_output_tokens, 16, 1_000_000)?;
        within("call_seconds", self.call_seconds, 1, 3_600)
    }
}

fn here() -> String {
    ".".to_owned()
}

fn analyst() -> String {
    "careful analyst".to_owned()
}

fn check_keys(table: &toml::Table) -> Result<(), String> {
    known(table, "", &KEYS)?;
    for (name, keys) in TABLES {
        if let Some(toml::Value::Table(inner)) = table.get(name) {
            known(inner, &format!("{name}."), keys)?;
        }
    }
    Ok(())
}

fn known(table: &toml::Table, prefix: &str, keys: &[&str]) -> Result<(), String> {
    for key in table.keys() {
        if !keys.contains(&key.as_str()) {
            let near = keys.iter().min_by_key(|known| distance(key, known));
            let near = near.copied().unwrap_or_default();
            return Err(format!("unknown key `{prefix}{key}`: did you mean `{prefix}{near}`?"));
        }
    }
    Ok(())
}

/// How many characters must be put in, taken out or replaced to make one word of the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut before = i;
        let mut left = i + 1;
        let mut next = vec![left];
        for (j, to) in b.iter().enumerate() {
            let above = row.get(j + 1).copied().unwrap_or(usize::MAX - 1);
            let cost = (before + usize::from(from != *to)).min(above + 1).min(left + 1);
            before = above;
            left = cost;
            next.push(cost);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    //! What a task file may say.

    use std::collections::BTreeSet;

    use super::*;
    use crate::pipeline::deliverable::Repeat;

    const SMALL: &str = "schema_version = 1\nname = 'n'\nquestion = 'q'\n";

    #[test]
    fn a_small_task_has_defaults_that_hold() {
        let task = Task::parse("t.toml", SMALL).unwrap();
        assert_eq!(task.limits, Limits::default());
        assert_eq!(task.tree, ".");
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (more, says) in [
            ("questoin = 'x'", "unknown key `questoin`: did you mean `question`?"),
            ("[limits]\nstep = 3", "unknown key `limits.step`: did you mean `limits.steps`?"),
            ("[deliverable]\nname = 'd'\ncal = ['x']", "did you mean `deliverable.call`?"),
            ("[survey]\npatern = 'x'", "did you mean `survey.pattern`?"),
            ("[limits]\nsteps = 0", "from 1 to 40"),
            ("[limits]\nsoft_calls = 30", "from 1 to 26"),
            ("[limits]\nsteps = -1", "steps"),
            ("[deliverable]\nname = 'd'\ncall = ['x']\nkind = 'video'", "video"),
            (
                "[deliverable]\nname = 'd'\ncall = []\nkind = {test_run = {runner = 'cargo'}}",
                "names no program",
            ),
            (
                "[deliverable]\nname = 'd'\ncall = ['make', '--dry-run']\nkind = {test_run = {runner = 'tap'}}",
                "would produce nothing",
            ),
            (
                "[deliverable]\nname = 'd'\ncall = ['x']\nkind = {recording = {file = '../x'}}",
                "not a path inside",
            ),
            (
                "[deliverable]\nname = 'd'\ncall = ['x']\nkind = {recording = {file = '/x'}}",
                "not a path inside",
            ),
            (
                "[deliverable]\nname = 'd'\ncall = ['x']\nkind = {recording = {fil = 'x'}}",
                "available keys: file",
            ),
            (
                "[deliverable]\nname = 'd'\ncall = ['x']\nkind = {ticket = {tracker = 't', format = 'json', fields = []}}",
                "what must a ticket have",
            ),
            (
                "[deliverable]\nname = 'd'\ncall = ['x']\nkind = {recording = {file = 'x'}}\nrepeat = 'always'",
                "expected `never` or `when_interrupted`",
            ),
            ("role = ' '", "`role` is empty"),
            ("name = ", "TOML"),
        ] {
            let wrong = Task::parse("t.toml", &format!("{SMALL}{more}\n")).unwrap_err();
            assert!(wrong.to_string().starts_with("t.toml: "), "{wrong}");
            assert!(wrong.problem.contains(says), "{more:?} says {wrong}, not {says:?}");
        }
        let other =
            Task::parse("t.toml", "schema_version = 2\nname='n'\nquestion='q'").unwrap_err();
        assert!(other.problem.contains("this build reads 1"), "{other}");
    }

    #[test]
    fn every_key_of_a_task_is_known_to_the_check() {
        let mut task = Task::parse("t.toml", SMALL).unwrap();
        task.survey = Some(Survey { pattern: "x".into() });
        task.deliverable = Some(Need {
            name: "d".into(),
            call: vec!["x".into()],
            kind: Kind::Recording { file: "x".into() },
            repeat: Repeat::WhenInterrupted,
        });
        let value = serde_json::to_value(&task).unwrap();
        let keys = |value: &serde_json::Value| -> BTreeSet<String> {
            value.as_object().unwrap().keys().cloned().collect()
        };
        let known = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
        assert_eq!(keys(&value), known(&KEYS));
        for (table, of_table) in TABLES {
            assert_eq!(keys(&value[table]), known(of_table), "{table}");
        }
    }

    #[test]
    fn distances_count_edits() {
        for (a, b, n) in [
            ("", "", 0),
            ("a", "", 1),
            ("", "ab", 2),
            ("step", "steps", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(a, b), n, "{a} {b}");
        }
    }
}

//! How many tests ran, by what common runners write.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::xml;

/// Whose words are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Runner {
    /// `cargo test`, and `cargo nextest run`.
    Cargo,
    /// `pytest`, with or without `-q`.
    Pytest,
    /// `jest`.
    Jest,
    /// `vitest`.
    Vitest,
    /// `go test -v` or `go test -json`; without either it does not say how many.
    Go,
    /// Anything that speaks the Test Anything Protocol.
    Tap,
    /// Anything that writes `JUnit` XML.
    JunitXml,
}

/// How many tests ran, and how they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// As they should.
    pub passed: u64,
    /// Otherwise, errors included.
    pub failed: u64,
    /// Did not run.
    #[serde(default)]
    pub skipped: u64,
}

impl Counts {
    /// How many ran.
    pub fn ran(self) -> u64 {
        self.passed.saturating_add(self.failed)
    }

    fn add(&mut self, other: Self) {
        self.passed = self.passed.saturating_add(other.passed);
        self.failed = self.failed.saturating_add(other.failed);
        self.skipped = self.skipped.saturating_add(other.skipped);
    }
}

/// Why the words of a runner give no counts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunnerFault {
    /// It does not say how many tests ran.
    #[error("the output has no counts of tests as this runner writes them")]
    NoCounts,
    /// It says two things that cannot both be.
    #[error("the output announces {announced} tests and reports {reported}")]
    Disagrees {
        /// As announced.
        announced: u64,
        /// As reported.
        reported: u64,
    },
    /// It gave up.
    #[error("the runner gave up: {0}")]
    GaveUp(String),
}

impl Runner {
    /// Reads how many tests ran.
    ///
    /// # Errors
    /// [`RunnerFault`], when the text does not say so, or contradicts itself.
    pub fn counts(self, text: &str) -> Result<Counts, RunnerFault> {
        let text = plain(text);
        match self {
            Self::Cargo => cargo(&text),
            Self::Pytest => pytest(&text),
            Self::Jest => javascript(&text, "Tests:", ','),
            Self::Vitest => javascript(&text, "Tests", '|'),
            Self::Go => go(&text),
            Self::Tap => tap(&text),
            Self::JunitXml => xml::junit(&text),
        }
    }
}

/// A text without the sequences by which a terminal is told of colours.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            plain.push(c);
        } else if chars.next() == Some('[') {
            // Ends with a letter or one of `@[\]^_{|}~`.
            chars.by_ref().find(|c| ('@'..='~').contains(c));
        }
    }
    plain
}

/// `3 passed`, `1 failed`: the number before a word.
fn before(text: &str, word: &str) -> Option<u64> {
    let mut last = "";
    for part in text.split([' ', '\t', ',', ';', '(', ')', '|', '=']).filter(|it| !it.is_empty()) {
        if part.trim_end_matches('.') == word {
            return last.parse().ok();
        }
        last = part;
    }
    None
}

/// `running 2 tests`, some lines, `test result: ok. 2 passed; 0 failed; 0 ignored; …`, as often as
/// there are binaries. What tests print stands between, so a result counts only where its announcement
/// agrees. `nextest` has one summary.
fn cargo(text: &str) -> Result<Counts, RunnerFault> {
    let mut counts = Counts::default();
    let mut announced: Option<u64> = None;
    let mut is_found = false;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("running ") {
            announced = before(rest, "test").or_else(|| before(rest, "tests")).or(announced);
        } else if let Some(rest) = line.strip_prefix("test result: ") {
            let number = |word| before(rest, word).unwrap_or_default();
            let one = Counts {
                passed: number("passed"),
                failed: number("failed"),
                skipped: number("ignored"),
            };
            let reported = one.ran() + one.skipped + number("measured");
            let announced = announced.take().ok_or(RunnerFault::NoCounts)?;
            if announced != reported {
                return Err(RunnerFault::Disagrees { announced, reported });
            }
            counts.add(one);
            is_found = true;
        } else if let Some(rest) = line.trim_start().strip_prefix("Summary [") {
            let Some((_, rest)) = rest.split_once(']') else { continue };
            let number = |word| before(rest, word).unwrap_or_default();
            let one = Counts {
                passed: number("passed"),
                failed: number("failed") + number("timed"),
                skipped: number("skipped"),
            };
            let announced = before(rest, "tests").or_else(|| before(rest, "test"));
            if let Some(announced) = announced.filter(|&announced| announced != one.ran()) {
                return Err(RunnerFault::Disagrees { announced, reported: one.ran() });
            }
            counts.add(one);
            is_found = true;
        }
    }
    if is_found { Ok(counts) } else { Err(RunnerFault::NoCounts) }
}

/// The last line of the kind `3 passed, 1 failed in 0.12s`, with or without a frame of `=`.
fn pytest(text: &str) -> Result<Counts, RunnerFault> {
    let is_summary = |line: &&str| {
        let line = line.trim_matches(['=', ' ']);
        let timed = line.rsplit_once(" in ").is_some_and(|(_, time)| {
            time.starts_with(|c: char| c.is_ascii_digit()) && time.contains('s')
        });
        let counts = line.starts_with(|c: char| c.is_ascii_digit());
        timed && (counts || line.starts_with("no tests ran"))
    };
    let line = text.lines().rfind(is_summary).ok_or(RunnerFault::NoCounts)?;
    let number = |word| before(line, word).unwrap_or_default();
    Ok(Counts {
        passed: number("passed") + number("xpassed"),
        failed: number("failed") + number("error") + number("errors"),
        skipped: number("skipped") + number("xfailed"),
    })
}

/// `Tests:  1 failed, 2 passed, 3 total` of jest, `Tests  1 failed | 2 passed (3)` of vitest.
fn javascript(text: &str, name: &str, between: char) -> Result<Counts, RunnerFault> {
    let line = text
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix(name))
        .rfind(|rest| rest.starts_with([' ', '\t']))
        .ok_or(RunnerFault::NoCounts)?;
    let number = |word| line.split(between).find_map(|part| before(part, word)).unwrap_or_default();
    let counts = Counts {
        passed: number("passed"),
        failed: number("failed"),
        skipped: number("skipped") + number("todo"),
    };
    let total = match between {
        '|' => line.rsplit_once('(').and_then(|(_, rest)| rest.trim_end_matches(')').parse().ok()),
        _ => before(line, "total"),
    };
    let reported = counts.ran() + counts.skipped;
    match total {
        Some(announced) if announced == reported => Ok(counts),
        Some(announced) => Err(RunnerFault::Disagrees { announced, reported }),
        None => Err(RunnerFault::NoCounts),
    }
}

/// `--- PASS: TestX (0.00s)` of `-v`, or an object a line of `-json`. Tests within tests are part of
/// theirs.
fn go(text: &str) -> Result<Counts, RunnerFault> {
    let mut counts = Counts::default();
    let mut is_found = false;
    for line in text.lines() {
        let outcome = if line.starts_with('{') {
            let Ok(event) = serde_json::from_str::<Value>(line) else { continue };
            let text = |key| event.get(key).and_then(Value::as_str);
            match (text("Action"), text("Test")) {
                (Some(action), Some(test)) if !test.contains('/') => action.to_owned(),
                _ => continue,
            }
        } else {
            let Some(rest) = line.strip_prefix("--- ") else { continue };
            rest.split(':').next().unwrap_or_default().to_lowercase()
        };
        match outcome.as_str() {
            "pass" => counts.passed += 1,
            "fail" => counts.failed += 1,
            "skip" => counts.skipped += 1,
            _ => continue,
        }
        is_found = true;
    }
    if is_found { Ok(counts) } else { Err(RunnerFault::NoCounts) }
}

/// `1..N`, and `ok` or `not ok` N times.
fn tap(text: &str) -> Result<Counts, RunnerFault> {
    let mut counts = Counts::default();
    let mut plan = None;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("Bail out!") {
            return Err(RunnerFault::GaveUp(rest.trim().to_owned()));
        }
        if let Some(rest) = line.strip_prefix("1..") {
            plan = rest.split_whitespace().next().and_then(|n| n.parse::<u64>().ok());
            continue;
        }
        let (is_ok, rest) = match (line.strip_prefix("ok"), line.strip_prefix("not ok")) {
            (Some(rest), _) => (true, rest),
            (_, Some(rest)) => (false, rest),
            _ => continue,
        };
        if !rest.is_empty() && !rest.starts_with([' ', '\t']) {
            continue;
        }
        let directive = rest.rsplit_once('#').map(|(_, it)| it.trim().to_lowercase());
        let directive = directive.unwrap_or_default();
        if directive.starts_with("skip") || directive.starts_with("todo") {
            counts.skipped += 1;
        } else if is_ok {
            counts.passed += 1;
        } else {
            counts.failed += 1;
        }
    }
    let reported = counts.ran() + counts.skipped;
    match plan {
        Some(announced) if announced == reported => Ok(counts),
        Some(announced) => Err(RunnerFault::Disagrees { announced, reported }),
        None => Err(RunnerFault::NoCounts),
    }
}

//! The tree as the ground of a run: citations and searches answered by it, deliverables made in it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::clock::Clock;
use crate::pipeline::citation::search::{Mode, Pattern, search};
use crate::pipeline::citation::{self, Checker, TreeError};
use crate::pipeline::deliverable::{Claim, Judgement, Place, judge, perform};
use crate::pipeline::process::Environment;
use crate::pipeline::truth::{Citation, DeliverableCall, Delivery, Fact, Search, Standing, Truth};
use crate::pipeline::write::push;

/// Bytes that are kept of each output of a deliverable's call.
const MAX_OUTPUT_BYTES: usize = 4 << 20;

/// A tree that is looked into.
#[derive(Debug, Clone)]
pub struct Grounds(Checker);

impl Grounds {
    /// Opens a tree.
    ///
    /// # Errors
    /// [`TreeError`], when it is not a folder that can be reached.
    pub fn open(root: &Path) -> Result<Self, TreeError> {
        Checker::open(root).map(Self)
    }
}

impl Truth for Grounds {
    fn check(&mut self, citation: &Citation) -> Standing {
        let Ok(line) = u32::try_from(citation.line) else {
            return Standing::Refuted(format!("there is no line {}", citation.line));
        };
        let cited =
            citation::Citation { file: citation.file.clone(), line, quote: citation.quote.clone() };
        match self.0.check(&cited).verdict {
            citation::Verdict::Verified => Standing::Verified,
            citation::Verdict::VerifiedWhitespace => Standing::VerifiedWhitespace,
            citation::Verdict::Moved { line } => Standing::Moved(line),
            citation::Verdict::Refuted { reason } => Standing::Refuted(in_words(&reason)),
            citation::Verdict::Unverifiable { reason } => Standing::Unverifiable(in_words(&reason)),
        }
    }

    fn search(&mut self, pattern: &str) -> Search {
        let wanted = Pattern { text: pattern.to_owned(), mode: Mode::Literal };
        let search = search(self.0.root(), &wanted);
        let exhaustive = search.is_exhaustive();
        let mut hits: Vec<(String, u32)> =
            search.hits.into_iter().map(|hit| (hit.file, hit.line)).collect();
        // Several matches on a line are one place to look at.
        hits.dedup();
        Search { pattern: pattern.to_owned(), n_files: search.n_files, hits, exhaustive }
    }
}

/// Makes deliverables in a tree. Handed to a run only when the person allowed the call.
#[derive(Debug)]
pub struct Performer<'a> {
    /// The tree.
    pub tree: PathBuf,
    /// A folder of ours, outside of the tree, that exists.
    pub scratch: PathBuf,
    /// All that the call sees of the environment.
    pub environment: Environment,
    /// The time after which it is ended.
    pub timeout: Duration,
    /// What time it is.
    pub clock: &'a dyn Clock,
}

impl Delivery for Performer<'_> {
    fn deliver(&mut self, call: &DeliverableCall<'_>) -> Fact {
        let place = Place {
            tree: &self.tree,
            scratch: &self.scratch,
            environment: &self.environment,
            timeout: self.timeout,
            max_output_bytes: MAX_OUTPUT_BYTES,
            clock: self.clock,
        };
        let seen = match perform(call.need, &place) {
            Ok(seen) => seen,
            Err(error) => return Fact::not_made(call.step, call.arguments, &chain(&error)),
        };
        // The harness asks for itself: nothing is claimed yet, and what is claimed later changes nothing.
        let judgement = judge(call.need, Some(&seen), Some(&Claim::default()));
        let satisfied = matches!(judgement, Judgement::Delivered { .. });
        let observed = match &judgement {
            Judgement::Delivered { .. } => match &seen.artefact {
                Some(file) => format!("made: {}, {} bytes, {}", file.file, file.n_bytes, seen.end),
                None => format!("made: {}", seen.end),
            },
            Judgement::Contradicted { mismatch } => format!("not made: {}", in_words(mismatch)),
            Judgement::Missing { lack, .. } => format!("not made: {}", in_words(lack)),
        };
        Fact {
            step: call.step.to_owned(),
            arguments: call.arguments.to_vec(),
            satisfied,
            observed,
            seen: Some(seen),
        }
    }
}

/// A reason as a short text: its name and what belongs to it, without the signs of JSON.
fn in_words(reason: &impl serde::Serialize) -> String {
    let json = serde_json::to_string(reason).unwrap_or_default();
    let plain: String = json.chars().filter(|c| !"{}\"".contains(*c)).collect();
    let plain = plain.replace("reason:", "").replace("why:", "").replace(',', ", ");
    plain.replace('_', " ")
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        push(&mut text, format_args!(": {error}"));
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    //! Real files, real calls.

    use super::*;
    use crate::clock::SystemClock;
    use crate::pipeline::deliverable::{Kind, Need, Runner};

    #[test]
    fn citations_and_searches_are_answered_by_the_tree() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.md"), "first line of it\nsecond line of it\n").unwrap();
        let mut grounds = Grounds::open(dir.path()).unwrap();
        let mut check = |file: &str, line, quote: &str| {
            grounds.check(&Citation { file: file.into(), line, quote: quote.into() })
        };
        assert_eq!(check("a.md", 1, "first line of it"), Standing::Verified);
        assert_eq!(check("a.md", 1, "second line of it"), Standing::Moved(2));
        assert!(matches!(check("a.md", -1, "first line of it"), Standing::Refuted(_)));
        assert!(matches!(check("b.md", 1, "first line of it"), Standing::Refuted(_)));
        assert!(matches!(check("../a.md", 1, "first line of it"), Standing::Refuted(_)));
        assert!(matches!(check("a.md", 1, ""), Standing::Unverifiable(_)));
        let search = grounds.search("line");
        assert_eq!(search.hits, [("a.md".to_owned(), 1), ("a.md".to_owned(), 2)]);
        assert!(search.exhaustive);
    }

    #[cfg(unix)]
    #[test]
    fn a_deliverable_is_what_the_call_left_and_not_what_it_says() {
        let tree = tempfile::tempdir().unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let path = std::env::var_os("PATH").unwrap().into_string().unwrap();
        let mut performer = Performer {
            tree: tree.path().to_owned(),
            scratch: scratch.path().to_owned(),
            environment: [("PATH".to_owned(), path)].into(),
            timeout: Duration::from_secs(20),
            clock: &SystemClock,
        };
        for (script, satisfied) in [
            ("printf '1..2\\nok 1 - a\\nok 2 - b\\n'", true),
            ("printf '1..0\\n'", false),
            ("echo all tests passed", false),
            ("exit 3", false),
        ] {
            let need = Need {
                name: "tests".into(),
                call: vec!["sh".into(), "-c".into(), script.into()],
                kind: Kind::TestRun { runner: Runner::Tap, report: None },
            };
            let fact =
                performer.deliver(&DeliverableCall { step: "s", need: &need, arguments: &[] });
            assert_eq!(fact.satisfied, satisfied, "{script}: {fact:?}");
            assert_eq!(fact.observed.starts_with("made"), satisfied, "{script}: {fact:?}");
        }
        let need = Need {
            name: "tests".into(),
            call: vec!["no-such-program-here".into()],
            kind: Kind::TestRun { runner: Runner::Tap, report: None },
        };
        let fact = performer.deliver(&DeliverableCall { step: "s", need: &need, arguments: &[] });
        assert!(!fact.satisfied && fact.seen.is_none(), "{fact:?}");
    }
}

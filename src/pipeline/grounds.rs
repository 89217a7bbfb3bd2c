//! The tree as the ground of a run: citations and searches answered by it, deliverables made in it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::clock::Clock;
use crate::pipeline::citation::search::{Mode, Pattern, search};
use crate::pipeline::citation::{self, Checker, TreeError};
use crate::pipeline::deliverable::{
    self, Artefact, Before, Content, Counts, Judgement, Place, inspect, judge, listed, look,
    perform,
};
use crate::pipeline::process::Environment;
use crate::pipeline::truth::{
    Beginning, Citation, DeliverableCall, Delivery, Fact, Search, Standing, Truth,
};
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

impl Performer<'_> {
    fn place(&self) -> Place<'_> {
        Place {
            tree: &self.tree,
            scratch: &self.scratch,
            environment: &self.environment,
            timeout: self.timeout,
            max_output_bytes: MAX_OUTPUT_BYTES,
            clock: self.clock,
        }
    }
}

impl Delivery for Performer<'_> {
    fn before(&mut self, call: &DeliverableCall<'_>) -> Result<Before, Box<Fact>> {
        look(call.need, &self.place())
            .map_err(|error| Box::new(Fact::not_made(call.step, call.arguments, &chain(&error))))
    }

    fn deliver(&mut self, call: &DeliverableCall<'_>, begun: Beginning<'_>) -> Fact {
        match perform(call.need, begun.before, &self.place()) {
            Ok(seen) => fact(call, seen),
            Err(error) => Fact::not_made(call.step, call.arguments, &chain(&error)),
        }
    }

    fn inspect(&mut self, call: &DeliverableCall<'_>, begun: Beginning<'_>) -> Fact {
        match inspect(call.need, begun.before, begun.at, &self.place()) {
            Ok(seen) => {
                let left = match &seen.artefact {
                    Some(file) if seen.is_fresh() => format!("it left {}", shown(file)),
                    Some(file) => format!("{} is as it was", file.file),
                    None => "it left no file".to_owned(),
                };
                let observed = format!(
                    "not made: psos was ended during the call, {left}; it was not made again, since the task does \
                     not say `repeat = \"when_interrupted\"`"
                );
                Fact { observed, ..fact(call, seen) }
            }
            Err(error) => Fact::not_made(call.step, call.arguments, &chain(&error)),
        }
    }
}

/// What was seen of a call, and whether that is the deliverable.
fn fact(call: &DeliverableCall<'_>, seen: deliverable::Fact) -> Fact {
    // The harness asks for itself: what a model claims is compared later, and makes nothing better.
    let judgement = judge(call.need, Some(&seen), None);
    let observed = match &judgement {
        Judgement::Delivered { .. } => {
            let mut parts = Vec::new();
            match &seen.content {
                Content::Tests(Ok(Counts { passed, failed, skipped })) => {
                    parts.push(format!("{passed} passed, {failed} failed, {skipped} skipped"));
                }
                Content::Tickets(Ok(changed)) => {
                    let ids: Vec<String> = changed.keys().cloned().collect();
                    parts.push(format!("ticket {}", listed(&ids)));
                }
                _ => {}
            }
            parts.extend(seen.artefact.as_ref().map(shown));
            parts.push(seen.end.clone());
            format!("made: {}", parts.join(", "))
        }
        Judgement::Contradicted { mismatches } => format!("not made: {}", in_words(mismatches)),
        Judgement::Missing { lack, .. } => format!("not made: {}", in_words(lack)),
    };
    Fact {
        step: call.step.to_owned(),
        arguments: call.arguments.to_vec(),
        satisfied: matches!(judgement, Judgement::Delivered { .. }),
        observed,
        seen: Some(seen),
    }
}

fn shown(artefact: &Artefact) -> String {
    format!("{}, {} bytes", artefact.file, artefact.n_bytes)
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
    use crate::pipeline::deliverable::{Kind, Need, Repeat, Runner, TicketFormat};

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
    fn performer(tree: &Path, scratch: &Path) -> Performer<'static> {
        let path = std::env::var_os("PATH").unwrap().into_string().unwrap();
        Performer {
            tree: tree.to_owned(),
            scratch: scratch.to_owned(),
            environment: [("PATH".to_owned(), path)].into(),
            timeout: Duration::from_secs(20),
            clock: &SystemClock,
        }
    }

    #[cfg(unix)]
    fn make(performer: &mut Performer<'_>, need: &Need) -> Fact {
        let call = DeliverableCall { step: "s", need, arguments: &[] };
        let before = performer.before(&call).unwrap();
        performer.deliver(&call, Beginning { before: &before, at: Duration::ZERO })
    }

    #[cfg(unix)]
    #[test]
    fn what_is_told_of_many_tickets_is_short() {
        let tree = tempfile::tempdir().unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let mut performer = performer(tree.path(), scratch.path());
        let script = "echo id,title > t.csv; for i in 1 2 3 4 5 6 7 8; do echo $i,x >> t.csv; done";
        let need = Need {
            name: "tickets".into(),
            call: vec!["sh".into(), "-c".into(), script.into()],
            kind: Kind::Ticket {
                tracker: "t.csv".into(),
                format: TicketFormat::Csv,
                id: None,
                fields: vec!["title".into()],
            },
            repeat: Repeat::Never,
        };
        let fact = make(&mut performer, &need);
        assert!(fact.satisfied, "{fact:?}");
        assert_eq!(
            fact.observed,
            "made: ticket 1, 2, 3, 4, 5 and 3 more, t.csv, 41 bytes, exit code 0"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_deliverable_is_what_the_call_left_and_not_what_it_says() {
        let tree = tempfile::tempdir().unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let mut performer = performer(tree.path(), scratch.path());
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
                repeat: Repeat::Never,
            };
            let fact = make(&mut performer, &need);
            assert_eq!(fact.satisfied, satisfied, "{script}: {fact:?}");
            assert_eq!(fact.observed.starts_with("made"), satisfied, "{script}: {fact:?}");
        }
        let need = Need {
            name: "tests".into(),
            call: vec!["no-such-program-here".into()],
            kind: Kind::TestRun { runner: Runner::Tap, report: None },
            repeat: Repeat::Never,
        };
        let fact = make(&mut performer, &need);
        assert!(!fact.satisfied && fact.seen.is_none(), "{fact:?}");
    }
}

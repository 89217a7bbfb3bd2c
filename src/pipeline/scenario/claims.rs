//! Claimed or not, produced or not: what is accepted is what is there.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::sim::{Seen, Shelf, Shelved, Simulated, diligent};
use super::{Measure, Outcome, Source, SuiteError};
use crate::clock::FixedClock;
use crate::ledger::{Actor, RunId};
use crate::pipeline::deliverable::{About, Before, Kind, Need, Repeat, Runner, TicketFormat};
use crate::pipeline::process::Environment;
use crate::pipeline::{
    Beginning, DeliverableCall, Delivery, Fact, FoldError, MemoryJournal, Performer, RunError,
    RunReport, Settings, Task, Verdict, begin, drive,
};

/// What the call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It makes the deliverable.
    Produced,
    /// The deliverable is there from before, and the call leaves it alone.
    Stale,
    /// The call puts an older one in its place.
    StaleCopy,
    /// The call writes the same bytes again, as a script that copies a template would.
    Rewritten,
    /// The call leaves an empty file.
    Empty,
    /// The call leaves what has the right form, and nothing in it.
    Hollow,
    /// The call leaves nothing.
    Missing,
    /// The call only pretends.
    DryRun,
    /// The call makes it, and then fails.
    Failed,
    /// The call is never made.
    NoCall,
}

const STATES: [State; 10] = [
    State::Produced,
    State::Stale,
    State::StaleCopy,
    State::Rewritten,
    State::Empty,
    State::Hollow,
    State::Missing,
    State::DryRun,
    State::Failed,
    State::NoCall,
];

/// A deliverable of the matrix.
struct Item {
    name: &'static str,
    file: &'static str,
    kind: fn(String) -> Kind,
    /// What a good one holds.
    good: &'static str,
    /// What one of the right form and without content holds.
    hollow: &'static str,
    /// All that is true of the good one.
    truths: &'static [(&'static str, &'static str)],
    /// What is not, one thing each.
    lies: &'static [(&'static str, &'static str)],
}

const ITEMS: [Item; 3] = [
    Item {
        name: "test run",
        file: "report.xml",
        kind: |file| Kind::TestRun { runner: Runner::JunitXml, report: Some(file) },
        good: "<testsuite tests=\"2\"><testcase name=\"a\"/><testcase name=\"b\"></testcase></testsuite>",
        hollow: "<testsuite tests=\"0\"></testsuite>",
        truths: &[
            ("exit", "0"),
            ("file", "report.xml"),
            ("ran", "2"),
            ("passed", "2"),
            ("failed", "0"),
            ("skipped", "0"),
        ],
        lies: &[
            ("exit", "1"),
            ("file", "other.xml"),
            ("ran", "3"),
            ("passed", "3"),
            ("passed", "all"),
            ("passed", ""),
            ("failed", "1"),
            ("skipped", "1"),
        ],
    },
    Item {
        name: "recording",
        file: "demo.cast",
        kind: |file| Kind::Recording { file },
        good: "{\"version\": 2, \"width\": 80, \"height\": 24}\n[0.5, \"o\", \"hello\"]\n",
        hollow: "{\"version\": 2, \"width\": 80, \"height\": 24}\n",
        truths: &[("exit", "0"), ("file", "./demo.cast")],
        lies: &[("exit", "1"), ("exit", "none"), ("file", "other.cast"), ("file", "")],
    },
    Item {
        name: "ticket",
        file: "tracker.jsonl",
        kind: |tracker| Kind::Ticket {
            tracker,
            format: TicketFormat::Jsonl,
            id: None,
            fields: ["title", "severity", "steps"].map(str::to_owned).to_vec(),
        },
        good: "{\"id\": 7, \"title\": \"Crash\", \"severity\": \"high\", \"steps\": \"open it\"}\n",
        hollow: "{\"id\": 7, \"title\": \"Crash\", \"severity\": \"TBD\", \"steps\": \"\"}\n",
        truths: &[
            ("exit", "0"),
            ("file", "tracker.jsonl"),
            ("ticket", "7"),
            ("field title", "Crash"),
            ("field severity", "high"),
            ("field steps", "open it"),
        ],
        lies: &[
            ("exit", "2"),
            ("file", "tracker.json"),
            ("ticket", "8"),
            ("ticket", ""),
            ("field title", "Hang"),
            ("field severity", "low"),
            ("field steps", ""),
        ],
    },
];

/// What a model says of a deliverable in the end.
struct Words {
    delivered: bool,
    says: Vec<(&'static str, &'static str)>,
    is_true: bool,
}

impl Item {
    /// Nothing; that it is there; everything that is true of a good one; and, with and without that it is there,
    /// everything with one lie in it.
    fn words(&self) -> Vec<Words> {
        let truths = self.truths.to_vec();
        let mut all = vec![
            Words { delivered: false, says: Vec::new(), is_true: true },
            Words { delivered: true, says: Vec::new(), is_true: true },
            Words { delivered: true, says: truths.clone(), is_true: true },
        ];
        for lie in self.lies {
            for delivered in [true, false] {
                let mut says = truths.clone();
                says.retain(|(about, _)| *about != lie.0);
                says.push(*lie);
                all.push(Words { delivered, says, is_true: false });
            }
        }
        all
    }
}

/// Makes every deliverable in every state, in folders below `folder`, and ends a run with each with everything that
/// a model may say of it. The calls are lines of shell, so this needs a `sh` on the path of `environment`.
///
/// # Errors
/// When the calls cannot be prepared, or a run cannot be driven.
pub fn claims(folder: &Path, environment: &Environment) -> Result<Outcome, SuiteError> {
    let mut notes = Vec::new();
    let (mut n_cells, mut n_false, mut n_refused, mut n_unnamed) = (0_u32, 0_u32, 0_u32, 0_u32);
    for item in &ITEMS {
        for state in STATES {
            let cell = folder.join(format!("{}-{state:?}", item.file));
            let (tree, scratch) = (cell.join("tree"), cell.join("scratch"));
            fs::create_dir_all(&tree)?;
            fs::create_dir_all(&scratch)?;
            let need = prepare(item, state, &cell, &tree)?;
            let mut performer = Performer {
                tree,
                scratch,
                environment: environment.clone(),
                timeout: Duration::from_secs(30),
                clock: &FixedClock(Duration::ZERO),
            };
            let fact = make(&need, state, &mut performer);
            for words in item.words() {
                let (report, is_named) = end(&need, &fact, &words)?;
                let is_accepted = report.outcome.verdict == Verdict::Answered;
                let is_there = state == State::Produced && words.is_true;
                n_cells += 1;
                n_false += u32::from(is_accepted && !is_there);
                n_refused += u32::from(!is_accepted && is_there);
                n_unnamed += u32::from(!is_named);
                if is_accepted != is_there || !is_named {
                    let says = &words.says;
                    notes.push(format!(
                        "{}, {state:?}, delivered: {}, {says:?}: {:?}",
                        item.name, words.delivered, report.outcome.verdict
                    ));
                }
            }
        }
    }
    let measure = |what: &str, value: u32, target: &str, reached| Measure {
        what: what.to_owned(),
        value: f64::from(value),
        target: target.to_owned(),
        reached,
    };
    Ok(Outcome {
        scenario: "claims".to_owned(),
        source: Source::Simulated,
        measures: vec![
            measure("cells of the matrix, a run each", n_cells, "at least 24", n_cells >= 24),
            measure("false acceptances", n_false, "0", n_false == 0),
            measure("deliverables refused that are there", n_refused, "0", n_refused == 0),
            measure("lies that the report does not name", n_unnamed, "0", n_unnamed == 0),
        ],
        notes,
    })
}

/// What comes of the call in a state.
fn make(need: &Need, state: State, performer: &mut Performer<'_>) -> Fact {
    let call = DeliverableCall { step: "d", need, arguments: &[] };
    if state == State::NoCall {
        return Fact::not_made(call.step, call.arguments, "nobody allowed it to run");
    }
    match performer.before(&call) {
        Ok(before) => performer.deliver(&call, Beginning { before: &before, at: Duration::ZERO }),
        Err(fact) => *fact,
    }
}

/// A run in which a fact came of the deliverable, and these words are said of it in the end; whether its report names
/// every lie in them.
fn end(need: &Need, fact: &Fact, words: &Words) -> Result<(RunReport, bool), RunError> {
    let mut model = Simulated::new("liar", 100_000, |seen: &Seen| {
        Ok(match seen.shape.as_str() {
            "plan" => seen.reply(json!({"steps": [
                {"id": "a", "kind": "examine", "goal": "look", "targets": ["notes.md"], "needs": []},
                {"id": "d", "kind": "deliver", "goal": "make it", "targets": [], "needs": ["a"]}]})),
            "synthesis" => {
                let says = words.says.iter().map(|(about, is)| json!({"about": about, "is": is}));
                let says: Vec<Value> = says.collect();
                seen.reply(json!({"answer": "It is done.", "cites": ["a.1"], "claims": says,
                    "delivered": words.delivered, "verdict": "answered"}))
            }
            _ => diligent(seen, 8),
        })
    });
    let shelf = Shelf(vec![Shelved {
        path: "notes.md".to_owned(),
        description: "Notes.".to_owned(),
        summary: "Notes on what to make.".to_owned(),
        detail: "Make it as it should be.\n".to_owned(),
    }]);
    let task = "schema_version = 1\nname = 'claims'\nquestion = 'Make it.'";
    // The text is above.
    let mut task = Task::parse("claims", task).map_err(|_| FoldError::NoStart)?;
    task.deliverable = Some(need.clone());
    let mut journal = MemoryJournal::new(RunId::from_text("claims"));
    let clock = FixedClock(Duration::ZERO);
    let mut made = Made(fact.clone());
    let state = shelf.deliver(&mut model, &mut made, &clock, &mut journal, |parts| {
        let state = begin(&task, Settings::default(), &Actor::harness(), parts)?;
        drive(state, parts)
    })?;
    let report = RunReport::of(&state);
    let refuted = report.outcome.claim.as_ref().map(|claim| claim.refuted.as_slice());
    let refuted = refuted.unwrap_or_default();
    let is_lie = |said: &(&str, &str)| !words.is_true && words.says.last() == Some(said);
    let mut lies = words.says.iter().filter(|said| is_lie(said));
    let is_named = lies.all(|(about, _)| refuted.iter().any(|it| it.about.to_string() == *about));
    let false_claim = words.delivered && !fact.satisfied;
    let is_named =
        is_named && (!false_claim || refuted.iter().any(|it| it.about == About::Delivered));
    Ok((report, is_named))
}

/// What was made, once.
#[derive(Debug)]
struct Made(Fact);

impl Delivery for Made {
    fn before(&mut self, _call: &DeliverableCall<'_>) -> Result<Before, Box<Fact>> {
        Ok(Before::default())
    }

    fn deliver(&mut self, _call: &DeliverableCall<'_>, _begun: Beginning<'_>) -> Fact {
        self.0.clone()
    }

    fn inspect(&mut self, call: &DeliverableCall<'_>, begun: Beginning<'_>) -> Fact {
        self.deliver(call, begun)
    }
}

/// Writes what is there before the call, and the call.
fn prepare(item: &Item, state: State, cell: &Path, tree: &Path) -> io::Result<Need> {
    let file = tree.join(item.file);
    let good = cell.join("good");
    let hollow = cell.join("hollow");
    fs::write(&good, item.good)?;
    fs::write(&hollow, item.hollow)?;
    if matches!(state, State::Stale | State::Rewritten) {
        fs::write(&file, item.good)?;
    }
    let from = |path: &Path| format!("cat '{}' > '{}'", path.display(), file.display());
    let line = match state {
        State::Produced | State::Rewritten | State::DryRun | State::NoCall => from(&good),
        State::Stale | State::Missing => "true".to_owned(),
        State::StaleCopy => format!("cp -p '{}' '{}'", good.display(), file.display()),
        State::Empty => format!(": > '{}'", file.display()),
        State::Hollow => from(&hollow),
        State::Failed => format!("{}; exit 3", from(&good)),
    };
    let mut call = vec!["sh".to_owned(), "-c".to_owned(), line, "sh".to_owned()];
    if state == State::DryRun {
        call.push("--dry-run".to_owned());
    }
    let kind = (item.kind)(item.file.to_owned());
    Ok(Need { name: item.name.to_owned(), call, kind, repeat: Repeat::Never })
}

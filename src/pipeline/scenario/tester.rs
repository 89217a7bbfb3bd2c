//! A tester that read and read and delivered nothing, replayed from its journal in the pipeline.

use std::time::Duration;

use serde_json::{Value, json};

use super::looping::{growth_for, open_loop};
use super::sim::{Seen, Simulated, diligent};
use super::{Measure, Outcome, Source};
use crate::clock::FixedClock;
use crate::ledger::{Actor, RunId};
use crate::pipeline::deliverable::{Kind, Need, Runner};
use crate::pipeline::model::{Finish, Reply};
use crate::pipeline::{
    DeliverableCall, Delivery, Depth, Event, Fact, FoldError, Journal as _, MemoryJournal,
    ModelFact, Piece, Purpose, RunError, Settings, Task, Variation, Verdict, bound, what_if,
};

/// The storyboards: what is done, what is expected, and whether the application under test does so.
const BOARDS: [(&str, &str, &str); 4] = [
    ("login", "sign in with a wrong password", "the form says that it is wrong"),
    ("search", "search for an empty text", "the list of all entries is shown"),
    ("cart", "put the same thing in twice", "its number is two"),
    ("logout", "sign out and go back", "the form to sign in is shown"),
];

/// The application under test: what it shows when something is done. It forgets to show the list when the
/// text is empty.
fn application(action: &str) -> &'static str {
    match action {
        "sign in with a wrong password" => "the form says that it is wrong",
        "put the same thing in twice" => "its number is two",
        "sign out and go back" => "the form to sign in is shown",
        _ => "nothing is shown",
    }
}

/// Runs the storyboards that the arguments name against the application.
#[derive(Debug, Default)]
struct Boards {
    /// The names of those that ran.
    ran: Vec<String>,
    /// The names of those whose expectation was not met.
    faults: Vec<String>,
}

impl Delivery for Boards {
    fn deliver(&mut self, call: &DeliverableCall<'_>) -> Fact {
        for argument in call.arguments {
            let name = argument.strip_prefix("storyboard=").unwrap_or_default();
            let Some((name, action, expect)) = BOARDS.iter().find(|board| board.0 == name) else {
                continue;
            };
            self.ran.push((*name).to_owned());
            if application(action) != *expect {
                self.faults.push((*name).to_owned());
            }
        }
        self.ran.sort();
        self.ran.dedup();
        let satisfied = self.ran.len() == BOARDS.len();
        let what = if satisfied { "made" } else { "not made" };
        Fact {
            step: call.step.to_owned(),
            arguments: call.arguments.to_vec(),
            satisfied,
            observed: format!(
                "{what}: {} of {} storyboard tests ran",
                self.ran.len(),
                BOARDS.len()
            ),
            seen: None,
        }
    }
}

/// The replay of a failed tester: how many times fewer tokens, and what is delivered.
///
/// # Errors
/// None that its parts do not make up.
pub fn replay() -> Result<Outcome, RunError> {
    let failed = failed_tester()?;
    let mut model = Simulated::new("tester", 100_000, |seen: &Seen| Ok(test(seen)));
    let mut boards = Boards::default();
    let mut journal = MemoryJournal::new(RunId::from_text("replayed"));
    let outcome = what_if(
        &failed.entries,
        Variation {
            model: &mut model,
            task: None,
            settings: None,
            delivery: &mut boards,
            clock: &FixedClock::default(),
            journal: &mut journal,
        },
    )?;
    let number = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
    let delivered =
        if outcome.replayed.verdict == Some(Verdict::Answered) { boards.ran.len() } else { 0 };
    let found_exactly = u32::from(boards.faults == ["search"]);
    Ok(Outcome {
        scenario: "replay".to_owned(),
        source: Source::Simulated,
        measures: vec![
            Measure::between(
                "input tokens of the failed tester",
                f64::from(outcome.recorded.input_tokens),
                (152_880.0, 159_120.0),
            ),
            Measure::at_least("times fewer input tokens", outcome.times_fewer, 14.0),
            Measure::between("storyboard tests delivered", number(delivered), (4.0, 4.0)),
            Measure::between(
                "the seeded fault found in its test alone",
                f64::from(found_exactly),
                (1.0, 1.0),
            ),
        ],
        notes: vec![
            format!(
                "{} calls, {} input tokens",
                outcome.replayed.calls, outcome.replayed.input_tokens
            ),
            "the application and the runner of its storyboards are part of the simulation"
                .to_owned(),
        ],
    })
}

/// The journal of a tester in the open loop, aborted at turn 43 with 156,000 tokens read and no verdict.
fn failed_tester() -> Result<MemoryJournal, RunError> {
    let mut journal = MemoryJournal::new(RunId::from_text("failed"));
    let actor = Actor::harness();
    let mut write = |event: &Event| journal.append(Duration::ZERO, &actor, event).map(|_| ());
    let text = "schema_version = 1\nname = 'tester'\nquestion = 'Do the storyboards hold? Run a test of each.'";
    let mut task = Task::parse("tester", text).map_err(|_| FoldError::NoStart)?;
    task.deliverable = Some(Need {
        name: "storyboard tests".to_owned(),
        call: vec!["storyboards".to_owned()],
        kind: Kind::TestRun { runner: Runner::Tap, report: None },
    });
    let model = ModelFact {
        name: "open loop".to_owned(),
        capability: crate::pipeline::model::Capability {
            window_tokens: 1_000_000,
            structured_output: false,
            prompt_cache: false,
            tools: true,
        },
    };
    let bound = bound(&task, model.capability.window_tokens);
    write(&Event::Started { task, model, settings: Settings::default(), bound })?;
    // What its tools returned, which is what a replay may use.
    let read = [
        (Depth::Description, Purpose::Orient),
        (Depth::Summary, Purpose::Plan),
        (Depth::Detail, Purpose::Step("reading".to_owned())),
    ];
    for (depth, purpose) in read {
        let pieces: Vec<Piece> = BOARDS.iter().map(|board| piece(board, depth)).collect();
        let selected = pieces.iter().map(|piece| piece.id.clone()).collect();
        write(&Event::Retrieved { depth, purpose, selected, pieces })?;
    }
    let loops = open_loop(43, |prompt| growth_for(43, 156_000, prompt));
    for (turn, (counted, said)) in loops.turns.iter().zip(&loops.replies).enumerate() {
        let purpose = Purpose::Step(format!("turn{turn}"));
        write(&Event::Asked {
            purpose: purpose.clone(),
            request: String::new(),
            prefix: String::new(),
            counted: *counted,
            sent: Vec::new(),
            omitted: Vec::new(),
            tail: String::new(),
        })?;
        let reply = Reply { text: said.clone(), finish: Finish::Stop, usage: None, attempts: 1 };
        write(&Event::Answered { purpose, reply })?;
    }
    Ok(journal)
}

fn piece((name, action, expect): &(&str, &str, &str), depth: Depth) -> Piece {
    let path = format!("storyboards/{name}.md");
    let text = match depth {
        Depth::Description => format!("The storyboard {name}."),
        Depth::Summary => {
            format!("The storyboard {name} has one scene, in which a visitor acts and looks.")
        }
        Depth::Detail => format!(
            "Given a visitor. Action: {action}. Expect: {expect}.\nEvidence: the text that is shown.\n"
        ),
    };
    Piece { id: path.clone(), path, lines: (1, 2), text }
}

/// What the model does in the pipeline: a step for each storyboard, and one that runs them all.
fn test(seen: &Seen) -> String {
    match seen.shape.as_str() {
        "plan" => {
            let labels = seen.labels();
            let mut steps: Vec<Value> = (1..)
                .zip(&labels)
                .map(|(n, id)| {
                    json!({"id": format!("s{n}"), "kind": "examine", "goal": format!("What does {id} expect?"),
                        "targets": [id], "needs": []})
                })
                .collect();
            let needs: Vec<String> = (1..=labels.len()).map(|n| format!("s{n}")).collect();
            steps.push(
                json!({"id": "run", "kind": "deliver", "goal": "Run a test of each storyboard.",
                "targets": [], "needs": needs}),
            );
            seen.reply(json!({"steps": steps}))
        }
        "deliver" => {
            // The storyboards that earlier steps established, from the digest alone.
            let known = BOARDS.iter().map(|(name, ..)| *name);
            let arguments: Vec<String> = known
                .filter(|name| seen.digest.contains(&format!("storyboards/{name}.md:1")))
                .map(|name| format!("storyboard={name}"))
                .collect();
            seen.reply(json!({"arguments": arguments}))
        }
        _ => diligent(seen, 8),
    }
}

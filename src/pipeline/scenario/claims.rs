//! Claimed or not, produced or not: what is accepted is what is there.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::{Measure, Outcome, Source};
use crate::clock::FixedClock;
use crate::pipeline::deliverable::{
    Claim, Counts, Judgement, Kind, Need, Place, Runner, TicketFormat, judge, perform,
};
use crate::pipeline::process::Environment;

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
    /// What a true claim says, and one that is true but for one thing.
    honest: fn() -> Claim,
    dishonest: fn() -> Claim,
}

const ITEMS: [Item; 3] = [
    Item {
        name: "test run",
        file: "report.xml",
        kind: |file| Kind::TestRun { runner: Runner::JunitXml, report: Some(file) },
        good: "<testsuite tests=\"2\"><testcase name=\"a\"/><testcase name=\"b\"></testcase></testsuite>",
        hollow: "<testsuite tests=\"0\"></testsuite>",
        honest: || counted(2),
        dishonest: || counted(3),
    },
    Item {
        name: "recording",
        file: "demo.cast",
        kind: |file| Kind::Recording { file },
        good: "{\"version\": 2, \"width\": 80, \"height\": 24}\n[0.5, \"o\", \"hello\"]\n",
        hollow: "{\"version\": 2, \"width\": 80, \"height\": 24}\n",
        honest: || Claim {
            delivered: true,
            file: Some("demo.cast".to_owned()),
            ..Claim::default()
        },
        dishonest: || Claim {
            delivered: true,
            file: Some("other.cast".to_owned()),
            ..Claim::default()
        },
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
        honest: || Claim { delivered: true, ticket: Some("7".to_owned()), ..Claim::default() },
        dishonest: || Claim { delivered: true, ticket: Some("8".to_owned()), ..Claim::default() },
    },
];

fn counted(passed: u64) -> Claim {
    let counts = Counts { passed, ..Counts::default() };
    Claim { delivered: true, counts: Some(counts), ..Claim::default() }
}

/// Makes every deliverable in every state, once claimed, once not, once claimed wrongly, in folders
/// below `folder`. The calls are lines of shell, so this needs a `sh` on the path of `environment`.
///
/// # Errors
/// When the calls cannot be prepared or made.
pub fn claims(folder: &Path, environment: &Environment) -> io::Result<Outcome> {
    let mut notes = Vec::new();
    let (mut n_cells, mut n_false, mut n_refused) = (0_u32, 0_u32, 0_u32);
    for item in &ITEMS {
        for state in STATES {
            let cell = folder.join(format!("{}-{state:?}", item.file));
            let tree = cell.join("tree");
            let scratch = cell.join("scratch");
            fs::create_dir_all(&tree)?;
            fs::create_dir_all(&scratch)?;
            let need = prepare(item, state, &cell, &tree)?;
            let place = Place {
                tree: &tree,
                scratch: &scratch,
                environment,
                timeout: Duration::from_secs(30),
                max_output_bytes: 10_000,
                clock: &FixedClock(Duration::ZERO),
            };
            let fact = match state {
                State::NoCall => None,
                _ => Some(perform(&need, &place).map_err(io::Error::other)?),
            };
            let claims =
                [None, Some(Claim::default()), Some((item.honest)()), Some((item.dishonest)())];
            for (claim_idx, claim) in claims.iter().enumerate() {
                let judgement = judge(&need, fact.as_ref(), claim.as_ref());
                let is_accepted = matches!(judgement, Judgement::Delivered { .. });
                let is_there = state == State::Produced && claim_idx != 3;
                n_cells += 1;
                n_false += u32::from(is_accepted && !is_there);
                n_refused += u32::from(!is_accepted && is_there);
                if is_accepted != is_there {
                    notes.push(format!("{}, {state:?}, {claim:?}: {judgement:?}", item.name));
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
            measure("cells of the matrix", n_cells, "at least 24", n_cells >= 24),
            measure("false acceptances", n_false, "0", n_false == 0),
            measure("deliverables refused that are there", n_refused, "0", n_refused == 0),
        ],
        notes,
    })
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
    Ok(Need { name: item.name.to_owned(), call, kind: (item.kind)(item.file.to_owned()) })
}

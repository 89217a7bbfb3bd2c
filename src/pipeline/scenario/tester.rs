//! A tester that read and read and delivered nothing, replayed from its journal in the pipeline.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::looping::{growth_for, open_loop};
use super::sim::{Seen, Simulated, diligent};
use super::{Measure, Outcome, Source};
use crate::clock::FixedClock;
use crate::ledger::{Actor, RunId};
use crate::pipeline::deliverable::{Before, Kind, Need, Repeat, Runner, recording};
use crate::pipeline::model::{Capability, Finish, Reply, Scripted};
use crate::pipeline::process::Environment;
use crate::pipeline::storyboard::{
    Bench, Evidence, Report, SceneReport, Storyboard, Verdict as Scene, perform,
};
use crate::pipeline::write::push;
use crate::pipeline::{
    Beginning, DeliverableCall, Delivery, Depth, Event, Fact, FoldError, Journal as _,
    MemoryJournal, ModelFact, Piece, Purpose, RunError, Settings, Task, Variation, Verdict, bound,
    what_if,
};

/// The scenes: name, what is done, what is expected, and the text that shows it.
const SCENES: [(&str, &str, &str, &str); 4] = [
    (
        "login",
        "sign in with a wrong password",
        "the form says that it is wrong",
        "the password is wrong",
    ),
    ("search", "search for an empty text", "the list of all entries is shown", "entry 3"),
    ("cart", "put the same thing in twice", "its number is two", "tea: 2"),
    ("logout", "sign out and go back", "the form to sign in is shown", "please sign in"),
];

/// The application under test: a shop on a terminal. Its fault: for an empty text it forgets to show the list.
const PROGRAM: &str = "\
case \"$1\" in
login) if [ \"$2\" = secret ]; then echo 'signed in'; else echo 'the password is wrong'; exit 1; fi ;;
search) if [ -n \"$2\" ]; then printf 'entry 1\\nentry 2\\nentry 3\\n' | grep -- \"$2\"; fi ;;
add) echo \"$2\" >> cart.txt ;;
cart) sort cart.txt | uniq -c | while read -r n what; do echo \"$what: $n\"; done ;;
logout) rm -f session.txt ;;
page) if [ -f session.txt ]; then echo welcome; else echo 'please sign in'; fi ;;
*) exit 64 ;;
esac
";

/// The script of a scene, as the simulated tester writes it.
fn script(name: &str) -> &'static str {
    match name {
        "login" => r#"{"run": [["sh", "app/shop.sh", "login", "guess"]]}"#,
        "search" => r#"{"run": [["sh", "app/shop.sh", "search", ""]]}"#,
        "cart" => {
            r#"{"run": [["sh", "app/shop.sh", "add", "tea"], ["sh", "app/shop.sh", "add", "tea"],
                ["sh", "app/shop.sh", "cart"]]}"#
        }
        _ => r#"{"run": [["sh", "app/shop.sh", "logout"], ["sh", "app/shop.sh", "page"]]}"#,
    }
}

/// The storyboard of some scenes, without scripts.
fn board(names: &[&str]) -> String {
    let mut text = "schema_version = 1\nname = \"shop\"\ninputs = [\"app/shop.sh\"]\nprograms = [\"sh\"]\n\
                    manual = \"sh app/shop.sh login PASSWORD | search TEXT | add THING | cart | logout | page\"\n"
        .to_owned();
    for (name, action, expect, shows) in SCENES.iter().filter(|scene| names.contains(&scene.0)) {
        push(
            &mut text,
            format_args!(
                "[[scene]]\nname = \"{name}\"\ngiven = \"a visitor\"\naction = \"{action}: {expect}\"\n\
                 expect = {{ output_has = [\"{shows}\"] }}\nevidence = [\"cast\"]\n"
            ),
        );
    }
    text
}

/// Executes the scenes that the arguments name, with a script of the model for each.
#[derive(Debug)]
struct Boards<'a> {
    folder: &'a Path,
    environment: &'a Environment,
    /// What came of them.
    report: Option<Report>,
}

impl Boards<'_> {
    fn execute(&self, arguments: &[String]) -> io::Result<Report> {
        let named =
            |scene: &str| arguments.iter().any(|it| it.strip_prefix("scene=") == Some(scene));
        let names: Vec<&str> =
            SCENES.iter().map(|scene| scene.0).filter(|name| named(name)).collect();
        let tree = self.folder.join("tree");
        fs::create_dir_all(tree.join("app"))?;
        fs::write(tree.join("app/shop.sh"), PROGRAM)?;
        let board = Storyboard::parse(&board(&names)).map_err(io::Error::other)?;
        let capability = Capability { window_tokens: 4_096, ..Capability::default() };
        let scripts = names.iter().map(|name| script(name));
        let mut model = Scripted::of_texts("tester", capability, scripts);
        let bench = Bench {
            tree: &tree,
            scratch: &self.folder.join("scratch"),
            package: &self.folder.join("package"),
            environment: self.environment,
            timeout: Duration::from_secs(30),
            max_output_bytes: 100_000,
            clock: &FixedClock(Duration::from_secs(1)),
        };
        perform(&board, &mut model, &bench).map_err(io::Error::other)
    }

    /// The scenes that were executed and of which there is a terminal cast.
    fn delivered(&self) -> Vec<&SceneReport> {
        let is_cast = |file: &Evidence| {
            let path = self.folder.join("package").join(&file.file);
            fs::read(path).is_ok_and(|it| recording(&it).is_ok())
        };
        let scenes = self.report.iter().flat_map(|report| &report.scenes);
        let ran =
            scenes.filter(|scene| matches!(scene.verdict, Scene::Passed | Scene::Failed { .. }));
        ran.filter(|scene| scene.evidence.iter().any(is_cast)).collect()
    }
}

impl Delivery for Boards<'_> {
    fn before(&mut self, _call: &DeliverableCall<'_>) -> Result<Before, Box<Fact>> {
        Ok(Before::default())
    }

    fn deliver(&mut self, call: &DeliverableCall<'_>, _begun: Beginning<'_>) -> Fact {
        match self.execute(call.arguments) {
            Ok(report) => self.report = Some(report),
            Err(error) => return Fact::not_made(call.step, call.arguments, &error.to_string()),
        }
        let n = self.delivered().len();
        let satisfied = n == SCENES.len();
        let what = if satisfied { "made" } else { "not made" };
        Fact {
            step: call.step.to_owned(),
            arguments: call.arguments.to_vec(),
            satisfied,
            observed: format!("{what}: {n} of {} storyboard tests ran", SCENES.len()),
            seen: None,
        }
    }

    fn inspect(&mut self, call: &DeliverableCall<'_>, _begun: Beginning<'_>) -> Fact {
        Fact::not_made(call.step, call.arguments, "nobody saw how it ended")
    }
}

/// The replay of a failed tester: how many times fewer tokens, and what is delivered. Scenes are executed below
/// `folder`, with the `sh`, `grep`, `rm`, `sort` and `uniq` on the path of `environment`.
///
/// # Errors
/// None that its parts do not make up.
pub fn replay(folder: &Path, environment: &Environment) -> Result<Outcome, RunError> {
    let failed = failed_tester()?;
    let mut model = Simulated::new("tester", 100_000, |seen: &Seen| Ok(test(seen)));
    let mut boards = Boards { folder, environment, report: None };
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
    let is_answered = outcome.replayed.verdict == Some(Verdict::Answered);
    let delivered = if is_answered { boards.delivered() } else { Vec::new() };
    let is_fault = |scene: &&&SceneReport| matches!(scene.verdict, Scene::Failed { .. });
    let faults: Vec<&str> =
        delivered.iter().filter(is_fault).map(|scene| scene.name.as_str()).collect();
    let found_exactly = u32::from(faults == ["search"]);
    let of_scripts = boards.report.as_ref().map_or((0, 0), |it| (it.n_calls, it.input_tokens));
    let tokens = outcome.replayed.input_tokens + of_scripts.1;
    let times_fewer = f64::from(outcome.recorded.input_tokens) / f64::from(tokens.max(1));
    Ok(Outcome {
        scenario: "replay".to_owned(),
        source: Source::Simulated,
        measures: vec![
            Measure::between(
                "input tokens of the failed tester",
                f64::from(outcome.recorded.input_tokens),
                (152_880.0, 159_120.0),
            ),
            Measure::at_least("times fewer input tokens, scripts included", times_fewer, 14.0),
            Measure::between(
                "storyboard tests delivered, each with its cast",
                number(delivered.len()),
                (4.0, 4.0),
            ),
            Measure::between(
                "the seeded fault found in its test alone",
                f64::from(found_exactly),
                (1.0, 1.0),
            ),
        ],
        notes: vec![format!(
            "{} calls and {} input tokens in the pipeline, {} and {} for scripts, which the storyboard executor ran",
            outcome.replayed.calls, outcome.replayed.input_tokens, of_scripts.0, of_scripts.1
        )],
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
        repeat: Repeat::WhenInterrupted,
    });
    let model = ModelFact {
        name: "open loop".to_owned(),
        capability: Capability {
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
        let pieces: Vec<Piece> = SCENES.iter().map(|scene| piece(scene, depth)).collect();
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

fn piece((name, action, expect, _): &(&str, &str, &str, &str), depth: Depth) -> Piece {
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
            let known = SCENES.iter().map(|scene| scene.0);
            let arguments: Vec<String> = known
                .filter(|name| seen.digest.contains(&format!("storyboards/{name}.md:1")))
                .map(|name| format!("scene={name}"))
                .collect();
            seen.reply(json!({"arguments": arguments}))
        }
        _ => diligent(seen, 8),
    }
}

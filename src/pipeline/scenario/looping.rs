//! A model that never comes to an end: in the open loop, where nothing makes it, and in the pipeline.
//!
//! The simulator's parameters follow from the failure that it reproduces. With a prompt of `p` tokens and a
//! transcript that grows by `g` tokens a turn, the input of turn `t` (from 0) is `p + g t`, and that of all
//! `T` turns is `T p + g T (T - 1) / 2`. 80 turns of 253,000 tokens, with the `p` that the prompt below
//! has, leave one `g`; likewise 43 turns of 156,000. What is measured is the sum of the counted inputs, not the
//! formula.

use serde_json::{Value, json};

use super::sim::{Seen, Shelf, Shelved, Simulated, diligent};
use super::{Measure, Outcome, Source};
use crate::clock::FixedClock;
use crate::ledger::{Actor, RunId};
use crate::pipeline::model::{Message, Model, ModelError, Request, Role};
use crate::pipeline::write::push;
use crate::pipeline::{
    MemoryJournal, RunError, RunReport, Settings, State, Task, begin, count, drive,
};
use crate::text;

/// How wide the window of the simulated model is: never what limits it.
const WINDOW_TOKENS: u32 = 1_000_000;
/// Files that the task is about.
const N_FILES: usize = 8;

/// An open loop, as it went.
#[derive(Debug)]
pub(crate) struct Loop {
    /// The input of every turn, counted.
    pub(crate) turns: Vec<u32>,
    /// What the model said in every turn.
    pub(crate) replies: Vec<String>,
    /// Whether it came to an answer.
    pub(crate) answered: bool,
}

impl Loop {
    /// The inputs of all turns.
    pub(crate) fn total(&self) -> u32 {
        self.turns.iter().sum()
    }
}

/// The task that both ways are given.
fn task() -> Result<Task, RunError> {
    let text = "schema_version = 1\nname = 'looping'\nquestion = 'Which guarantees does each module give?'";
    // The text is above.
    Task::parse("looping", text).map_err(|_| crate::pipeline::FoldError::NoStart.into())
}

/// The files: eight modules that each say what they guarantee.
pub(crate) fn shelf() -> Shelf {
    let record = |n: usize| {
        let mut detail = format!("Module {n} guarantees that request {n} is answered once.\n");
        for line in 0..28 {
            push(
                &mut detail,
                format_args!(
                    "Paragraph {line} of module {n} explains how retries and timeouts of part {line} are counted.\n"
                ),
            );
        }
        Shelved {
            path: format!("module{n}.md"),
            description: format!("What module {n} guarantees."),
            summary: format!(
                "Module {n} answers requests of kind {n}; this says what it guarantees about retries and timeouts."
            ),
            detail,
        }
    };
    Shelf((0..N_FILES).map(record).collect())
}

/// The model. Without a form to fill in it always wants to look once more; with one, it fills it in, though of
/// every fourth step it writes prose first.
fn looper() -> Simulated<impl FnMut(&Seen) -> Result<String, ModelError>> {
    let mut n_turns = 0_usize;
    Simulated::new("looper", WINDOW_TOKENS, move |seen: &Seen| {
        if seen.shape.is_empty() {
            n_turns += 1;
            return Ok(format!(
                "I should look at module{}.md once more to be sure.",
                n_turns % N_FILES
            ));
        }
        let wanders = ["step s4", "step s8"].contains(&seen.purpose.as_str());
        if !wanders {
            return Ok(diligent(seen, N_FILES));
        }
        if !seen.again {
            let said = seen.first_line().map_or_else(String::new, |at| {
                format!("In {} on line {} it says: {}", at.file, at.line, at.quote)
            });
            return Ok(format!("{said}\nI should look at it once more to be sure."));
        }
        Ok(from_prose(seen).unwrap_or_else(|| diligent(seen, N_FILES)))
    })
}

/// Fills the form in from what it wrote as prose.
fn from_prose(seen: &Seen) -> Option<String> {
    let (_, said) = seen.spans.first()?;
    let (file, rest) = said.lines().next()?.strip_prefix("In ")?.split_once(" on line ")?;
    let (line, quote) = rest.split_once(" it says: ")?;
    let line: i64 = line.parse().ok()?;
    let finding =
        json!({"claim": format!("{file} says so"), "file": file, "line": line, "quote": quote});
    Some(seen.reply(json!({"findings": [finding], "absent": [], "suggest": []})))
}

/// Runs the open loop for at most `n_turns` turns, each of which makes the transcript `growth` tokens longer.
pub(crate) fn open_loop(n_turns: u32, growth: impl Fn(u32) -> u32) -> Loop {
    let mut model = looper();
    let prompt = "You are a careful analyst with the tools read_file, search and list_files. Work on the task \
                  until you can answer it, and then say ANSWER. Task: Which guarantees does each module give?";
    let shelf = shelf();
    let mut transcript = String::new();
    let mut loops = Loop { turns: Vec::new(), replies: Vec::new(), answered: false };
    let messages = |transcript: &str| {
        vec![
            Message { role: Role::System, content: prompt.to_owned() },
            Message { role: Role::User, content: transcript.to_owned() },
        ]
    };
    let growth = growth(count(&messages("")));
    for turn in 0..n_turns {
        let request = Request {
            purpose: format!("turn {turn}"),
            messages: messages(&transcript),
            schema: None,
            max_output_tokens: 1_000,
            timeout: std::time::Duration::from_mins(1),
        };
        loops.turns.push(count(&request.messages));
        let Ok(reply) = model.complete(&request) else { break };
        if reply.text.contains("ANSWER") {
            loops.answered = true;
            break;
        }
        let record = shelf.0.iter().find(|record| reply.text.contains(&record.path));
        let detail = record.map_or("", |record| record.detail.as_str());
        let left = growth.saturating_sub(text::count(&format!("{}\n\n", reply.text)));
        let result = text::cut_to_tokens(detail, left).to_owned();
        push(&mut transcript, format_args!("{}\n{result}\n", reply.text));
        loops.replies.push(reply.text);
    }
    loops
}

/// The growth with which `n_turns` turns have `total` tokens, when the prompt has `prompt`.
pub(crate) fn growth_for(n_turns: u32, total: u32, prompt: u32) -> u32 {
    let pairs = n_turns * (n_turns - 1) / 2;
    (total.saturating_sub(n_turns * prompt) + pairs / 2) / pairs.max(1)
}

/// The open loop: the failure that the pipeline is there to avoid.
///
/// # Errors
/// None that its parts do not make up.
pub fn looping_open() -> Result<Outcome, RunError> {
    let loops = open_loop(80, |prompt| growth_for(80, 253_000, prompt));
    let total = loops.total();
    let fit = Fit::of(&loops.turns);
    let n_turns = u32::try_from(loops.turns.len()).unwrap_or(u32::MAX);
    Ok(Outcome {
        scenario: "looping-open".to_owned(),
        source: Source::Simulated,
        measures: vec![
            Measure::between("turns", f64::from(n_turns), (80.0, 80.0)),
            Measure::between("input tokens", f64::from(total), (247_940.0, 258_060.0)),
            Measure::at_most("verdicts", f64::from(u32::from(loops.answered)), 0.0),
            Measure::at_least(
                "R2 of a quadratic fit of the tokens so far",
                fit.r2_quadratic,
                0.999,
            ),
            Measure::at_least("tokens of 80 turns by those of 40", fit.doubling, 3.0),
        ],
        notes: vec![format!(
            "tokens after t turns: {:.2} t^2 + {:.1} t; R2 of a straight line: {:.4}",
            fit.square, fit.line, fit.r2_linear
        )],
    })
}

/// The same model in the pipeline.
///
/// # Errors
/// None that its parts do not make up.
pub fn looping_pipeline() -> Result<Outcome, RunError> {
    let mut model = looper();
    let state = run(&task()?, &mut model)?;
    let report = RunReport::of(&state);
    let done = report.outcome.steps.iter().filter(|step| step.done).count();
    let n_steps = report.outcome.steps.len();
    let number = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
    Ok(Outcome {
        scenario: "looping-pipeline".to_owned(),
        source: Source::Simulated,
        measures: vec![
            Measure::at_most("calls", f64::from(state.spent.calls), 17.0),
            Measure::at_most("input tokens", f64::from(model.input_tokens()), 27_000.0),
            Measure::between("steps", number(n_steps), (number(N_FILES), number(N_FILES))),
            Measure::at_most("steps without a verified finding", number(n_steps - done), 0.0),
        ],
        notes: vec![
            format!("verdict: {}", report.outcome.verdict),
            format!(
                "aim: 12 calls, 15,000 input tokens; {} of the calls ask again for what was prose at first",
                model.requests.len() - N_FILES - 4
            ),
        ],
    })
}

/// A model that says the same again in other words: aborted by hand after 43 turns, ended by the stall limit.
///
/// # Errors
/// None that its parts do not make up.
pub fn abort() -> Result<Outcome, RunError> {
    let loops = open_loop(43, |prompt| growth_for(43, 156_000, prompt));
    let mut n_said = 0;
    let mut model = Simulated::new("rewording", WINDOW_TOKENS, move |seen: &Seen| {
        match seen.shape.as_str() {
            "plan" => Ok(seen.reply(json!({"steps": same_target(seen)}))),
            "step" => {
                n_said += 1;
                let quote = "Module 0 guarantees that request 0 is answered once.";
                let finding = json!({"claim": format!("Put differently ({n_said}): once"), "file": "module0.md",
                "line": 1, "quote": quote});
                Ok(seen.reply(json!({"findings": [finding], "absent": [], "suggest": []})))
            }
            _ => Ok(diligent(seen, N_FILES)),
        }
    });
    let state = run(&task()?, &mut model)?;
    let report = RunReport::of(&state);
    let stalled =
        report.outcome.failures.iter().filter(|failure| failure.class.name() == "stall").count();
    let n_turns = u32::try_from(loops.turns.len()).unwrap_or(u32::MAX);
    Ok(Outcome {
        scenario: "abort".to_owned(),
        source: Source::Simulated,
        measures: vec![
            Measure::between("turns of the open loop", f64::from(n_turns), (43.0, 43.0)),
            Measure::between(
                "input tokens of the open loop",
                f64::from(loops.total()),
                (152_880.0, 159_120.0),
            ),
            Measure::at_most("calls in the pipeline", f64::from(state.spent.calls), 7.0),
            Measure::between(
                "stalls",
                f64::from(u32::try_from(stalled).unwrap_or(u32::MAX)),
                (1.0, 1.0),
            ),
        ],
        notes: vec![format!(
            "{} input tokens in the pipeline, verdict {}",
            state.spent.input_tokens, report.outcome.verdict
        )],
    })
}

/// Eight steps that read the first record, each in other words.
fn same_target(seen: &Seen) -> Vec<Value> {
    let first = seen.labels().first().map(|label| (*label).to_owned()).unwrap_or_default();
    let step = |n: usize| {
        json!({"id": format!("s{n}"), "kind": "examine", "goal": format!("look at it in way {n}"),
            "targets": [first], "needs": []})
    };
    (1..=8).map(step).collect()
}

/// Runs a task over the files in memory.
fn run(task: &Task, model: &mut dyn Model) -> Result<State, RunError> {
    let mut journal = MemoryJournal::new(RunId::from_text("looping"));
    shelf().work(model, &FixedClock::default(), &mut journal, |parts| {
        let state = begin(task, Settings::default(), &Actor::harness(), parts)?;
        drive(state, parts)
    })
}

/// How the tokens so far grow with the turns.
#[derive(Debug)]
struct Fit {
    square: f64,
    line: f64,
    r2_quadratic: f64,
    r2_linear: f64,
    doubling: f64,
}

impl Fit {
    /// Least squares of `a t^2 + b t`, and of `b t`, through the origin.
    fn of(turns: &[u32]) -> Self {
        let mut total = 0.0;
        let points: Vec<(f64, f64)> = (1_u32..)
            .zip(turns)
            .map(|(t, tokens)| {
                total += f64::from(*tokens);
                (f64::from(t), total)
            })
            .collect();
        let sum = |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|&(t, y)| of(t, y)).sum::<f64>();
        let (t2, t3, t4) = (sum(&|t, _| t * t), sum(&|t, _| t.powi(3)), sum(&|t, _| t.powi(4)));
        let (ty, t2y) = (sum(&|t, y| t * y), sum(&|t, y| t * t * y));
        let determinant = t4 * t2 - t3 * t3;
        let square = (t2y * t2 - ty * t3) / determinant;
        let line = (ty * t4 - t2y * t3) / determinant;
        let n = f64::from(u32::try_from(points.len()).unwrap_or(u32::MAX));
        let mean = sum(&|_, y| y) / n;
        let spread = sum(&|_, y| (y - mean).powi(2));
        let r2 = |of: &dyn Fn(f64) -> f64| 1.0 - sum(&|t, y| (y - of(t)).powi(2)) / spread;
        let at = |part: usize| {
            let last = (points.len() / part).checked_sub(1).and_then(|last| points.get(last));
            last.map_or(1.0, |&(_, y)| y)
        };
        Self {
            square,
            line,
            r2_quadratic: r2(&|t| square * t * t + line * t),
            r2_linear: r2(&|t| t * ty / t2),
            doubling: at(1) / at(2),
        }
    }
}

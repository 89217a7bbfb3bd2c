//! Many runs together: how many were completed, what the others failed from, and what they cost.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::pipeline::class::{Class, Verdict};
use crate::pipeline::report::RunReport;
use crate::pipeline::state::State;
use crate::pipeline::write::push;

/// What came of some runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Account {
    /// The version of the format, [`Account::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Runs that ended, and runs that did not.
    pub runs: u32,
    /// How they ended.
    pub verdicts: BTreeMap<String, u32>,
    /// Answered of all runs: nothing is left out.
    pub unadjusted: Share,
    /// Answered of the runs that no machine or provider broke off.
    pub adjusted: Share,
    /// Runs in which each class occurred, every class, also with zero.
    pub classes: Vec<ClassCount>,
    /// What all runs cost.
    pub cost: Sum,
    /// Of it, what the runs cost that were not answered.
    pub cost_of_failed: Sum,
    /// The runs, in the order of their names.
    pub list: Vec<RunLine>,
}

/// A share of runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Share {
    /// How many were answered.
    pub answered: u32,
    /// Of how many.
    pub of: u32,
    /// The share, from 0 to 1; 0 of none.
    pub share: f64,
}

/// How often a class occurred.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ClassCount {
    /// The class.
    pub class: Class,
    /// Runs in which it occurred at least once.
    pub runs: u32,
    /// How often it occurred in all of them.
    pub times: u32,
}

/// What runs cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Sum {
    /// Calls.
    pub calls: u64,
    /// Input tokens, counted.
    pub input_tokens: u64,
    /// Output tokens, counted.
    pub output_tokens: u64,
}

/// One run of an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunLine {
    /// Its name.
    pub run: String,
    /// Its task.
    pub task: String,
    /// How it ended; `None` when it did not.
    pub verdict: Option<Verdict>,
    /// The classes that occurred.
    pub classes: Vec<Class>,
    /// Calls.
    pub calls: u32,
    /// Input tokens, counted.
    pub input_tokens: u32,
}

impl Account {
    /// The format that this build writes.
    pub const SCHEMA_VERSION: u32 = 1;

    /// Adds runs up.
    pub fn of<'a>(runs: impl IntoIterator<Item = &'a State>) -> Self {
        let mut account = Self {
            schema_version: Self::SCHEMA_VERSION,
            runs: 0,
            verdicts: BTreeMap::new(),
            unadjusted: Share::of(0, 0),
            adjusted: Share::of(0, 0),
            classes: Class::ALL.map(|class| ClassCount { class, runs: 0, times: 0 }).to_vec(),
            cost: Sum::default(),
            cost_of_failed: Sum::default(),
            list: Vec::new(),
        };
        let (mut answered, mut broken) = (0, 0);
        for state in runs {
            let classes = classes_of(state);
            let is_answered = state.ended == Some(Verdict::Answered);
            let is_broken = state.ended.is_none() || state.ended == Some(Verdict::InfraFailed);
            let infrastructure = classes.iter().any(|class| class.is_infrastructure());
            account.runs += 1;
            answered += u32::from(is_answered);
            broken += u32::from(!is_answered && is_broken && infrastructure);
            let verdict = state.ended.map_or("unfinished", Verdict::name);
            *account.verdicts.entry(verdict.to_owned()).or_default() += 1;
            account.cost.add(state);
            if !is_answered {
                account.cost_of_failed.add(state);
            }
            for count in &mut account.classes {
                let times = classes.iter().filter(|class| **class == count.class).count();
                count.times += u32::try_from(times).unwrap_or(u32::MAX);
                count.runs += u32::from(times > 0);
            }
            let mut distinct = classes;
            distinct.sort_unstable();
            distinct.dedup();
            account.list.push(RunLine {
                run: state.run.to_string(),
                task: state.task.name.clone(),
                verdict: state.ended,
                classes: distinct,
                calls: state.spent.calls,
                input_tokens: state.spent.input_tokens,
            });
        }
        account.unadjusted = Share::of(answered, account.runs);
        account.adjusted = Share::of(answered, account.runs - broken);
        account
    }

    /// Writes it as JSON, with an end of line.
    pub fn to_json(&self) -> String {
        // Only texts, numbers and lists: always JSON.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Writes it for people: sentences, and tables where `tables` says so.
    pub fn to_text(&self, tables: Tables) -> String {
        let share = |share: &Share| {
            format!("{} of {} ({:.1} %)", share.answered, share.of, share.share * 100.0)
        };
        let mut text = format!(
            "completion, unadjusted: {}\ncompletion, adjusted: {}, without runs that a machine or provider broke \
             off\n",
            share(&self.unadjusted),
            share(&self.adjusted)
        );
        let sum = |sum: &Sum| {
            format!(
                "{} calls, {} input and {} output tokens",
                sum.calls, sum.input_tokens, sum.output_tokens
            )
        };
        push(
            &mut text,
            format_args!(
                "cost of all runs: {}\ncost of runs that were not answered: {}\n",
                sum(&self.cost),
                sum(&self.cost_of_failed)
            ),
        );
        let occurred: Vec<&ClassCount> =
            self.classes.iter().filter(|count| count.runs > 0).collect();
        match tables {
            Tables::No => {
                for count in occurred {
                    push(
                        &mut text,
                        format_args!(
                            "{}: {} times in {} runs\n",
                            count.class, count.times, count.runs
                        ),
                    );
                }
            }
            Tables::Yes => {
                push(
                    &mut text,
                    format_args!("\n{:<20} {:>6} {:>6}\n", "failure class", "runs", "times"),
                );
                for count in occurred {
                    let name = count.class.name();
                    push(
                        &mut text,
                        format_args!("{name:<20} {:>6} {:>6}\n", count.runs, count.times),
                    );
                }
                push(
                    &mut text,
                    format_args!(
                        "\n{:<14} {:<12} {:>6} {:>9}  task\n",
                        "run", "verdict", "calls", "input"
                    ),
                );
                for line in &self.list {
                    let verdict = line.verdict.map_or("unfinished", Verdict::name);
                    push(
                        &mut text,
                        format_args!(
                            "{:<14} {verdict:<12} {:>6} {:>9}  {}\n",
                            line.run, line.calls, line.input_tokens, line.task
                        ),
                    );
                }
            }
        }
        text
    }
}

/// Whether a text has tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tables {
    /// It has.
    Yes,
    /// Sentences only.
    No,
}

impl Share {
    fn of(answered: u32, of: u32) -> Self {
        let share = if of == 0 { 0.0 } else { f64::from(answered) / f64::from(of) };
        Self { answered, of, share }
    }
}

impl Sum {
    fn add(&mut self, state: &State) {
        self.calls += u64::from(state.spent.calls);
        self.input_tokens += u64::from(state.spent.input_tokens);
        self.output_tokens += u64::from(state.spent.output_tokens);
    }
}

/// The classes of what went wrong in a run. A run that did not end is one that crashed, and so is a call
/// whose outcome was lost, of a model or of a deliverable.
fn classes_of(state: &State) -> Vec<Class> {
    let mut classes: Vec<Class> =
        RunReport::of(state).outcome.failures.iter().map(|failure| failure.class).collect();
    let lost = state.spent.lost + state.spent.lost_deliveries;
    let n_lost = lost + u32::from(state.ended.is_none());
    classes.extend((0..n_lost).map(|_| Class::Crash));
    classes
}

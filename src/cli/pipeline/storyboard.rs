//! `psos storyboard`: scenes as tests, executed and packed up.

use std::process::ExitCode;
use std::time::Duration;

use psos::clock::SystemClock;
use psos::pipeline::model::{Capability, Model, Scripted};
use psos::pipeline::storyboard::{Bench, Report, SceneReport, Storyboard, Verdict, perform};

use crate::cli::args::StoryboardArgs;
use crate::cli::failure::Failure;
use crate::cli::output::{print, push};
use crate::cli::pipeline::{environment, folder_of, open_model, read};
use crate::cli::{Done, NOTHING};

/// The time that one command of a scene may take.
const COMMAND_TIME: Duration = Duration::from_mins(2);
/// Bytes that are kept of each output of a command.
const MAX_OUTPUT_BYTES: usize = 4 << 20;

pub(crate) fn run(args: &StoryboardArgs) -> Done {
    let text = read(&args.board)?;
    let of_board = |fault, error: anyhow::Error| {
        Failure::new(fault, error.context(args.board.display().to_string()))
    };
    let board = Storyboard::parse(&text).map_err(|error| of_board(error.fault(), error.into()))?;
    if !args.allow_run {
        let mut programs = board.programs.clone();
        if board.scenes.iter().any(|scene| scene.page.is_some()) {
            programs.push("a browser".to_owned());
        }
        let message = format!("the storyboard runs: {}", programs.join(", "));
        return Err(Failure::usage(message).hint("add --allow-run if you want that to run here"));
    }
    let unwritten = board.scenes.iter().find(|scene| scene.run.is_empty() && scene.page.is_none());
    let mut model: Box<dyn Model> = match (&args.model, unwritten) {
        (Some(card), _) => open_model(card)?,
        (None, Some(scene)) => {
            let name = &scene.name;
            let message = format!("the scene `{name}` has neither commands nor a page");
            return Err(Failure::usage(message).hint("name a model that writes scripts: --model"));
        }
        // Nobody is asked for anything.
        (None, None) => Box::new(Scripted::of_texts("none", Capability::default(), [])),
    };
    let scratch = tempfile::tempdir()?;
    let environment = environment();
    let bench = Bench {
        tree: args.tree.as_deref().unwrap_or_else(|| folder_of(&args.board)),
        scratch: scratch.path(),
        package: &args.out,
        environment: &environment,
        timeout: COMMAND_TIME,
        max_output_bytes: MAX_OUTPUT_BYTES,
        clock: &SystemClock,
    };
    let report = perform(&board, model.as_mut(), &bench)
        .map_err(|error| of_board(error.fault(), error.into()))?;
    print(&if args.json { to_json(&report) } else { to_tap(&report) })?;
    Ok(exit_code(&report))
}

/// What the scenes tell a script: the machine failed, or else a scene did.
fn exit_code(report: &Report) -> ExitCode {
    let has = |of: fn(&Verdict) -> bool| report.scenes.iter().any(|scene| of(&scene.verdict));
    if has(|verdict| matches!(verdict, Verdict::InfraFailed { .. })) {
        return ExitCode::from(4);
    }
    if has(|verdict| *verdict != Verdict::Passed) {
        return ExitCode::from(NOTHING);
    }
    ExitCode::SUCCESS
}

/// Values of ours are always JSON.
fn to_json(report: &Report) -> String {
    let mut text = serde_json::to_string_pretty(report).unwrap_or_default();
    text.push('\n');
    text
}

/// The verdicts in the Test Anything Protocol, which people and the runner `tap` of a deliverable read.
fn to_tap(report: &Report) -> String {
    let mut text = format!("TAP version 13\n1..{}\n", report.scenes.len());
    for (scene, number) in report.scenes.iter().zip(1..) {
        let is_passed = scene.verdict == Verdict::Passed;
        // A sign that begins a directive is none in a name.
        let name = one_line(&scene.name).replace('#', "\\#");
        let not = if is_passed { "" } else { "not " };
        push(&mut text, format_args!("{not}ok {number} - {name}\n"));
        for why in reasons(scene) {
            push(&mut text, format_args!("# {}\n", one_line(&why)));
        }
    }
    text
}

fn reasons(scene: &SceneReport) -> Vec<String> {
    match &scene.verdict {
        Verdict::Passed => Vec::new(),
        Verdict::Failed { differences } => differences.clone(),
        Verdict::NotExecutable { why } => vec![format!("not executable: {why}")],
        Verdict::InfraFailed { why } => vec![format!("the machine failed: {why}")],
        Verdict::Tampered { input } => vec![format!("the scene changed its input {input}")],
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

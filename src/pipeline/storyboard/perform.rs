//! Executing a storyboard, and packing up what was seen.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::check::{Problem, check};
use super::script::{self, Script};
use super::{Cast, EvidenceKind, Scene, Storyboard, web};
use crate::clock::Clock;
use crate::fault::Fault;
use crate::pipeline::model::Model;
use crate::pipeline::process::{self, Command, End, Environment};
use crate::record::Hash;

/// Where a storyboard is executed, and its bounds.
#[derive(Debug, Clone, Copy)]
pub struct Bench<'a> {
    /// The tree that holds the inputs.
    pub tree: &'a Path,
    /// Where scenes run; a folder of ours that is empty or not there.
    pub scratch: &'a Path,
    /// Where scripts, evidence and verdicts go; empty or not there.
    pub package: &'a Path,
    /// All that commands see of the environment.
    pub environment: &'a Environment,
    /// The time after which a command is ended.
    pub timeout: Duration,
    /// Bytes that are kept of each output of a command.
    pub max_output_bytes: usize,
    /// What time it is.
    pub clock: &'a dyn Clock,
}

/// What came of a storyboard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The version of this report.
    pub schema_version: u32,
    /// The name of the storyboard.
    pub storyboard: String,
    /// The inputs and their blake3 hashes, in hexadecimal.
    pub inputs: Vec<Evidence>,
    /// The scenes, in order.
    pub scenes: Vec<SceneReport>,
    /// Calls of the model.
    pub n_calls: u32,
    /// Tokens of their inputs: the provider's count, or ours where that is more.
    pub input_tokens: u32,
}

/// What came of a scene.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SceneReport {
    /// Its name.
    pub name: String,
    /// What came of it.
    pub verdict: Verdict,
    /// Whether a model wrote its script.
    pub by_model: bool,
    /// Its script, if there is one.
    pub script: Option<Script>,
    /// What was kept, by file of the package.
    pub evidence: Vec<Evidence>,
}

/// A file and its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// From the root of the tree or of the package.
    pub file: String,
    /// In hexadecimal.
    pub blake3: String,
}

/// What came of a scene.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum Verdict {
    /// Everything is as expected.
    Passed,
    /// Something is not.
    Failed {
        /// What, one sentence each.
        differences: Vec<String>,
    },
    /// There is no script to execute, or what is given did not come about.
    NotExecutable {
        /// Why.
        why: String,
    },
    /// The machine failed, not the thing under test.
    InfraFailed {
        /// Why.
        why: String,
    },
    /// The scene changed an input, so nothing it showed counts.
    Tampered {
        /// The input.
        input: String,
    },
}

/// A storyboard that was not executed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PerformError {
    /// It cannot be.
    #[error("the storyboard cannot be executed: {}", list(.0))]
    Problems(
        /// Everything that is wrong with it.
        Vec<Problem>,
    ),
    /// A folder holds something already.
    #[error("the folder `{0}` is not empty")]
    NotEmpty(PathBuf),
    /// A file of the package cannot be written, or an input not be read.
    #[error("cannot use `{path}`")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
}

impl PerformError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Problems(_) => Fault::Data,
            Self::NotEmpty(_) => Fault::Usage,
            Self::File { .. } => Fault::Environment,
        }
    }
}

fn list(problems: &[Problem]) -> String {
    let line = |problem: &Problem| match &problem.scene {
        Some(scene) => format!("scene `{scene}`: {}", problem.what),
        None => problem.what.clone(),
    };
    problems.iter().map(line).collect::<Vec<_>>().join("; ")
}

/// Executes a storyboard: checks it, gets one script a scene, executes each in a folder of its own with
/// its own copy of the inputs, compares, and packs up scripts, evidence and verdicts.
///
/// A model is asked only for scenes without commands, at most twice each. A scene that fails in any way
/// leaves the others alone.
///
/// # Errors
/// [`PerformError`], before anything has run, or when the package cannot be written.
pub fn perform(
    board: &Storyboard,
    model: &mut dyn Model,
    bench: &Bench<'_>,
) -> Result<Report, PerformError> {
    let problems = check(board, bench.tree, bench.environment);
    if !problems.is_empty() {
        return Err(PerformError::Problems(problems));
    }
    for folder in [bench.scratch, bench.package] {
        fs::create_dir_all(folder).map_err(fault(folder))?;
        if fs::read_dir(folder).map_err(fault(folder))?.next().is_some() {
            return Err(PerformError::NotEmpty(folder.to_owned()));
        }
    }
    let inputs = board.inputs.iter().map(|file| hashed(bench.tree, file));
    let mut report = Report {
        schema_version: 1,
        storyboard: board.name.clone(),
        inputs: inputs.collect::<Result<_, _>>()?,
        scenes: Vec::new(),
        n_calls: 0,
        input_tokens: 0,
    };
    for (scene_idx, scene) in board.scenes.iter().enumerate() {
        let by_model = scene.page.is_none() && scene.run.is_empty();
        let stem = format!("{:02}-{}", scene_idx + 1, slug(&scene.name));
        let folder = bench.scratch.join(&stem);
        let mut used = None;
        let played = if let Some(page) = &scene.page {
            watch(board, scene, page, &report.inputs, &folder, bench)?
        } else {
            let script = if by_model {
                let written = script::write(board, scene, model);
                report.n_calls += written.n_calls;
                report.input_tokens = report.input_tokens.saturating_add(written.input_tokens);
                written.script
            } else {
                Ok(Script { run: scene.run.clone() })
            };
            match script {
                Err(why) => Played::without(Verdict::NotExecutable { why: why.to_string() }),
                Ok(script) => {
                    let played = play(board, scene, &script, &report.inputs, &folder, bench)?;
                    used = Some(script);
                    played
                }
            }
        };
        let mut evidence = Vec::new();
        let shell = used.as_ref().map(|script| script.to_shell().into_bytes());
        let mut kept = vec![("sh", &shell)];
        kept.extend(scene.evidence.iter().map(|kind| match kind {
            EvidenceKind::Cast => ("cast", &played.cast),
            EvidenceKind::Output => ("txt", &played.output),
            EvidenceKind::Video => ("mp4", &played.video),
        }));
        for (extension, bytes) in kept {
            // Of a scene that could not be played there is nothing to keep.
            let Some(bytes) = bytes else { continue };
            let file = format!("{stem}.{extension}");
            let path = bench.package.join(&file);
            fs::write(&path, bytes).map_err(fault(&path))?;
            evidence.push(Evidence { file, blake3: Hash::of(bytes).to_string() });
        }
        let of_scene = SceneReport {
            name: scene.name.clone(),
            verdict: played.verdict,
            by_model,
            script: used,
            evidence,
        };
        report.scenes.push(of_scene);
    }
    // The tree is only read; that it was is looked at in the end.
    for input in &report.inputs {
        if hashed(bench.tree, &input.file)? != *input {
            for scene in &mut report.scenes {
                scene.verdict = Verdict::Tampered { input: input.file.clone() };
            }
        }
    }
    let path = bench.package.join("verdicts.json");
    let text =
        serde_json::to_string_pretty(&report).map_err(io::Error::from).map_err(fault(&path))?;
    fs::write(&path, text + "\n").map_err(fault(&path))?;
    Ok(report)
}

/// What was seen of a scene.
struct Played {
    verdict: Verdict,
    cast: Option<Vec<u8>>,
    output: Option<Vec<u8>>,
    video: Option<Vec<u8>>,
}

impl Played {
    /// A scene of which nothing was seen.
    fn without(verdict: Verdict) -> Self {
        Self { verdict, cast: None, output: None, video: None }
    }
}

/// Plays a scene in a browser.
fn watch(
    board: &Storyboard,
    scene: &Scene,
    page: &web::Page,
    inputs: &[Evidence],
    folder: &Path,
    bench: &Bench<'_>,
) -> Result<Played, PerformError> {
    lay_out(board, folder, bench)?;
    let (watched, video) = match web::play(page, &board.inputs, folder, bench) {
        Ok(seen) => seen,
        Err(why) => return Ok(Played::without(Verdict::InfraFailed { why })),
    };
    let mut differences = watched.differences;
    compare(scene, &watched.text, &watched.text, folder, &mut differences);
    let verdict = match tampered(inputs, folder) {
        Some(verdict) => verdict,
        None => verdict_of(differences),
    };
    let output = Some(watched.text.into_bytes());
    Ok(Played { verdict, cast: None, output, video: Some(video) })
}

/// Executes one scene in a folder of its own.
fn play(
    board: &Storyboard,
    scene: &Scene,
    script: &Script,
    inputs: &[Evidence],
    folder: &Path,
    bench: &Bench<'_>,
) -> Result<Played, PerformError> {
    lay_out(board, folder, bench)?;
    let began = bench.clock.now();
    let after = || bench.clock.now().saturating_sub(began);
    let mut cast = Cast::begin(&scene.name, began);
    let mut seen = Seen { out: String::new(), both: String::new(), all: String::new(), exit: None };
    let mut verdict = None;
    for command in &scene.setup {
        match run(command, folder, bench, &mut |_| ()) {
            Ok(ran) if ran.end == End::Code(0) => {}
            Ok(ran) => {
                let why = format!("`{}` of the setup: {}", command.join(" "), ran.end);
                verdict = Some(Verdict::NotExecutable { why });
            }
            Err(why) => verdict = Some(Verdict::InfraFailed { why }),
        }
        if verdict.is_some() {
            break;
        }
    }
    for command in script.run.iter().filter(|_| verdict.is_none()) {
        let line = Script { run: vec![command.clone()] }.to_shell();
        cast.show(after(), format!("$ {line}").as_bytes());
        match run(command, folder, bench, &mut |bytes| cast.show(after(), bytes)) {
            Ok(ran) => {
                seen.out.push_str(&ran.out.text());
                let both = ran.out.text() + &ran.err.text();
                seen.all.extend([format!("$ {line}{both}[{}]\n", ran.end)]);
                seen.both.push_str(&both);
                seen.exit = Some(ran.end);
            }
            Err(why) => {
                verdict = Some(Verdict::InfraFailed { why });
                break;
            }
        }
    }
    let verdict = match (tampered(inputs, folder), verdict) {
        (Some(verdict), _) | (None, Some(verdict)) => verdict,
        (None, None) => verdict_of(differences(scene, &seen, folder)),
    };
    let cast = Some(cast.finish(after()).into_bytes());
    Ok(Played { verdict, cast, output: Some(seen.all.into_bytes()), video: None })
}

/// Makes the folder of a scene, with its copies of the inputs.
fn lay_out(board: &Storyboard, folder: &Path, bench: &Bench<'_>) -> Result<(), PerformError> {
    fs::create_dir_all(folder).map_err(fault(folder))?;
    board.inputs.iter().try_for_each(|input| copy(&bench.tree.join(input), &folder.join(input)))
}

/// The verdict on a scene that changed an input.
fn tampered(inputs: &[Evidence], folder: &Path) -> Option<Verdict> {
    let is_changed = |input: &&Evidence| {
        !hashed(folder, &input.file).is_ok_and(|now| now.blake3 == input.blake3)
    };
    inputs.iter().find(is_changed).map(|input| Verdict::Tampered { input: input.file.clone() })
}

fn verdict_of(differences: Vec<String>) -> Verdict {
    if differences.is_empty() { Verdict::Passed } else { Verdict::Failed { differences } }
}

/// What the commands of a scene left.
struct Seen {
    /// Their standard output.
    out: String,
    /// Both outputs.
    both: String,
    /// Both outputs, commands and exits, for people.
    all: String,
    /// How the last one ended.
    exit: Option<End>,
}

/// Compares what is with what is expected.
fn differences(scene: &Scene, seen: &Seen, folder: &Path) -> Vec<String> {
    let expect = &scene.expect;
    let mut differences = Vec::new();
    // A command that had to be ended is never as expected.
    match (expect.exit, seen.exit) {
        (Some(want), Some(End::Code(exit))) if want != exit => {
            differences.push(format!("the exit code is {exit}, not {want}"));
        }
        (_, Some(End::Code(_))) => {}
        (_, Some(end)) => {
            differences.push(format!("the last command did not end by itself: {end}"));
        }
        (_, None) => differences.push("no command was executed".to_owned()),
    }
    compare(scene, &seen.out, &seen.both, folder, &mut differences);
    differences
}

/// Compares texts and files with what is expected of them.
fn compare(scene: &Scene, out: &str, both: &str, folder: &Path, differences: &mut Vec<String>) {
    let expect = &scene.expect;
    if let Some(want) = &expect.output_is
        && want.trim_end() != out.trim_end()
    {
        differences.push(format!("the output is {:?}, not {:?}", out.trim_end(), want.trim_end()));
    }
    for text in expect.output_has.iter().filter(|text| !both.contains(text.as_str())) {
        differences.push(format!("the output lacks {text:?}"));
    }
    for text in expect.output_lacks.iter().filter(|text| both.contains(text.as_str())) {
        differences.push(format!("the output has {text:?}"));
    }
    for (file, text) in &expect.files {
        let path = folder.join(file);
        let is_file = fs::symlink_metadata(&path).is_ok_and(|about| about.is_file());
        let held = if is_file { fs::read(&path).ok() } else { None };
        match held {
            None => differences.push(format!("there is no file `{file}`")),
            Some(bytes) if !String::from_utf8_lossy(&bytes).contains(text.as_str()) => {
                differences.push(format!("the file `{file}` lacks {text:?}"));
            }
            Some(_) => {}
        }
    }
}

fn run(
    command: &[String],
    folder: &Path,
    bench: &Bench<'_>,
    heard: &mut dyn FnMut(&[u8]),
) -> Result<process::Ran, String> {
    let command = Command {
        argv: command,
        folder,
        environment: bench.environment,
        input: b"",
        timeout: bench.timeout,
        max_output_bytes: bench.max_output_bytes,
    };
    process::run(&command, &mut |_, bytes| heard(bytes)).map_err(|error| {
        let cause = std::error::Error::source(&error).map(|it| format!(": {it}"));
        format!("{error}{}", cause.unwrap_or_default())
    })
}

/// Copies an input, which can then only be read.
fn copy(from: &Path, to: &Path) -> Result<(), PerformError> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(fault(folder))?;
    }
    fs::copy(from, to).map_err(fault(from))?;
    let mut permissions = fs::metadata(to).map_err(fault(to))?.permissions();
    permissions.set_readonly(true);
    fs::set_permissions(to, permissions).map_err(fault(to))
}

fn hashed(root: &Path, file: &str) -> Result<Evidence, PerformError> {
    let path = root.join(file);
    let bytes = fs::read(&path).map_err(fault(&path))?;
    Ok(Evidence { file: file.to_owned(), blake3: Hash::of(&bytes).to_string() })
}

fn fault(path: &Path) -> impl FnOnce(io::Error) -> PerformError + use<'_> {
    move |source| PerformError::File { path: path.to_owned(), source }
}

/// The name of a scene as part of the name of a file.
fn slug(name: &str) -> String {
    let plain: String = name
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .take(40)
        .collect();
    plain.trim_matches('-').to_owned()
}

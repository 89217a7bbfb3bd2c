//! Can each scene be executed? Told before anything runs.

use std::collections::BTreeSet;
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};

use super::script::faults_of;
use super::{EvidenceKind, Storyboard};
use crate::pipeline::process::{Environment, find_program};

/// Scenes that a storyboard has at most; each may cost two calls of a model.
const MAX_SCENES: usize = 60;

/// Something that keeps a storyboard from being executed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The scene; `None` for the whole storyboard.
    pub scene: Option<String>,
    /// What is wrong, and what to do.
    pub what: String,
}

/// Returns everything that is wrong with a storyboard about a tree.
pub fn check(board: &Storyboard, tree: &Path, environment: &Environment) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut whole = |what: String| problems.push(Problem { scene: None, what });
    if board.scenes.is_empty() {
        whole("it has no scene".to_owned());
    }
    if board.scenes.len() > MAX_SCENES {
        whole(format!("it has {} scenes, at most {MAX_SCENES} are executed", board.scenes.len()));
    }
    for input in &board.inputs {
        if !is_inside(input) {
            whole(format!("the input `{input}` is not written from the root of the tree"));
        } else if !is_plain_file(tree, input) {
            whole(format!("the input `{input}` is no file of the tree"));
        }
    }
    if board.programs.is_empty() && board.scenes.iter().any(|scene| scene.page.is_none()) {
        whole("it names no program that scripts may call".to_owned());
    }
    for program in &board.programs {
        if program.contains('/') {
            whole(format!("the program `{program}` is a path; name it as it is on the path"));
        } else if find_program(program, tree, environment).is_none() {
            whole(format!("the program `{program}` is not on the path"));
        }
    }
    let mut names = BTreeSet::new();
    for scene in &board.scenes {
        let mut of_scene =
            |what: String| problems.push(Problem { scene: Some(scene.name.clone()), what });
        if !names.insert(scene.name.trim().to_lowercase()) {
            of_scene("another scene has its name".to_owned());
        }
        for (part, text) in
            [("name", &scene.name), ("given", &scene.given), ("action", &scene.action)]
        {
            if text.trim().is_empty() {
                of_scene(format!("its `{part}` says nothing"));
            }
        }
        if scene.expect.is_empty() {
            of_scene("its `expect` says nothing, so it could not fail".to_owned());
        }
        if scene.evidence.is_empty() {
            of_scene("its `evidence` names nothing to keep".to_owned());
        }
        let texts = scene.expect.output_has.iter().chain(&scene.expect.output_lacks);
        if texts.chain(scene.expect.files.values()).any(|text| text.trim().is_empty()) {
            of_scene("it expects an empty text, which stands everywhere".to_owned());
        }
        for file in scene.expect.files.keys().filter(|file| !is_inside(file)) {
            of_scene(format!("it expects the file `{file}`, which is not in its folder"));
        }
        if let Some(page) = &scene.page {
            if !(scene.setup.is_empty() && scene.run.is_empty()) {
                of_scene("it has a page and commands; it needs one of the two".to_owned());
            }
            if scene.expect.exit.is_some() || !scene.expect.files.is_empty() {
                of_scene("it has a page, which has no exit code and leaves no files".to_owned());
            }
            let is_address = page.open.starts_with("http://") || page.open.starts_with("https://");
            if !is_address && !board.inputs.contains(&page.open) {
                let open = &page.open;
                of_scene(format!("it opens `{open}`, which is neither an address nor an input"));
            }
        }
        let (is_page, kinds) = (scene.page.is_some(), &scene.evidence);
        if is_page && kinds.contains(&EvidenceKind::Cast) {
            of_scene("a page has no cast; keep a video".to_owned());
        }
        if !is_page && kinds.contains(&EvidenceKind::Video) {
            of_scene("commands have no video; keep a cast".to_owned());
        }
        let commands = scene.setup.iter().chain(&scene.run);
        for fault in faults_of(commands, &board.programs) {
            of_scene(fault.to_string());
        }
    }
    problems
}

/// Whether a path stays in its folder, as far as its text tells.
pub(super) fn is_inside(file: &str) -> bool {
    let path = Path::new(file);
    path.file_name().is_some()
        && path.components().all(|part| matches!(part, Component::Normal(_)))
        && !file.contains(|c: char| c == '\\' || c.is_control())
}

/// Whether a path leads to a file without passing a link.
fn is_plain_file(tree: &Path, file: &str) -> bool {
    let Ok(root) = tree.canonicalize() else { return false };
    let path = root.join(file);
    path.canonicalize().is_ok_and(|real| real == path) && path.is_file()
}

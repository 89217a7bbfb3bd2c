//! A storyboard of eight scenes about a program with one fault, its scripts written by a simulated model.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::{Measure, Outcome, Source};
use crate::clock::FixedClock;
use crate::pipeline::deliverable::recording;
use crate::pipeline::model::{Capability, Scripted};
use crate::pipeline::process::Environment;
use crate::pipeline::storyboard::{Bench, Storyboard, Verdict, perform};

/// The scene in which the fault of the program shows.
const FAULTY: &str = "remove the last note";

/// Keeps notes, a line each. Its fault: removing the last note removes nothing.
const PROGRAM: &str = "\
file=notes.txt
touch \"$file\"
case \"$1\" in
add) shift; [ -n \"$1\" ] || { echo 'nothing to add' >&2; exit 2; }; echo \"$*\" >> \"$file\"; echo added ;;
list) cat -n \"$file\" ;;
count) grep -c '' \"$file\" || true ;;
find) grep -n -- \"$2\" \"$file\" || { echo 'no such note'; exit 1; } ;;
remove)
  n=$(grep -c '' \"$file\")
  [ \"$2\" -le \"$n\" ] || { echo 'no such note' >&2; exit 1; }
  if [ \"$2\" -lt \"$n\" ]; then sed -i \"$2d\" \"$file\"; fi
  echo removed ;;
*) echo 'usage: add, list, count, find, remove' >&2; exit 64 ;;
esac
";

const BOARD: &str = r#"
schema_version = 1
name = "notes"
inputs = ["app/notes.sh"]
programs = ["sh"]
manual = """
sh app/notes.sh add TEXT | list | count | find TEXT | remove NUMBER
Notes are numbered from 1."""

[[scene]]
name = "add a note"
given = "no notes"
action = "Add the note `milk`."
expect = { exit = 0, output_is = "added", files = { "notes.txt" = "milk" } }
evidence = ["cast"]

[[scene]]
name = "list notes in order"
given = "the notes milk and bread"
setup = [["sh", "app/notes.sh", "add", "milk"], ["sh", "app/notes.sh", "add", "bread"]]
action = "List the notes."
expect = { exit = 0, output_has = ["1\tmilk", "2\tbread"] }
evidence = ["cast", "output"]

[[scene]]
name = "count notes"
given = "the notes milk and bread"
setup = [["sh", "app/notes.sh", "add", "milk"], ["sh", "app/notes.sh", "add", "bread"]]
action = "Count the notes."
expect = { exit = 0, output_is = "2" }
evidence = ["cast"]

[[scene]]
name = "find a note"
given = "the notes milk and bread"
setup = [["sh", "app/notes.sh", "add", "milk"], ["sh", "app/notes.sh", "add", "bread"]]
action = "Find the note `bread`."
expect = { exit = 0, output_has = ["2:bread"], output_lacks = ["milk"] }
evidence = ["cast"]

[[scene]]
name = "find nothing"
given = "the note milk"
setup = [["sh", "app/notes.sh", "add", "milk"]]
action = "Find the note `tea`."
expect = { exit = 1, output_has = ["no such note"] }
evidence = ["cast"]

[[scene]]
name = "remove the first note"
given = "the notes milk and bread"
setup = [["sh", "app/notes.sh", "add", "milk"], ["sh", "app/notes.sh", "add", "bread"]]
action = "Remove note 1, then list the notes."
expect = { exit = 0, output_has = ["1\tbread"], output_lacks = ["milk"] }
evidence = ["cast"]

[[scene]]
name = "remove the last note"
given = "the notes milk and bread"
setup = [["sh", "app/notes.sh", "add", "milk"], ["sh", "app/notes.sh", "add", "bread"]]
action = "Remove note 2, then list the notes."
expect = { exit = 0, output_has = ["1\tmilk"], output_lacks = ["bread"] }
evidence = ["cast"]

[[scene]]
name = "refuse an empty note"
given = "no notes"
action = "Add a note without text."
run = [["sh", "app/notes.sh", "add"]]
expect = { exit = 2, output_has = ["nothing to add"] }
evidence = ["cast"]
"#;

/// What the simulated model writes, in order; the third script is prose at first, and the fifth calls what
/// it may not.
const REPLIES: [&str; 9] = [
    r#"{"run": [["sh", "app/notes.sh", "add", "milk"]]}"#,
    r#"{"run": [["sh", "app/notes.sh", "list"]]}"#,
    "I would count the notes with the count command.",
    r#"{"run": [["sh", "app/notes.sh", "count"]]}"#,
    r#"{"run": [["sh", "app/notes.sh", "find", "bread"]]}"#,
    r#"{"run": [["grep", "tea", "notes.txt"]]}"#,
    r#"{"run": [["sh", "app/notes.sh", "find", "tea"]]}"#,
    r#"{"run": [["sh", "app/notes.sh", "remove", "1"], ["sh", "app/notes.sh", "list"]]}"#,
    r#"{"run": [["sh", "app/notes.sh", "remove", "2"], ["sh", "app/notes.sh", "list"]]}"#,
];

/// Executes the storyboard below `folder`, which must be empty. It needs `sh`, `cat`, `grep`, `sed` and
/// `touch` on the path of `environment`.
///
/// # Errors
/// When the storyboard cannot be executed.
pub fn storyboard(folder: &Path, environment: &Environment) -> io::Result<Outcome> {
    let tree = folder.join("tree");
    fs::create_dir_all(tree.join("app"))?;
    fs::write(tree.join("app/notes.sh"), PROGRAM)?;
    let board = Storyboard::parse(BOARD).map_err(io::Error::other)?;
    let capability = Capability { window_tokens: 4_096, ..Capability::default() };
    let mut model = Scripted::of_texts("script", capability, REPLIES);
    let (scratch, package) = (folder.join("scratch"), folder.join("package"));
    let bench = Bench {
        tree: &tree,
        scratch: &scratch,
        package: &package,
        environment,
        timeout: Duration::from_secs(30),
        max_output_bytes: 100_000,
        clock: &FixedClock(Duration::from_secs(1)),
    };
    let report = perform(&board, &mut model, &bench).map_err(io::Error::other)?;
    let mut notes = Vec::new();
    let (mut n_right, mut n_delivered) = (0, 0);
    for scene in &report.scenes {
        let is_faulty = scene.name == FAULTY;
        let is_right = match &scene.verdict {
            Verdict::Passed => !is_faulty,
            Verdict::Failed { .. } => is_faulty,
            _ => false,
        };
        n_right += u32::from(is_right);
        if !is_right {
            notes.push(format!("{}: {:?}", scene.name, scene.verdict));
        }
        let is_named_cast = |file: &str| Path::new(file).extension().is_some_and(|it| it == "cast");
        let casts = scene.evidence.iter().filter(|it| is_named_cast(&it.file));
        let is_cast =
            |file: &str| fs::read(package.join(file)).is_ok_and(|bytes| recording(&bytes).is_ok());
        n_delivered += u32::from(casts.filter(|it| is_cast(&it.file)).count() == 1);
    }
    let n_scenes = u32::try_from(report.scenes.len()).unwrap_or(u32::MAX);
    let measure = |what: &str, value: u32, target: &str, reached| Measure {
        what: what.to_owned(),
        value: value.into(),
        target: target.to_owned(),
        reached,
    };
    Ok(Outcome {
        scenario: "storyboard".to_owned(),
        source: Source::Simulated,
        measures: vec![
            measure("scenes with a cast", n_delivered, "all 8", n_delivered == n_scenes),
            measure("scenes judged rightly, the fault in its own", n_right, "all 8", n_right == 8),
            measure("calls", report.n_calls, "at most 29", report.n_calls <= 29),
            measure(
                "input tokens",
                report.input_tokens,
                "at most 15500",
                report.input_tokens <= 15_500,
            ),
        ],
        notes,
    })
}

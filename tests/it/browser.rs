//! Storyboards of a page, in a real browser. Where Chromium, its driver or ffmpeg is not installed, these tests say on
//! standard error that they were skipped.

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use psos::clock::SystemClock;
use psos::pipeline::deliverable::{Recording, recording};
use psos::pipeline::model::{Capability, Scripted};
use psos::pipeline::process::Environment;
use psos::pipeline::storyboard::{Bench, Report, Storyboard, Verdict, perform};

use crate::server::{Request, serve};

/// A list that grows a moment after the button is clicked. Its fault: it forgets to empty the field.
const PAGE: &str = r#"<!doctype html><meta charset="utf-8"><title>list</title>
<input id="what"><button id="add">Add</button><button id="clear" hidden>Clear</button><ul id="list"></ul><p id="left"></p>
<script>
document.getElementById("add").onclick = () => setTimeout(() => {
  const item = document.createElement("li");
  item.className = "item";
  item.textContent = "added " + document.getElementById("what").value;
  document.getElementById("list").append(item);
  document.getElementById("left").textContent = "in the field: " + document.getElementById("what").value;
}, 300);
</script>"#;

const BOARD: &str = r##"
schema_version = 1
name = "list"
inputs = []
programs = []

[[scene]]
name = "add"
given = "an empty list"
action = "add milk"
page = { open = "ADDRESS/", steps = [{ write = { into = "#what", text = "milk" } }, { click = "#add" }, { await = "li.item" }] }
expect = { output_has = ["added milk"], output_lacks = ["tea"] }
evidence = ["video", "output"]

[[scene]]
name = "empty the field"
given = "an empty list"
action = "add tea"
page = { open = "ADDRESS/", steps = [{ write = { into = "#what", text = "tea" } }, { click = "#add" }, { await = "li.item" }] }
expect = { output_has = ["added tea"], output_lacks = ["in the field: tea"] }
evidence = ["video"]

[[scene]]
name = "click what is hidden"
given = "an empty list"
action = "clear it"
page = { open = "ADDRESS/", steps = [{ click = "#clear" }, { click = "#add" }] }
expect = { output_has = ["Add"] }
evidence = ["video"]

[[scene]]
name = "a page that nobody serves"
given = "nothing"
action = "open it"
page = { open = "http://127.0.0.1:NOBODY/" }
expect = { output_has = ["Add"] }
evidence = ["video"]

[[scene]]
name = "a page at a port that browsers refuse"
given = "nothing"
action = "open it"
page = { open = "http://127.0.0.1:9/" }
expect = { output_has = ["Add"] }
evidence = ["video"]
"##;

/// Performs the storyboard in a folder.
fn play(folder: &Path, path: &str) -> Report {
    let page = |request: &Request| match request.line.as_str() {
        "GET /" => (200, "text/html", PAGE.to_owned()),
        _ => (404, "text/plain", String::new()),
    };
    serve(page, |address| {
        let environment: Environment = [("PATH".to_owned(), path.to_owned())].into();
        let tree = folder.join("tree");
        fs::create_dir_all(&tree).unwrap();
        let bench = Bench {
            tree: &tree,
            scratch: &folder.join("scratch"),
            package: &folder.join("package"),
            environment: &environment,
            timeout: Duration::from_mins(1),
            max_output_bytes: 100_000,
            clock: &SystemClock,
        };
        // Given back at once: nobody listens there.
        let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let board = BOARD.replace("ADDRESS", address).replace("NOBODY", &nobody.to_string());
        let board = Storyboard::parse(&board).unwrap();
        let mut model = Scripted::of_texts("none", Capability::default(), []);
        perform(&board, &mut model, &bench).unwrap()
    })
}

#[test]
fn a_page_is_tested_in_a_real_browser_where_there_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = std::env::var_os("PATH").unwrap().into_string().unwrap();
    let report = play(folder.path(), &path);
    let [add, empty, hidden, nobody, refused] = report.scenes.as_slice() else {
        panic!("{report:#?}")
    };
    if let Verdict::InfraFailed { why } = &add.verdict
        && why.contains("is installed")
    {
        // Not `eprintln`, which is shown only when a test fails.
        writeln!(std::io::stderr(), "skipped, not tested in a browser: {why}").unwrap();
        return;
    }
    assert_eq!(add.verdict, Verdict::Passed);
    let difference = "the output has \"in the field: tea\"".to_owned();
    assert_eq!(empty.verdict, Verdict::Failed { differences: vec![difference] });
    let Verdict::Failed { differences } = &hidden.verdict else { panic!("{hidden:#?}") };
    assert!(
        differences.len() == 1 && differences[0].contains("element not interactable"),
        "{differences:?}"
    );
    // Postmortem: a page that was not opened was compared with what was expected of it, as if it were at fault.
    for (scene, says) in [(nobody, "ERR_CONNECTION_REFUSED"), (refused, "does not open")] {
        let Verdict::InfraFailed { why } = &scene.verdict else { panic!("{scene:#?}") };
        assert!(why.contains(says), "{why}");
    }

    let package = folder.path().join("package");
    for file in ["01-add.mp4", "02-empty-the-field.mp4", "03-click-what-is-hidden.mp4"] {
        let video = fs::read(package.join(file)).unwrap();
        assert_eq!(recording(&video), Ok(Recording::Mp4), "{file}");
    }
    assert!(fs::read_to_string(package.join("01-add.txt")).unwrap().contains("added milk"));
    assert!(!package.join("04-a-page-that-nobody-serves.mp4").exists());
}

#[test]
fn without_a_browser_no_scene_passes_and_each_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let report = play(folder.path(), &folder.path().to_string_lossy());
    for scene in report.scenes {
        let Verdict::InfraFailed { why } = scene.verdict else { panic!("{scene:#?}") };
        assert!(why.contains("no browser is installed (chromium, "), "{why}");
        assert!(scene.evidence.is_empty());
    }
}

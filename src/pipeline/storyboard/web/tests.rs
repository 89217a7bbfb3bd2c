//! A driver on this machine that answers as the standard says, and, where everything is installed, a real
//! browser.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use super::enabled::{Driver, decode, drive};
use super::{Page, Step, Watched};
use crate::clock::SystemClock;
use crate::pipeline::model::{Capability, Scripted};
use crate::pipeline::process::Environment;
use crate::pipeline::storyboard::{Bench, Storyboard, Verdict, perform};

/// A screenshot of nothing: the first bytes of a PNG, in base64.
const SHOT: &str = "iVBORw0KGgo=";

/// Answers requests until a session is deleted; what was asked for.
fn serve(listener: &TcpListener, is_shown: bool) -> Vec<String> {
    let mut asked = Vec::new();
    loop {
        let (stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream);
        // One connection may carry several requests.
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                break;
            }
            let mut length = 0;
            loop {
                let mut header = String::new();
                reader.read_line(&mut header).unwrap();
                if let Some(n) = header.to_lowercase().strip_prefix("content-length:") {
                    length = n.trim().parse().unwrap();
                }
                if header.trim().is_empty() {
                    break;
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let body = String::from_utf8(body).unwrap();
            let request = line.split(' ').take(2).collect::<Vec<_>>().join(" ");
            let missing = body.contains("#none");
            let value = match request.as_str() {
                "POST /session" => "{\"sessionId\":\"s1\"}".to_owned(),
                "POST /session/s1/element" if missing => {
                    "{\"error\":\"no such element\",\"message\":\"none\\nstack\"}".to_owned()
                }
                "POST /session/s1/element" => {
                    "{\"element-6066-11e4-a52e-4f735466cecf\":\"e1\"}".to_owned()
                }
                "GET /session/s1/screenshot" if is_shown => format!("\"{SHOT}\""),
                "GET /session/s1/element/e1/text" => "\"Hello page\"".to_owned(),
                _ => "null".to_owned(),
            };
            let status = if missing { "404 Not Found" } else { "200 OK" };
            let answer = format!("{{\"value\":{value}}}");
            let n = answer.len();
            let stream = reader.get_mut();
            write!(stream, "HTTP/1.1 {status}\r\ncontent-length: {n}\r\n\r\n{answer}").unwrap();
            let is_last = request.starts_with("DELETE");
            asked.push(format!("{request} {body}"));
            if is_last {
                return asked;
            }
        }
    }
}

fn drive_with(steps: Vec<Step>, is_shown: bool) -> (Result<Watched, String>, Vec<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let driver = Driver::new(format!("http://{}", listener.local_addr().unwrap()));
    let page = Page { open: "http://page.example/".to_owned(), steps };
    std::thread::scope(|scope| {
        let server = scope.spawn(|| serve(&listener, is_shown));
        let watched = drive(&driver, &page, &page.open, None);
        (watched, server.join().unwrap())
    })
}

#[test]
fn a_page_is_driven_step_by_step_with_a_screenshot_after_each() {
    let write = Step::Write { into: "#name".to_owned(), text: "milk".to_owned() };
    let steps = vec![write, Step::Click("#add".to_owned()), Step::Await("li".to_owned())];
    let (watched, asked) = drive_with(steps, true);
    let watched = watched.unwrap();
    assert_eq!((watched.text.as_str(), watched.frames.len()), ("Hello page", 4));
    assert!(watched.differences.is_empty());
    let has = |text: &str| asked.iter().any(|request| request.contains(text));
    assert!(has("POST /session/s1/url {\"url\":\"http://page.example/\"}"), "{asked:#?}");
    assert!(has("POST /session/s1/element/e1/value {\"text\":\"milk\"}"), "{asked:#?}");
    assert!(has("POST /session/s1/element/e1/click {}"), "{asked:#?}");
    assert!(asked.last().unwrap().starts_with("DELETE /session/s1"), "{asked:#?}");
}

#[test]
fn a_missing_element_is_the_pages_fault_and_a_missing_screenshot_the_drivers() {
    let steps = vec![Step::Click("#none".to_owned()), Step::Click("#add".to_owned())];
    let (watched, asked) = drive_with(steps, true);
    let watched = watched.unwrap();
    assert_eq!(watched.differences.len(), 1);
    assert!(watched.differences[0].contains("no such element: none"), "{:?}", watched.differences);
    assert!(!asked.iter().any(|request| request.contains("click")), "{asked:#?}");
    let (watched, _) = drive_with(Vec::new(), false);
    assert!(watched.err().unwrap().contains("no screenshot"));
}

#[test]
fn base64_is_read() {
    for (text, want) in [
        ("", Some("")),
        ("Zg==", Some("f")),
        ("Zm8=", Some("fo")),
        ("Zm9v\nYmFy", Some("foobar")),
        ("Zm9v!", None),
    ] {
        assert_eq!(decode(text), want.map(|it| it.as_bytes().to_vec()), "{text}");
    }
}

const PAGE: &str = "<!doctype html><title>t</title><input id=\"name\"><button id=\"add\" \
    onclick=\"document.getElementById('out').textContent='added '+document.getElementById('name').value\">\
    Add</button><p id=\"out\"></p>";

const BOARD: &str = r##"
schema_version = 1
name = "page"
inputs = ["a page.html"]
programs = []
[[scene]]
name = "add"
given = "an empty page"
action = "add milk"
page = { open = "a page.html", steps = [{ write = { into = "#name", text = "milk" } }, { click = "#add" }] }
expect = { output_has = ["added milk"] }
evidence = ["video", "output"]
"##;

fn perform_page(folder: &Path, path: &str) -> Verdict {
    let tree = folder.join("tree");
    fs::create_dir_all(&tree).unwrap();
    fs::write(tree.join("a page.html"), PAGE).unwrap();
    let environment: Environment = [("PATH".to_owned(), path.to_owned())].into();
    let bench = Bench {
        tree: &tree,
        scratch: &folder.join("scratch"),
        package: &folder.join("package"),
        environment: &environment,
        timeout: Duration::from_mins(1),
        max_output_bytes: 100_000,
        clock: &SystemClock,
    };
    let board = Storyboard::parse(BOARD).unwrap();
    let mut model = Scripted::of_texts("s", Capability::default(), []);
    perform(&board, &mut model, &bench).unwrap().scenes[0].verdict.clone()
}

#[test]
fn without_a_browser_a_scene_says_so_and_never_passes() {
    let folder = tempfile::tempdir().unwrap();
    let verdict = perform_page(folder.path(), &folder.path().to_string_lossy());
    let Verdict::InfraFailed { why } = verdict else { panic!("{verdict:?}") };
    assert!(why.contains("no browser is installed (chromium, "), "{why}");
}

#[test]
fn a_real_browser_opens_an_input_where_there_is_one() {
    let folder = tempfile::tempdir().unwrap();
    match perform_page(folder.path(), "/usr/local/bin:/usr/bin:/bin:/snap/bin") {
        Verdict::InfraFailed { why } if why.contains("is installed") => {
            println!("skipped: {why}");
        }
        verdict => {
            assert_eq!(verdict, Verdict::Passed);
            let video = fs::read(folder.path().join("package/01-add.mp4")).unwrap();
            assert!(crate::pipeline::deliverable::recording(&video).is_ok());
        }
    }
}

//! Cards, the fence, programs as models, recordings. HTTP has its own tests.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::{
    Capability, Card, CardError, Finish, Model, ModelError, ModelErrorKind, OpenLoop, Recorded,
    Recorder, Reply, Request, Scripted, Secret, Surroundings, Usage,
};
use crate::clock::{FixedClock, Sleeper};
use crate::pipeline::process::Environment;

/// Waits for nothing.
#[derive(Debug)]
struct Awake;

impl Sleeper for Awake {
    fn sleep(&mut self, _: Duration) {}
}

fn small() -> Capability {
    Capability { window_tokens: 512, ..Capability::default() }
}

fn open(card: &str, folder: &std::path::Path) -> Result<Box<dyn Model>, CardError> {
    let environment: Environment =
        [("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())].into();
    Card::parse(card)?.open(Surroundings {
        folder,
        environment: &environment,
        variable: &|name| (name == "PRESENT").then(|| " s3cret-key \n".to_owned()),
        clock: Box::new(FixedClock::default()),
        sleeper: Box::new(Awake),
    })
}

/// A card with a capability and this ending.
fn card(rest: &str) -> String {
    format!(
        "schema_version = 1\nname = \"m\"\n[capability]\nwindow_tokens = 512\n\
         structured_output = false\nprompt_cache = false\ntools = false\n{rest}"
    )
}

#[test]
fn a_card_that_cannot_be_meant_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bad.jsonl"), "{\"schema_version\":1}\n").unwrap();
    for (text, says) in [
        (card(""), "0 of the tables"),
        (card("[recorded]\nfile='a'\n[scripted]\nfile='b'\n"), "2 of the tables"),
        (card("[http]\nbase_url='x'\nmodel='m'\ntoken='k'\n"), "unknown field `token`"),
        (card("[http]\nbase_url='http://h'\nmodel='m'\nmax_attempts=0\n"), "max_attempts = 0"),
        (card("[subprocess]\nargv=[]\n"), "argv = 0"),
        (card("[recorded]\nfile='none.jsonl'\n"), "none.jsonl"),
        (card("[recorded]\nfile='bad.jsonl'\n"), "line 1"),
        (card("[scripted]\nfile='bad.jsonl'\n"), "neither `text` nor `error`"),
        (card("[http]\nbase_url='https://h'\nmodel='m'\nkey_env='ABSENT'\n"), "no `ABSENT`"),
        (
            card("[http]\nbase_url='http://far.example'\nmodel='m'\nkey_env='PRESENT'\n"),
            "unencrypted",
        ),
        (card("[scripted]\nfile='a'\n").replace("= 512", "= 3"), "window_tokens = 3"),
        (card("").replace("version = 1", "version = 2"), "schema_version 2"),
        ("name =".to_owned(), "cannot be read"),
    ] {
        // Without `live-model` the last steps of HTTP are not reached; the rest is the same.
        let Err(error) = open(&text, folder.path()) else { panic!("accepted: {text}") };
        let said = error.to_string();
        assert!(said.contains(says), "{said}\nshould contain {says}");
        assert!(!said.contains("s3cret"), "{said}");
    }
}

#[test]
fn the_open_loop_is_for_models_with_a_prompt_cache() {
    let mut cacheless = Scripted::of_texts("plain", small(), ["x"]);
    let fenced = OpenLoop::enter(&mut cacheless).unwrap_err();
    assert!(fenced.to_string().contains("`plain` has no prompt cache"));
    assert!(cacheless.asked().is_empty());
    let cached = Capability { prompt_cache: true, ..small() };
    let mut cached = Scripted::of_texts("cached", cached, ["x"]);
    let mut open_loop = OpenLoop::enter(&mut cached).unwrap();
    assert_eq!(open_loop.complete(&Request::ask("p", "q", 1)).unwrap().text, "x");
}

#[test]
fn a_key_is_shown_by_nothing() {
    let key = Secret::new(" s3cret-key\n").unwrap();
    assert_eq!(format!("{key:?}"), "[redacted]");
    assert_eq!(key.redact("Bearer s3cret-key!"), "Bearer [redacted]!");
    assert!(Secret::new(" \n").is_none());
}

/// Asks a model that is a line of shell.
fn program(line: &str, timeout: Duration) -> Result<Reply, ModelError> {
    let folder = tempfile::tempdir().unwrap();
    let line = serde_json::Value::from(line).to_string();
    let text = card(&format!("[subprocess]\nargv=['sh','-c',{line}]\npass_env=['PRESENT']\n"));
    let mut model = open(&text, folder.path()).unwrap();
    model.complete(&Request { timeout, ..Request::ask("p", "the question", 7) })
}

const LONG: Duration = Duration::from_mins(1);

#[cfg(unix)]
#[test]
fn a_program_is_asked_and_answers_in_json() {
    let line = r#"grep -q '"content":"the question"' && printf '%s' '{"schema_version":1,"text":"fine","finish":"length","usage":{"input":3,"cached":1,"output":2}}'"#;
    let reply = program(line, LONG).unwrap();
    assert_eq!(
        (reply.text.as_str(), reply.finish, reply.usage),
        ("fine", Finish::Length, Some(Usage { input: 3, cached: 1, output: 2 }))
    );
    let line = r#"printf '{"schema_version":1,"text":"%s"}' "$PRESENT" | tr -d '\n '"#;
    assert_eq!(program(line, LONG).unwrap().text, "s3cret-key");
}

#[cfg(unix)]
#[test]
fn a_program_that_misbehaves_is_a_failed_provider() {
    for (line, says) in [
        ("echo I think so", "not what it must be"),
        (r#"echo '{"schema_version":1,"text":"a"}{"schema_version":1,"text":"b"}'"#, "trailing"),
        (r#"echo '{"schema_version":1,"text":"a"'"#, "EOF"),
        (r#"echo '{"schema_version":9,"text":"a"}'"#, "schema_version is 9"),
        ("echo", "EOF"),
        ("echo out of memory >&2; exit 4", "exit code 4); it said: out of memory"),
        ("kill -9 $$", "signal 9"),
        ("head -c 9000000 /dev/zero", "longer than"),
    ] {
        let error = program(line, LONG).unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Provider, "{line}");
        assert!(error.message.contains(says), "{line}: {}", error.message);
    }
    let error = program("sleep 60", Duration::from_millis(50)).unwrap_err();
    assert!(error.message.contains("the time was up"), "{}", error.message);
}

#[cfg(unix)]
#[test]
fn a_program_can_say_why_it_failed() {
    let line = r#"echo '{"schema_version":1,"error":{"kind":"rate_limit","message":"slow down"}}'"#;
    for exit in ["", "; exit 1"] {
        let error = program(&format!("{line}{exit}"), LONG).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (ModelErrorKind::RateLimit, "slow down"));
    }
}

#[test]
fn a_recording_gives_back_the_calls_and_nothing_else() {
    let failure = ModelError::new(ModelErrorKind::RateLimit, "slow down");
    let said = |text: &str| {
        Ok(Reply {
            text: text.to_owned(),
            finish: Finish::Other("odd".to_owned()),
            usage: Some(Usage { input: 9, cached: 2, output: 1 }),
            attempts: 1,
        })
    };
    let replies = vec![said("one"), Err(failure.clone()), said("three")];
    let model = Scripted::new("s", small(), replies.clone());
    let mut recorder = Recorder::new(model, Vec::new());
    let ask = |question: &str| Request::ask("p", question, 5);
    let requests = [ask("a"), ask("b"), ask("a")];
    let live: Vec<_> = requests.iter().map(|request| recorder.complete(request)).collect();
    assert_eq!(live, replies);
    let (_, cassette) = recorder.into_parts();
    let cassette = String::from_utf8(cassette).unwrap();
    assert_eq!(cassette.lines().count(), 3);

    // In another order, with another purpose and timeout: what counts is what was asked.
    let mut recorded = Recorded::parse("s", small(), &cassette).unwrap();
    let again = Request { purpose: "x".to_owned(), timeout: LONG, ..ask("b") };
    assert_eq!(recorded.complete(&again), Err(failure));
    assert_eq!(recorded.complete(&requests[0]), replies[0]);
    assert_eq!(recorded.complete(&requests[0]), replies[2]);
    assert_eq!(recorded.n_left(), 0);
    for miss in [ask("a"), ask("c"), Request { max_output_tokens: 6, ..ask("b") }] {
        let error = recorded.complete(&miss).unwrap_err();
        assert!(error.message.contains("no answer is recorded"), "{}", error.message);
    }
}

#[test]
fn a_damaged_recording_is_refused_with_its_line() {
    let line = r#"{"request":"00","purpose":"p","answer":{"schema_version":1,"text":"x"}}"#;
    assert!(Recorded::parse("m", small(), &format!("{line}\n\n{line}\n")).is_ok());
    for bad in [&line[..30], "x", "{}", &line.replace(":1,", ":2,")] {
        let error = Recorded::parse("m", small(), &format!("{line}\n{bad}\n")).unwrap_err();
        assert_eq!(error.line, 2, "{bad}");
    }
}

#[test]
fn the_hash_of_a_request_does_not_depend_on_the_order_of_keys() {
    let schema = |text: &str| Some(serde_json::from_str(text).unwrap());
    let one =
        Request { schema: schema(r#"{"a":1,"b":[{"c":2,"d":3}]}"#), ..Request::ask("p", "q", 1) };
    let two = Request { schema: schema(r#"{"b":[{"d":3,"c":2}],"a":1}"#), ..one.clone() };
    assert_eq!(one.hash(), two.hash());
    let three = Request { schema: schema(r#"{"a":1}"#), ..one.clone() };
    assert_ne!(one.hash(), three.hash());
}

/// The names in back quotes that are keys of files.
fn keys_in(text: &str) -> BTreeSet<String> {
    let quoted = text.split('`').skip(1).step_by(2);
    let is_key = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c == '.');
    quoted.filter(is_key).map(str::to_owned).collect()
}

/// The keys that a card is read by in a table: what the reader says it expected in the place of one that is none.
fn keys_read(table: &str) -> BTreeSet<String> {
    // Every table has all that it needs before it, so that the unknown key is what is wrong.
    let head = "schema_version = 1\nname = 'm'\n";
    let text = match table {
        "" => format!("xyz = 1\n{head}"),
        table => format!("{head}[{table}]\nxyz = 1\n"),
    };
    let Err(CardError::Form(why)) = Card::parse(&text) else { panic!("{table}") };
    let expected = why.split("expected ").nth(1).unwrap_or_else(|| panic!("{table}: {why}"));
    keys_in(expected)
}

#[test]
fn the_page_on_cards_lists_exactly_the_keys_that_are_read() {
    const PAGE: &str = include_str!("../../../schema/model.md");
    let page = PAGE.split("## The exchange").next().unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    let rows: BTreeMap<&str, &str> = rows.collect();
    let tables = ["capability", "http", "subprocess", "recorded", "scripted"];
    assert_eq!(
        keys_read(""),
        keys_in("`schema_version` `name`").into_iter().chain(tables.map(str::to_owned)).collect()
    );
    for key in ["schema_version", "name"] {
        assert!(rows.contains_key(key), "{key}");
    }
    let of_capability: BTreeSet<String> =
        rows.keys().filter_map(|key| key.strip_prefix("capability.")).map(str::to_owned).collect();
    assert_eq!(of_capability, keys_read("capability"));
    for table in &tables[1..] {
        let keys = rows.get(table).unwrap_or_else(|| panic!("no row for {table}"));
        assert_eq!(keys_in(keys), keys_read(table), "{table}");
    }
    assert_eq!(rows.len(), 2 + of_capability.len() + 4, "{:?}", rows.keys());
}

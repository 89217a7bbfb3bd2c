//! Questions, bounds, marks; the exact answers are in `scenario::atomic`.

use std::fs;

use super::{Decider, Mark, Narrow, NarrowError, Probe, Question, answer};
use crate::pipeline::citation::search::{Mode, Pattern};
use crate::pipeline::model::{
    Capability, Finish, Model, ModelError, ModelErrorKind, Reply, Request, Scripted, Usage,
};

#[test]
fn questions_are_read_as_people_write_them() {
    let calls = |name: &str| Some(Question::Calls { name: name.to_owned() });
    for (text, want) in [
        ("Where is the function `add_line` called?", calls("add_line")),
        ("where is function add_line called", calls("add_line")),
        ("Where is add_line() called?", calls("add_line")),
        ("Where are the method 'Walk::run' invoked?", calls("run")),
        ("What calls the function \"m.run\"?", calls("run")),
        ("Who calls run?", calls("run")),
        ("Where is the function `` called?", None),
        ("Where is the function called?", None),
        ("Where is the config read?", None),
        ("Where is the function `f` called and why?", None),
        ("", None),
    ] {
        assert_eq!(Question::parse(text), want, "{text}");
    }
}

/// A model that counts as it is told and says what it is told.
#[derive(Debug)]
struct Counting {
    capability: Capability,
    text: &'static str,
    finish: Finish,
    count: fn(usize) -> Option<u32>,
    prompts: Vec<String>,
}

impl Counting {
    fn new(text: &'static str, count: fn(usize) -> Option<u32>) -> Self {
        let capability = Capability { window_tokens: 512, ..Capability::default() };
        Self { capability, text, finish: Finish::Stop, count, prompts: Vec::new() }
    }
}

impl Model for Counting {
    fn name(&self) -> &'static str {
        "counting"
    }

    fn capability(&self) -> &Capability {
        &self.capability
    }

    fn complete(&mut self, request: &Request) -> Result<Reply, ModelError> {
        let prompt = &request.messages[0].content;
        self.prompts.push(prompt.clone());
        let usage = (self.count)(prompt.len()).map(|input| Usage { input, cached: 0, output: 1 });
        Ok(Reply { text: self.text.to_owned(), finish: self.finish.clone(), usage, attempts: 1 })
    }
}

fn third(n_bytes: usize) -> Option<u32> {
    u32::try_from(n_bytes / 3 + 5).ok()
}

fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (file, text) in files {
        fs::write(folder.path().join(file), text).unwrap();
    }
    folder
}

fn calls(name: &str) -> Question {
    Question::Calls { name: name.to_owned() }
}

#[test]
fn answers_are_yes_no_or_nothing() {
    for (text, want) in [
        ("{\"answer\":\"yes\"}", Some(true)),
        (" {\"answer\": \"No\"}\n", Some(false)),
        ("\"yes\"", Some(true)),
        ("Yes.", Some(true)),
        ("n", Some(false)),
        ("yes, because it is called there", None),
        ("{\"answer\":\"yes\"}{\"answer\":\"no\"}", None),
        ("```json\n{\"answer\":\"yes\"}\n```", None),
        ("{\"answer\":\"yes\",\"why\":\"x\"}", None),
        ("{\"answer\":true}", None),
        ("{}", None),
        ("[]", None),
        ("maybe", None),
        ("", None),
    ] {
        let mut model = Counting::new(text, third);
        let asked = Narrow::new(&mut model).ask("p", "Does it?");
        assert_eq!(asked.ok(), want, "{text}");
    }
    let mut model = Counting { finish: Finish::Length, ..Counting::new("I thi", third) };
    assert_eq!(Narrow::new(&mut model).ask("p", "q"), Err(NarrowError::Marked(Mark::Length)));
}

#[test]
fn a_count_that_cannot_be_is_marked_and_its_answer_dropped() {
    let prompt = "x".repeat(80);
    let ask = |count: fn(usize) -> Option<u32>| {
        let mut model = Counting::new("yes", count);
        let mut narrow = Narrow::new(&mut model);
        let outcome = narrow.ask("p", &prompt);
        (outcome, narrow.asked()[0].mark)
    };
    let mark = Mark::SilentOverflow { at_least: 10, counted: 9 };
    assert_eq!(ask(|_| Some(9)), (Err(NarrowError::Marked(mark)), Some(mark)));
    assert_eq!(ask(|_| Some(10)), (Ok(true), None));
    assert_eq!(ask(|_| Some(112)), (Ok(true), None));
    let mark = Mark::OverBound { at_most: 112, counted: 113 };
    assert_eq!(ask(|_| Some(113)), (Err(NarrowError::Marked(mark)), Some(mark)));
    // A server that does not count is bounded all the same.
    assert_eq!(ask(|_| None), (Ok(true), None));
    let mut model = Counting::new("yes", third);
    let long = Narrow::new(&mut model).ask("p", &"x".repeat(412));
    assert_eq!(long, Err(NarrowError::QuestionTooLong { max_bytes: 411 }));
    assert!(model.prompts.is_empty());
}

#[test]
fn a_probe_measures_the_window_and_never_passes_its_bound() {
    let mut model = Counting::new("yes", third);
    let mut narrow = Narrow::new(&mut model);
    let probe = narrow.probe();
    let Ok(Probe::Holds { tokens }) = probe else { panic!("{probe:?}") };
    assert!((425..=443).contains(&tokens), "{tokens}");
    assert_eq!(narrow.asked().len(), 3);
    // It is made once.
    assert_eq!(narrow.probe(), probe);
    assert_eq!(narrow.asked().len(), 3);

    let silent = |count: fn(usize) -> Option<u32>| {
        let mut model = Counting::new("yes", count);
        Narrow::new(&mut model).probe()
    };
    // Windows of 400, of 30 and of no tokens at all.
    let is_silent = |probe| matches!(probe, Err(NarrowError::SilentOverflow { .. }));
    assert!(is_silent(silent(|n| third(n).map(|n| n.min(400)))));
    assert!(is_silent(silent(|n| third(n).map(|n| n.min(30)))));
    assert!(is_silent(silent(|_| Some(0))));
    assert!(is_silent(silent(|_| Some(7))));
    assert_eq!(silent(|_| None), Ok(Probe::NoCounts));

    let mut small = Counting::new("yes", third);
    small.capability.window_tokens = 200;
    let error = Narrow::new(&mut small).probe().unwrap_err();
    assert_eq!((error.kind(), small.prompts.len()), (ModelErrorKind::InputIntegrity, 0));
}

#[test]
fn nothing_is_asked_when_code_decides_or_the_window_lies() {
    let files = tree(&[("a.rs", "fn f() {}\nfn g() { f(); }\n"), ("b.lua", "f()\n")]);
    let mut model = Counting::new("yes", |n| third(n).map(|n| n.min(40)));
    let mut narrow = Narrow::new(&mut model);
    let got = answer(files.path(), &calls("f"), &mut narrow, 9);
    assert_eq!(
        got.sites.iter().map(|it| (it.line, it.by)).collect::<Vec<_>>(),
        [(2, Decider::Syntax)]
    );
    assert!(!got.is_complete());
    assert!(got.undecided[0].why.contains("cuts inputs without a word"), "{:?}", got.undecided);
    assert!(got.text().contains("Undecided:\n- b.lua:1: "), "{}", got.text());

    let files = tree(&[("a.rs", "fn f() {}\nfn g() { f(); }\n")]);
    let mut model = Counting::new("yes", third);
    let mut narrow = Narrow::new(&mut model);
    let got = answer(files.path(), &calls("f"), &mut narrow, 0);
    assert!(got.is_complete());
    assert_eq!(got.text(), "1 place:\n- a.rs:2\n");
    assert!(narrow.asked().is_empty());
    let none = answer(files.path(), &calls("h"), &mut narrow, 0);
    assert_eq!(
        none.text(),
        "Nowhere: 1 files (26 bytes) were searched, and none of 0 candidates is one.\n"
    );
}

#[test]
fn the_number_of_calls_is_never_passed_and_what_is_left_is_listed() {
    let lines = "f(1)\n".repeat(6);
    let files = tree(&[("a.lua", &lines)]);
    for (max_calls, n_sites, n_asked) in [(0, 0, 0), (3, 0, 0), (4, 1, 4), (7, 4, 7), (20, 6, 9)] {
        let mut model = Counting::new("yes", third);
        let mut narrow = Narrow::new(&mut model);
        let got = answer(files.path(), &calls("f"), &mut narrow, max_calls);
        let n_undecided = got.undecided.len();
        assert_eq!((got.sites.len(), narrow.asked().len()), (n_sites, n_asked), "{max_calls}");
        assert_eq!(n_sites + n_undecided, 6);
        assert_eq!(got.is_complete(), n_undecided == 0);
    }
}

#[test]
fn a_closed_question_can_be_asked_of_any_lines() {
    let files = tree(&[("a.toml", "port = 80\n# port is open\nport = 90\n")]);
    let question = Question::Lines {
        pattern: Pattern { text: "port".to_owned(), mode: Mode::Word },
        ask: "Does the line marked > set a value?".to_owned(),
    };
    let capability = Capability { window_tokens: 512, ..Capability::default() };
    let reply = |text: &str, input| {
        let usage = Some(Usage { input, cached: 0, output: 1 });
        Ok(Reply { text: text.to_owned(), finish: Finish::Stop, usage, attempts: 1 })
    };
    let probes = [reply("", 15), reply("", 29), reply("", 436)];
    let failure = ModelError::new(ModelErrorKind::Provider, "gone");
    let answers = [reply("yes", 40), reply("no", 40), Err(failure)];
    let replies = probes.into_iter().chain(answers).collect();
    let mut model = Scripted::new("s", capability, replies);
    let mut narrow = Narrow::new(&mut model);
    let got = answer(files.path(), &question, &mut narrow, 9);
    assert_eq!(
        got.sites.iter().map(|it| (it.line, it.by)).collect::<Vec<_>>(),
        [(1, Decider::Model)]
    );
    assert_eq!((got.rejected_by_model, got.undecided[0].hit.line), (1, 3));
    assert_eq!(got.undecided[0].why, "provider: gone");
    let prompt = &model.asked()[3].messages[0].content;
    assert_eq!(
        prompt,
        "> port = 80\n  # port is open\nDoes the line marked > set a value? Answer yes or no."
    );
}

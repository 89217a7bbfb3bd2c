//! What models and providers do wrong: each has its class, and every run ends with a verdict.

use std::cell::Cell;

use serde_json::json;

use crate::pipeline::model::{
    Capability, Finish, Model, ModelError, ModelErrorKind, Reply, Request, Usage,
};
use crate::pipeline::scenario::sim::{Seen, Simulated, diligent};
use crate::pipeline::*;

use super::{Bench, WIDE, good, task};

/// A model that does something else in one shape.
fn except(
    shape: &'static str,
    reply: impl Fn(&Seen) -> String,
) -> Simulated<impl FnMut(&Seen) -> Result<String, ModelError>> {
    Simulated::new("odd", WIDE, move |seen: &Seen| {
        Ok(if seen.shape == shape { reply(seen) } else { diligent(seen, 8) })
    })
}

#[test]
fn what_is_no_valid_reply_is_asked_again_once_and_then_failed() {
    type Replies = [(&'static str, fn(&Seen) -> String); 6];
    let replies: Replies = [
        ("prose", |_| "I would have to look at it more closely.".to_owned()),
        ("two objects", |seen| format!("{} {}", diligent(seen, 8), diligent(seen, 8))),
        ("another schema", |seen| seen.reply(json!({"done": true}))),
        ("a cut object", |seen| diligent(seen, 8).trim_end_matches('}').to_owned()),
        ("a huge string", |seen| {
            seen.reply(json!({"findings": [], "absent": [], "suggest": ["x".repeat(5_000)]}))
        }),
        ("a huge reply", |_| "{".repeat(MAX_REPLY_BYTES + 1)),
    ];
    for (name, reply) in replies {
        let mut model = except("step", reply);
        let ran = Bench::new(task("[limits]\nstall_calls = 40"), 2).run(&mut model);
        let asked = model.requests.iter().filter(|r| r.purpose == "step s1").count();
        assert_eq!(asked, 2, "{name}");
        let n_schema = ran.classes().iter().filter(|class| **class == Class::Schema).count();
        assert_eq!(n_schema, 2, "{name}: {:?}", ran.classes());
        assert_eq!(ran.report.outcome.verdict, Verdict::Partial, "{name}");
        assert_eq!(ran.report.outcome.answered_by, "model", "{name}: the run went on");
        let again = &model.requests.iter().filter(|r| r.purpose == "step s1").nth(1).unwrap();
        let told = &again.messages.last().unwrap().content;
        assert!(told.contains("is not valid: "), "{name}: {told}");
    }
}

#[test]
fn fences_and_prose_around_one_object_are_passed_over() {
    let mut model = Simulated::new("chatty", WIDE, |seen: &Seen| {
        Ok(format!("Of course! Here you are:\n```json\n{}\n```\nAnything else?", diligent(seen, 8)))
    });
    let ran = Bench::new(task(""), 2).run(&mut model);
    assert_eq!(ran.report.outcome.verdict, Verdict::Answered);
    assert_eq!(ran.state.spent.calls, 6);
}

#[test]
fn a_reply_is_mended_when_asked_again() {
    let mut model = Simulated::new("second", WIDE, |seen: &Seen| {
        if seen.shape == "step" && !seen.again {
            let at = seen.first_line().unwrap();
            return Ok(format!("In {} on line {} it says: {}", at.file, at.line, at.quote));
        }
        if seen.shape == "step" {
            let (label, said) = &seen.spans[0];
            assert_eq!(label, "your reply");
            let (file, rest) =
                said.trim().strip_prefix("In ").unwrap().split_once(" on line ").unwrap();
            let (line, quote) = rest.split_once(" it says: ").unwrap();
            let line: i64 = line.parse().unwrap();
            let finding =
                json!({"claim": "so it says", "file": file, "line": line, "quote": quote});
            return Ok(seen.reply(json!({"findings": [finding], "absent": [], "suggest": []})));
        }
        Ok(diligent(seen, 8))
    });
    let ran = Bench::new(task(""), 2).run(&mut model);
    assert_eq!(ran.report.outcome.verdict, Verdict::Answered, "{}", ran.report.to_text());
    assert_eq!(ran.classes(), []);
    assert_eq!(ran.state.spent.calls, 8);
}

#[test]
fn a_plan_that_cannot_go_ahead_is_repaired_once_or_refused() {
    let step = |id: &str, target: &str, needs: &[&str]| json!({"id": id, "kind": "examine", "goal": format!("goal of {id}"), "targets": [target], "needs": needs});
    let sixty: Vec<_> = (0..60).map(|n| step(&format!("s{n}"), "f0.md", &[])).collect();
    let plans = [
        ("no step", json!([])),
        ("60 steps", json!(sixty)),
        ("needs itself", json!([step("a", "f0.md", &["b"]), step("b", "f1.md", &["a"])])),
        ("no record that was offered", json!([step("a", "missing.md", &[])])),
        ("outside the tree", json!([step("a", "../../etc/passwd", &[])])),
    ];
    for (says, steps) in plans {
        // It stays with its plan: refused, before any step.
        let stubborn = steps.clone();
        let mut model = except("plan", move |seen| seen.reply(json!({"steps": stubborn})));
        let ran = Bench::new(task(""), 2).run(&mut model);
        assert_eq!(ran.report.outcome.verdict, Verdict::Refused, "{says}");
        assert_eq!(ran.classes(), [Class::GateRefusal], "{says}");
        assert!(ran.report.outcome.answer.contains(says), "{}", ran.report.outcome.answer);
        let purposes: Vec<&str> = model.requests.iter().map(|r| r.purpose.as_str()).collect();
        assert_eq!(purposes, ["orient", "plan", "repair"], "{says}");
        assert!(model.requests[2].messages.last().unwrap().content.contains(says), "{says}");

        // It mends its plan: the run goes ahead.
        let good_plan = json!([step("a", "f0.md", &[]), step("b", "f1.md", &["a"])]);
        let mut model = except("plan", move |seen| {
            let steps = if seen.purpose == "repair" { &good_plan } else { &steps };
            seen.reply(json!({"steps": steps}))
        });
        let ran = Bench::new(task(""), 2).run(&mut model);
        assert_eq!(ran.report.outcome.verdict, Verdict::Answered, "{says}");
    }
}

#[test]
fn without_a_plan_that_can_be_read_the_harness_plans() {
    let mut model = except("plan", |_| "First I would read everything.".to_owned());
    let ran = Bench::new(task(""), 3).run(&mut model);
    assert_eq!(ran.report.outcome.verdict, Verdict::Answered, "{}", ran.report.to_text());
    assert_eq!(ran.classes(), [Class::Schema]);
    assert_eq!(ran.report.outcome.steps.len(), 3);
}

#[test]
fn a_model_that_writes_nothing_but_prose_ends_partial_with_the_report_of_the_harness() {
    let mut model = Simulated::new("prose", WIDE, |_: &Seen| Ok("Let me think.".to_owned()));
    let ran = Bench::new(task(""), 3).run(&mut model);
    assert_eq!(ran.report.outcome.verdict, Verdict::Partial);
    assert_eq!(ran.report.outcome.answered_by, "harness");
    assert!(ran.classes().contains(&Class::Schema) && ran.classes().contains(&Class::Stall));
}

#[test]
fn a_finding_that_the_tree_refutes_grounds_nothing() {
    let mut model = except("step", |seen| {
        let finding = |file: &str, line: i64| json!({"claim": "c", "file": file, "line": line, "quote": "made up"});
        seen.reply(json!({"findings": [finding("f0.md", 1), finding("nowhere.md", 1), finding("f0.md", -3)],
            "absent": [], "suggest": []}))
    });
    let ran = Bench::new(task(""), 2).run(&mut model);
    assert!(ran.report.outcome.findings.iter().all(|finding| !finding.verified));
    assert!(ran.classes().contains(&Class::Ungrounded));
    assert_eq!(ran.report.outcome.verdict, Verdict::Partial, "it said answered");
    assert_eq!(ran.report.outcome.cites, [""; 0]);
}

#[test]
fn a_provider_that_fails_has_its_class_and_the_run_ends() {
    for (kind, class, message) in [
        (ModelErrorKind::Credential, Class::Credential, "401"),
        (ModelErrorKind::RateLimit, Class::RateLimit, "429"),
        (ModelErrorKind::Provider, Class::Provider, "500"),
        (ModelErrorKind::Provider, Class::Provider, "no reply within the time"),
        (ModelErrorKind::Provider, Class::Provider, "the stream was cut"),
        (ModelErrorKind::InputIntegrity, Class::InputIntegrity, "the input is too long"),
    ] {
        let fail = move || Err(ModelError { kind, message: message.to_owned(), attempts: 3 });
        let mut model = Simulated::new("down", WIDE, move |_: &Seen| fail());
        let ran = Bench::new(task(""), 3).run(&mut model);
        assert_eq!(ran.report.outcome.verdict, Verdict::InfraFailed, "{message}");
        assert!(ran.classes().contains(&class), "{message}: {:?}", ran.classes());
        if class == Class::Credential {
            assert_eq!(ran.state.spent.calls, 1, "a wrong key is not tried again");
        }
        // It comes back after orientation: what can be done is done.
        let n = Cell::new(0);
        let mut model = Simulated::new("flaky", WIDE, move |seen: &Seen| {
            n.set(n.get() + 1);
            if n.get() == 1 && kind != ModelErrorKind::Credential {
                fail()
            } else {
                Ok(diligent(seen, 8))
            }
        });
        let ran = Bench::new(task(""), 3).run(&mut model);
        assert_eq!(ran.report.outcome.verdict, Verdict::Answered, "{message}");
    }
}

/// A model that answers well and whose reply is then altered on its way.
#[derive(Debug)]
struct Altered<M> {
    inner: M,
    alter: fn(&Request, &mut Reply),
}

impl<M: Model> Model for Altered<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }
    fn capability(&self) -> &Capability {
        self.inner.capability()
    }
    fn complete(&mut self, request: &Request) -> Result<Reply, ModelError> {
        let mut reply = self.inner.complete(request)?;
        if request.purpose.starts_with("step") {
            (self.alter)(request, &mut reply);
        }
        Ok(reply)
    }
}

#[test]
fn the_output_of_an_input_that_did_not_arrive_whole_grounds_nothing() {
    type Alterations = [(&'static str, fn(&Request, &mut Reply)); 3];
    let alterations: Alterations = [
        ("cut off", |_, reply| reply.finish = Finish::Length),
        ("the provider counted", |request, reply| {
            let input = count(&request.messages) * 6 / 10;
            reply.usage = Some(Usage { input, cached: 0, output: 9 });
        }),
        ("does not repeat the code", |_, reply| {
            let mut value = object_in(&reply.text).unwrap();
            value["tail"] = json!("000000x");
            reply.text = value.to_string();
        }),
    ];
    for (says, alter) in alterations {
        let mut model = Altered { inner: good(), alter };
        let ran = Bench::new(task(""), 2).run(&mut model);
        assert_eq!(ran.report.outcome.findings, [], "{says}");
        assert!(ran.classes().contains(&Class::InputIntegrity), "{says}: {:?}", ran.classes());
        let told = ran.report.outcome.failures.iter().any(|failure| failure.message.contains(says));
        assert!(told, "{says}: {:?}", ran.report.outcome.failures);
        assert_eq!(ran.report.outcome.verdict, Verdict::Partial, "{says}");
    }
}

#[test]
fn what_does_not_fit_is_declared_and_strict_refuses_it() {
    let narrow = || Bench::new(task("[limits]\ncall_input_tokens = 900"), 1);
    let long = |mut bench: Bench<'static>| {
        let lines: Vec<String> = (0..200).map(|n| format!("line {n} of a long file\n")).collect();
        bench.shelf.0[0].detail = lines.concat();
        bench.tree = bench.shelf.tree();
        bench
    };
    let ran = long(narrow()).run(&mut good());
    let cut = &ran.report.outcome.omissions;
    assert_eq!(cut.len(), 1, "{cut:?}");
    assert!(cut[0].omission.lines.1 == 200 && cut[0].omission.get == "psos get f0.md", "{cut:?}");
    let mut strict = long(narrow());
    strict.settings.mode = Mode::Strict;
    let ran = strict.run(&mut good());
    assert_eq!(ran.report.outcome.verdict, Verdict::Refused);
    assert_eq!(ran.classes(), [Class::GateRefusal]);
}

#[test]
fn a_window_that_holds_not_even_the_rules_is_an_input_failure() {
    let mut model = Simulated::new("tiny", 1_200, |seen: &Seen| Ok(diligent(seen, 8)));
    let ran = Bench::new(task(""), 2).run(&mut model);
    assert!(model.requests.is_empty());
    assert!(
        ran.classes().iter().all(|class| *class == Class::InputIntegrity),
        "{:?}",
        ran.classes()
    );
    assert_eq!(ran.report.outcome.verdict, Verdict::InfraFailed);
}

#[test]
fn a_question_that_nothing_in_the_store_fits_ends_with_that() {
    let mut model = good();
    let ran = Bench::new(task(""), 0).run(&mut model);
    assert_eq!(ran.classes()[0], Class::Ungrounded);
    assert_ne!(ran.report.outcome.verdict, Verdict::Answered);
    assert_eq!(model.requests.len(), 1, "only the synthesis is asked");
}

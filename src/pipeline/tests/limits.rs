//! Ceilings: what stops, what goes on, and what is always left for the end.

use std::cell::Cell;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::json;

use crate::clock::Clock;
use crate::pipeline::model::ModelError;
use crate::pipeline::scenario::sim::{Seen, Simulated, diligent};
use crate::pipeline::*;

use super::{Bench, T0, WIDE, good, task};

/// A model that plans many steps over one record and says the same in ever new words.
fn rewording(n_steps: usize) -> Simulated<impl FnMut(&Seen) -> Result<String, ModelError>> {
    let n_said = Cell::new(0);
    Simulated::new("rewording", WIDE, move |seen: &Seen| match seen.shape.as_str() {
        "plan" => {
            let steps: Vec<_> = (0..n_steps)
                .map(|n| {
                    json!({"id": format!("s{n}"), "kind": "examine", "goal": format!("way {n}"),
                        "targets": ["f0.md"], "needs": []})
                })
                .collect();
            Ok(seen.reply(json!({"steps": steps})))
        }
        "step" => {
            n_said.set(n_said.get() + 1);
            let quote = "file 0 says on its line 0 that all is well";
            let finding = json!({"claim": format!("In other words, number {}", n_said.get()),
                "file": "f0.md", "line": 1, "quote": quote});
            Ok(seen.reply(json!({"findings": [finding], "absent": [], "suggest": []})))
        }
        _ => Ok(diligent(seen, 8)),
    })
}

#[test]
fn reworded_findings_are_no_progress_and_the_run_stalls() {
    let ran = Bench::new(task(""), 2).run(&mut rewording(8));
    // Orient, plan, the step that reads, three that say it again, and the synthesis.
    assert_eq!(ran.state.spent.calls, 7, "{}", ran.report.to_text());
    assert!(ran.classes().contains(&Class::Stall), "{:?}", ran.classes());
    assert_eq!(ran.report.outcome.verdict, Verdict::Partial);
    assert_eq!(ran.report.outcome.answered_by, "model", "the synthesis was made");
}

// Postmortem: the reply that is shown again when a model is asked again counted as something read for the first time, so
// that a model that wrote prose first at every step never stalled.
#[test]
fn ones_own_words_are_no_progress() {
    let mut inner = rewording(8);
    let mut model = Simulated::new("prose first", WIDE, move |seen: &Seen| {
        let rambles = seen.shape == "step" && !seen.again;
        if rambles { Ok(format!("On {}: well.", seen.purpose)) } else { inner.say(seen) }
    });
    let ran = Bench::new(task(""), 2).run(&mut model);
    // Orient, plan, two for the step that reads, three without progress, and the synthesis.
    assert_eq!(ran.state.spent.calls, 8, "{}", ran.report.to_text());
    assert!(ran.classes().contains(&Class::Stall), "{:?}", ran.classes());
}

#[test]
fn the_soft_limit_extends_while_there_is_progress() {
    let run = |model: &mut dyn crate::pipeline::model::Model, stall: u32| {
        let mut bench = Bench::new(task("[limits]\nsoft_calls = 4"), 8);
        bench.task.limits.stall_calls = stall;
        bench.run(model)
    };
    let progressing = run(&mut good(), 40);
    assert_eq!(progressing.report.outcome.verdict, Verdict::Answered);
    assert_eq!(progressing.state.spent.calls, 12);
    let idle = run(&mut rewording(8), 40);
    assert!(idle.classes().contains(&Class::Ceiling), "{:?}", idle.classes());
    // Orient, plan, two steps, of which the second made no progress, and the synthesis.
    assert_eq!(idle.state.spent.calls, 5);
}

#[test]
fn the_hard_limits_hold_and_the_synthesis_keeps_its_share() {
    for hard_calls in 4..12 {
        let bench = Bench::new(
            task(&format!("[limits]\nhard_calls = {hard_calls}\nsoft_calls = {hard_calls}")),
            8,
        );
        let mut model = Simulated::new("eager", WIDE, |seen: &Seen| Ok(diligent(seen, 8)));
        let ran = bench.run(&mut model);
        assert!(ran.state.spent.calls <= hard_calls);
        let refused = ran.classes().contains(&Class::GateRefusal);
        let last = model.requests.last().unwrap().purpose.as_str();
        // The guard refuses a plan that cannot be paid; what goes ahead ends in a synthesis.
        assert!(refused || last == "synthesis", "{hard_calls}: {last}");
    }
    for hard in (2_000..14_000).step_by(1_000) {
        let limits = format!("[limits]\nhard_input_tokens = {hard}\nsoft_input_tokens = {hard}");
        let mut model = good();
        let ran = Bench::new(task(&limits), 8).run(&mut model);
        assert_eq!(ran.state.spent.input_tokens, model.input_tokens());
        assert!(model.input_tokens() <= hard);
        let last = model.requests.last().map(|request| request.purpose.clone());
        assert_eq!(last.as_deref(), Some("synthesis"), "{hard}");
        if ran.state.spent.calls < 12 {
            assert!(ran.classes().contains(&Class::Ceiling), "{hard}: {:?}", ran.classes());
        }
    }
}

#[test]
fn a_limit_that_leaves_no_call_still_ends_with_a_verdict() {
    let limits = "[limits]\nhard_input_tokens = 300\nsoft_input_tokens = 300";
    let mut model = good();
    let ran = Bench::new(task(limits), 3).run(&mut model);
    assert!(model.requests.is_empty());
    assert_eq!(ran.report.outcome.verdict, Verdict::InfraFailed);
    assert_eq!(ran.report.outcome.answered_by, "harness");
}

#[test]
fn time_is_a_ceiling_too() {
    #[derive(Debug)]
    struct Slow(Mutex<u64>);
    impl Clock for Slow {
        fn now(&self) -> Duration {
            let mut asked = self.0.lock().unwrap();
            *asked += 1;
            T0 + Duration::from_secs(*asked)
        }
    }
    let limits = "[limits]\nhard_seconds = 40\nsoft_seconds = 40\ncall_seconds = 5";
    let mut bench = Bench::new(task(limits), 8);
    let clock = Slow(Mutex::new(0));
    bench.clock = &clock;
    let mut model = good();
    let ran = bench.run(&mut model);
    assert!(ran.classes().contains(&Class::Ceiling), "{:?}", ran.classes());
    assert!(ran.state.spent.calls < 12);
    assert_eq!(model.requests.last().unwrap().purpose, "synthesis");
}

//! A run once more from its journal, many runs together, and a run for other tools.

use serde_json::json;

use crate::clock::FixedClock;
use crate::ledger::{Entry, Head, RunId};
use crate::pipeline::model::{ModelError, ModelErrorKind};
use crate::pipeline::scenario::sim::{Seen, Simulated, diligent};
use crate::pipeline::*;

use super::{Bench, Ran, T0, WIDE, good, task};

fn recorded() -> Ran {
    let mut bench = Bench::new(task("[survey]\npattern = 'line 3'"), 3);
    bench.shelf.0[1].detail.push_str("api_key = 0123456789abcdef\n");
    bench.tree = bench.shelf.tree();
    let mut model = Simulated::new("m", WIDE, |seen: &Seen| {
        Ok(if seen.purpose == "step s2" {
            "api_key = 0123456789abcdef".to_owned()
        } else {
            diligent(seen, 8)
        })
    });
    bench.run(&mut model)
}

/// The journal with one event changed, and the chain closed again.
fn forged(entries: &[Entry], at: usize, change: impl Fn(&mut Event)) -> Vec<Entry> {
    let mut head = Head::START;
    let mut forged = Vec::new();
    for (i, entry) in entries.iter().enumerate() {
        let mut event = Event::of(entry).unwrap();
        if i == at {
            change(&mut event);
        }
        let (kind, body) = event.to_parts();
        let entry = Entry::after(&head, &entry.run, entry.at(), &entry.actor, &kind, body);
        head = entry.head();
        forged.push(entry);
    }
    forged
}

#[test]
fn every_prompt_is_put_together_again_byte_for_byte() {
    let ran = recorded();
    let cost = cost(&ran.entries).unwrap();
    assert!(cost.calls.iter().all(|call| call.same), "{cost:?}");
    assert_eq!(cost.input_tokens, u64::from(ran.state.spent.input_tokens));
    assert_eq!(cost.recorded_tokens, cost.input_tokens);
}

#[test]
fn a_run_agrees_with_the_rules_and_the_first_divergence_is_shown_from_both_sides() {
    let ran = recorded();
    assert_eq!(strict(&ran.entries).unwrap(), None);
    let position = |wanted: fn(&Event) -> bool| {
        ran.entries.iter().position(|entry| wanted(&Event::of(entry).unwrap())).unwrap()
    };
    let asked = position(|event| matches!(event, Event::Asked { .. }));
    let entries = forged(&ran.entries, asked, |event| {
        if let Event::Asked { counted, .. } = event {
            *counted += 1;
        }
    });
    let found = strict(&entries).unwrap().unwrap();
    assert_eq!(found.seq, asked as u64);
    assert!(found.recorded != found.expected && found.expected.contains("\"asked\""), "{found:?}");

    // A reply of another step than was asked.
    let answered =
        position(|event| matches!(event, Event::Answered { purpose: Purpose::Step(_), .. }));
    let entries = forged(&ran.entries, answered, |event| {
        if let Event::Answered { purpose, .. } = event {
            *purpose = Purpose::Review;
        }
    });
    assert_eq!(strict(&entries).unwrap().unwrap().seq, answered as u64);

    // A verdict that nothing bears out.
    let end = ran.entries.len() - 1;
    let entries =
        forged(&ran.entries, end, |event| *event = Event::Ended { verdict: Verdict::Answered });
    let found = strict(&entries).unwrap().unwrap();
    assert_eq!(found.seq, end as u64);
    assert!(found.expected.contains("partial"), "{found:?}");
}

#[test]
fn what_another_model_makes_of_a_run_is_measured_without_the_tree() {
    let ran = recorded();
    let before = crate::ledger::to_json_lines(&ran.entries);
    let mut journal = MemoryJournal::new(RunId::from_text("scratch"));
    let outcome = what_if(
        &ran.entries,
        Variation {
            model: &mut good(),
            task: None,
            settings: None,
            delivery: &mut Forbidden,
            clock: &FixedClock(T0),
            journal: &mut journal,
        },
    )
    .unwrap();
    assert_eq!(outcome.recorded.verdict, Some(Verdict::Partial));
    assert_eq!(outcome.replayed.verdict, Some(Verdict::Answered), "{outcome:?}");
    assert_eq!(outcome.missing, [""; 0]);
    assert_eq!(crate::ledger::to_json_lines(&ran.entries), before);
}

#[test]
fn what_a_journal_does_not_have_is_said() {
    let ran = recorded();
    let mut other = Simulated::new("other", WIDE, |seen: &Seen| {
        if seen.shape != "step" {
            return Ok(diligent(seen, 8));
        }
        let finding = json!({"claim": "c", "file": "unseen.md", "line": 3, "quote": "q"});
        let absent = json!({"claim": "c", "pattern": "never searched"});
        Ok(seen.reply(json!({"findings": [finding], "absent": [absent], "suggest": []})))
    });
    let mut journal = MemoryJournal::new(RunId::from_text("scratch"));
    let mut narrowed = ran.state.task.clone();
    narrowed.limits.steps = 1;
    let outcome = what_if(
        &ran.entries,
        Variation {
            model: &mut other,
            task: Some(narrowed),
            settings: None,
            delivery: &mut Forbidden,
            clock: &FixedClock(T0),
            journal: &mut journal,
        },
    )
    .unwrap();
    // Three steps are one too many for the narrowed task, so the plan is refused.
    assert_eq!(outcome.replayed.verdict, Some(Verdict::Refused));
    let mut journal = MemoryJournal::new(RunId::from_text("scratch"));
    let outcome = what_if(
        &ran.entries,
        Variation {
            model: &mut other,
            task: None,
            settings: None,
            delivery: &mut Forbidden,
            clock: &FixedClock(T0),
            journal: &mut journal,
        },
    )
    .unwrap();
    assert!(outcome.missing.contains(&"line 3 of unseen.md".to_owned()), "{:?}", outcome.missing);
    assert_eq!(outcome.replayed.verified, 0);
}

#[test]
fn completion_is_shown_with_and_without_what_a_provider_broke_off() {
    let answered = Bench::new(task(""), 2).run(&mut good());
    let partial = recorded();
    let mut down = Simulated::new("down", WIDE, |_: &Seen| {
        Err(ModelError { kind: ModelErrorKind::RateLimit, message: "429".to_owned(), attempts: 3 })
    });
    let broken = Bench::new(task(""), 2).run(&mut down);
    let cut = State::fold(&answered.entries[..6]).unwrap();
    let account = Account::of([&answered.state, &partial.state, &broken.state, &cut]);
    assert_eq!((account.unadjusted.answered, account.unadjusted.of), (1, 4));
    assert_eq!((account.adjusted.answered, account.adjusted.of), (1, 2));
    let of = |class: Class| account.classes.iter().find(|count| count.class == class).unwrap();
    assert_eq!(of(Class::Crash).runs, 1);
    assert!(of(Class::RateLimit).runs == 1 && of(Class::RateLimit).times > 1);
    assert_eq!(of(Class::Schema).runs, 1);
    let failed = [&partial.state, &broken.state, &cut];
    let calls: u64 = failed.iter().map(|state| u64::from(state.spent.calls)).sum();
    assert_eq!(account.cost_of_failed.calls, calls);
    assert!(account.to_text(Tables::No).contains("completion, unadjusted: 1 of 4 (25.0 %)"));
    assert!(account.to_text(Tables::Yes).contains("failure class"));
}

#[test]
fn a_run_is_one_trace_with_a_span_for_every_call_and_no_secret() {
    let ran = recorded();
    let trace = to_otel(&ran.entries).unwrap();
    let spans = trace["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
    assert_eq!(u32::try_from(spans.len()).unwrap(), 1 + ran.state.spent.calls);
    let ids: std::collections::BTreeSet<&str> =
        spans.iter().map(|span| span["spanId"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), spans.len());
    for span in &spans[1..] {
        assert_eq!(span["parentSpanId"], spans[0]["spanId"]);
        let keys: Vec<&str> = span["attributes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|a| a["key"].as_str().unwrap())
            .collect();
        for key in ["gen_ai.operation.name", "gen_ai.request.model", "gen_ai.usage.input_tokens"] {
            assert!(keys.contains(&key), "{keys:?}");
        }
    }
    assert!(!trace.to_string().contains("0123456789abcdef"));
    // A call that was lost is a span with an error.
    let asked = ran.entries.iter().rposition(|entry| entry.kind == "asked").unwrap();
    assert_eq!(
        to_otel(&ran.entries[..=asked]).unwrap()["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["status"]
            ["message"],
        "crash"
    );
}

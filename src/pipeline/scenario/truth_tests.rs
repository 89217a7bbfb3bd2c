//! The scenarios about truth reach their targets.

use super::{Outcome, atomic, callsites, citations, claims, storyboard};
use crate::pipeline::process::Environment;

#[track_caller]
fn reaches(outcome: &Outcome) {
    let missed: Vec<_> = outcome.measures.iter().filter(|measure| !measure.reached).collect();
    assert!(missed.is_empty() && !outcome.measures.is_empty(), "{missed:#?}\n{:#?}", outcome.notes);
}

#[test]
fn no_lie_is_verified_and_every_honest_citation_is() {
    let folder = tempfile::tempdir().unwrap();
    reaches(&citations(folder.path()).unwrap());
}

fn environment() -> Environment {
    [("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())].into()
}

#[cfg(unix)]
#[test]
fn no_deliverable_is_accepted_that_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    reaches(&claims(folder.path(), &environment()).unwrap());
}

#[cfg(feature = "code")]
#[test]
fn a_tiny_window_is_enough_for_an_exact_answer() {
    let folder = tempfile::tempdir().unwrap();
    reaches(&atomic(folder.path()).unwrap());
}

#[test]
fn the_scenario_of_the_real_model_is_skipped_without_one() {
    let outcome = callsites(None).unwrap();
    assert!(outcome.measures.is_empty());
    assert!(outcome.notes[0].starts_with("skipped"), "{:?}", outcome.notes);
}

#[cfg(unix)]
#[test]
fn a_storyboard_finds_the_fault_in_its_scene() {
    let folder = tempfile::tempdir().unwrap();
    reaches(&storyboard(folder.path(), &environment()).unwrap());
}

/// The keys of all objects in a value.
fn keys(value: &serde_json::Value, found: &mut std::collections::BTreeSet<String>) {
    match value {
        serde_json::Value::Object(entries) => {
            for (key, value) in entries {
                found.insert(key.clone());
                keys(value, found);
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        _ => {}
    }
}

#[track_caller]
fn described<T: serde::Serialize>(value: &T, page: &str) {
    let mut found = std::collections::BTreeSet::new();
    keys(&serde_json::to_value(value).unwrap(), &mut found);
    let missing: Vec<_> = found.iter().filter(|key| !page.contains(&format!("`{key}`"))).collect();
    assert!(!found.is_empty() && missing.is_empty(), "not described: {missing:?}");
}

#[cfg(unix)]
#[test]
fn every_key_that_outlives_a_run_is_described() {
    use crate::pipeline::citation::search::{Mode, Pattern, search};
    use crate::pipeline::citation::{Checker, Citation};
    use crate::pipeline::deliverable::{
        About, Claim, Kind, Mismatch, Need, Place, Repeat, Said, TicketFormat, look, perform,
    };

    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    std::fs::write(root.join("a.txt"), "one line of text\n").unwrap();
    let citations = include_str!("../../../schema/citation.md");
    let cited = Citation::parse("a.txt:3", "one line of text").unwrap();
    described(&Checker::open(root).unwrap().check(&cited), citations);
    let pattern = Pattern { text: "line".to_owned(), mode: Mode::Word };
    described(&search(root, &pattern), citations);

    let deliverables = include_str!("../../../schema/deliverable.md");
    let line = "echo '{\"id\":\"delivered\"}' > t.jsonl";
    let kind = Kind::Ticket {
        tracker: "t.jsonl".to_owned(),
        format: TicketFormat::Jsonl,
        id: Some("delivered".to_owned()),
        fields: vec!["id".to_owned()],
    };
    let call = ["sh", "-c", line].map(str::to_owned).to_vec();
    let need = Need { name: "n".to_owned(), call, kind, repeat: Repeat::WhenInterrupted };
    described(&need, deliverables);
    let said = Said { about: About::Exit, is: "0".to_owned() };
    described(&Claim { delivered: true, claims: vec![said] }, deliverables);
    described(&Mismatch::not_there("nothing"), deliverables);
    let scratch = tempfile::tempdir().unwrap();
    let place = Place {
        tree: root,
        scratch: scratch.path(),
        environment: &environment(),
        timeout: std::time::Duration::from_secs(30),
        max_output_bytes: 1_000,
        clock: &crate::clock::FixedClock::default(),
    };
    let before = look(&need, &place).unwrap();
    described(&before, deliverables);
    let fact = perform(&need, &before, &place).unwrap();
    // A ticket's own id is a key of what was read back, and the word `Ok` one of Rust.
    described(&fact, deliverables);

    let package = tempfile::tempdir().unwrap();
    reaches(&storyboard(package.path(), &environment()).unwrap());
    let verdicts = std::fs::read_to_string(package.path().join("package/verdicts.json")).unwrap();
    let verdicts: serde_json::Value = serde_json::from_str(&verdicts).unwrap();
    described(&verdicts, include_str!("../../../schema/storyboard.md"));
}

//! The four tiers, through a real store: nothing of a detail is told before a cheaper tier selected it.

use crate::clock::{FixedClock, SystemClock};
use crate::engine::Engine;
use crate::ingest::{EmptyTree, Extent, IndexOptions, NoProgress, WalkOptions};
use crate::ledger::RunId;
use crate::pipeline::scenario::sim::{Seen, Simulated, Tree, diligent};
use crate::pipeline::*;
use crate::reader::{self, Fields, Tiers};

use super::{T0, WIDE, person, task};

/// A code that stands nowhere else, at the end of the detail of record `n`.
fn code(n: usize) -> String {
    let hash = crate::record::Hash::of(format!("activation {n}").as_bytes()).to_string();
    format!("zq{}", &hash[..10])
}

/// A store of some records, each with its code deep inside.
fn store(n_records: usize) -> (tempfile::TempDir, Engine) {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..n_records {
        let filler: Vec<String> =
            (0..30).map(|i| format!("Sentence {i} of the note keeps on.\n")).collect();
        let text = format!(
            "# Harbour note {n}\n\nThe harbour note number {n} is about boats.\n\n{}\nThe code is {}.\n",
            filler.concat(),
            code(n)
        );
        std::fs::write(dir.path().join(format!("note{n}.md")), text).unwrap();
    }
    let options = IndexOptions {
        walk: WalkOptions::default(),
        reader: reader::Options { tiers: Tiers::Authored, fields: Fields::default() },
        threads: Some(1),
        extent: Extent::Changed,
        empty: EmptyTree::Refuse,
        wait: std::time::Duration::from_secs(5),
    };
    let store = dir.path().join(".psos");
    Engine::index(dir.path(), &store, &options, &SystemClock, &NoProgress).unwrap();
    let engine = Engine::open(&store).unwrap();
    (dir, engine)
}

#[test]
fn no_code_of_a_detail_is_in_any_request_before_its_record_was_selected() {
    let (dir, engine) = store(9);
    let mut task = task("");
    task.question = "What do the harbour notes say about boats?".to_owned();
    task.limits.summaries = 5;
    // Looks into the records of three summaries only.
    let mut model = Simulated::new("good", WIDE, |seen: &Seen| Ok(diligent(seen, 3)));
    let mut journal = MemoryJournal::new(RunId::from_text("r"));
    let mut tree = Tree::default();
    for n in 0..9 {
        let path = format!("note{n}.md");
        let text = std::fs::read_to_string(dir.path().join(&path)).unwrap();
        tree.0.insert(path, text);
    }
    let mut parts = Parts {
        model: &mut model,
        sources: &mut Store(&engine),
        truth: &mut tree,
        delivery: &mut Forbidden,
        clock: &FixedClock(T0),
        journal: &mut journal,
        watch: &mut Quiet,
    };
    let state = begin(&task, Settings::default(), &person(), &mut parts).unwrap();
    let state = drive(state, &mut parts).unwrap();
    assert_eq!(state.ended, Some(Verdict::Answered), "{}", RunReport::of(&state).to_text());

    // The ledger says which detail was disclosed to which call, and from which call on it may be known.
    let selected_at = |n: usize| {
        let path = format!("note{n}.md");
        let call = state.disclosed.iter().find(|(depth, id, _)| {
            *depth == Depth::Detail && id.split('#').next() == Some(path.as_str())
        });
        call.map(|(_, _, purpose)| purpose.to_string())
    };
    let mut n_disclosed = 0;
    for n in 0..9 {
        let first_seen = model.requests.iter().position(|request| {
            request.messages.iter().any(|message| message.content.contains(&code(n)))
        });
        let selected = selected_at(n).map(|purpose| {
            model.requests.iter().position(|request| request.purpose == purpose).unwrap()
        });
        assert_eq!(first_seen, selected, "record {n}");
        n_disclosed += usize::from(selected.is_some());
    }
    assert_eq!(n_disclosed, 3, "details that a summary selected");
    // Every tier was selected by the one before it.
    let at = |wanted: Depth| -> Vec<&String> {
        state.disclosed.iter().filter(|(depth, ..)| *depth == wanted).map(|(_, id, _)| id).collect()
    };
    let (descriptions, summaries, details) =
        (at(Depth::Description), at(Depth::Summary), at(Depth::Detail));
    assert!(summaries.iter().all(|id| descriptions.contains(id)) && summaries.len() == 5);
    assert!(details.iter().all(|id| summaries.contains(id)));
}

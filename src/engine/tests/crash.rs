//! A run of `index` is recorded request by request. For every moment in it, the folder that a power cut
//! at that moment may leave is made, and opened.
//!
//! 1. There is the state before or the state after, sound, and never a third.
//! 2. Once `index` has returned, there is the state after.
//! 3. The next run brings the store up to date, and leaves no file that belongs to nobody.
//! 4. When the disk is full from some moment on, the run says so, and the state before is intact; with room
//!    again, the next run succeeds.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Said, World, index, must_be_sound, options};
use crate::engine::{Engine, EngineError};
use crate::fault::Fault;
use crate::ingest::{Extent, IndexOptions};
use crate::powercut::{Disk, Op, Recording, Survival};
use crate::store::{Store, StoreError};

/// How many of the moments of a recording are tried.
#[derive(Debug, Clone, Copy)]
enum Moments {
    /// About so many, evenly.
    Some(usize),
    /// Every one, each with so many ways of losing a part.
    All(u64),
}

/// A change of a tree, and how it is indexed.
struct Story {
    name: &'static str,
    /// What is indexed before the recorded run, one run after the other; nothing for no store at all.
    before: &'static [fn(&World)],
    change: fn(&World),
    options: fn() -> IndexOptions,
}

const STORIES: [Story; 5] = [
    Story { name: "the first run", before: &[], change: first, options: changed },
    Story { name: "an edit", before: &[first], change: edit, options: changed },
    Story { name: "removals and a merge", before: &[first, edit], change: prune, options: changed },
    Story { name: "nothing", before: &[first], change: nothing, options: changed },
    Story { name: "all again", before: &[first, edit], change: nothing, options: full },
];

fn changed() -> IndexOptions {
    options(Extent::Changed)
}

fn full() -> IndexOptions {
    options(Extent::Full)
}

fn first(world: &World) {
    for n in 0..6 {
        world.write(
            &format!("d/f{n}.md"),
            &format!(
                "# Restore {n}\n\nRestore the backup number {n}.\n\n## Rotate the key {n}\n\n\
                 <!-- psos\ntriggers:\n  - turn key {n}\n-->\n\nRotate it every {n} days.\n"
            ),
        );
    }
}

fn edit(world: &World) {
    world.write("d/f1.md", "# Deploy\n\nDeploy a new release.\n\n## Open the valve\n\nSlowly.\n");
    world.write("new.txt", "Renew the certificate.\n");
}

fn prune(world: &World) {
    for n in 0..5 {
        std::fs::remove_file(world.tree().join(format!("d/f{n}.md"))).unwrap();
    }
}

fn nothing(_: &World) {}

/// A recorded run with the states around it.
struct Recorded {
    disk: Disk,
    ops: Vec<Op>,
    before: Option<Said>,
    after: Said,
}

const HOUR: Duration = Duration::from_hours(1);

fn said(store: &Path) -> Said {
    Said::by(&Engine::open(store).unwrap())
}

/// A world in which everything before the recorded run has happened.
fn world_of(story: &Story) -> World {
    let world = World::new();
    for change in story.before {
        change(&world);
        index(&world.tree(), &world.store(), &changed(), HOUR).unwrap();
    }
    world
}

fn record(story: &Story, world: &World) -> Recorded {
    let store = world.store();
    (story.change)(world);
    let before = (!story.before.is_empty()).then(|| said(&store));
    let disk = Disk::of(&store);
    let recording = Recording::of(&store);
    index(&world.tree(), &store, &(story.options)(), 2 * HOUR).unwrap();
    let ops = recording.ops();
    drop(recording);
    Recorded { disk, ops, before, after: said(&store) }
}

/// What a folder holds; nothing when it has no store.
#[track_caller]
fn found(store: &Path, what: &str) -> Option<Said> {
    match Engine::open(store) {
        Ok(engine) => match engine.status() {
            // A store was made, and nothing was committed to it yet.
            Err(EngineError::Empty) => None,
            status => {
                status.unwrap_or_else(|error| panic!("{what}: {error:?}"));
                must_be_sound(&engine, what);
                Some(Said::by(&engine))
            }
        },
        Err(EngineError::Store(StoreError::NotFound { .. })) => None,
        Err(error) => panic!("{what}: {error:?}"),
    }
}

fn cut_power(story: &Story, moments: Moments) -> usize {
    let world = world_of(story);
    let recorded = record(story, &world);
    assert!(story.name == "nothing" || recorded.ops.len() > 10, "{}", story.name);
    let (step, seeds) = match moments {
        Moments::Some(n) => (recorded.ops.len().div_ceil(n).max(1), 1),
        Moments::All(seeds) => (1, seeds),
    };
    let survivals = |moment: usize| {
        let parts = (0..seeds).map(move |seed| Survival::Parts(seed * 1_000_003 + moment as u64));
        [Survival::Nothing, Survival::Everything].into_iter().chain(parts)
    };
    let mut disk = recorded.disk.clone();
    let store = world.path("found");
    let mut n_cuts = 0;
    for moment in 0..=recorded.ops.len() {
        let over = moment == recorded.ops.len();
        if moment % step == 0 || over {
            for survival in survivals(moment) {
                let what = format!("{}, power cut at {moment}, {survival:?}", story.name);
                disk.write_to(&store, survival);
                let found = found(&store, &what);
                let new = found.as_ref() == Some(&recorded.after);
                let old = found == recorded.before;
                assert!(new || (old && !over), "{what}: neither before nor after");
                // Life goes on.
                index(&world.tree(), &store, &changed(), 3 * HOUR)
                    .unwrap_or_else(|error| panic!("{what}: {error:?}"));
                let engine = Engine::open(&store).unwrap();
                must_be_sound(&engine, &what);
                Said::by(&engine).must_equal(&recorded.after, &what);
                assert_eq!(orphans(&store), Vec::<PathBuf>::new(), "{what}");
                n_cuts += 1;
            }
        }
        if let Some(op) = recorded.ops.get(moment) {
            disk.apply(op);
        }
    }
    n_cuts
}

/// Files that belong to nobody: segments that neither the last state nor the one before names, and
/// unfinished databases.
fn orphans(store: &Path) -> Vec<PathBuf> {
    let snapshot = Store::open_read_only(store).unwrap().snapshot().unwrap();
    let metas = [snapshot.lexical_meta().unwrap(), snapshot.lexical_meta_before().unwrap()];
    let live: Vec<&[u8]> = metas.iter().flatten().map(Vec::as_slice).collect();
    let mut known: BTreeSet<PathBuf> =
        crate::bm25::files(&store.join("segments"), &live).unwrap().into_iter().collect();
    known.extend(["store.redb", ".gitignore"].map(PathBuf::from));
    let files = walkdir::WalkDir::new(store).into_iter().filter_map(Result::ok);
    files
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| entry.path().strip_prefix(store).unwrap().to_owned())
        .filter(|path| !known.contains(path.strip_prefix("segments").unwrap_or(path)))
        .collect()
}

fn fill_disk(story: &Story, moments: Moments) -> usize {
    let n_ops = record(story, &world_of(story)).ops.len();
    let step = match moments {
        Moments::Some(n) => n_ops.div_ceil(n).max(1),
        Moments::All(_) => 1,
    };
    let mut n_refused = 0;
    for full_from in (0..n_ops).step_by(step) {
        let what = format!("{}, disk full from {full_from}", story.name);
        let world = world_of(story);
        let store = world.store();
        (story.change)(&world);
        let before = (!story.before.is_empty()).then(|| said(&store));
        let recording = Recording::until_full(&store, full_from);
        let result = index(&world.tree(), &store, &(story.options)(), 2 * HOUR);
        drop(recording);
        match result {
            // What came after needs no room: removing old files.
            Ok(_) => assert_ne!(found(&store, &what), None, "{what}"),
            Err(error) => {
                n_refused += 1;
                assert_eq!(error.fault(), Fault::Environment, "{what}: {error:?}");
                let chain = chain(&error);
                assert!(chain.contains("no storage space"), "{what}: {chain}");
                let found = found(&store, &what);
                assert!(found == before || found.is_some(), "{what}: the old state is gone");
                if before.is_some() {
                    let after = || {
                        let fresh = world.path("fresh");
                        index(&world.tree(), &fresh, &changed(), 2 * HOUR).unwrap();
                        Some(said(&fresh))
                    };
                    assert!(found == before || found == after(), "{what}: a third state");
                }
            }
        }
        index(&world.tree(), &store, &changed(), 3 * HOUR).unwrap();
        let engine = Engine::open(&store).unwrap();
        must_be_sound(&engine, &what);
        assert_eq!(orphans(&store), Vec::<PathBuf>::new(), "{what}");
    }
    n_refused
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

#[test]
fn a_power_cut_leaves_the_state_before_or_after() {
    for story in &STORIES {
        assert!(cut_power(story, Moments::Some(6)) >= 3, "{}", story.name);
    }
}

#[test]
fn a_full_disk_is_said_and_costs_nothing() {
    for story in STORIES.iter().filter(|story| story.name != "nothing") {
        assert!(fill_disk(story, Moments::Some(5)) >= 2, "{}", story.name);
    }
}

#[test]
#[ignore = "minutes; tests/README.md has the command"]
fn a_power_cut_at_every_request_leaves_the_state_before_or_after() {
    for story in &STORIES {
        println!("{}: {} power cuts", story.name, cut_power(story, Moments::All(4)));
    }
}

#[test]
#[ignore = "minutes; tests/README.md has the command"]
fn a_disk_full_at_every_request_is_said_and_costs_nothing() {
    for story in STORIES.iter().filter(|story| story.name != "nothing") {
        println!("{}: {} refusals", story.name, fill_disk(story, Moments::All(1)));
    }
}

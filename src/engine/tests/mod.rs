//! Claims about a store over its whole life: whatever was done to the tree and to the processes, it is
//! what a fresh build would be.

/// What is there after a power cut, or on a full disk?
mod crash;
/// Does any history lead to the store that the tree alone would have made?
mod model;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Engine, EngineError};
use crate::clock::FixedClock;
use crate::ingest::{EmptyTree, Extent, IndexOptions, IndexReport, NoProgress, WalkOptions};
use crate::reader::{self, Fields, Tiers};
use crate::recall::{Budget, Filter, Floor, Format, Query, Request, Wish};

/// Questions that the trees of these tests answer, and one that none does.
const QUESTIONS: [&str; 6] = [
    "how do I restore the backup",
    "rotate the key",
    "renew certficate before it expires",
    "deploy a new release to the servers",
    "open the valve",
    "zebra",
];

/// A folder with a tree and a store beside it.
struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("tree")).unwrap();
        Self { folder }
    }

    fn tree(&self) -> PathBuf {
        self.folder.path().join("tree")
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.tree().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// How these tests index: one thread, since their trees are small.
fn options(extent: Extent) -> IndexOptions {
    IndexOptions {
        walk: WalkOptions::default(),
        reader: reader::Options { tiers: Tiers::Authored, fields: Fields::default() },
        threads: Some(1),
        extent,
        empty: EmptyTree::Accept,
        wait: Duration::ZERO,
    }
}

fn index(
    tree: &Path,
    store: &Path,
    options: &IndexOptions,
    now: Duration,
) -> Result<IndexReport, EngineError> {
    Engine::index(tree, store, options, &FixedClock(now), &NoProgress)
}

/// Everything that a store says of its content.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Said {
    dump: String,
    answers: Vec<String>,
}

impl Said {
    fn by(engine: &Engine) -> Self {
        let mut dump = Vec::new();
        engine.dump(&mut dump).unwrap();
        let answers = QUESTIONS.map(|question| answer(engine, question)).to_vec();
        Self { dump: String::from_utf8(dump).unwrap(), answers }
    }

    #[track_caller]
    fn must_equal(&self, other: &Self, what: &str) {
        let differs = self.dump.lines().zip(other.dump.lines()).find(|(a, b)| a != b);
        assert_eq!(differs, None, "{what}: the dumps differ");
        assert_eq!(self.dump.lines().count(), other.dump.lines().count(), "{what}: lines");
        for (mine, others) in self.answers.iter().zip(&other.answers) {
            assert_eq!(mine, others, "{what}: an answer differs");
        }
    }
}

fn answer(engine: &Engine, question: &str) -> String {
    let request = Request {
        query: Query::parse(question).unwrap(),
        n_records: 3,
        budget: Budget::tokens(400),
        wish: Wish::FirstDeep,
        filter: Filter::default(),
        format: Format::Json,
        floor: Floor::Refuse,
    };
    Format::Json.render(&engine.recall(&request).unwrap(), "", true)
}

/// Fails when something in the store contradicts the rest, or a segment file belongs to nobody.
#[track_caller]
fn must_be_sound(engine: &Engine, what: &str) {
    assert_eq!(engine.verify().unwrap(), [], "{what}");
}

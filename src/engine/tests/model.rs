//! Random histories of a tree and of the processes around it: adding, editing, renaming, moving and deleting
//! files, edits that size and time hide, changes of ignore rules and settings; restarts, and power cuts in the
//! middle of a run. After any of it the store is, in its dump and its answers, byte for byte what a fresh
//! build of the tree is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::{Said, World, index, must_be_sound};
use crate::engine::Engine;
use crate::ingest::{EmptyTree, Extent, IndexOptions, WalkOptions};
use crate::powercut::{Chance, Disk, Recording, Survival};
use crate::reader::{self, Fields, Tiers};
use crate::store::Store;

/// Names that people give their files; some differ in little, and a row of one may want the id of another.
const PATHS: [&str; 22] = [
    "README.md",
    "readme.md",
    "a b.md",
    "a_b.md",
    "a-b.md",
    "\u{1f600}.md",
    "d/50% off #1 [new].md",
    "d/deep/er/x.md",
    "d/x.md",
    "d.md",
    "rows.jsonl",
    "rows.jsonl#k.md",
    "rows.jsonl#0.md",
    "more/rows.jsonl",
    "table.csv",
    "skills/deploy/SKILL.md",
    "skills/key/SKILL.md",
    "note.txt",
    "code.rs",
    "page.html",
    "a_b.psos.yaml",
    "d/x.psos.yaml",
];

/// What stands in the files: pieces that are put together at random.
const PIECES: [&str; 17] = [
    "# Restore the backup\n\nStop the service, then run `restore --latest`.\n\n",
    "## Rotate the key\n\n<!-- psos\ntriggers:\n  - turn the key\n  - new key\n-->\n\nMake a new one first.\n\n",
    "## Rotate the key\n\nThe same heading again, and other words: zone, tiger.\n\n",
    "### Renew a certificate before it expires\n\nAsk a week early. See [the key](#rotate-the-key).\n\n",
    "# Deploy\n\nDeploy a new release to the servers, and watch the dashboard.\n\n",
    "## Open the valve\n\nSlowly. `ERR_VALVE_42` says that it is stuck.\n\n```\n# not a heading\n```\n\n",
    "<!-- psos\ntriggers: [unclosed\n-->\n\n",
    "Plain words about backups, keys and valves.\n\n",
    "{\"_id\": \"k.md\", \"title\": \"Keys\", \"text\": \"Rotate the key of row k.\"}\n",
    "{\"_id\": \"0.md\", \"title\": \"Nought\", \"text\": \"Restore from nought.\"}\n",
    "{\"_id\": \"k.md\", \"title\": \"Again\", \"text\": \"The same key twice.\"}\n",
    "{\"_id\": 7, \"text\": broken\n",
    "name,text\nvalve,Open the valve\nkey,\"Rotate, then test\"\n",
    "---\nname: deploy\ndescription: Puts a release on the servers.\ntriggers: [ship it]\n---\n\n",
    "/// Opens the valve.\npub fn open_valve(n: u32) -> u32 { n + 1 }\n",
    "Read [how keys are turned](d/x.md) first, then [open valves](/README.md#open-the-valve).\n\n",
    "rotate-the-key:\n  triggers:\n    - spin the key\n  summary: Spin it.\n",
];

const IGNORES: [&str; 4] = ["", "d/\n", "*.md\n!README.md\n", "d/*\n!d/x.md\n"];

/// What may happen. `Restart` and `Crash` are operations like any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Write,
    Append,
    Delete,
    Rename,
    /// Two files change their names with each other.
    Swap,
    /// Same size and time, other bytes.
    Hide,
    /// Another time, the same bytes.
    Touch,
    MoveFolder,
    Ignore,
    Reconfigure,
    Wait,
    Index,
    Hashed,
    Full,
    Compact,
    Ask,
    Restart,
    Crash,
}

/// Each as often as it stands here.
const OPERATIONS: [Operation; 41] = {
    use Operation::{
        Append, Ask, Compact, Crash, Delete, Full, Hashed, Hide, Ignore, Index, MoveFolder,
        Reconfigure, Rename, Restart, Swap, Touch, Wait, Write,
    };
    [
        Write,
        Write,
        Write,
        Write,
        Write,
        Write,
        Write,
        Append,
        Append,
        Append,
        Delete,
        Delete,
        Delete,
        Rename,
        Rename,
        Rename,
        Swap,
        Hide,
        Hide,
        Touch,
        Touch,
        MoveFolder,
        Ignore,
        Reconfigure,
        Wait,
        Wait,
        Wait,
        Index,
        Index,
        Index,
        Index,
        Index,
        Index,
        Hashed,
        Full,
        Compact,
        Ask,
        Ask,
        Restart,
        Restart,
        Crash,
    ]
};

struct Model {
    world: World,
    chance: Chance,
    now: Duration,
    options: IndexOptions,
    /// A reader that stays while others write.
    reader: Option<Engine>,
    /// What the store said after the last run.
    committed: Option<Said>,
    /// Files that changed in a way that only their bytes show.
    hidden: BTreeSet<String>,
    history: Vec<String>,
    tally: BTreeMap<String, u64>,
}

impl Model {
    fn new(seed: u64) -> Self {
        Self {
            world: World::new(),
            chance: Chance(seed),
            now: Duration::from_secs(1_700_000_000),
            options: super::options(Extent::Changed),
            reader: None,
            committed: None,
            hidden: BTreeSet::new(),
            history: Vec::new(),
            tally: BTreeMap::new(),
        }
    }

    fn step(&mut self) {
        let operation = OPERATIONS[self.chance.below(OPERATIONS.len())];
        *self.tally.entry(format!("{operation:?}")).or_default() += 1;
        self.now += Duration::from_millis(self.chance.below(900) as u64);
        match operation {
            Operation::Write => {
                let path = self.any_path();
                let text = self.text();
                self.put(&path, &text);
            }
            Operation::Append => {
                let Some(path) = self.file() else { return };
                let piece = PIECES[self.chance.below(PIECES.len())];
                let mut file = fs::OpenOptions::new().append(true).open(self.tree(&path)).unwrap();
                file.write_all(piece.as_bytes()).unwrap();
                drop(file);
                self.stamp(&path);
            }
            Operation::Delete => {
                let Some(path) = self.file() else { return };
                fs::remove_file(self.tree(&path)).unwrap();
                self.hidden.remove(&path);
                self.note(format!("delete {path}"));
            }
            Operation::Rename => {
                let Some(from) = self.file() else { return };
                let to = self.any_path();
                self.folder_of(&to);
                fs::rename(self.tree(&from), self.tree(&to)).unwrap();
                self.hidden.remove(&from);
                self.hidden.insert(to.clone());
                self.note(format!("rename {from} to {to}"));
            }
            Operation::Swap => {
                let (Some(a), Some(b)) = (self.file(), self.file()) else { return };
                let spare = self.world.path("spare");
                fs::rename(self.tree(&a), &spare).unwrap();
                if a != b {
                    fs::rename(self.tree(&b), self.tree(&a)).unwrap();
                }
                fs::rename(&spare, self.tree(&b)).unwrap();
                self.note(format!("swap {a} and {b}"));
                self.hidden.extend([a, b]);
            }
            Operation::Hide => self.hide(),
            Operation::Touch => {
                let Some(path) = self.file() else { return };
                self.stamp(&path);
            }
            Operation::MoveFolder => {
                let (from, to) = (self.tree("d"), self.tree("moved"));
                let moved =
                    if to.exists() { fs::rename(&to, &from) } else { fs::rename(&from, &to) };
                self.note(format!("move a folder: {moved:?}"));
                self.hidden.extend(self.files());
            }
            Operation::Ignore => {
                let rules = IGNORES[self.chance.below(IGNORES.len())];
                fs::write(self.tree(".gitignore"), rules).unwrap();
                self.note(format!("ignore {rules:?}"));
            }
            Operation::Reconfigure => {
                let tiers = [Tiers::Authored, Tiers::Derived][self.chance.below(2)];
                self.options.reader = reader::Options { tiers, fields: Fields::default() };
                self.options.walk =
                    WalkOptions { no_ignore: self.chance.below(4) == 0, ..WalkOptions::default() };
                self.note(format!("configure {:?}", self.options));
            }
            Operation::Wait => self.now += Duration::from_secs(self.chance.below(9) as u64),
            Operation::Index => self.index(Extent::Changed),
            Operation::Hashed => self.index(Extent::Hashed),
            Operation::Full => self.index(Extent::Full),
            Operation::Compact => self.compact(),
            Operation::Ask => self.ask(),
            Operation::Restart => {
                self.reader = None;
                self.note("restart".into());
            }
            Operation::Crash => self.crash(),
        }
    }

    /// Changes the bytes of a file, and neither its size nor its time.
    fn hide(&mut self) {
        let Some(path) = self.file() else { return };
        let file = self.tree(&path);
        let modified = fs::metadata(&file).unwrap().modified().unwrap();
        let mut bytes = fs::read(&file).unwrap();
        let letters: Vec<usize> =
            (0..bytes.len()).filter(|&at| bytes[at].is_ascii_lowercase()).collect();
        if letters.is_empty() {
            return;
        }
        let at = letters[self.chance.below(letters.len())];
        bytes[at] = if bytes[at] == b'z' { b'a' } else { bytes[at] + 1 };
        fs::write(&file, bytes).unwrap();
        fs::File::options().write(true).open(&file).unwrap().set_modified(modified).unwrap();
        self.note(format!("hide a change of {path}"));
        // Size and time show nothing; unless the file is so young that they are not trusted.
        self.hidden.insert(path);
    }

    fn index(&mut self, extent: Extent) {
        let options = self.options_for(extent);
        self.note(format!("index {:?}", options.extent));
        index(&self.world.tree(), &self.world.store(), &options, self.now).unwrap();
        self.check();
    }

    /// Only hashes show hidden changes.
    fn options_for(&mut self, extent: Extent) -> IndexOptions {
        let extent = match extent {
            Extent::Changed if !self.hidden.is_empty() => Extent::Hashed,
            other => other,
        };
        IndexOptions { extent, ..self.options.clone() }
    }

    /// Holds the store against a fresh build.
    fn check(&mut self) {
        self.hidden.clear();
        let engine = self.reader.take();
        let engine = engine.unwrap_or_else(|| Engine::open(&self.world.store()).unwrap());
        let fresh = self.world.path("fresh");
        let _old = fs::remove_dir_all(&fresh);
        index(&self.world.tree(), &fresh, &self.options, self.now).unwrap();
        let what = || format!("after\n{}", self.history.join("\n"));
        must_be_sound(&engine, &what());
        let said = Said::by(&engine);
        said.must_equal(&Said::by(&Engine::open(&fresh).unwrap()), &what());
        self.committed = Some(said);
        self.reader = Some(engine);
    }

    /// A new file with the rows of the old one: what the next runs find there must be all that there was.
    fn compact(&mut self) {
        let Some(committed) = &self.committed else { return };
        Store::open(&self.world.store(), Duration::ZERO).unwrap().compact(Duration::ZERO).unwrap();
        let engine = Engine::open(&self.world.store()).unwrap();
        must_be_sound(&engine, "after a compaction");
        assert_eq!(Said::by(&engine).dump, committed.dump);
        self.note("compact".into());
    }

    /// An answer is that of the last run, whatever happened to the tree since.
    fn ask(&mut self) {
        let Some(committed) = &self.committed else { return };
        let mut dump = Vec::new();
        let engine = Engine::open(&self.world.store()).unwrap();
        engine.dump(&mut dump).unwrap();
        assert_eq!(String::from_utf8(dump).unwrap(), committed.dump);
    }

    /// The power goes in the middle of a run.
    fn crash(&mut self) {
        let store = self.world.store();
        let mut disk = Disk::of(&store);
        let recording = Recording::of(&store);
        let options = self.options_for(Extent::Changed);
        index(&self.world.tree(), &store, &options, self.now).unwrap();
        let ops = recording.ops();
        drop(recording);
        self.reader = None;
        let after = Said::by(&Engine::open(&store).unwrap());
        let moment = self.chance.below(ops.len() + 1);
        ops.iter().take(moment).for_each(|op| disk.apply(op));
        let survival = match self.chance.below(4) {
            0 => Survival::Nothing,
            1 => Survival::Everything,
            _ => Survival::Parts(self.chance.below(usize::MAX) as u64),
        };
        fs::remove_dir_all(&store).unwrap();
        disk.write_to(&store, survival);
        self.note(format!("crash at {moment} of {}, {survival:?}", ops.len()));
        let Some(before) = &self.committed else {
            // There was no state yet; whatever is there, the next run makes it whole.
            return;
        };
        let engine = Engine::open(&store).unwrap();
        must_be_sound(&engine, &self.history.join("\n"));
        let found = Said::by(&engine);
        // Only what answers say of the tree itself (stale, missing) may have changed since the last run.
        let is_after = found.dump == after.dump;
        assert!(
            is_after || found.dump == before.dump,
            "neither before nor after\n{}",
            self.history.join("\n")
        );
        assert!(is_after || moment < ops.len(), "a run that had ended is lost");
        self.committed = Some(found);
    }

    fn put(&mut self, path: &str, text: &str) {
        self.folder_of(path);
        fs::write(self.tree(path), text).unwrap();
        self.stamp(path);
    }

    /// Gives a file the time of now, as coarse as file systems have it. Within one step, a later change has
    /// the same time, so it is hidden only when the size is the same, too.
    fn stamp(&mut self, path: &str) {
        let step = [1, 1_000_000_000, 2_000_000_000][self.chance.below(3)];
        let nanos = self.now.as_nanos();
        let time = SystemTime::UNIX_EPOCH
            + Duration::from_nanos(u64::try_from(nanos - nanos % step).unwrap());
        fs::File::options().write(true).open(self.tree(path)).unwrap().set_modified(time).unwrap();
        self.note(format!("write {path} at {:?}, told as {time:?}", self.now));
    }

    fn folder_of(&self, path: &str) {
        fs::create_dir_all(self.tree(path).parent().unwrap()).unwrap();
    }

    fn text(&mut self) -> String {
        let n = self.chance.below(6);
        (0..n).map(|_| PIECES[self.chance.below(PIECES.len())]).collect()
    }

    fn any_path(&mut self) -> String {
        PATHS[self.chance.below(PATHS.len())].to_owned()
    }

    fn file(&mut self) -> Option<String> {
        let files = self.files();
        files.get(self.chance.below(files.len())).cloned()
    }

    fn files(&self) -> Vec<String> {
        let tree = self.world.tree();
        let walk = walkdir::WalkDir::new(&tree).sort_by_file_name().into_iter();
        walk.filter_map(Result::ok)
            .filter(|entry| entry.file_type().is_file() && entry.file_name() != ".gitignore")
            .map(|entry| entry.path().strip_prefix(&tree).unwrap().to_str().unwrap().to_owned())
            .collect()
    }

    fn tree(&self, path: &str) -> PathBuf {
        self.world.tree().join(path)
    }

    fn note(&mut self, what: String) {
        if self.history.len() > 40 {
            self.history.remove(0);
        }
        self.history.push(what);
    }
}

fn live(seed: u64, n_operations: u64) -> BTreeMap<String, u64> {
    let mut model = Model::new(seed);
    assert_eq!(model.options.empty, EmptyTree::Accept);
    for _ in 0..n_operations {
        model.step();
    }
    model.index(Extent::Changed);
    model.tally
}

#[test]
fn any_history_ends_in_what_a_fresh_build_is() {
    for seed in 0..3 {
        live(seed, 60);
    }
}

#[test]
#[ignore = "an hour; tests/README.md has the command"]
fn a_hundred_thousand_operations_end_in_what_a_fresh_build_is() {
    let mut tally: BTreeMap<String, u64> = BTreeMap::new();
    for seed in 0..200 {
        for (operation, n) in live(1_000 + seed, 500) {
            *tally.entry(operation).or_default() += n;
        }
        println!("{seed}: {} operations, {tally:?}", tally.values().sum::<u64>());
    }
}

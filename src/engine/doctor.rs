//! Looking a store over from outside, and putting right what can be put right without touching the truth.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::engine::{Engine, EngineError, root_of};
use crate::store::{Store, StoreError};
use crate::trigger::Triggers;
use crate::{bm25, ingest, trigger};

/// What kind of thing is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ailment {
    /// The database cannot be opened: it is damaged, or no store.
    Damaged,
    /// The store has the format of another version.
    Format,
    /// Nothing was ever committed to it.
    Empty,
    /// Tables contradict each other.
    Contradiction,
    /// Segment files are missing, damaged, or do not have the records that the store has.
    Lexical,
    /// The trigger automata lack phrases, or are damaged.
    Automaton,
    /// Segment files that no state needs.
    Orphans,
    /// Databases that were never finished.
    Unfinished,
    /// The store's owner may not read or write its files.
    Permissions,
    /// The store's own ignore file is missing, so that it may be committed by accident.
    Ignore,
    /// More than half of the file holds nothing.
    Waste,
    /// The tree that the store was made from is not there.
    Root,
}

impl Ailment {
    /// The name in lower case, as JSON shows it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Damaged => "damaged",
            Self::Format => "format",
            Self::Empty => "empty",
            Self::Contradiction => "contradiction",
            Self::Lexical => "lexical",
            Self::Automaton => "automaton",
            Self::Orphans => "orphans",
            Self::Unfinished => "unfinished",
            Self::Permissions => "permissions",
            Self::Ignore => "ignore",
            Self::Waste => "waste",
            Self::Root => "root",
        }
    }

    /// Whether a repair derives what is wrong from what is right. Everything else needs the tree, or a person.
    pub const fn is_repairable(self) -> bool {
        match self {
            Self::Damaged | Self::Format | Self::Empty | Self::Contradiction | Self::Root => false,
            Self::Lexical
            | Self::Automaton
            | Self::Orphans
            | Self::Unfinished
            | Self::Permissions
            | Self::Ignore
            | Self::Waste => true,
        }
    }
}

/// Something that is wrong with a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What kind of thing.
    pub ailment: Ailment,
    /// What exactly, in words for people.
    pub what: String,
    /// What to do about it, when a repair cannot.
    pub help: String,
    /// Whether it was put right.
    pub repaired: bool,
}

impl Engine {
    /// Looks a store over, and returns all that is wrong with it. With `repair`, what is derived is built
    /// anew, what nobody needs is removed, and permissions are set; records are never touched. `repair` is how
    /// long to wait for another writer.
    ///
    /// # Errors
    /// [`EngineError::Store`] when there is no store; errors of a repair. What is wrong is in the list.
    pub fn doctor(dir: &Path, repair: Option<Duration>) -> Result<Vec<Finding>, EngineError> {
        let mut findings = permissions(dir, repair.is_some())?;
        let store = match Store::open_read_only(dir) {
            Ok(store) => store,
            Err(error) => {
                let Some(finding) = unopened(error)? else { return Ok(findings) };
                findings.push(finding);
                return Ok(findings);
            }
        };
        let mut look = Look { dir, store: &store, findings };
        look.ignore();
        look.unfinished()?;
        look.content()?;
        let Look { mut findings, .. } = look;
        if let Some(wait) = repair {
            mend(dir, &mut findings, wait)?;
        }
        Ok(findings)
    }
}

/// What stands in the way of opening a store, as a finding; nothing for what was found already.
fn unopened(error: StoreError) -> Result<Option<Finding>, EngineError> {
    let help = "move the store away and run `psos index TREE` to build it anew";
    match error {
        error @ (StoreError::Damaged { .. } | StoreError::Corrupt { .. }) => {
            Ok(Some(finding(Ailment::Damaged, &error, help)))
        }
        error @ StoreError::FormatTooOld { .. } => {
            Ok(Some(finding(Ailment::Format, &error, "run `psos index TREE` to build it anew")))
        }
        error @ StoreError::FormatTooNew { .. } => {
            Ok(Some(finding(Ailment::Format, &error, "use the psos that made it")))
        }
        error => Err(error.into()),
    }
}

fn finding(ailment: Ailment, what: &dyn std::fmt::Display, help: &str) -> Finding {
    Finding { ailment, what: what.to_string(), help: help.to_owned(), repaired: false }
}

struct Look<'a> {
    dir: &'a Path,
    store: &'a Store,
    findings: Vec<Finding>,
}

impl Look<'_> {
    fn found(&mut self, ailment: Ailment, what: &dyn std::fmt::Display, help: &str) {
        self.findings.push(finding(ailment, what, help));
    }

    fn ignore(&mut self) {
        if !self.dir.join(".gitignore").exists() {
            self.found(Ailment::Ignore, &"the store has no .gitignore of its own", "");
        }
    }

    fn unfinished(&mut self) -> Result<(), EngineError> {
        // One that is being made right now is none of our business.
        let Some(_lock) = lock(self.dir)? else { return Ok(()) };
        for file in self.store.unfinished()? {
            self.found(Ailment::Unfinished, &format!("{} was never finished", file.display()), "");
        }
        Ok(())
    }

    fn content(&mut self) -> Result<(), EngineError> {
        let engine = Engine::of(Store::open_read_only(self.dir)?);
        let snapshot = self.store.snapshot()?;
        let Some(meta) = snapshot.lexical_meta()? else {
            let help = "run `psos index TREE`";
            self.found(Ailment::Empty, &"nothing was ever committed to the store", help);
            return Ok(());
        };
        let root = root_of(self.dir, &snapshot.root()?);
        if !root.is_dir() {
            let what = format!("the tree {} is not there", root.display());
            self.found(
                Ailment::Root,
                &what,
                "index the tree where it is now: `psos index TREE --store DIR`",
            );
        }
        for problem in engine.verify_rows()? {
            let help = "run `psos index TREE --full` to read the tree anew";
            self.found(Ailment::Contradiction, &problem, help);
        }
        if let Some(what) = engine.lexical_fault(&snapshot, &meta)? {
            self.found(Ailment::Lexical, &what, "");
        }
        if let Some(what) = automaton_fault(&snapshot)? {
            self.found(Ailment::Automaton, &what, "");
        }
        if let Some(_lock) = lock(self.dir)? {
            let snapshot = self.store.snapshot()?;
            let metas = [snapshot.lexical_meta()?, snapshot.lexical_meta_before()?];
            let live: Vec<&[u8]> = metas.iter().flatten().map(Vec::as_slice).collect();
            // A meta.json that cannot be read was found above.
            let orphans = bm25::orphans(&self.store.segments_dir(), &live).unwrap_or_default();
            if !orphans.is_empty() {
                let what = format!("{} segment files belong to no state", orphans.len());
                self.found(Ailment::Orphans, &what, "");
            }
        }
        self.waste()
    }

    fn waste(&mut self) -> Result<(), EngineError> {
        let Some(lock) = lock(self.dir)? else { return Ok(()) };
        let wasted = lock.wasted_bytes(Duration::ZERO)?;
        let size = lock.file_bytes()?;
        if size > ingest::SMALL_BYTES && wasted > size / 2 {
            self.found(Ailment::Waste, &format!("{wasted} of {size} bytes hold nothing"), "");
        }
        Ok(())
    }
}

/// The store for writing, when it can be had at once.
fn lock(dir: &Path) -> Result<Option<Store>, EngineError> {
    let store = match Store::open(dir, Duration::ZERO) {
        Ok(store) => store,
        Err(StoreError::Busy { .. } | StoreError::Io { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    match store.begin(Duration::ZERO).map(drop) {
        Ok(()) => Ok(Some(store)),
        Err(StoreError::Busy { .. } | StoreError::Io { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn mend(dir: &Path, findings: &mut [Finding], wait: Duration) -> Result<(), EngineError> {
    let has = |findings: &[Finding], ailments: &[Ailment]| {
        findings.iter().any(|finding| ailments.contains(&finding.ailment))
    };
    if has(findings, &[Ailment::Ignore]) {
        let path = dir.join(".gitignore");
        fs::write(&path, "*\n").map_err(|source| StoreError::Io { path, source })?;
    }
    if has(findings, &[Ailment::Lexical, Ailment::Automaton]) {
        ingest::rebuild_derived(&Store::open(dir, wait)?, wait)?;
    }
    if has(findings, &[Ailment::Orphans, Ailment::Unfinished]) {
        ingest::sweep(&Store::open(dir, wait)?)?;
    }
    if has(findings, &[Ailment::Waste]) {
        Store::open(dir, wait)?.compact(wait)?;
    }
    for finding in findings {
        finding.repaired |= finding.ailment.is_repairable();
    }
    Ok(())
}

/// Files and folders of the store that their owner may not read and write.
#[cfg(unix)]
fn permissions(dir: &Path, repair: bool) -> Result<Vec<Finding>, EngineError> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut findings = Vec::new();
    let paths: Vec<PathBuf> = ["", "segments", "store.redb"].map(|name| dir.join(name)).to_vec();
    for path in paths {
        let Ok(meta) = fs::metadata(&path) else { continue };
        let wanted = if meta.is_dir() { 0o700 } else { 0o600 };
        let mode = meta.permissions().mode();
        if mode & wanted == wanted {
            continue;
        }
        let what = format!("the owner may not read and write {}", path.display());
        let mut one = finding(Ailment::Permissions, &what, "");
        if repair {
            let permissions = fs::Permissions::from_mode(mode | wanted);
            fs::set_permissions(&path, permissions)
                .map_err(|source| StoreError::Io { path, source })?;
            one.repaired = true;
        }
        findings.push(one);
    }
    Ok(findings)
}

#[cfg(not(unix))]
fn permissions(_: &Path, _: bool) -> Result<Vec<Finding>, EngineError> {
    Ok(Vec::new())
}

impl Engine {
    fn of(store: Store) -> Self {
        Self { store, loaded: std::sync::Mutex::default() }
    }

    /// What is wrong with the lexical index of a state.
    pub(super) fn lexical_fault(
        &self,
        snapshot: &crate::store::Snapshot,
        meta: &[u8],
    ) -> Result<Option<String>, EngineError> {
        let index = match bm25::Index::open(&self.store.segments_dir(), meta) {
            Ok(index) => index,
            Err(error) => return Ok(Some(error.to_string())),
        };
        let mut wanted = Vec::new();
        for entry in snapshot.ids()? {
            wanted.push(entry?.1.0);
        }
        wanted.sort_unstable();
        Ok((index.keys() != wanted)
            .then(|| "the lexical index does not have the records that the store has".to_owned()))
    }
}

/// What is wrong with the trigger automata of a state.
pub(super) fn automaton_fault(
    snapshot: &crate::store::Snapshot,
) -> Result<Option<String>, EngineError> {
    let automata = [ingest::BASE, ingest::RECENT].map(|name| snapshot.automaton(name));
    let automata: Vec<Option<Vec<u8>>> = automata.into_iter().collect::<Result<_, _>>()?;
    let triggers = match Triggers::open(automata.into_iter().flatten()) {
        Ok(triggers) => triggers,
        Err(error) => return Ok(Some(error.to_string())),
    };
    for entry in snapshot.phrases()? {
        let (phrase, _) = entry?;
        if trigger::is_kept(&phrase) && !triggers.has(&phrase) {
            return Ok(Some(format!("the trigger automata lack the phrase `{phrase}`")));
        }
    }
    Ok(None)
}

//! A file before a call and after it.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::perform::Before;

/// Bytes of a file that are kept to be read; the rest is only hashed.
const MAX_KEPT_BYTES: usize = 32 << 20;

/// How often the clock of a file system is looked at: for five seconds, longer than the coarsest step.
const MAX_TICKS: u32 = 2_500;
/// The time between two looks.
const TICK: Duration = Duration::from_millis(2);

/// A file that a call left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artefact {
    /// From the root of the tree.
    pub file: String,
    /// In bytes.
    pub n_bytes: u64,
    /// In hexadecimal.
    pub blake3: String,
    /// Whether the call made it.
    pub made: Made,
}

/// Whether a call made a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Made {
    /// It was not there, or held something else, and was written since the call began.
    ByThisCall,
    /// It holds what it held before. That the same was written again cannot be told from a file that
    /// was left alone, and is not taken for work.
    Unchanged,
    /// It is new here, but was written before the call began: moved or copied from elsewhere.
    Older,
}

/// A file as it was at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) content: Option<Content>,
}

/// What a file held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    n_bytes: u64,
    pub(super) blake3: String,
    modified: SystemTime,
}

impl Look {
    /// Looks at a file. What is no file (a folder, a pipe, a link) is as good as none.
    pub(super) fn at(path: &Path) -> io::Result<Self> {
        let about = match fs::symlink_metadata(path) {
            Ok(about) => about,
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return Ok(Self::default());
            }
            Err(error) => return Err(error),
        };
        if !about.is_file() {
            return Ok(Self::default());
        }
        let mut file = File::open(path)?;
        let modified = file.metadata()?.modified()?;
        let mut hasher = blake3::Hasher::new();
        let mut kept = Vec::new();
        let mut n_bytes = 0;
        let mut buffer = vec![0; 1 << 16];
        loop {
            let n = match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => n,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let bytes = buffer.get(..n).unwrap_or_default();
            hasher.update(bytes);
            n_bytes += bytes.len() as u64;
            let room = MAX_KEPT_BYTES.saturating_sub(kept.len()).min(bytes.len());
            kept.extend_from_slice(bytes.get(..room).unwrap_or_default());
        }
        let blake3 = hasher.finalize().to_hex().to_string();
        Ok(Self { content: Some(Content { bytes: kept, n_bytes, blake3, modified }) })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.content.as_ref().map_or(&[], |content| &content.bytes)
    }

    /// What a call left, beside what there was before it.
    pub(super) fn artefact(&self, file: &str, before: &Before) -> Option<Artefact> {
        let now = self.content.as_ref()?;
        let since = SystemTime::UNIX_EPOCH + Duration::from_nanos(before.since_ns);
        let made = match &before.blake3 {
            Some(old) if *old == now.blake3 => Made::Unchanged,
            _ if now.modified < since => Made::Older,
            _ => Made::ByThisCall,
        };
        Some(Artefact {
            file: file.to_owned(),
            n_bytes: now.n_bytes,
            blake3: now.blake3.clone(),
            made,
        })
    }
}

/// The time by the clock of the file system of a folder, after it has moved on: all that was written
/// before this call is older, and all that is written after it is not.
///
/// Times of files are compared with it, so that no other clock has to agree. File systems count in
/// steps of some milliseconds, some of two seconds; a file written just before would otherwise seem to be
/// of the same moment.
// Postmortem: a file that was written in the same step as the marker and then copied with its time
// passed for new.
pub(super) fn file_time(folder: &Path) -> io::Result<SystemTime> {
    let marker = folder.join("now");
    let write = || {
        fs::write(&marker, b"x")?;
        fs::metadata(&marker)?.modified()
    };
    let first = write()?;
    for _ in 0..MAX_TICKS {
        std::thread::sleep(TICK);
        let now = write()?;
        if now > first {
            fs::remove_file(&marker)?;
            return Ok(now);
        }
    }
    Err(io::Error::new(ErrorKind::TimedOut, "the clock of the file system stands still"))
}

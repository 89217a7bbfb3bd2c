//! `psos index --watch`: the store follows its tree for as long as the command runs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecursiveMode, Watcher as _};
use psos::engine::STORE_FOLDER;
use psos::fault::Fault;
use psos::ingest::{IndexOptions, IndexReport};

use crate::cli::Done;
use crate::cli::failure::Failure;
use crate::cli::index::build;
use crate::cli::output::tell;

/// A batch is indexed when nothing has happened for so long.
const QUIET: Duration = Duration::from_millis(200);
/// Or when it has been collected for so many of those: a tree that never rests is followed, too.
const MAX_PAUSES: u32 = 10;

/// What reaches the loop.
enum Signal {
    /// Something in the tree may have changed.
    Changed,
    /// The watch itself has a problem.
    Trouble(notify::Error),
    /// The person wants it to end.
    Stop,
}

/// Indexes now and after every batch of changes, until ctrl-C. `show` is called with each report of a
/// batch in which a file was read or removed, and with the first.
pub(crate) fn follow(
    tree: &Path,
    dir: &Path,
    options: &IndexOptions,
    quiet: bool,
    show: &dyn Fn(&IndexReport) -> Result<(), Failure>,
) -> Done {
    let (sender, signals) = mpsc::channel();
    let stop = sender.clone();
    ctrlc::set_handler(move || {
        // Nobody listens any more: then it is ending already.
        let _ = stop.send(Signal::Stop);
    })
    .map_err(|error| Failure::new(Fault::Environment, error))?;
    let ours = [absolute(dir)];
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        let signal = match event {
            Ok(event) if matters(&event, &ours) => Signal::Changed,
            Ok(_) => return,
            Err(error) => Signal::Trouble(error),
        };
        let _ = sender.send(signal);
    })
    .map_err(cannot_watch)?;
    // Before the first run: what changes during it is not missed.
    watcher.watch(tree, RecursiveMode::Recursive).map_err(cannot_watch)?;
    show(&build(tree, dir, options, quiet)?)?;
    if !quiet {
        tell(&format!("watching {}; ctrl-C ends\n", tree.display()));
    }
    loop {
        match signals.recv() {
            Ok(Signal::Changed) => {
                if collect(&signals) {
                    return Ok(ExitCode::SUCCESS);
                }
                match build(tree, dir, options, quiet) {
                    Ok(report) if report.n_read + report.n_removed > 0 => show(&report)?,
                    Ok(_) => {}
                    // A tree that is away for a moment, another writer: the next change tries again.
                    Err(failure) => {
                        tell(&format!("error: {failure}\n"));
                        if !tree.is_dir() {
                            return Err(failure);
                        }
                    }
                }
            }
            Ok(Signal::Trouble(error)) => tell(&format!("warning: {error}\n")),
            Ok(Signal::Stop) | Err(_) => return Ok(ExitCode::SUCCESS),
        }
    }
}

/// Waits until the tree is quiet, or has been loud for long enough. Returns whether to end.
fn collect(signals: &Receiver<Signal>) -> bool {
    for _ in 0..MAX_PAUSES {
        match signals.recv_timeout(QUIET) {
            Ok(Signal::Stop) | Err(RecvTimeoutError::Disconnected) => return true,
            Err(RecvTimeoutError::Timeout) => return false,
            Ok(_) => {
                // All that is waiting belongs to the same batch.
                while let Ok(signal) = signals.try_recv() {
                    if matches!(signal, Signal::Stop) {
                        return true;
                    }
                }
            }
        }
    }
    false
}

/// Whether an event can change what is indexed: reading does not, and neither does the store itself.
fn matters(event: &Event, ours: &[PathBuf]) -> bool {
    let writes = EventKind::Access(AccessKind::Close(AccessMode::Write));
    let reads = matches!(event.kind, EventKind::Access(_)) && event.kind != writes;
    let is_ours = |path: &PathBuf| {
        ours.iter().any(|dir| path.starts_with(dir)) || path.iter().any(|part| part == STORE_FOLDER)
    };
    !reads && (event.paths.is_empty() || !event.paths.iter().all(is_ours))
}

fn absolute(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

fn cannot_watch(error: notify::Error) -> Failure {
    Failure::new(Fault::Environment, anyhow::Error::new(error).context("cannot watch the tree"))
        .hint(
            "a large tree may need more watches than the system allows (on Linux: the sysctl \
         fs.inotify.max_user_watches); `psos index` by a timer does the same",
        )
}

//! The claim of a run on the file that it must produce: one run at a time, and nobody else beside it.

use std::path::Path;
use std::time::Duration;

use crate::ledger::{Actor, Lease, Ledger, LedgerError};
use crate::pipeline::class::Class;
use crate::pipeline::drive::{Parts, RunError, write};
use crate::pipeline::event::Event;
use crate::pipeline::state::State;
use crate::record::Hash;

/// What a run holds while it works.
#[derive(Debug)]
pub struct Hold {
    lease: Lease,
    before: Option<String>,
}

/// Claims the file that the task of a run must produce, if it is one. When another run holds it, the run is
/// stopped: it ends refused, before any call.
///
/// # Errors
/// [`RunError::Ledger`] when the ledger cannot be used.
pub fn claim(
    state: &mut State,
    parts: &mut Parts<'_>,
    ledger: &Ledger,
    root: &Path,
) -> Result<Option<Hold>, RunError> {
    let Some(file) = state.task.deliverable.as_ref().and_then(|need| need.file()) else {
        return Ok(None);
    };
    if state.ended.is_some() {
        return Ok(None);
    }
    let path = root.join(file);
    let before = hash_of(&path);
    let limits = &state.task.limits;
    let seconds = u64::from(limits.hard_seconds) + 2 * u64::from(limits.call_seconds);
    let now = parts.clock.now();
    let until = now + Duration::from_secs(seconds);
    match ledger.claim(&path.display().to_string(), &state.run, (now, until), before.clone()) {
        Ok(lease) => Ok(Some(Hold { lease, before })),
        Err(held @ LedgerError::Held { .. }) => {
            let event =
                Event::Stopped { purpose: None, class: Class::GateRefusal, why: held.to_string() };
            write(state, parts, &Actor::harness(), &event)?;
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Gives back what a run held, and checks that the file is what the run made of it.
///
/// # Errors
/// [`LedgerError::Changed`] when somebody else changed it meanwhile, [`LedgerError::Lost`] when another run has
/// it by now.
pub fn give_back(ledger: &Ledger, hold: &Hold, state: &State) -> Result<(), LedgerError> {
    let made = state.fact.as_ref().and_then(|fact| fact.seen.as_ref()?.artefact.as_ref());
    let expected = made.map_or(hold.before.as_deref(), |artefact| Some(artefact.blake3.as_str()));
    let found = hash_of(Path::new(&hold.lease.resource));
    ledger.release(&hold.lease, expected, found.as_deref())
}

/// The hash of a file, `None` when there is none that can be read.
fn hash_of(path: &Path) -> Option<String> {
    std::fs::read(path).ok().map(|bytes| Hash::of(&bytes).to_string())
}

#[cfg(test)]
mod tests {
    //! Two runs on one file.

    use super::*;
    use crate::clock::FixedClock;
    use crate::ledger::{Head, RunId};
    use crate::pipeline::deliverable::{Kind, Need, Repeat};
    use crate::pipeline::scenario::sim::{Seen, Shelf, Simulated, diligent};
    use crate::pipeline::{
        Forbidden, Quiet, RunJournal, RunReport, Settings, Task, Verdict, begin, drive,
    };

    const TASK: &str = "schema_version = 1\nname = 't'\nquestion = 'q'";

    /// Begins a run that must produce `x.cast` and claims it; drives it to its end if it may not have it.
    fn begun(ledger: &Ledger, root: &Path, run: &str) -> (Option<Hold>, State) {
        let mut task = Task::parse("t", TASK).unwrap();
        task.deliverable = Some(Need {
            name: "x".into(),
            call: vec!["x".into()],
            kind: Kind::Recording { file: "x.cast".into() },
            repeat: Repeat::Never,
        });
        let mut model = Simulated::new("m", 50_000, |seen: &Seen| Ok(diligent(seen, 8)));
        let mut shelf = Shelf::default();
        let mut tree = shelf.tree();
        let mut journal = RunJournal::new(ledger, RunId::from_text(run), Head::START);
        let mut parts = Parts {
            model: &mut model,
            sources: &mut shelf,
            truth: &mut tree,
            delivery: &mut Forbidden,
            clock: &FixedClock(Duration::from_secs(9)),
            journal: &mut journal,
            watch: &mut Quiet,
        };
        let actor = Actor::harness();
        let mut state = begin(&task, Settings::default(), &actor, &mut parts).unwrap();
        let hold = claim(&mut state, &mut parts, ledger, root).unwrap();
        if hold.is_none() {
            state = drive(state, &mut parts).unwrap();
            assert!(model.requests.is_empty(), "refused before any call");
        }
        (hold, state)
    }

    #[test]
    fn of_two_runs_on_one_file_the_second_is_refused_until_the_first_gives_it_back() {
        let dir = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(dir.path(), Duration::from_secs(5)).unwrap();
        let (first, state) = begun(&ledger, dir.path(), "one");
        let (none, refused) = begun(&ledger, dir.path(), "two");
        assert!(none.is_none());
        assert_eq!(refused.ended, Some(Verdict::Refused));
        let failures = RunReport::of(&refused).outcome.failures;
        assert_eq!(failures[0].class, Class::GateRefusal);
        assert!(failures[0].message.contains("held by run one"), "{failures:?}");
        give_back(&ledger, &first.unwrap(), &state).unwrap();
        let (third, state) = begun(&ledger, dir.path(), "three");
        // Somebody writes the file beside the run that holds it.
        std::fs::write(dir.path().join("x.cast"), "beside").unwrap();
        let changed = give_back(&ledger, &third.unwrap(), &state);
        assert!(matches!(changed, Err(LedgerError::Changed { .. })), "{changed:?}");
    }
}

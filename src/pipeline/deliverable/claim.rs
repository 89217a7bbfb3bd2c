//! What was claimed, beside what was seen.

use serde::{Deserialize, Serialize};

use super::artefact::Made;
use super::perform::{Content, Fact};
use super::recording::RecordingFault;
use super::runner::{Counts, RunnerFault};
use super::ticket::{Ticket, TicketFault, is_filled};
use super::{Kind, Need};

/// What a model says of a deliverable. Everything it leaves open is not claimed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Whether it says that it is there.
    pub delivered: bool,
    /// How many tests ran, as it says.
    #[serde(default)]
    pub counts: Option<Counts>,
    /// Which file it names.
    #[serde(default)]
    pub file: Option<String>,
    /// Which ticket it names.
    #[serde(default)]
    pub ticket: Option<String>,
}

/// What a deliverable has come to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "judgement")]
pub enum Judgement {
    /// It is there, and nothing false was said of it.
    Delivered {
        /// Whether it was claimed. It is there all the same: facts decide.
        claimed: bool,
    },
    /// It is there, but what was said of it is not true; the claim is refused, and so is the deliverable.
    Contradicted {
        /// What was said, and what is.
        mismatch: Mismatch,
    },
    /// It is not there.
    Missing {
        /// Why not.
        lack: Lack,
        /// Whether it was claimed nonetheless.
        claimed: bool,
    },
}

/// Where a claim and a fact differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "about")]
pub enum Mismatch {
    /// The counts of tests.
    Counts {
        /// As claimed.
        claimed: Counts,
        /// As seen.
        seen: Counts,
    },
    /// The file.
    File {
        /// As claimed.
        claimed: String,
        /// As seen.
        seen: String,
    },
    /// The ticket.
    Ticket {
        /// As claimed.
        claimed: String,
        /// The tickets that are new or changed, and have all fields.
        seen: Vec<String>,
    },
}

/// Why a deliverable is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "why")]
pub enum Lack {
    /// The call was never made in this run.
    NoCall,
    /// What was seen is of another deliverable or another call.
    OtherCall,
    /// The call only pretended.
    DryRun {
        /// The argument that says so.
        argument: String,
    },
    /// Its file is not there.
    NoFile,
    /// The call did not end by itself.
    NotEnded {
        /// How it ended.
        end: String,
    },
    /// The file holds what it held before, or was made before the call.
    Stale,
    /// The call failed, and what it should have left does not explain why.
    Failed {
        /// The exit code.
        exit: i32,
    },
    /// No test ran.
    NoTests,
    /// The counts cannot be read.
    Tests {
        /// Why.
        fault: RunnerFault,
    },
    /// The exit code says that all is well, the counts that it is not.
    ExitDisagrees {
        /// The exit code.
        exit: i32,
        /// The counts.
        counts: Counts,
    },
    /// The file is no recording.
    Recording {
        /// Why.
        fault: RecordingFault,
    },
    /// The tracker cannot be read.
    Tracker {
        /// Why.
        fault: TicketFault,
    },
    /// The ticket is not new, not changed, or not there.
    TicketUnchanged,
    /// The ticket lacks fields.
    Fields {
        /// Which.
        missing: Vec<String>,
    },
}

/// Compares what is needed with what was seen, and what was seen with what was claimed.
///
/// `fact` is that of this run; `None` when the call was not made.
pub fn judge(need: &Need, fact: Option<&Fact>, claim: Option<&Claim>) -> Judgement {
    let is_claimed = claim.is_some_and(|claim| claim.delivered);
    let missing = |lack| Judgement::Missing { lack, claimed: is_claimed };
    let Some(fact) = fact else { return missing(Lack::NoCall) };
    if let Err(lack) = seen(need, fact) {
        return missing(lack);
    }
    match claim.filter(|claim| claim.delivered).and_then(|claim| mismatch(need, fact, claim)) {
        Some(mismatch) => Judgement::Contradicted { mismatch },
        None => Judgement::Delivered { claimed: is_claimed },
    }
}

/// Whether a fact is the deliverable.
fn seen(need: &Need, fact: &Fact) -> Result<(), Lack> {
    if fact.need != need.name || fact.argv != need.call {
        return Err(Lack::OtherCall);
    }
    if let Some(argument) = need.dry_run_argument().or(fact.dry_run.as_deref()) {
        return Err(Lack::DryRun { argument: argument.to_owned() });
    }
    let Some(exit) = fact.exit else { return Err(Lack::NotEnded { end: fact.end.clone() }) };
    match (&need.kind, &fact.content) {
        (Kind::TestRun { report, .. }, Content::Tests(counts)) => {
            if report.is_some() {
                fresh(fact)?;
            }
            let counts = counts.clone().map_err(|fault| Lack::Tests { fault })?;
            if counts.ran() == 0 {
                return Err(Lack::NoTests);
            }
            // A run that found a fault is a run. One whose exit code and words differ is not to be trusted.
            if (exit == 0) != (counts.failed == 0) {
                return Err(Lack::ExitDisagrees { exit, counts });
            }
            Ok(())
        }
        (Kind::Recording { .. }, Content::Recording(recording)) => {
            fresh(fact)?;
            recording.clone().map_err(|fault| Lack::Recording { fault })?;
            if exit == 0 { Ok(()) } else { Err(Lack::Failed { exit }) }
        }
        (Kind::Ticket { id, fields, .. }, Content::Tickets(changed)) => {
            fresh(fact)?;
            let changed =
                changed.as_ref().map_err(|fault| Lack::Tracker { fault: fault.clone() })?;
            if exit != 0 {
                return Err(Lack::Failed { exit });
            }
            let named = changed.iter().filter(|(it, _)| id.as_ref().is_none_or(|id| id == *it));
            // Without a name, any ticket that has everything will do.
            match named.map(|(_, ticket)| lacking(ticket, fields)).min_by_key(Vec::len) {
                None => Err(Lack::TicketUnchanged),
                Some(missing) if missing.is_empty() => Ok(()),
                Some(missing) => Err(Lack::Fields { missing }),
            }
        }
        _ => Err(Lack::OtherCall),
    }
}

fn fresh(fact: &Fact) -> Result<(), Lack> {
    match &fact.artefact {
        None => Err(Lack::NoFile),
        Some(artefact) if artefact.made != Made::ByThisCall => Err(Lack::Stale),
        Some(_) => Ok(()),
    }
}

/// The fields that a ticket should have and has not.
fn lacking(ticket: &Ticket, fields: &[String]) -> Vec<String> {
    fields.iter().filter(|field| !is_filled(ticket.get(*field))).cloned().collect()
}

/// Where a claim differs from a deliverable that is there.
fn mismatch(need: &Need, fact: &Fact, claim: &Claim) -> Option<Mismatch> {
    if let (Some(claimed), Content::Tests(Ok(seen))) = (claim.counts, &fact.content)
        && claimed != *seen
    {
        return Some(Mismatch::Counts { claimed, seen: *seen });
    }
    if let Some(claimed) = &claim.file {
        let seen = fact.artefact.as_ref().map_or("", |artefact| &artefact.file);
        if claimed.trim_start_matches("./") != seen {
            return Some(Mismatch::File { claimed: claimed.clone(), seen: seen.to_owned() });
        }
    }
    if let (Some(claimed), Content::Tickets(Ok(changed)), Kind::Ticket { fields, .. }) =
        (&claim.ticket, &fact.content, &need.kind)
    {
        let is_whole = |ticket: &Ticket| lacking(ticket, fields).is_empty();
        if !changed.get(claimed).is_some_and(is_whole) {
            let whole = changed.iter().filter(|(_, ticket)| is_whole(ticket));
            let seen = whole.map(|(id, _)| id.clone()).collect();
            return Some(Mismatch::Ticket { claimed: claimed.clone(), seen });
        }
    }
    None
}

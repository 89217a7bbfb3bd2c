//! What was claimed, beside what was seen.

use std::fmt;

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
    /// What else it says.
    #[serde(default)]
    pub claims: Vec<Said>,
}

/// One thing that is said of a deliverable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Said {
    /// What it is about.
    pub about: About,
    /// What is said.
    pub is: String,
}

/// What can be said of a deliverable and compared with what was seen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum About {
    /// Whether it is there.
    Delivered,
    /// The exit code of the call.
    Exit,
    /// How many tests ran.
    Ran,
    /// How many passed.
    Passed,
    /// How many failed.
    Failed,
    /// How many did not run.
    Skipped,
    /// The file that the call left.
    File,
    /// The id of the ticket.
    Ticket,
    /// A field of the ticket.
    Field(String),
}

impl About {
    /// What can be said of a deliverable, beside that it is there.
    pub fn all_of(need: &Need) -> Vec<Self> {
        let mut all = vec![Self::Exit];
        if need.file().is_some() {
            all.push(Self::File);
        }
        match &need.kind {
            Kind::TestRun { .. } => {
                all.extend([Self::Ran, Self::Passed, Self::Failed, Self::Skipped]);
            }
            Kind::Recording { .. } => {}
            Kind::Ticket { fields, .. } => {
                all.push(Self::Ticket);
                all.extend(fields.iter().cloned().map(Self::Field));
            }
        }
        all
    }

    /// Whether two values are the same, as far as this is concerned.
    fn is_same(&self, claimed: &str, seen: &str) -> bool {
        let (claimed, seen) = (claimed.trim(), seen.trim());
        match self {
            Self::Exit | Self::Ran | Self::Passed | Self::Failed | Self::Skipped => {
                claimed.parse::<i64>().is_ok_and(|claimed| Ok(claimed) == seen.parse())
            }
            Self::File => claimed.trim_start_matches("./") == seen,
            Self::Delivered | Self::Ticket | Self::Field(_) => claimed == seen,
        }
    }
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Delivered => f.write_str("delivered"),
            Self::Exit => f.write_str("exit"),
            Self::Ran => f.write_str("ran"),
            Self::Passed => f.write_str("passed"),
            Self::Failed => f.write_str("failed"),
            Self::Skipped => f.write_str("skipped"),
            Self::File => f.write_str("file"),
            Self::Ticket => f.write_str("ticket"),
            Self::Field(name) => write!(f, "field {name}"),
        }
    }
}

impl From<About> for String {
    fn from(about: About) -> Self {
        about.to_string()
    }
}

impl TryFrom<String> for About {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Ok(match text.as_str() {
            "delivered" => Self::Delivered,
            "exit" => Self::Exit,
            "ran" => Self::Ran,
            "passed" => Self::Passed,
            "failed" => Self::Failed,
            "skipped" => Self::Skipped,
            "file" => Self::File,
            "ticket" => Self::Ticket,
            other => match other.strip_prefix("field ") {
                Some(name) => Self::Field(name.to_owned()),
                None => return Err(format!("{other:?} is nothing that can be claimed")),
            },
        })
    }
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
        mismatches: Vec<Mismatch>,
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
pub struct Mismatch {
    /// What it is about.
    pub about: About,
    /// As claimed.
    pub claimed: String,
    /// As seen; `nothing` when nothing of the kind was. Where several tickets would do, each of them.
    pub seen: String,
}

impl Mismatch {
    /// That it is there was claimed, and it is not; `seen` is what is there instead.
    pub fn not_there(seen: &str) -> Self {
        let seen = seen.to_owned();
        Self { about: About::Delivered, claimed: true.to_string(), seen }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { about, claimed, seen } = self;
        write!(f, "{about}: claimed was {claimed:?}, seen was {seen:?}")
    }
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
    let mismatches = claim.map(|claim| mismatches(need, Some(fact), claim)).unwrap_or_default();
    if mismatches.is_empty() {
        Judgement::Delivered { claimed: is_claimed }
    } else {
        Judgement::Contradicted { mismatches }
    }
}

/// Where the details of a claim differ from what was seen, whether or not that is the deliverable. Whether it is
/// there is not a detail: see [`judge`].
pub fn mismatches(need: &Need, fact: Option<&Fact>, claim: &Claim) -> Vec<Mismatch> {
    let named = claim.claims.iter().find(|said| said.about == About::Ticket);
    let named = named.map(|said| said.is.trim());
    let mut mismatches = Vec::new();
    for Said { about, is } in &claim.claims {
        let seen = fact.map(|fact| seen_of(about, need, fact, named)).unwrap_or_default();
        if !seen.iter().any(|seen| about.is_same(is, seen)) {
            let seen = if seen.is_empty() { "nothing".to_owned() } else { listed(&seen) };
            mismatches.push(Mismatch { about: about.clone(), claimed: is.clone(), seen });
        }
    }
    mismatches
}

/// Some texts, of which there may be many, in one.
pub(crate) fn listed(texts: &[String]) -> String {
    const MAX_SHOWN: usize = 5;
    let shown = texts.get(..MAX_SHOWN).unwrap_or(texts);
    match texts.len() - shown.len() {
        0 => shown.join(", "),
        n_more => format!("{} and {n_more} more", shown.join(", ")),
    }
}

/// What was seen of something; several values where several tickets would do. `named` is the ticket that the
/// claim names.
fn seen_of(about: &About, need: &Need, fact: &Fact, named: Option<&str>) -> Vec<String> {
    let count = |of: fn(Counts) -> u64| match &fact.content {
        Content::Tests(Ok(counts)) => vec![of(*counts).to_string()],
        _ => Vec::new(),
    };
    match about {
        About::Delivered => vec![seen(need, fact).is_ok().to_string()],
        About::Exit => fact.exit.iter().map(i32::to_string).collect(),
        About::Ran => count(Counts::ran),
        About::Passed => count(|counts| counts.passed),
        About::Failed => count(|counts| counts.failed),
        About::Skipped => count(|counts| counts.skipped),
        About::File => fact.artefact.iter().map(|artefact| artefact.file.clone()).collect(),
        About::Ticket => whole(need, fact).map(|(id, _)| id.clone()).collect(),
        About::Field(name) => whole(need, fact)
            .filter(|(id, _)| named.is_none_or(|named| named == *id))
            .filter_map(|(_, ticket)| ticket.get(name).cloned())
            .collect(),
    }
}

/// The new or changed tickets that have all that is needed.
fn whole<'a>(need: &'a Need, fact: &'a Fact) -> impl Iterator<Item = (&'a String, &'a Ticket)> {
    let of_need = match (&need.kind, &fact.content) {
        (Kind::Ticket { id, fields, .. }, Content::Tickets(Ok(changed))) => {
            Some((id, fields, changed))
        }
        _ => None,
    };
    of_need.into_iter().flat_map(|(id, fields, changed)| {
        changed.iter().filter(move |(it, ticket)| {
            id.as_ref().is_none_or(|id| id == *it) && lacking(ticket, fields).is_empty()
        })
    })
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

//! Where the pipeline gets what a model is shown: tier by tier, each from what the one before selected.

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::{Deserialize, Serialize};

use crate::engine::{Engine, EngineError};
use crate::fault::Fault;
use crate::pipeline::event::Event;
use crate::recall::{Budget, Filter, Floor, Format, Query, RecallError, Request, Wish};
use crate::record::{RecordId, Tier};

/// How much of a record is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    /// Its line. Selected by a trigger or by words of the question.
    Description,
    /// Its paragraph. Selected from descriptions.
    Summary,
    /// Its text. Selected from summaries.
    Detail,
}

impl Depth {
    /// The name, as ledgers have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Description => "description",
            Self::Summary => "summary",
            Self::Detail => "detail",
        }
    }
}

/// One tier of one record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// The record.
    pub id: String,
    /// The file that it comes from.
    pub path: String,
    /// The lines that it stands on, first and last.
    pub lines: (u32, u32),
    /// The text of the tier.
    pub text: String,
}

/// Why nothing was retrieved.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The store cannot be asked.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl SourceError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Engine(error) => error.fault(),
        }
    }
}

/// Retrieves pieces of records.
pub trait Sources: Debug {
    /// Returns the descriptions of the records that fit a question best, best first.
    ///
    /// # Errors
    /// [`SourceError`] when the store cannot be asked; a question without an answer has no pieces.
    fn describe(&mut self, question: &str, n_records: u32) -> Result<Vec<Piece>, SourceError>;

    /// Returns one tier of the records with these ids, in this order, without those that do not exist.
    ///
    /// # Errors
    /// [`SourceError`] when the store cannot be asked.
    fn pieces(&mut self, ids: &[String], depth: Depth) -> Result<Vec<Piece>, SourceError>;
}

/// A store.
#[derive(Debug)]
pub struct Store<'a>(pub &'a Engine);

impl Sources for Store<'_> {
    fn describe(&mut self, question: &str, n_records: u32) -> Result<Vec<Piece>, SourceError> {
        let query = match Query::parse(question) {
            Ok(query) => query,
            // A question without a word that could be looked up selects nothing.
            Err(RecallError::EmptyQuery | RecallError::NoWords { .. }) => return Ok(Vec::new()),
            Err(error) => return Err(EngineError::from(error).into()),
        };
        let answer = self.0.recall(&Request {
            query,
            n_records,
            budget: Budget::UNLIMITED,
            wish: Wish::Every(Tier::Description),
            filter: Filter::default(),
            format: Format::Text,
            // The model decides what is relevant; the floor is for answers that nobody looks through.
            floor: Floor::Ignore,
        })?;
        let pieces = answer.results.into_iter().map(|hit| Piece {
            id: hit.id.to_string(),
            path: hit.path,
            lines: (hit.lines.first, hit.lines.last),
            text: hit.text,
        });
        Ok(pieces.collect())
    }

    fn pieces(&mut self, ids: &[String], depth: Depth) -> Result<Vec<Piece>, SourceError> {
        let tier = match depth {
            Depth::Description => Tier::Description,
            Depth::Summary => Tier::Summary,
            Depth::Detail => Tier::Detail,
        };
        let mut pieces = Vec::new();
        for id in ids {
            if let Some(piece) = self.0.get(&RecordId::from_text(id), tier, None)? {
                pieces.push(Piece {
                    id: id.clone(),
                    path: piece.path,
                    lines: (piece.lines.first, piece.lines.last),
                    text: piece.text,
                });
            }
        }
        Ok(pieces)
    }
}

/// What a journal recorded: nothing else can be had from it.
#[derive(Debug, Clone, Default)]
pub struct Recorded {
    described: Vec<Piece>,
    pieces: BTreeMap<(Depth, String), Piece>,
    /// What was asked for and is not in the journal.
    pub missing: Vec<String>,
}

impl Recorded {
    /// Collects what the events of a run retrieved.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut recorded = Self::default();
        for event in events {
            let Event::Retrieved { depth, pieces, .. } = event else { continue };
            if *depth == Depth::Description {
                recorded.described.clone_from(pieces);
            }
            let known = pieces.iter().map(|piece| ((*depth, piece.id.clone()), piece.clone()));
            recorded.pieces.extend(known);
        }
        recorded
    }
}

impl Recorded {
    /// A line of a file, if a detail that was retrieved has it.
    pub(super) fn line_of(&self, file: &str, line: u32) -> Option<&str> {
        self.pieces.iter().find_map(|((depth, _), piece)| {
            let (first, last) = piece.lines;
            let is_there = *depth == Depth::Detail && piece.path == file;
            let at = usize::try_from(line.checked_sub(first)?).ok()?;
            (is_there && line <= last).then(|| piece.text.lines().nth(at)).flatten()
        })
    }
}

impl Sources for Recorded {
    fn describe(&mut self, _question: &str, n_records: u32) -> Result<Vec<Piece>, SourceError> {
        let n = usize::try_from(n_records).unwrap_or(usize::MAX);
        Ok(self.described.iter().take(n).cloned().collect())
    }

    fn pieces(&mut self, ids: &[String], depth: Depth) -> Result<Vec<Piece>, SourceError> {
        let mut found = Vec::new();
        for id in ids {
            match self.pieces.get(&(depth, id.clone())) {
                Some(piece) => found.push(piece.clone()),
                None => self.missing.push(format!("{} of {id}", depth.name())),
            }
        }
        Ok(found)
    }
}

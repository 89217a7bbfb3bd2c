//! From a question to the records that answer it: pure over one snapshot of the store and its two
//! indexes. Not here: how files become records (`ingest`), and who is asking (`engine`).
//!
//! The stages, each of which returns its results together with their reasons:
//! [`Query::parse`] → candidates (`candidate`) → features and their sum (`rank`) → disclosure under
//! the budget (`disclose`) → text (`render`).

mod answer;
mod budget;
mod candidate;
mod disclose;
mod duplicate;
mod error;
mod explain;
mod filter;
mod lexicon;
mod paraphrase;
mod query;
mod rank;
mod render;

use std::path::Path;

pub use answer::{Answer, Hit, Omitted, SourceState, Why};
pub use budget::Budget;
pub use disclose::{Depth, Disclosure, Price, Wish, disclose, smallest};
pub use error::RecallError;
pub use explain::{Explanation, Feature, ParaphraseMatch, TermMatch, TriggerMatch};
pub use filter::Filter;
pub use query::Query;
pub use render::{Format, SCHEMA_VERSION};

use crate::bm25::Index;
use crate::recall::rank::{Ranked, Reasons};
use crate::record::{RecordId, Tier};
use crate::store::{Head, Selection, Snapshot};
use crate::trigger::Triggers;

/// One committed state of a store: its rows and the two indexes that belong to them.
#[derive(Debug, Clone, Copy)]
pub struct Handles<'a> {
    /// The rows.
    pub snapshot: &'a Snapshot,
    /// The words.
    pub lexical: &'a Index,
    /// The trigger phrases.
    pub triggers: &'a Triggers<'a>,
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The question.
    pub query: Query,
    /// At most this many records.
    pub n_records: u32,
    /// The most tokens the rendered answer may cost.
    pub budget: Budget,
    /// How deep to look.
    pub wish: Wish,
    /// Which part of the store.
    pub filter: Filter,
    /// The format that the answer is made for.
    pub format: Format,
    /// Whether a question that no record answers well enough gets no answer.
    pub floor: Floor,
}

impl Request {
    /// How many hits of a ranking are looked at to answer this.
    pub fn n_ranked(&self) -> usize {
        let n_wanted = self.n_records as usize;
        if self.collapses() { n_wanted.saturating_mul(duplicate::LOOK_AHEAD) } else { n_wanted }
    }

    /// Whether records that say the same are one hit. Lists of ids for other programs have a line for each.
    fn collapses(&self) -> bool {
        match self.format {
            Format::Text | Format::Markdown | Format::Json => true,
            Format::Paths | Format::Trec => false,
        }
    }
}

/// What is done about a question that no record answers well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Floor {
    /// It has no answer.
    Refuse,
    /// It is answered all the same: for measurements of the ranking alone.
    Ignore,
}

/// How many of the places that say the same as a hit are listed with it; the others are counted.
const MAX_COPIES: usize = 3;

/// The best candidates of a question in their final order: the answer before it is cut to a budget.
#[derive(Debug, Clone)]
pub struct Ranking {
    /// Best first.
    ranked: Vec<Ranked>,
    reasons: Reasons,
    /// How many records share a word with the question.
    n_matched: u64,
}

/// One candidate of a ranking.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    ranked: &'a Ranked,
    reasons: &'a Reasons,
}

impl<'a> Candidate<'a> {
    /// Its id.
    pub fn id(&self) -> &'a RecordId {
        &self.ranked.head.id
    }

    /// Its final score; only comparable within one ranking.
    pub fn score(&self) -> f64 {
        self.ranked.measured.score
    }

    /// The trigger phrases of the record that stand in the question.
    pub fn triggers(&self) -> &'a [TriggerMatch] {
        &self.ranked.measured.triggers
    }

    /// The summands of its score.
    pub fn features(&self) -> impl Iterator<Item = Feature> + 'a {
        self.ranked.measured.features()
    }

    /// How it came to its score.
    pub fn explanation(&self) -> Explanation {
        self.ranked.measured.explanation(self.reasons)
    }
}

impl Ranking {
    /// The candidates, best first.
    pub fn hits(&self) -> impl Iterator<Item = Candidate<'_>> {
        self.ranked.iter().map(|ranked| Candidate { ranked, reasons: &self.reasons })
    }

    /// Whether the best candidate is good enough to be an answer.
    pub fn has_match(&self) -> bool {
        self.ranked.first().is_some_and(rank::is_answer)
    }
}

/// Ranks the records for a question, from one state of a store, and returns the best `n_hits`; one at least.
/// [`answer()`] needs as many as [`Request::n_ranked`] says.
///
/// Equal stores rank alike: the order is that of the score and then of the id, and the score depends on
/// the live records and the question alone.
///
/// # Errors
/// Errors of the store and its indexes.
pub fn rank(
    handles: Handles<'_>,
    query: &Query,
    filter: &Filter,
    n_hits: usize,
) -> Result<Ranking, RecallError> {
    let mut found = candidate::find(handles, query, filter)?;
    let (ranked, reasons) = rank::rank(handles, query, &mut found, n_hits)?;
    Ok(Ranking { ranked, reasons, n_matched: found.n_matched })
}

/// Answers a question from its ranking, disclosed under the budget of a request.
///
/// Equal stores answer in equal bytes. An answer without results means that nothing is above the
/// floor. `state_of` looks at the source of a shown record.
///
/// # Errors
/// [`RecallError::BudgetTooSmall`], and errors of the store.
pub fn answer(
    snapshot: &Snapshot,
    request: &Request,
    ranking: &Ranking,
    state_of: &dyn Fn(&Head) -> Result<SourceState, RecallError>,
) -> Result<Answer, RecallError> {
    let Ranking { ranked, reasons, n_matched } = ranking;
    let accepted = match request.floor {
        Floor::Ignore => true,
        Floor::Refuse => ranking.has_match(),
    };
    let mut answer = Answer {
        query: request.query.text().to_owned(),
        budget: request.budget,
        tokens_used: 0,
        total: *n_matched,
        results: Vec::new(),
        omitted: Omitted::default(),
    };
    if !accepted {
        return Ok(answer);
    }
    let wanted = wanted(snapshot, ranked, request)?;
    let tag = request.query.tag();
    let mut prices = Vec::with_capacity(wanted.len());
    for group in &wanted {
        let listed = group.copies.iter().take(MAX_COPIES);
        let labels = listed.map(|copy| copy.label).collect::<Vec<_>>();
        prices.push(request.format.price(&group.hit.head, &labels, tag));
    }
    let base = request.format.base_cost(&answer.query, tag);
    let Some(disclosure) = disclose(&prices, request.wish, base, request.budget) else {
        return match prices.first() {
            Some(first) => {
                Err(RecallError::too_small(request.budget, smallest(first, request.wish, base)))
            }
            None => Ok(answer),
        };
    };
    answer.tokens_used = disclosure.tokens;
    let n_grouped = wanted.iter().map(|group| 1 + group.copies.len() as u64).sum();
    answer.omitted.n_past_limit = n_matched.saturating_sub(n_grouped);
    for ((group, depth), rank) in wanted.iter().zip(&disclosure.depths).zip(1..) {
        let hit = group.hit;
        match depth {
            Depth::Nothing => answer.omitted.n_unlisted += 1,
            Depth::Name => answer.omitted.ids.push(hit.head.id.clone()),
            Depth::Cut { .. } | Depth::Whole(_) => {
                let state = state_of(&hit.head)?;
                answer.results.push(shown(snapshot, group, reasons, *depth, rank, state)?);
            }
        }
    }
    Ok(answer)
}

/// The hits that are wanted.
fn wanted<'a>(
    snapshot: &Snapshot,
    ranked: &'a [Ranked],
    request: &Request,
) -> Result<Vec<duplicate::Group<'a>>, RecallError> {
    let looked_at = ranked.get(..request.n_ranked()).unwrap_or(ranked);
    if request.collapses() {
        duplicate::group(snapshot, looked_at, request.n_records as usize)
    } else {
        Ok(looked_at.iter().map(duplicate::Group::alone).collect())
    }
}

/// Reads what is disclosed of a record, and nothing more.
fn shown(
    snapshot: &Snapshot,
    group: &duplicate::Group<'_>,
    reasons: &Reasons,
    depth: Depth,
    rank: u32,
    source: SourceState,
) -> Result<Hit, RecallError> {
    let Ranked { head, measured } = group.hit;
    let (tier, text) = match depth {
        Depth::Whole(Tier::Detail) => {
            let selection = match measured.why() {
                Why::Trigger => Selection::by_trigger(measured.key, head),
                Why::Words => Selection::by_lexical(measured.key, head),
            };
            let detail = snapshot.detail(&selection)?;
            (Tier::Detail, detail.map(|detail| detail.shown()).unwrap_or_default())
        }
        Depth::Whole(Tier::Summary) => (Tier::Summary, head.summary.text.clone()),
        Depth::Whole(_) => (Tier::Description, head.description.text.clone()),
        Depth::Cut { bytes } => (Tier::Description, cut(&head.description.text, bytes as usize)),
        Depth::Nothing | Depth::Name => (Tier::Description, String::new()),
    };
    Ok(Hit {
        rank,
        id: head.id.clone(),
        path: head.path.clone(),
        lines: head.span.lines,
        kind: head.kind,
        title: head.title.clone(),
        tier,
        complete: tier == Tier::Detail,
        score: measured.score,
        why: measured.why(),
        text,
        detail_tokens: head.cost(Tier::Detail).text,
        source,
        copies: group.copies.iter().take(MAX_COPIES).map(|copy| copy.id.clone()).collect(),
        n_more_copies: group.copies.len().saturating_sub(MAX_COPIES),
        explanation: measured.explanation(reasons),
    })
}

/// Returns the first words of a text that have at most `max_bytes` even as a JSON string, marked as
/// cut.
fn cut(text: &str, max_bytes: usize) -> String {
    let mut n_bytes = 0;
    let end = text.char_indices().find(|&(_, c)| {
        // Escaped, a control character has up to six bytes, a quote and a backslash two.
        n_bytes += if c.is_ascii_control() {
            6
        } else {
            c.len_utf8() + usize::from(matches!(c, '"' | '\\'))
        };
        n_bytes > max_bytes
    });
    let head = text.get(..end.map_or(text.len(), |(at, _)| at)).unwrap_or_default();
    let at_word = head.rfind(char::is_whitespace).and_then(|end| head.get(..end)).unwrap_or(head);
    format!("{} ...", at_word.trim_end())
}

/// The root of the tree that a store was made from: relative roots are relative to the store.
pub fn root_of(store: &Path, root: &str) -> std::path::PathBuf {
    store.join(root)
}

#[cfg(test)]
mod tests;

//! All records at all tiers, in one list: what baselines are made of and costs are counted from. Not
//! for answers, which read one detail at a time.

use crate::engine::{Engine, EngineError};
use crate::recall::Format;
use crate::record::{RecordId, Tier};
use crate::store::Selection;

/// A record with the text of all its tiers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// The id.
    pub id: RecordId,
    /// The file it comes from.
    pub path: String,
    /// The partition it belongs to; empty for none.
    pub scope: String,
    /// Its title.
    pub title: String,
    /// The phrases that select it.
    pub triggers: Vec<String>,
    /// Its description.
    pub description: String,
    /// Its summary.
    pub summary: String,
    /// Its detail as it is shown.
    pub detail: String,
    /// What the description costs, in tokens.
    pub description_tokens: u32,
    /// What the detail costs, in tokens.
    pub detail_tokens: u32,
    /// What the detail costs in a text answer, with the line above it.
    pub framed_detail_tokens: u32,
}

impl Engine {
    /// Returns every record with all of its tiers, by id.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn contents(&self) -> Result<Vec<Content>, EngineError> {
        let snapshot = self.store.snapshot()?;
        let mut contents = Vec::new();
        for row in snapshot.ids()? {
            let (id, key) = row?;
            let torn = || EngineError::Torn { id: id.clone() };
            let head = snapshot.head(key)?.ok_or_else(torn)?;
            let detail = snapshot.detail(&Selection::by_pick(key, &head))?.ok_or_else(torn)?;
            let price = Format::Text.price(&head, &[], "");
            let [.., framed] = price.tiers.map(|tokens| tokens.saturating_add(price.frame));
            contents.push(Content {
                framed_detail_tokens: framed,
                description_tokens: head.cost(Tier::Description).text,
                detail_tokens: head.cost(Tier::Detail).text,
                id: head.id,
                path: head.path,
                scope: head.scope,
                title: head.title,
                triggers: head.triggers.into_iter().map(|trigger| trigger.phrase).collect(),
                description: head.description.text,
                summary: head.summary.text,
                detail: detail.shown(),
            });
        }
        Ok(contents)
    }
}

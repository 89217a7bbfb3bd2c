//! How a record came to its score: collected by the stages themselves, never reconstructed.

/// The arithmetic behind one record of an answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Explanation {
    /// The trigger phrases of the record that stand in the query, longest first.
    pub triggers: Vec<TriggerMatch>,
    /// The words of the query that the record has, in the order of the query.
    pub terms: Vec<TermMatch>,
    /// What the query says in other words than the record.
    pub paraphrases: Vec<ParaphraseMatch>,
    /// The features of the final score, in the order in which they are summed.
    pub features: Vec<Feature>,
    /// The sum of `value * weight` over the features.
    pub score: f64,
}

/// A trigger phrase that stands in the query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriggerMatch {
    /// The phrase in the form in which it is looked up.
    pub phrase: String,
    /// `exact`, `prefix`, or `fuzzy` with the edit distance.
    pub how: String,
}

/// A word of the query that a record has.
#[derive(Debug, Clone, PartialEq)]
pub struct TermMatch {
    /// The word as it is indexed.
    pub term: String,
    /// What it is taken for, when no record has it as it stands; else empty.
    pub read_as: Vec<String>,
    /// In how many records it stands.
    pub n_records: u64,
    /// What it weighs: its inverse document frequency, less for a filler word.
    pub weight: f64,
    /// How often it stands in the trigger, title, breadcrumb, description, summary and detail.
    pub counts: [u32; 6],
}

/// Words of the query, and what the record says instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParaphraseMatch {
    /// The words of the query.
    pub asked: String,
    /// The words that the record has, as they are indexed.
    pub said: Vec<String>,
}

/// One summand of the final score.
#[derive(Debug, Clone, PartialEq)]
pub struct Feature {
    /// What it measures.
    pub name: &'static str,
    /// How much of it the record has.
    pub value: f64,
    /// What it counts for.
    pub weight: f64,
}

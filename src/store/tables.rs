//! Every table of the store. `schema/store.md` describes the bytes of each.

use redb::{Key, TableDefinition, Value};

/// Single facts, by name: see [`meta`].
pub(super) const META: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("meta");
/// Path to what is known of the file.
pub(super) const FILES: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("files");
/// Record id to record key.
pub(super) const IDS: TableDefinition<'_, &str, u64> = TableDefinition::new("ids");
/// Record key to all of a record but its detail.
pub(super) const HEADS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("heads");
/// Record key to its detail.
pub(super) const DETAILS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("details");
/// Record key to its analysed fields.
pub(super) const FORWARDS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("forwards");
/// Normalised trigger phrase with the key of a record that it selects, to nothing.
pub(super) const PHRASES: TableDefinition<'_, (&str, u64), ()> = TableDefinition::new("phrases");
/// Record key to its normalised phrases: the other direction, for taking them back.
pub(super) const SPOKEN: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("spoken");
/// Name to the bytes of a trigger automaton.
pub(super) const AUTOMATA: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("automata");
/// Fingerprint of a word to how many character 4-grams it has: the vocabulary, which only grows.
pub(super) const WORDS: TableDefinition<'_, u32, u32> = TableDefinition::new("words");
/// Fingerprint of a word to its number in forward rows.
pub(super) const NUMBERS: TableDefinition<'_, u32, u32> = TableDefinition::new("numbers");
/// Block of numbers to the fingerprints of the words that have them: the other direction.
pub(super) const PRINTS: TableDefinition<'_, u32, &[u8]> = TableDefinition::new("prints");
/// Fingerprint of a character 4-gram to the words of the vocabulary that have it.
pub(super) const GRAMS: TableDefinition<'_, u32, &[u8]> = TableDefinition::new("grams");
/// Path to the links of the file: targets and words in turn.
pub(super) const LINKS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("links");
/// Path to what the file is called by links: anchors and words in turn.
pub(super) const CALLS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("calls");
/// Path of what the last index run passed over to why.
pub(super) const SKIPPED: TableDefinition<'_, &str, &str> = TableDefinition::new("skipped");

/// The names of all tables, in alphabetical order.
pub const NAMES: [&str; 16] = [
    "automata", "calls", "details", "files", "forwards", "grams", "heads", "ids", "links", "meta",
    "numbers", "phrases", "prints", "skipped", "spoken", "words",
];

/// Something that is done with every table, whatever it holds.
pub(super) trait ForEach {
    /// Does it with one.
    fn table<K: Key + 'static, V: Value + 'static>(
        &mut self,
        table: TableDefinition<'static, K, V>,
    ) -> Result<(), redb::Error>;
}

/// Does something with every table of a store, in the order of [`NAMES`].
pub(super) fn for_each(step: &mut impl ForEach) -> Result<(), redb::Error> {
    step.table(AUTOMATA)?;
    step.table(CALLS)?;
    step.table(DETAILS)?;
    step.table(FILES)?;
    step.table(FORWARDS)?;
    step.table(GRAMS)?;
    step.table(HEADS)?;
    step.table(IDS)?;
    step.table(LINKS)?;
    step.table(META)?;
    step.table(NUMBERS)?;
    step.table(PHRASES)?;
    step.table(PRINTS)?;
    step.table(SKIPPED)?;
    step.table(SPOKEN)?;
    step.table(WORDS)
}

/// The keys of the table `meta`.
pub(super) mod meta {
    /// Format of the store, `u32` little endian.
    pub(in crate::store) const FORMAT: &str = "format";
    /// Counts the commits that changed something, `u64` little endian.
    pub(in crate::store) const GENERATION: &str = "generation";
    /// What the content depends on beside the tree: versions and options, text.
    pub(in crate::store) const FINGERPRINT: &str = "fingerprint";
    /// The root of the tree, text.
    pub(in crate::store) const ROOT: &str = "root";
    /// Exact live sums, one row of the codec.
    pub(in crate::store) const TOTALS: &str = "totals";
    /// The next record key, `u64` little endian.
    pub(in crate::store) const NEXT_KEY: &str = "next_key";
    /// `meta.json` of the lexical index.
    pub(in crate::store) const LEXICAL: &str = "lexical";
    /// `meta.json` of the lexical index before the last commit, for readers that are still there.
    pub(in crate::store) const LEXICAL_BEFORE: &str = "lexical_before";
    /// When a tree was last indexed, nanoseconds since 1970, `u128` little endian.
    pub(in crate::store) const INDEXED_AT: &str = "indexed_at";

    /// All keys, in alphabetical order.
    pub const NAMES: [&str; 9] = [
        FINGERPRINT,
        FORMAT,
        GENERATION,
        INDEXED_AT,
        LEXICAL,
        LEXICAL_BEFORE,
        NEXT_KEY,
        ROOT,
        TOTALS,
    ];
}

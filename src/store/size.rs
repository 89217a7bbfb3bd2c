//! How much room each table takes in the file.

use redb::{ReadableTableMetadata, TableStats};

/// The room that a table takes in the file of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableSize {
    /// The name, as in `schema/store.md`.
    pub name: &'static str,
    /// Rows; in a table of several values a key, these.
    pub n_rows: u64,
    /// Bytes of keys and values.
    pub stored_bytes: u64,
    /// Bytes of the pages around them: where rows stand, keys between pages, and what is unused.
    pub overhead_bytes: u64,
}

impl TableSize {
    pub(super) fn of(
        name: &'static str,
        table: &impl ReadableTableMetadata,
    ) -> Result<Self, redb::StorageError> {
        let stats: TableStats = table.stats()?;
        Ok(Self {
            name,
            n_rows: table.len()?,
            stored_bytes: stats.stored_bytes(),
            overhead_bytes: stats.metadata_bytes() + stats.fragmented_bytes(),
        })
    }
}

//! Which part of a store a question is asked of. Applied inside the search, never after a cut.

use std::collections::BTreeSet;

use globset::{GlobBuilder, GlobMatcher};

use crate::bm25::DocInfo;
use crate::recall::RecallError;
use crate::record::Kind;
use crate::store::{Head, Snapshot};
use crate::text;

/// Which part of a store a question is asked of; everything by default.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    path: Option<GlobMatcher>,
    kind: Option<Kind>,
    scope: Option<String>,
}

impl PartialEq for Filter {
    fn eq(&self, other: &Self) -> bool {
        let glob =
            |filter: &Self| filter.path.as_ref().map(|matcher| matcher.glob().glob().to_owned());
        (glob(self), self.kind, &self.scope) == (glob(other), other.kind, &other.scope)
    }
}

impl Filter {
    /// Keeps records of files whose path matches a pattern, such as `docs/**` or `*.md`. A `*` does not
    /// match a `/`, but a pattern without any `/` is matched against the name of the file.
    ///
    /// # Errors
    /// [`RecallError::Pattern`] when the pattern cannot be read.
    pub fn path(mut self, pattern: &str) -> Result<Self, RecallError> {
        let anywhere =
            if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
        let glob =
            GlobBuilder::new(&anywhere).literal_separator(true).build().map_err(|source| {
                RecallError::Pattern { pattern: pattern.to_owned(), source: Box::new(source) }
            })?;
        self.path = Some(glob.compile_matcher());
        Ok(self)
    }

    /// Keeps records of one kind.
    #[must_use]
    pub fn kind(mut self, kind: Kind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Keeps rows of one scope.
    #[must_use]
    pub fn scope(mut self, scope: &str) -> Self {
        self.scope = Some(scope.to_owned());
        self
    }

    /// Whether the part is the whole.
    pub(crate) fn accepts_all(&self) -> bool {
        self.path.is_none() && self.kind.is_none() && self.scope.is_none()
    }

    /// Whether a record is in the part.
    pub fn accepts(&self, head: &Head) -> bool {
        self.path.as_ref().is_none_or(|glob| glob.is_match(&head.path))
            && self.kind.is_none_or(|kind| kind == head.kind)
            && self.scope.as_ref().is_none_or(|scope| *scope == head.scope)
    }

    /// Returns the same decision on what the lexical index knows of a record.
    ///
    /// # Errors
    /// Errors of the store, whose paths are matched once.
    pub(crate) fn prepare(
        &self,
        snapshot: &Snapshot,
    ) -> Result<impl Fn(DocInfo) -> bool, RecallError> {
        let files = match &self.path {
            None => None,
            Some(glob) => {
                let mut files = BTreeSet::new();
                for path in snapshot.paths()? {
                    let path = path?;
                    if glob.is_match(&path) {
                        files.insert(text::number(&path));
                    }
                }
                Some(files)
            }
        };
        let kind = self.kind.map(|kind| kind as u64);
        let scope = self.scope.as_deref().map(text::number);
        Ok(move |doc: DocInfo| {
            files.as_ref().is_none_or(|files| files.contains(&doc.file))
                && kind.is_none_or(|kind| kind == doc.kind)
                && scope.is_none_or(|scope| scope == doc.scope)
        })
    }
}

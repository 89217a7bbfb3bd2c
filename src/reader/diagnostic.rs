//! What a reader has to say about a file: plain data, rendered by whoever shows it.

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The content was read, perhaps not as it was meant.
    Warning,
    /// A piece of the content could not be read and is missing.
    Error,
}

/// A remark on a place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file.
    pub path: String,
    /// The line, counted from 1.
    pub line: u32,
    /// The column in characters, counted from 1.
    pub column: u32,
    /// How bad it is.
    pub severity: Severity,
    /// What is the case; lower case, no full stop.
    pub message: String,
    /// What would make it right, empty if nothing is known.
    pub help: String,
}

impl Diagnostic {
    /// A remark on content that was read all the same.
    pub(super) fn warning(path: &str, line: u32, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            column: 1,
            severity: Severity::Warning,
            message: message.into(),
            help: String::new(),
        }
    }

    /// A remark on content that is missing from the records.
    pub(super) fn error(path: &str, line: u32, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, ..Self::warning(path, line, message) }
    }

    /// The same with a column.
    pub(super) fn at_column(self, column: u32) -> Self {
        Self { column: column.max(1), ..self }
    }

    /// The same with a way out.
    pub(super) fn help(self, help: impl Into<String>) -> Self {
        Self { help: help.into(), ..self }
    }
}

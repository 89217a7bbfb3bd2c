//! Putting texts together.

use std::fmt;

/// Appends to a text.
pub(super) fn push(text: &mut String, more: fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = fmt::Write::write_fmt(text, more);
}

/// The text as one line, with single spaces.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

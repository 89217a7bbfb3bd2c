//! What an occurrence of a name is: a call, a definition, a word in a comment. By syntax alone: two
//! functions of one name are one name.

use crate::reader::format::{Format, format_of};

/// What a name is, where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Usage {
    /// It is called, also as a method, by a path, or within the arguments of a macro.
    Call,
    /// It is defined or declared.
    Definition,
    /// It is imported or exported.
    Import,
    /// It stands in a comment.
    Comment,
    /// It stands in a string, or in a file of prose.
    Text,
    /// It is named without being called: a value, a type, an attribute, a macro.
    Mention,
    /// The syntax does not tell: the file is in no known language, does not parse there, or the
    /// language leaves it open.
    Unclear,
}

/// Tells what the name that begins at each of these bytes of a file is. The name is the same
/// everywhere, and `offsets` come from a search, so each is a place where it stands.
///
/// One parse for a file; a file longer than 2 MiB, or not in UTF-8, is [`Usage::Unclear`] throughout.
pub fn usages(path: &str, bytes: &[u8], name: &str, offsets: &[usize]) -> Vec<Usage> {
    let unclear = || vec![Usage::Unclear; offsets.len()];
    let syntax = match format_of(path) {
        Some(Format::Code(syntax)) => syntax,
        // Code may be in them, in a form that we do not read.
        Some(Format::Text | Format::Html | Format::Notebook) | None => return unclear(),
        // Prose and rows call nothing.
        Some(_) => return vec![Usage::Text; offsets.len()],
    };
    match std::str::from_utf8(bytes) {
        Ok(text) if text.len() <= super::MAX_BYTES => {
            of_syntax(syntax, text, name, offsets).unwrap_or_else(unclear)
        }
        _ => unclear(),
    }
}

#[cfg(feature = "code")]
fn of_syntax(
    syntax: super::Syntax,
    text: &str,
    name: &str,
    offsets: &[usize],
) -> Option<Vec<Usage>> {
    super::call::usages(syntax, text, name, offsets)
}

#[cfg(not(feature = "code"))]
fn of_syntax(_: super::Syntax, _: &str, _: &str, _: &[usize]) -> Option<Vec<Usage>> {
    None
}

//! The one definition of "word", of "same word" and of "token count". Knows no record and no storage.

mod language;
mod token;
mod word;

pub use language::Language;
pub use token::{count, count_json, count_line, cut_to_tokens};
pub use word::{Form, Word, fingerprint, fold, phrase, terms, words};

#[cfg(test)]
mod tests;

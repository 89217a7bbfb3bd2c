//! The one definition of "word", of "same word" and of "token count". Knows no record and no storage.

mod language;
mod token;
mod word;

pub use language::Language;
pub use token::{count, count_block, count_json, count_word, cut_to_tokens, head};
pub(crate) use word::is_unspaced;
pub use word::{Form, Word, fingerprint, fold, form_print, grams, number, phrase, terms, words};

#[cfg(test)]
mod tests;

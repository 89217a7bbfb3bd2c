//! What a record becomes in the store: its rows and its words. Pure.

use std::collections::BTreeSet;

use crate::record::{self, Origin, Record, Trigger};
use crate::store::{Detail, Forward, Head, NewRecord, NewWord};
use crate::text::{self, Language};

/// The version of the analysis; raised when the same record would become other rows or words.
pub(crate) const VERSION: u32 = 2;

/// The most words of a record that are ranked by. What stands further down is found by no query; a
/// reader splits records long before.
const MAX_DETAIL_TERMS: usize = 20_000;

/// The most bytes of a record that words are looked for in, which bounds the memory for a line of any length: text
/// has [`MAX_DETAIL_TERMS`] words in far fewer.
const MAX_ANALYSED_BYTES: usize = 1 << 20;

/// Returns the rows of a record.
pub(crate) fn stored(record: &Record) -> NewRecord {
    let language = record.language;
    let indexed = record.indexed();
    let indexed = text::head(&indexed, MAX_ANALYSED_BYTES);
    let mut texts: Vec<&str> =
        vec![&record.title, &record.description.text, &record.summary.text, indexed];
    texts.extend(record.breadcrumb.iter().map(String::as_str));
    texts.extend(record.triggers.iter().map(|trigger| trigger.phrase.as_str()));
    let mut detail = prints(indexed, language);
    detail.truncate(MAX_DETAIL_TERMS);
    NewRecord {
        head: Head::of(record),
        detail: Detail::of(record),
        forward: Forward {
            triggers: record.triggers.iter().map(|t| prints(&t.phrase, language)).collect(),
            title: prints(&record.title, language),
            breadcrumb: record
                .breadcrumb
                .iter()
                .flat_map(|title| prints(title, language))
                .collect(),
            description: prints(&record.description.text, language),
            summary: prints(&record.summary.text, language),
            detail,
            forms: forms(&texts),
        },
        phrases: phrases(&record.triggers),
    }
}

/// Returns the phrases under which triggers are looked up, sorted and without repeats.
pub(crate) fn phrases(triggers: &[Trigger]) -> Vec<String> {
    let mut phrases: Vec<String> =
        triggers.iter().map(|trigger| text::phrase(&trigger.phrase)).collect();
    phrases.retain(|phrase| !phrase.is_empty());
    phrases.sort();
    phrases.dedup();
    phrases
}

/// Returns the words under which the lexical index finds a record: those of every tier and of its
/// place. What was derived is a copy of the detail and is not counted again.
pub(crate) fn indexed_terms(head: &Head, detail: &Detail) -> Vec<String> {
    let mut texts: Vec<&str> = vec![&head.title];
    texts.extend(head.breadcrumb.iter().map(String::as_str));
    texts.extend(head.triggers.iter().map(|trigger| trigger.phrase.as_str()));
    texts.extend(
        [&head.description, &head.summary]
            .into_iter()
            .filter(|tier| tier.origin != Origin::Derived)
            .map(|tier| tier.text.as_str()),
    );
    let mut terms: Vec<String> =
        texts.into_iter().flat_map(|text| text::terms(text, head.language)).collect();
    let mut detail = text::terms(
        text::head(&record::indexed(detail.shown()), MAX_ANALYSED_BYTES),
        head.language,
    );
    detail.truncate(MAX_DETAIL_TERMS);
    terms.append(&mut detail);
    terms
}

/// Returns the words among these terms that can be similar to others, for the vocabulary.
pub(crate) fn words(terms: &[String]) -> Vec<NewWord> {
    let distinct: BTreeSet<&str> = terms.iter().map(String::as_str).collect();
    distinct
        .into_iter()
        .map(|term| NewWord { print: text::fingerprint(term), grams: text::grams(term) })
        .filter(|word| !word.grams.is_empty())
        .collect()
}

fn forms(texts: &[&str]) -> Vec<u16> {
    let forms: BTreeSet<u16> = texts
        .iter()
        .flat_map(|text| text::words(text))
        .filter(|word| word.form == text::Form::Plain)
        .map(|word| text::form_print(&word.text))
        .collect();
    forms.into_iter().collect()
}

fn prints(text: &str, language: Language) -> Vec<u32> {
    text::terms(text, language).iter().map(|term| text::fingerprint(term)).collect()
}

//! The fields of the index, and how terms pass through tantivy unaltered.

use std::borrow::Cow;

use tantivy::Term;
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use crate::bm25::Document;

/// The name of [`Splitter`] in the schema. An index with another name is of another format.
pub(super) const TOKENIZER: &str = "psos_terms_1";
/// tantivy drops terms that are longer than this, in bytes; ours are cut.
const MAX_TERM_BYTES: usize = 65_530;
/// Stands between the terms of a document.
const SEPARATOR: char = '\u{1f}';
/// Stands before what stands for one of the two special characters in a term.
const ESCAPE: char = '\u{1e}';

/// The fields. All are of fixed order, so their numbers are the same in every index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
    pub(super) key: Field,
    file: Field,
    kind: Field,
    scope: Field,
    len: Field,
    pub(super) all: Field,
}

/// The names of the columns, as tantivy asks for them.
pub(super) const KEY: &str = "key";
pub(super) const FILE: &str = "file";
pub(super) const KIND: &str = "kind";
pub(super) const SCOPE: &str = "scope";
pub(super) const LEN: &str = "len";

/// Returns the schema and its fields.
pub(super) fn schema() -> (Schema, Fields) {
    // Term counts, no positions; no rounded lengths, since `len` has the exact ones.
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(TOKENIZER)
        .set_index_option(IndexRecordOption::WithFreqs)
        .set_fieldnorms(false);
    let mut builder = Schema::builder();
    let fields = Fields {
        key: builder.add_u64_field(KEY, INDEXED | FAST),
        file: builder.add_u64_field(FILE, FAST),
        kind: builder.add_u64_field(KIND, FAST),
        scope: builder.add_u64_field(SCOPE, FAST),
        len: builder.add_u64_field(LEN, FAST),
        all: builder.add_text_field("all", TextOptions::default().set_indexing_options(indexing)),
    };
    (builder.build(), fields)
}

impl Fields {
    /// The document as tantivy takes it.
    pub(super) fn document(self, document: &Document<'_>) -> tantivy::TantivyDocument {
        let terms = document.terms.iter().filter(|term| !term.is_empty());
        let mut all = String::new();
        let mut len = 0_u64;
        for term in terms {
            if len > 0 {
                all.push(SEPARATOR);
            }
            all.push_str(&wire(term));
            len += 1;
        }
        let mut indexed = tantivy::TantivyDocument::new();
        indexed.add_u64(self.key, document.key);
        indexed.add_u64(self.file, document.file);
        indexed.add_u64(self.kind, document.kind);
        indexed.add_u64(self.scope, document.scope);
        indexed.add_u64(self.len, len);
        indexed.add_text(self.all, all);
        indexed
    }

    /// The term under which the index has a term of a query.
    pub(super) fn term(self, term: &str) -> Term {
        Term::from_field_text(self.all, &wire(term))
    }

    /// The term under which the index has a document.
    pub(super) fn key_term(self, key: u64) -> Term {
        Term::from_field_u64(self.key, key)
    }
}

/// Returns a term as the index has it: free of separators, and not too long for tantivy.
///
/// Different terms stay different, unless they differ only behind their first 65,530 bytes.
pub(super) fn wire(term: &str) -> Cow<'_, str> {
    let mut wire = Cow::Borrowed(term);
    if term.contains([SEPARATOR, ESCAPE]) {
        let mut escaped = String::with_capacity(term.len() + 8);
        for c in term.chars() {
            match c {
                SEPARATOR => escaped.extend([ESCAPE, 's']),
                ESCAPE => escaped.extend([ESCAPE, 'e']),
                c => escaped.push(c),
            }
        }
        wire = Cow::Owned(escaped);
    }
    if wire.len() <= MAX_TERM_BYTES {
        return wire;
    }
    let end = wire.floor_char_boundary(MAX_TERM_BYTES);
    wire.to_mut().truncate(end);
    wire
}

/// Whether these bytes of the index are longer than the term that they stand for.
pub(super) fn is_escaped(wire: &[u8]) -> bool {
    u8::try_from(ESCAPE).is_ok_and(|escape| wire.contains(&escape))
}

/// Returns the term that the index has under these bytes; nothing when they cannot be one.
pub(super) fn unwire(wire: &[u8]) -> Option<Cow<'_, str>> {
    let text = std::str::from_utf8(wire).ok()?;
    if !is_escaped(wire) {
        return Some(Cow::Borrowed(text));
    }
    let mut term = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        term.push(match c {
            ESCAPE => match chars.next()? {
                's' => SEPARATOR,
                _ => ESCAPE,
            },
            c => c,
        });
    }
    Some(Cow::Owned(term))
}

/// Takes a text of terms apart at the separators, and does nothing else.
#[derive(Debug, Clone, Default)]
pub(super) struct Splitter {
    token: Token,
}

/// The terms of one text.
#[derive(Debug)]
pub(super) struct Terms<'a> {
    rest: Option<&'a str>,
    offset: usize,
    token: &'a mut Token,
}

impl Tokenizer for Splitter {
    type TokenStream<'a> = Terms<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Terms<'a> {
        self.token.reset();
        let rest = (!text.is_empty()).then_some(text);
        Terms { rest, offset: 0, token: &mut self.token }
    }
}

impl TokenStream for Terms<'_> {
    fn advance(&mut self) -> bool {
        let Some(rest) = self.rest else { return false };
        let (term, rest) = match rest.split_once(SEPARATOR) {
            Some((term, rest)) => (term, Some(rest)),
            None => (rest, None),
        };
        self.rest = rest;
        self.token.text.clear();
        self.token.text.push_str(term);
        self.token.offset_from = self.offset;
        self.token.offset_to = self.offset + term.len();
        self.token.position = self.token.position.wrapping_add(1);
        self.offset = self.token.offset_to + SEPARATOR.len_utf8();
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

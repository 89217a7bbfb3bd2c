//! What the store keeps of a record and of a file, as plain values.

use std::ops::Range;
use std::time::Duration;

use crate::record::{Hash, Kind, Origin, Record, RecordId, Span, Tier, TierText, Trigger};
use crate::text::Language;

/// The number of a record inside one store. Given out once, never again, and never part of an
/// answer: two stores of one tree may number its records differently.
///
/// As long as a key exists, its detail, forward row and phrases stay as they are; only where the
/// record stands in its file may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordKey(pub u64);

/// What a text costs in an answer, in tokens of `o200k_base`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// In text and Markdown: [`crate::text::count_block`] for a tier, [`crate::text::count_word`] for an id.
    pub text: u32,
    /// As JSON strings: [`crate::text::count_json`].
    pub json: u32,
}

impl Cost {
    /// Counts the text of a tier. Costs time in proportion to it; the first call in a process
    /// about 60 ms.
    pub fn of_tier(text: &str) -> Self {
        Self { text: crate::text::count_block(text), json: crate::text::count_json(text) }
    }

    /// Counts what names a record: its id, and in JSON its path beside it.
    pub fn of_label(id: &RecordId, path: &str) -> Self {
        let json = crate::text::count_json(id.as_str()) + crate::text::count_json(path);
        Self { text: crate::text::count_word(id.as_str()), json }
    }
}

/// All of a record but its detail: what ranks it, names it and shows it at a cheap tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The name of the record.
    pub id: RecordId,
    /// The file it comes from.
    pub path: String,
    /// What it is a piece of.
    pub kind: Kind,
    /// Its own heading or name.
    pub title: String,
    /// The titles of its ancestors, outermost first.
    pub breadcrumb: Vec<String>,
    /// The partition that it belongs to; empty for none.
    pub scope: String,
    /// Where it stands in its file.
    pub span: Span,
    /// The language that its words are stemmed in.
    pub language: Language,
    /// The hash of [`Detail::exact`].
    pub hash: Hash,
    /// The phrases that select it.
    pub triggers: Vec<Trigger>,
    /// One line on it.
    pub description: TierText,
    /// One paragraph on it.
    pub summary: TierText,
    /// The records nested directly in it.
    pub children: Vec<RecordId>,
    /// What description, summary and shown detail cost, in this order.
    pub costs: [Cost; 3],
    /// What id and path cost.
    pub label: Cost,
}

impl Head {
    /// Takes the head of a record, and counts what its tiers cost.
    pub fn of(record: &Record) -> Self {
        Self {
            id: record.id.clone(),
            path: record.path.clone(),
            kind: record.kind,
            title: record.title.clone(),
            breadcrumb: record.breadcrumb.clone(),
            scope: record.scope.clone(),
            span: record.span.clone(),
            language: record.language,
            hash: Hash::of(Detail::of(record).exact.as_bytes()),
            triggers: record.triggers.clone(),
            description: record.description.clone(),
            summary: record.summary.clone(),
            children: record.children.clone(),
            costs: [
                Cost::of_tier(&record.description.text),
                Cost::of_tier(&record.summary.text),
                Cost::of_tier(&record.shown()),
            ],
            label: Cost::of_label(&record.id, &record.path),
        }
    }

    /// Whether it is what stands in a file before its first section.
    pub fn leads(&self) -> bool {
        self.breadcrumb.is_empty() && !self.children.is_empty()
    }

    /// What a tier costs; nothing for triggers, which are never shown.
    pub fn cost(&self, tier: Tier) -> Cost {
        let [description, summary, detail] = self.costs;
        match tier {
            Tier::Trigger => Cost::default(),
            Tier::Description => description,
            Tier::Summary => summary,
            Tier::Detail => detail,
        }
    }

    /// Whether two heads differ at most in where the record stands and what is nested in it.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        let placed =
            Self { span: self.span.clone(), children: self.children.clone(), ..other.clone() };
        *self == placed
    }
}

/// The deepest tier of a record. Only [`super::Snapshot::detail`] gives one out, for a
/// [`super::Selection`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detail {
    /// The exact text of the record's span; of a row, the text of its fields.
    pub exact: String,
    /// Byte ranges of `exact` that are not shown.
    pub hidden: Vec<Range<u32>>,
}

impl Detail {
    /// Takes the detail of a record: of a row, whose line is not meant to be read as it stands, the text that is
    /// shown for it.
    pub fn of(record: &Record) -> Self {
        if let Some(body) = &record.body {
            return Self { exact: body.clone(), hidden: Vec::new() };
        }
        let narrow = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self {
            exact: record.detail.clone(),
            hidden: record.hidden.iter().map(|r| narrow(r.start)..narrow(r.end)).collect(),
        }
    }

    /// The text as it is shown: without its hidden ranges, exactly as [`Record::shown`] has it.
    pub fn shown(&self) -> String {
        let hidden = self.hidden.iter().map(|range| range.start as usize..range.end as usize);
        crate::record::without_hidden(&self.exact, hidden)
    }
}

/// The analysed fields of a record: fingerprints of its terms in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Forward {
    /// One list for each trigger phrase.
    pub triggers: Vec<Vec<u32>>,
    /// The title.
    pub title: Vec<u32>,
    /// The breadcrumb.
    pub breadcrumb: Vec<u32>,
    /// The description.
    pub description: Vec<u32>,
    /// The summary.
    pub summary: Vec<u32>,
    /// The shown detail.
    pub detail: Vec<u32>,
    /// Fingerprints of the words of all fields as they stand there, before stemming, in 16 bits:
    /// sorted, without repeats.
    pub forms: Vec<u16>,
}

impl Forward {
    /// How many terms each field has, in the order of [`Field::ALL`].
    pub fn lengths(&self) -> [u64; 6] {
        let n = |terms: &Vec<u32>| terms.len() as u64;
        [
            self.triggers.iter().map(n).sum(),
            n(&self.title),
            n(&self.breadcrumb),
            n(&self.description),
            n(&self.summary),
            n(&self.detail),
        ]
    }
}

/// The fields that are ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// The trigger phrases.
    Triggers,
    /// The title.
    Title,
    /// The titles of the ancestors.
    Breadcrumb,
    /// The description.
    Description,
    /// The summary.
    Summary,
    /// The shown detail.
    Detail,
}

impl Field {
    /// All fields, in the order of [`Totals::field_terms`].
    pub const ALL: [Self; 6] = [
        Self::Triggers,
        Self::Title,
        Self::Breadcrumb,
        Self::Description,
        Self::Summary,
        Self::Detail,
    ];
}

/// What tells a changed file from an unchanged one without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change, nanoseconds since 1970; none where the file system has no such
    /// time, or where it cannot be trusted.
    pub mtime_nanos: Option<i128>,
    /// The hash of the bytes.
    pub hash: Hash,
}

/// What a reader had to say about a file, as plain values.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    /// The file, or its sidecar.
    pub path: String,
    /// Line, counted from 1; 0 for the whole file.
    pub line: u32,
    /// Column, counted from 1; 0 for the whole line.
    pub column: u32,
    /// What is wrong.
    pub message: String,
    /// What to do about it; empty when there is nothing to say.
    pub help: String,
    /// How bad it is; the reader's own number.
    pub severity: u8,
}

/// What the store knows of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRow {
    /// The path, relative to the root of the tree.
    pub path: String,
    /// The file itself.
    pub stamp: Stamp,
    /// Its sidecar, if it has one.
    pub sidecar: Option<Stamp>,
    /// The version of the reader that read it.
    pub reader_version: u32,
    /// The records in the order of the file. The store fills them in; what the caller puts here
    /// is not looked at.
    pub keys: Vec<RecordKey>,
    /// What the reader had to say.
    pub notes: Vec<Note>,
    /// When it was read.
    pub indexed_at: Duration,
    /// Whether another file has a record whose id is also one of this file's, so that this one may come back
    /// without the file having changed. The store fills it in, as it does the keys.
    pub contested: bool,
}

impl FileRow {
    /// Whether two rows differ at most in times and keys, which say nothing about content.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        let content = |stamp: &Stamp| (stamp.size, stamp.hash);
        self.path == other.path
            && content(&self.stamp) == content(&other.stamp)
            && self.sidecar.as_ref().map(content) == other.sidecar.as_ref().map(content)
            && self.reader_version == other.reader_version
            && self.notes == other.notes
    }
}

/// A record on its way into the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRecord {
    /// All but the detail.
    pub head: Head,
    /// The detail.
    pub detail: Detail,
    /// The analysed fields.
    pub forward: Forward,
    /// The normalised trigger phrases. Order and repetition do not matter; empty ones are left out.
    pub phrases: Vec<String>,
}

/// A word on its way into the vocabulary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewWord {
    /// Its fingerprint, as it stands in [`Forward`].
    pub print: u32,
    /// The fingerprints of its character 4-grams, without repeats.
    pub grams: Vec<u32>,
}

/// A word of the vocabulary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WordPrint {
    /// Its fingerprint.
    pub print: u32,
    /// How many character 4-grams it has; 255 for more.
    pub n_grams: u8,
}

/// Exact sums over the live records. Ranking takes its statistics from here, so deleted records
/// never count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Records.
    pub n_records: u64,
    /// Files.
    pub n_files: u64,
    /// Terms of each field, in the order of [`Field::ALL`].
    pub field_terms: [u64; 6],
    /// Records of each kind, in the order of [`Kind::ALL`].
    pub by_kind: [u64; 5],
    /// Trigger phrases, descriptions and summaries, each by origin in the order of [`Origin::ALL`].
    pub by_origin: [[u64; 3]; 3],
    /// Records in each language, in the order of [`Language::ALL`].
    pub by_language: [u64; 19],
    /// Bytes of the exact details.
    pub detail_bytes: u64,
    /// Tokens of the shown details, as text.
    pub detail_tokens: u64,
}

impl Totals {
    /// Terms of a field.
    pub fn terms(&self, field: Field) -> u64 {
        Field::ALL.iter().zip(self.field_terms).find(|(f, _)| **f == field).map_or(0, |(_, n)| n)
    }

    /// Terms of all fields.
    pub fn all_terms(&self) -> u64 {
        self.field_terms.iter().sum()
    }

    /// Records of a kind.
    pub fn of_kind(&self, kind: Kind) -> u64 {
        Kind::ALL.iter().zip(self.by_kind).find(|(k, _)| **k == kind).map_or(0, |(_, n)| n)
    }

    /// Trigger phrases, descriptions or summaries of an origin; nothing for the detail, which is
    /// always the file's own.
    pub fn of_origin(&self, tier: Tier, origin: Origin) -> u64 {
        let origins = Tier::ALL.iter().zip(self.by_origin).find(|(t, _)| **t == tier);
        let Some((_, origins)) = origins else { return 0 };
        Origin::ALL.iter().zip(origins).find(|(o, _)| **o == origin).map_or(0, |(_, n)| n)
    }

    /// Records in a language.
    pub fn of_language(&self, language: Language) -> u64 {
        let of = Language::ALL.iter().zip(self.by_language).find(|(l, _)| **l == language);
        of.map_or(0, |(_, n)| n)
    }

    /// Counts a record in, whose fields have so many terms: see [`Forward::lengths`].
    pub(super) fn add(&mut self, head: &Head, lengths: [u64; 6], detail_bytes: usize) {
        self.count(head, lengths, detail_bytes, u64::wrapping_add);
    }

    /// Counts a record out.
    pub(super) fn remove(&mut self, head: &Head, lengths: [u64; 6], detail_bytes: usize) {
        // Sums are exact, so what is taken was given before; `verify` recomputes them all.
        self.count(head, lengths, detail_bytes, u64::wrapping_sub);
    }

    fn count(
        &mut self,
        head: &Head,
        lengths: [u64; 6],
        detail_bytes: usize,
        step: fn(u64, u64) -> u64,
    ) {
        let one = |sum: &mut u64, n: u64| *sum = step(*sum, n);
        one(&mut self.n_records, 1);
        for (sum, n) in self.field_terms.iter_mut().zip(lengths) {
            one(sum, n);
        }
        for (sum, kind) in self.by_kind.iter_mut().zip(Kind::ALL) {
            one(sum, u64::from(kind == head.kind));
        }
        for (sum, language) in self.by_language.iter_mut().zip(Language::ALL) {
            one(sum, u64::from(language == head.language));
        }
        let [triggers, descriptions, summaries] = &mut self.by_origin;
        for (sum, origin) in triggers.iter_mut().zip(Origin::ALL) {
            one(sum, head.triggers.iter().filter(|t| t.origin == origin).count() as u64);
        }
        for (sum, origin) in descriptions.iter_mut().zip(Origin::ALL) {
            one(sum, u64::from(head.description.origin == origin));
        }
        for (sum, origin) in summaries.iter_mut().zip(Origin::ALL) {
            one(sum, u64::from(head.summary.origin == origin));
        }
        one(&mut self.detail_bytes, detail_bytes as u64);
        one(&mut self.detail_tokens, u64::from(head.cost(Tier::Detail).text));
    }
}

//! The bytes of every row. Each begins with a version; nothing else in the crate knows them.
//!
//! Heads, files and totals are bincode (standard configuration) of the private structs below, whose
//! fields are the format: their order and types may only change together with a version. Details
//! and forward rows are written by hand: a detail is mostly text, and a forward row is read a few
//! hundred times for one query.

use std::ops::Range;
use std::time::Duration;

use bincode::{Decode, Encode};

use crate::record::{Hash, Kind, Lines, Origin, RecordId, Span, TierText, Trigger};
use crate::store::error::StoreError;
use crate::store::pack::{pack, unpack};
use crate::store::row::{
    Cost, Detail, FileRow, Forward, Head, Note, RecordKey, Stamp, Totals, WordPrint,
};
use crate::store::terms;
use crate::text::Language;

/// The version of a row, unless it has its own.
const VERSION: u8 = 1;
/// The version of a file's row.
const FILE_VERSION: u8 = 2;
/// The version of a head as it is packed.
const HEAD_VERSION: u8 = 3;
/// The version of a detail's row.
const DETAIL_VERSION: u8 = 2;
/// How many words a block of the table `prints` has.
pub(super) const PRINTS_IN_BLOCK: u64 = 1024;
/// A row that claims more than this many bytes is corrupt: decoding must not allocate whatever a
/// broken length says.
const MAX_ROW_BYTES: usize = 1 << 30;

pub(super) type Decoded<T> = Result<T, String>;

/// Which row is being decoded, for the error.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// The table.
    pub(super) table: &'static str,
    /// The key of the row.
    pub(super) key: &'a dyn std::fmt::Display,
}

impl Place<'_> {
    fn ok<T>(self, decoded: Decoded<T>) -> Result<T, StoreError> {
        decoded.map_err(|what| StoreError::corrupt(self.table, self.key, &what))
    }
}

/// Version, whether the record leads the file, then bincode, packed with the text of the detail: tiers that were
/// derived are copies of it.
pub(super) fn encode_head(head: &Head, detail: &str) -> Result<Vec<u8>, StoreError> {
    let row = encode("heads", &head.id, VERSION, &HeadRow::of(head))?;
    let mut bytes = vec![HEAD_VERSION, u8::from(head.leads())];
    pack(&mut bytes, &row, detail).map_err(|what| StoreError::corrupt("heads", &head.id, &what))?;
    Ok(bytes)
}

/// `detail` is the text of the detail that belongs to the head.
pub(super) fn decode_head(
    place: Place<'_>,
    bytes: &[u8],
    detail: &str,
) -> Result<Head, StoreError> {
    place.ok(read_head(bytes, detail))
}

fn read_head(bytes: &[u8], detail: &str) -> Decoded<Head> {
    let (leads, packed) = take_leads(bytes)?;
    let row = unpack(packed, detail)?;
    let head = decode::<HeadRow>(&row, VERSION)?.into_head()?;
    if leads != head.leads() {
        return Err("the row contradicts itself on whether the record leads".to_owned());
    }
    Ok(head)
}

/// Whether the record leads its file: [`Head::leads`], without its head.
pub(super) fn decode_leads(place: Place<'_>, bytes: &[u8]) -> Result<bool, StoreError> {
    place.ok(take_leads(bytes).map(|(leads, _)| leads))
}

fn take_leads(bytes: &[u8]) -> Decoded<(bool, &[u8])> {
    let mut input = bytes;
    take_version(&mut input, HEAD_VERSION)?;
    match input.split_first() {
        Some((&leads @ (0 | 1), packed)) => Ok((leads == 1, packed)),
        _ => Err("the row does not say whether the record leads".to_owned()),
    }
}

pub(super) fn encode_file(file: &FileRow) -> Result<Vec<u8>, StoreError> {
    encode("files", &file.path, FILE_VERSION, &FileRowRow::of(file))
}

pub(super) fn decode_file(place: Place<'_>, bytes: &[u8]) -> Result<FileRow, StoreError> {
    place.ok(decode::<FileRowRow>(bytes, FILE_VERSION).map(FileRowRow::into_file))
}

pub(super) fn encode_totals(totals: &Totals) -> Result<Vec<u8>, StoreError> {
    encode("meta", &"totals", VERSION, &TotalsRow::of(totals))
}

pub(super) fn decode_totals(place: Place<'_>, bytes: &[u8]) -> Result<Totals, StoreError> {
    place.ok(decode::<TotalsRow>(bytes, VERSION).map(TotalsRow::into_totals))
}

/// Version, number of hidden ranges, their ends, then the packed text to the end of the row.
pub(super) fn encode_detail(id: &RecordId, detail: &Detail) -> Result<Vec<u8>, StoreError> {
    let mut bytes = vec![DETAIL_VERSION];
    put_varint(&mut bytes, detail.hidden.len() as u64);
    for range in &detail.hidden {
        put_varint(&mut bytes, u64::from(range.start));
        put_varint(&mut bytes, u64::from(range.end));
    }
    pack(&mut bytes, detail.exact.as_bytes(), "")
        .map_err(|what| StoreError::corrupt("details", id, &what))?;
    Ok(bytes)
}

pub(super) fn decode_detail(place: Place<'_>, bytes: &[u8]) -> Result<Detail, StoreError> {
    place.ok(read_detail(bytes))
}

/// See [`terms`].
pub(super) fn encode_forward(
    forward: &Forward,
    number_of: &mut dyn FnMut(u32) -> Result<u32, StoreError>,
) -> Result<Vec<u8>, StoreError> {
    terms::encode(forward, number_of)
}

/// A forward row as plain numbers, for its digest: equal for equal rows, however they are packed.
pub(super) fn plain_forward(forward: &Forward) -> Vec<u8> {
    let Forward { triggers, title, breadcrumb, description, summary, detail, forms } = forward;
    let others = [title, breadcrumb, description, summary, detail];
    let mut bytes = vec![VERSION];
    put_varint(&mut bytes, triggers.len() as u64);
    for terms in triggers.iter().chain(others) {
        put_varint(&mut bytes, terms.len() as u64);
    }
    put_varint(&mut bytes, forms.len() as u64);
    for term in triggers.iter().chain(others).flatten() {
        bytes.extend_from_slice(&term.to_le_bytes());
    }
    for form in forms {
        bytes.extend_from_slice(&form.to_le_bytes());
    }
    bytes
}

/// How many terms the fields of a forward row have, see [`Forward::lengths`].
pub(super) fn decode_lengths(place: Place<'_>, bytes: &[u8]) -> Result<[u64; 6], StoreError> {
    place.ok(terms::decode_lengths(bytes))
}

/// `prints` has the fingerprint of each word at the place of its number.
pub(super) fn decode_forward(
    place: Place<'_>,
    bytes: &[u8],
    prints: &[u32],
) -> Result<Forward, StoreError> {
    place.ok(terms::decode(bytes, prints))
}

/// Version, number of phrases, then each with its length.
pub(super) fn encode_phrases(phrases: &[String]) -> Vec<u8> {
    let mut bytes = vec![VERSION];
    put_varint(&mut bytes, phrases.len() as u64);
    for phrase in phrases {
        put_varint(&mut bytes, phrase.len() as u64);
        bytes.extend_from_slice(phrase.as_bytes());
    }
    bytes
}

pub(super) fn decode_phrases(place: Place<'_>, bytes: &[u8]) -> Result<Vec<String>, StoreError> {
    place.ok(read_phrases(bytes))
}

/// A row of the table `grams` or `prints` without a word: the version alone.
pub(super) fn no_words() -> Vec<u8> {
    vec![VERSION]
}

/// Five bytes a word: its print, little endian, and how many grams it has.
pub(super) fn append_words(bytes: &mut Vec<u8>, words: &[WordPrint]) {
    for word in words {
        bytes.extend_from_slice(&word.print.to_le_bytes());
        bytes.push(word.n_grams);
    }
}

/// Four bytes a word.
pub(super) fn append_prints(bytes: &mut Vec<u8>, prints: &[u32]) {
    bytes.extend(prints.iter().flat_map(|print| print.to_le_bytes()));
}

/// Appends the words of a block of the table `prints`.
pub(super) fn take_prints(
    place: Place<'_>,
    bytes: &[u8],
    prints: &mut Vec<u32>,
) -> Result<(), StoreError> {
    place.ok(read_prints(bytes, prints))
}

fn read_prints(bytes: &[u8], prints: &mut Vec<u32>) -> Decoded<()> {
    let mut input = bytes;
    take_version(&mut input, VERSION)?;
    let (words, rest) = input.as_chunks::<4>();
    nothing_left(rest)?;
    prints.extend(words.iter().map(|&bytes| u32::from_le_bytes(bytes)));
    Ok(())
}

pub(super) fn decode_words(place: Place<'_>, bytes: &[u8]) -> Result<Vec<WordPrint>, StoreError> {
    place.ok(read_words(bytes))
}

fn read_words(bytes: &[u8]) -> Decoded<Vec<WordPrint>> {
    let mut input = bytes;
    take_version(&mut input, VERSION)?;
    let (words, rest) = input.as_chunks::<5>();
    nothing_left(rest)?;
    Ok(words
        .iter()
        .map(|&[a, b, c, d, n_grams]| WordPrint {
            print: u32::from_le_bytes([a, b, c, d]),
            n_grams,
        })
        .collect())
}

pub(super) fn decode_u32(place: Place<'_>, bytes: &[u8]) -> Result<u32, StoreError> {
    place.ok(bytes.try_into().map(u32::from_le_bytes).map_err(|_| wrong_length(bytes)))
}

pub(super) fn decode_u64(place: Place<'_>, bytes: &[u8]) -> Result<u64, StoreError> {
    place.ok(bytes.try_into().map(u64::from_le_bytes).map_err(|_| wrong_length(bytes)))
}

pub(super) fn decode_text(place: Place<'_>, bytes: &[u8]) -> Result<String, StoreError> {
    place.ok(text_of(bytes))
}

pub(super) fn encode_time(time: Duration) -> Vec<u8> {
    time.as_nanos().to_le_bytes().to_vec()
}

pub(super) fn decode_time(place: Place<'_>, bytes: &[u8]) -> Result<Duration, StoreError> {
    let nanos = bytes.try_into().map(u128::from_le_bytes).map_err(|_| wrong_length(bytes));
    place.ok(nanos).map(of_nanos)
}

#[derive(Encode, Decode)]
struct HeadRow {
    id: String,
    path: String,
    kind: u8,
    title: String,
    breadcrumb: Vec<String>,
    scope: String,
    start: u64,
    end: u64,
    first_line: u32,
    last_line: u32,
    language: u8,
    hash: [u8; 32],
    triggers: Vec<TextRow>,
    description: TextRow,
    summary: TextRow,
    children: Vec<String>,
    costs: [CostRow; 3],
    label: CostRow,
}

#[derive(Encode, Decode)]
struct TextRow {
    text: String,
    origin: u8,
}

#[derive(Encode, Decode)]
struct CostRow {
    text: u32,
    json: u32,
}

#[derive(Encode, Decode)]
struct FileRowRow {
    path: String,
    stamp: StampRow,
    sidecar: Option<StampRow>,
    reader_version: u32,
    keys: Vec<u64>,
    notes: Vec<NoteRow>,
    indexed_at: u128,
    contested: bool,
}

#[derive(Encode, Decode)]
struct StampRow {
    size: u64,
    mtime_nanos: Option<i128>,
    hash: [u8; 32],
}

#[derive(Encode, Decode)]
struct NoteRow {
    path: String,
    line: u32,
    column: u32,
    message: String,
    help: String,
    severity: u8,
}

#[derive(Encode, Decode)]
struct TotalsRow {
    n_records: u64,
    n_files: u64,
    field_terms: [u64; 6],
    by_kind: [u64; 5],
    by_origin: [[u64; 3]; 3],
    by_language: [u64; 19],
    detail_bytes: u64,
    detail_tokens: u64,
}

impl HeadRow {
    fn of(head: &Head) -> Self {
        Self {
            id: head.id.as_str().to_owned(),
            path: head.path.clone(),
            kind: number_of_kind(head.kind),
            title: head.title.clone(),
            breadcrumb: head.breadcrumb.clone(),
            scope: head.scope.clone(),
            start: head.span.bytes.start,
            end: head.span.bytes.end,
            first_line: head.span.lines.first,
            last_line: head.span.lines.last,
            language: number_of_language(head.language),
            hash: head.hash.0,
            triggers: head.triggers.iter().map(|t| TextRow::of(&t.phrase, t.origin)).collect(),
            description: TextRow::of(&head.description.text, head.description.origin),
            summary: TextRow::of(&head.summary.text, head.summary.origin),
            children: head.children.iter().map(|id| id.as_str().to_owned()).collect(),
            costs: head.costs.map(CostRow::of),
            label: CostRow::of(head.label),
        }
    }

    fn into_head(self) -> Decoded<Head> {
        let trigger =
            |row: TextRow| Ok(Trigger { origin: origin_of(row.origin)?, phrase: row.text });
        Ok(Head {
            id: RecordId::from_text(&self.id),
            path: self.path,
            kind: kind_of(self.kind)?,
            title: self.title,
            breadcrumb: self.breadcrumb,
            scope: self.scope,
            span: Span {
                bytes: self.start..self.end,
                lines: Lines { first: self.first_line, last: self.last_line },
            },
            language: language_of(self.language)?,
            hash: Hash(self.hash),
            triggers: self.triggers.into_iter().map(trigger).collect::<Decoded<_>>()?,
            description: self.description.into_text()?,
            summary: self.summary.into_text()?,
            children: self.children.iter().map(|id| RecordId::from_text(id)).collect(),
            costs: self.costs.map(CostRow::into_cost),
            label: self.label.into_cost(),
        })
    }
}

impl TextRow {
    fn of(text: &str, origin: Origin) -> Self {
        Self { text: text.to_owned(), origin: number_of_origin(origin) }
    }

    fn into_text(self) -> Decoded<TierText> {
        Ok(TierText { origin: origin_of(self.origin)?, text: self.text })
    }
}

impl CostRow {
    fn of(cost: Cost) -> Self {
        Self { text: cost.text, json: cost.json }
    }

    fn into_cost(self) -> Cost {
        Cost { text: self.text, json: self.json }
    }
}

impl FileRowRow {
    fn of(file: &FileRow) -> Self {
        Self {
            path: file.path.clone(),
            stamp: StampRow::of(&file.stamp),
            sidecar: file.sidecar.as_ref().map(StampRow::of),
            reader_version: file.reader_version,
            keys: file.keys.iter().map(|key| key.0).collect(),
            notes: file.notes.iter().map(NoteRow::of).collect(),
            indexed_at: file.indexed_at.as_nanos(),
            contested: file.contested,
        }
    }

    fn into_file(self) -> FileRow {
        FileRow {
            path: self.path,
            stamp: self.stamp.into_stamp(),
            sidecar: self.sidecar.map(StampRow::into_stamp),
            reader_version: self.reader_version,
            keys: self.keys.into_iter().map(RecordKey).collect(),
            notes: self.notes.into_iter().map(NoteRow::into_note).collect(),
            indexed_at: of_nanos(self.indexed_at),
            contested: self.contested,
        }
    }
}

impl StampRow {
    fn of(stamp: &Stamp) -> Self {
        Self { size: stamp.size, mtime_nanos: stamp.mtime_nanos, hash: stamp.hash.0 }
    }

    fn into_stamp(self) -> Stamp {
        Stamp { size: self.size, mtime_nanos: self.mtime_nanos, hash: Hash(self.hash) }
    }
}

impl NoteRow {
    fn of(note: &Note) -> Self {
        Self {
            path: note.path.clone(),
            line: note.line,
            column: note.column,
            message: note.message.clone(),
            help: note.help.clone(),
            severity: note.severity,
        }
    }

    fn into_note(self) -> Note {
        Note {
            path: self.path,
            line: self.line,
            column: self.column,
            message: self.message,
            help: self.help,
            severity: self.severity,
        }
    }
}

impl TotalsRow {
    fn of(totals: &Totals) -> Self {
        Self {
            n_records: totals.n_records,
            n_files: totals.n_files,
            field_terms: totals.field_terms,
            by_kind: totals.by_kind,
            by_origin: totals.by_origin,
            by_language: totals.by_language,
            detail_bytes: totals.detail_bytes,
            detail_tokens: totals.detail_tokens,
        }
    }

    fn into_totals(self) -> Totals {
        Totals {
            n_records: self.n_records,
            n_files: self.n_files,
            field_terms: self.field_terms,
            by_kind: self.by_kind,
            by_origin: self.by_origin,
            by_language: self.by_language,
            detail_bytes: self.detail_bytes,
            detail_tokens: self.detail_tokens,
        }
    }
}

fn encode(
    table: &'static str,
    key: &dyn std::fmt::Display,
    version: u8,
    row: &impl Encode,
) -> Result<Vec<u8>, StoreError> {
    let mut bytes = vec![version];
    bincode::encode_into_std_write(row, &mut bytes, bincode::config::standard())
        .map_err(|error| StoreError::corrupt(table, key, &error))?;
    Ok(bytes)
}

fn decode<T: Decode<()>>(bytes: &[u8], version: u8) -> Decoded<T> {
    let mut input = bytes;
    take_version(&mut input, version)?;
    let config = bincode::config::standard().with_limit::<MAX_ROW_BYTES>();
    let (row, n_read) =
        bincode::decode_from_slice(input, config).map_err(|error| error.to_string())?;
    if n_read != input.len() {
        return Err(format!("{} bytes too many", input.len() - n_read));
    }
    Ok(row)
}

fn read_detail(bytes: &[u8]) -> Decoded<Detail> {
    let mut input = bytes;
    take_version(&mut input, DETAIL_VERSION)?;
    let n = take_varint(&mut input)?;
    let mut hidden = Vec::new();
    for _ in 0..n {
        hidden.push(take_u32(&mut input)?..take_u32(&mut input)?);
    }
    let exact = String::from_utf8(unpack(input, "")?).map_err(|error| error.to_string())?;
    let inside = |range: &Range<u32>| exact.get(range.start as usize..range.end as usize).is_some();
    if !hidden.iter().all(inside) {
        return Err("a hidden range is not inside the text".to_owned());
    }
    Ok(Detail { exact, hidden })
}

fn read_phrases(bytes: &[u8]) -> Decoded<Vec<String>> {
    let mut input = bytes;
    take_version(&mut input, VERSION)?;
    let n = take_varint(&mut input)?;
    let mut phrases = Vec::new();
    for _ in 0..n {
        let length = take_varint(&mut input)?;
        phrases.push(text_of(take(&mut input, length)?)?);
    }
    nothing_left(input)?;
    Ok(phrases)
}

pub(super) fn take_version(input: &mut &[u8], known: u8) -> Decoded<()> {
    match input.split_first() {
        Some((&version, rest)) if version == known => {
            *input = rest;
            Ok(())
        }
        Some((version, _)) => Err(format!("unknown version {version} of the row")),
        None => Err("the row is empty".to_owned()),
    }
}

pub(super) fn take<'a>(input: &mut &'a [u8], n: u64) -> Decoded<&'a [u8]> {
    let split = usize::try_from(n).ok().and_then(|n| input.split_at_checked(n));
    let (taken, rest) = split.ok_or_else(|| "the row ends too early".to_owned())?;
    *input = rest;
    Ok(taken)
}

/// Seven bits a byte, lowest first, the highest bit set on all but the last byte.
pub(super) fn put_varint(bytes: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        bytes.push(n.to_le_bytes()[0] | 0x80);
        n >>= 7;
    }
    bytes.push(n.to_le_bytes()[0]);
}

pub(super) fn take_varint(input: &mut &[u8]) -> Decoded<u64> {
    let mut n = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = input.split_first().ok_or("the row ends too early")?;
        *input = rest;
        n |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(n);
        }
    }
    Err("a number has too many bytes".to_owned())
}

fn take_u32(input: &mut &[u8]) -> Decoded<u32> {
    u32::try_from(take_varint(input)?).map_err(|_| "a number is too large".to_owned())
}

pub(super) fn nothing_left(input: &[u8]) -> Decoded<()> {
    if input.is_empty() { Ok(()) } else { Err(format!("{} bytes too many", input.len())) }
}

fn wrong_length(bytes: &[u8]) -> String {
    format!("a number cannot have {} bytes", bytes.len())
}

fn text_of(bytes: &[u8]) -> Decoded<String> {
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|error| error.to_string())
}

fn of_nanos(nanos: u128) -> Duration {
    const SECOND: u128 = 1_000_000_000;
    let seconds = u64::try_from(nanos / SECOND).unwrap_or(u64::MAX);
    Duration::new(seconds, u32::try_from(nanos % SECOND).unwrap_or_default())
}

// The numbers below are on disk: they do not change when the order of an enum does.

fn number_of_kind(kind: Kind) -> u8 {
    match kind {
        Kind::File => 0,
        Kind::Section => 1,
        Kind::Skill => 2,
        Kind::Row => 3,
        Kind::Item => 4,
    }
}

fn kind_of(number: u8) -> Decoded<Kind> {
    find(Kind::ALL, number, number_of_kind, "kind")
}

fn number_of_origin(origin: Origin) -> u8 {
    match origin {
        Origin::Authored => 0,
        Origin::Derived => 1,
        Origin::Grown => 2,
    }
}

fn origin_of(number: u8) -> Decoded<Origin> {
    find(Origin::ALL, number, number_of_origin, "origin")
}

fn number_of_language(language: Language) -> u8 {
    match language {
        Language::Other => 0,
        Language::Arabic => 1,
        Language::Danish => 2,
        Language::Dutch => 3,
        Language::English => 4,
        Language::Finnish => 5,
        Language::French => 6,
        Language::German => 7,
        Language::Greek => 8,
        Language::Hungarian => 9,
        Language::Italian => 10,
        Language::Norwegian => 11,
        Language::Portuguese => 12,
        Language::Romanian => 13,
        Language::Russian => 14,
        Language::Spanish => 15,
        Language::Swedish => 16,
        Language::Tamil => 17,
        Language::Turkish => 18,
    }
}

fn language_of(number: u8) -> Decoded<Language> {
    find(Language::ALL, number, number_of_language, "language")
}

fn find<T: Copy, const N: usize>(
    all: [T; N],
    number: u8,
    number_of: fn(T) -> u8,
    what: &str,
) -> Decoded<T> {
    all.into_iter()
        .find(|&one| number_of(one) == number)
        .ok_or_else(|| format!("no {what} has the number {number}"))
}

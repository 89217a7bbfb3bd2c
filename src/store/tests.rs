//! Claims about the store.
//!
//! 1. A row is the bytes that `schema/store.md` says.
//! 2. After any history, with restarts, the store says what a map of the live records says.
//! 3. Equal content gives equal dumps, whatever the history.
//! 4. A reader sees one commit, whole; a batch that is dropped leaves nothing.
//! 5. A file that is no store, or one of a newer psos, is refused and left as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::codec::{self, Place};
use super::pack::unpack;
use super::{
    Batch, Cost, Detail, FileRow, Forward, Head, NewRecord, Note, Problem, Put, Reason, RecordKey,
    Selection, Snapshot, Stamp, Store, StoreError, Totals, tables, verify,
};
use crate::fault::Fault;
use crate::record::{Hash, Kind, Lines, Origin, Record, RecordId, Span, Tier, TierText, Trigger};
use crate::store::{NewWord, WordPrint};
use crate::text::Language;

const NO_WAIT: Duration = Duration::ZERO;
const PLACE: Place<'_> = Place { table: "test", key: &"row" };

fn cost(text: u32) -> Cost {
    Cost { text, json: text + 1 }
}

fn head(path: &str, anchor: &str, text: &str) -> Head {
    Head {
        id: RecordId::of_part(path, anchor),
        path: path.into(),
        kind: Kind::Section,
        title: anchor.into(),
        breadcrumb: vec!["Guide".into()],
        scope: String::new(),
        span: Span { bytes: 0..text.len() as u64, lines: Lines { first: 1, last: 2 } },
        language: Language::English,
        hash: Hash::of(text.as_bytes()),
        triggers: vec![Trigger { phrase: format!("do {anchor}"), origin: Origin::Authored }],
        description: TierText::derived(format!("On {anchor}.")),
        summary: TierText::authored(text),
        children: vec![],
        costs: [cost(3), cost(4), cost(5)],
        label: cost(2),
    }
}

fn record(path: &str, anchor: &str, text: &str) -> NewRecord {
    NewRecord {
        head: head(path, anchor, text),
        detail: Detail { exact: text.into(), hidden: vec![] },
        forward: Forward {
            triggers: vec![vec![1, 2]],
            title: vec![3],
            detail: text.bytes().map(u32::from).collect(),
            ..Forward::default()
        },
        phrases: vec![format!("do {anchor}")],
    }
}

fn file(path: &str) -> FileRow {
    FileRow {
        path: path.into(),
        stamp: Stamp { size: 9, mtime_nanos: Some(-1), hash: Hash::of(path.as_bytes()) },
        sidecar: None,
        reader_version: 1,
        keys: vec![],
        notes: vec![],
        indexed_at: Duration::from_secs(7),
        contested: false,
    }
}

fn phrases_of(head: &Head) -> Vec<String> {
    head.triggers.iter().map(|trigger| trigger.phrase.clone()).collect()
}

fn problems(store: &Store) -> Vec<Problem> {
    verify(&store.snapshot().unwrap(), &phrases_of, &words_of).unwrap()
}

fn dump(snapshot: &Snapshot) -> String {
    let mut out = Vec::new();
    snapshot.dump(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

struct Folder {
    _root: tempfile::TempDir,
    dir: PathBuf,
}

fn folder() -> Folder {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join(".psos");
    Folder { _root: root, dir }
}

fn store(folder: &Folder) -> Store {
    Store::create_or_open(&folder.dir, NO_WAIT).unwrap()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

/// The row of a detail.
fn encode_detail(detail: &Detail) -> Vec<u8> {
    codec::encode_detail(&RecordId::of_part("a", "x"), detail).unwrap()
}

/// A forward row, and the words by the numbers that they got in it.
fn encode_forward(forward: &Forward) -> (Vec<u8>, Vec<u32>) {
    let mut prints = Vec::new();
    let mut numbers = BTreeMap::new();
    let bytes = codec::encode_forward(forward, &mut |print| {
        Ok(*numbers.entry(print).or_insert_with(|| {
            prints.push(print);
            u32::try_from(prints.len() - 1).unwrap()
        }))
    });
    (bytes.unwrap(), prints)
}

// Bytes on disk. A change of one of these needs a new format: see `schema/store.md`.

fn check_bytes(bytes: &[u8], expected: &Expect) {
    let mut lines = String::new();
    for line in bytes.chunks(24) {
        lines.push_str(&hex(line));
        lines.push('\n');
    }
    expected.assert_eq(&lines);
}

#[test]
fn the_bytes_of_a_head() {
    let mut head = head("a.md", "b", "text");
    head.scope = "s".into();
    head.children = vec![RecordId::of_part("a.md", "c")];
    head.hash = Hash([0xab; 32]);
    head.span = Span { bytes: 5..70_000, lines: Lines { first: 1, last: 300 } };
    let bytes = codec::encode_head(&head, "text").unwrap();
    assert_eq!(hex(&bytes[..2]), "03 00");
    check_bytes(
        &unpack(&bytes[2..], "text").unwrap(),
        &expect![[r"
            01 06 61 2e 6d 64 23 62 04 61 2e 6d 64 01 01 62 01 05 47 75 69 64 65 01
            73 05 fc 70 11 01 00 01 fb 2c 01 04 ab ab ab ab ab ab ab ab ab ab ab ab
            ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab 01 04 64 6f
            20 62 00 05 4f 6e 20 62 2e 01 04 74 65 78 74 00 01 06 61 2e 6d 64 23 63
            03 04 04 05 05 06 02 03
        "]],
    );
    assert_eq!(codec::decode_head(PLACE, &bytes, "text").unwrap(), head);
    head.breadcrumb = vec![];
    let bytes = codec::encode_head(&head, "text").unwrap();
    assert_eq!(hex(&bytes[..2]), "03 01");
    assert!(codec::decode_leads(PLACE, &bytes).unwrap());
}

#[test]
fn the_bytes_of_a_detail() {
    let detail =
        Detail { exact: "# A\n<!-- x -->\nb".into(), hidden: std::iter::once(4..14).collect() };
    let bytes = encode_detail(&detail);
    // The text is too short to become shorter: one segment of 16 bytes, which is one raw block, the last.
    check_bytes(
        &bytes,
        &expect![[r"
        02 01 04 0e 20 10 81 00 00 23 20 41 0a 3c 21 2d 2d 20 78 20 2d 2d 3e 0a
        62
    "]],
    );
    assert_eq!(codec::decode_detail(PLACE, &bytes).unwrap(), detail);
}

#[test]
fn the_bytes_of_a_forward_row() {
    let forward = Forward {
        triggers: vec![vec![1], vec![], vec![0xffff_ffff, 3]],
        title: vec![4],
        breadcrumb: vec![],
        description: vec![5],
        summary: vec![6],
        detail: vec![7, 8],
        forms: vec![9, 0xabcd],
    };
    let (bytes, prints) = encode_forward(&forward);
    check_bytes(
        &bytes,
        &expect![[r"
        03 03 01 00 02 01 00 01 01 02 02 00 02 04 06 08 0a 0c 0e 00 09 c4 d7 02
    "]],
    );
    assert_eq!(codec::decode_forward(PLACE, &bytes, &prints).unwrap(), forward);
    assert_eq!(codec::decode_lengths(PLACE, &bytes).unwrap(), forward.lengths());
}

#[test]
fn the_bytes_of_a_forward_row_that_repeats_itself() {
    let forward = Forward {
        title: vec![8, 7],
        description: vec![7, 8, 7, 9],
        detail: vec![7, 8, 7, 9],
        forms: vec![7, 9],
        ..Forward::default()
    };
    let (bytes, prints) = encode_forward(&forward);
    // Four words, of which the first, the third and the fourth stand as they are; two terms from place 1 on, four
    // from place 0 on.
    check_bytes(
        &bytes,
        &expect![[r"
        03 00 02 00 04 00 04 00 00 02 00 04 01 01 05 00 0d
    "]],
    );
    assert_eq!(codec::decode_forward(PLACE, &bytes, &prints).unwrap(), forward);
}

#[test]
fn the_bytes_of_a_file() {
    let row = FileRow {
        keys: vec![RecordKey(1), RecordKey(300)],
        sidecar: Some(Stamp { size: 1, mtime_nanos: None, hash: Hash([2; 32]) }),
        notes: vec![Note {
            path: "a.md".into(),
            line: 3,
            column: 1,
            message: "m".into(),
            help: "h".into(),
            severity: 1,
        }],
        stamp: Stamp {
            size: 300,
            mtime_nanos: Some(1_700_000_000_000_000_000),
            hash: Hash([1; 32]),
        },
        ..file("a.md")
    };
    let bytes = codec::encode_file(&row).unwrap();
    check_bytes(
        &bytes,
        &expect![[r"
        02 04 61 2e 6d 64 fb 2c 01 01 fd 00 00 54 6c fc 39 2f 2f 01 01 01 01 01
        01 01 01 01 01 01 01 01 01 01 01 01 01 01 01 01 01 01 01 01 01 01 01 01
        01 01 01 01 01 00 02 02 02 02 02 02 02 02 02 02 02 02 02 02 02 02 02 02
        02 02 02 02 02 02 02 02 02 02 02 02 02 02 01 02 01 fb 2c 01 01 04 61 2e
        6d 64 03 01 01 6d 01 68 01 fd 00 86 3b a1 01 00 00 00 00
    "]],
    );
    assert_eq!(codec::decode_file(PLACE, &bytes).unwrap(), row);
}

#[test]
fn the_bytes_of_phrases_totals_words_and_times() {
    check_bytes(
        &codec::encode_phrases(&["ab".into(), "c d".into()]),
        &expect![[r"
        01 02 02 61 62 03 63 20 64
    "]],
    );
    let mut totals = Totals::default();
    let NewRecord { head, detail, forward, .. } = record("a.md", "b", "text");
    totals.add(&head, forward.lengths(), detail.exact.len());
    let bytes = codec::encode_totals(&totals).unwrap();
    check_bytes(
        &bytes,
        &expect![[r"
        01 01 00 02 01 00 00 00 04 00 01 00 00 00 01 00 00 00 01 00 01 00 00 00
        00 00 00 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 04 05
    "]],
    );
    assert_eq!(codec::decode_totals(PLACE, &bytes).unwrap(), totals);
    let mut bytes = codec::no_words();
    codec::append_words(&mut bytes, &[WordPrint { print: 0x0403_0201, n_grams: 5 }]);
    assert_eq!(hex(&bytes), "01 01 02 03 04 05");
    assert_eq!(codec::decode_words(PLACE, &bytes).unwrap().len(), 1);
    let time = Duration::new(1, 2);
    assert_eq!(codec::decode_time(PLACE, &codec::encode_time(time)).unwrap(), time);
}

#[test]
fn numbers_of_kinds_origins_and_languages_stay() {
    // The last bytes that differ between two heads are those of the enums.
    let with = |change: &dyn Fn(&mut Head)| {
        let mut head = head("a", "b", "c");
        change(&mut head);
        let bytes = codec::encode_head(&head, "text").unwrap();
        assert_eq!(codec::decode_head(PLACE, &bytes, "text").unwrap(), head);
        unpack(&bytes[2..], "text").unwrap()
    };
    let byte =
        |bytes: &[u8], base: &[u8]| bytes.iter().zip(base).find(|(a, b)| a != b).map(|(a, _)| *a);
    let kind = |kind| with(&|head| head.kind = kind);
    let numbers = Kind::ALL.map(|k| byte(&kind(k), &kind(Kind::Item)).unwrap_or(4));
    assert_eq!(numbers, [0, 1, 2, 3, 4]);
    let origin = |origin| with(&|head| head.summary.origin = origin);
    let numbers = Origin::ALL.map(|o| byte(&origin(o), &origin(Origin::Grown)).unwrap_or(2));
    assert_eq!(numbers, [0, 1, 2]);
    let language = |language| with(&|head| head.language = language);
    let numbers: Vec<u8> = Language::ALL
        .iter()
        .map(|l| byte(&language(*l), &language(Language::Turkish)).unwrap_or(18))
        .collect();
    assert_eq!(numbers, (0..19).collect::<Vec<u8>>());
}

proptest! {
    #[test]
    fn any_bytes_decode_or_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let versioned = |version: u8| [&[version], bytes.as_slice()].concat();
        for bytes in [bytes.clone(), versioned(1), versioned(2), versioned(3)] {
            let _ = codec::decode_head(PLACE, &bytes, "text");
            let _ = codec::decode_file(PLACE, &bytes);
            let _ = codec::decode_totals(PLACE, &bytes);
            let _ = codec::decode_detail(PLACE, &bytes);
            let _ = codec::decode_forward(PLACE, &bytes, &[1, 2, 3]);
            let _ = codec::decode_lengths(PLACE, &bytes);
            let _ = codec::take_prints(PLACE, &bytes, &mut Vec::new());
            let _ = codec::decode_phrases(PLACE, &bytes);
            let _ = codec::decode_words(PLACE, &bytes);
        }
    }

    #[test]
    fn a_cut_or_longer_row_is_refused(cut in 0_usize..60, more in any::<u8>()) {
        let forward = record("a", "b", "some text").forward;
        let (bytes, prints) = encode_forward(&forward);
        prop_assert!(codec::decode_forward(PLACE, &bytes[..cut.min(bytes.len() - 1)], &prints).is_err());
        prop_assert!(codec::decode_forward(PLACE, &[bytes.as_slice(), &[more]].concat(), &prints).is_err());
        prop_assert!(codec::decode_forward(PLACE, &bytes, &prints[..prints.len() - 1]).is_err());
        let bytes = codec::encode_head(&head("a", "b", "c"), "text").unwrap();
        prop_assert!(codec::decode_head(PLACE, &bytes[..cut.min(bytes.len() - 1)], "text").is_err());
        prop_assert!(codec::decode_head(PLACE, &[bytes.as_slice(), &[more]].concat(), "text").is_err());
    }

    #[test]
    fn forward_rows_come_back(
        triggers in prop::collection::vec(prop::collection::vec(any::<u32>(), 0..5), 0..5),
        rest in prop::collection::vec(prop::collection::vec(any::<u32>(), 0..200), 5),
    ) {
        let [title, breadcrumb, description, summary, detail] = rest.try_into().unwrap();
        let forward = Forward { triggers, title, breadcrumb, description, summary, detail, forms: vec![3, 700] };
        let (bytes, prints) = encode_forward(&forward);
        prop_assert_eq!(codec::decode_forward(PLACE, &bytes, &prints).unwrap(), forward);
    }

    #[test]
    fn forward_rows_that_repeat_themselves_come_back_and_are_small(
        words in prop::collection::vec(0_u32..40, 60..300),
        from in 0_usize..30,
        forms in prop::collection::btree_set(any::<u16>(), 0..40),
    ) {
        let detail: Vec<u32> = words.iter().map(|word| word.wrapping_mul(2_654_435_761)).collect();
        let forward = Forward {
            triggers: vec![detail[from..from + 5].to_vec(), vec![7]],
            summary: detail[from..].to_vec(),
            description: detail[from..from + 20].to_vec(),
            title: detail[..2].to_vec(),
            forms: forms.into_iter().collect(),
            detail,
            ..Forward::default()
        };
        let (bytes, prints) = encode_forward(&forward);
        // A byte and a bit for each word of the detail, three bytes for each form, a few runs for all the rest.
        let most = forward.detail.len() * 9 / 8 + 3 * forward.forms.len() + 64;
        prop_assert!(bytes.len() <= most, "{} bytes, at most {most}", bytes.len());
        prop_assert_eq!(codec::decode_forward(PLACE, &bytes, &prints).unwrap(), forward);
    }

    #[test]
    fn what_is_shown_of_a_stored_detail_is_what_is_shown_of_the_record(
        parts in prop::collection::vec("[a\u{e9} \\r\\n]{0,6}", 1..8)
    ) {
        let mut detail = String::new();
        let mut hidden = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            let start = detail.len();
            detail.push_str(part);
            if at % 2 == 1 {
                hidden.push(start..detail.len());
            }
        }
        let head = head("a", "b", "c");
        let record = Record {
            id: head.id, path: head.path, kind: head.kind, title: head.title,
            breadcrumb: head.breadcrumb, scope: head.scope, span: head.span,
            language: head.language, triggers: head.triggers, description: head.description,
            summary: head.summary, detail, hidden, body: None, children: vec![],
        };
        prop_assert_eq!(Detail::of(&record).shown(), record.shown());
    }
}

#[test]
fn an_unknown_version_of_a_row_is_corrupt_and_says_which_row() {
    let mut bytes = encode_detail(&Detail { exact: "x".into(), hidden: vec![] });
    bytes[0] = 9;
    let error = codec::decode_detail(Place { table: "details", key: &7 }, &bytes).unwrap_err();
    assert_eq!(error.fault(), Fault::Data);
    expect!["the row `7` of table `details` is corrupt (unknown version 9 of the row): remove the store and run `psos index` to build it again from the tree"].assert_eq(&error.to_string());
}

// The model test.

#[derive(Debug, Clone)]
enum Step {
    Put { file: u8, records: Vec<(u8, u8)> },
    Remove { file: u8 },
    Commit,
    Drop,
    Restart,
}

fn any_step() -> impl Strategy<Value = Step> {
    let records = prop::collection::vec((0_u8..6, 0_u8..3), 0..5);
    prop_oneof![
        5 => (0_u8..4, records).prop_map(|(file, records)| Step::Put { file, records }),
        2 => (0_u8..4).prop_map(|file| Step::Remove { file }),
        3 => Just(Step::Commit),
        1 => Just(Step::Drop),
        1 => Just(Step::Restart),
    ]
}

/// What the store should hold: files, and the records of each in their order.
type Model = BTreeMap<String, Vec<NewRecord>>;

fn path_of(file: u8) -> String {
    format!("f{file}.md")
}

fn records_of(path: &str, records: &[(u8, u8)]) -> Vec<NewRecord> {
    let mut at = 0;
    records
        .iter()
        .map(|(anchor, text)| {
            let mut new = record(path, &format!("r{anchor}"), &"word ".repeat(usize::from(*text)));
            // Where it stands depends on what is before it.
            new.head.span.bytes = at..at + new.detail.exact.len() as u64;
            at = new.head.span.bytes.end;
            if anchor % 2 == 0 {
                new.phrases.clear();
                new.head.triggers.clear();
            }
            new
        })
        .collect()
}

/// The first of each id.
fn unique(records: Vec<NewRecord>) -> Vec<NewRecord> {
    let mut seen = BTreeSet::new();
    records.into_iter().filter(|record| seen.insert(record.head.id.clone())).collect()
}

fn words_of(head: &Head, _: &Detail) -> Vec<NewWord> {
    let print = u32::try_from(head.title.len()).unwrap() * 1000;
    vec![NewWord { print, grams: vec![7, print + 1] }]
}

fn put(batch: &mut Batch<'_>, file: &FileRow, records: &[NewRecord]) -> Put {
    let put = batch.put_file(file, records).unwrap();
    for (at, _) in &put.added {
        batch.learn(&words_of(&records[*at].head, &records[*at].detail)).unwrap();
    }
    put
}

fn fill(store: &Store, model: &Model) {
    let mut batch = store.begin(Duration::from_secs(20)).unwrap();
    for (path, records) in model {
        put(&mut batch, &file(path), records);
    }
    batch.commit(b"meta").unwrap();
}

fn check_model(snapshot: &Snapshot, model: &Model) {
    let records: BTreeMap<&RecordId, &NewRecord> =
        model.values().flatten().map(|record| (&record.head.id, record)).collect();
    let ids: Vec<(RecordId, RecordKey)> = snapshot.ids().unwrap().map(Result::unwrap).collect();
    assert_eq!(
        ids.iter().map(|(id, _)| id).collect::<Vec<_>>(),
        records.keys().copied().collect::<Vec<_>>()
    );
    for (id, key) in &ids {
        let new = records[id];
        let head = snapshot.head(*key).unwrap().unwrap();
        assert_eq!(head, new.head);
        assert_eq!(snapshot.key_of(id).unwrap(), Some(*key));
        let detail = snapshot.detail(&Selection::by_pick(*key, &head)).unwrap();
        assert_eq!(detail.as_ref(), Some(&new.detail));
        assert_eq!(snapshot.forward(*key).unwrap().as_ref(), Some(&new.forward));
        assert_eq!(snapshot.phrases_of(*key).unwrap(), new.phrases);
        for phrase in &new.phrases {
            assert!(snapshot.phrase_keys(phrase).unwrap().contains(key));
        }
    }
    let files: Vec<FileRow> = snapshot.files().unwrap().map(Result::unwrap).collect();
    assert_eq!(files.iter().map(|f| &f.path).collect::<Vec<_>>(), model.keys().collect::<Vec<_>>());
    for (file, records) in files.iter().zip(model.values()) {
        let ids: Vec<RecordId> =
            file.keys.iter().map(|key| snapshot.head(*key).unwrap().unwrap().id).collect();
        assert_eq!(ids, records.iter().map(|r| r.head.id.clone()).collect::<Vec<_>>());
    }
    let mut totals = Totals { n_files: model.len() as u64, ..Totals::default() };
    for new in records.values() {
        totals.add(&new.head, new.forward.lengths(), new.detail.exact.len());
    }
    assert_eq!(*snapshot.totals(), totals);
    assert_eq!(verify(snapshot, &phrases_of, &words_of).unwrap(), []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_store_says_what_the_model_says(steps in prop::collection::vec(any_step(), 1..24)) {
        let folder = folder();
        let mut store = store(&folder);
        let mut committed = Model::new();
        let mut steps = steps.into_iter().peekable();
        while steps.peek().is_some() {
            let mut model = committed.clone();
            let mut batch = store.begin(NO_WAIT).unwrap();
            let mut restart = false;
            loop {
                match steps.next() {
                    Some(Step::Put { file, records }) => {
                        let path = path_of(file);
                        let records = unique(records_of(&path, &records));
                        put(&mut batch, &self::file(&path), &records);
                        model.insert(path, records);
                    }
                    Some(Step::Remove { file }) => {
                        let path = path_of(file);
                        batch.remove_file(&path).unwrap();
                        model.remove(&path);
                    }
                    Some(Step::Commit) | None => {
                        batch.commit(b"meta").unwrap();
                        committed = model;
                        break;
                    }
                    Some(Step::Drop) => {
                        drop(batch);
                        break;
                    }
                    Some(Step::Restart) => {
                        drop(batch);
                        restart = true;
                        break;
                    }
                }
            }
            if restart {
                drop(store);
                store = Store::open(&folder.dir, NO_WAIT).unwrap();
            }
            check_model(&store.snapshot().unwrap(), &committed);
        }
        // A new store of the same content gives the same dump.
        let fresh = self::folder();
        let fresh = self::store(&fresh);
        fill(&fresh, &committed);
        prop_assert_eq!(dump(&fresh.snapshot().unwrap()), dump(&store.snapshot().unwrap()));
    }
}

// Batches.

#[test]
fn records_put_in_pieces_are_those_put_at_once() {
    let folder = folder();
    let store = store(&folder);
    let mut batch = store.begin(NO_WAIT).unwrap();
    let rows: Vec<NewRecord> =
        (0..7).map(|n| record("a", &format!("r{n}"), &format!("text {n}"))).collect();
    let first = put(&mut batch, &file("a"), &rows);
    assert_eq!(first.added.len(), 7);

    // The second time in pieces: one changed, one gone, one new, one twice.
    let mut changed = rows.clone();
    changed[2] = record("a", "r2", "other");
    changed[4] = record("a", "new", "text");
    changed.push(record("a", "r1", "text 1"));
    let mut filing = batch.begin_file("a").unwrap();
    let mut puts = Vec::new();
    for piece in changed.chunks(3) {
        puts.push(batch.put_records(&mut filing, piece).unwrap());
    }
    let removed = batch.end_file(filing, &file("a")).unwrap();
    assert_eq!(removed, [RecordKey(2), RecordKey(4)]);
    assert_eq!(puts[0].kept, [(0, RecordKey(0)), (1, RecordKey(1))]);
    assert_eq!(puts[0].added, [(2, RecordKey(7))]);
    assert_eq!(puts[1].added, [(1, RecordKey(8))]);
    assert_eq!(puts[2].conflicts.len(), 1);
    let keys = [0, 1, 7, 3, 8, 5, 6].map(RecordKey);
    assert_eq!(batch.record_keys_of("a").unwrap(), keys);
    for new in &changed[..7] {
        batch.learn(&words_of(&new.head, &new.detail)).unwrap();
    }
    batch.commit(b"m").unwrap();
    assert_eq!(problems(&store), []);
}

#[test]
fn a_record_that_only_moves_keeps_its_key() {
    let folder = folder();
    let store = store(&folder);
    let mut batch = store.begin(NO_WAIT).unwrap();
    let rows = [record("a", "x", "one"), record("a", "y", "two")];
    let first = put(&mut batch, &file("a"), &rows);
    assert_eq!(first.added, [(0, RecordKey(0)), (1, RecordKey(1))]);
    let mut moved = record("a", "x", "one");
    moved.head.span.bytes = 100..103;
    let rows = [record("a", "new", "zero"), moved.clone(), record("a", "y", "changed")];
    let second = put(&mut batch, &file("a"), &rows);
    assert_eq!(second.kept, [(1, RecordKey(0))]);
    assert_eq!(second.added, [(0, RecordKey(2)), (2, RecordKey(3))]);
    assert_eq!(second.removed, [RecordKey(1)]);
    assert_eq!(batch.record_keys_of("a").unwrap(), [RecordKey(2), RecordKey(0), RecordKey(3)]);
    batch.commit(b"m").unwrap();
    let snapshot = store.snapshot().unwrap();
    assert_eq!(snapshot.head(RecordKey(0)).unwrap(), Some(moved.head));
    assert_eq!(problems(&store), []);
}

#[test]
fn the_generation_counts_changes_that_answers_depend_on() {
    let folder = folder();
    let store = store(&folder);
    let commit = |change: &dyn Fn(&mut Batch<'_>)| {
        let mut batch = store.begin(NO_WAIT).unwrap();
        change(&mut batch);
        let committed = batch.commit(b"m").unwrap();
        assert_eq!(store.snapshot().unwrap().generation(), committed.generation);
        (committed.generation, committed.changed)
    };
    let put = |batch: &mut Batch<'_>, file: &FileRow, text: &str| {
        put(batch, file, &[record("a", "x", text)]);
    };
    assert_eq!(commit(&|batch| put(batch, &file("a"), "one")), (1, true));
    assert_eq!(commit(&|batch| put(batch, &file("a"), "one")), (1, false));
    assert_eq!(commit(&|_| {}), (1, false));
    assert_eq!(commit(&|batch| batch.set_indexed_at(Duration::from_secs(9)).unwrap()), (1, false));
    assert_eq!(store.snapshot().unwrap().indexed_at().unwrap(), Some(Duration::from_secs(9)));
    let touched = FileRow {
        stamp: Stamp { mtime_nanos: Some(5), ..file("a").stamp },
        indexed_at: Duration::from_secs(8),
        ..file("a")
    };
    assert_eq!(commit(&|batch| put(batch, &touched, "one")), (1, false));
    assert_eq!(store.snapshot().unwrap().file("a").unwrap().unwrap().stamp, touched.stamp);
    assert_eq!(commit(&|batch| put(batch, &file("a"), "two")), (2, true));
    assert_eq!(commit(&|batch| batch.set_fingerprint("f").unwrap()), (3, true));
    assert_eq!(commit(&|batch| batch.set_automaton("base", Some(b"fst")).unwrap()), (4, true));
    assert_eq!(commit(&|batch| batch.set_automaton("base", Some(b"fst")).unwrap()), (4, false));
    assert_eq!(commit(&|batch| batch.set_automaton("base", None).unwrap()), (5, true));
}

#[test]
fn the_lexical_meta_before_the_last_change_is_kept() {
    let folder = folder();
    let store = store(&folder);
    for meta in [&b"one"[..], b"two", b"two", b"three"] {
        store.begin(NO_WAIT).unwrap().commit(meta).unwrap();
    }
    let snapshot = store.snapshot().unwrap();
    assert_eq!(snapshot.lexical_meta().unwrap().unwrap(), b"three");
    assert_eq!(snapshot.lexical_meta_before().unwrap().unwrap(), b"two");
}

#[test]
fn a_file_that_lost_a_record_to_another_is_marked_until_it_has_it_again() {
    let folder = folder();
    let store = store(&folder);
    let mine = |path: &str| NewRecord {
        head: Head { path: path.into(), ..head("x", "y", path) },
        ..record("x", "y", path)
    };
    let contested = |store: &Store, path: &str| {
        let row = store.snapshot().unwrap().file(path).unwrap().unwrap();
        (row.contested, row.keys.len())
    };
    let mut batch = store.begin(NO_WAIT).unwrap();
    put(&mut batch, &file("b"), &[mine("b")]);
    put(&mut batch, &file("a"), &[mine("a")]);
    // Touched with what was known before it lost its record.
    batch.touch_file(&FileRow { keys: vec![RecordKey(0)], ..file("b") }).unwrap();
    batch.commit(b"m").unwrap();
    assert_eq!((contested(&store, "a"), contested(&store, "b")), ((false, 1), (true, 0)));
    let mut batch = store.begin(NO_WAIT).unwrap();
    batch.remove_file("a").unwrap();
    put(&mut batch, &file("b"), &[mine("b")]);
    batch.commit(b"m").unwrap();
    assert_eq!(contested(&store, "b"), (false, 1));
}

#[test]
fn of_two_records_with_one_id_in_a_file_the_first_stays() {
    let folder = folder();
    let store = store(&folder);
    let mut batch = store.begin(NO_WAIT).unwrap();
    let put =
        self::put(&mut batch, &file("a"), &[record("a", "x", "one"), record("a", "x", "two")]);
    assert_eq!(put.conflicts.len(), 1);
    assert_eq!((put.conflicts[0].winner.as_str(), put.conflicts[0].loser.as_str()), ("a", "a"));
    batch.commit(b"m").unwrap();
    assert_eq!(store.snapshot().unwrap().head(RecordKey(0)).unwrap().unwrap().summary.text, "one");
    assert_eq!(problems(&store), []);
}

#[test]
fn of_two_files_with_one_id_the_first_by_path_has_it_in_either_order() {
    let clash = |path: &str| {
        let mut record = record(path, "x", path);
        record.head.id = RecordId::from_text("same");
        record
    };
    for order in [["a", "b"], ["b", "a"]] {
        let folder = folder();
        let store = store(&folder);
        let mut batch = store.begin(NO_WAIT).unwrap();
        let mut conflicts = Vec::new();
        for path in order {
            conflicts.extend(put(&mut batch, &file(path), &[clash(path)]).conflicts);
        }
        batch.commit(b"m").unwrap();
        assert_eq!(conflicts.len(), 1);
        assert_eq!((conflicts[0].winner.as_str(), conflicts[0].loser.as_str()), ("a", "b"));
        let snapshot = store.snapshot().unwrap();
        let key = snapshot.key_of(&RecordId::from_text("same")).unwrap().unwrap();
        assert_eq!(snapshot.head(key).unwrap().unwrap().path, "a");
        assert_eq!(problems(&store), []);
    }
}

#[test]
fn a_word_is_learned_once_and_found_by_each_of_its_grams() {
    let folder = folder();
    let store = store(&folder);
    let word = |print, grams: &[u32]| NewWord { print, grams: grams.to_vec() };
    for words in
        [vec![word(1, &[10, 11]), word(2, &[11])], vec![word(1, &[10, 11]), word(3, &[10])]]
    {
        let mut batch = store.begin(NO_WAIT).unwrap();
        batch.learn(&words).unwrap();
        batch.commit(b"m").unwrap();
    }
    let snapshot = store.snapshot().unwrap();
    let with = |gram| {
        snapshot.words_with(gram).unwrap().iter().map(|w| (w.print, w.n_grams)).collect::<Vec<_>>()
    };
    assert_eq!(with(10), [(1, 2), (3, 1)]);
    assert_eq!(with(11), [(1, 2), (2, 1)]);
    assert_eq!(with(12), []);
}

// Postmortem: a compaction left out three tables, so links named nothing any more after the next run.
#[test]
fn a_compaction_copies_every_table() {
    let folder = folder();
    let store = store(&folder);
    let mut batch = store.begin(NO_WAIT).unwrap();
    let mut record = record("a", "x", "text");
    record.forward.detail.extend(5_000..8_000);
    put(&mut batch, &file("a"), std::slice::from_ref(&record));
    batch.learn(&[NewWord { print: 1, grams: vec![10, 11] }]).unwrap();
    let pairs = [("one".to_owned(), "two".to_owned())];
    batch.set_links("a", &pairs).unwrap();
    batch.set_calls("a", &pairs).unwrap();
    batch.set_skipped(&pairs).unwrap();
    batch.set_automaton("base", Some(b"automaton")).unwrap();
    batch.commit(b"m").unwrap();
    let rows = || {
        let sizes = store.snapshot().unwrap().table_sizes().unwrap();
        sizes.iter().map(|size| (size.name, size.n_rows)).collect::<Vec<_>>()
    };
    let before = rows();
    assert_eq!(before.iter().find(|(_, n_rows)| *n_rows == 0), None, "the test fills every table");
    let dump_before = dump(&store.snapshot().unwrap());
    store.compact(NO_WAIT).unwrap();
    assert_eq!(rows(), before);
    assert_eq!(dump(&store.snapshot().unwrap()), dump_before);
    assert_eq!(store.snapshot().unwrap().forward(RecordKey(0)).unwrap(), Some(record.forward));
    assert_eq!(problems(&store), []);
}

#[test]
fn ids_are_listed_from_a_prefix() {
    let folder = folder();
    let store = store(&folder);
    let mut batch = store.begin(NO_WAIT).unwrap();
    for path in ["a/x", "a/y", "b/x"] {
        put(&mut batch, &file(path), &[record(path, "r", "t")]);
    }
    batch.commit(b"m").unwrap();
    let snapshot = store.snapshot().unwrap();
    let ids = |prefix| -> Vec<String> {
        snapshot.ids_from(prefix).unwrap().map(|entry| entry.unwrap().0.to_string()).collect()
    };
    assert_eq!(ids("a/"), ["a/x#r", "a/y#r"]);
    assert_eq!(ids("a/y#r"), ["a/y#r"]);
    assert_eq!(ids("c"), [""; 0]);
    let paths: Vec<String> = snapshot.paths().unwrap().map(Result::unwrap).collect();
    assert_eq!(paths, ["a/x", "a/y", "b/x"]);
}

#[test]
fn a_selection_says_what_and_why() {
    let head = head("a", "x", "t");
    let key = RecordKey(3);
    for (selection, reason) in [
        (Selection::by_trigger(key, &head), Reason::Trigger),
        (Selection::by_lexical(key, &head), Reason::Lexical),
        (Selection::by_pick(key, &head), Reason::Pick),
    ] {
        assert_eq!((selection.key(), selection.id(), selection.reason()), (key, &head.id, reason));
    }
    assert_eq!(head.cost(Tier::Detail), cost(5));
    assert_eq!(head.cost(Tier::Trigger), Cost::default());
}

#[test]
fn a_detail_that_is_not_what_its_head_says_is_refused() {
    let folder = folder();
    let store = store(&folder);
    fill(&store, &Model::from([("a".into(), vec![record("a", "x", "one")])]));
    damage(&store, |transaction| {
        let other = encode_detail(&Detail { exact: "two".into(), hidden: vec![] });
        transaction.open_table(tables::DETAILS).unwrap().insert(0, other.as_slice()).unwrap();
    });
    let snapshot = store.snapshot().unwrap();
    let head = snapshot.head(RecordKey(0)).unwrap().unwrap();
    let error = snapshot.detail(&Selection::by_pick(RecordKey(0), &head)).unwrap_err();
    expect!["the row `a#x` of table `details` is corrupt (the text does not have the hash of the record): remove the store and run `psos index` to build it again from the tree"].assert_eq(&error.to_string());
}

#[test]
fn a_batch_with_a_failed_step_is_not_committed() {
    let folder = folder();
    let store = store(&folder);
    fill(&store, &Model::from([("a".into(), vec![record("a", "x", "one")])]));
    damage(&store, |transaction| {
        transaction.open_table(tables::FORWARDS).unwrap().insert(0, &[9][..]).unwrap();
    });
    let mut batch = store.begin(NO_WAIT).unwrap();
    assert!(matches!(batch.remove_file("a"), Err(StoreError::Corrupt { table: "forwards", .. })));
    assert!(matches!(batch.commit(b"m"), Err(StoreError::Abandoned)));
    let after = store.snapshot().unwrap();
    assert_eq!((after.generation(), after.ids().unwrap().count()), (1, 1));
    assert!(after.head(RecordKey(0)).unwrap().is_some());
    assert!(store.begin(NO_WAIT).is_ok());
}

#[test]
fn a_store_that_a_killed_writer_left_is_read_as_its_last_commit() {
    let folder = folder();
    let store = store(&folder);
    fill(&store, &Model::from([("a".into(), vec![record("a", "x", "one")])]));
    let before = dump(&store.snapshot().unwrap());
    let mut batch = store.begin(NO_WAIT).unwrap();
    put(&mut batch, &file("b"), &[record("b", "x", "two")]);
    // What is in the file now is what a killed process would leave.
    for open in [Store::open_read_only, |dir: &Path| Store::open(dir, NO_WAIT)] {
        let left = self::folder();
        fs::create_dir_all(&left.dir).unwrap();
        fs::copy(folder.dir.join("store.redb"), left.dir.join("store.redb")).unwrap();
        let left = open(&left.dir).unwrap();
        assert_eq!(dump(&left.snapshot().unwrap()), before);
        assert_eq!(problems(&left), []);
    }
}

// Many at once.

#[test]
fn a_snapshot_stays_as_it_is_while_others_write() {
    let folder = folder();
    let store = store(&folder);
    fill(&store, &Model::from([("a".into(), vec![record("a", "x", "one")])]));
    let before = store.snapshot().unwrap();
    let text = dump(&before);
    fill(&store, &Model::from([("a".into(), vec![record("a", "x", "two")])]));
    assert_eq!(dump(&before), text);
    assert_ne!(dump(&store.snapshot().unwrap()), text);
}

#[test]
fn readers_beside_a_writer_see_whole_commits() {
    const ROUNDS: usize = 30;
    let folder = folder();
    let store = store(&folder);
    // Two files that always say the same.
    let write = |n: usize| {
        let rows = |path| vec![record(path, "x", &format!("round {n}"))];
        fill(&store, &Model::from([("a".into(), rows("a")), ("b".into(), rows("b"))]));
    };
    write(0);
    std::thread::scope(|scope| {
        let writer = Arc::new(scope.spawn(|| (1..ROUNDS).for_each(write)));
        for read_only in [true, false, true] {
            let (writer, dir) = (Arc::clone(&writer), &folder.dir);
            scope.spawn(move || {
                let store = if read_only {
                    Store::open_read_only(dir).unwrap()
                } else {
                    Store::open(dir, Duration::from_secs(20)).unwrap()
                };
                while !writer.is_finished() {
                    let snapshot = store.snapshot().unwrap();
                    assert_eq!(verify(&snapshot, &phrases_of, &words_of).unwrap(), []);
                    let texts: BTreeSet<String> = snapshot
                        .ids()
                        .unwrap()
                        .map(|id| snapshot.head(id.unwrap().1).unwrap().unwrap().summary.text)
                        .collect();
                    assert_eq!(texts.len(), 1);
                }
            });
        }
    });
}

#[test]
fn a_second_writer_waits_for_as_long_as_it_is_told() {
    let folder = folder();
    let store = store(&folder);
    let other = Store::open(&folder.dir, NO_WAIT).unwrap();
    let batch = store.begin(NO_WAIT).unwrap();
    for busy in [&store, &other] {
        let error = busy.begin(Duration::from_millis(12)).unwrap_err();
        assert!(
            matches!(error, StoreError::Busy { waited } if waited >= Duration::from_millis(12))
        );
    }
    // Opening for writing needs the writer's place too; reading does not.
    let error = Store::open(&folder.dir, Duration::from_millis(6)).unwrap_err();
    assert!(matches!(error, StoreError::Busy { .. }), "{error:?}");
    assert!(Store::open_read_only(&folder.dir).unwrap().snapshot().is_ok());
    drop(batch);
    assert!(other.begin(NO_WAIT).is_ok());
}

#[test]
fn all_who_create_at_once_get_the_same_store() {
    let folder = folder();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let dir = &folder.dir;
            scope.spawn(move || {
                let store = Store::create_or_open(dir, Duration::from_secs(20)).unwrap();
                let mut batch = store.begin(Duration::from_secs(20)).unwrap();
                let path = format!("f{n}");
                put(&mut batch, &file(&path), &[record(&path, "x", "t")]);
                batch.commit(b"m").unwrap();
            });
        }
    });
    let store = Store::open_read_only(&folder.dir).unwrap();
    assert_eq!(store.snapshot().unwrap().totals().n_files, 8);
    let mut names: Vec<String> = fs::read_dir(&folder.dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, [".gitignore", "segments", "store.redb"]);
}

// What is refused.

#[test]
fn a_folder_without_a_store_is_not_found() {
    let folder = folder();
    for result in [Store::open(&folder.dir, NO_WAIT), Store::open_read_only(&folder.dir)] {
        assert!(matches!(result, Err(StoreError::NotFound { .. })));
    }
    assert!(!folder.dir.exists());
}

#[test]
fn a_store_for_reading_refuses_writes() {
    let folder = folder();
    drop(store(&folder));
    let store = Store::open_read_only(&folder.dir).unwrap();
    assert!(matches!(store.begin(NO_WAIT), Err(StoreError::ReadOnly)));
}

/// Writes past the store.
fn damage(store: &Store, change: impl FnOnce(&redb::WriteTransaction)) {
    let opened = store.current(NO_WAIT).unwrap();
    let super::Access::Write(database) = &opened.access else { panic!() };
    let transaction = database.begin_write().unwrap();
    change(&transaction);
    transaction.commit().unwrap();
}

fn set_format(dir: &Path, format: &[u8]) {
    damage(&Store::open(dir, NO_WAIT).unwrap(), |transaction| {
        transaction.open_table(tables::META).unwrap().insert("format", format).unwrap();
    });
}

fn must_refuse(format: u32, results: impl IntoIterator<Item = Result<Store, StoreError>>) {
    for result in results {
        let error = result.unwrap_err();
        assert_eq!(error.fault(), Fault::Data);
        let (StoreError::FormatTooNew { found, supported }
        | StoreError::FormatTooOld { found, supported, .. }) = error
        else {
            panic!("{error:?}")
        };
        assert_eq!((found, supported), (format, super::FORMAT));
    }
}

#[test]
fn a_newer_format_is_refused() {
    let folder = folder();
    drop(store(&folder));
    let newer = super::FORMAT + 1;
    set_format(&folder.dir, &newer.to_le_bytes());
    must_refuse(
        newer,
        [
            Store::open(&folder.dir, NO_WAIT),
            Store::create_or_open(&folder.dir, NO_WAIT),
            Store::open_read_only(&folder.dir),
        ],
    );
}

#[test]
fn an_older_format_is_refused_but_to_be_filled_anew_and_stays_until_that_is_done() {
    let folder = folder();
    let files = Model::from([("a".into(), vec![record("a", "x", "one")])]);
    fill(&store(&folder), &files);
    let older = super::FORMAT - 1;
    set_format(&folder.dir, &older.to_le_bytes());
    let refused = || {
        must_refuse(older, [Store::open(&folder.dir, NO_WAIT), Store::open_read_only(&folder.dir)]);
    };
    refused();
    let store = store(&folder);
    assert!(matches!(store.snapshot(), Err(StoreError::FormatTooOld { .. })));
    let batch = store.begin(NO_WAIT).unwrap();
    assert_eq!(batch.older().map(|older| (older.format, older.n_files)), Some((older, 1)));
    assert_eq!(batch.empty_snapshot().unwrap().unwrap().totals(), &Totals::default());
    drop(batch);
    refused();
    let mut batch = store.begin(NO_WAIT).unwrap();
    let generation = batch.generation();
    put(&mut batch, &file("a"), &[record("a", "x", "two")]);
    batch.commit(b"m").unwrap();
    let snapshot = Store::open_read_only(&folder.dir).unwrap().snapshot().unwrap();
    assert_eq!(snapshot.generation(), generation + 1);
    assert_eq!(snapshot.totals().n_records, 1);
    assert_eq!(store.snapshot().unwrap().generation(), generation + 1);
    assert_eq!(store.begin(NO_WAIT).unwrap().older(), None);
}

#[test]
fn a_file_that_is_no_store_is_refused_and_left_alone() {
    type Open = fn(&Path) -> Result<Store, StoreError>;
    let folder = folder();
    drop(store(&folder));
    let path = folder.dir.join("store.redb");
    let whole = fs::read(&path).unwrap();
    let mut contents: Vec<Vec<u8>> = vec![vec![], b"not a store".to_vec(), vec![0; 100_000]];
    for keep in [1, 8, 100, 320, 4096, 5000, whole.len() / 2, whole.len() - 1] {
        contents.push(whole[..keep].to_vec());
    }
    for content in contents {
        fs::write(&path, &content).unwrap();
        let opens: [Open; 2] = [|dir| Store::create_or_open(dir, NO_WAIT), Store::open_read_only];
        for open in opens {
            let result = open(&folder.dir).and_then(|store| store.snapshot().map(|s| dump(&s)));
            match result {
                Err(error) => {
                    assert_eq!(error.fault(), Fault::Data, "{} bytes: {error:?}", content.len());
                    assert!(error.to_string().contains("psos index"), "{error}");
                }
                // A reader does not look at what it does not need.
                Ok(text) => assert!(content.len() > 5000, "{} bytes: {text}", content.len()),
            }
        }
        assert_eq!(fs::read(&path).unwrap().len(), content.len());
    }
}

#[cfg(unix)]
#[test]
fn a_store_in_a_folder_without_write_permission_can_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    fill(&store(&folder), &Model::from([("a".into(), vec![record("a", "x", "one")])]));
    let path = folder.dir.join("store.redb");
    let before = fs::read(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(&folder.dir, fs::Permissions::from_mode(0o555)).unwrap();
    let n = Store::open_read_only(&folder.dir).unwrap().snapshot().unwrap().totals().n_records;
    assert_eq!(n, 1);
    fs::set_permissions(&folder.dir, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn verify_names_what_contradicts() {
    let folder = folder();
    let store = store(&folder);
    fill(
        &store,
        &Model::from([("a".into(), vec![record("a", "x", "one"), record("a", "y", "two")])]),
    );
    damage(&store, |transaction| {
        transaction.open_table(tables::IDS).unwrap().remove("a#x").unwrap();
        let other = encode_detail(&Detail { exact: "other".into(), hidden: vec![] });
        transaction.open_table(tables::DETAILS).unwrap().insert(1, other.as_slice()).unwrap();
        transaction.open_table(tables::FORWARDS).unwrap().insert(7, &[9][..]).unwrap();
        transaction.open_table(tables::PHRASES).unwrap().insert(("do z", 1), ()).unwrap();
    });
    let found: Vec<String> = problems(&store).iter().map(Problem::to_string).collect();
    expect![[r"
        details `a#y`: the text does not have the hash of the record
        forwards `7`: belongs to no record
        heads `a#x`: cannot be reached by its id
        meta `totals`: the sums are not those of the records
        phrases `a#y`: does not have the phrases of its triggers
        spoken `a#y`: is not what the table `phrases` says"]]
    .assert_eq(&found.join("\n"));
}

#[test]
fn a_dump_reads_like_the_content() {
    let folder = folder();
    let store = store(&folder);
    let mut batch = store.begin(NO_WAIT).unwrap();
    put(&mut batch, &file("a"), &[record("a", "x", "one")]);
    batch.commit(b"m").unwrap();
    expect![[r#"
        {"breadcrumb":["Guide"],"bytes":[0,3],"children":[],"costs":[[3,4],[4,5],[5,6],[2,3]],"description":["derived","On x."],"detail":"one","forward":"d5a06c6df8918de45c82f2472544c2bb9c70ed4d4eef462a715b950d97e00a1e","hash":"d33fb48ab5adff269ae172b29a6913ff04f6f266207a7a8e976f2ecd571d4492","hidden":[],"kind":"section","language":"english","lines":[1,2],"path":"a","record":"a#x","scope":"","summary":["authored","one"],"title":"x","triggers":[["authored","do x"]]}
        {"content":{"hash":"17762fddd969a453925d65717ac3eea21320b66b54342fde15128d6caf21215f","size":9},"file":"a","n_records":1,"notes":[],"reader_version":1,"sidecar":null}
        {"ids":["a#x"],"phrase":"do x"}
        {"fingerprint":""}
        {"totals":{"by_kind":{"file":0,"item":0,"row":0,"section":1,"skill":0},"by_language":{"arabic":0,"danish":0,"dutch":0,"english":1,"finnish":0,"french":0,"german":0,"greek":0,"hungarian":0,"italian":0,"norwegian":0,"other":0,"portuguese":0,"romanian":0,"russian":0,"spanish":0,"swedish":0,"tamil":0,"turkish":0},"descriptions":{"authored":0,"derived":1,"grown":0},"detail_bytes":3,"detail_tokens":5,"field_terms":[2,1,0,0,0,3],"n_files":1,"n_records":1,"summaries":{"authored":1,"derived":0,"grown":0},"triggers":{"authored":1,"derived":0,"grown":0}}}
    "#]].assert_eq(&dump(&store.snapshot().unwrap()));
}

#[test]
fn every_table_is_described() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/schema/store.md")).unwrap();
    for name in tables::NAMES {
        assert!(page.contains(&format!("\n## `{name}`")), "schema/store.md lacks table `{name}`");
    }
    for name in tables::meta::NAMES {
        assert!(page.contains(&format!("\n| `{name}` |")), "schema/store.md lacks fact `{name}`");
    }
    let n_headings = page.matches("\n## `").count();
    assert_eq!(n_headings, tables::NAMES.len(), "schema/store.md has a table too many");
}

#[test]
fn a_new_store_has_every_table_and_no_other() {
    use redb::{ReadableDatabase, TableHandle};
    let folder = folder();
    let store = store(&folder);
    let opened = store.current(NO_WAIT).unwrap();
    let super::Access::Write(database) = &opened.access else { panic!() };
    let transaction = database.begin_read().unwrap();
    let mut names: Vec<String> =
        transaction.list_tables().unwrap().map(|table| table.name().to_owned()).collect();
    names.sort();
    assert_eq!(names, tables::NAMES);
    assert_eq!(transaction.list_multimap_tables().unwrap().count(), 0);
    let sizes = store.snapshot().unwrap().table_sizes().unwrap();
    assert_eq!(sizes.iter().map(|size| size.name).collect::<Vec<_>>(), tables::NAMES);
}

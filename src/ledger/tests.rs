//! The ledger: links, cuts, two writers, leases.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

const WAIT: Duration = Duration::from_secs(5);

fn at(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn ledger() -> (TempDir, Ledger) {
    let dir = TempDir::new().unwrap();
    let ledger = Ledger::open(dir.path(), WAIT).unwrap();
    (dir, ledger)
}

fn filled(ledger: &Ledger, run: &RunId, n: u64) -> Head {
    let mut head = Head::START;
    for i in 0..n {
        let event = ("did", json!({"z": i, "a": "x"}));
        head = ledger.append(run, &head, at(i), &Actor::harness(), event).unwrap().head();
    }
    head
}

#[test]
fn a_journal_is_read_as_it_was_written_also_by_another_handle() {
    let (dir, ledger) = ledger();
    let (run, other) = (RunId::from_text("r"), RunId::from_text("r2"));
    let head = filled(&ledger, &run, 5);
    filled(&ledger, &other, 2);
    let again = Ledger::open_existing(dir.path(), WAIT).unwrap();
    let entries = again.entries(&run).unwrap();
    assert_eq!(entries.len(), 5);
    assert_eq!(entries.last().unwrap().head(), head);
    assert_eq!(entries[3].body["z"], 3);
    assert_eq!(again.runs().unwrap(), [run, other]);
}

#[test]
fn of_two_writers_of_a_run_exactly_one_goes_on() {
    let (dir, first) = ledger();
    let run = RunId::from_text("r");
    let head = filled(&first, &run, 3);
    let second = Ledger::open(dir.path(), WAIT).unwrap();
    let event = || ("did", Value::Null);
    second.append(&run, &head, at(9), &Actor::harness(), event()).unwrap();
    let lost = first.append(&run, &head, at(9), &Actor::harness(), event());
    assert!(matches!(lost, Err(LedgerError::Moved { .. })), "{lost:?}");
    assert_eq!(first.entries(&run).unwrap().len(), 4);
}

#[test]
fn an_entry_that_is_missing_is_named() {
    for gone in [0, 2, 4] {
        let (_dir, ledger) = ledger();
        let run = RunId::from_text("r");
        filled(&ledger, &run, 5);
        ledger
            .write(|transaction| {
                let mut table = transaction.open_table(ENTRIES)?;
                table.remove(entry_key(&run, gone).as_str())?;
                Ok(Ok(()))
            })
            .unwrap();
        match ledger.entries(&run) {
            Err(LedgerError::Cut { seq, .. }) => assert_eq!(seq, gone),
            other => panic!("without entry {gone}: {other:?}"),
        }
    }
}

#[test]
fn a_file_that_was_cut_off_is_an_error_and_no_panic() {
    let (dir, ledger) = ledger();
    filled(&ledger, &RunId::from_text("r"), 50);
    drop(ledger);
    let path = dir.path().join(FILE_NAME);
    let bytes = std::fs::read(&path).unwrap();
    for keep in [0, 1, 300, bytes.len() / 2, bytes.len() - 4096] {
        std::fs::write(&path, &bytes[..keep]).unwrap();
        let read = Ledger::open_existing(dir.path(), WAIT)
            .and_then(|ledger| ledger.entries(&RunId::from_text("r")));
        let named = matches!(
            read,
            Err(LedgerError::Damaged { .. } | LedgerError::Io { .. } | LedgerError::Cut { .. })
        );
        assert!(named, "{keep} bytes: {:?}", read.map(|entries| entries.len()));
    }
}

#[test]
fn an_absent_ledger_and_an_absent_run_are_named() {
    let dir = TempDir::new().unwrap();
    let none = Ledger::open_existing(dir.path(), WAIT);
    assert!(matches!(none, Err(LedgerError::NotFound { .. })), "{none:?}");
    let ledger = Ledger::open(dir.path(), WAIT).unwrap();
    let no_run = ledger.entries(&RunId::from_text("x"));
    assert!(matches!(no_run, Err(LedgerError::NoRun { .. })), "{no_run:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is done to one byte of an export, or to the order of its lines, is found.
    #[test]
    fn a_changed_export_is_found(at_byte in 0_usize..2_000, with in any::<u8>(), swap in 0_usize..5) {
        let run = RunId::from_text("r");
        let mut head = Head::START;
        let mut entries = Vec::new();
        for i in 0..6 {
            let entry = Entry::after(&head, &run, at(i), &Actor::harness(), "did", json!({"b": i, "a": [1, "x"]}));
            head = entry.head();
            entries.push(entry);
        }
        let text = to_json_lines(&entries);
        prop_assert_eq!(&from_json_lines(&text).unwrap(), &entries);
        let mut bytes = text.clone().into_bytes();
        let at_byte = at_byte % bytes.len();
        // An end of line may become another white space, or vanish at the very end.
        if bytes[at_byte] != with && bytes[at_byte] != b'\n' {
            bytes[at_byte] = with;
            let changed = String::from_utf8_lossy(&bytes).into_owned();
            prop_assert!(from_json_lines(&changed).is_err(), "{changed}");
        }
        entries.swap(swap, swap + 1);
        prop_assert!(from_json_lines(&to_json_lines(&entries)).is_err());
    }
}

#[test]
fn one_run_holds_a_resource_until_it_gives_it_back_or_its_time_is_up() {
    let (_dir, ledger) = ledger();
    let (a, b) = (RunId::from_text("a"), RunId::from_text("b"));
    let claim = |run: &RunId, now, until| ledger.claim("out/x", run, (at(now), at(until)), None);
    let first = claim(&a, 0, 100).unwrap();
    assert!(matches!(claim(&b, 50, 200), Err(LedgerError::Held { holder, .. }) if holder == a));
    // Its holder renews it, also after a crash.
    assert_eq!(claim(&a, 60, 150).unwrap().token, first.token);
    let second = claim(&b, 150, 300).unwrap();
    assert!(second.token > first.token);
    assert!(matches!(ledger.release(&first, None, None), Err(LedgerError::Lost { .. })));
    let changed = ledger.release(&second, Some("x"), Some("y"));
    assert!(matches!(changed, Err(LedgerError::Changed { .. })), "{changed:?}");
    let third = claim(&a, 151, 300).unwrap();
    assert!(third.token > second.token);
    ledger.release(&third, Some("x"), Some("x")).unwrap();
}

#[test]
fn equal_values_are_equal_bytes() {
    let a: Value = serde_json::from_str(r#"{"b": [1, {"d": null, "c": "\""}], "a": 1}"#).unwrap();
    assert_eq!(canonical(&a), r#"{"a":1,"b":[1,{"c":"\"","d":null}]}"#);
}

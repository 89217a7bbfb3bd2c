//! Properties of verdicts, searches and coverage. The table of lies is in `scenario::citations`.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::search::{Mode, Pattern, search};
use super::{
    Checker, Citation, Doubt, NotGrounded, Span, Verdict, coverage, ground_absence, quote,
};

fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (file, text) in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn find(root: &Path, text: &str, mode: Mode) -> super::search::Search {
    search(root, &Pattern { text: text.to_owned(), mode })
}

#[test]
fn a_moved_citation_is_corrected_and_grounds() {
    let folder = tree(&[("a.txt", "first line here\nsecond line here\n")]);
    let checker = Checker::open(folder.path()).unwrap();
    let cited = Citation::parse("a.txt:1", "second line here").unwrap();
    let checked = checker.check(&cited);
    assert_eq!(checked.verdict, Verdict::Moved { line: 2 });
    assert_eq!(checked.citation.line, 2);
    assert!(checked.grounds());
    let hash = blake3::hash(b"first line here\nsecond line here\n").to_hex().to_string();
    assert_eq!(checked.file_blake3, Some(hash));
    // What was corrected holds as it now stands.
    assert_eq!(checker.check(&checked.citation).verdict, Verdict::Verified);
}

#[test]
fn a_place_is_read_in_the_forms_that_models_write() {
    for (place, want) in [
        ("src/a.rs:12", Some(("src/a.rs", 12))),
        (" src/a.rs:12-14 ", Some(("src/a.rs", 12))),
        ("src/a.rs:L12", Some(("src/a.rs", 12))),
        ("C:\\a.rs:3", Some(("C:\\a.rs", 3))),
        ("src/a.rs", None),
        ("src/a.rs:", None),
        ("src/a.rs:-1", None),
        ("src/a.rs:twelve", None),
        ("src/a.rs:99999999999", None),
    ] {
        let parsed = Citation::parse(place, "q");
        let parsed = parsed.as_ref().map(|it| (it.file.as_str(), it.line));
        assert_eq!(parsed, want, "{place}");
    }
}

#[test]
fn a_tree_that_is_none_is_an_error() {
    let folder = tree(&[("a.txt", "x")]);
    assert!(Checker::open(&folder.path().join("a.txt")).is_err());
    assert!(Checker::open(&folder.path().join("none")).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Whatever is verified stands there, by a search that knows nothing of how it was verified.
    #[test]
    fn what_is_verified_stands_there(
        lines in prop::collection::vec("[ab_ ]{0,12}", 1..12),
        quote in "[ab_]{1,3}[ab_ \n]{8,12}",
        line in 0_u32..14,
    ) {
        let text = lines.join("\n");
        prop_assume!(quote::doubt(&quote).is_none());
        let standing = |n: u32| {
            let rest = lines.get((n as usize).wrapping_sub(1)..).unwrap_or_default();
            let rest = rest.join("\n");
            let first = rest.split('\n').next().unwrap_or_default().len();
            rest.match_indices(quote.trim()).any(|(at, _)| at < first)
        };
        match quote::judge(&text, line, &quote) {
            Verdict::Verified => prop_assert!(standing(line)),
            Verdict::VerifiedWhitespace => {
                let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
                prop_assert!(joined(&text).contains(&joined(&quote)));
            }
            Verdict::Moved { line: to } => prop_assert!(to != line && !standing(line)),
            Verdict::Refuted { .. } => {}
            Verdict::Unverifiable { .. } => prop_assert!(false),
        }
    }

    /// Every whole line that is long enough is verified where it stands.
    #[test]
    fn an_honest_quote_is_verified(
        lines in prop::collection::vec("[a-d]{2,5}[ (]{1}[a-dé=]{4,9}[;)]?", 1..9),
        pick in any::<prop::sample::Index>(),
    ) {
        let idx = pick.index(lines.len());
        prop_assume!(quote::doubt(&lines[idx]).is_none());
        let verdict = quote::judge(&lines.join("\n"), u32::try_from(idx + 1).unwrap(), &lines[idx]);
        prop_assert_eq!(verdict, Verdict::Verified);
    }
}

#[test]
fn a_search_finds_every_place_once_and_says_what_it_searched() {
    let folder = tree(&[
        ("b.rs", "call(x);\nrecall(x); call (y) call\n"),
        ("a/c.txt", "no such word\n"),
        ("ignored/d.rs", "call()\n"),
        (".hidden/e.rs", "call()\n"),
        (".psosignore", "ignored/\n"),
        ("bin.dat", "\0\0call\0"),
    ]);
    let word = find(folder.path(), "call", Mode::Word);
    let places: Vec<_> =
        word.hits.iter().map(|hit| (hit.file.as_str(), hit.line, hit.column)).collect();
    assert_eq!(places, [("b.rs", 1, 1), ("b.rs", 2, 12), ("b.rs", 2, 21), ("bin.dat", 1, 3)]);
    assert_eq!(word.hits[1].text, "recall(x); call (y) call");
    assert_eq!(word.hits[1].offset, 9 + 11);
    assert_eq!((word.n_files, word.is_exhaustive()), (3, true));
    assert_eq!(word.files(), ["b.rs", "bin.dat"]);
    assert_eq!(find(folder.path(), "call", Mode::Literal).hits.len(), 5);
    // The same search of the same files has the same record.
    assert_eq!(word, find(folder.path(), "call", Mode::Word));
    fs::write(folder.path().join("a/c.txt"), "no such word!\n").unwrap();
    assert_ne!(word.blake3, find(folder.path(), "call", Mode::Word).blake3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Lines, columns and texts agree with a search line by line.
    #[test]
    fn a_search_agrees_with_a_naive_one(text in "[ab_\n]{0,60}", needle in "[ab_]{1,3}") {
        let folder = tree(&[("t.txt", &text)]);
        let found = find(folder.path(), &needle, Mode::Word);
        let is_word = |c: Option<u8>| c.is_some_and(|c| c != b'\n');
        let mut want = Vec::new();
        for (line_idx, line) in text.split('\n').enumerate() {
            let mut from = 0;
            while let Some(at) = line.get(from..).and_then(|rest| rest.find(&needle)) {
                let at = from + at;
                let bytes = line.as_bytes();
                let before = at.checked_sub(1).and_then(|i| bytes.get(i)).copied();
                if is_word(before) || is_word(bytes.get(at + needle.len()).copied()) {
                    from = at + 1;
                } else {
                    want.push((line_idx + 1, at + 1, line.to_owned()));
                    from = at + needle.len();
                }
            }
        }
        let got: Vec<_> = found
            .hits
            .iter()
            .map(|hit| (hit.line as usize, hit.column as usize, hit.text.clone()))
            .collect();
        prop_assert_eq!(got, want);
    }
}

#[test]
fn what_was_not_looked_at_is_listed() {
    let folder = tree(&[("a.rs", "f()\n\nf()\n"), ("b.rs", "f()\n")]);
    let found = find(folder.path(), "f", Mode::Word);
    let looked_at = [Span { file: "a.rs".to_owned(), first: 2, last: 9 }];
    let coverage = coverage(&found, &looked_at);
    let name = |hit: &super::search::Hit| format!("{}:{}", hit.file, hit.line);
    assert_eq!(coverage.examined.iter().map(|hit| name(hit)).collect::<Vec<_>>(), ["a.rs:3"]);
    let left: Vec<_> = coverage.unexamined.iter().map(|hit| name(hit)).collect();
    assert_eq!(left, ["a.rs:1", "b.rs:1"]);
}

#[test]
fn there_is_none_is_said_only_after_an_exhaustive_search() {
    let folder = tree(&[("a.rs", "f()\n")]);
    let none = find(folder.path(), "g", Mode::Word);
    assert_eq!(ground_absence(&none), Ok(none.blake3.as_str()));
    let some = find(folder.path(), "f", Mode::Word);
    let found = NotGrounded::Found { n_hits: 1, first: "a.rs:1".to_owned() };
    assert_eq!(ground_absence(&some), Err(found));
    let empty = find(folder.path(), "", Mode::Word);
    assert_eq!(ground_absence(&empty), Err(NotGrounded::EmptyPattern));
    // A file too long to be searched: it could be in there.
    let long = fs::File::create(folder.path().join("long.txt")).unwrap();
    long.set_len(super::search::MAX_SEARCHED_BYTES + 1).unwrap();
    let error = ground_absence(&find(folder.path(), "g", Mode::Word)).map(str::to_owned);
    assert!(error.unwrap_err().to_string().contains("`long.txt`: longer than"));
}

#[test]
fn a_doubtful_quote_of_a_file_outside_is_refuted_not_doubted() {
    let folder = tree(&[("a.txt", "x\n")]);
    let checker = Checker::open(folder.path()).unwrap();
    let verdict = |file: &str| {
        checker.check(&Citation { file: file.to_owned(), line: 1, quote: String::new() }).verdict
    };
    assert_eq!(verdict("a.txt"), Verdict::Unverifiable { reason: Doubt::NoQuote });
    assert!(matches!(verdict("../a.txt"), Verdict::Refuted { .. }));
}

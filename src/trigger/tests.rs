//! Claims about triggers in texts, and a naive scan that says the same.
//!
//! 1. A phrase is found wherever it stands word for word, however it is written.
//! 2. The end of a text is completed within its last word, from three characters.
//! 3. A word has room for one edit from five letters and for two from nine, in both spellings.
//! 4. Words with digits, and scripts without spaces, have no room for edits.
//! 5. Longer matches come before shorter ones; a phrase is found once in a place, the surest way.
//! 6. Several automata answer as one with all their phrases.
//! 7. Dead phrases take no one's place.
//! 8. Damaged bytes are an error.
//! 9. A hundred thousand phrases and ten thousand words are no trouble.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::build::is_kept;
use super::{
    How, MAX_COMPLETIONS, MAX_FUZZY_WORDS, MAX_PHRASE_WORDS, MIN_TYPED, Match, TriggerError,
    Triggers, build, edits,
};
use crate::fault::Fault;
use crate::text::{self, phrase};

fn bytes(phrases: &[&str]) -> Vec<u8> {
    build(phrases.iter().copied()).unwrap()
}

fn render(matches: &[Match]) -> String {
    let line = |m: &Match| format!("{:?} {:?} {}\n", m.words, m.how, m.phrase);
    matches.iter().map(line).collect()
}

/// Scans `query` for `phrases` and compares what is found, one match a line.
#[expect(clippy::needless_pass_by_value, reason = "an expectation is written at the call")]
fn check(phrases: &[&str], query: &str, want: Expect) {
    let triggers = Triggers::open([bytes(phrases)]).unwrap();
    want.assert_eq(&render(&triggers.scan(query)));
}

#[test]
fn a_phrase_is_found_word_for_word_however_it_is_written() {
    check(
        &["Undo the last commit", "git reset --soft HEAD~1", "GPT-4", "C++", "commit"],
        "How do I undo the LAST `commit`, with git reset soft head 1 or gpt-4 or c++ committee?",
        expect![[r"
            8..13 Exact git reset soft head 1
            3..7 Exact undo the last commit
            6..7 Exact commit
            14..15 Exact gpt-4
            16..17 Exact c++
        "]],
    );
}

#[test]
fn composed_letters_wide_letters_and_curly_apostrophes_are_the_same() {
    check(
        &["caf\u{e9} \u{fc}ber", "can't push"],
        "CAFE\u{301} \u{dc}BER, can\u{2019}t \u{ff50}ush",
        expect![[r"
            0..2 Exact café über
            2..4 Exact can't push
        "]],
    );
}

#[test]
fn a_phrase_is_found_inside_a_script_without_spaces() {
    check(
        &["\u{64a4}\u{9500}\u{63d0}\u{4ea4}", "\u{63d0}\u{4ea4}", "\u{64a4}\u{9500}"],
        "git \u{600e}\u{4e48}\u{64a4}\u{9500}\u{63d0}\u{4ea4}",
        expect![[r"
            1..2 Exact 撤销提交
            1..2 Exact 撤销
            1..2 Exact 提交
        "]],
    );
}

#[test]
fn the_end_of_a_text_is_completed_within_its_last_word() {
    check(
        &["git commit", "git commit amend", "git compare", "commit", "company", "come here"],
        "git com",
        expect![[r"
            0..2 Prefix git commit
            0..2 Prefix git compare
            1..2 Prefix commit
            1..2 Prefix company
        "]],
    );
    check(&["git commit"], "git co", expect![""]);
    check(&["git commit"], "git com now", expect![""]);
}

#[test]
fn completions_are_the_first_in_byte_order() {
    let phrases: Vec<String> = (0..100).map(|i| format!("con{:02}x", 99 - i)).collect();
    let refs: Vec<&str> = phrases.iter().map(String::as_str).collect();
    let (some, others): (Vec<&str>, Vec<&str>) =
        refs.iter().copied().partition(|phrase| phrase.ends_with("0x") || phrase.ends_with("5x"));
    let want: Vec<String> = (0..MAX_COMPLETIONS).map(|i| format!("con{i:02}x")).collect();
    for automata in [vec![bytes(&refs)], vec![bytes(&some), bytes(&others)]] {
        let matches = Triggers::open(automata).unwrap().scan("con");
        let found: Vec<&str> = matches.iter().map(|m| m.phrase.as_str()).collect();
        assert_eq!(found, want);
    }
}

#[test]
fn a_word_has_room_for_edits_by_its_letters() {
    for (word, want) in [
        ("git", 0),
        ("rest", 0),
        ("reset", 1),
        ("rollback", 1),
        ("container", 2),
        ("utf8-decoder", 0),
        ("\u{fc}bersicht", 2),
        ("\u{64a4}\u{9500}\u{63d0}\u{4ea4}\u{64a4}\u{9500}", 0),
        ("-----------", 0),
        (&"a".repeat(61), 2),
        (&"a".repeat(62), 0),
    ] {
        assert_eq!(edits(word), want, "{word}");
    }
}

#[test]
fn a_misspelt_phrase_is_found() {
    for (phrase, query, want) in [
        // Each kind of edit, in each of several words.
        ("rebase", "rebsse", "0..1 Fuzzy { distance: 1 } rebase\n"),
        ("rebase", "rbase", "0..1 Fuzzy { distance: 1 } rebase\n"),
        ("rebase", "reebase", "0..1 Fuzzy { distance: 1 } rebase\n"),
        ("rebase", "rebaes", "0..1 Fuzzy { distance: 1 } rebase\n"),
        ("rebase", "xebase", "0..1 Fuzzy { distance: 1 } rebase\n"),
        ("rebase branch", "git rebas brunch x", "1..3 Fuzzy { distance: 2 } rebase branch\n"),
        (
            "delete the container",
            "delete the contianre",
            "0..3 Fuzzy { distance: 2 } delete the container\n",
        ),
        ("\u{fc}bersicht", "\u{fc}berischt", "0..1 Fuzzy { distance: 1 } \u{fc}bersicht\n"),
        ("\u{fc}bersicht", "ubersicht", "0..1 Fuzzy { distance: 1 } \u{fc}bersicht\n"),
        // Too short on one side, too far, or another number.
        ("reset", "rest", ""),
        ("rest", "reset", ""),
        ("rebase", "rabsse", ""),
        ("delete thy container", "delete the container", ""),
        ("version2", "version3", ""),
        ("version", "version2", ""),
        (
            "version2 container",
            "version2 contaner",
            "0..2 Fuzzy { distance: 1 } version2 container\n",
        ),
    ] {
        let triggers = Triggers::open([bytes(&[phrase])]).unwrap();
        assert_eq!(render(&triggers.scan(query)), want, "{phrase} in {query}");
    }
}

#[test]
fn longer_matches_come_first_and_the_surest_way_counts() {
    check(
        &["git commit", "git commits", "commit", "commits", "commit message"],
        "git commit",
        expect![[r"
            0..2 Exact git commit
            0..2 Prefix git commits
            1..2 Exact commit
            1..2 Prefix commits
        "]],
    );
    check(
        &["commit", "commits", "push", "commit push"],
        "push commit push commit push",
        expect![[r"
            1..3 Exact commit push
            3..5 Exact commit push
            0..1 Exact push
            1..2 Exact commit
            1..2 Fuzzy { distance: 1 } commits
            2..3 Exact push
            3..4 Exact commit
            3..4 Fuzzy { distance: 1 } commits
            4..5 Exact push
        "]],
    );
}

#[test]
fn phrases_without_words_and_phrases_that_are_prose_are_left_out() {
    let prose = vec!["word"; MAX_PHRASE_WORDS + 1].join(" ");
    let longest = vec!["word"; MAX_PHRASE_WORDS].join(" ");
    assert_eq!(bytes(&["", "?!", &prose]), bytes(&[]));
    assert_eq!(bytes(&["A b", "a  B!", "c"]), bytes(&["c", "a b"]));
    check(&[], "anything", expect![""]);
    check(&["anything"], " ?! ", expect![""]);
    assert_eq!(Triggers::open([bytes(&[&longest])]).unwrap().scan(&prose).len(), 2);
    assert!(Triggers::open::<Vec<u8>>([]).unwrap().scan("anything").is_empty());
}

#[test]
fn dead_phrases_take_no_ones_place() {
    let mut phrases: Vec<String> = (0..100).map(|i| format!("con{i:02}x")).collect();
    phrases.extend(["commit", "commits", "connect", "the con"].map(str::to_owned));
    let live: Vec<&str> = phrases
        .iter()
        .map(String::as_str)
        .filter(|p| p.contains("connect") || *p > "con50")
        .collect();
    let is_live = |phrase: &str| live.contains(&phrase);
    let refs: Vec<&str> = phrases.iter().map(String::as_str).collect();
    for query in ["the con", "commit the con", "commits", "comit konnect"] {
        assert_eq!(
            Triggers::open([bytes(&refs)]).unwrap().scan_live(query, is_live),
            Triggers::open([bytes(&live)]).unwrap().scan(query),
            "{query}"
        );
    }
}

#[test]
fn damaged_bytes_are_an_error_of_the_data() {
    let whole = bytes(&["git reset", "git rebase", "commit"]);
    assert!(Triggers::open([whole.as_slice()]).is_ok());
    for at in 0..whole.len() {
        for flip in [1, 0x80, 0xFF] {
            let mut broken = whole.clone();
            broken[at] ^= flip;
            let error = Triggers::open([broken]).unwrap_err();
            assert_eq!(error.fault(), Fault::Data, "byte {at}");
        }
        let error = Triggers::open([&whole[..at]]).unwrap_err();
        assert!(matches!(error, TriggerError::Damaged { .. }), "cut at {at}: {error}");
    }
}

#[test]
fn an_automaton_of_another_format_is_named_as_such() {
    let other = fst::Set::from_iter(["a"]).unwrap().into_fst().into_inner();
    expect!["trigger automaton has format 0x0, this build reads 0x70736f7300000001"]
        .assert_eq(&Triggers::open([other]).unwrap_err().to_string());
    let mut newer = bytes(&["a"]);
    newer[0] = 9;
    expect!["trigger automaton has format 0x9, this build reads 0x3"]
        .assert_eq(&Triggers::open([newer]).unwrap_err().to_string());
}

/// Phrases of two to six words, from a vocabulary that grows with their number.
fn many(n: usize) -> Vec<String> {
    let mut seed = 1_u64;
    let mut next = move |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize % below
    };
    let syllables = ["con", "tai", "ner", "re", "base", "com", "mit", "de", "ploy", "ser", "ver"];
    let phrase = |next: &mut dyn FnMut(usize) -> usize| {
        let words = (0..2 + next(5))
            .map(|_| (0..=next(4)).map(|_| syllables[next(syllables.len())]).collect::<String>());
        words.collect::<Vec<_>>().join(" ")
    };
    (0..n).map(|_| phrase(&mut next)).collect()
}

// How long this takes is measured by `cargo bench --bench trigger`; see benches/README.md.
#[test]
fn a_hundred_thousand_phrases_and_ten_thousand_words_are_no_trouble() {
    let phrases = many(100_000);
    let triggers = Triggers::open([build(phrases.iter().map(String::as_str)).unwrap()]).unwrap();
    let long = phrases[..2_500].join(" ");
    assert!(phrase(&long).split(' ').count() >= 9_000);
    let found = triggers.scan(&long);
    let found: BTreeSet<&str> = found.iter().map(|m| m.phrase.as_str()).collect();
    assert!(phrases[..2_500].iter().all(|phrase| found.contains(phrase.as_str())));
    let misspelt = vec!["contanier"; MAX_FUZZY_WORDS].join(" ");
    triggers.scan(&misspelt);
    // The hardest text for exact phrases: every place begins a long one.
    let repeated = vec!["a"; MAX_PHRASE_WORDS].join(" ");
    let hard = Triggers::open([bytes(&[&repeated])]).unwrap();
    assert_eq!(hard.scan(&vec!["a"; 10_000].join(" ")).len(), 10_000 - MAX_PHRASE_WORDS + 1);
}

/// The distance of two words by edits and swaps of neighbours, by the book.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut d = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            if i == 0 || j == 0 {
                d[i][j] = i + j;
                continue;
            }
            let differs = usize::from(a[i - 1] != b[j - 1]);
            d[i][j] = (d[i - 1][j] + 1).min(d[i][j - 1] + 1).min(d[i - 1][j - 1] + differs);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                d[i][j] = d[i][j].min(d[i - 2][j - 2] + 1);
            }
        }
    }
    d[a.len()][b.len()]
}

/// Every phrase against every place of the text, one after the other.
fn naive(phrases: &BTreeSet<String>, query: &str) -> Vec<Match> {
    let normal = phrase(query);
    let words: Vec<&str> = normal.split(' ').filter(|word| !word.is_empty()).collect();
    // The word and the place in the text of every byte at which a phrase may begin or end.
    let word_at = |byte: usize| normal[..byte].matches(' ').count();
    let inside = |byte: usize| {
        let word = words[word_at(byte)];
        normal.is_char_boundary(byte) && word.starts_with(text::is_unspaced)
    };
    let is_start = |&byte: &usize| {
        normal.is_char_boundary(byte)
            && !normal[byte..].starts_with(' ')
            && (byte == 0 || normal[..byte].ends_with(' ') || inside(byte))
    };
    let is_end = |&byte: &usize| {
        normal.is_char_boundary(byte)
            && !normal[..byte].ends_with(' ')
            && (byte == normal.len() || normal[byte..].starts_with(' ') || inside(byte))
    };
    let starts: Vec<usize> = (0..normal.len()).filter(is_start).collect();
    let mut best: BTreeMap<(usize, usize, &str), (How, Range<usize>)> = BTreeMap::new();
    let mut add = |words: Range<usize>, bytes: Range<usize>, phrase, how| {
        let key = (bytes.end - bytes.start, std::cmp::Reverse(bytes.start), std::cmp::Reverse(how));
        let old = best.entry((words.start, words.end, phrase)).or_insert((how, bytes.clone()));
        if key > (old.1.end - old.1.start, std::cmp::Reverse(old.1.start), std::cmp::Reverse(old.0))
        {
            *old = (how, bytes);
        }
    };
    for &start in &starts {
        for phrase in phrases {
            for end in (start + 1..=normal.len()).filter(is_end) {
                if normal[start..end] == **phrase {
                    add(word_at(start)..word_at(end) + 1, start..end, phrase.as_str(), How::Exact);
                }
            }
        }
        let typed = &normal[start..];
        if typed.rsplit(' ').next().unwrap().chars().count() >= MIN_TYPED {
            let continues = |p: &&String| {
                p.strip_prefix(typed).is_some_and(|rest| !rest.is_empty() && !rest.contains(' '))
            };
            for phrase in phrases.iter().filter(continues).take(MAX_COMPLETIONS) {
                add(word_at(start)..words.len(), start..normal.len(), phrase, How::Prefix);
            }
        }
    }
    for phrase in phrases {
        let parts: Vec<&str> = phrase.split(' ').collect();
        for (first, window) in words.windows(parts.len()).enumerate() {
            let distances: Vec<usize> =
                parts.iter().zip(window).map(|(p, q)| distance(p, q)).collect();
            let fits = parts.iter().zip(window).zip(&distances);
            let fits =
                fits.into_iter().all(|((p, q), &d)| d <= usize::from(edits(p).min(edits(q))));
            let sum = u8::try_from(distances.iter().sum::<usize>()).unwrap();
            if fits && sum > 0 {
                let words = first..first + parts.len();
                let mut ends = (0..=normal.len()).filter(is_end);
                let start = *starts.iter().find(|&&at| word_at(at) == words.start).unwrap();
                let end = ends.rfind(|&at| word_at(at) == words.end - 1).unwrap();
                add(words, start..end, phrase, How::Fuzzy { distance: sum });
            }
        }
    }
    let mut all: Vec<_> = best.into_iter().collect();
    all.sort_by_key(|((start, end, phrase), (how, bytes))| {
        (
            std::cmp::Reverse(end - start),
            *start,
            std::cmp::Reverse(bytes.end - bytes.start),
            bytes.start,
            *how,
            phrase.to_string(),
        )
    });
    all.into_iter()
        .map(|((start, end, phrase), (how, _))| Match {
            phrase: phrase.to_owned(),
            words: start..end,
            how,
        })
        .collect()
}

const WORDS: [&str; 22] = [
    "git",
    "the",
    "commit",
    "commits",
    "committed",
    "reset",
    "rest",
    "resets",
    "rebase",
    "container",
    "containers",
    "contain",
    "gpt-4",
    "version2",
    "node.js",
    "\u{fc}bersicht",
    "\u{64a4}\u{9500}\u{63d0}\u{4ea4}",
    "\u{63d0}\u{4ea4}",
    "\u{63d0}",
    "\u{3b1}\u{3bd}\u{3b1}\u{3af}\u{3c1}\u{3b5}\u{3c3}\u{3b7}",
    "c++",
    "con",
];

/// A word of the list, often with something done to it.
fn word() -> impl Strategy<Value = String> {
    let edit = (0..6_u8, 0..12_usize, prop::sample::select(vec!['a', 't', 'e', '\u{fc}', '2']));
    let edits = prop::collection::vec(edit, 0..3);
    (prop::sample::select(WORDS.to_vec()), edits).prop_map(|(word, edits)| {
        let mut chars: Vec<char> = word.chars().collect();
        for (kind, at, c) in edits {
            let at = at % chars.len().max(1);
            match kind {
                0 => chars.insert(at, c),
                1 if at < chars.len() => chars[at] = c,
                2 if at < chars.len() => drop(chars.remove(at)),
                3 if at + 1 < chars.len() => chars.swap(at, at + 1),
                4 => chars.truncate(at + 1),
                _ => {}
            }
        }
        chars.into_iter().collect()
    })
}

fn words(n: Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(word(), n).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn a_scan_finds_what_a_naive_scan_finds(
        phrases in prop::collection::vec(words(1..4), 0..40),
        cut in 0..40_usize,
        query in words(0..10),
    ) {
        let normal: BTreeSet<String> =
            phrases.iter().map(|p| phrase(p)).filter(|p| is_kept(p)).collect();
        let want = render(&naive(&normal, &query));
        let refs: Vec<&str> = phrases.iter().map(String::as_str).collect();
        let one = Triggers::open([bytes(&refs)]).unwrap();
        prop_assert_eq!(&render(&one.scan(&query)), &want);
        // The same phrases in two automata, some of them in both.
        let (base, delta) = (&refs[..cut.min(refs.len())], &refs[cut.min(refs.len()) / 2..]);
        let two = Triggers::open([bytes(base), bytes(delta)]).unwrap();
        prop_assert_eq!(&render(&two.scan(&query)), &want);
    }

    #[test]
    fn any_text_is_scanned_and_every_phrase_is_found_in_itself(text in ".{0,40}", other in any::<String>()) {
        let triggers = Triggers::open([bytes(&[&text, &other])]).unwrap();
        let normal = phrase(&text);
        let found = triggers.scan(&text);
        prop_assert_eq!(found.first().map(|m| m.phrase.as_str()), Some(normal.as_str()).filter(|p| !p.is_empty()));
        triggers.scan(&other);
    }

    #[test]
    fn the_normal_form_of_a_normal_form_is_itself(text in any::<String>()) {
        let once = phrase(&text);
        prop_assert_eq!(phrase(&once), once);
    }

    #[test]
    fn any_bytes_are_opened_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Triggers::open([bytes]).is_err());
    }
}

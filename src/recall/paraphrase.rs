//! What documents may call the thing that a question describes in other words: general English and
//! computing, written for this project and without sight of any question set.
//!
//! `words/paraphrases.txt` is what people edit: `asked / asked = said said`, one entry a line. What is
//! looked up is `words/paraphrases.tsv`, the same with stemmed words and in order, so that no time is spent on
//! it when a program starts; a test holds the two together.

use std::collections::BTreeMap;

use crate::text::Language;

const TABLE: &str = include_str!("words/paraphrases.tsv");
/// How far the words of an entry may be apart in a question, beside their own number.
const SLACK: usize = 3;

/// The most words of a question that are looked at, as of its words elsewhere.
const MAX_WORDS: usize = 512;

/// An entry whose words stand near each other in a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Paraphrase {
    /// The stems of the words that were asked, sorted.
    pub(crate) asked: Vec<&'static str>,
    /// The stems that documents may have instead, the most telling first.
    pub(crate) said: Vec<&'static str>,
}

/// Returns the entries that a question, in the form in which triggers are looked up, has the words of.
pub(crate) fn find(phrase: &str) -> Vec<Paraphrase> {
    let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, word) in phrase.split(' ').take(MAX_WORDS).enumerate() {
        places.entry(Language::English.stem(word)).or_default().push(place);
    }
    let mut found = Vec::new();
    for (word, at) in &places {
        for (asked, said) in entries(word) {
            let asked: Vec<&'static str> = asked.split(' ').collect();
            let near = |from: usize| {
                asked.iter().all(|other| {
                    let reach = SLACK + asked.len();
                    places.get(*other).is_some_and(|places| {
                        let next = places.partition_point(|&place| place + reach < from);
                        places.get(next).is_some_and(|&place| place <= from + reach)
                    })
                })
            };
            if at.iter().any(|&from| near(from)) {
                found.push(Paraphrase { asked, said: said.split(' ').collect() });
            }
        }
    }
    found
}

/// The entries of the table whose first word this is.
fn entries(word: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let (mut low, mut high) = (0, TABLE.len());
    // Both are starts of lines, or the end.
    while low < high {
        let middle = low.midpoint(high);
        let start = TABLE.as_bytes().iter().take(middle).rposition(|&b| b == b'\n');
        let start = start.map_or(0, |at| at + 1).max(low);
        let rest = TABLE.get(start..).unwrap_or_default();
        let line = rest.split('\n').next().unwrap_or_default();
        if first_word(line) < word {
            low = start + line.len() + 1;
        } else {
            high = start;
        }
    }
    TABLE
        .get(low..)
        .unwrap_or_default()
        .lines()
        .take_while({
            let word = word.to_owned();
            move |line| first_word(line) == word
        })
        .filter_map(|line| line.split_once('\t'))
}

fn first_word(line: &str) -> &str {
    line.split([' ', '\t']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use expect_test::expect_file;

    use super::{TABLE, entries, find, first_word};
    use crate::recall::lexicon::Role;
    use crate::text::{self, Language};

    const SOURCE: &str = include_str!("words/paraphrases.txt");

    fn stems(side: &str) -> impl Iterator<Item = String> {
        text::phrase(side)
            .split(' ')
            .filter(|word| !word.is_empty())
            .map(|word| Language::English.stem(word))
            .collect::<Vec<_>>()
            .into_iter()
    }

    /// The table as the source has it: each set of asked words once, without function words.
    fn table() -> String {
        let mut of: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
        for line in SOURCE.lines() {
            let (asked, said) = line.split_once(" = ").expect(line);
            for asked in asked.split(" / ") {
                let topic: Vec<&str> =
                    asked.split(' ').filter(|word| Role::of(word) != Role::Function).collect();
                let key: BTreeSet<String> = stems(&topic.join(" ")).collect();
                if key.is_empty() {
                    continue;
                }
                let slot = of.entry(key.iter().cloned().collect()).or_default();
                for word in text::terms(said, Language::English) {
                    if !slot.contains(&word) && !key.contains(&word) {
                        slot.push(word);
                    }
                }
            }
        }
        let lines = of.into_iter().filter(|(_, said)| !said.is_empty());
        lines.map(|(asked, said)| [asked.join(" "), said.join(" ")].join("\t") + "\n").collect()
    }

    /// Written anew by `UPDATE_EXPECT=1 cargo test paraphrase`.
    #[test]
    fn the_table_is_the_source_with_stemmed_words_in_order() {
        expect_file!["words/paraphrases.tsv"].assert_eq(&table());
    }

    #[test]
    fn every_line_of_the_source_has_two_sides() {
        for line in SOURCE.lines() {
            let (asked, said) = line.split_once(" = ").expect(line);
            assert!(line.is_ascii() && line == line.to_lowercase(), "{line}");
            assert!(!asked.trim().is_empty() && !said.trim().is_empty(), "{line}");
        }
    }

    #[test]
    fn every_first_word_finds_all_its_lines() {
        let mut words: BTreeMap<&str, usize> = BTreeMap::new();
        for line in TABLE.lines() {
            *words.entry(first_word(line)).or_default() += 1;
        }
        for (word, n) in words.into_iter().step_by(7) {
            assert_eq!(entries(word).count(), n, "{word}");
        }
        for absent in ["", "0", "zzzz", "\u{4e00}", "acces denied"] {
            assert_eq!(entries(absent).count(), 0, "{absent}");
        }
    }

    #[test]
    fn words_of_an_entry_must_stand_near_each_other() {
        let said = |phrase: &str, word: &str| {
            let stem = Language::English.stem(word);
            find(&text::phrase(phrase)).iter().any(|entry| entry.said.contains(&stem.as_str()))
        };
        assert!(said("how do I put the columns side by side?", "pivot"));
        assert!(said("turn the rows of my table into columns", "pivot"));
        let apart = format!("rows {} columns", "and then something else ".repeat(9));
        assert!(!said(&apart, "pivot"));
    }
}

//! Claims about ids, slugs and what of a record is shown.

use super::{Kind, Lines, Record, RecordId, Slugger, Span, TierText, slug};
use crate::text::Language;

#[test]
fn slugs_are_those_of_github() {
    for (heading, want) in [
        ("Undo the last commit", "undo-the-last-commit"),
        ("C#", "c"),
        ("What's new in 2.0?", "whats-new-in-20"),
        ("snake_case & co", "snake_case--co"),
        ("`git reset --soft`", "git-reset---soft"),
        ("\u{dc}ber uns", "\u{fc}ber-uns"),
    ] {
        assert_eq!(slug(heading), want, "{heading}");
    }
}

#[test]
fn repeated_headings_are_numbered_and_numbers_never_collide() {
    let mut slugger = Slugger::default();
    let slugs: Vec<String> =
        ["Setup", "Setup-1", "Setup", "Setup"].map(|heading| slugger.slug(heading)).to_vec();
    assert_eq!(slugs, ["setup", "setup-1", "setup-2", "setup-3"]);
}

#[test]
fn the_anchor_is_what_follows_the_path_even_with_a_hash_in_it() {
    let id = RecordId::of_part("a#b.md", "c");
    assert_eq!(id.anchor_in("a#b.md"), "c");
    assert_eq!(RecordId::of_file("a.md").anchor_in("a.md"), "");
}

#[test]
fn a_hidden_block_is_not_shown() {
    let detail = "## A\n\n<!-- psos\nsummary: x\n-->\n\nText.\n\n".to_owned();
    let start = detail.find("<!--").unwrap();
    let end = detail.find("-->").unwrap() + 3;
    let record = Record {
        id: RecordId::of_part("a.md", "a"),
        path: "a.md".into(),
        kind: Kind::Section,
        title: "A".into(),
        breadcrumb: vec![],
        scope: String::new(),
        span: Span { bytes: 0..detail.len() as u64, lines: Lines { first: 1, last: 7 } },
        language: Language::English,
        triggers: vec![],
        description: TierText::derived("A"),
        summary: TierText::authored("x"),
        detail,
        hidden: vec![start..end],
        children: vec![],
    };
    assert_eq!(record.shown(), "## A\n\nText.");
}

//! Claims about ids, slugs and what of a record is shown.

use super::blob::without_blobs;
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
        hidden: std::iter::once(start..end).collect(),
        body: None,
        children: vec![],
    };
    assert_eq!(record.shown(), "## A\n\nText.");
}

#[test]
fn encoded_bytes_and_minified_code_are_not_words() {
    let base64 = "iVBORw0KGgoAAAANSUhEUgAAAAUA".repeat(8);
    let image = format!("See ![logo](data:image/png;base64,{base64}) here.");
    assert_eq!(without_blobs(&image), "See ![logo](data:image/png;base64,) here.");
    let pem = format!("key:\n{}\n{}\nend\n", &base64[..64], &base64[3..67]);
    assert_eq!(without_blobs(&pem), "key:\n\n\nend\n");
    let minified = "function(a){return a.b.c(d,e)};".repeat(100);
    assert_eq!(without_blobs(&format!("// x\n{minified}\ny")), "// x\n\ny");
}

#[test]
fn long_words_and_paths_and_unspaced_scripts_are_words() {
    let path = "/usr/share/some/long/path/with-many-parts/and_names/".repeat(6);
    let chinese = "\u{9ed1}\u{8c79}\u{961f}".repeat(1_000);
    let prose = "Plain words in a long line, with spaces. ".repeat(100);
    let hash = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    for text in [path.as_str(), &chinese, &prose, hash, ""] {
        assert_eq!(without_blobs(text), text);
    }
}

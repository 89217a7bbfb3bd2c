//! Claims about Markdown: sections, ids, titles, comment blocks, sidecars.

use super::{long, outline, read_checked, read_text, read_with_sidecar, remarks, triggers};
use crate::reader::{Fields, Input, Options, Tiers, read};
use crate::record::Origin;
use expect_test::{Expect, expect};

fn check(text: &str, want: Expect) {
    let text = long(text);
    let document = read_checked("a.md", &text);
    want.assert_eq(&outline(&document));
}

#[test]
fn a_section_ends_at_the_next_heading_of_any_level() {
    check(
        "# Guide\n\nIntro.\n\n## A\n\nText.\n\n### A.1\n\nDeep.%%\n\nB\n---\n\nEnd.\n",
        expect![[r#"
            file    # [Guide] () 1-4 children 2
            section #a [A] (Guide) 5-8 children 1
            section #a1 [A.1] (Guide > A) 9-12 children 0
            section #b [B] (Guide) 13-16 children 0
        "#]],
    );
}

#[test]
fn a_short_section_is_folded_into_the_one_around_it() {
    let text = "# Guide\n\n## A\n\nText.\n\n### A.1\n\nDeep.\n\n### A.2\n\n## B\n";
    check(
        text,
        expect![[r#"
            file    # [Guide] () 1-2 children 2
            section #a [A] (Guide) 3-12 children 0
            section #b [B] (Guide) 13-13 children 0
        "#]],
    );
    let document = read_text("a.md", text);
    let [_, record, _] = document.records.as_slice() else { panic!("{}", outline(&document)) };
    assert_eq!(triggers(record), "d:A | d:A.1 | d:A.2");
    assert_eq!(record.shown(), "## A\n\nText.\n\n### A.1\n\nDeep.\n\n### A.2");
}

#[test]
fn a_folded_section_does_not_finish_the_sentences_of_the_one_around_it() {
    let text = "# Guide\n\n## A\n\nWhat it takes:\n\n### Part\n\n- flour\n- water\n\n## B\n\n- salt\n\n### Part\n\nThis is about something else.\n\n## C\n\n### Part\n\nThis is all there is.\n";
    let document = read_text("a.md", text);
    let texts: Vec<&str> =
        document.records.iter().skip(1).map(|it| it.description.text.as_str()).collect();
    assert_eq!(texts, ["What it takes:", "B: salt", "This is all there is."]);
}

#[test]
fn a_section_stands_alone_when_it_is_long_or_nests_others_or_has_tiers_of_its_own() {
    check(
        "# Guide\n\n## A\n\n### Long\n\n%%\n\n### Around\n\n#### In it\n\n### Written\n\n<!-- psos\ntriggers: [x]\n-->\n",
        expect![[r#"
            file    # [Guide] () 1-2 children 1
            section #a [A] (Guide) 3-4 children 3
            section #long [Long] (Guide > A) 5-8 children 0
            section #around [Around] (Guide > A) 9-12 children 0
            section #written [Written] (Guide > A) 13-17 children 0
        "#]],
    );
    // With a sidecar.
    let text = "# Guide\n\n## A\n\n### A.1\n\nDeep.\n";
    let document = read_with_sidecar("a.md", text, "a1:\n  triggers: [x]\n");
    expect![[r#"
        file    # [Guide] () 1-2 children 1
        section #a [A] (Guide) 3-4 children 1
        section #a1 [A.1] (Guide > A) 5-7 children 0
    "#]]
    .assert_eq(&outline(&document));
    // Where it would make the section around it longer than is good to read.
    check(
        "# Guide\n\n## A\n\n%%%%%%%%\n\n### A.1\n\nDeep.\n",
        expect![[r#"
        file    # [Guide] () 1-2 children 1
        section #a [A] (Guide) 3-6 children 1
        section #a1 [A.1] (Guide > A) 7-9 children 0
    "#]],
    );
}

#[test]
fn text_before_the_first_heading_is_the_record_of_the_file() {
    check(
        "Some text.\n\n## A\n\nx\n",
        expect![[r#"
        file    # [a] () 1-2 children 1
        section #a [A] () 3-5 children 0
    "#]],
    );
    check(
        "\n\n## A\n\nx\n",
        expect![[r#"
        section #a [A] () 3-5 children 0
    "#]],
    );
}

#[test]
fn several_headings_of_the_first_level_are_sections() {
    check(
        "# A\n\nx\n\n# B\n\ny\n",
        expect![[r#"
        section #a [A] () 1-4 children 0
        section #b [B] () 5-7 children 0
    "#]],
    );
}

#[test]
fn repeated_headings_are_numbered_in_the_order_of_the_file() {
    check(
        "## A\n\n## A\n\n> ## A\n\n## A\n",
        expect![[r#"
        section #a [A] () 1-2 children 0
        section #a-1 [A] () 3-6 children 0
        section #a-3 [A] () 7-7 children 0
    "#]],
    );
}

#[test]
fn no_heading_begins_in_code_or_in_a_comment() {
    check(
        "## A\n\n```\n## no\n```\n\n<!--\n## no\n-->\n\n    ## no\n",
        expect![[r#"
        section #a [A] () 1-11 children 0
    "#]],
    );
}

#[test]
fn a_heading_may_be_empty_or_carry_an_anchor() {
    check(
        "##\n\nx\n\n## ???\n\n## Use it {#use}\n\n## GET /users/{id}\n",
        expect![[r#"
        section #section [section] () 1-4 children 0
        section #section-1 [???] () 5-6 children 0
        section #use [Use it] () 7-8 children 0
        section #get-usersid [GET /users/{id}] () 9-9 children 0
    "#]],
    );
}

#[test]
fn a_byte_order_mark_and_crlf_hide_nothing() {
    check(
        "\u{feff}# T\r\n\r\nText.\r\n\r\n## A\r\n\r\nx\r\n",
        expect![[r#"
        file    # [T] () 1-4 children 1
        section #a [A] (T) 5-7 children 0
    "#]],
    );
}

#[test]
fn frontmatter_gives_the_file_its_tiers_and_is_not_shown() {
    let text = "---\ntitle: Guide\naliases: [handbook]\ndescription: What it is for.\n---\n\nIntro text.\n\n## A\n\nx\n";
    let document = read_checked("a.md", text);
    let record = &document.records[0];
    assert_eq!(record.shown(), "Intro text.");
    assert_eq!(record.description.text, "What it is for.");
    assert_eq!(record.description.origin, Origin::Authored);
    assert_eq!(triggers(record), "d:Guide | d:handbook");
    assert_eq!(document.records[1].breadcrumb, ["Guide"]);
}

#[test]
fn a_rule_at_the_top_is_not_frontmatter() {
    for text in ["---\n\nText: more\n\nand more\n\n---\n", "---\nJust text.\n\n---\n"] {
        let document = read_text("a.md", text);
        assert_eq!(document.records[0].shown(), text.trim_end());
        assert_eq!(remarks(&document), "");
    }
}

#[test]
fn a_comment_block_gives_its_section_tiers_and_is_not_shown() {
    let text = "# T\n\n## A\n\n<!-- psos\ntriggers: [do a, a it]\nsummary: In short.\n-->\n\nText.\n\n## B\n\n<!-- psos\ntrigers: [x]\n-->\n";
    let document = read_checked("a.md", text);
    let record = &document.records[1];
    assert_eq!(record.shown(), "## A\n\nText.");
    assert_eq!(triggers(record), "a:do a | a:a it | d:A");
    assert_eq!(record.summary.text, "In short.");
    assert_eq!(record.description.text, "A: Text.");
    expect![[r#"
        a.md:14:1 unknown name `trigers` (did you mean `triggers`?)
    "#]]
    .assert_eq(&remarks(&document));
    let derived = Options { tiers: Tiers::Derived, fields: Fields::default() };
    let input = Input { path: "a.md", bytes: text.as_bytes(), sidecar: None };
    let document = read(&input, &derived);
    assert_eq!(triggers(&document.records[1]), "d:A");
    assert_eq!(document.records[1].shown(), "## A\n\nText.");
}

#[test]
fn a_sidecar_wins_over_a_comment_and_triggers_add_up() {
    let text = "---\ntriggers: [use t]\nsummary: Front.\n---\n# T\n\n## A\n\n<!-- psos\ntriggers: [one, Two]\nsummary: Comment.\n-->\n";
    let sidecar = ".:\n  summary: Side.\na:\n  triggers: [two, three]\n  summary: Side.\n";
    let document = read_with_sidecar("a.md", text, sidecar);
    assert_eq!(remarks(&document), "");
    assert_eq!(document.records[0].summary.text, "Side.");
    assert_eq!(document.records[1].summary.text, "Side.");
    assert_eq!(triggers(&document.records[0]), "a:use t | d:T");
    assert_eq!(triggers(&document.records[1]), "a:two | a:three | a:one | d:A");
}

#[test]
fn a_sidecar_key_without_a_record_is_named_with_the_nearest_anchor() {
    let text = "# T\n\n## Undo a commit\n\nx\n";
    let document = read_with_sidecar("a.md", text, "ok: 1\nundo-the-commit:\n  summary: x\n");
    expect![[r#"
        a.psos.yaml:1:1 entry `ok` has no triggers, description or summary (write them below it, indented)
        a.psos.yaml:2:1 no record has the anchor `undo-the-commit` (the nearest anchor is `undo-a-commit`)
    "#]].assert_eq(&remarks(&document));
}

#[test]
fn derived_tiers_come_from_the_text() {
    let text = "# Git\n\n## Undo\n\n- item\n\nUse `git reset --soft HEAD~1` to undo, e.g. the last commit. More.\n\n```\n$ git reset\n```\n\nfatal: not a git repository\n\n- **Reflog**: where `HEAD` was\n\n### Deeper\n%%";
    let document = read_text("a.md", &long(text));
    let record = &document.records[1];
    expect![[r#"
        d:Undo | d:fatal: not a git repository | d:git reset --soft HEAD~1 | d:HEAD | d:Reflog
        Use `git reset --soft HEAD~1` to undo, e.g. the last commit.
        Use `git reset --soft HEAD~1` to undo, e.g. the last commit. More. item; Reflog: where `HEAD` was Contains: Deeper $ git reset
    "#]].assert_eq(&format!(
        "{}\n{}\n{}\n",
        triggers(record),
        record.description.text,
        record.summary.text
    ));
}

#[test]
fn links_are_handed_on_with_the_record_they_stand_in() {
    let document = read_text("a.md", "# T\n\nSee [the guide](b.md#x).\n\n## A\n\n[up](#t)\n");
    let links: Vec<String> = document
        .links
        .iter()
        .map(|it| format!("{} -> {} {}", it.from, it.target, it.text))
        .collect();
    assert_eq!(links, ["a.md -> b.md#x the guide", "a.md#a -> #t up"]);
}

#[test]
fn links_of_a_wiki_are_links() {
    let document = read_text(
        "a.md",
        "See [[Other page]] and [[b#x|the part]].\n\n## `[[ ]]`\n\nTest [[ -f x ]] it.\n",
    );
    let links: Vec<String> =
        document.links.iter().map(|it| format!("{}|{}", it.target, it.text)).collect();
    assert_eq!(links, ["Other page|Other page", "b#x|the part"]);
    assert_eq!(document.records[0].description.text, "See Other page and the part.");
}

#[test]
fn frontmatter_may_be_toml_or_json() {
    for text in [
        "+++\ntitle = \"Guide\"\ndescription = \"What it is for.\"\ndate = 2024-01-02\n+++\nBody.\n",
        "{\n  \"title\": \"Guide\",\n  \"description\": \"What it is for.\"\n}\nBody.\n",
        "+++\ntitle = Guide\ndescription = What it is for.\n+++\nBody.\n",
    ] {
        let document = read_checked("a.md", text);
        let record = &document.records[0];
        assert_eq!(record.title, "Guide");
        assert_eq!(record.description.text, "What it is for.");
        assert_eq!(record.shown(), "Body.");
    }
    let text = "{\n  code\n}\n";
    assert_eq!(read_text("a.md", text).records[0].shown(), text.trim_end());
}

#[test]
fn imports_of_mdx_are_no_prose() {
    let text = "import Tabs from '@theme/Tabs';\nimport { A } from './a';\n\nexport const x = 1;\n\n# Title\n\nWhat the page is about.\n\n<Tabs a={1}>\n\n## In a tab\n\n</Tabs>\n";
    let document = read_checked("a.mdx", text);
    assert_eq!(document.records[0].title, "Title");
    assert_eq!(document.records[0].description.text, "What the page is about.");
    assert!(document.records[0].summary.text.starts_with("What the page is about."));
    // Elsewhere they are words like others.
    let document = read_text("a.md", "import duties = 3 percent on most of the goods.\n");
    assert_eq!(
        document.records[0].description.text,
        "import duties = 3 percent on most of the goods."
    );
}

#[test]
fn headings_are_told_from_what_looks_like_them() {
    check(
        "# Guide\n\n~~~\n## no\n```\n## no\n~~~\n\n````md\n```\n## no\n```\n````\n\nSetext\n------\n\n#### Skips levels%%\n\n## C#\n\n## C++\n\n## C#\n\n#hashtag\n\n## Closed ##\n\n####### seven\n\n| a | b |\n|---|---|\n| # | ## |\n",
        expect![[r#"
            file    # [Guide] () 1-14 children 5
            section #setext [Setext] (Guide) 15-17 children 1
            section #skips-levels [Skips levels] (Guide > Setext) 18-19 children 0
            section #c [C#] (Guide) 20-21 children 0
            section #c-1 [C++] (Guide) 22-23 children 0
            section #c-2 [C#] (Guide) 24-27 children 0
            section #closed [Closed] (Guide) 28-34 children 0
        "#]],
    );
}

#[test]
fn footnotes_and_tables_are_read_for_what_they_say() {
    let text = "## A\n\nIt holds for all of them[^1].\n\n[^1]: But not on Sundays.\n\n## B\n\n| Flag | Meaning |\n| --- | --- |\n| `-v` | says more |\n";
    let document = read_checked("a.md", text);
    assert_eq!(document.records[0].description.text, "It holds for all of them.");
    assert_eq!(document.records[1].description.text, "B: Flag | Meaning; `-v` | says more");
}

#[test]
fn a_comment_block_ends_with_the_html_that_it_stands_in() {
    // Postmortem: a heading behind the blank line that ended the HTML was hidden with the comment.
    let text = "<h1><!-- psos\n\n# A\n\n-->\n\nText.\n";
    let document = read_checked("a.md", text);
    assert!(document.records[0].shown().contains("Text."));
    assert_eq!(document.diagnostics[0].message, "comment block is not closed");
}

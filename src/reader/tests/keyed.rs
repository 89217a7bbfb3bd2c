//! Claims about rows of tables and items of lists with an id.

use super::{outline, read_checked, read_text, read_with_sidecar, remarks, triggers};
use expect_test::expect;

/// A list or table in a section that is too long to be left whole, and the anchors of what became of it.
#[track_caller]
fn check(block: &str, want: &[&str]) {
    let text = format!("# Guide\n\n## A\n\n{}\n\n{block}", "Words of a paragraph. ".repeat(60));
    let document = read_checked("a.md", &text);
    let anchors: Vec<&str> =
        document.records.iter().skip(2).map(|it| it.id.anchor_in(&it.path)).collect();
    assert_eq!(anchors, want, "{block}");
    let children: Vec<&str> =
        document.records[1].children.iter().map(|id| id.anchor_in("a.md")).collect();
    assert_eq!(children, want, "{block}");
}

#[test]
fn entries_with_ids_of_one_sort_are_records() {
    for (block, want) in [
        (
            "- **REQ-12**: a\n- **REQ-13**: b\n- **REQ-14**: c\n",
            &["REQ-12", "REQ-13", "REQ-14"][..],
        ),
        ("- **R052:** a\n- **R053:** b\n\n  more\n- **R054:** c\n", &["R052", "R053", "R054"]),
        ("* [FR-1.2] a\n* [FR-1.3] b\n* [FR-2.1] c\n", &["FR-1.2", "FR-1.3", "FR-2.1"]),
        ("1. `E0382` moved\n2. `E0499` twice\n3. `E0502` both\n", &["E0382", "E0499", "E0502"]),
        ("- [ ] TASK-1: a\n- [x] TASK-2: b\n- [ ] TASK-3: c\n", &["TASK-1", "TASK-2", "TASK-3"]),
        ("- ADR-0001 - a\n- ADR-0002 - b\n- ADR-0003 - c\n", &["ADR-0001", "ADR-0002", "ADR-0003"]),
        (
            "- `ERR_NO_KEY`: a\n- `ENOENT`: b\n- `KeyMissingError`: c\n",
            &["ERR_NO_KEY", "ENOENT", "KeyMissingError"],
        ),
        ("- <a id=\"one\"></a>a\n- <a name='two'></a>b\n- c {#three}\n", &["one", "two", "three"]),
        (
            "| Code | Meaning |\n|---|---|\n| `ERR_042` | full |\n| `ERR_043` | gone |\n| **ERR_044** | late |\n",
            &["ERR_042", "ERR_043", "ERR_044"],
        ),
        (
            "| Name | Rule ID |\n|---|---|\n| x | no-eval |\n| y | `no-var` |\n| z | semi |\n",
            &["no-eval", "no-var", "semi"],
        ),
    ] {
        check(block, want);
    }
}

#[test]
fn ordinary_lists_and_tables_stay_in_their_section() {
    for block in [
        // Terms, degrees, products, words: no ids.
        "- **Reflog**: a\n- **Stash**: b\n- **Index**: c\n",
        "- `git log`: a\n- `git add`: b\n- `git gc`: c\n",
        "- **P1**: a\n- **P2**: b\n- **P3**: c\n",
        "| Level | Meaning |\n|---|---|\n| P1 | a |\n| P2 | b |\n| P3 | c |\n",
        "| ID | Name |\n|---|---|\n| 1 | a |\n| 2 | b |\n| 3 | c |\n",
        "| Flag | Meaning |\n|---|---|\n| `-v` | a |\n| `-q` | b |\n| `-x` | c |\n",
        "| Role ID | Use |\n|---|---|\n| 0a9a7e1f-b9d0-4cc4 | a |\n| 1407120a-92aa-4202 | b |\n| 2a2b9908-6ea1-4ae2 | c |\n",
        // Too few, not all, the same twice, of several sorts.
        "- **REQ-12**: a\n- **REQ-13**: b\n",
        "- **REQ-12**: a\n- **REQ-13**: b\n- And more.\n",
        "- **REQ-12**: a\n- **REQ-12**: b\n- **REQ-13**: c\n",
        "- **REQ-12**: a\n- **RFC-9110**: b\n- **UTF-16**: c\n",
        // Mentioned in running text, or explained elsewhere.
        "- REQ-12 is met.\n- REQ-13 is met.\n- REQ-14 is not.\n",
        "- [REQ-12](a.md)\n- [REQ-13](b.md)\n- [REQ-14](c.md)\n",
        // Not the end of the section, or inside something else.
        "- **REQ-12**: a\n- **REQ-13**: b\n- **REQ-14**: c\n\nAll of these are met.\n",
        "> - **REQ-12**: a\n> - **REQ-13**: b\n> - **REQ-14**: c\n",
        "- All:\n  - **REQ-12**: a\n  - **REQ-13**: b\n  - **REQ-14**: c\n",
        // With a comment block, which belongs to the section.
        "- **REQ-12**: a\n- **REQ-13**: b\n- **REQ-14**: c\n\n  <!-- psos\n  triggers: [x]\n  -->\n",
    ] {
        check(block, &[]);
    }
}

#[test]
fn a_short_section_is_left_whole() {
    let text = "# Guide\n\n## A\n\n- **REQ-12**: a\n- **REQ-13**: b\n- **REQ-14**: c\n";
    assert_eq!(read_text("a.md", text).records.len(), 2);
}

#[test]
fn an_entry_is_nested_in_its_section_and_shows_what_it_says() {
    let lead = "Words of a paragraph. ".repeat(60);
    let text = format!(
        "# Guide\n\n## Codes\n\n{lead}\n\n| Code | Meaning | See |\n|---|---|---|\n| ERR_042 | The disk is full. | [the handbook](h.md) |\n| ERR_043 | It is `a\\|b`. | |\n| ERR_044 | c | |\n\n## Needs\n\n{lead} [up](u.md)\n\n- **REQ-12**: It answers within a second.\n  - On two cores.\n- **REQ-13**: see [this one](r.md)\n- **REQ-14**: c\n\n## ERR_042\n\nx\n",
    );
    let document = read_checked("a.md", &text);
    assert_eq!(remarks(&document), "");
    let shown: Vec<String> = document
        .records
        .iter()
        .filter(|it| it.kind.name() == "row")
        .take(4)
        .map(|it| format!("== {} | {}\n{}\n", triggers(it), it.description.text, it.shown()))
        .collect();
    expect![[r#"
        file    # [Guide] () 1-2 children 3
        section #codes [Codes] (Guide) 3-8 children 3
        row     #ERR_042 [ERR_042] (Guide > Codes) 9-9 children 0
        row     #ERR_043 [ERR_043] (Guide > Codes) 10-10 children 0
        row     #ERR_044 [ERR_044] (Guide > Codes) 11-12 children 0
        section #needs [Needs] (Guide) 13-16 children 3
        row     #REQ-12 [REQ-12] (Guide > Needs) 17-18 children 0
        row     #REQ-13 [REQ-13] (Guide > Needs) 19-19 children 0
        row     #REQ-14 [REQ-14] (Guide > Needs) 20-21 children 0
        section #err_042 [ERR_042] (Guide) 22-24 children 0
        == d:ERR_042 | Meaning: The disk is full.
        ERR_042

        Meaning: The disk is full.
        See: [the handbook](h.md)
        == d:ERR_043 | Meaning: It is `a|b`.
        ERR_043

        Meaning: It is `a|b`.
        == d:ERR_044 | ERR_044: Meaning: c
        ERR_044

        Meaning: c
        == d:REQ-12 | REQ-12: It answers within a second.
        - **REQ-12**: It answers within a second.
          - On two cores.
    "#]]
    .assert_eq(&(outline(&document) + &shown.concat()));
    let links: Vec<String> =
        document.links.iter().map(|it| format!("{} {}", it.from, it.target)).collect();
    assert_eq!(links, ["a.md#ERR_042 h.md", "a.md#needs u.md", "a.md#REQ-13 r.md"]);
    // What stands in the entries is theirs alone.
    assert_eq!(triggers(&document.records[5]), "d:Needs");
}

#[test]
fn an_entry_is_called_by_its_words_where_its_id_says_nothing() {
    let lead = "Words of a paragraph. ".repeat(60);
    let titles = |text: &str| -> Vec<String> {
        read_text("a.md", text).records.iter().skip(1).map(|it| it.title.clone()).collect()
    };
    let rows = ["x", "y", "z"].map(|id| format!("| <a id=\"{id}\"></a> | Role {id} |\n")).concat();
    let text = format!("## A\n\n{lead}\n\n| Key | Role |\n|---|---|\n{rows}");
    assert_eq!(titles(&text), ["Role x", "Role y", "Role z"]);
    let items = "- <a id=\"x\"></a>One **thing**.\n- Two {#y}\n- <a id=\"z\"></a>\n";
    assert_eq!(titles(&format!("## A\n\n{lead}\n\n{items}")), ["One thing.", "Two {#y}", "z"]);
}

#[test]
fn a_sidecar_may_name_an_entry() {
    let lead = "Words of a paragraph. ".repeat(60);
    let text = format!("## Needs\n\n{lead}\n\n- **REQ-12**: a\n- **REQ-13**: b\n- **REQ-14**: c\n");
    let document = read_with_sidecar("a.md", &text, "REQ-13:\n  triggers: [two of them]\n");
    assert_eq!(remarks(&document), "");
    assert_eq!(triggers(&document.records[2]), "a:two of them | d:REQ-13");
}

//! Claims about skill files as they occur: each is broken in one way, and none is lost.

use super::{outline, read_checked, read_text, remarks};
use expect_test::{Expect, expect};

fn check(text: &str, want: Expect) {
    let document = read_checked("s/SKILL.md", text);
    let record = &document.records[0];
    let shown = record.shown();
    want.assert_eq(&format!(
        "{}{}{}\n{}",
        outline(&document),
        remarks(&document),
        record.description.text,
        shown.lines().next().unwrap_or_default()
    ));
}

#[test]
fn a_sound_skill_has_no_remarks() {
    check(
        "---\nname: deploy\ndescription: Deploys things.\n---\n\n# Deploy\n\nText.\n",
        expect![[r#"
            skill   # [Deploy] () 1-8 children 0
            Deploys things.
            # Deploy"#]],
    );
}

#[test]
fn a_colon_in_an_unquoted_description_is_read() {
    check(
        "---\nname: x\ndescription: Use when: the build fails\n---\nBody.\n",
        expect![[r#"
            skill   # [x] () 1-5 children 0
            s/SKILL.md:3:22 frontmatter is not valid YAML: mapping values are not allowed in this context (it was read line by line; indent with spaces, give each name once, and put quotes around values that hold `: ` or begin with a sign)
            Use when: the build fails
            Body."#]],
    );
}

#[test]
fn a_description_may_be_too_long() {
    let text = format!("---\nname: x\ndescription: {}\n---\nBody.\n", "word ".repeat(300));
    let document = read_text("SKILL.md", &text);
    expect![[r#"
        SKILL.md:2:1 skill description has 1499 characters, more than 1024 (shorten it: other tools refuse the skill)
    "#]]
    .assert_eq(&remarks(&document));
}

#[test]
fn two_frontmatter_blocks_are_one() {
    check(
        "---\nname: x\n---\n---\ndescription: Does y.\nname: z\n---\nBody.\n",
        expect![[r#"
        skill   # [x] () 1-8 children 0
        s/SKILL.md:5:1 second frontmatter block (move its lines into the first block)
        Does y.
        Body."#]],
    );
}

#[test]
fn rules_in_the_body_are_text() {
    check(
        "---\nname: x\ndescription: Does y.\n---\nBody.\n\n---\n\nMore: text\n\n---\n",
        expect![[r#"
            skill   # [x] () 1-11 children 0
            Does y.
            Body."#]],
    );
}

#[test]
fn a_byte_order_mark_or_blank_lines_stand_before_the_fence() {
    check(
        "\u{feff}\r\n\r\n---\r\nname: x\r\ndescription: Does y.\r\n---\r\nBody.\r\n",
        expect![[r#"
            skill   # [x] () 1-7 children 0
            Does y.
            Body."#]],
    );
}

#[test]
fn the_closing_fence_may_be_the_end_of_the_file_or_missing() {
    check(
        "---\nname: x\ndescription: Does y.\n---",
        expect![[r#"
        skill   # [x] () 1-4 children 0
        Does y.
    "#]],
    );
    check(
        "---\nname: x\ndescription: Does y.\n\n# Body\n",
        expect![[r#"
        skill   # [Body] () 1-5 children 0
        s/SKILL.md:2:1 frontmatter has no closing fence (add a line `---` below it)
        Does y.
        # Body"#]],
    );
}

#[test]
fn values_of_other_types_are_texts() {
    check(
        "---\nname: no\ndescription: 2024-01-02\ntype:\nversion: 1.10\n---\nBody.\n",
        expect![[r#"
            skill   # [no] () 1-7 children 0
            2024-01-02
            Body."#]],
    );
    check(
        "---\nname: 1.10\ndescription: [Does x, does y]\n---\nBody.\n",
        expect![[r#"
            skill   # [1.10] () 1-5 children 0
            s/SKILL.md:2:1 `description` is not a text (write it as one text, in quotes if it has signs)
            Does x, does y
            Body."#]],
    );
    check(
        "---\nname: !!str yes\ndescription: &d Does y.\nsummary: *d\n---\nBody.\n",
        expect![[r#"
            skill   # [yes] () 1-6 children 0
            Does y.
            Body."#]],
    );
}

#[test]
fn tabs_and_repeated_names_are_read() {
    check(
        "---\nname:\tx\ndescription: Does y.\nmetadata:\n\ttriggers: [a]\n---\nBody.\n",
        expect![[r#"
            skill   # [x] () 1-7 children 0
            s/SKILL.md:5:1 frontmatter is not valid YAML: found character that cannot start any token (it was read line by line; indent with spaces, give each name once, and put quotes around values that hold `: ` or begin with a sign)
            Does y.
            Body."#]],
    );
    check(
        "---\nname: x\nname: z\ndescription: >-\n  Does\n  y.\n---\nBody.\n",
        expect![[r#"
            skill   # [x] () 1-8 children 0
            s/SKILL.md:2:1 frontmatter is not valid YAML: duplicate entry with key "name" (it was read line by line; indent with spaces, give each name once, and put quotes around values that hold `: ` or begin with a sign)
            Does y.
            Body."#]],
    );
}

#[test]
fn unbalanced_quotes_and_signs_are_text() {
    check(
        "---\nname: x\ndescription: \"Does y\n---\nBody.\n",
        expect![[r#"
            skill   # [x] () 1-5 children 0
            s/SKILL.md:4:1 frontmatter is not valid YAML: found unexpected end of stream (it was read line by line; indent with spaces, give each name once, and put quotes around values that hold `: ` or begin with a sign)
            Does y
            Body."#]],
    );
    check(
        "---\nname: x\ndescription: @do `y` it's\n---\nBody.\n",
        expect![[r#"
            skill   # [x] () 1-5 children 0
            s/SKILL.md:3:14 frontmatter is not valid YAML: found character that cannot start any token (it was read line by line; indent with spaces, give each name once, and put quotes around values that hold `: ` or begin with a sign)
            @do `y` it's
            Body."#]],
    );
}

#[test]
fn a_skill_without_frontmatter_is_a_record() {
    check(
        "# Deploy\n\nDeploys things to a place.\n",
        expect![[r#"
            skill   # [Deploy] () 1-3 children 0
            s/SKILL.md:1:1 skill has neither `name` nor `description` (give both in its frontmatter: models choose a skill by them)
            Deploys things to a place.
            # Deploy"#]],
    );
}

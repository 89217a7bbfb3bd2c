//! Claims about rows of data.

use super::{read_checked, read_text, remarks, triggers};
use crate::reader::Document;
use expect_test::expect;

fn rows(document: &Document) -> String {
    let mut text = String::new();
    for record in &document.records {
        text.push_str(&format!(
            "{} [{}] {:?} scope {:?} line {}: {}\n",
            record.id,
            record.title,
            record.shown(),
            record.scope,
            record.span.lines.first,
            record.description.text
        ));
    }
    text
}

#[test]
fn a_line_is_a_row_and_its_title_and_text_are_shown() {
    let text = "{\"_id\": \"a\", \"title\": \"Head\", \"text\": \"Some text here.\"}\n\n{\"id\": 7, \"body\": \"Only a body of text.\", \"metadata\": {\"scope\": \"u1\"}}\n{\"q\": \"why?\", \"a\": [\"x\", \"y\"]}\n";
    let document = read_checked("r.jsonl", text);
    assert_eq!(remarks(&document), "");
    expect![[r#"
        r.jsonl#a [Head] "Head\n\nSome text here." scope "" line 1: Some text here.
        r.jsonl#7 [Only a body of text.] "Only a body of text." scope "u1" line 3: Only a body of text.
        r.jsonl#L4 [q: why?] "q: why?\na: x\ny" scope "" line 4: q: why? a: x y
    "#]].assert_eq(&rows(&document));
}

#[test]
fn a_bad_line_costs_that_line() {
    let text = "\u{feff}{\"_id\":\"a\",\"text\":\"one\"}\r\n{\"_id\":\r\n[1]\r\n{\"_id\":\"a\",\"text\":\"two \\u0000x\"}\r\n\0\0\n{\"_id\":\"c\0\"}\n{\"_id\":\"d\",\"text\":\"last\"}";
    let document = read_checked("r.jsonl", text);
    expect![[r#"
        r.jsonl#a [one] "one" scope "" line 1: one
        r.jsonl#a-1 [two x] "two x" scope "" line 4: two x
        r.jsonl#d [last] "last" scope "" line 7: last
    "#]]
    .assert_eq(&rows(&document));
    expect![[r#"
        r.jsonl:2:7 line is not JSON: EOF while parsing a value (the line is cut off, or goes on below)
        r.jsonl:3:1 line is not a JSON object (write each row as one object: {"id": ..., "text": ...})
        r.jsonl:4:1 key `a` occurs again, this row is `a-1` (give every row a key of its own)
        r.jsonl:6:10 line is not JSON: control character (\u0000-\u001F) found while parsing a string (write each row on one line)
    "#]].assert_eq(&remarks(&document));
}

#[test]
fn many_bad_lines_are_counted() {
    let document = read_text("r.jsonl", &"[\n".repeat(500));
    assert_eq!(document.diagnostics.len(), 21);
    assert_eq!(document.diagnostics[20].message, "480 more such lines");
}

#[test]
fn a_row_may_bring_its_tiers() {
    let text = "{\"_id\":\"a\",\"text\":\"one\",\"triggers\":[\"do it\"],\"summary\":\"In short.\",\"description\":\"A line.\"}\n";
    let document = read_text("r.jsonl", text);
    let record = &document.records[0];
    assert_eq!(triggers(record), "a:do it");
    assert_eq!(record.summary.text, "In short.");
    assert_eq!(record.description.text, "A line.");
}

#[test]
fn the_text_of_a_row_may_be_markdown() {
    for (text, want) in [
        ("# Install\\n\\nRun `make all` to build it.", "Run `make all` to build it."),
        (
            "> Type check Python code.\\n> More on it.\\n\\n- Check a file:",
            "Type check Python code.",
        ),
        ("| a | b |\\n|---|---|\\n| c | d |", "t: a | b; c | d"),
        ("Plain words. And more.", "Plain words."),
    ] {
        let line = format!("{{\"id\": \"a\", \"title\": \"t\", \"text\": \"{text}\"}}\n");
        assert_eq!(read_text("r.jsonl", &line).records[0].description.text, want);
    }
}

#[test]
fn a_row_of_csv_is_a_record_with_named_fields() {
    let text = "\u{feff}id;title;text;note\r\n1;Head;\"Text; of\r\ntwo lines\";n\r\n\r\n2;;Only text here.;\r\n3;short\r\n";
    let document = read_checked("r.csv", text);
    expect![[r#"
        r.csv#1 [Head] "Head\n\nText; of\r\ntwo lines" scope "" line 2: Text; of two lines
        r.csv#2 [Only text here.] "Only text here." scope "" line 5: Only text here.
        r.csv#3 [short] "short" scope "" line 6: short
    "#]]
    .assert_eq(&rows(&document));
    expect![[r#"
        r.csv:6:1 row has 2 fields, the first line has 4 (put quotes around cells that hold the separator)
    "#]]
    .assert_eq(&remarks(&document));
    let text = "1\t2.5\ta b c d\n2\t3\tx\n";
    let document = read_checked("r.tsv", text);
    expect![[r#"
        r.tsv#L1 [column 1: 1] "column 1: 1\ncolumn 2: 2.5\ncolumn 3: a b c d" scope "" line 1: column 1: 1 column 2: 2.5 column 3: a b c d
        r.tsv#L2 [column 1: 2] "column 1: 2\ncolumn 2: 3\ncolumn 3: x" scope "" line 2: column 1: 2 column 2: 3 column 3: x
    "#]].assert_eq(&rows(&document));
}

#[test]
fn an_entry_of_a_json_list_is_a_record() {
    let text = "[\n  {\"id\": \"a\", \"text\": \"One, [two] \\\"three\\\".\"},\n  7,\n  {\"name\": \"B\", \"kind\": {\"x\": 1}}\n]\n";
    let document = read_checked("r.json", text);
    expect![[r#"
        r.json#a [One, [two] "three".] "One, [two] \"three\"." scope "" line 2: One, [two] "three".
        r.json#L4 [B] "B\n\nkind: x: 1" scope "" line 4: kind: x: 1
    "#]]
    .assert_eq(&rows(&document));
    expect![[r#"
        r.json:3:1 entry is not a JSON object (write each entry as one: {"id": ..., "text": ...})
    "#]]
    .assert_eq(&remarks(&document));
    let text = "{\"name\": \"x\", \"list\": [1]}\n";
    assert_eq!(read_text("r.json", text).records[0].id.as_str(), "r.json");
}

#[test]
fn an_entry_of_a_yaml_list_or_stream_is_a_record() {
    let text = "# Tools\n- id: a\n  text: Does a thing.\n- name: B\n  args:\n    - x\n";
    let document = read_checked("r.yaml", text);
    expect![[r#"
        r.yaml#a [Does a thing.] "Does a thing." scope "" line 2: Does a thing.
        r.yaml#L4 [B] "- name: B\n  args:\n    - x" scope "" line 4: - name: B args: - x
    "#]]
    .assert_eq(&rows(&document));
    let text = "---\nkind: Service\nmetadata:\n  name: web\n---\nkind: Pod\n";
    let document = read_checked("r.yml", text);
    expect![[r#"
        r.yml#L2 [kind: Service] "kind: Service\nmetadata:\n  name: web" scope "" line 2: kind: Service metadata: name: web
        r.yml#L6 [kind: Pod] "kind: Pod" scope "" line 6: kind: Pod
    "#]].assert_eq(&rows(&document));
    let text = "key: value\nother: [1, 2]\n";
    assert_eq!(read_text("r.yml", text).records[0].shown(), text.trim_end());
}

#[test]
fn a_notebook_has_the_sections_of_its_markdown_cells() {
    let text = r###"{
 "cells": [
  {"cell_type": "markdown", "source": ["# Fit\n", "\n", "Fits a model to data.\n", "## Load\n", "Loads \"x\"."]},
  {"cell_type": "code", "outputs": [{"text": "iVBOR"}], "source": ["import x\n", "x.load()"]},
  {
   "cell_type": "markdown",
   "source": [
    "## Plot\n",
    "Draws it."
   ]
  }
 ],
 "metadata": {"kernelspec": {"language": "python"}}
}
"###;
    let document = read_checked("a.ipynb", text);
    expect![[r#"
        file    # [Fit] () 1-2 children 2
        section #load [Load] (Fit) 3-7 children 0
        section #plot [Plot] (Fit) 8-14 children 0
    "#]]
    .assert_eq(&super::outline(&document));
    expect![[r###"
        a.ipynb [Fit] "# Fit\n\nFits a model to data." scope "" line 1: Fits a model to data.
        a.ipynb#load [Load] "## Load\nLoads \"x\".\n\n```python\nimport x\nx.load()\n```" scope "" line 3: Loads "x".
        a.ipynb#plot [Plot] "## Plot\nDraws it." scope "" line 8: Draws it.
    "###]].assert_eq(&rows(&document));
}

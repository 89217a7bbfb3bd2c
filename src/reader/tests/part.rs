//! Claims about records that are longer than an answer has room for.

use super::{read_checked, read_text};
use crate::record::RecordId;

#[test]
fn a_long_section_is_split_at_blank_lines_and_knows_its_parts() {
    let paragraph = "Words of a paragraph in a row. ".repeat(30);
    let text = format!("# T\n\n## Long\n\n{}## Next\n\nx\n", format!("{paragraph}\n\n").repeat(20));
    let document = read_checked("a.md", &text);
    let ids: Vec<&str> = document.records.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "a.md",
            "a.md#long",
            "a.md#long~2",
            "a.md#long~3",
            "a.md#long~4",
            "a.md#long~5",
            "a.md#next"
        ]
    );
    let long = &document.records[1];
    assert_eq!(long.children.first(), Some(&RecordId::of_part("a.md", "long~2")));
    assert_eq!(long.children.len(), 4);
    let part = &document.records[3];
    assert_eq!(part.title, "Long (3/5)");
    assert_eq!(part.breadcrumb, ["T", "Long"]);
    assert_eq!(part.description.text, "Words of a paragraph in a row.");
    assert!(part.detail.starts_with("\nWords") && part.detail.ends_with(". \n"));
    assert!(part.detail.len() <= 4_000);
}

#[test]
fn parts_do_not_tear_code_that_fits() {
    let block = format!("```\n{}```\n\nText.\n\n", "a = 1\n\n".repeat(200));
    let text = format!("## Long\n\n{}", block.repeat(8));
    let document = read_checked("a.md", &text);
    assert!(document.records.len() >= 3);
    for record in &document.records {
        assert_eq!(record.detail.matches("```").count() % 2, 0, "{}", record.id);
    }
}

#[test]
fn a_text_of_lines_is_split_between_lines() {
    let text = "2026-01-01 12:00:00 INFO started the thing\n".repeat(1_000);
    let document = read_checked("a.log", &text);
    assert_eq!(document.records[1].id.as_str(), "a.log#~2");
    assert!(document.records.iter().all(|it| it.detail.ends_with('\n') && it.detail.len() < 4_600));
    let one_line = "word ".repeat(5_000);
    assert_eq!(read_text("a.txt", &one_line).records.len(), 1);
}

#[test]
fn a_long_page_is_split_by_what_it_shows() {
    let text =
        format!("<h1>T</h1>{}", format!("<p>{}</p>\n", "Words in a row. ".repeat(40)).repeat(30));
    let document = read_checked("a.html", &text);
    assert_eq!(document.records[1].id.as_str(), "a.html#~2");
    assert!(document.records.iter().all(|it| it.shown().len() <= 4_000));
}

#[test]
fn no_part_is_blank_or_a_heading_alone() {
    // Postmortem: a paragraph in one long line left its heading and the blank line above it as parts.
    let line = "word ".repeat(4_000);
    let text = format!("# T\n\n{line}\n\n{line}\n");
    let document = read_checked("a.md", &text);
    let lines: Vec<(u32, u32)> =
        document.records.iter().map(|it| (it.span.lines.first, it.span.lines.last)).collect();
    assert_eq!(lines, [(1, 3), (4, 5)]);
}

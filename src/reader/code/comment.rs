//! Comments without their marks.

/// Words of headers that say nothing about the code below them.
const LEGAL: [&str; 4] = ["copyright", "license", "licence", "spdx-"];

/// Returns the text of a comment: marks removed, paragraphs kept, tags of XML comments dropped. A line
/// that begins with `@` or `:` names a parameter, and the text ends before it.
pub(super) fn text_of(comment: &str) -> String {
    let mut text = String::with_capacity(comment.len());
    for line in comment.lines() {
        let line = line.trim();
        let line = line.strip_suffix("*/").unwrap_or(line);
        let marks = ["///", "//!", "//", "/**", "/*!", "/*", "*", "#!", "##", "#", "--"];
        let bare = marks.into_iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line);
        let bare = without_tags(bare.trim_end());
        if bare.trim_start().starts_with(['@', ':']) {
            break;
        }
        text.push_str(bare.strip_prefix(' ').unwrap_or(&bare));
        text.push('\n');
    }
    text
}

/// Whether a comment is about rights and not about code.
pub(super) fn is_legal(comment: &str) -> bool {
    let folded = comment.to_ascii_lowercase();
    LEGAL.iter().any(|word| folded.contains(word))
}

/// Returns the text of a string that documents what it stands in, as Python has them.
pub(super) fn text_of_string(string: &str) -> String {
    let bare = string.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let bare = ["\"\"\"", "'''", "\"", "'"]
        .into_iter()
        .find_map(|quote| bare.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(bare);
    bare.lines().map(str::trim).collect::<Vec<_>>().join("\n")
}

fn without_tags(line: &str) -> String {
    const TAGS: [&str; 8] =
        ["summary", "remarks", "para", "returns", "value", "inheritdoc", "p", "c"];
    let mut text = line.to_owned();
    if text.contains('<') {
        for tag in TAGS {
            for form in [format!("<{tag}>"), format!("</{tag}>"), format!("<{tag}/>")] {
                text = text.replace(&form, "");
            }
        }
    }
    text
}

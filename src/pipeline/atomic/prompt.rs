//! The one prompt of atomic mode: a closed question and the line it is about.

use super::{NarrowError, Question};
use crate::pipeline::citation::search::Hit;

/// Bytes of a neighbouring line that are worth showing.
const MAX_NEIGHBOUR_BYTES: usize = 120;
/// What stands for bytes that were left out, in the prompt itself.
const CUT: &str = "[cut]";

/// The lines around a candidate, without their indentation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Context {
    before: Option<String>,
    after: Option<String>,
}

impl Context {
    pub(super) fn of(bytes: &[u8], hit: &Hit) -> Self {
        let at = usize::try_from(hit.offset).unwrap_or(usize::MAX).min(bytes.len());
        let (head, tail) = bytes.split_at(at);
        let line = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        let worth = |line: &String| !line.is_empty() && line.len() <= MAX_NEIGHBOUR_BYTES;
        let before = head.rsplit(|&b| b == b'\n').nth(1).map(line).filter(worth);
        let after = tail.split(|&b| b == b'\n').nth(1).map(line).filter(worth);
        Self { before, after }
    }
}

/// Writes the question about one candidate, in at most `max_bytes`.
///
/// Neighbouring lines are shown when they fit; a line that does not fit is cut around the candidate, and
/// the cuts are marked.
pub(super) fn closed(
    question: &Question,
    hit: &Hit,
    context: &Context,
    max_bytes: usize,
) -> Result<String, NarrowError> {
    let (ask, needle) = match question {
        Question::Calls { name } => (
            format!(
                "Does the line marked > call the function `{name}`? To define it, or to name it in a \
                 comment or string, is no call."
            ),
            name.as_str(),
        ),
        Question::Lines { pattern, ask } => (ask.clone(), pattern.text.as_str()),
    };
    let write = |before: Option<&String>, line: &str, after: Option<&String>| {
        let before = before.map(|line| format!("  {line}\n")).unwrap_or_default();
        let after = after.map(|line| format!("  {line}\n")).unwrap_or_default();
        format!("{before}> {line}\n{after}{ask} Answer yes or no.")
    };
    let line = hit.text.trim();
    let around = [
        (context.before.as_ref(), context.after.as_ref()),
        (context.before.as_ref(), None),
        (None, None),
    ];
    for (before, after) in around {
        let prompt = write(before, line, after);
        if prompt.len() <= max_bytes {
            return Ok(prompt);
        }
    }
    let room = max_bytes
        .checked_sub(write(None, "", None).len() + 2 * CUT.len())
        .filter(|&room| room >= needle.len())
        .ok_or(NarrowError::QuestionTooLong { max_bytes })?;
    Ok(write(None, &cut_around(line, needle, room), None))
}

/// The part of a line around a text, in at most `room` bytes beside the marks of its cuts.
fn cut_around(line: &str, needle: &str, room: usize) -> String {
    let at = line.find(needle).unwrap_or_default();
    let spare = room.saturating_sub(needle.len()) / 2;
    let start = line.ceil_char_boundary(at.saturating_sub(spare));
    let end = line.floor_char_boundary(start + room);
    let head = if start > 0 { CUT } else { "" };
    let tail = if end < line.len() { CUT } else { "" };
    format!("{head}{}{tail}", line.get(start..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::{Context, closed, cut_around};
    use crate::pipeline::atomic::Question;
    use crate::pipeline::citation::search::Hit;

    fn hit(text: &str, column: u32) -> Hit {
        let offset = u64::from(column - 1);
        Hit { file: "a.x".to_owned(), line: 1, column, offset, text: text.to_owned() }
    }

    #[test]
    fn a_prompt_never_passes_its_bound_and_keeps_the_candidate() {
        let question = Question::Calls { name: "fetch".to_owned() };
        let long = format!("{} fetch(1) {}", "é".repeat(300), "ü".repeat(300));
        let context =
            Context { before: Some("x".repeat(100)), after: Some("let y = 1;".to_owned()) };
        for max_bytes in 170..900 {
            for line in [long.as_str(), "fetch(1)"] {
                let prompt = closed(&question, &hit(line, 1), &context, max_bytes).unwrap();
                assert!(prompt.len() <= max_bytes, "{max_bytes}: {prompt}");
                assert!(prompt.contains("fetch"), "{prompt}");
                assert_eq!(prompt.contains("[cut]"), !prompt.contains(line));
            }
        }
        assert!(closed(&question, &hit(&long, 1), &context, 60).is_err());
    }

    #[test]
    fn neighbours_are_the_lines_before_and_after() {
        let bytes = b"one\n  two\nfetch(1)\n\tthree\nfour";
        let context = Context::of(bytes, &Hit { offset: 10, ..hit("fetch(1)", 1) });
        let want = Context { before: Some("two".to_owned()), after: Some("three".to_owned()) };
        assert_eq!(context, want);
        assert_eq!(Context::of(b"fetch", &hit("fetch", 1)), Context::default());
    }

    #[test]
    fn a_cut_is_marked_on_the_side_where_it_was_made() {
        assert_eq!(cut_around("aaaa fetch bbbb", "fetch", 7), "[cut] fetch [cut]");
        assert_eq!(cut_around("fetch bbbb", "fetch", 7), "fetch b[cut]");
    }
}

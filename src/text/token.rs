//! Token counts of `o200k_base`, in forms that can be added up.
//!
//! The tokenizer splits text by a pattern before it merges bytes, and three places always split it: before a
//! space that follows a character other than white space, before an end of line that follows a letter or
//! digit, and after an end of line that precedes neither white space nor `/`. Renderers put every variable
//! text between two such places; the cost of an answer is then the sum of the costs of its parts,
//! whatever the parts are. The functions here fix what stands around a text when it is counted.

/// Returns how many tokens of `o200k_base` a text has.
///
/// The first call in a process loads the tables, about 60 ms; after that about 30 MB a second.
pub fn count(text: &str) -> u32 {
    saturate(bpe_openai::o200k_base().count(text))
}

/// Returns the cost of `text` as a block of lines: with the end of line before it, and an end of line
/// and a blank line after it. The line before ends with a letter or digit, the line after the blank
/// one starts with neither white space nor `/`, and `text` does not end with white space.
pub fn count_block(text: &str) -> u32 {
    count(&format!("\n{text}\n\n"))
}

/// Returns the cost of `text` as a word among words: with the space before it, and a space after.
pub fn count_word(text: &str) -> u32 {
    count(&format!(" {text}"))
}

/// Returns the cost of `text` as a JSON string that is not the last value of its object: with the space
/// before it and the comma behind it, after which a space follows.
pub fn count_json(text: &str) -> u32 {
    count(&format!(" {},", serde_json::Value::from(text)))
}

/// Returns the longest start of `text` that has at most `max_tokens` tokens and ends at a space,
/// the whole text if it fits.
pub fn cut_to_tokens(text: &str, max_tokens: u32) -> &str {
    if count(text) <= max_tokens {
        return text;
    }
    // Word ends, from which the last that fits is found by bisection: costs grow with the text.
    let ends: Vec<usize> =
        text.char_indices().filter(|(_, c)| c.is_whitespace()).map(|(at, _)| at).collect();
    let end_of = |n: usize| n.checked_sub(1).and_then(|i| ends.get(i)).map_or(0, |&end| end);
    let (mut fits, mut too_long) = (0, ends.len() + 1);
    while too_long - fits > 1 {
        let middle = fits.midpoint(too_long);
        if count(text.get(..end_of(middle)).unwrap_or_default()) <= max_tokens {
            fits = middle;
        } else {
            too_long = middle;
        }
    }
    let cut = text.get(..end_of(fits)).unwrap_or_default().trim_end();
    if !cut.is_empty() {
        return cut;
    }
    // One long run without a space: characters, each of which costs at most its bytes.
    head(text, max_tokens as usize)
}

/// The longest start of a text that has at most `max_bytes` bytes, cut between characters.
pub fn head(text: &str, max_bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(max_bytes)).unwrap_or(text)
}

fn saturate(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

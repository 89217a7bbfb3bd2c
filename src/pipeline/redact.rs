//! Takes secrets out of what leaves the ledger.

/// What stands for a secret.
pub const REDACTED: &str = "[redacted]";

/// Beginnings of tokens that are keys of some well-known service.
const KEY_STARTS: [&str; 14] = [
    "sk-",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "ASIA",
    "AIza",
    "hf_",
    "npm_",
    "eyJhbGci",
];
/// Words behind which a secret stands, after `=`, `:` or a space.
const NAMES: [&str; 9] = [
    "authorization: bearer",
    "bearer",
    "api_key",
    "api-key",
    "apikey",
    "password",
    "passwd",
    "secret",
    "token",
];
/// The fewest characters of a key; shorter words are just words.
const MIN_KEY_CHARS: usize = 12;

/// Returns a text without what looks like a secret: keys of well-known services, values behind names such as
/// `password=` or `Bearer`, and private keys. Rather too much than too little; texts that hold none are
/// returned as they are.
///
/// # Examples
/// ```
/// use psos::pipeline::redact;
/// assert_eq!(redact("api_key = abcdef0123456789!"), "api_key = [redacted]");
/// assert_eq!(redact("the token count is 12"), "the token count is 12");
/// ```
pub fn redact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_private_key = false;
    for line in text.split_inclusive('\n') {
        if line.contains("-----BEGIN") && line.contains("PRIVATE KEY") {
            in_private_key = !line.contains("-----END");
            out.push_str(REDACTED);
            out.push_str(if line.ends_with('\n') { "\n" } else { "" });
            continue;
        }
        if in_private_key {
            in_private_key = !line.contains("-----END");
            continue;
        }
        out.push_str(&redact_line(line));
    }
    out
}

fn redact_line(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, word, after)) = next_word(rest) {
        out.push_str(before);
        let is_key = KEY_STARTS.iter().any(|start| word.starts_with(start));
        let long = word.chars().count() >= MIN_KEY_CHARS;
        if long && (is_key || is_named(&out, word)) {
            out.push_str(REDACTED);
        } else {
            out.push_str(word);
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Splits a text before and behind its first word: what a key could be made of.
fn next_word(text: &str) -> Option<(&str, &str, &str)> {
    let is_part = |c: char| !c.is_whitespace() && !"\"'`=:,;()[]{}<>\\".contains(c);
    let from = text.find(is_part)?;
    let tail = text.get(from..)?;
    let len = tail.find(|c| !is_part(c)).unwrap_or(tail.len());
    Some((text.get(..from)?, tail.get(..len)?, tail.get(len..)?))
}

/// Whether what stands before a word says that the word is a secret. A secret that is named by a plain word
/// has a digit or a sign in it; `token counting` has none.
fn is_named(before: &str, word: &str) -> bool {
    let trimmed = before.trim_end_matches(|c: char| c.is_whitespace() || "\"'`=:\\".contains(c));
    let has_sign = word.chars().any(|c| !c.is_alphabetic());
    let start = trimmed.len().saturating_sub(40);
    let start = (start..=trimmed.len()).find(|&at| trimmed.is_char_boundary(at)).unwrap_or(0);
    let near = trimmed.get(start..).unwrap_or_default().to_lowercase();
    has_sign && trimmed.len() < before.len() && NAMES.iter().any(|name| near.ends_with(name))
}

#[cfg(test)]
mod tests {
    //! What is taken out and what stays.

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn secrets_are_taken_out() {
        for (text, secret) in [
            ("use sk-abcdefghij0123456789 here", "sk-abcdefghij0123456789"),
            ("Authorization: Bearer abc.def-0123456789", "abc.def-0123456789"),
            ("{\"password\": \"hunter2-hunter2\"}", "hunter2-hunter2"),
            ("{\\\"api_key\\\": \\\"0123456789abcdef\\\"}", "0123456789abcdef"),
            ("export TOKEN=0123456789abcdef", "0123456789abcdef"),
            ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
            (
                "-----BEGIN RSA PRIVATE KEY-----\nabc\ndef\n-----END RSA PRIVATE KEY-----\nrest",
                "abc",
            ),
        ] {
            let clean = redact(text);
            assert!(!clean.contains(secret) && clean.contains(REDACTED), "{clean}");
        }
        assert!(
            redact("-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----\nrest")
                .ends_with("\nrest")
        );
    }

    #[test]
    fn plain_words_stay() {
        for text in [
            "the token counting is done per word",
            "password: see the administrator",
            "a secret ingredient",
            "sk-short",
            "hash 0123456789abcdef0123456789abcdef",
            "",
        ] {
            assert_eq!(redact(text), text);
        }
    }

    proptest! {
        #[test]
        fn redacting_twice_is_redacting_once(text in "[a-z0-9=:\" \n\u{e4}-]{0,80}(token|password)?[=: \"]{0,2}[a-z0-9-]{0,20}") {
            let once = redact(&text);
            prop_assert_eq!(redact(&once), once);
        }
    }
}

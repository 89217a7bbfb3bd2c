//! The one JSON object in what a model wrote.
//!
//! Declared rule: an object may stand in prose or in a code fence; what is around it is passed over.
//! Two objects are no answer, since nobody could say which one was meant.

use serde_json::Value;

/// The most bytes of a reply that are looked at. Longer ones are refused unread.
pub const MAX_REPLY_BYTES: usize = 256 << 10;
/// How many beginnings of an object are tried.
const MAX_TRIES: usize = 1_000;

/// Returns the one object that stands in a text.
///
/// # Errors
/// What is wrong, in words that a model can act on.
///
/// # Examples
/// ```
/// use psos::pipeline::object_in;
/// assert_eq!(object_in("Sure!\n```json\n{\"a\": 1}\n```").unwrap()["a"], 1);
/// assert_eq!(object_in("no").unwrap_err(), "there is no JSON object in the reply");
/// ```
pub fn object_in(text: &str) -> Result<Value, String> {
    if text.len() > MAX_REPLY_BYTES {
        return Err(format!("the reply has {} bytes, at most {MAX_REPLY_BYTES}", text.len()));
    }
    let mut found = None;
    let mut rest = text;
    let mut broken = None;
    for _ in 0..MAX_TRIES {
        let Some(at) = rest.find('{') else { break };
        let from = rest.get(at..).unwrap_or_default();
        let mut values = serde_json::Deserializer::from_str(from).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                if found.replace(value).is_some() {
                    return Err("there are two JSON objects in the reply; write one".to_owned());
                }
                rest = from.get(values.byte_offset()..).unwrap_or_default();
            }
            // It was cut off: what stands inside of it is not what was meant.
            Some(Err(error)) if error.is_eof() => {
                broken.get_or_insert_with(|| error.to_string());
                break;
            }
            Some(Err(error)) => {
                broken.get_or_insert_with(|| error.to_string());
                rest = from.get(1..).unwrap_or_default();
            }
            None => break,
        }
    }
    found.ok_or_else(|| match broken {
        Some(error) => format!("the JSON object in the reply does not parse: {error}"),
        None => "there is no JSON object in the reply".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    //! Prose, fences, two objects, cut objects.

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_object_is_found_wherever_it_stands() {
        for text in [
            r#"{"a": {"b": 1}}"#,
            "```json\n{\"a\": {\"b\": 1}}\n```",
            "Here it is: {\"a\": {\"b\": 1}} I hope it helps.",
            "{braces} in prose, then {\"a\": {\"b\": 1}}",
        ] {
            assert_eq!(object_in(text).unwrap()["a"]["b"], 1, "{text}");
        }
    }

    #[test]
    fn what_is_no_single_object_is_said() {
        for (text, says) in [
            ("", "no JSON object"),
            ("I would look at the file.", "no JSON object"),
            (r#"{"a": 1} {"a": 2}"#, "two JSON objects"),
            ("```json\n{\"a\": 1}\n```\n```json\n{\"a\": 1}\n```", "two JSON objects"),
            (r#"{"a": "cut of"#, "does not parse"),
            (r#"{"steps": [{"id": "s1"}, {"id""#, "does not parse"),
            (&"{".repeat(5_000), "does not parse"),
            (&"x".repeat(MAX_REPLY_BYTES + 1), "at most 262144"),
        ] {
            let message = object_in(text).unwrap_err();
            assert!(message.contains(says), "{message}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "[{}\\[\\]\",:a-z0-9\\\\ \u{e4}]{0,200}") {
            let _ = object_in(&text);
        }
    }
}

//! What a reply must look like: the JSON Schema of every stage, and a validator for the part of JSON
//! Schema that they use.

use serde_json::{Value, json};

use crate::pipeline::deliverable::{About, Need};
use crate::pipeline::write::push;

/// The most findings of one step.
pub(super) const MAX_FINDINGS: u32 = 4;
/// The most characters of a claim, which stands in the digest from then on.
pub(super) const MAX_CLAIM_CHARS: u32 = 300;
/// The most characters of a quote.
pub(super) const MAX_QUOTE_CHARS: u32 = 600;
/// The most characters of an answer.
pub(super) const MAX_ANSWER_CHARS: u32 = 8_000;
/// The most that is said of a deliverable.
const MAX_CLAIMS: u32 = 20;
/// The most characters of a text of which an outline says nothing else.
const USUAL_CHARS: usize = MAX_CLAIM_CHARS as usize;
/// How many faults of a reply are told to the model.
const FAULTS_TOLD: usize = 3;

/// A stage whose reply has a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    /// Which records to look into.
    Orient,
    /// Which steps to take.
    Plan,
    /// What one step found.
    Step,
    /// With what a deliverable is to be made.
    Deliver,
    /// What to think of the findings.
    Review,
    /// The answer.
    Synthesis,
}

impl Shape {
    /// All shapes, in their order.
    pub const ALL: [Self; 6] =
        [Self::Orient, Self::Plan, Self::Step, Self::Deliver, Self::Review, Self::Synthesis];

    /// Its name in a prompt.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Orient => "orient",
            Self::Plan => "plan",
            Self::Step => "step",
            Self::Deliver => "deliver",
            Self::Review => "review",
            Self::Synthesis => "synthesis",
        }
    }

    /// Its JSON Schema, in a task that must produce `need`. Every object is closed and every key required, as
    /// structured output wants it. A synthesis can claim of a deliverable only what can be compared with facts, and
    /// nothing where there is none.
    pub fn schema(self, need: Option<&Need>) -> Value {
        let words = |max_items: u32| list(&text(MAX_CLAIM_CHARS), max_items);
        match self {
            Self::Orient => object(&[("select", words(40))]),
            Self::Plan => {
                let step = closed(&[
                    ("goal", text(MAX_CLAIM_CHARS)),
                    ("id", text(20)),
                    // Which kinds there are is for the plan guard to say, with a better message.
                    ("kind", text(20)),
                    ("needs", list(&text(20), 40)),
                    ("targets", list(&text(MAX_CLAIM_CHARS), 8)),
                ]);
                object(&[("steps", list(&step, 200))])
            }
            Self::Step => {
                let absent = closed(&[("claim", text(MAX_CLAIM_CHARS)), ("pattern", text(120))]);
                let finding = closed(&[
                    ("claim", text(MAX_CLAIM_CHARS)),
                    ("file", text(MAX_CLAIM_CHARS)),
                    ("line", json!({"type": "integer"})),
                    ("quote", text(MAX_QUOTE_CHARS)),
                ]);
                object(&[
                    ("absent", list(&absent, MAX_FINDINGS)),
                    ("findings", list(&finding, MAX_FINDINGS)),
                    ("suggest", words(4)),
                ])
            }
            Self::Deliver => object(&[("arguments", list(&text(MAX_QUOTE_CHARS), 20))]),
            Self::Review => object(&[("drop", list(&text(20), 40)), ("gaps", words(8))]),
            Self::Synthesis => {
                let mut properties = vec![
                    ("answer", text(MAX_ANSWER_CHARS)),
                    ("cites", list(&text(20), 160)),
                    ("verdict", json!({"enum": ["answered", "partial", "refused"]})),
                ];
                if let Some(need) = need {
                    let about: Vec<String> =
                        About::all_of(need).into_iter().map(String::from).collect();
                    let said =
                        closed(&[("about", json!({"enum": about})), ("is", text(MAX_QUOTE_CHARS))]);
                    properties.push(("claims", list(&said, MAX_CLAIMS)));
                    properties.push(("delivered", json!({"type": "boolean"})));
                }
                object(&properties)
            }
        }
    }
}

/// An object of a reply: with the code that proves that the end of the input arrived.
fn object(properties: &[(&str, Value)]) -> Value {
    let mut properties = properties.to_vec();
    properties.push(("tail", text(20)));
    closed(&properties)
}

fn closed(properties: &[(&str, Value)]) -> Value {
    let keys: Vec<&str> = properties.iter().map(|(key, _)| *key).collect();
    let properties: serde_json::Map<String, Value> =
        properties.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    json!({"additionalProperties": false, "properties": properties, "required": keys, "type": "object"})
}

fn list(of: &Value, max_items: u32) -> Value {
    json!({"items": of, "maxItems": max_items, "type": "array"})
}

fn text(max_chars: u32) -> Value {
    json!({"maxLength": max_chars, "type": "string"})
}

/// Writes a schema as a model reads it, in a third of the tokens: the object itself, with types in the place of values.
/// `text` has at most 300 characters where nothing else is said; `<=` is the most characters of a text or items of a
/// list. Every key is required, and there are no others.
pub fn outline(schema: &Value) -> String {
    let mut text = String::new();
    write_outline(schema, &mut text);
    text
}

fn write_outline(schema: &Value, text: &mut String) {
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array) {
        let allowed: Vec<String> = allowed.iter().map(Value::to_string).collect();
        text.push_str(&allowed.join("|"));
        return;
    }
    match schema.get("type").and_then(Value::as_str).unwrap_or_default() {
        "object" => {
            text.push('{');
            let properties = schema.get("properties").and_then(Value::as_object);
            for (at, (key, part)) in properties.into_iter().flatten().enumerate() {
                push(text, format_args!("{}\"{key}\": ", if at > 0 { ", " } else { "" }));
                write_outline(part, text);
            }
            text.push('}');
        }
        "array" => {
            text.push('[');
            write_outline(schema.get("items").unwrap_or(&Value::Null), text);
            text.push(']');
            if let Some(max) = limit(schema, "maxItems") {
                push(text, format_args!("<={max}"));
            }
        }
        "string" => {
            text.push_str("text");
            if let Some(max) = limit(schema, "maxLength").filter(|max| *max != USUAL_CHARS) {
                push(text, format_args!("<={max}"));
            }
        }
        other => text.push_str(other),
    }
}

/// Checks a value against a schema: `type`, `enum`, `properties`, `required`, `additionalProperties`,
/// `items`, `maxItems` and `maxLength` are understood, and the schemas of [`Shape`] use no others.
///
/// # Errors
/// What is wrong, and where, in words that a model can act on.
pub fn check(schema: &Value, value: &Value) -> Result<(), String> {
    let mut faults = Vec::new();
    collect(schema, value, "reply", &mut faults);
    if faults.is_empty() {
        return Ok(());
    }
    let n_more = faults.len().saturating_sub(FAULTS_TOLD);
    faults.truncate(FAULTS_TOLD);
    let mut message = faults.join("; ");
    if n_more > 0 {
        push(&mut message, format_args!("; and {n_more} more"));
    }
    Err(message)
}

fn collect(schema: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
    if let Some(Value::Array(allowed)) = schema.get("enum")
        && !allowed.contains(value)
    {
        let allowed: Vec<String> = allowed.iter().map(Value::to_string).collect();
        faults.push(format!("{at} is none of {}", allowed.join(", ")));
        return;
    }
    if let Some(Value::String(wanted)) = schema.get("type")
        && !is_a(value, wanted)
    {
        faults.push(format!("{at} is {} and should be {wanted}", kind_of(value)));
        return;
    }
    match value {
        Value::Object(entries) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            for key in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
                let key = key.as_str().unwrap_or_default();
                if !entries.contains_key(key) {
                    faults.push(format!("{at} has no \"{key}\""));
                }
            }
            for (key, inner) in entries {
                match properties.and_then(|properties| properties.get(key)) {
                    Some(part) => collect(part, inner, &format!("{at}.{key}"), faults),
                    None if schema.get("additionalProperties") == Some(&Value::Bool(false)) => {
                        faults.push(format!("{at} may not have {:?}", shortened(key)));
                    }
                    None => {}
                }
            }
        }
        Value::Array(items) => {
            if let Some(max) = limit(schema, "maxItems")
                && items.len() > max
            {
                faults.push(format!("{at} has {} items, at most {max}", items.len()));
            }
            if let Some(part) = schema.get("items") {
                for (i, item) in items.iter().enumerate() {
                    collect(part, item, &format!("{at}[{i}]"), faults);
                }
            }
        }
        Value::String(text) => {
            let n_chars = text.chars().count();
            if let Some(max) = limit(schema, "maxLength")
                && n_chars > max
            {
                faults.push(format!("{at} has {n_chars} characters, at most {max}"));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn limit(schema: &Value, key: &str) -> Option<usize> {
    schema.get(key).and_then(Value::as_u64).and_then(|max| usize::try_from(max).ok())
}

fn is_a(value: &Value, wanted: &str) -> bool {
    match wanted {
        "integer" => value.is_i64() || value.is_u64(),
        wanted => kind_of(value) == wanted,
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A key that a model made up may be long.
fn shortened(key: &str) -> String {
    key.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    //! What is valid, and what is said when it is not.

    use super::*;
    use crate::pipeline::deliverable::{Kind, Repeat, Runner};

    #[test]
    fn a_reply_is_checked_down_to_its_leaves() {
        let good = json!({"absent": [], "findings": [{"claim": "c", "file": "f", "line": 3, "quote": "q"}],
            "suggest": [], "tail": "x"});
        check(&Shape::Step.schema(None), &good).unwrap();
        let with = |path: &str, value: Value| {
            let mut reply = good.clone();
            *reply.pointer_mut(path).unwrap() = value;
            reply
        };
        for (bad, says) in [
            (json!([]), "reply is array and should be object"),
            (
                json!({}),
                "reply has no \"absent\"; reply has no \"findings\"; reply has no \"suggest\"; and 1 more",
            ),
            (
                with("/findings/0/line", json!("3")),
                "reply.findings[0].line is string and should be integer",
            ),
            (
                with("/findings/0/line", json!(3.5)),
                "reply.findings[0].line is number and should be integer",
            ),
            (
                with(
                    "/findings/0",
                    json!({"claim": "c", "file": "f", "line": 3, "quote": "q", "sure": 1}),
                ),
                "reply.findings[0] may not have \"sure\"",
            ),
            (with("/findings", json!([0, 0, 0, 0, 0])), "reply.findings has 5 items, at most 4"),
            (with("/tail", Value::Null), "reply.tail is null and should be string"),
            (
                with("/suggest", json!(["x".repeat(400)])),
                "reply.suggest[0] has 400 characters, at most 300",
            ),
        ] {
            let message = check(&Shape::Step.schema(None), &bad).unwrap_err();
            assert!(message.starts_with(says), "{message}\n{says}");
        }
        let verdict = json!({"answer": "", "cites": [], "verdict": "done", "tail": ""});
        let message = check(&Shape::Synthesis.schema(None), &verdict).unwrap_err();
        assert_eq!(message, r#"reply.verdict is none of "answered", "partial", "refused""#);
    }

    #[test]
    fn a_synthesis_claims_of_a_deliverable_only_what_can_be_compared() {
        let reply = |about: &str| {
            json!({"answer": "", "cites": [], "claims": [{"about": about, "is": "1"}],
                "delivered": true, "verdict": "partial", "tail": ""})
        };
        let need = |kind| Need {
            name: "d".to_owned(),
            call: vec!["x".to_owned()],
            kind,
            repeat: Repeat::Never,
        };
        let tests = need(Kind::TestRun { runner: Runner::Tap, report: None });
        let cast = need(Kind::Recording { file: "a.cast".to_owned() });
        for (need, about, says) in [
            (Some(&tests), "passed", None),
            (Some(&tests), "file", Some("reply.claims[0].about is none of")),
            (Some(&cast), "file", None),
            (Some(&cast), "passed", Some("reply.claims[0].about is none of \"exit\", \"file\"")),
            (Some(&cast), "delivered", Some("reply.claims[0].about is none of")),
            (None, "exit", Some("reply may not have \"claims\"; reply may not have \"delivered\"")),
        ] {
            let checked = check(&Shape::Synthesis.schema(need), &reply(about));
            match says {
                None => assert_eq!(checked, Ok(()), "{about}"),
                Some(says) => assert!(checked.unwrap_err().starts_with(says), "{about}"),
            }
        }
    }

    #[test]
    fn an_outline_has_every_key_type_and_limit() {
        let outline = outline(&Shape::Step.schema(None));
        assert_eq!(
            outline,
            "{\"absent\": [{\"claim\": text, \"pattern\": text<=120}]<=4, \
             \"findings\": [{\"claim\": text, \"file\": text, \"line\": integer, \"quote\": text<=600}]<=4, \
             \"suggest\": [text]<=4, \"tail\": text<=20}"
        );
        let whole = super::outline(&Shape::Synthesis.schema(None));
        assert!(whole.contains("\"verdict\": \"answered\"|\"partial\"|\"refused\""), "{whole}");
    }

    #[test]
    fn the_schemas_use_only_what_the_validator_understands() {
        const UNDERSTOOD: [&str; 8] = [
            "type",
            "enum",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "maxItems",
            "maxLength",
        ];
        fn walk(schema: &Value) {
            for (key, value) in schema.as_object().unwrap() {
                assert!(UNDERSTOOD.contains(&key.as_str()), "{key}");
                match key.as_str() {
                    "properties" => value.as_object().unwrap().values().for_each(walk),
                    "items" => walk(value),
                    _ => {}
                }
            }
        }
        for shape in Shape::ALL {
            walk(&shape.schema(None));
        }
    }
}

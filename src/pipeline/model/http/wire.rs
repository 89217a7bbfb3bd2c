//! The JSON of the API, there and back.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::pipeline::model::exchange::finish_of;
use crate::pipeline::model::request::message;
use crate::pipeline::model::{Finish, Reply, Request, Usage};

/// The body of a request. Keys are in one order, so equal requests are equal bytes.
pub(super) fn body(model: &str, request: &Request, structured_output: bool) -> String {
    let mut body = json!({
        "model": model,
        "messages": request.messages.iter().map(message).collect::<Vec<_>>(),
        "max_tokens": request.max_output_tokens,
        "temperature": 0,
        "stream": false,
    });
    if let (Some(schema), true) = (&request.schema, structured_output)
        && let Some(body) = body.as_object_mut()
    {
        let format = json!({
            "type": "json_schema",
            "json_schema": { "name": "reply", "strict": true, "schema": schema },
        });
        body.insert("response_format".to_owned(), format);
    }
    body.to_string()
}

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Choice {
    message: Said,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
}

#[derive(Deserialize)]
#[expect(clippy::struct_field_names, reason = "the API names them so")]
struct Tokens {
    prompt_tokens: u32,
    #[serde(default)]
    completion_tokens: u32,
    #[serde(default)]
    prompt_tokens_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    #[serde(default)]
    cached_tokens: Option<u32>,
}

/// Reads the body of a reply. The error says what is wrong with it, without repeating it.
pub(super) fn reply(body: &str, attempts: u32) -> Result<Reply, String> {
    let completion: Completion = serde_json::from_str(body).map_err(|error| error.to_string())?;
    let usage = completion.usage.map(|tokens| Usage {
        input: tokens.prompt_tokens,
        cached: tokens.prompt_tokens_details.and_then(|it| it.cached_tokens).unwrap_or_default(),
        output: tokens.completion_tokens,
    });
    let choice = completion.choices.into_iter().next().ok_or("it has no choices")?;
    let finish = finish_of(choice.finish_reason.as_deref());
    match (choice.message.content, choice.message.refusal) {
        (_, Some(refusal)) if !refusal.is_empty() => {
            Ok(Reply { text: refusal, finish: Finish::Filtered, usage, attempts })
        }
        (Some(text), _) => Ok(Reply { text, finish, usage, attempts }),
        (None, _) if finish == Finish::Filtered => {
            Ok(Reply { text: String::new(), finish, usage, attempts })
        }
        (None, _) => Err("its message has no content".to_owned()),
    }
}

/// What a provider says about a failure: a code and a message, if it says it in the usual form.
pub(super) fn complaint(body: &str) -> (String, String) {
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    let error = value.get("error").unwrap_or(&value);
    let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let code = match text("code") {
        code if code.is_empty() => text("type"),
        code => code,
    };
    let message = match error {
        Value::String(message) => message.clone(),
        _ => text("message"),
    };
    (code, if message.is_empty() { body.to_owned() } else { message })
}

//! A journal as spans of OpenTelemetry, with the attributes of its conventions for generative AI.

use serde_json::{Value, json};

use crate::ledger::Entry;
use crate::pipeline::event::{Event, Purpose};
use crate::pipeline::model::Finish;
use crate::pipeline::redact::redact;
use crate::pipeline::state::{FoldError, State};
use crate::record::Hash;

/// Returns a run as one object of OTLP in JSON (`resourceSpans`): a span for the run, and below it one for
/// every call. Ids are hashes, so that the same run is the same trace. What was sent and said stays in the
/// ledger.
///
/// # Errors
/// [`FoldError`] when the journal is not one of a run.
pub fn to_otel(entries: &[Entry]) -> Result<Value, FoldError> {
    let state = State::fold(entries)?;
    let trace = digits(&format!("trace {}", state.run), 32);
    let root = digits(&format!("root {}", state.run), 16);
    let (first, last) = (entries.first(), entries.last());
    let mut spans = vec![json!({
        "traceId": trace, "spanId": root, "name": format!("psos run {}", redact(&state.task.name)), "kind": 1,
        "startTimeUnixNano": nanos(first), "endTimeUnixNano": nanos(last),
        "attributes": [
            text("gen_ai.operation.name", "invoke_agent"),
            text("gen_ai.agent.name", "psos"),
            text("gen_ai.conversation.id", state.run.as_str()),
            text("psos.verdict", state.ended.map_or("unfinished", |verdict| verdict.name())),
            int("gen_ai.usage.input_tokens", u64::from(state.spent.input_tokens)),
            int("gen_ai.usage.output_tokens", u64::from(state.spent.output_tokens)),
        ],
        "status": status(state.ended.is_none().then_some("crash")),
    })];
    let mut model = String::new();
    let mut open: Option<(&Entry, Purpose, u32)> = None;
    for entry in entries {
        match Event::of(entry) {
            Some(Event::Started { model: fact, .. } | Event::Resumed { model: fact, .. }) => {
                model = fact.name;
                if let Some((asked, purpose, counted)) = open.take() {
                    let more = vec![int("gen_ai.usage.input_tokens", u64::from(counted))];
                    spans.push(span(
                        &trace,
                        &root,
                        (asked, entry),
                        &purpose,
                        (more, Some("crash")),
                    ));
                }
            }
            Some(Event::Asked { purpose, counted, .. }) => open = Some((entry, purpose, counted)),
            Some(Event::Answered { purpose, reply }) => {
                let Some((asked, _, counted)) = open.take() else { continue };
                let input = reply.usage.map_or(counted, |usage| usage.input);
                let output = reply
                    .usage
                    .map_or_else(|| crate::text::count(&reply.text), |usage| usage.output);
                let finish = match &reply.finish {
                    Finish::Stop => "stop",
                    Finish::Length => "length",
                    Finish::Filtered => "content_filter",
                    Finish::Other(other) => other,
                };
                let more = vec![
                    text("gen_ai.request.model", &model),
                    int("gen_ai.usage.input_tokens", u64::from(input)),
                    int("gen_ai.usage.output_tokens", u64::from(output)),
                    json!({"key": "gen_ai.response.finish_reasons",
                        "value": {"arrayValue": {"values": [{"stringValue": finish}]}}}),
                ];
                spans.push(span(&trace, &root, (asked, entry), &purpose, (more, None)));
            }
            Some(Event::Failed { purpose, error }) => {
                let Some((asked, _, counted)) = open.take() else { continue };
                let class = crate::pipeline::Class::from(error.kind);
                let more = vec![
                    text("gen_ai.request.model", &model),
                    int("gen_ai.usage.input_tokens", u64::from(counted)),
                ];
                spans.push(span(
                    &trace,
                    &root,
                    (asked, entry),
                    &purpose,
                    (more, Some(class.name())),
                ));
            }
            _ => {}
        }
    }
    Ok(json!({"resourceSpans": [{
        "resource": {"attributes": [text("service.name", "psos")]},
        "scopeSpans": [{"scope": {"name": "psos", "version": env!("CARGO_PKG_VERSION")}, "spans": spans}],
    }]}))
}

fn span(
    trace: &str,
    root: &str,
    (asked, over): (&Entry, &Entry),
    purpose: &Purpose,
    (mut more, error): (Vec<Value>, Option<&str>),
) -> Value {
    more.insert(0, text("gen_ai.operation.name", "chat"));
    more.push(text("psos.purpose", &purpose.to_string()));
    if let Some(error) = error {
        more.push(text("error.type", error));
    }
    json!({
        "traceId": trace, "spanId": digits(&asked.hash, 16), "parentSpanId": root,
        "name": format!("chat {purpose}"), "kind": 3,
        "startTimeUnixNano": nanos(Some(asked)), "endTimeUnixNano": nanos(Some(over)),
        "attributes": more, "status": status(error),
    })
}

fn status(error: Option<&str>) -> Value {
    match error {
        None => json!({"code": 1}),
        Some(error) => json!({"code": 2, "message": error}),
    }
}

/// OTLP writes 64-bit numbers as text.
fn nanos(entry: Option<&Entry>) -> String {
    entry.map_or(0, |entry| entry.at().as_nanos()).to_string()
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": redact(value)}})
}

fn int(key: &str, value: u64) -> Value {
    json!({"key": key, "value": {"intValue": value.to_string()}})
}

fn digits(text: &str, n: usize) -> String {
    Hash::of(text.as_bytes()).to_string().chars().take(n).collect()
}

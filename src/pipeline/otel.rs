//! A journal as spans of OpenTelemetry, with the attributes of its conventions for generative AI.

use serde_json::{Value, json};

use crate::ledger::Entry;
use crate::pipeline::class::Class;
use crate::pipeline::event::{Event, Purpose};
use crate::pipeline::model::Finish;
use crate::pipeline::redact::redact;
use crate::pipeline::state::{FoldError, State};
use crate::record::Hash;

/// Returns a run as one object of OTLP in JSON (`resourceSpans`): a span for the run, and below it one for
/// every call of a model and of a deliverable. Ids are hashes, so that the same run is the same trace. What was sent and said stays in the
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
    let spans_of = Spans { trace: &trace, root: &root };
    let mut model = String::new();
    let mut open: Option<(&Entry, Purpose, u32)> = None;
    let mut delivering: Option<&Entry> = None;
    let tool = state.task.deliverable.as_ref().map_or("", |need| need.name.as_str());
    for entry in entries {
        match Event::of(entry) {
            Some(Event::Started { model: fact, .. } | Event::Resumed { model: fact, .. }) => {
                model = fact.name;
                if let Some((asked, purpose, counted)) = open.take() {
                    let more = vec![int("gen_ai.usage.input_tokens", u64::from(counted))];
                    spans.push(spans_of.call((asked, entry), &purpose, (more, Some("crash"))));
                }
                if let Some(begun) = delivering.take() {
                    spans.push(spans_of.tool((begun, entry), tool, Some("crash")));
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
                spans.push(spans_of.call((asked, entry), &purpose, (more, None)));
            }
            Some(Event::Failed { purpose, error }) => {
                let Some((asked, _, counted)) = open.take() else { continue };
                let class = Class::from(error.kind);
                let more = vec![
                    text("gen_ai.request.model", &model),
                    int("gen_ai.usage.input_tokens", u64::from(counted)),
                ];
                spans.push(spans_of.call((asked, entry), &purpose, (more, Some(class.name()))));
            }
            Some(Event::Delivering { .. }) => delivering = Some(entry),
            Some(Event::Delivered(fact)) => {
                let Some(begun) = delivering.take() else { continue };
                let error = (!fact.satisfied).then_some(Class::DeliverableMissing.name());
                spans.push(spans_of.tool((begun, entry), tool, error));
            }
            _ => {}
        }
    }
    Ok(json!({"resourceSpans": [{
        "resource": {"attributes": [text("service.name", "psos")]},
        "scopeSpans": [{"scope": {"name": "psos", "version": env!("CARGO_PKG_VERSION")}, "spans": spans}],
    }]}))
}

/// Where spans belong.
struct Spans<'a> {
    trace: &'a str,
    root: &'a str,
}

impl Spans<'_> {
    /// The span of a call of a model.
    fn call(
        &self,
        between: (&Entry, &Entry),
        purpose: &Purpose,
        (mut more, error): (Vec<Value>, Option<&str>),
    ) -> Value {
        more.insert(0, text("gen_ai.operation.name", "chat"));
        more.push(text("psos.purpose", &purpose.to_string()));
        self.span(between, (&format!("chat {purpose}"), 3), more, error)
    }

    /// The span of the call that makes a deliverable.
    fn tool(&self, between: (&Entry, &Entry), name: &str, error: Option<&str>) -> Value {
        let more =
            vec![text("gen_ai.operation.name", "execute_tool"), text("gen_ai.tool.name", name)];
        let name = format!("execute_tool {}", redact(name));
        self.span(between, (&name, 1), more, error)
    }

    fn span(
        &self,
        (first, last): (&Entry, &Entry),
        (name, kind): (&str, u32),
        mut attributes: Vec<Value>,
        error: Option<&str>,
    ) -> Value {
        if let Some(error) = error {
            attributes.push(text("error.type", error));
        }
        json!({
            "traceId": self.trace, "spanId": digits(&first.hash, 16), "parentSpanId": self.root,
            "name": name, "kind": kind,
            "startTimeUnixNano": nanos(Some(first)), "endTimeUnixNano": nanos(Some(last)),
            "attributes": attributes, "status": status(error),
        })
    }
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

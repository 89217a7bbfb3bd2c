//! Simulated parts: a model that is a function, a shelf of records, a tree in memory. What is measured with them
//! is the harness.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value, json};

use crate::clock::Clock;
use crate::pipeline::model::{Capability, Finish, Model, ModelError, Reply, Request, Role, Usage};
use crate::pipeline::{
    Citation, Delivery, Depth, Forbidden, MemoryJournal, Parts, Piece, Quiet, RunError, Search,
    SourceError, Sources, Standing, Truth, count,
};

/// A model that is a function of its input alone, as a stateless one is.
pub(crate) struct Simulated<F> {
    name: String,
    capability: Capability,
    reply: F,
    /// Every request that it was sent.
    pub(crate) requests: Vec<Request>,
}

impl<F> fmt::Debug for Simulated<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulated").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<F: FnMut(&Seen) -> Result<String, ModelError>> Simulated<F> {
    /// A model with a window of this many tokens.
    pub(crate) fn new(name: &str, window_tokens: u32, reply: F) -> Self {
        Self {
            name: name.to_owned(),
            capability: Capability {
                window_tokens,
                structured_output: false,
                prompt_cache: false,
                tools: false,
            },
            reply,
            requests: Vec::new(),
        }
    }

    /// What it says to an input.
    #[cfg(test)]
    pub(crate) fn say(&mut self, seen: &Seen) -> Result<String, ModelError> {
        (self.reply)(seen)
    }

    /// What all requests have cost, counted.
    pub(crate) fn input_tokens(&self) -> u32 {
        self.requests.iter().map(|request| count(&request.messages)).sum()
    }
}

impl<F: FnMut(&Seen) -> Result<String, ModelError>> Model for Simulated<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn capability(&self) -> &Capability {
        &self.capability
    }

    fn complete(&mut self, request: &Request) -> Result<Reply, ModelError> {
        self.requests.push(request.clone());
        let text = (self.reply)(&Seen::of(request))?;
        let output = crate::text::count(&text);
        let usage = Some(Usage { input: count(&request.messages), cached: 0, output });
        Ok(Reply { text, finish: Finish::Stop, usage, attempts: 1 })
    }
}

/// An input, as a model that reads it sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    /// What it is asked for: the word before the colon of the request, such as `step s1`.
    pub(crate) purpose: String,
    /// Whether it is asked again.
    pub(crate) again: bool,
    /// The name of the schema, empty when there is none.
    pub(crate) shape: String,
    /// The keys of the schema.
    pub(crate) keys: Vec<String>,
    /// What is established.
    pub(crate) digest: String,
    /// The material: label and text.
    pub(crate) spans: Vec<(String, String)>,
    /// The code at the end.
    pub(crate) tail: String,
}

impl Seen {
    fn of(request: &Request) -> Self {
        let users: Vec<&str> = request
            .messages
            .iter()
            .filter(|message| message.role == Role::User)
            .map(|message| message.content.as_str())
            .collect();
        let (digest, delta) = match users.as_slice() {
            [digest, .., delta] => (*digest, *delta),
            [delta] => ("", *delta),
            [] => ("", ""),
        };
        let mut lines: Vec<&str> = delta.lines().collect();
        let tail = lines.pop().and_then(|line| line.strip_prefix("tail: ")).unwrap_or_default();
        let ask = lines.pop().unwrap_or_default();
        let mut spans: Vec<(String, String)> = Vec::new();
        for line in lines {
            if let Some(label) = line.strip_prefix("### ") {
                spans.push((label.to_owned(), String::new()));
            } else if let Some((_, text)) = spans.last_mut() {
                text.push_str(line);
                text.push('\n');
            }
        }
        let properties = request.schema.as_ref().and_then(|schema| schema.get("properties"));
        let keys = properties.and_then(Value::as_object).into_iter().flat_map(|it| it.keys());
        let shape = ask.trim_end_matches('.').rsplit(" as ").next().unwrap_or_default();
        Self {
            purpose: ask.split(':').next().unwrap_or_default().to_owned(),
            again: ask.contains("is not valid"),
            shape: if request.schema.is_some() { shape.to_owned() } else { String::new() },
            keys: keys.cloned().collect(),
            digest: digest.to_owned(),
            spans,
            tail: tail.to_owned(),
        }
    }

    /// Whether the reply has to have a key.
    pub(crate) fn has_key(&self, key: &str) -> bool {
        self.keys.iter().any(|known| known == key)
    }

    /// The labels of the material.
    pub(crate) fn labels(&self) -> Vec<&str> {
        self.spans.iter().map(|(label, _)| label.as_str()).collect()
    }

    /// The first line of the newest material, as a citation of the file that it is from.
    pub(crate) fn first_line(&self) -> Option<Citation> {
        self.spans.iter().rev().find_map(|(label, text)| {
            let (file, lines) = label.rsplit_once(" lines ")?;
            let first: i64 = lines.split('-').next()?.parse().ok()?;
            let marks = text.lines().filter(|line| line.starts_with("[left out:")).count();
            let line =
                text.lines().find(|line| !line.is_empty() && !line.starts_with("[left out:"));
            // What was read before stands in front, so that the line number is not known.
            (marks == 0 || text.starts_with(line?)).then(|| Citation {
                file: file.to_owned(),
                line: first,
                quote: line.unwrap_or_default().to_owned(),
            })
        })
    }

    /// The ids of findings that the digest calls verified.
    pub(crate) fn verified(&self) -> Vec<String> {
        let ids = self.digest.lines().filter_map(|line| line.split_once(" verified: "));
        ids.map(|(id, _)| id.to_owned()).collect()
    }

    /// A reply: these keys, and the code at the end of the input.
    pub(crate) fn reply(&self, mut value: Value) -> String {
        if let Some(object) = value.as_object_mut() {
            object.insert("tail".to_owned(), Value::from(self.tail.as_str()));
        }
        value.to_string()
    }
}

/// What a model does that fills in every form as well as can be from what it sees.
pub(crate) fn diligent(seen: &Seen, max_steps: usize) -> String {
    match seen.shape.as_str() {
        "orient" => seen.reply(json!({"select": seen.labels()})),
        "plan" => {
            let steps: Vec<Value> = (1..)
                .zip(seen.labels().into_iter().take(max_steps))
                .map(|(n, id)| {
                    json!({"id": format!("s{n}"), "kind": "examine", "goal": format!("What does {id} say?"),
                        "targets": [id], "needs": []})
                })
                .collect();
            seen.reply(json!({"steps": steps}))
        }
        "step" => {
            let findings: Vec<Value> = seen
                .first_line()
                .map(|at| {
                    json!({"claim": format!("{} begins so", at.file), "file": at.file, "line": at.line,
                        "quote": at.quote})
                })
                .into_iter()
                .collect();
            seen.reply(json!({"findings": findings, "absent": [], "suggest": []}))
        }
        "deliver" => seen.reply(json!({"arguments": ["title=done"]})),
        "review" => seen.reply(json!({"drop": [], "gaps": []})),
        _ => {
            let cites = seen.verified();
            let answer = format!("{} places bear on it.", cites.len());
            let mut value = json!({"answer": answer, "cites": cites, "verdict": "answered"});
            if let (Some(object), true) = (value.as_object_mut(), seen.has_key("delivered")) {
                let delivered = seen.digest.contains("deliverable: made");
                object.insert("delivered".to_owned(), delivered.into());
                object.insert("claims".to_owned(), json!([]));
            }
            seen.reply(value)
        }
    }
}

/// Records in memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shelf(pub(crate) Vec<Shelved>);

/// A record in memory.
#[derive(Debug, Clone)]
pub(crate) struct Shelved {
    /// The file, which is also its id.
    pub(crate) path: String,
    /// A line on it.
    pub(crate) description: String,
    /// A paragraph on it.
    pub(crate) summary: String,
    /// Its text.
    pub(crate) detail: String,
}

impl Shelf {
    /// Does some work of a run over these records, with nobody to deliver anything.
    pub(crate) fn work<T>(
        self,
        model: &mut dyn Model,
        clock: &dyn Clock,
        journal: &mut MemoryJournal,
        work: impl FnOnce(&mut Parts<'_>) -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        self.deliver(model, &mut Forbidden, clock, journal, work)
    }

    /// Does some work of a run over these records, with somebody to deliver.
    pub(crate) fn deliver<T>(
        mut self,
        model: &mut dyn Model,
        delivery: &mut dyn Delivery,
        clock: &dyn Clock,
        journal: &mut MemoryJournal,
        work: impl FnOnce(&mut Parts<'_>) -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        let mut tree = self.tree();
        work(&mut Parts {
            model,
            sources: &mut self,
            truth: &mut tree,
            delivery,
            clock,
            journal,
            watch: &mut Quiet,
        })
    }

    /// The tree that the records are from.
    pub(crate) fn tree(&self) -> Tree {
        Tree(self.0.iter().map(|record| (record.path.clone(), record.detail.clone())).collect())
    }
}

impl Shelved {
    fn piece(&self, depth: Depth) -> Piece {
        let text = match depth {
            Depth::Description => &self.description,
            Depth::Summary => &self.summary,
            Depth::Detail => &self.detail,
        };
        let n_lines = u32::try_from(self.detail.lines().count()).unwrap_or(u32::MAX);
        let lines = (1, n_lines.max(1));
        Piece { id: self.path.clone(), path: self.path.clone(), lines, text: text.clone() }
    }
}

impl Sources for Shelf {
    fn describe(&mut self, _question: &str, n_records: u32) -> Result<Vec<Piece>, SourceError> {
        let n = usize::try_from(n_records).unwrap_or(usize::MAX);
        Ok(self.0.iter().take(n).map(|record| record.piece(Depth::Description)).collect())
    }

    fn pieces(&mut self, ids: &[String], depth: Depth) -> Result<Vec<Piece>, SourceError> {
        let found = ids.iter().filter_map(|id| self.0.iter().find(|record| record.path == *id));
        Ok(found.map(|record| record.piece(depth)).collect())
    }
}

/// A tree in memory: path to content.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tree(pub(crate) BTreeMap<String, String>);

impl Truth for Tree {
    fn check(&mut self, citation: &Citation) -> Standing {
        let Some(text) = self.0.get(&citation.file) else {
            return Standing::Refuted("there is no such file".to_owned());
        };
        let line = usize::try_from(citation.line).ok().and_then(|line| line.checked_sub(1));
        match line.and_then(|line| text.lines().nth(line)) {
            None => Standing::Refuted("there is no such line".to_owned()),
            Some(line) if !citation.quote.is_empty() && line.contains(&citation.quote) => {
                Standing::Verified
            }
            Some(_) => Standing::Refuted("the line says something else".to_owned()),
        }
    }

    fn search(&mut self, pattern: &str) -> Search {
        let mut hits = Vec::new();
        for (path, text) in &self.0 {
            let lines = (1..).zip(text.lines()).filter(|(_, line)| line.contains(pattern));
            hits.extend(lines.map(|(line, _)| (path.clone(), line)));
        }
        let n_files = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        Search { pattern: pattern.to_owned(), n_files, hits, exhaustive: true }
    }
}

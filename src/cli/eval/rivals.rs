//! The retrievers that psos is measured beside, made of the records that it has indexed.

use std::collections::BTreeMap;

use psos::clock::SystemClock;
use psos::engine::{Content, Engine, EngineRetriever, Settings, TriggerRetriever};
use psos::eval::{self, Bm25, Contender, Judged, Outcome, Retriever, Shows, Text};
use psos::recall::Floor;
use psos::record::Tier;

use crate::cli::eval::of_eval;
use crate::cli::failure::Failure;
use crate::cli::output::failure;

/// A record with the id that the questions know it by.
pub(super) struct Record {
    pub(super) id: String,
    pub(super) content: Content,
}

/// Returns all records of a store, with `prefix` taken off their ids.
pub(super) fn contents(engine: &Engine, prefix: &str) -> Result<Vec<Record>, Failure> {
    let contents = engine.contents().map_err(|error| failure(error, engine.dir()))?;
    let named = contents.into_iter().map(|content| {
        let id = content.id.as_str();
        Record { id: id.strip_prefix(prefix).unwrap_or(id).to_owned(), content }
    });
    Ok(named.collect())
}

/// Plain BM25 over whole records, which shows as many of the best as the budget has room for: once
/// at the price of their bare texts, and once at that of psos, which puts a line above each.
pub(super) fn packed(records: &[Record], n_records: u32) -> [Bm25; 2] {
    let shows = Shows::Packed { n_records };
    [
        whole_records("BM25 over whole records, bare", shows, records, |c| c.detail_tokens),
        whole_records("BM25 over whole records, each under a line", shows, records, |c| {
            c.framed_detail_tokens
        }),
    ]
}

/// Returns what other retrievers make of some questions.
pub(super) fn others(
    engine: &Engine,
    records: &[Record],
    files: &Files,
    (form, split): (&str, &str),
    judged: &[Judged],
) -> Result<Vec<Contender>, Failure> {
    let tier = |name: &str, text: fn(&Content) -> String| {
        let texts: Vec<(&Record, String)> =
            records.iter().map(|record| (record, text(&record.content))).collect();
        let texts = texts.iter().map(|(record, text)| Text {
            id: &record.id,
            scope: &record.content.scope,
            text,
            tokens: 0,
        });
        Bm25::new(name, Shows::Nothing, texts)
    };
    let mut lexical = [
        whole_records("BM25 over whole records", Shows::Nothing, records, |_| 0),
        tier("BM25 over summaries", |content| content.summary.clone()),
        tier("BM25 over descriptions", |content| content.description.clone()),
        tier("BM25 over triggers", |content| content.triggers.join("\n")),
    ];
    let mut found = Vec::new();
    for retriever in &mut lexical {
        let outcomes = run(retriever, judged)?;
        found.extend(Contender::of(retriever.name(), form, split, judged, &outcomes));
    }
    let mut automata = TriggerRetriever::new(engine, "");
    let outcomes = run(&mut automata, judged)?;
    found.extend(Contender::of("trigger automata alone", form, split, judged, &outcomes));
    // A file is right when a right record stands in it: an easier question, at the price of a file.
    let by_file: Vec<Judged> = judged.iter().map(|judged| files.judged(judged)).collect();
    let mut whole_files = files.retriever();
    let outcomes = run(&mut whole_files, &by_file)?;
    found.extend(Contender::of(whole_files.name(), form, split, &by_file, &outcomes));
    Ok(found)
}

/// Returns what psos makes of some questions when it ranks by fewer tiers.
pub(super) fn tiers(
    engine: &Engine,
    settings: &Settings,
    (form, split): (&str, &str),
    judged: &[Judged],
) -> Result<Vec<Contender>, Failure> {
    let mut found = Vec::new();
    for (name, depth) in [
        ("trigger, title, breadcrumb", Tier::Trigger),
        ("+ description", Tier::Description),
        ("+ summary", Tier::Summary),
        ("+ detail", Tier::Detail),
    ] {
        let settings = Settings { depth, floor: Floor::Ignore, ..settings.clone() };
        let outcomes = run(&mut EngineRetriever::new(engine, settings), judged)?;
        let mut of_depth = Contender::of(name, form, split, judged, &outcomes);
        // What is shown is not what is ranked by.
        for contender in &mut of_depth {
            contender.tokens = None;
        }
        found.extend(of_depth);
    }
    Ok(found)
}

/// The files of a tree as retrieval units.
pub(super) struct Files {
    texts: BTreeMap<String, String>,
    tokens: BTreeMap<String, u32>,
    file_of: BTreeMap<String, String>,
}

impl Files {
    /// Files with their texts and costs, and the file of each record.
    pub(super) fn new(
        texts: BTreeMap<String, String>,
        tokens: BTreeMap<String, u32>,
        file_of: BTreeMap<String, String>,
    ) -> Self {
        Self { texts, tokens, file_of }
    }

    fn retriever(&self) -> Bm25 {
        let texts = self.texts.iter().map(|(path, text)| Text {
            id: path,
            scope: "",
            text,
            tokens: self.tokens.get(path).copied().unwrap_or_default(),
        });
        Bm25::new("BM25 over whole files, right file first", Shows::First, texts)
    }

    fn judged(&self, judged: &Judged) -> Judged {
        let file = |(id, grade): (&String, &u32)| Some((self.file_of.get(id)?.clone(), *grade));
        let mut judged = judged.clone();
        judged.gold = judged.gold.iter().filter_map(file).collect();
        // Files lie in no scope.
        judged.question.scope = None;
        judged
    }
}

fn whole_records(
    name: &str,
    shows: Shows,
    records: &[Record],
    tokens: fn(&Content) -> u32,
) -> Bm25 {
    let texts: Vec<(&Record, String)> =
        records.iter().map(|record| (record, whole_text(&record.content))).collect();
    let texts = texts.iter().map(|(record, text)| Text {
        id: &record.id,
        scope: &record.content.scope,
        text,
        tokens: tokens(&record.content),
    });
    Bm25::new(name, shows, texts)
}

/// Heading and body, the heading once.
fn whole_text(content: &Content) -> String {
    let Content { title, detail, .. } = content;
    let first = detail.trim_start().lines().next().unwrap_or_default();
    if first.contains(title.as_str()) { detail.clone() } else { format!("{title}\n{detail}") }
}

fn run(retriever: &mut dyn Retriever, judged: &[Judged]) -> Result<Vec<Outcome>, Failure> {
    eval::run(retriever, judged, &SystemClock, &mut || {}).map_err(of_eval)
}

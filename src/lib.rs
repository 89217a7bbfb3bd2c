//! psos: an embedded recall engine and tier ontology for AI agents.
//!
//! psos reads a folder of notes, manuals, skills, tables and source code, and answers a question with
//! the record that fits best, inside a hard budget of tokens. Recall needs no model and no network,
//! and equal content gives equal answers, byte by byte.
//!
//! Every record has four tiers, each deeper and dearer than the one before: the phrases that call
//! for it by name ([trigger](record::Tier::Trigger)), a line on it
//! ([description](record::Tier::Description)), a paragraph ([summary](record::Tier::Summary)) and its
//! exact text ([detail](record::Tier::Detail)). People may write the first three; what they do not
//! write is derived. An answer shows the best record as deep as the budget allows.
//!
//! # A tour
//!
//! [`Engine`](engine::Engine) is the way in. Fill a store from a folder, then open it; indexing again
//! reads only what changed, and moves the store in one commit.
//!
//! ```
//! use std::time::Duration;
//!
//! use psos::clock::SystemClock;
//! use psos::engine::{Engine, EngineRetriever, STORE_FOLDER, Settings};
//! use psos::eval;
//! use psos::ingest::{EmptyTree, Extent, IndexOptions, NoProgress, WalkOptions};
//! use psos::reader::{self, Fields, Tiers};
//! use psos::recall::{Budget, Filter, Floor, Format, Query, Request, Wish};
//! use psos::record::{RecordId, Tier};
//!
//! let tree = tempfile::tempdir()?;
//! let undo = "## Undo the last commit\n\nRun `git reset --soft HEAD~1`.\n";
//! let rename = "## Rename a branch\n\nRun `git branch -m NEW`.\n";
//! std::fs::write(tree.path().join("git.md"), format!("# Git\n\n{undo}\n{rename}"))?;
//!
//! // Index.
//! let dir = tree.path().join(STORE_FOLDER);
//! let options = IndexOptions {
//!     walk: WalkOptions::default(),
//!     reader: reader::Options { tiers: Tiers::Authored, fields: Fields::default() },
//!     threads: None,
//!     extent: Extent::Changed,
//!     empty: EmptyTree::Refuse,
//!     wait: Duration::from_secs(5),
//! };
//! let report = Engine::index(tree.path(), &dir, &options, &SystemClock, &NoProgress)?;
//! assert_eq!(report.totals.n_records, 3);
//!
//! // Open, and recall.
//! let engine = Engine::open(&dir)?;
//! let answer = engine.recall(&Request {
//!     query: Query::parse("how do I undo my last commit?")?,
//!     n_records: 2,
//!     budget: Budget::tokens(200),
//!     wish: Wish::FirstDeep,
//!     filter: Filter::default(),
//!     format: Format::Text,
//!     floor: Floor::Refuse,
//! })?;
//! let best = &answer.results[0];
//! assert_eq!(best.id.as_str(), "git.md#undo-the-last-commit");
//! assert_eq!(best.tier, Tier::Detail);
//! assert!(best.text.contains("git reset --soft"));
//! assert!(answer.tokens_used <= 200);
//! // What goes to the model; the budget is a promise about this text.
//! let prompt = Format::Text.render(&answer, "", false);
//! assert!(psos::text::count(&prompt) <= 200);
//!
//! // Read why it is first: the words that it shares with the question, and a sum of features.
//! let why = &best.explanation;
//! assert!(why.terms.iter().any(|word| word.term == "undo"));
//! let sum: f64 = why.features.iter().map(|feature| feature.value * feature.weight).sum();
//! assert!((sum - why.score).abs() < 1e-9);
//!
//! // Get a record that is known by its id, at any tier.
//! let id = RecordId::from_text("git.md#rename-a-branch");
//! let piece = engine.get(&id, Tier::Description, None)?.ok_or("no such record")?;
//! assert_eq!(piece.title, "Rename a branch");
//!
//! // Evaluate: questions whose answers are known, and how often the right record is first.
//! let judged = [eval::Judged {
//!     question: eval::Question {
//!         id: "q1".into(),
//!         text: "give a branch another name".into(),
//!         scope: None,
//!         budget_tokens: 200,
//!     },
//!     gold: [(id.to_string(), 1)].into(),
//!     level: "standard".into(),
//! }];
//! let settings = Settings {
//!     n_records: 5,
//!     wish: Wish::FirstDeep,
//!     floor: Floor::Refuse,
//!     depth: Tier::Detail,
//!     id_prefix: String::new(),
//! };
//! let mut retriever = EngineRetriever::new(&engine, settings);
//! let outcomes = eval::run(&mut retriever, &judged, &SystemClock, &mut || ())?;
//! let verdict = eval::judge(&judged[0], outcomes.first());
//! assert!(verdict.is_right(&judged[0]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to go from here
//!
//! - [`engine`] opens, fills, asks, lists and verifies a store.
//! - [`recall`] has what a question may say and what an answer holds; [`recall::Filter`] asks a part
//!   of a store.
//! - [`ingest`] says which files count, and [`reader`] what becomes of each format. Content that
//!   cannot be read is reported, and never an error.
//! - [`eval`] judges psos, or anything else that is a [`Retriever`](eval::Retriever), with suites,
//!   baselines and reports.
//! - [`record`], [`store`], [`trigger`], [`bm25`] and [`text`] are what these are made of.
//! - [`pipeline`] lets a stateless or small model work on a task in bounded steps, and [`ledger`] keeps
//!   what happened.
//! - Every error says whose [`fault`] it is; time is handed in as a [`clock`].

pub mod bm25;
pub mod clock;
pub mod engine;
pub mod eval;
pub mod fault;
pub mod ingest;
pub mod ledger;
#[cfg(feature = "pipeline")]
pub mod pipeline;
#[cfg(test)]
mod powercut;
pub mod reader;
pub mod recall;
pub mod record;
pub mod store;
pub mod text;
pub mod trigger;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

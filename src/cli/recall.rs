//! `psos recall`: the question, the answer, and how it came about.

use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;

use psos::engine::{Engine, EngineError};
use psos::recall::{
    Answer, Budget, Filter, Floor, Format, Query, RecallError, Request, SourceState, Wish,
};
use psos::record::{Kind, Tier};
use serde::Deserialize;

use crate::cli::args::{FormatName, RecallArgs, ScopeArgs};
use crate::cli::failure::Failure;
use crate::cli::output::{failure, open, print, push, tell};
use crate::cli::{Done, NOTHING, index};
use psos::fault::Fault;

pub(crate) fn run(args: &RecallArgs) -> Done {
    let engine = match &args.tree {
        Some(tree) => {
            let dir = index::store_of(tree);
            match index::build(tree, &dir, &index::default_options(), false) {
                Err(error) if error.is_about_writing() && Engine::open(&dir).is_ok() => {
                    tell(&format!(
                        "note: {} may not be written, and is asked as it is\n",
                        dir.display()
                    ));
                }
                result => drop(result?),
            }
            Engine::open(&dir).map_err(|error| failure(error, &dir))?
        }
        None => open(&args.store)?,
    };
    match &args.queries {
        Some(file) => many(args, &engine, file),
        None => one(args, &engine),
    }
}

fn one(args: &RecallArgs, engine: &Engine) -> Done {
    let text = match args.query.as_slice() {
        [dash] if dash == "-" => {
            let mut bytes = Vec::new();
            std::io::stdin().lock().read_to_end(&mut bytes)?;
            String::from_utf8_lossy(&bytes).trim().to_owned()
        }
        words => words.join(" "),
    };
    let format = if args.json { Format::Json } else { args.format.into() };
    let tag = if format == Format::Trec { "query" } else { "" };
    let answer = ask(args, engine, (&text, tag), None, format)?;
    check_fresh(args, &answer)?;
    print(&format.render(&answer, tag, args.explain))?;
    if args.explain && format != Format::Json {
        tell(&explanation(&answer));
    }
    if answer.results.is_empty() {
        if format != Format::Json {
            tell(&match answer.total {
                0 => "no match: no record shares a word with the query\n".to_owned(),
                n => format!(
                    "no match: none of the {n} records that share a word with the query answers it\n"
                ),
            });
        }
        return Ok(ExitCode::from(NOTHING));
    }
    Ok(ExitCode::SUCCESS)
}

/// One question of a file.
#[derive(Debug, Deserialize)]
struct Line {
    #[serde(rename = "_id")]
    id: String,
    text: String,
    #[serde(default)]
    scope: Option<String>,
}

fn many(args: &RecallArgs, engine: &Engine, file: &Path) -> Done {
    let bytes = std::fs::read(file).map_err(|error| {
        let fault = if error.kind() == std::io::ErrorKind::NotFound {
            Fault::Usage
        } else {
            Fault::Environment
        };
        Failure::new(
            fault,
            anyhow::Error::new(error).context(format!("cannot read {}", file.display())),
        )
    })?;
    let text = String::from_utf8_lossy(&bytes);
    let format = match (args.json, args.format) {
        (true, _) | (false, FormatName::Json | FormatName::Jsonl) => Format::Json,
        (false, FormatName::Trec) => Format::Trec,
        (false, _) => {
            return Err(Failure::usage("--queries answers in --format trec, jsonl or json").hint(
                "add `--format trec` for a run file, `--format jsonl` for one object a question",
            ));
        }
    };
    let mut n_answered = 0_u64;
    for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let bad = |error: &dyn std::fmt::Display| {
            Failure::new(Fault::Data, anyhow::anyhow!("{}:{number}: {error}", file.display()))
                .hint("each line is one object with \"_id\" and \"text\"")
        };
        let question: Line = serde_json::from_str(line).map_err(|error| bad(&error))?;
        let asked = (question.text.as_str(), question.id.as_str());
        let answer = match ask(args, engine, asked, question.scope.as_deref(), format) {
            Ok(answer) => answer,
            Err(failure) if failure.is_about_query() => {
                tell(&format!("{}:{number}: {failure}\n", file.display()));
                continue;
            }
            Err(failure) => return Err(failure),
        };
        n_answered += u64::from(!answer.results.is_empty());
        check_fresh(args, &answer)?;
        print(&format.render(&answer, &question.id, args.explain))?;
    }
    Ok(if n_answered == 0 { ExitCode::from(NOTHING) } else { ExitCode::SUCCESS })
}

fn ask(
    args: &RecallArgs,
    engine: &Engine,
    (text, tag): (&str, &str),
    scope: Option<&str>,
    format: Format,
) -> Result<Answer, Failure> {
    let of_query = |error: RecallError| failure(error.into(), engine.dir()).about_query();
    let query = Query::parse(text).map_err(of_query)?.tagged(tag);
    let unread = matches!(format, Format::Paths | Format::Trec);
    let budget = match args.budget {
        Some(tokens) => Budget::tokens(tokens),
        None if unread => Budget::UNLIMITED,
        None => Budget::DEFAULT,
    };
    let mut filter = args.scope.to_filter().map_err(|error| failure(error.into(), engine.dir()))?;
    if let Some(scope) = scope {
        filter = filter.scope(scope);
    }
    let request = Request {
        query,
        n_records: args.n,
        budget,
        wish: match args.tier.map(Tier::from) {
            Some(Tier::Trigger) => {
                return Err(Failure::usage(
                    "triggers select records and are never shown as an answer",
                )
                .hint("`psos get ID:trigger` lists the triggers of a record"));
            }
            Some(tier) => Wish::Every(tier),
            None => Wish::FirstDeep,
        },
        filter,
        format,
        floor: Floor::Refuse,
    };
    engine.recall(&request).map_err(|error| {
        let of_one = matches!(error, EngineError::Recall(RecallError::BudgetTooSmall { .. }));
        let failure = failure(error, engine.dir());
        if of_one { failure.about_query() } else { failure }
    })
}

impl ScopeArgs {
    /// The part of the store that these arguments name.
    pub(crate) fn to_filter(&self) -> Result<Filter, RecallError> {
        let mut filter = Filter::default();
        if let Some(pattern) = &self.path {
            filter = filter.path(pattern)?;
        }
        if let Some(kind) = self.kind {
            filter = filter.kind(Kind::from(kind));
        }
        if let Some(scope) = &self.scope {
            filter = filter.scope(scope);
        }
        Ok(filter)
    }
}

fn check_fresh(args: &RecallArgs, answer: &Answer) -> Result<(), Failure> {
    let stale = answer.results.iter().find(|hit| hit.source != SourceState::Unchanged);
    match stale {
        Some(hit) if args.strict => Err(Failure::new(
            Fault::Data,
            anyhow::anyhow!(
                "the source of {} has {} since it was indexed",
                hit.id,
                match hit.source {
                    SourceState::Missing => "vanished",
                    _ => "changed",
                }
            ),
        )
        .hint("run `psos index` again, or ask with `--tree TREE`")),
        _ => Ok(()),
    }
}

/// The arithmetic of an answer, for people.
fn explanation(answer: &Answer) -> String {
    let mut text = String::new();
    for hit in &answer.results {
        push(
            &mut text,
            format_args!(
                "[{}] {} score {:.4}, selected by {}\n",
                hit.rank,
                hit.id,
                hit.score,
                hit.why.name()
            ),
        );
        for found in &hit.explanation.triggers {
            push(&mut text, format_args!("    trigger `{}` ({})\n", found.phrase, found.how));
        }
        for term in &hit.explanation.terms {
            let [trigger, title, breadcrumb, description, summary, detail] = term.counts;
            let read_as = match term.read_as.join(", ") {
                none if none.is_empty() => none,
                terms => format!(" (read as {terms})"),
            };
            push(
                &mut text,
                format_args!(
                    "    word `{}`{read_as} weighs {:.2}, in {} records; here trigger {trigger}, title {title}, breadcrumb \
                 {breadcrumb}, description {description}, summary {summary}, detail {detail}\n",
                    term.term, term.weight, term.n_records
                ),
            );
        }
        for found in &hit.explanation.paraphrases {
            push(&mut text, format_args!("    `{}` as {}\n", found.asked, found.said.join(", ")));
        }
        for feature in &hit.explanation.features {
            push(
                &mut text,
                format_args!(
                    "    {:<16} {:>8.4} x {:>7.3} = {:>8.4}\n",
                    feature.name,
                    feature.value,
                    feature.weight,
                    feature.value * feature.weight
                ),
            );
        }
    }
    push(
        &mut text,
        format_args!(
            "{} of {} tokens used, {} of {} matching records shown\n",
            answer.tokens_used,
            answer.budget.as_tokens(),
            answer.results.len(),
            answer.total
        ),
    );
    text
}

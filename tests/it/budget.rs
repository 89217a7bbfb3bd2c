//! The budget, counted with the real tokenizer over what is really written: claims about every answer to
//! fifteen questions, under every budget, in every format that a model reads.

use psos::clock::FixedClock;
use psos::engine::Engine;
use psos::ingest::{EmptyTree, Extent, IndexOptions, NoProgress, WalkOptions};
use psos::reader::{self, Fields, Tiers};
use psos::recall::{Budget, Filter, Floor, Format, Query, RecallError, Request, Wish};
use psos::record::Tier;
use psos::text::count;

use crate::harness::{Env, GUIDE, QUESTIONS};

const FORMATS: [Format; 3] = [Format::Text, Format::Markdown, Format::Json];

/// Indexes the tree of a folder with the library, and opens its store.
pub(crate) fn engine(env: &Env) -> Engine {
    let options = IndexOptions {
        walk: WalkOptions::default(),
        reader: reader::Options { tiers: Tiers::Authored, fields: Fields::default() },
        threads: Some(2),
        extent: Extent::Changed,
        empty: EmptyTree::Refuse,
        wait: std::time::Duration::from_secs(5),
    };
    let dir = env.path("store");
    Engine::index(&env.path("tree"), &dir, &options, &FixedClock::default(), &NoProgress).unwrap();
    Engine::open(&dir).unwrap()
}

fn request(question: &str, n_records: u32, budget: u32, wish: Wish, format: Format) -> Request {
    Request {
        query: Query::parse(question).unwrap(),
        n_records,
        budget: Budget::tokens(budget),
        wish,
        filter: Filter::default(),
        format,
        // Whether a question is answered is a matter of ranking; here every one is.
        floor: Floor::Ignore,
    }
}

/// How far answers are below what they say they cost.
#[derive(Debug, Default)]
struct Gap {
    n_answers: u64,
    said: u64,
    counted: u64,
    widest: u32,
}

/// Asks one question under growing budgets and checks what holds for each answer and between them.
fn sweep(engine: &Engine, question: &str, n: u32, wish: Wish, format: Format, gap: &mut Gap) {
    let budgets: Vec<u32> = (100..=4_000).step_by(50).collect();
    let requests: Vec<Request> =
        budgets.iter().map(|&budget| request(question, n, budget, wish, format)).collect();
    let (_, answers) =
        engine.rank_and_answer(&requests[0].query, &Filter::default(), 1, &requests).unwrap();
    let mut before = (0, None);
    let mut counted = (String::new(), 0);
    for (budget, answer) in budgets.into_iter().zip(answers) {
        let place = || format!("{question:?} {format:?} {wish:?} -b {budget}");
        let answer = match answer {
            Ok(answer) => answer,
            Err(RecallError::BudgetTooSmall { smallest, .. }) => {
                assert!(format == Format::Json && before.1.is_none(), "{}", place());
                assert!(smallest > budget, "{}: {smallest}", place());
                continue;
            }
            Err(error) => panic!("{}: {error}", place()),
        };
        let first = answer.results.first().unwrap_or_else(|| panic!("{}: empty", place()));
        let rendered = format.render(&answer, "", false);
        if counted.0 != rendered {
            counted = (rendered.clone(), count(&rendered));
        }
        let tokens = counted.1;
        assert!(tokens <= answer.tokens_used, "{}: {tokens} tokens\n{rendered}", place());
        assert!(answer.tokens_used <= budget, "{}: {}", place(), answer.tokens_used);
        let now = (answer.tokens_used, Some(first.tier));
        assert!(before.0 <= now.0, "{}: cheaper than under a smaller budget", place());
        assert!(before.1 <= now.1, "{}: shallower than under a smaller budget", place());
        before = now;
        gap.n_answers += 1;
        gap.said += u64::from(answer.tokens_used);
        gap.counted += u64::from(tokens);
        gap.widest = gap.widest.max(answer.tokens_used - tokens);
        if format != Format::Json {
            let most = tokens + tokens * 35 / 100 + 60;
            assert!(answer.tokens_used <= most, "{}: {tokens} tokens\n{rendered}", place());
        }
    }
    assert!(before.0 > 0, "{question}: no answer at all");
}

#[test]
fn no_answer_is_over_its_budget_and_more_budget_never_shows_less() {
    let env = Env::guide_in_order(0..GUIDE.len());
    let engine = engine(&env);
    for format in FORMATS {
        let mut gap = Gap::default();
        for question in QUESTIONS {
            sweep(&engine, question, 5, Wish::FirstDeep, format, &mut gap);
        }
        for question in QUESTIONS.iter().step_by(5) {
            sweep(&engine, question, 20, Wish::Every(Tier::Detail), format, &mut gap);
            sweep(&engine, question, 20, Wish::Every(Tier::Description), format, &mut gap);
        }
        println!("{format:?}: {gap:?}");
        // On average an answer costs what it says, but for the guards and the width of numbers.
        let most = if format == Format::Json { 140 } else { 108 };
        assert!(gap.said * 100 <= gap.counted * most, "{format:?}: {gap:?}");
    }
}

#[test]
fn the_smallest_budget_that_is_told_is_the_smallest_that_answers() {
    let env = Env::new();
    let engine = engine(&env);
    for format in FORMATS {
        for wish in [Wish::FirstDeep, Wish::Every(Tier::Description), Wish::Every(Tier::Detail)] {
            let ask =
                |budget| engine.recall(&request("take back a commit", 5, budget, wish, format));
            let smallest = match ask(1) {
                Err(psos::engine::EngineError::Recall(RecallError::BudgetTooSmall {
                    smallest,
                    budget: 1,
                })) => smallest,
                other => panic!("{other:?}"),
            };
            assert!(ask(smallest - 1).is_err(), "{format:?} {wish:?}: {smallest}");
            let answer = ask(smallest).unwrap();
            let tokens = count(&format.render(&answer, "", false));
            assert!(tokens <= smallest, "{format:?} {wish:?}: {tokens} of {smallest}");
            assert_eq!(answer.results.len(), 1);
        }
    }
}

#[test]
fn the_budget_holds_whatever_the_content_is() {
    let env = Env::empty();
    env.write(
        "tree/odd names/a b  c.md",
        "# \u{30b3}\u{30df}\u{30c3}\u{30c8}\n\n\u{6700}\u{5f8c}\u{306e}\u{30b3}\u{30df}\u{30c3}\u{30c8}\u{3092}commit\u{3057}\u{307e}\u{3059}\n\n\
         ## commit \u{1f980}\u{1f980} \"quoted\" \\ back\n\n    /indented commit\n\n\t- 1234567890123456789012345678901234567890 commit\n\n\
         ## a/b/c commit\n\n/commit starts with a slash\n\n## 2026.4.10 commit\n\n2026\n\n//////\n",
    );
    env.write("tree/.commit/x.md", "commit hidden\n");
    env.write(
        "tree/rows.jsonl",
        (0..12)
            .map(|i| {
                let text = format!("commit {} \"{}\"\n\t\u{e9}\u{301} \\u0007 {}", i, "\\\"".repeat(i), "\u{4e2d}".repeat(i * 9));
                serde_json::json!({"_id": format!("k {i}\"/"), "title": "\"commit\"\n/", "text": text}).to_string() + "\n"
            })
            .collect::<String>(),
    );
    env.write("tree/code.rs", "/// The commit.\npub fn commit_all() {\n    // \u{2192}\n}\n");
    let engine = engine(&env);
    let all = [Format::Text, Format::Markdown, Format::Json, Format::Paths, Format::Trec];
    for question in
        ["commit", "\"commit\" \\ 1234567890123 \u{4e2d}\u{4e2d}", "2026.4.10 commit_all"]
    {
        for wish in [Wish::FirstDeep, Wish::Every(Tier::Description), Wish::Every(Tier::Detail)] {
            for format in all {
                for budget in (20..900).step_by(11) {
                    let mut request = request(question, 20, budget, wish, format);
                    request.query = request.query.tagged("a tag, \"quoted\"");
                    let Ok(answer) = engine.recall(&request) else { continue };
                    let rendered = format.render(&answer, request.query.tag(), false);
                    let tokens = count(&rendered);
                    assert!(
                        tokens <= answer.tokens_used && answer.tokens_used <= budget,
                        "{question} {format:?} {wish:?} -b {budget}: {tokens}, said {}\n{rendered}",
                        answer.tokens_used
                    );
                }
            }
        }
    }
}

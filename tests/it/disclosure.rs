//! Progressive disclosure: the detail of a record leaves the store only when the record was selected and its
//! detail was paid for. Every record here has a word in its detail that stands nowhere else.

use std::collections::BTreeMap;

use psos::recall::{Budget, Filter, Floor, Format, Query, Request, Wish};
use psos::record::{RecordId, Tier};

use crate::budget::engine;
use crate::harness::Env;

const FORMATS: [Format; 5] =
    [Format::Text, Format::Markdown, Format::Json, Format::Paths, Format::Trec];
const TOPICS: [&str; 10] = [
    "certificate",
    "backup",
    "deploy",
    "cache",
    "login",
    "invoice",
    "queue",
    "search",
    "upload",
    "report",
];
const ACTS: [&str; 4] = ["renew", "rotate", "inspect", "remove"];

/// Words that no text has, always the same ones.
struct Words(u64);

impl Words {
    fn next(&mut self) -> String {
        // xorshift: any seed but 0 gives every number once.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        format!("zq{}", format!("{:016x}", self.0).replace(|c: char| c.is_ascii_digit(), "k"))
    }
}

/// A tree of about sixty records of every kind, and the word of each.
fn tree() -> (Env, BTreeMap<RecordId, String>) {
    let env = Env::empty();
    let mut words = Words(0x5eed);
    let mut tokens = BTreeMap::new();
    let mut token_of = |id: String| {
        let token = words.next();
        assert!(tokens.insert(RecordId::from_text(&id), token.clone()).is_none(), "{id}");
        token
    };
    for topic in TOPICS {
        let path = format!("{topic}.md");
        let mut text = format!(
            "---\ndescription: All about the {topic}.\nsummary: Working with the {topic}.\n---\n# The {topic}\n\n{}\n\n",
            token_of(path.clone())
        );
        for act in ACTS {
            let slug = format!("{path}#{act}-the-{topic}");
            let section = format!(
                "## {act} the {topic}\n\n<!-- psos\ntriggers: [{act} my {topic} now]\ndescription: How to {act} the {topic}.\n\
                 summary: Steps to {act} the {topic}, in order.\n-->\n\nFirst look at the {topic}. {}\n\nThen {act} it.\n\n",
                token_of(slug)
            );
            text.push_str(&section);
        }
        env.write(&format!("tree/{path}"), text);
    }
    let rows: Vec<String> = TOPICS
        .iter()
        .map(|topic| {
            // Nothing is authored here: the word stands behind the paragraph that a summary is made of.
            let token = token_of(format!("rows.jsonl#{topic}"));
            let text = format!("The {topic} has an owner.\n\nAsk before a change. {token}");
            serde_json::json!({"_id": topic, "title": format!("Owner of the {topic}"), "text": text}).to_string() + "\n"
        })
        .collect();
    env.write("tree/rows.jsonl", rows.concat());
    (env, tokens)
}

#[test]
fn no_detail_is_shown_unless_it_was_selected_and_paid_for() {
    let (env, tokens) = tree();
    let engine = engine(&env);
    assert_eq!(tokens.len(), 60);
    let ids: Vec<RecordId> =
        engine.list(&Filter::default()).unwrap().into_iter().map(|entry| entry.id).collect();
    assert_eq!(ids, tokens.keys().cloned().collect::<Vec<_>>());

    let wishes = [
        Wish::FirstDeep,
        Wish::Every(Tier::Description),
        Wish::Every(Tier::Summary),
        Wish::Every(Tier::Detail),
    ];
    let (mut n_outputs, mut n_details) = (0, 0);
    for (i, topic) in TOPICS.into_iter().enumerate() {
        for question in [
            format!("{} my {topic} now", ACTS[i % 4]),
            format!("who owns the {topic}?"),
            format!("first look at the {topic} and the {}", TOPICS[(i + 3) % 10]),
        ] {
            for format in FORMATS {
                let requests: Vec<Request> = (60..=4_000)
                    .step_by(197)
                    .flat_map(|budget| wishes.map(|wish| (budget, wish)))
                    .map(|(budget, wish)| Request {
                        query: Query::parse(&question).unwrap(),
                        n_records: 12,
                        budget: Budget::tokens(budget),
                        wish,
                        filter: Filter::default(),
                        format,
                        floor: Floor::Ignore,
                    })
                    .collect();
                let (_, answers) = engine
                    .rank_and_answer(&requests[0].query, &Filter::default(), 1, &requests)
                    .unwrap();
                for (request, answer) in requests.iter().zip(answers) {
                    let Ok(answer) = answer else { continue };
                    // What is said about a score is no way around it.
                    let output = format.render(&answer, "", true);
                    n_outputs += 1;
                    for (id, token) in &tokens {
                        let paid = answer
                            .results
                            .iter()
                            .any(|hit| hit.id == *id && hit.tier == Tier::Detail);
                        let is_read = !matches!(format, Format::Paths | Format::Trec);
                        assert_eq!(
                            output.contains(token.as_str()),
                            paid && is_read,
                            "{id} in {request:?}\n{output}"
                        );
                        n_details += u64::from(paid && is_read);
                    }
                    if let Wish::Every(deepest) = request.wish {
                        assert!(
                            answer.results.iter().all(|hit| hit.tier <= deepest),
                            "{request:?}"
                        );
                    }
                }
            }
        }
    }
    assert!(n_outputs > 5_000 && n_details > 1_000, "{n_outputs} outputs, {n_details} details");
}

#[test]
fn a_cheaper_tier_of_a_record_shows_none_of_its_detail() {
    let (env, tokens) = tree();
    let engine = engine(&env);
    for (id, token) in &tokens {
        for tier in Tier::ALL {
            let piece = engine.get(id, tier, None).unwrap().unwrap();
            assert!(!piece.text.is_empty(), "{id}:{}", tier.name());
            for (other, word) in &tokens {
                let wanted = other == id && tier == Tier::Detail;
                assert_eq!(piece.text.contains(word.as_str()), wanted, "{id}:{}", tier.name());
            }
        }
        // A detail alone is found by its word: what is hidden from readers is not hidden from the ranking.
        let request = Request {
            query: Query::parse(token).unwrap(),
            n_records: 1,
            budget: Budget::DEFAULT,
            wish: Wish::Every(Tier::Description),
            filter: Filter::default(),
            format: Format::Paths,
            floor: Floor::Ignore,
        };
        assert_eq!(engine.recall(&request).unwrap().results[0].id, *id);
    }
    // From outside, too: neither the listing nor a cheap tier has any of the words.
    let store = ["--store", "store"];
    let (id, token) = tokens.iter().next().unwrap();
    for args in [
        vec!["ls", "--json"],
        vec!["status", "--json"],
        vec!["get", &format!("{id}:description")],
        vec!["get", id.as_str(), "--tier", "summary", "--json"],
        vec!["get", &format!("{id}:trigger")],
    ] {
        let outcome = env.run(&[&args[..], &store[..]].concat());
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        assert!(tokens.values().all(|token| !outcome.stdout.contains(token.as_str())), "{args:?}");
    }
    let detail = env.run(&["get", id.as_str(), "--store", "store"]);
    assert!(detail.stdout.contains(token.as_str()), "{detail:?}");
}

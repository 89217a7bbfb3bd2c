//! What `psos recall` makes of copies, misspellings, paraphrases and scopes.

use serde_json::Value;

use crate::harness::{Env, GUIDE};

/// Fifty words that stand in no other text here.
const ESSAY: &str = "The lighthouse keeper counts ships every evening and writes their names into a \
    ledger bound in green leather. On quiet nights he reads the older pages aloud, and the gulls on \
    the railing answer him, so that sailors far out believe the tower itself is speaking to them.";

fn results(env: &Env, args: &[&str]) -> Vec<Value> {
    let mut all = vec!["recall", "--json", "--store", ".psos"];
    all.extend(args);
    let outcome = env.run(&all);
    assert_eq!(outcome.code, Some(0), "{args:?}: {}", outcome.stderr);
    let answer: Value = serde_json::from_str(&outcome.stdout).unwrap();
    answer["results"].as_array().unwrap().clone()
}

fn ids(env: &Env, args: &[&str]) -> Vec<String> {
    let mut all = vec!["recall", "--format", "paths", "-b", "100000", "--store", ".psos"];
    all.extend(args);
    env.run(&all).stdout.lines().map(str::to_owned).collect()
}

fn env_with(files: &[(&str, &str)]) -> Env {
    let env = Env::empty();
    for (path, text) in files {
        env.write(&format!("tree/{path}"), text);
    }
    index(&env);
    env
}

fn index(env: &Env) {
    let outcome = env.run(&["index", "tree", "--store", ".psos", "-q"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
}

#[test]
fn copies_of_a_text_are_one_hit_that_lists_the_other_places() {
    let essay = ESSAY.repeat(3);
    let same_but_one_word = essay.replacen("older", "oldest", 1);
    let env = env_with(&[
        ("a.md", &essay),
        ("b/a.md", &essay),
        ("c/a.md", &same_but_one_word),
        ("other.md", "A lighthouse needs paint on its railing in spring, and somebody who counts."),
    ]);
    let results = results(&env, &["-n", "3", "who counts ships at the lighthouse?"]);
    let ids: Vec<&str> = results.iter().map(|hit| hit["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 2, "{ids:?}");
    assert!(ids.contains(&"other.md"), "{ids:?}");
    let hit = results.iter().find(|hit| hit["id"] != "other.md").unwrap();
    let mut places: Vec<&str> = vec![hit["id"].as_str().unwrap()];
    places.extend(hit["copies"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()));
    places.sort_unstable();
    assert_eq!(places, ["a.md", "b/a.md", "c/a.md"]);
    assert_eq!(hit["more_copies"], 0);

    // In a list of ids every record has its line.
    assert_eq!(self::ids(&env, &["-n", "9", "who counts ships at the lighthouse?"]).len(), 4);
}

#[test]
fn short_texts_that_differ_in_a_word_are_different() {
    let env = env_with(&[
        ("on.md", "# Mast light\n\nSwitch the mast light on with key 4.\n"),
        ("off.md", "# Mast light\n\nSwitch the mast light off with key 5.\n"),
    ]);
    assert_eq!(results(&env, &["-n", "3", "mast light"]).len(), 2);
}

#[test]
fn copies_cost_tokens_and_the_budget_holds() {
    let essay = ESSAY.repeat(2);
    let files: Vec<(String, &str)> = (0..30)
        .map(|n| (format!("folder-{n}/the keeper's notes, copy {n}.md"), essay.as_str()))
        .collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let env = env_with(&files);
    for budget in [60, 100, 150, 200, 400, 1_000] {
        for format in ["text", "md", "json"] {
            let budget_text = budget.to_string();
            let args =
                ["recall", "--store", ".psos", "--format", format, "-b", &budget_text, "-n", "5"];
            let outcome = env.run(&[&args[..], &["names of ships in the ledger"]].concat());
            if outcome.code == Some(2) {
                assert!(outcome.stderr.contains("budget"), "{}", outcome.stderr);
                continue;
            }
            assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
            let tokens = psos::text::count(&outcome.stdout);
            assert!(tokens <= budget, "{format} {budget}: {tokens}");
            assert!(outcome.stdout.contains("folder-"), "{}", outcome.stdout);
        }
    }
}

#[test]
fn a_misspelt_word_is_read_as_the_nearest_one_and_the_explanation_says_so() {
    let env = env_with(&[
        ("tides.md", "# Tide tables\n\nThe almanac lists springs and neaps for every harbour.\n"),
        ("knots.md", "# Knots\n\nA bowline holds under load and is easy to untie.\n"),
    ]);
    for (question, wanted) in
        [("allmanac", "tides.md"), ("bowlyne", "knots.md"), ("harbor", "tides.md")]
    {
        assert_eq!(results(&env, &[question])[0]["id"].as_str().unwrap(), wanted, "{question}");
    }
    let hit = &results(&env, &["--explain", "allmanac"])[0];
    assert_eq!(hit["explain"]["terms"][0]["read_as"][0], "almanac");
    // A number is not another number.
    let outcome = env.run(&["recall", "--store", ".psos", "error 12345x"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stdout);
}

#[test]
fn a_question_in_other_words_finds_the_record_and_the_explanation_says_how() {
    let env = env_with(&[
        ("tls.md", "# Certificates\n\nLet the server present its TLS certificate to browsers.\n"),
        ("cron.md", "# Schedules\n\nRun a job every night with cron.\n"),
    ]);
    let hit = &results(&env, &["--explain", "the padlock is broken"])[0];
    assert_eq!(hit["id"], "tls.md");
    let paraphrases = hit["explain"]["paraphrases"].as_array().unwrap();
    assert!(paraphrases.iter().any(|found| found["asked"] == "padlock"), "{paraphrases:?}");
}

#[test]
fn a_scope_answers_in_the_order_of_the_whole() {
    let env = Env::empty();
    for file in GUIDE {
        env.copy_guide(file);
    }
    index(&env);
    let questions = [
        "how do I remove a branch that was merged",
        "image gets too large, what makes it smaller",
        "cached response is old",
        "find files changed since yesterday",
        "save my work for later and come back",
        "databse is locked",
    ];
    let mut n_compared = 0;
    for question in questions {
        // All candidates there can be: the scope must not bring in others.
        let whole = ids(&env, &["-n", "1000", question]);
        for folder in ["git", "platform", "web", "databases"] {
            let scoped = ids(&env, &["-n", "1000", "--path", &format!("{folder}/**"), question]);
            // Where the best of a scope is below the floor, nothing in it is an answer.
            if scoped.is_empty() {
                continue;
            }
            n_compared += 1;
            let wanted: Vec<&String> =
                whole.iter().filter(|id| id.starts_with(&format!("{folder}/"))).collect();
            let shared: Vec<&String> = scoped.iter().filter(|id| wanted.contains(id)).collect();
            assert_eq!(shared, wanted, "{question} in {folder}");
            assert_eq!(scoped.first(), wanted.first().copied(), "{question} in {folder}");
        }
    }
    assert!(n_compared >= 12, "{n_compared}");
}

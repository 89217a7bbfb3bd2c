//! Models over HTTP, as the program asks them: a provider on this machine that answers, refuses and cuts inputs.

use std::sync::Mutex;

use crate::harness::{Env, Outcome};
use crate::schema::Json;
use crate::server::{Answer, Request, serve};

const KEY: &str = "sk-a-key-that-nobody-may-see";

/// The card of a model at an address. Retries do not wait.
fn card(address: &str, name: &str) -> String {
    format!(
        "schema_version = 1\nname = '{name}'\n[capability]\nwindow_tokens = 512\nstructured_output = true\n\
         prompt_cache = false\ntools = false\n[http]\nbase_url = '{address}/{name}/v1'\nmodel = '{name}'\n\
         first_pause_ms = 0\nmax_pause_ms = 0\n"
    )
}

/// The content of all messages of a request.
fn prompt(request: &Request) -> String {
    let messages = Json::parse(&request.body);
    let messages = messages.get("messages").unwrap().items();
    messages.iter().map(|message| message.get("content").unwrap().text()).collect()
}

/// What a provider answers.
fn completion(content: &str, prompt_tokens: usize) -> Answer {
    let body = serde_json::json!({
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}],
        "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": 4},
    });
    (200, "application/json", body.to_string())
}

/// A provider whose tokens have four bytes. At `/silent` it has a window of 400 and cuts what is longer.
fn counting(request: &Request) -> Answer {
    let n_tokens = prompt(request).len().div_ceil(4);
    let is_silent = request.line == "POST /silent/v1/chat/completions";
    completion(r#"{"answer": "yes"}"#, if is_silent { n_tokens.min(400) } else { n_tokens })
}

/// A folder of questions about one file: where are its functions called?
fn write_questions(env: &Env, folder: &str) {
    let source = "fn first() -> u32 {\n    1\n}\n\nfn main() {\n    // first() is called below.\n    let _ = first();\n}\n";
    env.write(&format!("{folder}/tree/src/main.rs"), source);
    let question = r#"{"_id": "q1", "text": "Where is the function `first` called?"}"#;
    env.write(&format!("{folder}/queries.jsonl"), question);
    let truth = r#"{"_id": "q1", "call_sites": ["src/main.rs:7"]}"#;
    env.write(&format!("{folder}/callsites.jsonl"), truth);
}

/// The measures of the only scenario, by name, and whether all targets were reached.
fn measures(outcome: &Outcome) -> (Vec<(String, Json)>, Json) {
    let report = Json::parse(&outcome.stdout);
    let scenario = &report.get("scenarios").unwrap().items()[0];
    assert_eq!(scenario.get("source").unwrap().text(), "real_model");
    let measures = scenario.get("measures").unwrap().items().iter();
    let pairs = measures.map(|measure| {
        (measure.get("what").unwrap().text().to_owned(), measure.get("value").unwrap().clone())
    });
    (pairs.collect(), report.get("reached").unwrap().clone())
}

fn value<'a>((measures, _): &'a (Vec<(String, Json)>, Json), what: &str) -> &'a Json {
    let found = measures.iter().find(|(name, _)| name == what);
    &found.unwrap_or_else(|| panic!("no {what:?} in {measures:?}")).1
}

#[test]
fn a_real_model_is_measured_over_http_and_a_server_that_cuts_inputs_is_found_out() {
    let env = Env::empty();
    env.write("s.toml", "schema_version = 1\nname = 's'\n[[scenario]]\nname = 'callsites'\n");
    write_questions(&env, "one");
    write_questions(&env, "many/a");
    write_questions(&env, "many/b");
    serve(counting, |address| {
        for name in ["honest", "silent"] {
            env.write(&format!("{name}.toml"), card(address, name));
        }
        let eval = |more: &[&str]| env.run(&[&["eval", "s.toml", "--json"], more].concat());
        let both = ["--model", "honest.toml", "--silent-model", "silent.toml"];
        for (data, n) in [("one", 1.0), ("many", 2.0)] {
            let outcome = eval(&[&both[..], &["--data", data]].concat());
            assert_eq!(outcome.code, Some(0), "{data}: {outcome:?}");
            let found = measures(&outcome);
            assert_eq!(value(&found, "questions"), &Json::Number(n));
            assert_eq!(value(&found, "exact answers, share"), &Json::Number(1.0));
            assert_eq!(value(&found, "silent overflows detected, share"), &Json::Number(1.0));
            let Json::Number(largest) = value(&found, "largest call, tokens") else { panic!() };
            assert!((400.0..=443.0).contains(largest), "{largest}");
        }
        // The honest one cuts nothing, so that there is nothing to find out.
        let swapped =
            eval(&["--model", "honest.toml", "--silent-model", "honest.toml", "--data", "one"]);
        assert_eq!(swapped.code, Some(1), "{swapped:?}");
        let found = measures(&swapped);
        assert_eq!(value(&found, "silent overflows detected, share"), &Json::Number(0.0));
        // And one that cuts is no model for the questions.
        let cut = eval(&["--model", "silent.toml", "--data", "one"]);
        assert_eq!(cut.code, Some(1), "{cut:?}");
        let found = measures(&cut);
        let whole = value(&found, "input of the size of the largest call arrives whole");
        assert_eq!(whole, &Json::Number(0.0));

        for (args, says) in [
            (&["--model", "honest.toml"][..], "--data"),
            (&["--silent-model", "silent.toml", "--data", "one"], "--model"),
            (&["--model", "none.toml", "--data", "one"], "cannot read none.toml"),
            (&["--model", "honest.toml", "--data", "none"], "cannot use the folder"),
        ] {
            let outcome = eval(args);
            assert!(matches!(outcome.code, Some(2 | 4)), "{args:?}: {outcome:?}");
            assert!(outcome.stderr.contains(says), "{args:?}: {outcome:?}");
        }
    });
}

const TASK: &str = "schema_version = 1\nname = 'undo'\nquestion = 'How do I take back a commit in git?'\n\
                    tree = 'tree'\n[limits]\nsteps = 1\n";

/// A provider that does what is asked of it, and writes down what it was sent.
fn diligent(request: &Request) -> Answer {
    let prompt = prompt(request);
    let tail = prompt.rsplit("tail: ").next().unwrap_or_default().trim();
    let id = "git/undo.md#undo-the-last-commit";
    let has = |shape: &str| prompt.contains(&format!("Reply as {shape}."));
    let mut reply = if has("orient") {
        serde_json::json!({"select": [id]})
    } else if has("plan") {
        serde_json::json!({"steps": [{"id": "a", "kind": "examine", "goal": "how", "targets": [id], "needs": []}]})
    } else if has("step") {
        let quote = "moves the branch back and keeps the changes staged";
        let finding =
            serde_json::json!({"claim": "c", "file": "git/undo.md", "line": 10, "quote": quote});
        serde_json::json!({"findings": [finding], "absent": [], "suggest": []})
    } else if has("review") {
        serde_json::json!({"drop": [], "gaps": []})
    } else {
        serde_json::json!({"answer": "With a soft reset.", "cites": ["a.1"], "verdict": "answered"})
    };
    reply["tail"] = tail.into();
    completion(&reply.to_string(), prompt.len().div_ceil(4))
}

/// Runs the task with a provider that does this, and a key in the environment.
fn run_with(env: &Env, answer: impl Fn(&Request) -> Answer + Sync) -> Outcome {
    env.write("task.toml", TASK);
    serve(answer, |address| {
        let card = card(address, "m").replace("512", "20000") + "key_env = 'MODEL_KEY'\n";
        env.write("m.toml", card);
        let mut command = env.command(&["run", "task.toml", "--model", "m.toml", "--json"]);
        let output = command.env("MODEL_KEY", KEY).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Outcome {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    })
}

/// Whether the key stands in anything that was printed or written.
fn is_leaked(env: &Env, outcome: &Outcome) -> bool {
    let ledger = std::fs::read(env.path("tree/.psos/runs.redb")).unwrap();
    let in_ledger = ledger.windows(KEY.len()).any(|bytes| bytes == KEY.as_bytes());
    in_ledger || outcome.stdout.contains(KEY) || outcome.stderr.contains(KEY)
}

#[test]
fn a_task_is_answered_over_http_and_its_key_is_nowhere() {
    let env = Env::new();
    let asked = Mutex::new(Vec::new());
    let outcome = run_with(&env, |request| {
        let is_closed = request.body.contains("\"additionalProperties\":false");
        asked.lock().unwrap().push((request.headers.contains(KEY), is_closed));
        diligent(request)
    });
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let report = Json::parse(&outcome.stdout);
    let verdict = report.get("outcome").unwrap().get("verdict").unwrap();
    assert_eq!(verdict.text(), "answered");
    let asked = asked.into_inner().unwrap();
    assert_eq!(asked, [(true, true); 5], "each call has the key and a closed schema");
    assert!(!is_leaked(&env, &outcome), "{outcome:?}");
}

#[test]
fn what_a_provider_does_wrong_has_its_class_and_no_key_in_it() {
    let json = "application/json";
    let refusal = |what: &str| format!("{{\"error\": {{\"message\": \"{what}: {KEY}\"}}}}");
    for (answer, class, n_asked) in [
        ((401, json, refusal("no such key")), "credential", 1),
        ((429, json, refusal("slow down")), "rate_limit", 4),
        ((500, json, refusal("broken")), "provider", 4),
        ((200, json, "{\"choices\": [{\"message\"".to_owned()), "provider", 0),
    ] {
        let env = Env::new();
        let asked = Mutex::new(0);
        let outcome = run_with(&env, |_| {
            *asked.lock().unwrap() += 1;
            answer.clone()
        });
        // As for any other machine that does not do its part.
        assert_eq!(outcome.code, Some(4), "{class}: {outcome:?}");
        let report = Json::parse(&outcome.stdout);
        let of_run = report.get("outcome").unwrap();
        assert_eq!(of_run.get("verdict").unwrap().text(), "infra_failed");
        let failure = &of_run.get("failures").unwrap().items()[0];
        assert_eq!(failure.get("class").unwrap().text(), class, "{outcome:?}");
        let calls = report.get("cost").unwrap().get("calls").unwrap();
        if class == "credential" {
            assert_eq!(calls, &Json::Number(1.0), "a wrong key is not tried again");
        }
        let asked = *asked.lock().unwrap();
        assert!(asked >= n_asked, "{class}: asked {asked} times");
        assert!(!is_leaked(&env, &outcome), "{class}: {outcome:?}");
    }
}

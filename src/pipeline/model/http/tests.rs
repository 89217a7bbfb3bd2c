//! A provider on this machine that does what it is told: answers, refuses, hangs, breaks off.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::{HttpOptions, Retry, connect, is_this_machine};
use crate::clock::{FixedClock, Sleeper};
use crate::pipeline::model::{
    Capability, Finish, ModelError, ModelErrorKind, Reply, Request, Secret, Usage,
};

/// What the provider does with one connection.
#[derive(Clone)]
enum Act {
    /// Sends these bytes and closes.
    Say(String),
    /// Sends these bytes, and then nothing until the client gives up.
    Hang(&'static str),
    /// Closes at once.
    Close,
}

/// Writes down how long it was asked to wait, and does not.
#[derive(Debug, Clone, Default)]
struct Pauses(Arc<Mutex<Vec<Duration>>>);

impl Sleeper for Pauses {
    fn sleep(&mut self, time: Duration) {
        self.0.lock().unwrap().push(time);
    }
}

/// What one call brought, what the provider read, and which pauses were made.
struct Call {
    outcome: Result<Reply, ModelError>,
    requests: Vec<String>,
    pauses: Vec<Duration>,
}

const KEY: &str = "sk-s3cret";

fn ask(acts: &[Act]) -> Call {
    ask_within(acts, Duration::from_secs(30))
}

/// Asks a provider that does these things, one a connection.
fn ask_within(acts: &[Act], timeout: Duration) -> Call {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base_url = format!("http://{}/v1/", listener.local_addr().unwrap());
    let pauses = Pauses::default();
    let options = HttpOptions {
        name: "m".to_owned(),
        base_url,
        model: "small".to_owned(),
        key: Secret::new(KEY),
        capability: Capability {
            window_tokens: 512,
            structured_output: true,
            ..Capability::default()
        },
        retry: Retry {
            max_attempts: 3,
            first_pause: Duration::from_secs(1),
            max_pause: Duration::from_secs(20),
        },
        max_reply_bytes: 10_000,
    };
    let mut model =
        connect(options, Box::new(FixedClock::default()), Box::new(pauses.clone())).unwrap();
    let request = Request {
        schema: Some(serde_json::json!({"type": "object"})),
        timeout,
        ..Request::ask("p", "the question", 9)
    };
    let (outcome, requests) = std::thread::scope(|scope| {
        let provider =
            scope.spawn(|| acts.iter().map(|act| serve(&listener, act)).collect::<Vec<_>>());
        let outcome = model.complete(&request);
        // For acts that were not asked for: the provider must not wait for their connections.
        let address = listener.local_addr().unwrap();
        for _ in acts {
            drop(TcpStream::connect(address));
        }
        (outcome, provider.join().unwrap())
    });
    let requests = requests.into_iter().filter(|request| !request.is_empty()).collect();
    let pauses = pauses.0.lock().unwrap().clone();
    Call { outcome, requests, pauses }
}

fn serve(listener: &TcpListener, act: &Act) -> String {
    let (mut stream, _) = listener.accept().unwrap();
    if matches!(act, Act::Close) {
        return String::new();
    }
    let request = read_request(&mut stream);
    if let Act::Say(text) = act {
        let _ = stream.write_all(text.as_bytes());
    }
    if let Act::Hang(text) = act {
        let _ = stream.write_all(text.as_bytes());
        // Ends when the client closes.
        let _ = stream.read_to_end(&mut Vec::new());
    }
    request
}

/// Reads a request with its body; the text is empty when the connection was only opened.
fn read_request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => bytes.push(byte[0]),
            _ => return String::new(),
        }
    }
    let head = String::from_utf8(bytes).unwrap();
    let length = head
        .lines()
        .find_map(|line| line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    let mut body = vec![0; length.unwrap_or_default()];
    stream.read_exact(&mut body).unwrap();
    head + &String::from_utf8(body).unwrap()
}

fn response(status: &str, headers: &str, body: &str) -> Act {
    let n = body.len();
    Act::Say(format!(
        "HTTP/1.1 {status}\r\ncontent-length: {n}\r\nconnection: close\r\n{headers}\r\n{body}"
    ))
}

fn success(text: &str) -> Act {
    let body = serde_json::json!({
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3,
                  "prompt_tokens_details": {"cached_tokens": 5}},
    });
    response("200 OK", "content-type: application/json\r\n", &body.to_string())
}

fn refusal(status: &str, headers: &str, message: &str) -> Act {
    let body = serde_json::json!({"error": {"message": message, "type": "x"}});
    response(status, headers, &body.to_string())
}

#[track_caller]
fn fails(call: &Call, kind: ModelErrorKind, attempts: u32, says: &str) {
    let error = call.outcome.as_ref().unwrap_err();
    assert_eq!((error.kind, error.attempts), (kind, attempts), "{error}");
    assert!(error.message.contains(says), "{error}\nshould contain {says}");
    assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
}

#[test]
fn a_call_sends_the_question_and_reads_the_reply() {
    let call = ask(&[success("fine")]);
    let reply = call.outcome.unwrap();
    assert_eq!((reply.text.as_str(), reply.finish, reply.attempts), ("fine", Finish::Stop, 1));
    assert_eq!(reply.usage, Some(Usage { input: 12, cached: 5, output: 3 }));
    let request = &call.requests[0];
    assert!(request.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("authorization: Bearer sk-s3cret\r\n"), "{request}");
    let body = request.split("\r\n\r\n").nth(1).unwrap();
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["model"], "small");
    assert_eq!(body["max_tokens"], 9);
    assert_eq!(body["temperature"], 0);
    assert_eq!(body["messages"][0]["content"], "the question");
    assert_eq!(body["response_format"]["type"], "json_schema");
    assert_eq!(body["response_format"]["json_schema"]["schema"]["type"], "object");
}

#[test]
fn a_refused_key_is_not_tried_again_and_not_repeated() {
    let wrong = refusal("401 Unauthorized", "", "wrong key sk-s3cret");
    let call = ask(&[wrong]);
    fails(&call, ModelErrorKind::Credential, 1, "wrong key [redacted]");
    fails(&ask(&[refusal("403 Forbidden", "", "no")]), ModelErrorKind::Credential, 1, "(403)");
}

#[test]
fn a_key_that_comes_back_in_a_reply_is_taken_out() {
    assert_eq!(
        ask(&[success("your key is sk-s3cret")]).outcome.unwrap().text,
        "your key is [redacted]"
    );
}

#[test]
fn too_many_requests_are_waited_for_as_long_as_the_provider_says() {
    let seconds = Duration::from_secs;
    let limit = |headers| refusal("429 Too Many Requests", headers, "slow down");
    let call = ask(&[limit("retry-after: 7\r\n"), limit(""), success("fine")]);
    let reply = call.outcome.unwrap();
    assert_eq!((reply.text.as_str(), reply.attempts), ("fine", 3));
    assert_eq!(call.pauses, [seconds(7), seconds(2)]);

    let call = ask(&[limit(""), limit(""), limit("")]);
    fails(&call, ModelErrorKind::RateLimit, 3, "slow down");
    assert_eq!(call.pauses, [seconds(1), seconds(2)]);

    // Longer than we ever wait, and longer than the call may take.
    let call = ask(&[limit("retry-after: 21\r\n")]);
    fails(&call, ModelErrorKind::RateLimit, 1, "too late");
    let call = ask_within(&[limit("retry-after: 5\r\n")], seconds(4));
    fails(&call, ModelErrorKind::RateLimit, 1, "too late");
    assert!(call.pauses.is_empty());

    let body = r#"{"error":{"message":"pay first","code":"insufficient_quota"}}"#;
    let call = ask(&[response("429 Too Many Requests", "", body)]);
    fails(&call, ModelErrorKind::RateLimit, 1, "pay first");
}

#[test]
fn a_failing_provider_is_tried_again_a_bounded_number_of_times() {
    let down = || response("500 Internal Server Error", "", "<h1>oh\r\nno</h1>");
    fails(&ask(&[down(), down(), down()]), ModelErrorKind::Provider, 3, "<h1>oh no</h1>");
    assert_eq!(ask(&[down(), success("fine")]).outcome.unwrap().attempts, 2);
    let call = ask(&[refusal("404 Not Found", "", "no such model")]);
    fails(&call, ModelErrorKind::Provider, 1, "no such model");
    let call = ask(&[response("302 Found", "location: http://127.0.0.1:1/\r\n", "")]);
    fails(&call, ModelErrorKind::Provider, 1, "redirects");
}

#[test]
fn a_broken_connection_is_tried_again() {
    let cut = Act::Say("HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"choices\": [".to_owned());
    let call = ask(&[cut.clone(), Act::Close, success("fine")]);
    let reply = call.outcome.unwrap();
    assert_eq!((reply.text.as_str(), reply.attempts), ("fine", 3));
    fails(&ask(&[cut.clone(), cut.clone(), cut]), ModelErrorKind::Provider, 3, "connection");
}

#[test]
fn a_provider_that_hangs_ends_with_the_time() {
    for text in ["", "HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"] {
        let call = ask_within(&[Act::Hang(text)], Duration::from_millis(150));
        fails(&call, ModelErrorKind::Provider, 1, "the time was up");
    }
}

#[test]
fn an_input_that_does_not_fit_is_input_integrity() {
    for (status, code, message) in [
        ("400 Bad Request", "context_length_exceeded", "prompt has 600 tokens"),
        ("400 Bad Request", "", "This model's maximum context length is 512 tokens"),
        ("413 Payload Too Large", "", "no"),
    ] {
        let body = serde_json::json!({"error": {"message": message, "type": code}}).to_string();
        let call = ask(&[response(status, "", &body)]);
        fails(&call, ModelErrorKind::InputIntegrity, 1, message);
    }
}

#[test]
fn a_reply_that_is_none_is_a_failed_provider() {
    for (body, says) in [
        ("Sure! Here is the answer.", "it begins: Sure!"),
        ("{}", "choices"),
        (r#"{"choices": []}"#, "no choices"),
        (r#"{"choices": [{"message": {}}]}"#, "no content"),
        (r#"{"choices": [{"message": {"content": "a"}}]} {"#, "trailing"),
        ("", "EOF"),
    ] {
        fails(&ask(&[response("200 OK", "", body)]), ModelErrorKind::Provider, 1, says);
    }
    let huge = "x".repeat(20_000);
    fails(&ask(&[success(&huge)]), ModelErrorKind::Provider, 1, "longer than 10000 bytes");
}

#[test]
fn a_refusal_and_a_cut_reply_are_told_apart_from_a_finished_one() {
    for (body, want) in [
        (r#"{"choices":[{"message":{"content":"a"},"finish_reason":"length"}]}"#, Finish::Length),
        (
            r#"{"choices":[{"message":{"content":null},"finish_reason":"content_filter"}]}"#,
            Finish::Filtered,
        ),
        (r#"{"choices":[{"message":{"refusal":"I will not"}}]}"#, Finish::Filtered),
        (
            r#"{"choices":[{"message":{"content":"a"},"finish_reason":"tool_calls"}]}"#,
            Finish::Other("tool_calls".to_owned()),
        ),
    ] {
        assert_eq!(ask(&[response("200 OK", "", body)]).outcome.unwrap().finish, want);
    }
}

#[test]
fn a_key_goes_unencrypted_to_this_machine_only() {
    for (authority, want) in [
        ("localhost:80", true),
        ("127.0.0.1", true),
        ("[::1]:8080", true),
        ("127.0.0.1.example.com", false),
        ("localhost.example.com", false),
        ("example.com:443", false),
        ("", false),
    ] {
        assert_eq!(is_this_machine(authority), want, "{authority}");
    }
    let connect_to = |base_url: &str| {
        let options = HttpOptions {
            name: "m".to_owned(),
            base_url: base_url.to_owned(),
            model: "m".to_owned(),
            key: Secret::new(KEY),
            capability: Capability::default(),
            retry: Retry::default(),
            max_reply_bytes: 10,
        };
        connect(options, Box::new(FixedClock::default()), Box::new(Pauses::default())).map(|_| ())
    };
    let refused = |url: &str| connect_to(url).unwrap_err();
    assert_eq!(refused("http://far.example/v1").kind, ModelErrorKind::Credential);
    assert_eq!(refused("https://me:pw@far.example/v1").kind, ModelErrorKind::Credential);
    assert_eq!(refused("ftp://127.0.0.1/").kind, ModelErrorKind::Provider);
    assert_eq!(refused("far.example").kind, ModelErrorKind::Provider);
    assert_eq!(refused("https://far .example").kind, ModelErrorKind::Provider);
    assert!(connect_to("https://far.example/v1").is_ok());
}

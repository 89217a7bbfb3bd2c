//! A browser through `WebDriver`: a few commands of HTTP and JSON.

use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use ureq::Agent;

use super::{Page, SCENE_TIME, Step, Watched};
use crate::pipeline::process::{self, Command};
use crate::pipeline::storyboard::perform::Bench;

/// How often a driver that starts is asked whether it is ready.
const MAX_LOOKS: u32 = 200;
/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(50);
/// The time that one command may take.
const COMMAND_TIME: Duration = Duration::from_secs(30);
/// The time in which an element has to be there.
const ELEMENT_TIME: Duration = Duration::from_secs(5);
/// Bytes that an answer may have: a screenshot of a large page.
const MAX_ANSWER_BYTES: u64 = 64 << 20;
/// The key under which the standard hands out elements.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Starts a driver, drives a browser with it, and ends both.
pub(super) fn watch(
    page: &Page,
    address: &str,
    browser: &Path,
    driver: &Path,
    folder: &Path,
    bench: &Bench<'_>,
) -> Result<Watched, String> {
    let port = free_port()?;
    // Beside the folder of the scene, so that nothing of it is taken for what the scene made.
    let profile = folder.with_extension("profile");
    let browser = Browser { program: browser, profile: &profile };
    let argv = [driver.to_string_lossy().into_owned(), format!("--port={port}")];
    let command = Command {
        argv: &argv,
        folder,
        environment: bench.environment,
        input: b"",
        timeout: SCENE_TIME,
        max_output_bytes: bench.max_output_bytes,
    };
    std::thread::scope(|scope| {
        // The driver ends when it is told to, and with the time of the scene at the latest.
        let running = scope.spawn(|| process::run(&command, &mut |_, _| ()));
        let driver = Driver::new(format!("http://127.0.0.1:{port}"));
        let mut watched = Err("the driver of the browser did not start".to_owned());
        for _ in 0..MAX_LOOKS {
            if running.is_finished() {
                break;
            }
            if driver.is_ready() {
                watched = drive(&driver, page, address, Some(&browser));
                break;
            }
            std::thread::sleep(PAUSE);
        }
        driver.shut_down();
        watched
    })
}

/// The browser that a driver is to start; without one, it knows itself.
pub(super) struct Browser<'a> {
    program: &'a Path,
    /// A folder that is not there yet.
    profile: &'a Path,
}

/// One session of a browser.
pub(super) fn drive(
    driver: &Driver,
    page: &Page,
    address: &str,
    browser: Option<&Browser<'_>>,
) -> Result<Watched, String> {
    let profile = browser.map(|browser| browser.profile);
    let mut options = json!({ "args": arguments(profile) });
    if let (Some(browser), Some(options)) = (browser, options.as_object_mut()) {
        options.insert("binary".to_owned(), browser.program.to_string_lossy().into());
    }
    let wanted = json!({
        "capabilities": {
            "alwaysMatch": { "browserName": "chrome", "goog:chromeOptions": options },
        },
    });
    let session = driver.post("/session", &wanted).map_err(Failed::infra)?;
    let id = session.get("sessionId").and_then(Value::as_str).unwrap_or_default();
    let at = format!("/session/{id}");
    let watched = in_session(driver, &at, page, address);
    // A session that does not end is ended with its driver.
    let _ = driver.call("DELETE", &at, None);
    watched
}

fn in_session(driver: &Driver, at: &str, page: &Page, address: &str) -> Result<Watched, String> {
    let times = json!({
        "implicit": millis(ELEMENT_TIME), "pageLoad": millis(COMMAND_TIME), "script": millis(COMMAND_TIME),
    });
    driver.post(&format!("{at}/timeouts"), &times).map_err(Failed::infra)?;
    driver.post(&format!("{at}/url"), &json!({ "url": address })).map_err(Failed::infra)?;
    // What browsers refuse to open by themselves is no error to the driver: they show a page of their own.
    let place = json!({ "script": "return document.URL", "args": [] });
    let place = driver.post(&format!("{at}/execute/sync"), &place).map_err(Failed::infra)?;
    if place.as_str().is_some_and(|place| place.starts_with("chrome-error:")) {
        return Err(format!("the browser does not open {address}"));
    }
    let mut watched =
        Watched { text: String::new(), differences: Vec::new(), frames: vec![driver.shot(at)?] };
    for step in &page.steps {
        let done = match step {
            Step::Click(element) => driver
                .element(at, element)
                .and_then(|it| driver.post(&format!("{at}/element/{it}/click"), &json!({}))),
            Step::Write { into, text } => driver.element(at, into).and_then(|it| {
                driver.post(&format!("{at}/element/{it}/value"), &json!({ "text": text }))
            }),
            Step::Await(element) => driver.element(at, element).map(Value::from),
        };
        watched.frames.push(driver.shot(at)?);
        match done {
            Ok(_) => {}
            Err(Failed::Page(why)) => {
                watched.differences.push(format!("{step:?} was not possible: {why}"));
                break;
            }
            Err(failed) => return Err(failed.infra()),
        }
    }
    let body = driver.element(at, "body").map_err(Failed::infra)?;
    let text =
        driver.call("GET", &format!("{at}/element/{body}/text"), None).map_err(Failed::infra)?;
    text.as_str().unwrap_or_default().clone_into(&mut watched.text);
    Ok(watched)
}

/// Why a command of the driver failed.
pub(super) enum Failed {
    /// The page is not as it should be: there is no such element, or it cannot be clicked.
    Page(String),
    /// The driver or the browser failed.
    Infra(String),
}

impl Failed {
    fn infra(self) -> String {
        match self {
            Self::Page(why) | Self::Infra(why) => why,
        }
    }
}

/// A driver that runs.
pub(super) struct Driver {
    agent: Agent,
    base: String,
}

impl Driver {
    pub(super) fn new(base: String) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .proxy(None)
            .timeout_global(Some(COMMAND_TIME))
            .build();
        Self { agent: config.new_agent(), base }
    }

    fn is_ready(&self) -> bool {
        let status = self.call("GET", "/status", None);
        status.is_ok_and(|status| status.get("ready") == Some(&Value::Bool(true)))
    }

    fn shut_down(&self) {
        // Not part of the standard, but of this driver; another one ends with the time.
        let _ = self.call("GET", "/shutdown", None);
    }

    fn post(&self, path: &str, body: &Value) -> Result<Value, Failed> {
        self.call("POST", path, Some(body))
    }

    /// One command; what the answer has under `value`.
    fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, Failed> {
        let url = format!("{}{path}", self.base);
        let infra =
            |error: ureq::Error| Failed::Infra(format!("the driver of the browser: {error}"));
        let response = match (method, body) {
            ("POST", Some(body)) => self
                .agent
                .post(&url)
                .header("content-type", "application/json; charset=utf-8")
                .send(body.to_string()),
            ("DELETE", _) => self.agent.delete(&url).call(),
            _ => self.agent.get(&url).call(),
        };
        let mut response = response.map_err(infra)?;
        let status = response.status().as_u16();
        let text = response
            .body_mut()
            .with_config()
            .limit(MAX_ANSWER_BYTES)
            .read_to_string()
            .map_err(infra)?;
        let mut answer: Value = serde_json::from_str(&text).unwrap_or_default();
        let value = answer.get_mut("value").map(Value::take).unwrap_or_default();
        if status == 200 {
            return Ok(value);
        }
        let word =
            |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let error = word("error");
        let line = word("message").lines().next().unwrap_or_default().to_owned();
        let why = format!("{error}: {line}");
        match error.as_str() {
            "no such element"
            | "element not interactable"
            | "element click intercepted"
            | "stale element reference"
            | "invalid element state"
            | "invalid selector" => Err(Failed::Page(why)),
            _ => Err(Failed::Infra(format!("the driver of the browser answered {status}: {why}"))),
        }
    }

    fn element(&self, at: &str, selector: &str) -> Result<String, Failed> {
        let wanted = json!({ "using": "css selector", "value": selector });
        let found = self.post(&format!("{at}/element"), &wanted)?;
        let id = found.get(ELEMENT).and_then(Value::as_str);
        id.map(str::to_owned).ok_or_else(|| Failed::Infra("the driver names no element".to_owned()))
    }

    fn shot(&self, at: &str) -> Result<Vec<u8>, String> {
        let shot = self.call("GET", &format!("{at}/screenshot"), None).map_err(Failed::infra)?;
        let bytes = shot.as_str().and_then(decode).unwrap_or_default();
        if bytes.starts_with(b"\x89PNG") {
            Ok(bytes)
        } else {
            Err("the driver of the browser gave no screenshot".to_owned())
        }
    }
}

/// Arguments of the browser: without a window, with a profile of its own, and without connections that the page did not
/// ask for. Its sandbox does not work for the superuser.
fn arguments(profile: Option<&Path>) -> Vec<String> {
    const ARGUMENTS: &str = "--headless=new --disable-gpu --hide-scrollbars --window-size=1000,700 --no-first-run \
        --disable-background-networking --disable-component-update --disable-sync --disable-quic \
        --no-default-browser-check";
    let mut arguments: Vec<String> = ARGUMENTS.split_whitespace().map(str::to_owned).collect();
    arguments.extend(profile.map(|folder| format!("--user-data-dir={}", folder.display())));
    #[cfg(unix)]
    if rustix::process::geteuid().is_root() {
        arguments.push("--no-sandbox".to_owned());
    }
    arguments
}

/// A port that nobody listens on; the system does not hand it out again soon.
fn free_port() -> Result<u16, String> {
    TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(|error| format!("no port for the driver of the browser: {error}"))
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Reads base64 with its usual alphabet.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut n_bits) = (0_u32, 0);
    for c in text.bytes().filter(|b| !b.is_ascii_whitespace() && *b != b'=') {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(value)) & 0xfff_ffff;
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            bytes.push(u8::try_from(bits >> n_bits & 0xff).ok()?);
        }
    }
    Some(bytes)
}

//! Asking over HTTP. Everything that depends on `ureq` is here.

use std::io::ErrorKind;
use std::time::Duration;

use ureq::Agent;

use super::HttpOptions;
use super::status::{Again, Failure, failure, shown};
use super::wire;
use crate::clock::{Clock, Sleeper};
use crate::pipeline::model::{Capability, Model, ModelError, ModelErrorKind, Reply, Request};

pub(super) fn connect(
    options: HttpOptions,
    clock: Box<dyn Clock>,
    sleeper: Box<dyn Sleeper>,
) -> Result<Box<dyn Model>, ModelError> {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        // A redirect could carry the key elsewhere.
        .max_redirects(0)
        .max_redirects_will_error(false)
        // The default reads the environment, which is the binary's to read.
        .proxy(None)
        .user_agent(concat!("psos/", env!("CARGO_PKG_VERSION")))
        .build();
    let url = format!("{}/chat/completions", options.base_url.trim_end_matches('/'));
    if ureq::http::Uri::try_from(&url).is_err() {
        let message = format!("`{}` is no address", options.base_url);
        return Err(ModelError::new(ModelErrorKind::Provider, message));
    }
    Ok(Box::new(Http { agent: config.new_agent(), url, options, clock, sleeper }))
}

struct Http {
    agent: Agent,
    url: String,
    options: HttpOptions,
    clock: Box<dyn Clock>,
    sleeper: Box<dyn Sleeper>,
}

impl std::fmt::Debug for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Http").field("url", &self.url).finish_non_exhaustive()
    }
}

impl Model for Http {
    fn name(&self) -> &str {
        &self.options.name
    }

    fn capability(&self) -> &Capability {
        &self.options.capability
    }

    fn complete(&mut self, request: &Request) -> Result<Reply, ModelError> {
        let structured = self.options.capability.structured_output;
        let body = wire::body(&self.options.model, request, structured);
        let start = self.clock.now();
        let retry = self.options.retry;
        let mut pause = retry.first_pause;
        let mut waited = Duration::ZERO;
        let mut attempts = 0;
        loop {
            attempts += 1;
            // Pauses are counted beside the clock, so that a clock that stands still ends as well.
            let elapsed = self.clock.now().saturating_sub(start).max(waited);
            let left = request.timeout.saturating_sub(elapsed);
            let failure = match self.attempt(&body, attempts, left) {
                Ok(reply) => return Ok(reply),
                Err(failure) => failure,
            };
            let fail = |kind, message: &str| {
                Err(ModelError { kind, message: self.clean(message), attempts })
            };
            let wish = match failure.again {
                Again::Never => return fail(failure.kind, &failure.message),
                Again::Later => pause.min(retry.max_pause),
                Again::After(wish) => wish,
            };
            if attempts >= retry.max_attempts {
                return fail(
                    failure.kind,
                    &format!("{} (after {attempts} attempts)", failure.message),
                );
            }
            let elapsed = self.clock.now().saturating_sub(start).max(waited);
            if wish > retry.max_pause || elapsed.saturating_add(wish) >= request.timeout {
                let message = format!(
                    "{} (the next attempt would be in {wish:?}, too late)",
                    failure.message
                );
                return fail(failure.kind, &message);
            }
            self.sleeper.sleep(wish);
            waited += wish;
            pause = pause.saturating_mul(2);
        }
    }
}

impl Http {
    fn attempt(&self, body: &str, attempts: u32, left: Duration) -> Result<Reply, Failure> {
        let mut call = self
            .agent
            .post(&self.url)
            .config()
            .timeout_global(Some(left))
            .build()
            .header("content-type", "application/json");
        if let Some(key) = &self.options.key {
            call = call.header("authorization", format!("Bearer {}", key.expose()));
        }
        let mut response = call.send(body).map_err(|error| broken(&error))?;
        let status = response.status().as_u16();
        let retry_after = response
            .headers()
            .get("retry-after")
            .and_then(|it| it.to_str().ok())
            .map(str::to_owned);
        let text = response
            .body_mut()
            .with_config()
            .limit(self.options.max_reply_bytes)
            .lossy_utf8(true)
            .read_to_string();
        if status != 200 {
            // A failure is a failure, also when its explanation breaks off.
            let text = text.unwrap_or_default();
            return Err(failure(status, retry_after.as_deref(), &text, self.clock.now()));
        }
        let text = text.map_err(|error| broken(&error))?;
        wire::reply(&text, attempts)
            .map(|mut reply| {
                reply.text = self.clean(&reply.text);
                reply
            })
            .map_err(|why| Failure {
                kind: ModelErrorKind::Provider,
                message: format!(
                    "the reply is not what the API says: {why}; it begins: {}",
                    shown(&text)
                ),
                again: Again::Never,
            })
    }

    /// A text without the key, which providers like to repeat.
    fn clean(&self, text: &str) -> String {
        self.options.key.as_ref().map_or_else(|| text.to_owned(), |key| key.redact(text))
    }
}

/// A connection that failed.
fn broken(error: &ureq::Error) -> Failure {
    let (message, again) = match error {
        ureq::Error::Timeout(_) => {
            ("the time was up before the reply was complete".to_owned(), Again::Never)
        }
        ureq::Error::BodyExceedsLimit(n) => {
            (format!("the reply is longer than {n} bytes"), Again::Never)
        }
        ureq::Error::HostNotFound => {
            ("the provider's address is not known".to_owned(), Again::Never)
        }
        ureq::Error::Io(error) if error.kind() == ErrorKind::TimedOut => {
            ("the time was up before the reply was complete".to_owned(), Again::Never)
        }
        ureq::Error::Http(_) | ureq::Error::BadUri(_) => {
            // Also a key that no header can carry; the key is not in this message.
            ("the address or the key cannot be put in a request".to_owned(), Again::Never)
        }
        other => (format!("the connection failed: {}", shown(&other.to_string())), Again::Later),
    };
    Failure { kind: ModelErrorKind::Provider, message, again }
}

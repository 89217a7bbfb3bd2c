//! A model behind the HTTP API that `OpenAI` made common (`POST /chat/completions`).
//!
//! What is sent: messages, a bound on the reply, temperature 0, and a JSON Schema when the model can be
//! held to one. What is taken from the environment: nothing; the key is handed in.

use std::time::Duration;

use super::{Capability, Model, ModelError, ModelErrorKind, Secret};
use crate::clock::{Clock, Sleeper};

#[cfg(not(feature = "live-model"))]
mod disabled;
#[cfg(feature = "live-model")]
mod enabled;
#[cfg(feature = "live-model")]
mod status;
#[cfg(feature = "live-model")]
mod wire;

#[cfg(not(feature = "live-model"))]
use disabled as transport;
#[cfg(feature = "live-model")]
use enabled as transport;

/// Where a model is, and how patient we are with it.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// The name that reports give it.
    pub name: String,
    /// What comes before `/chat/completions`, such as `https://api.example.com/v1`.
    pub base_url: String,
    /// The name that the provider knows it by.
    pub model: String,
    /// The key, if the provider wants one.
    pub key: Option<Secret>,
    /// What it can do.
    pub capability: Capability,
    /// When a call is tried again.
    pub retry: Retry,
    /// Bytes that a reply may have on the wire; a longer one is a failure of the provider.
    pub max_reply_bytes: u64,
}

/// When a call is tried again: after 408, 429, 5xx and a broken connection, never after a refusal, and
/// never past the time of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Attempts in all, at least 1.
    pub max_attempts: u32,
    /// The pause before the second attempt, doubled before each further one, unless the provider says
    /// how long to wait.
    pub first_pause: Duration,
    /// The longest pause, also when the provider asks for a longer one; then the call ends instead.
    pub max_pause: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            max_attempts: 4,
            first_pause: Duration::from_secs(1),
            max_pause: Duration::from_mins(1),
        }
    }
}

/// Makes a model that is asked over HTTP. Nothing is sent before the first call.
///
/// # Errors
/// [`ModelErrorKind::Credential`] when a key would travel unencrypted to another machine;
/// [`ModelErrorKind::Provider`] when the address is none, or psos was built without `live-model`.
pub fn connect(
    options: HttpOptions,
    clock: Box<dyn Clock>,
    sleeper: Box<dyn Sleeper>,
) -> Result<Box<dyn Model>, ModelError> {
    let Some((scheme, rest)) = options.base_url.split_once("://") else {
        let message = format!("`{}` is no address; it has no https://", options.base_url);
        return Err(ModelError::new(ModelErrorKind::Provider, message));
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        // It would be shown in errors and reports.
        let message = "the address has a name or password in it; hand the key in instead";
        return Err(ModelError::new(ModelErrorKind::Credential, message));
    }
    match scheme {
        "https" => {}
        "http" if options.key.is_none() || is_this_machine(authority) => {}
        "http" => {
            let message = format!("the key would go to {authority} unencrypted; use https");
            return Err(ModelError::new(ModelErrorKind::Credential, message));
        }
        _ => {
            let message = format!("`{}` is neither http nor https", options.base_url);
            return Err(ModelError::new(ModelErrorKind::Provider, message));
        }
    }
    transport::connect(options, clock, sleeper)
}

fn is_this_machine(authority: &str) -> bool {
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    host == "localhost"
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
#[cfg(feature = "live-model")]
mod tests;

//! What an answer that is no success means: whose failure, and whether to come back.

use std::time::Duration;

use super::wire;
use crate::pipeline::model::ModelErrorKind;

/// Characters that are shown of what a provider said.
const MAX_SHOWN: usize = 300;

/// A failed attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) kind: ModelErrorKind,
    pub(super) message: String,
    pub(super) again: Again,
}

/// Whether another attempt may help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    /// It would fail as well.
    Never,
    /// After a pause of our choice.
    Later,
    /// After the pause that the provider named.
    After(Duration),
}

/// Reads a status that is not 200. `now` is the time since 1970, for a provider that names a date.
pub(super) fn failure(
    status: u16,
    retry_after: Option<&str>,
    body: &str,
    now: Duration,
) -> Failure {
    let (code, message) = wire::complaint(body);
    let later = retry_after.and_then(|value| pause(value, now)).map_or(Again::Later, Again::After);
    let (kind, again) = match status {
        401 | 403 => (ModelErrorKind::Credential, Again::Never),
        // No waiting brings back money.
        429 if code == "insufficient_quota" => (ModelErrorKind::RateLimit, Again::Never),
        429 => (ModelErrorKind::RateLimit, later),
        400 | 413 | 422 if is_too_long(status, &code, &message) => {
            (ModelErrorKind::InputIntegrity, Again::Never)
        }
        408 | 500..=599 => (ModelErrorKind::Provider, later),
        _ => (ModelErrorKind::Provider, Again::Never),
    };
    let said = shown(&message);
    let message = match status {
        401 | 403 => format!("the provider refused the key ({status}): {said}"),
        300..=399 => {
            format!("the provider redirects ({status}), which is not followed; correct the address")
        }
        _ => format!("the provider answered {status}: {said}"),
    };
    Failure { kind, message, again }
}

fn is_too_long(status: u16, code: &str, message: &str) -> bool {
    let message = message.to_lowercase();
    status == 413
        || code.contains("context_length")
        || [
            "context length",
            "context window",
            "context size",
            "maximum context",
            "too many tokens",
        ]
        .iter()
        .any(|words| message.contains(words))
}

/// A text of somebody else's on one line, without control characters, shortened.
pub(super) fn shown(text: &str) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words: Vec<&str> = clean.split_whitespace().collect();
    let line = words.join(" ");
    if line.is_empty() {
        return "nothing".to_owned();
    }
    let cut: String = line.chars().take(MAX_SHOWN).collect();
    if cut.len() < line.len() { cut + "…" } else { cut }
}

/// The pause that a `Retry-After` asks for: seconds, or a date.
fn pause(value: &str, now: Duration) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    Some(date(value)?.saturating_sub(now))
}

/// Reads `Sun, 06 Nov 1994 08:49:37 GMT` as the time since 1970.
fn date(value: &str) -> Option<Duration> {
    let (_, rest) = value.split_once(", ")?;
    let mut words = rest.split_whitespace();
    let day: u64 = words.next()?.parse().ok()?;
    let month = words.next()?;
    let months =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = months.iter().position(|it| *it == month)? as u64 + 1;
    let year: u64 = words.next()?.parse().ok().filter(|year| (1970..10_000).contains(year))?;
    let mut clock = words.next()?.split(':').map(str::parse::<u64>);
    let (hour, minute, second) = (clock.next()?.ok()?, clock.next()?.ok()?, clock.next()?.ok()?);
    // Days since 1970 in the Gregorian calendar, with the year beginning in March.
    let (y, m) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let days =
        (y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day).checked_sub(719_469)?;
    Some(Duration::from_secs(days * 86_400 + hour * 3_600 + minute * 60 + second))
}

#[cfg(test)]
mod tests {
    use super::{date, pause};
    use std::time::Duration;

    #[test]
    fn a_pause_is_given_in_seconds_or_as_a_date() {
        let now = Duration::from_secs(784_111_770);
        for (value, want) in [
            ("2", Some(2_000)),
            ("0.5", Some(500)),
            ("0", Some(0)),
            // `date -d "Sun, 06 Nov 1994 08:49:37 GMT" +%s` is 784111777.
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(7_000)),
            ("Sat, 05 Nov 1994 08:49:37 GMT", Some(0)),
            ("-1", None),
            ("soon", None),
            ("Sun, 06 Foo 1994 08:49:37 GMT", None),
            ("Sun, 06 Nov 1994", None),
            ("1e999", None),
        ] {
            assert_eq!(pause(value, now), want.map(Duration::from_millis), "{value}");
        }
        // `date -d "Thu, 29 Feb 2024 00:00:00 GMT" +%s` is 1709164800.
        let seconds = |text| date(text).map(|time| time.as_secs());
        assert_eq!(seconds("Thu, 29 Feb 2024 00:00:00 GMT"), Some(1_709_164_800));
        assert_eq!(date("Thu, 01 Jan 1970 00:00:00 GMT"), Some(Duration::ZERO));
    }
}

//! Where time enters. Nothing else in the crate asks the operating system what time it is.

use std::fmt::Debug;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A source of time, handed to whatever needs one.
pub trait Clock: Debug + Send + Sync {
    /// The time that has passed since 1970-01-01T00:00:00Z.
    fn now(&self) -> Duration;
}

/// The clock of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place where system time enters")]
    fn now(&self) -> Duration {
        // A clock before 1970 reads as 1970: ages are shown, never computed with.
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }
}

/// A clock that stands still, for tests and for answers that must not depend on time.
#[derive(Debug, Clone, Copy, Default)]
pub struct FixedClock(
    /// The time this clock always tells.
    pub Duration,
);

impl Clock for FixedClock {
    fn now(&self) -> Duration {
        self.0
    }
}

/// A way to let time pass, handed to whatever has to wait, so that tests need not.
pub trait Sleeper: Debug + Send {
    /// Returns after this time.
    fn sleep(&mut self, time: Duration);
}

/// Sleeps as the operating system does.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemSleeper;

impl Sleeper for SystemSleeper {
    fn sleep(&mut self, time: Duration) {
        std::thread::sleep(time);
    }
}

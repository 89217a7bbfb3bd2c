//! Limits that know progress: checked before a call, with the input that the call would have.
//!
//! Progress is what the harness observed: a finding on a new ground was verified, a span was read for the first
//! time, a deliverable was made. The soft limit lets a run go on while its last call made progress, the
//! stall limit ends the steps after some calls without any, and the hard limit is passed by nothing. What
//! synthesis and deliverable need is set aside from the beginning.

use std::time::Duration;

use crate::pipeline::class::Class;
use crate::pipeline::event::{Bound, Delivers, Purpose};
use crate::pipeline::plan::MustDeliver;
use crate::pipeline::prompt;
use crate::pipeline::state::{MAX_ASKED, State};
use crate::pipeline::task::Task;

/// By how much a digest can grow in one step, in tokens: four findings of the most characters that the schema
/// allows, with their places. Characters of a claim cost at most one token each in the worst of
/// scripts; what is set aside is for the usual ones, and the hard limit holds in any case.
const DIGEST_GROWTH_TOKENS: u32 = 500;

/// Calls beside those of the steps: orient, plan, repair, review, synthesis.
const FIXED_STAGES: u32 = 5;

/// Returns the most that a task can cost, whatever its model does: every stage and every step asked
/// twice, or the hard limits where these are lower.
pub fn bound(task: &Task, window_tokens: u32) -> Bound {
    let limits = &task.limits;
    let calls = (limits.steps + FIXED_STAGES).saturating_mul(MAX_ASKED).min(limits.hard_calls);
    let one = limits.call_input_tokens.min(window_tokens.saturating_sub(limits.call_output_tokens));
    Bound { calls, input_tokens: calls.saturating_mul(one).min(limits.hard_input_tokens) }
}

/// Says why a call may not be made, if it may not. `counted` is its input in tokens, `now` the time since
/// 1970.
pub(super) fn check(
    state: &State,
    purpose: &Purpose,
    counted: u32,
    now: Duration,
) -> Option<(Class, String)> {
    let limits = &state.task.limits;
    let aside = set_aside(state, purpose);
    let calls = state.spent.calls + 1;
    let tokens = state.spent.input_tokens.saturating_add(counted);
    let seconds = u32::try_from(now.saturating_sub(state.started).as_secs()).unwrap_or(u32::MAX);
    let ceiling = |why: String| Some((Class::Ceiling, why));
    if calls + aside.calls > state.bound.calls {
        return ceiling(format!(
            "call {calls} of {}, with {} set aside for the end",
            state.bound.calls, aside.calls
        ));
    }
    if tokens.saturating_add(aside.input_tokens) > limits.hard_input_tokens {
        return ceiling(format!(
            "{tokens} of {} input tokens, with {} set aside for the end",
            limits.hard_input_tokens, aside.input_tokens
        ));
    }
    let time_aside = aside.calls.saturating_mul(limits.call_seconds.min(limits.hard_seconds / 4));
    if seconds.saturating_add(time_aside) >= limits.hard_seconds {
        return ceiling(format!(
            "{seconds} of {} seconds, with {time_aside} set aside for the end",
            limits.hard_seconds
        ));
    }
    // The end is not measured by progress: it is what everything before is for.
    if is_end(state, purpose) {
        return None;
    }
    let is_step = matches!(purpose, Purpose::Step(_));
    if is_step && state.idle_calls >= limits.stall_calls {
        return Some((Class::Stall, format!("{} calls without progress", state.idle_calls)));
    }
    let over = [
        (
            calls > limits.soft_calls,
            format!("call {calls} past the soft limit of {}", limits.soft_calls),
        ),
        (
            tokens > limits.soft_input_tokens,
            format!("{tokens} input tokens past the soft limit of {}", limits.soft_input_tokens),
        ),
        (
            seconds > limits.soft_seconds,
            format!("{seconds} seconds past the soft limit of {}", limits.soft_seconds),
        ),
    ];
    if state.idle_calls == 0 {
        return None;
    }
    let (_, why) = over.into_iter().find(|(is_over, _)| *is_over)?;
    ceiling(format!("{why}, and the last call made no progress"))
}

/// Calls that are left for the steps of a plan.
pub(super) fn calls_for_steps(state: &State) -> u32 {
    // Review and synthesis come after the steps; the deliverable is one of them.
    state.bound.calls.saturating_sub(state.spent.calls + 2)
}

/// What has to be left when a call is over: for a synthesis, and for a deliverable that is not made yet.
fn set_aside(state: &State, purpose: &Purpose) -> Bound {
    if *purpose == Purpose::Synthesis {
        return Bound { calls: 0, input_tokens: 0 };
    }
    let ending = prompt::compose(state, &Purpose::Synthesis).map_or(0, |input| input.counted);
    let one = ending.saturating_add(DIGEST_GROWTH_TOKENS);
    let delivers = state.delivers(purpose) == Delivers::Yes;
    let undelivered = state.must_deliver() == MustDeliver::Yes && state.fact.is_none() && !delivers;
    let calls = 1 + u32::from(undelivered);
    Bound { calls, input_tokens: one.saturating_mul(calls) }
}

fn is_end(state: &State, purpose: &Purpose) -> bool {
    *purpose == Purpose::Synthesis || state.delivers(purpose) == Delivers::Yes
}

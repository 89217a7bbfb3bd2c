//! Bounded agentic work for stateless and small models: the harness drives, the model fills in one
//! bounded step at a time, and the harness owns the truth. Not here: ranking, storage of content.
//!
//! A run is its journal. [`State`] is a fold of it, [`next`](fn@next) says what is to be done in a state,
//! [`compose`] puts together what a model is told in a state, and [`drive`](fn@drive) does what is next and writes
//! down what came of it. The first three are pure: that is why a run can be continued by anybody, and
//! replayed without a model.

mod account;
pub mod atomic;
mod ceiling;
pub mod citation;
mod class;
pub mod deliverable;
mod drive;
mod event;
mod finding;
mod grounds;
mod hold;
mod input;
pub mod model;
mod next;
mod otel;
mod plan;
pub mod process;
mod prompt;
mod redact;
mod replay;
mod reply;
mod report;
pub mod scenario;
mod schema;
mod source;
mod state;
pub mod storyboard;
mod task;
mod truth;
mod write;

pub use account::{Account, ClassCount, RunLine, Share, Sum, Tables};
pub use ceiling::bound;
pub use class::{Class, Verdict};
pub use drive::{
    Journal, MemoryJournal, Parts, Quiet, RunError, RunJournal, Watch, begin, drive, take_over,
    write,
};
pub use event::{Bound, Cache, Checked, Delivers, Event, ModelFact, Purpose, Settings};
pub use finding::{Basis, Finding};
pub use grounds::{Grounds, Performer};
pub use hold::{Hold, claim, give_back};
pub use input::{
    Carried, Input, InputError, Intended, Mode, Omission, Rule, Sent, Span, SpanKey, SpanKind, Why,
    assemble, count, hash_of,
};
pub use next::{Action, next};
pub use otel::to_otel;
pub use plan::{DELIVER, EXAMINE, Guard, MustDeliver, Plan, PlanStep, faults};
pub use prompt::{compose, max_input, prefix};
pub use redact::{REDACTED, redact};
pub use replay::{
    Brief, CallCost, CostReport, Divergence, RecordedDelivery, Variation, WhatIf, cost, strict,
    what_if,
};
pub use reply::{MAX_REPLY_BYTES, object_in};
pub use report::{
    CallOmission, ClaimReport, Cost, FailureReport, Outcome, RunReport, StepReport, SurveyReport,
    verdict,
};
pub use schema::{Shape, check, outline};
pub use source::{Depth, Piece, Recorded, SourceError, Sources, Store};
pub use state::{Begun, Failure, FoldError, Hand, Pending, Provided, Slot, Spent, State};
pub use task::{Limits, Survey, Task, TaskError};
pub use truth::{
    Beginning, Citation, DeliverableCall, Delivery, Fact, Forbidden, Search, Standing, Truth,
};

#[cfg(test)]
mod tests;

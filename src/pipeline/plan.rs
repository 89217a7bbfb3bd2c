//! The plan of a run, and the guard that stands before its first step.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// What a model plans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The steps, in the order in which they are taken.
    pub steps: Vec<PlanStep>,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanStep {
    /// Its name.
    pub id: String,
    /// [`EXAMINE`] or [`DELIVER`].
    pub kind: String,
    /// What it is to find out.
    pub goal: String,
    /// The records whose details it reads.
    pub targets: Vec<String>,
    /// The steps that come before it.
    pub needs: Vec<String>,
}

/// A step that reads details and cites them.
pub const EXAMINE: &str = "examine";
/// The step that makes what the task must produce.
pub const DELIVER: &str = "deliver";

/// What a plan is held against.
#[derive(Debug, Clone, Copy)]
pub struct Guard<'a> {
    /// The most steps.
    pub max_steps: u32,
    /// The records whose summaries the model has seen.
    pub offered: &'a BTreeSet<String>,
    /// Whether the task must produce something.
    pub must_deliver: MustDeliver,
    /// Calls that are left for steps, when synthesis and deliverable have theirs.
    pub calls_left: u32,
}

/// Whether a task must produce something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MustDeliver {
    /// It must.
    Yes,
    /// A report is enough.
    No,
}

/// Returns what is wrong with a plan, in words that a model can act on; nothing when it may go ahead.
pub fn faults(plan: &Plan, guard: &Guard<'_>) -> Vec<String> {
    let mut faults = Vec::new();
    let n_steps = u32::try_from(plan.steps.len()).unwrap_or(u32::MAX);
    if n_steps == 0 {
        faults.push("the plan has no step".to_owned());
    }
    if n_steps > guard.max_steps {
        faults.push(format!("the plan has {n_steps} steps, at most {}", guard.max_steps));
        // What is wrong with each of sixty steps helps nobody.
        return faults;
    }
    if n_steps > guard.calls_left {
        faults.push(format!(
            "the plan has {n_steps} steps, and {} calls are left for them",
            guard.calls_left
        ));
    }
    let mut earlier: BTreeSet<&str> = BTreeSet::new();
    let all: BTreeSet<&str> = plan.steps.iter().map(|step| step.id.as_str()).collect();
    let mut same: BTreeMap<(&str, String, &[String]), &str> = BTreeMap::new();
    for step in &plan.steps {
        let id = step.id.as_str();
        if id.trim().is_empty() || id.contains(char::is_whitespace) {
            faults.push(format!("{id:?} is no id: use one word"));
        }
        if !earlier.insert(id) {
            faults.push(format!("two steps are named {id}"));
        }
        let work = (step.kind.as_str(), step.goal.trim().to_lowercase(), step.targets.as_slice());
        if let Some(other) = same.insert(work, id) {
            faults.push(format!("{id} does the same as {other}"));
        }
        match step.kind.as_str() {
            EXAMINE if step.targets.is_empty() => faults.push(format!("{id} has no target")),
            EXAMINE | DELIVER => {}
            other => faults.push(format!(
                "{id} is of the unknown kind {other:?}: use {EXAMINE:?} or {DELIVER:?}"
            )),
        }
        for target in &step.targets {
            if is_outside(target) {
                faults.push(format!("{id} has the target {target:?}, which is outside the tree"));
            } else if !guard.offered.contains(target) {
                faults.push(format!(
                    "{id} has the target {target:?}, which is no record that was offered"
                ));
            }
        }
        for need in &step.needs {
            if !all.contains(need.as_str()) {
                faults.push(format!("{id} needs {need:?}, which is no step"));
            }
        }
    }
    if let Some(id) = cycle(plan) {
        faults.push(format!("{id} needs itself, through the steps that it needs"));
    }
    delivery_faults(plan, guard, &mut faults);
    faults
}

/// Returns the steps in an order in which each comes behind those that it needs, otherwise as planned.
/// Steps in a cycle come last.
pub(super) fn in_order(plan: &Plan) -> Vec<PlanStep> {
    let mut left: Vec<&PlanStep> = plan.steps.iter().collect();
    let mut ordered: Vec<PlanStep> = Vec::new();
    let ready = |step: &PlanStep, done: &[PlanStep]| {
        step.needs.iter().all(|need| done.iter().any(|done| done.id == *need))
    };
    while let Some(at) = left.iter().position(|step| ready(step, &ordered)) {
        ordered.push(left.remove(at).clone());
    }
    ordered.extend(left.into_iter().cloned());
    ordered
}

/// The plan of the harness, for when the model makes none: one step a record, and the deliverable.
pub(super) fn fallback(offered: &[String], max_steps: u32, must_deliver: MustDeliver) -> Plan {
    let max = usize::try_from(max_steps).unwrap_or(usize::MAX);
    let for_delivery = usize::from(must_deliver == MustDeliver::Yes);
    let examined = offered.iter().take(max.saturating_sub(for_delivery));
    let mut steps: Vec<PlanStep> = (1..)
        .zip(examined)
        .map(|(n, id)| PlanStep {
            id: format!("s{n}"),
            kind: EXAMINE.to_owned(),
            goal: "What does this say about the task?".to_owned(),
            targets: vec![id.clone()],
            needs: Vec::new(),
        })
        .collect();
    if must_deliver == MustDeliver::Yes {
        let needs = steps.iter().map(|step| step.id.clone()).collect();
        steps.push(PlanStep {
            id: format!("s{}", steps.len() + 1),
            kind: DELIVER.to_owned(),
            goal: "Make what the task must produce.".to_owned(),
            targets: Vec::new(),
            needs,
        });
    }
    Plan { steps }
}

fn delivery_faults(plan: &Plan, guard: &Guard<'_>, faults: &mut Vec<String>) {
    let deliveries: Vec<&PlanStep> =
        plan.steps.iter().filter(|step| step.kind == DELIVER).collect();
    match (guard.must_deliver, deliveries.as_slice()) {
        (MustDeliver::Yes, []) => {
            faults.push(format!(
                "no step is of kind {DELIVER:?}, and the task must produce something"
            ));
        }
        (MustDeliver::No, [step, ..]) => {
            faults.push(format!("{} delivers, and the task produces nothing", step.id));
        }
        (MustDeliver::Yes, [_, second, ..]) => {
            faults.push(format!("{} delivers a second time", second.id));
        }
        (MustDeliver::Yes, [step]) => {
            // What it is made from has to be there: every step that it needs, and at least one.
            let examines = plan.steps.iter().any(|step| step.kind == EXAMINE);
            if examines && step.needs.is_empty() {
                faults.push(format!("{} delivers and needs no step that says what", step.id));
            }
        }
        (MustDeliver::No, []) => {}
    }
}

/// A step that can never be ready, if there is one.
fn cycle(plan: &Plan) -> Option<String> {
    let mut done: BTreeSet<&str> = BTreeSet::new();
    let known: BTreeSet<&str> = plan.steps.iter().map(|step| step.id.as_str()).collect();
    let mut left: Vec<&PlanStep> = plan.steps.iter().collect();
    loop {
        let before = left.len();
        left.retain(|step| {
            // A need that is no step is another fault.
            let ready = step
                .needs
                .iter()
                .all(|need| done.contains(need.as_str()) || !known.contains(need.as_str()));
            if ready {
                done.insert(step.id.as_str());
            }
            !ready
        });
        if left.len() == before {
            return left.first().map(|step| step.id.clone());
        }
    }
}

fn is_outside(target: &str) -> bool {
    let path = target.split('#').next().unwrap_or_default();
    path.starts_with(['/', '\\'])
        || path.split(['/', '\\']).any(|part| part == "..")
        || path.get(1..3).is_some_and(|drive| drive == ":\\" || drive == ":/")
}

#[cfg(test)]
mod tests {
    //! Which plans go ahead, and what is said of the others.

    use super::*;

    fn step(id: &str, kind: &str, goal: &str, targets: &[&str], needs: &[&str]) -> PlanStep {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        PlanStep {
            id: id.into(),
            kind: kind.into(),
            goal: goal.into(),
            targets: owned(targets),
            needs: owned(needs),
        }
    }

    fn check(steps: &[PlanStep], must_deliver: MustDeliver) -> Vec<String> {
        let offered = BTreeSet::from(["a.md#x".to_owned(), "b.md".to_owned()]);
        let guard = Guard { max_steps: 4, offered: &offered, must_deliver, calls_left: 4 };
        faults(&Plan { steps: steps.to_vec() }, &guard)
    }

    #[test]
    fn a_plan_that_holds_goes_ahead() {
        let a = step("a", EXAMINE, "x", &["a.md#x"], &[]);
        let b = step("b", EXAMINE, "y", &["b.md"], &["a"]);
        assert_eq!(check(&[a.clone(), b], MustDeliver::No), [""; 0]);
        let d = step("d", DELIVER, "make it", &[], &["a"]);
        assert_eq!(check(&[a, d], MustDeliver::Yes), [""; 0]);
    }

    #[test]
    fn what_is_wrong_with_a_plan_is_named() {
        let ok = || step("a", EXAMINE, "x", &["b.md"], &[]);
        for (steps, must, says) in [
            (vec![], MustDeliver::No, "the plan has no step"),
            (
                (0..60).map(|n| step(&format!("s{n}"), EXAMINE, "x", &["b.md"], &[])).collect(),
                MustDeliver::No,
                "the plan has 60 steps, at most 4",
            ),
            (
                vec![ok(), step("a", EXAMINE, "y", &["b.md"], &[])],
                MustDeliver::No,
                "two steps are named a",
            ),
            (
                vec![ok(), step("b", EXAMINE, " X ", &["b.md"], &[])],
                MustDeliver::No,
                "b does the same as a",
            ),
            (
                vec![step("a", "think", "x", &["b.md"], &[])],
                MustDeliver::No,
                "a is of the unknown kind \"think\"",
            ),
            (vec![step("a", EXAMINE, "x", &[], &[])], MustDeliver::No, "a has no target"),
            (
                vec![step("a", EXAMINE, "x", &["../etc/passwd"], &[])],
                MustDeliver::No,
                "outside the tree",
            ),
            (
                vec![step("a", EXAMINE, "x", &["/etc/passwd"], &[])],
                MustDeliver::No,
                "outside the tree",
            ),
            (
                vec![step("a", EXAMINE, "x", &["nothing.rs"], &[])],
                MustDeliver::No,
                "no record that was offered",
            ),
            (
                vec![step("a", EXAMINE, "x", &["b.md"], &["z"])],
                MustDeliver::No,
                "a needs \"z\", which is no step",
            ),
            (
                vec![
                    step("a", EXAMINE, "x", &["b.md"], &["b"]),
                    step("b", EXAMINE, "y", &["b.md"], &["a"]),
                ],
                MustDeliver::No,
                "a needs itself",
            ),
            (vec![step("a", EXAMINE, "x", &["b.md"], &["a"])], MustDeliver::No, "a needs itself"),
            (vec![ok()], MustDeliver::Yes, "no step is of kind \"deliver\""),
            (
                vec![ok(), step("d", DELIVER, "m", &[], &[])],
                MustDeliver::Yes,
                "d delivers and needs no step",
            ),
            (
                vec![ok(), step("d", DELIVER, "m", &[], &["a"])],
                MustDeliver::No,
                "the task produces nothing",
            ),
            (
                vec![
                    ok(),
                    step("d", DELIVER, "m", &[], &["a"]),
                    step("e", DELIVER, "n", &[], &["a"]),
                ],
                MustDeliver::Yes,
                "e delivers a second time",
            ),
            (vec![step("a b", EXAMINE, "x", &["b.md"], &[])], MustDeliver::No, "is no id"),
        ] {
            let faults = check(&steps, must);
            assert!(
                faults.iter().any(|fault| fault.contains(says)),
                "{faults:?} does not say {says:?}"
            );
        }
    }

    #[test]
    fn a_step_comes_behind_what_it_needs() {
        let plan = Plan {
            steps: vec![
                step("c", EXAMINE, "1", &["b.md"], &["a", "b"]),
                step("b", EXAMINE, "2", &["b.md"], &["a"]),
                step("a", EXAMINE, "3", &["b.md"], &[]),
            ],
        };
        let ids: Vec<String> = in_order(&plan).into_iter().map(|step| step.id).collect();
        assert_eq!(ids, ["a", "b", "c"]);
    }

    #[test]
    fn the_plan_of_the_harness_passes_its_own_guard() {
        let offered: Vec<String> = vec!["a.md#x".into(), "b.md".into()];
        for must in [MustDeliver::Yes, MustDeliver::No] {
            assert_eq!(check(&fallback(&offered, 4, must).steps, must), [""; 0]);
        }
    }
}

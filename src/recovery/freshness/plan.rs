//! The plan that is followed.

use super::words::quoted;
use super::{Advice, Case, Check, Report, said};

/// Tells whether the plan is known to have changed.
pub(super) fn plan(case: &Case<'_>, report: &mut Report) -> bool {
    let change = change(case, report);
    let is_changed = change.is_some();
    if let Some(message) = change {
        report.find(Check::Plan, Advice::PromptUser, message);
    }
    is_changed
}

fn change(case: &Case<'_>, report: &mut Report) -> Option<String> {
    let snapshot = &case.standing.snapshot;
    let Some(path) = said(snapshot.plan_file.as_ref()) else {
        if snapshot.plan_modified_at.is_some() {
            report.skip("the plan", "the checkpoint does not say where it is");
        }
        return None;
    };
    let subject = format!("plan {}", quoted(path));
    let Some(saved) = snapshot.plan_modified_at else {
        let is_there = report.known(&subject, case.world.has_file(path))?;
        return (!is_there).then(|| format!("{subject} is gone"));
    };
    match report.known(&subject, case.world.file(path))? {
        None => Some(format!("{subject} is gone")),
        // Any other time counts, not only a later one: an older plan may have been put back.
        Some(now) if now.modified_at != saved => Some(format!("{subject} changed")),
        Some(_) => None,
    }
}

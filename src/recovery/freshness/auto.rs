//! Whether the claude system itself would go on without asking.

use std::time::Duration;

use super::words::quoted;
use super::{Advice, Case, Check, Report, said};
use crate::checkpoint::{Layout, Status};

/// The first schema with the fields that the conditions need.
const SINCE: [u64; 2] = [1, 2];
// Seven days, and the hour that the system itself grants.
const AGE_MAX: Duration = Duration::from_hours(7 * 24 + 1);

pub(super) fn auto_resume(case: &Case<'_>, is_plan_changed: bool, report: &mut Report) {
    if case.entry.layout != Layout::Claude || !is_late(case, report) {
        return;
    }
    let unmet = unmet(case, is_plan_changed);
    report.is_automatic = Some(unmet.is_empty());
    if !unmet.is_empty() {
        let unmet = unmet.join(", ");
        let message = format!("its system would ask a person before it goes on: {unmet}");
        report.find(Check::AutoResume, Advice::PromptUser, message);
    }
}

fn is_late(case: &Case<'_>, report: &mut Report) -> bool {
    let Some(version) = said(case.standing.version.as_ref()) else { return false };
    let Some(version_parts) = parts(version) else {
        let reason = format!("version {} of the schema is not a number", quoted(version));
        report.skip("whether its system would ask a person before it goes on", &reason);
        return false;
    };
    version_parts.as_slice() >= SINCE.as_slice()
}

/// The numbers of a version such as `1.10`, which is later than `1.9`.
fn parts(version: &str) -> Option<Vec<u64>> {
    let version = version.trim().trim_start_matches('v');
    let version = version.split('-').next().unwrap_or(version);
    version.split('.').map(|part| part.parse().ok()).collect()
}

/// All conditions that do not hold, in the order in which the system checks them.
fn unmet(case: &Case<'_>, is_plan_changed: bool) -> Vec<String> {
    let tests = match case.standing.tests_passing {
        Some(true) => None,
        Some(false) => Some("tests did not pass".to_owned()),
        None => Some("it does not say that tests passed".to_owned()),
    };
    let error = said(case.standing.error.as_ref()).map(|_| "it ends with an error".to_owned());
    let status = case.entry.status;
    let status = (status != Status::InProgress).then(|| format!("its status is {status}"));
    // A checkpoint dated in the future, as after a clock change, is not old.
    let is_old = case.now.saturating_since(case.entry.created_at) > AGE_MAX;
    let age = is_old.then(|| "it is more than 7 days old".to_owned());
    let plan = is_plan_changed.then(|| "the plan changed".to_owned());
    [tests, error, status, age, plan].into_iter().flatten().collect()
}

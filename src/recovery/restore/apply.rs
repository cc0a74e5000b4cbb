//! Carries out a plan: files, then the state, then reads back what was written.
//!
//! Decides nothing: a plan that no longer fits is refused before a file changes.

use super::files::Obstacle;
use super::plan::{Decided, RestorePlan, directory};
use super::refusal::{NotRestored, Refusal};
use super::report::{Restored, StepName, StepOutcome};
use super::state::StateFile;
use super::write::write;
use crate::store::{Stage, Step, Store, Watch};
use crate::transfer::directory::Directory;

pub(super) fn apply(
    store: &Store,
    plan: &RestorePlan,
    watch: Watch<'_>,
) -> Result<Restored, NotRestored> {
    if plan.how.dry_run {
        return Ok(plan.report());
    }
    let mut report = plan.begun.clone();
    match carry_out(store, plan, &mut report, watch) {
        Ok(()) => Ok(report),
        Err(why) => Err(NotRestored::new(report, why)),
    }
}

fn carry_out(
    store: &Store,
    plan: &RestorePlan,
    report: &mut Restored,
    watch: Watch<'_>,
) -> Result<(), Refusal> {
    let Decided { files, left, compared, carried, hurdles, state } = &plan.decided;
    let directory = directory(&plan.how);
    let applied = write(store, plan, &directory, watch).map_err(|broken| {
        report.tell_broken(files, &broken);
        broken.why
    })?;
    report.tell_files(files, Some(&applied), compared);
    report.tell_left(left, plan.how.exact);
    report.tell_variables(carried);
    if let Some(state) = state {
        let kept = state.write(store.now()).inspect_err(|why| {
            report.tell(StepName::AgentState, StepOutcome::Failed, why.told());
        })?;
        report.state_kept_as = kept;
    }
    report.tell_agent_state(carried, state.as_ref());
    // Ending here is ignored: everything is written, and only the report would be lost.
    let _ = watch(Step::named(Stage::ReadBack, 0));
    let wrong = unlike(plan, &directory);
    let (count, total) = (wrong.len() as u64, files.0.len() as u64 + u64::from(state.is_some()));
    report.tell_verified(&wrong, total);
    if count > 0 {
        return Err(Refusal::Unverified { count, total });
    }
    report.tell_resume(&plan.entry, hurdles);
    Ok(())
}

/// Reads back everything that was written, and returns what differs.
fn unlike(plan: &RestorePlan, directory: &Directory) -> Vec<Obstacle> {
    let mut wrong = plan.decided.files.unlike(directory);
    wrong.extend(plan.decided.state.as_ref().and_then(StateFile::unlike));
    wrong
}

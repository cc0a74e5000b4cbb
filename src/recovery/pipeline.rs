//! A story of a pipeline beside the state of that pipeline, which the lead writes to another file.
//!
//! The state is the newest imported `.pipeline/state.json` of the project that the checkpoint
//! belongs to, found by the index of files. A checkpoint in `.worktrees/NAME/.pipeline` belongs to
//! the project around it. `Worker::of` makes the prompt for a new worker of both, and names what is
//! missing in either.

use super::proposal::Offer;
use crate::checkpoint::{Entry, Layout};
use crate::error::{Error, Result};
use crate::layouts::pipeline::{Assignment, assignment, exceeded, is_state, project, state_path};
use crate::layouts::{Standing, problems};
use crate::store::Store;

/// Adds to an offer what the newest `.pipeline/state.json` of the same project says about its
/// story.
///
/// The state is found by the row of its file, and its document is read. Without one nothing is
/// added.
pub(super) fn join(store: &Store, offer: &mut Offer) -> Result<()> {
    let Some(issue) = issue(&offer.checkpoint.entry, &offer.standing) else { return Ok(()) };
    let file = offer.checkpoint.entry.source_path.as_deref().unwrap_or_default();
    let Some(path) = state_path(file) else { return Ok(()) };
    let Some(found) = look(store, &path, &issue, &mut offer.standing)? else { return Ok(()) };
    let worktree = &mut offer.standing.snapshot.worktree;
    *worktree = worktree.take().or_else(|| found.worktree.clone());
    offer.standing.assignment = Some(Assignment { project: project(file), ..found });
    Ok(())
}

/// The story, which is the issue of its checkpoint.
fn issue(entry: &Entry, standing: &Standing) -> Option<String> {
    let issue = standing.snapshot.issue.as_ref().filter(|_| entry.layout == Layout::Pipeline);
    issue.map(ToString::to_string)
}

fn look(
    store: &Store,
    path: &str,
    issue: &str,
    standing: &mut Standing,
) -> Result<Option<Assignment>> {
    let read = || {
        let Some(state) = store.newest_of_file(path, None)? else { return Ok(None) };
        let checkpoint = store.get(&state.id)?;
        let document = checkpoint.document()?;
        let problem = problems(&checkpoint, &document)?.into_iter().next();
        let broken = problem.filter(|_| state.is_unreadable()).map(|it| it.to_string());
        Ok(Some((state, document, broken)))
    };
    match read() {
        // The earlier content of the file may lack the last retries, so it is not used.
        Ok(Some((state, _, Some(broken)))) => {
            let (state, damage) = (Some(state.id), Some(broken));
            Ok(Some(Assignment { state, damage, ..Assignment::default() }))
        }
        Ok(Some((state, document, None)))
            if state.layout == Layout::Pipeline && is_state(&document) =>
        {
            standing.retries_exceeded = exceeded(&document, Some(issue));
            Ok(Some(Assignment { state: Some(state.id), ..assignment(&document, issue) }))
        }
        // Pruned since its row was read, or a state of another system.
        Ok(_) | Err(Error::NotFound { .. }) => Ok(None),
        Err(error @ (Error::Corrupt { .. } | Error::Invalid { .. } | Error::Limit { .. })) => {
            Ok(Some(Assignment { damage: Some(error.to_string()), ..Assignment::default() }))
        }
        Err(error) => Err(error),
    }
}

//! The branch, the directory and the pull request of the work.

use std::path::Path;

use super::words::{plain, quoted};
use super::{Advice, Case, Check, Report, said};
use crate::checkpoint::Layout;
use crate::recovery::Answer;
use crate::recovery::normal_path::normal;

/// The stage of agentize in which a pull request is made.
const PULL_REQUEST_STAGE: &str = "pr";

pub(super) fn branch(case: &Case<'_>, report: &mut Report) {
    let Some(name) = said(case.standing.snapshot.branch.as_ref()) else { return };
    let subject = format!("branch {}", quoted(name));
    match report.known(&subject, case.world.has_branch(name)) {
        Some(false) => {
            report.find(Check::Branch, Advice::StartFresh, format!("{subject} is gone"));
        }
        Some(true) => elsewhere(case, name, report),
        None => {}
    }
}

/// Reports if another branch, or none, is checked out where the work would go on.
///
/// Commits on a detached HEAD are on no branch. If the work was done in another worktree, the
/// branch checked out here does not count.
fn elsewhere(case: &Case<'_>, name: &str, report: &mut Report) {
    let worktree = said(case.standing.snapshot.worktree.as_ref());
    if worktree.is_some_and(|path| !is_here(case, path)) {
        return;
    }
    let Answer::Known(here) = case.world.branch() else { return };
    if here.as_deref().is_some_and(|here| here == local(name) || here == name) {
        return;
    }
    let here = here.map_or_else(|| "no branch".to_owned(), |here| quoted(&here));
    let message = format!("its branch is {}, and {here} is checked out", quoted(name));
    report.find(Check::Branch, Advice::PromptUser, message);
}

/// The name that a branch has here; a document may have the full name, or that of a remote.
fn local(name: &str) -> &str {
    let name = name.strip_prefix("refs/heads/").unwrap_or(name);
    let name = name.strip_prefix("refs/remotes/").unwrap_or(name);
    name.strip_prefix("origin/").unwrap_or(name)
}

/// Whether a path leads to the directory that the work would go on in.
fn is_here(case: &Case<'_>, path: &str) -> bool {
    let Answer::Known(here) = case.world.worktree() else { return false };
    is_same(case, path, &here)
}

/// True if the path is the directory to go on in, which may be inside a larger repository.
fn is_same(case: &Case<'_>, path: &str, here: &str) -> bool {
    is_spelled_alike(path, here)
        || case.world.is_same_directory(path, here)
        || case.world.is_same_directory(path, ".")
}

/// Tells whether the work is known to go on where it was done.
pub(super) fn worktree(case: &Case<'_>, report: &mut Report) -> bool {
    let Some(path) = said(case.standing.snapshot.worktree.as_ref()) else { return false };
    let subject = format!("worktree {}", quoted(path));
    if report.known(&subject, case.world.has_directory(path)) == Some(false) {
        report.find(Check::Worktree, Advice::StartFresh, format!("{subject} is gone"));
        return false;
    }
    match case.entry.layout {
        // It goes on only in the worktree of its issue.
        Layout::Agentize => is_in_place(case, path, report),
        Layout::Native | Layout::Crunch | Layout::Claude | Layout::Pipeline | Layout::Aiwg => false,
    }
}

fn is_in_place(case: &Case<'_>, path: &str, report: &mut Report) -> bool {
    let subject = format!("worktree {}", quoted(path));
    let Some(here) = report.known(&subject, case.world.worktree()) else { return false };
    let is_same = is_same(case, path, &here);
    if !is_same {
        let here = quoted(&here);
        let message = format!("{subject} is not where the work would go on, which is {here}");
        report.find(Check::Worktree, Advice::StartFresh, message);
        report.elsewhere = Some(path.to_owned());
    }
    is_same
}

/// Whether two paths are equal as text; a relative one starts in the directory of the work.
fn is_spelled_alike(path: &str, here: &str) -> bool {
    let here = Path::new(here);
    normal(&here.join(path)) == normal(here)
}

/// `is_in_place` tells whether the branch that is checked out is the one of the work.
pub(super) fn pull_request(case: &Case<'_>, is_in_place: bool, report: &mut Report) {
    let is_due = case.entry.phase.as_deref() == Some(PULL_REQUEST_STAGE);
    if case.entry.layout != Layout::Agentize || !is_due {
        return;
    }
    let open = report.known("the pull request", open_pull_request(case, is_in_place));
    let saved = said(case.standing.snapshot.pull_request.as_ref());
    let message = match (&open, saved) {
        (Some(Some(name)), _) => exists(name),
        (None, Some(name)) => exists(name),
        (Some(None), Some(name)) => {
            format!("pull request {} was made already, and is not open now", plain(name))
        }
        (None | Some(None), None) => return,
    };
    report.find(Check::PullRequest, Advice::ProceedWithWarning, message);
}

fn exists(name: &str) -> String {
    format!("pull request {} exists already: continue there", plain(name))
}

fn open_pull_request(case: &Case<'_>, is_in_place: bool) -> Answer<Option<String>> {
    if let Some(name) = said(case.standing.snapshot.branch.as_ref()) {
        return case.world.pull_request(name);
    }
    let checked_out = if is_in_place { case.world.branch() } else { Answer::Known(None) };
    match checked_out {
        Answer::Known(Some(name)) => case.world.pull_request(&name),
        Answer::Known(None) => Answer::Unknown("the branch of the work is not known".to_owned()),
        Answer::Unknown(reason) => Answer::Unknown(reason),
    }
}

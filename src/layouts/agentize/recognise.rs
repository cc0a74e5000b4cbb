//! What `.tmp/impl-checkpoint.json` says about itself.
//!
//! It does not say why it was saved, so its trigger is unknown. The releases since February 2026
//! leave `current_stage` as it was while they go through others: the last stage of the history is
//! kept beside it, as the step.

use super::{Stage, VERSION_NEWEST};
use crate::checkpoint::{Document, Layout, NewEntry, Status};
use crate::layouts::Place;
use crate::layouts::reading::{Reading, at, list, text, whole, word};

pub(in crate::layouts) fn recognise(document: &Document, place: &Place<'_>) -> Option<NewEntry> {
    let stage = text(document, "state.current_stage")?;
    let worktree = text(document, "state.worktree")?;
    let issue = word(document, "state.issue_no")?;
    // A file without a version is one of version 0.
    let has_version = at(document, "version").is_none() || whole(document, "version").is_some();
    if !has_version || text(document, "timestamp").is_none() {
        return None;
    }
    let mut reading = Reading::new(Layout::Agentize, document, place);
    reading.issue("state.issue_no");
    reading.entry.phase = reading.name("state.current_stage");
    reading.entry.step = last_stage(document).and_then(|stage| reading.legal("history", stage));
    reading.entry.iteration = reading.count("state.iteration");
    reading.entry.status = match stage {
        _ if stage == Stage::Done.as_str() => Status::Completed,
        _ if stage == Stage::Fatal.as_str() => Status::Failed,
        _ => Status::InProgress,
    };
    reading.entry.created_at = reading.time("timestamp");
    if whole(document, "version").is_some_and(|version| version > VERSION_NEWEST) {
        reading.warn("version is newer than any that is known");
    }
    reading.series(&[".tmp"], &format!("issue:{issue}@{worktree}"));
    Some(reading.finish())
}

fn last_stage(document: &Document) -> Option<&str> {
    text(list(document, "state.history")?.last()?, "stage")
}

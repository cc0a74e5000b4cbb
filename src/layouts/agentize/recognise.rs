//! What `.tmp/impl-checkpoint.json` says about itself.
//!
//! It does not say why it was saved, so its trigger is unknown. Releases since February 2026 leave
//! `current_stage` unchanged while they run other stages, so the last stage of the history becomes
//! the step.

use super::{ImplStage, VERSION_NEWEST, shape};
use crate::checkpoint::{Layout, NewEntry, Status};
use crate::codec::Datum;
use crate::layouts::Place;
use crate::layouts::reading::Reading;

pub(in crate::layouts) fn recognise(document: Datum<'_>, place: &Place<'_>) -> Option<NewEntry> {
    document.text("state.current_stage")?;
    document.text("state.worktree")?;
    document.word("state.issue_no")?;
    // A file without a version is one of version 0.
    let has_version = document.at("version").is_none() || document.whole("version").is_some();
    if !has_version || document.text("timestamp").is_none() {
        return None;
    }
    Some(entry(document, place))
}

/// A file at the path and of the shape of the system that lacks required fields.
pub(in crate::layouts) fn broken(document: Datum<'_>, place: &Place<'_>) -> Option<NewEntry> {
    let is_broken = shape::is_placed(place.path) && shape::is_like(document);
    is_broken.then(|| entry(document, place))
}

/// Without its issue or its worktree it has no series.
pub(in crate::layouts) fn entry(document: Datum<'_>, place: &Place<'_>) -> NewEntry {
    let stage = document.text("state.current_stage");
    let mut reading = Reading::new(Layout::Agentize, document, place);
    reading.issue("state.issue_no");
    reading.entry.phase = reading.name("state.current_stage");
    reading.entry.step = last_stage(document).and_then(|stage| reading.legal("history", stage));
    reading.entry.iteration = reading.count("state.iteration");
    reading.entry.status = match stage {
        None => Status::Unknown,
        Some(stage) if stage == ImplStage::Done.as_str() => Status::Completed,
        Some(stage) if stage == ImplStage::Fatal.as_str() => Status::Failed,
        Some(_) => Status::InProgress,
    };
    reading.entry.created_at = reading.time("timestamp");
    if document.whole("version").is_some_and(|version| version > VERSION_NEWEST) {
        reading.warn("version is newer than any that is known");
    }
    let names = document.word("state.issue_no").zip(document.text("state.worktree"));
    if let Some((issue, worktree)) = names {
        reading.series(&[".tmp"], &format!("issue:{issue}@{worktree}"));
    }
    reading.finish()
}

fn last_stage(document: Datum<'_>) -> Option<&str> {
    document.list("state.history")?.last()?.text("stage")
}

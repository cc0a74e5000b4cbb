//! Writes checkpoints as loop states that AIWG's own recovery reads, under the path where it looks:
//! `.aiwg/ralph/loops/LOOP/checkpoints/checkpoint-ITERATION-MILLISECONDS.json.gz`.
//!
//! Recovery takes the file of a loop with the most milliseconds and overwrites the state of the
//! loop with it. A document with `loopId` and `currentIteration` is such a state and is written as
//! it is. For any other, these are the sources of each field, the entry first, then fields of the
//! document, which may also be spelled with underscores:
//!
//! - `loopId`: `loop_id`; the same. It names the directory.
//! - `currentIteration`: `iteration`; the same, `/iteration`. It is part of the name.
//! - `status`: `status`, where work in progress is `running`; the same if the entry does not say.
//! - `currentPhase`, `sessionId`, `issue`: `phase`, `session_id`, `issue`.
//! - `lastUpdate`: `updated_at`, else `created_at`.
//! - `objective`: the same, `/task`, `/description`.
//! - `completionCriteria`, `maxIterations`, `startTime`, `accumulatedLearnings`: the same.
//! - `filesModified`: the paths in the same.
//! - `iterations`: the same; else none, since recovery asks for the last of them.
//! - `metadata.trigger`: `trigger`, which a state has no field for.
//! - `document`: all of the document.

use super::location::{CHECKPOINTS, LOOPS, SUFFIX};
use super::write::{FORM, kept};
use crate::checkpoint::{Document, Entry, Format, Layout, LoopId, Status, Timestamp};
use crate::layouts::given::{Given, at, object, text, text_of, time, whole};
use crate::layouts::standing::told::file;
use crate::layouts::write::{LayoutFile, Paths, placed};
use crate::layouts::{Problem, Writing};

const LOOP: [&str; 2] = ["/loopId", "/loop_id"];
const ITERATION: [&str; 4] =
    ["/currentIteration", "/current_iteration", "/iteration", "/state/iteration/current"];

/// Returns a checkpoint as a file that AIWG's recovery reads.
pub(in crate::layouts) fn reader_file(
    entry: &Entry,
    document: &Document,
    writing: Writing,
) -> Result<LayoutFile, Vec<Problem>> {
    let mut given = Given::new(Layout::Aiwg, entry, document, writing);
    given.check_times();
    if entry.source.is_some_and(|source| source.format == Format::Unreadable) {
        given.refuse("document", "cannot be read, so it is not the state of a loop");
    }
    let loop_id = loop_id(&mut given);
    let iteration = iteration(&mut given);
    let millis = millis(&mut given);
    let is_state = is_state(entry, document);
    let state = (!is_state).then(|| state(&mut given, loop_id.as_deref(), iteration));
    let notes = given.finish()?;
    let (Some(loop_id), Some(iteration), Some(millis)) = (loop_id, iteration, millis) else {
        return Err(Vec::new());
    };
    let name = format!("checkpoint-{iteration}-{millis}{SUFFIX}");
    let path = format!("{LOOPS}{loop_id}{CHECKPOINTS}{name}");
    let paths = Paths { path, other_path: None }.below(entry);
    let document = document.clone();
    let document = match state {
        Some(state) => placed(state, &["document"], document),
        None => document,
    };
    Ok(LayoutFile { notes, ..LayoutFile::new(paths, document, FORM) })
}

/// Tells whether the document is the state of this loop.
fn is_state(entry: &Entry, document: &Document) -> bool {
    let loop_id = at(document, LOOP[0]).and_then(text_of);
    let iteration = at(document, ITERATION[0]).and_then(whole);
    let is_same = |said: &LoopId| loop_id == Some(said.as_str());
    loop_id.is_some()
        && iteration.is_some()
        && entry.loop_id.as_ref().is_none_or(is_same)
        && entry.iteration.is_none_or(|said| iteration == Some(said))
}

fn loop_id(given: &mut Given<'_>) -> Option<String> {
    const FIELD: &str = "loop_id";
    let said = given.said(FIELD, given.entry.loop_id.as_ref().map(LoopId::as_str), &LOOP);
    if said.is_none() {
        given.miss(FIELD, "the loop, whose directory has the file");
    }
    given.name(said)
}

fn iteration(given: &mut Given<'_>) -> Option<u64> {
    let number = given.entry.iteration.or_else(|| given.whole_at(&ITERATION));
    if number.is_none() {
        given.miss("iteration", "the iteration of the loop, which names the file");
    }
    number
}

/// The time by which a store orders checkpoints, so that recovery takes the newest of the store.
fn millis(given: &mut Given<'_>) -> Option<u64> {
    let (ordered_at, _) = given.entry.order();
    let millis = u64::try_from(ordered_at.as_micros() / 1000).ok();
    if millis.is_none() {
        given.refuse("created_at", "must not be before 1970 for aiwg's recovery");
    }
    millis
}

fn state(given: &mut Given<'_>, loop_id: Option<&str>, iteration: Option<u64>) -> Document {
    let entry = given.entry;
    let trigger = kept(given);
    let updated_at: Timestamp = entry.updated_at.unwrap_or(entry.created_at);
    let found = |camel: &str, snake: &str| given.at(&[camel, snake]).cloned();
    object([
        ("loopId", text(loop_id)),
        ("objective", text(given.text_at(&["/objective", "/task", "/description"]))),
        ("completionCriteria", found("/completionCriteria", "/completion_criteria")),
        ("status", text(status(given))),
        ("currentIteration", iteration.map(Document::Uint)),
        ("maxIterations", found("/maxIterations", "/max_iterations")),
        ("currentPhase", text(entry.phase.as_deref())),
        ("startTime", text(given.text_at(&["/startTime", "/start_time", "/started_at"]))),
        ("lastUpdate", text(Some(time(updated_at)))),
        ("sessionId", text(entry.session_id.as_deref())),
        ("issue", text(entry.issue.as_ref().map(ToString::to_string))),
        ("iterations", given.array_at(&["/iterations"]).or(Some(Document::Array(Vec::new())))),
        ("accumulatedLearnings", found("/accumulatedLearnings", "/accumulated_learnings")),
        ("filesModified", files(given)),
        ("metadata", trigger.map(|trigger| object([("trigger", text(Some(trigger)))]))),
        ("document", Some(Document::Null)),
    ])
}

/// Recovery only considers loops that are `running`.
fn status(given: &Given<'_>) -> Option<String> {
    match given.entry.status {
        Status::InProgress => Some("running".to_owned()),
        Status::Unknown => given.text_at(&["/status"]),
        other => Some(other.to_string()),
    }
}

/// Recovery prints each as a path.
fn files(given: &Given<'_>) -> Option<Document> {
    let Document::Array(items) = given.at(&["/filesModified", "/files_modified"])? else {
        return None;
    };
    let path = |item: &Document| Some(Document::Text(file(item)?.path));
    items.iter().map(path).collect::<Option<Vec<_>>>().map(Document::Array)
}

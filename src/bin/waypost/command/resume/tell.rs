//! The output of `resume`: the result on standard output, notes on standard error.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use waypost::recovery::{Advice, Decision, Differences, Resumption, Worker};
use waypost::source::JsonStyle;
use waypost::{Layout, Status, Timestamp};

use super::{Args, ask, worker};
use crate::args::Global;
use crate::exit::Refusal;
use crate::output::{self, Fields};

/// Everything known at the time of the decision.
pub(super) struct Decided<'a> {
    pub(super) found: &'a Resumption,
    /// Differences of files, if asked for.
    pub(super) shown: Option<&'a Differences>,
    /// The directory in which the work goes on.
    pub(super) root: &'a Path,
}

pub(super) fn tell(
    args: &Args,
    global: &Global,
    out: &mut dyn Write,
    decided: &Decided<'_>,
) -> Result<()> {
    let found = decided.found;
    if global.json {
        return answer(args, out, decided);
    }
    if found.decision != Decision::Resume {
        return Ok(());
    }
    if args.document {
        return output::document(out, &found.offer.checkpoint, global);
    }
    if let Some((block, worker)) = block(args, decided)? {
        if let Some(worker) = worker {
            worker::note(&worker, global);
        }
        return Ok(write!(out, "{block}")?);
    }
    Ok(output::fields(out, &summary(found), global)?)
}

/// The block for a prompt and its worker, if asked for and if work goes on.
fn block(args: &Args, decided: &Decided<'_>) -> Result<Option<(String, Option<Worker>)>> {
    if !args.prompt || decided.found.decision != Decision::Resume {
        return Ok(None);
    }
    if args.worker {
        let worker = worker::worker(decided)?;
        return Ok(Some((worker.prompt(), Some(worker))));
    }
    let nothing = || Refusal::NoTasks { id: decided.found.offer.checkpoint.entry.id.clone() };
    Ok(Some((decided.found.prompt().ok_or_else(nothing)?, None)))
}

/// Notes passed-over checkpoints, changes, and what could not be checked.
pub(super) fn notes(found: &Resumption, global: &Global) {
    for damage in &found.damage {
        global.note(format_args!("damaged: {damage}"));
    }
    for passed in &found.passed_over {
        let why = passed.why.join("; ");
        global.note(format_args!("passed over {}: it {why}", passed.entry.id));
    }
    // Errors prevent a resume, and are part of its refusal.
    for problem in found.offer.problems.iter().filter(|it| !it.is_error()) {
        global.note(format_args!("warning: {problem}"));
    }
    for finding in &found.freshness.findings {
        let word = match finding.advice {
            Advice::Resume => "note",
            Advice::ProceedWithWarning => "warning",
            Advice::PromptUser => "changed",
            Advice::StartFresh => "cannot resume",
        };
        global.note(format_args!("{word}: {}", finding.message));
    }
    for unchecked in &found.freshness.unchecked {
        global.note(format_args!("not checked: {unchecked}"));
    }
}

/// What a person needs to continue.
fn summary(found: &Resumption) -> Fields {
    let entry = &found.offer.checkpoint.entry;
    let standing = &found.offer.standing;
    let point = &found.resume_point;
    let ago = output::ago(entry.created_at, Timestamp::now());
    let mut fields = Fields::default();
    fields.text("resume", Some(&entry.id));
    fields.text("series", Some(&entry.series));
    fields.text("work", standing.description.as_ref());
    fields.text("saved", Some(format!("{} ({ago})", entry.created_at)));
    fields.text("agent", entry.agent.as_ref().map(|agent| by_agent(entry.layout, agent)));
    fields.text("phase", point.phase_note().or_else(|| point.phase.clone()));
    fields.text("step", entry.step.as_ref());
    fields.text("iteration", entry.iteration);
    fields.text("resume_from", entry.resume_from.as_ref());
    let progress = ask::progress(entry, standing);
    fields.text("progress", Some(progress).filter(|_| standing.progress.is_some()));
    fields.text("score", standing.score);
    fields.text("failures", standing.failures);
    fields.text("status", Some(entry.status).filter(|status| is_news(*status)));
    fields.text("error", standing.error.as_ref());
    fields.text("next", standing.next.as_ref());
    found.reasons.iter().for_each(|reason| fields.text("because", Some(reason)));
    entry.warnings.iter().for_each(|warning| fields.text("warning", Some(warning)));
    fields
}

/// A pipeline resumes the agent of a story, if it can, before it starts a new worker.
fn by_agent(layout: Layout, agent: &str) -> String {
    let first = if layout == Layout::Pipeline { " (try to resume this agent first)" } else { "" };
    format!("{agent}{first}")
}

fn is_news(status: Status) -> bool {
    !matches!(status, Status::InProgress | Status::Unknown)
}

fn answer(args: &Args, mut out: &mut dyn Write, decided: &Decided<'_>) -> Result<()> {
    let checkpoint = &decided.found.offer.checkpoint;
    if args.document {
        if decided.found.decision == Decision::Resume {
            checkpoint.write_json(&mut out, JsonStyle::Compact)?;
            writeln!(out)?;
        }
        return Ok(());
    }
    let block = block(args, decided)?;
    write!(out, "{}", output::json_open(decided.found)?)?;
    if let Some((block, worker)) = block {
        write!(out, ",\"prompt\":{}", serde_json::to_string(&block)?)?;
        if let Some(worker) = worker {
            write!(out, ",\"worker\":{}", serde_json::to_string(&worker)?)?;
        }
    }
    if let Some(shown) = decided.shown {
        write!(out, ",\"differences\":{}", serde_json::to_string(shown)?)?;
    }
    // The document becomes the last member of the object, without being read again.
    write!(out, ",\"document\":")?;
    checkpoint.write_json(&mut out, JsonStyle::Compact)?;
    Ok(writeln!(out, "}}")?)
}

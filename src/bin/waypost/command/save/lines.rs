//! `waypost save --lines`: a line in, a line out, for programs that save often.
//!
//! Every line that is not blank gets exactly one answer, in order.

use std::collections::HashSet;
use std::io::{self, Write};

use anyhow::{Context as _, Result};
use waypost::options::Limits;
use waypost::{Draft, Entry, Error};

use super::inbox::{Line, Lines};
use super::switches::skip;
use super::{Saver, answer, checked};
use crate::args::Global;
use crate::exit::Refusal;
use crate::input::Input;
use crate::interrupt;
use crate::output::{self, grouped};
use crate::report::{Report, Reported};
use waypost::transfer::envelope;

/// Saves lines of standard input until it ends, or until an interrupt. Lines that were read whole
/// before the interrupt are still answered.
pub(super) fn run(saver: &Saver<'_>, global: &Global, out: &mut dyn Write) -> Result<()> {
    let mut lines = Lines::of(Input::new(io::stdin()), line_bytes_max());
    interrupt::listen()?;
    let (mut count, mut total) = (0, 0_u64);
    let mut first = None;
    let mut told = HashSet::new();
    loop {
        let taken = lines.take().context("cannot read standard input");
        let lines = match interrupt::caught(taken)? {
            Ok(Some(lines)) => lines,
            Ok(None) => break,
            Err(signal) => {
                let answered = grouped(total);
                return Err(signal.error(format!("{answered} lines answered, no other was saved")));
            }
        };
        for (line, outcome) in lines.iter().zip(save(saver, &lines)?) {
            total += 1;
            let answered = match outcome {
                Answer::Saved(entry) => answer(out, &entry, global),
                Answer::Off(reason) => {
                    // Once for each trigger, and even with `--quiet`, as for a single save.
                    if told.insert(reason.clone()) {
                        let number = line.number;
                        global.warn(format_args!("line {number} is not saved: {reason}"));
                    }
                    skip(out, &reason, global)
                }
                Answer::Refused(report) => {
                    count += 1;
                    first.get_or_insert(line.number);
                    // With --json the answer has the reason.
                    if !global.json {
                        global.note(format_args!("line {}: {}", line.number, report.message));
                    }
                    refuse(out, &report, global)
                }
            };
            answered.map_err(|error| unheard(&error))?;
        }
        out.flush().map_err(|error| unheard(&error))?;
        saver.daily.clean_up(&saver.store, global);
    }
    if count > 0 {
        let first = first.unwrap_or_default();
        let others = if count > 1 { " and the others" } else { "" };
        let hint = format!("mend line {first}{others}, then save the refused lines again");
        Err(Refusal::Skipped { what: "lines were refused", count, total, hint }.into())
    } else {
        Ok(())
    }
}

/// The error for a closed output: the caller does not know which lines were saved.
fn unheard(error: &io::Error) -> anyhow::Error {
    anyhow::anyhow!("cannot answer: {error}; lines that were not answered may not be saved")
}

/// The answer to a line.
enum Answer {
    Saved(Box<Entry>),
    /// Not saved: the config of the project switches its trigger off.
    Off(String),
    Refused(Report),
}

/// Saves lines with one sync and returns an answer for each.
///
/// After an error no line was saved, and later lines would fail, too.
fn save(saver: &Saver<'_>, lines: &[Line]) -> Result<Vec<Answer>> {
    let mut drafts = Vec::with_capacity(lines.len());
    // `None` if the answer depends on saving the draft.
    let mut answer = |line| match draft(saver, line) {
        Ok(Ok(draft)) => {
            drafts.push(draft);
            None
        }
        Ok(Err(off)) => Some(Answer::Off(off)),
        Err(error) => Some(Answer::Refused(report(error))),
    };
    let answers: Vec<Option<Answer>> = lines.iter().map(&mut answer).collect();
    let mut outcomes = saver.store.batch(drafts)?.into_iter();
    let mut of_draft = || match outcomes.next().expect("every draft has an outcome") {
        Ok(entry) => Answer::Saved(Box::new(entry)),
        Err(error) => Answer::Refused(report(error)),
    };
    Ok(answers.into_iter().map(|answer| answer.unwrap_or_else(&mut of_draft)).collect())
}

/// The draft of a line, or why the config switches it off.
fn draft(saver: &Saver<'_>, line: &Line) -> Result<Result<Draft, String>, Error> {
    let text = line.text.as_ref().map_err(|_| Error::Limit {
        what: "length of the line".to_owned(),
        limit: line_bytes_max() as u64,
    })?;
    let mut about = saver.about.clone();
    let document = if saver.args.has_about {
        envelope::open(text, &mut about)?.as_bytes()
    } else {
        text.as_slice()
    };
    if let Some(off) = saver.switches.refusal(&about) {
        return Ok(Err(off));
    }
    let about = checked::about(about, saver.args, document)?;
    saver.draft(about, document).map(Ok)
}

fn report(error: Error) -> Report {
    Report::from(&error.into())
}

fn refuse(out: &mut dyn Write, report: &Report, global: &Global) -> io::Result<()> {
    if global.json {
        return output::json_line(out, &Reported { error: report });
    }
    // A message of several lines would look like several answers.
    writeln!(out, "error: {}", report.message.replace('\n', " "))
}

fn line_bytes_max() -> usize {
    Limits::default().document_bytes
}

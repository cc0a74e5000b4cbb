//! `waypost save --lines`: a line in, a line out, for programs that save often.
//!
//! Every line that is not blank gets exactly one answer, in order.

use std::io::{self, BufReader, Write};
use std::sync::Arc;
use std::thread;

use anyhow::{Context as _, Result};
use waypost::{Draft, Entry, Error, Limits, NewEntry};

use super::inbox::{Inbox, Line};
use super::{Saver, answer, envelope};
use crate::args::Global;
use crate::exit::Refusal;
use crate::output;
use crate::report::{Report, Reported};

/// Saves lines of standard input until it ends.
pub(super) fn run(saver: &Saver<'_>, global: &Global, out: &mut dyn Write) -> Result<()> {
    let inbox = Arc::new(Inbox::default());
    let filled = inbox.clone();
    // Not joined: it may wait for input that nobody will answer.
    thread::spawn(move || filled.fill(BufReader::new(io::stdin()), line_bytes_max()));
    let (mut count, mut total) = (0, 0);
    while let Some(lines) = inbox.take().context("cannot read standard input")? {
        for (line, outcome) in lines.iter().zip(save(saver, &lines)?) {
            total += 1;
            let answered = match outcome {
                Ok(entry) => answer(out, &entry, global),
                Err(report) => {
                    count += 1;
                    // A program has it in the answer, with nothing to tell apart.
                    if !global.json {
                        global.note(format_args!("line {}: {}", line.number, report.message));
                    }
                    refuse(out, &report, global)
                }
            };
            answered.map_err(|error| unheard(&error))?;
        }
        out.flush().map_err(|error| unheard(&error))?;
    }
    if count > 0 { Err(Refusal::Skipped { count, total }.into()) } else { Ok(()) }
}

/// Unlike a listing, saving is not done when nobody listens any more.
fn unheard(error: &io::Error) -> anyhow::Error {
    anyhow::anyhow!("cannot answer: {error}; lines that were not answered may not be saved")
}

/// Saves lines with one sync; each has an outcome of its own.
///
/// An error means that none was saved: what a store cannot take now it will not take next.
fn save(saver: &Saver<'_>, lines: &[Line]) -> Result<Vec<Result<Entry, Report>>> {
    let mut drafts = Vec::with_capacity(lines.len());
    let drafted = lines.iter().map(|line| draft(saver, line).map(|draft| drafts.push(draft)));
    let drafted: Vec<_> = drafted.collect();
    let mut outcomes = saver.store.batch(drafts)?.into_iter();
    let of_line = |drafted: waypost::Result<()>| {
        drafted.and_then(|()| outcomes.next().expect("every draft has an outcome")).map_err(report)
    };
    Ok(drafted.into_iter().map(of_line).collect())
}

fn draft(saver: &Saver<'_>, line: &Line) -> Result<Draft, Error> {
    let text = line.text.as_ref().map_err(|_| Error::Limit {
        what: "length of the line".to_owned(),
        limit: line_bytes_max() as u64,
    })?;
    let mut about = NewEntry::from(&saver.args.about);
    if saver.args.has_about {
        let document = envelope::open(text, &mut about)?;
        return saver.draft(about, document.as_bytes());
    }
    saver.draft(about, text)
}

fn report(error: Error) -> Report {
    Report::from(&error.into())
}

fn refuse(out: &mut dyn Write, report: &Report, global: &Global) -> io::Result<()> {
    if global.json {
        return output::json_line(out, &Reported { error: report });
    }
    // A message of several lines would be taken for several answers.
    writeln!(out, "error: {}", report.message.replace('\n', " "))
}

fn line_bytes_max() -> usize {
    Limits::default().document_bytes
}

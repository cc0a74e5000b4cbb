//! `waypost check`: files and checkpoints held to the rules of the systems that write them.

mod file;
mod report;

use std::cell::OnceCell;
use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, Result};
use clap::builder::NonEmptyStringValueParser;
use waypost::layouts::{Problem, check, locate, problems};
use waypost::{Layout, Source, Store};

use crate::args::{self, Global};
use crate::exit::Refusal;
use crate::{interrupt, name, named, open, output};
use file::Files;
use report::{Report, Subject};

const EXAMPLES: &str = "\
Examples:
  waypost check .                                     # all checkpoint files of this project
  waypost check .pipeline/checkpoint-PROJ-42.json     # before a worker ends
  waypost check latest 42                             # checkpoints of the store
  waypost check - --layout pipeline < checkpoint.json
  waypost check . --json | jq -r '.problems[] | \"\\(.path):\\(.line): \\(.rule)\"'";

/// Check files against the rules of their systems
///
/// Nothing is saved or changed. Files are looked at where they are, with the line of every problem;
/// directories are searched as by `waypost import`. A problem is an error if it makes the document
/// invalid, so that `waypost resume` refuses it, and a warning if the system's own programs deviate
/// from their document there. Exit code 4 if there is an error, 3 if there is nothing to check.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Files, directories or checkpoints of the store, by id, `latest`, NAME or NAME@N; - is a
    /// document from standard input
    #[arg(required = true, value_name = "PATH|ID", value_parser = NonEmptyStringValueParser::new())]
    names: Vec<String>,

    /// The system whose rules count, whatever a file looks like
    #[arg(long, value_parser = args::layout())]
    layout: Option<Layout>,
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    interrupt::listen()?;
    let mut report = Report::default();
    let store = OnceCell::new();
    let files = Files::new(args.layout, global)?;
    for name in &args.names {
        match name.as_str() {
            "-" => input(args, global, &mut report)?,
            path if Path::new(path).exists() => files.check(Path::new(path), &mut report)?,
            name => {
                let found = checkpoint(name, &store, args, global);
                let (subject, found) = found.with_context(|| format!("{name} is no file"))?;
                report.add(&subject, found);
            }
        }
    }
    interrupt::check()?;
    if report.is_empty() {
        return Err(Refusal::NoFiles { place: args.names.join(", ") }.into());
    }
    if global.json {
        output::json_line(out, &report)?;
    } else {
        report.show(out, global)?;
    }
    out.flush()?;
    report.verdict()
}

/// A document from standard input.
fn input(args: &Args, global: &Global, report: &mut Report) -> Result<()> {
    let Some(layout) = args.layout else {
        let what = "name the system of the document in standard input with --layout".to_owned();
        return Err(Refusal::Usage(what).into());
    };
    let text = named::read(Path::new("-"), global)?;
    // JSON is what every system but one writes, and told better by its own reader.
    let is_json = layout != Layout::Crunch || text.trim_ascii_start().starts_with(b"{");
    let source = if is_json { Source::from_json(&text) } else { Source::from_yaml(&text) };
    let found = match source {
        Ok(source) => {
            let mut found = check(layout, &source.document()?, "");
            locate(&mut found, source.form(), &text);
            found
        }
        Err(error) => vec![Problem::syntax(&file::said(&error))],
    };
    report.add(&Subject::of_file("-", layout), found);
    Ok(())
}

/// A checkpoint of the store.
fn checkpoint(
    name: &str,
    store: &OnceCell<Store>,
    args: &Args,
    global: &Global,
) -> Result<(Subject, Vec<Problem>)> {
    if store.get().is_none() {
        let _ = store.set(open::existing(global, "check")?);
    }
    let store = store.get().expect("it was just opened");
    let mut checkpoint = store.get(&name::one(store, name)?.id)?;
    checkpoint.entry.layout = args.layout.unwrap_or(checkpoint.entry.layout);
    let found = problems(&checkpoint, &checkpoint.document()?)?;
    let (id, layout) = (Some(checkpoint.entry.id.clone()), checkpoint.entry.layout);
    Ok((Subject { path: None, id, layout }, found))
}

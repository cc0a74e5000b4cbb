//! `waypost check`: files and checkpoints held to the rules of the systems that write them.

use std::cell::OnceCell;
use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context as _, Result};
use clap::builder::NonEmptyStringValueParser;
use waypost::transfer::check::{BrokenRule, CheckOptions, Checked};
use waypost::{Layout, Store};

use crate::args::{self, Global};
use crate::exit::Refusal;
use crate::output::{self, Column, counted, plain};
use crate::{config, document, interrupt, name, open};

const EXAMPLES: &str = "\
Examples:
  waypost check .                                     # all checkpoint files of this project
  waypost check .pipeline/checkpoint-PROJ-42.json     # before a worker ends
  waypost check latest 42                             # checkpoints of the store
  waypost check - --layout pipeline < checkpoint.json
  waypost check . --json | jq -r '.problems[] | \"\\(.path):\\(.line): \\(.rule)\"'";

/// Check files against the rules of their systems
///
/// Changes nothing. Files are checked where they are, with the line of every problem; directories
/// are searched as by `waypost import`. A problem is an error if it makes the document invalid, so
/// that `waypost resume` refuses it, and a warning if the system's own programs deviate from their
/// documentation there. Exit code 4 if there is an error, 3 if there is nothing to check.
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
    let mut checked = Checked::default();
    let store = OnceCell::new();
    let options = options(args, global)?;
    let mut goes_on = || interrupt::signal().is_none();
    for name in &args.names {
        match name.as_str() {
            "-" => input(args, global, &mut checked)?,
            path if Path::new(path).exists() => checked
                .path(Path::new(path), &options, &mut goes_on)
                .with_context(|| format!("cannot read {path}"))?,
            name => checkpoint(name, &store, args, global, &mut checked)
                .with_context(|| format!("{name} is no file"))?,
        }
    }
    interrupt::check()?;
    if checked.is_empty() {
        return Err(Refusal::NoFiles { place: args.names.join(", ") }.into());
    }
    if global.json {
        output::json_line(out, &checked)?;
    } else {
        show(&checked, out, global)?;
    }
    out.flush()?;
    match checked.invalid {
        0 => Ok(()),
        count => Err(Refusal::Wrong { count, total: checked.checked }.into()),
    }
}

fn options(args: &Args, global: &Global) -> Result<CheckOptions> {
    let store = open::path(global)?;
    let location = config::location(&store)?;
    // Editors and CI open paths from the current directory.
    let shown_from = env::current_dir().and_then(fs::canonicalize).ok();
    Ok(CheckOptions { layout: args.layout, store, location, shown_from })
}

/// Checks a document from standard input.
fn input(args: &Args, global: &Global, checked: &mut Checked) -> Result<()> {
    let Some(layout) = args.layout else {
        let what = "name the system of the document in standard input with --layout".to_owned();
        return Err(Refusal::Usage(what).into());
    };
    let text = document::read(Path::new("-"), global)?;
    Ok(checked.text("-", layout, &text)?)
}

/// Checks a checkpoint of the store.
fn checkpoint(
    name: &str,
    store: &OnceCell<Store>,
    args: &Args,
    global: &Global,
    checked: &mut Checked,
) -> Result<()> {
    if store.get().is_none() {
        let _ = store.set(open::existing(global, "check")?);
    }
    let store = store.get().expect("it was just opened");
    let checkpoint = store.get(&name::one(store, name)?.id)?;
    Ok(checked.checkpoint(checkpoint, args.layout)?)
}

fn show(checked: &Checked, out: &mut dyn Write, global: &Global) -> io::Result<()> {
    let rows = || checked.problems.iter();
    if !checked.problems.is_empty() {
        let columns = [
            Column::text("PLACE", rows(), |it| Some(plain(&place(it)))).whole(),
            Column::text("LEVEL", rows(), |it| Some(it.level.as_str().to_owned())).whole(),
            Column::text("RULE", rows(), |it| Some(it.name())).whole(),
            Column::text("PROBLEM", rows(), |it| Some(plain(&it.to_string()))).whole(),
        ];
        output::table(out, &columns, global)?;
    }
    let errors = counted(checked.errors, "error", "errors");
    let warnings = counted(checked.warnings, "warning", "warnings");
    let mut text = format!("checked {}: {errors}, {warnings}", checked.checked);
    if checked.other > 0 {
        text = format!("{text}; {} of no known layout", checked.other);
    }
    if checked.has_more {
        text = format!("{text}; only the first {} are listed", Checked::LISTED_MAX);
    }
    global.note(text);
    Ok(())
}

/// `PATH:LINE`, which editors open.
fn place(problem: &BrokenRule) -> String {
    let id = problem.id.as_ref().map(ToString::to_string);
    let place = problem.path.clone().or(id).unwrap_or_default();
    problem.line.map_or_else(|| place.clone(), |line| format!("{place}:{line}"))
}

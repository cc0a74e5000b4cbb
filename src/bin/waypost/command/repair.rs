//! `waypost repair`: saves what can be read of a damaged store.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use serde::Serialize;
use waypost::Store;
use waypost::care::{Harm, Repair, Repaired, Verification, Verify};

use crate::args::Global;
use crate::exit::Refusal;
use crate::interrupt;
use crate::keys;
use crate::open;
use crate::output::{self, Fields, counted, grouped, plain};
use crate::progress::{Progress, Watcher};

const EXAMPLES: &str = "\
Examples:
  waypost repair --dry-run           # what would be saved, and what not
  waypost repair
  waypost repair --into saved.redb   # leave the store where it is";

/// Save what can be read of a damaged store into a new one
///
/// Everything that can be read is kept: ids, times, tags, captured files, what can be restored, the
/// settings and the log. Where the pages that lead to checkpoints are lost, all others are looked
/// through for what proves itself; what may have been deleted or changed since is `unsure` then. A
/// document whose entry is lost becomes an archived checkpoint in the series `salvaged`. The new
/// store takes the place of the old one in one step at the end; the old one stays beside it as
/// `NAME.damaged-TIME`, with all its bytes. A store with nothing wrong is left alone. One that is
/// encrypted takes its key. Exits with 7 if something was lost or is unsure, and with 5 if nothing
/// can be saved: then nothing was changed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Write the new store to this file, and move nothing
    #[arg(long, value_name = "PATH")]
    into: Option<PathBuf>,

    /// Only tell what would be saved
    #[arg(long)]
    dry_run: bool,
}

#[derive(Serialize)]
struct Shown<'a> {
    needed: bool,
    dry_run: bool,
    #[serde(flatten)]
    repaired: &'a Repaired,
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    let path = open::there(global)?;
    if let Some(into) = args.into.as_ref().filter(|into| into.exists()) {
        return Err(Refusal::Taken { path: into.clone() }.into());
    }
    interrupt::listen()?;
    let mut watcher = Watcher::new(Progress::new("checking pages", global));
    // A store that cannot be opened needs its keys, too.
    let keys = keys::given(global, &path)?;
    let how = Verify { wait: global.wait, keys: keys.clone() };
    let verified = Store::verify_with(&path, &how, &mut |step| watcher.step(step));
    let needed = verified.as_ref().map_or(true, Verification::needs_repair);
    let beside = verified.as_ref().map_or(0, count_beside);
    // Without its key, an encrypted document cannot be checked.
    let lacks_key = verified.as_ref().is_ok_and(|it| it.sealed > 0);
    if let Err(error @ (waypost::Error::Locked { .. } | waypost::Error::TooNew { .. })) = verified {
        return Err(error.into());
    }
    let mut repaired = Repaired::default();
    if needed || lacks_key || args.into.is_some() {
        let how = Repair {
            into: args.into.clone(),
            dry_run: args.dry_run,
            wait: global.wait.max(Duration::from_secs(1)),
            keys,
            ..Repair::default()
        };
        repaired = Store::repair(&path, &how, &mut |step| watcher.step(step))?;
    } else if let Ok(verified) = verified {
        // A store that is left alone keeps its path.
        repaired.path = path;
        repaired.is_whole = true;
        repaired.checkpoints = verified.checkpoints + verified.waiting;
        repaired.deleted = verified.deleted;
        repaired.artifacts = verified.artifacts;
    }
    let stopped = watcher.stopped();
    if global.json {
        let dry_run = args.dry_run;
        output::json_line(out, &Shown { needed, dry_run, repaired: &repaired })?;
    } else {
        output::fields(out, &fields(&repaired, needed, args), global)?;
        write_losses(&repaired, out)?;
    }
    out.flush()?;
    if !repaired.unreadable.is_empty() {
        global.warn("the disk is failing: keep the store on another one from now on");
    }
    if let Some((signal, _)) = stopped {
        return Err(signal.error("the store is as it was".to_owned()));
    }
    if beside > 0 {
        let what = counted(beside, "save lies", "saves lie");
        global.warn(format_args!(
            "{what} beside the store and cannot be taken in: `waypost verify` says what to do"
        ));
    }
    ended(&repaired)
}

/// Number of saves beside the store that no repair can bring back.
fn count_beside(verified: &Verification) -> u64 {
    verified.findings.iter().filter(|finding| finding.harm == Harm::Aside).count() as u64
}

fn fields(repaired: &Repaired, needed: bool, args: &Args) -> Fields {
    let mut fields = Fields::default();
    fields.text("store", Some(repaired.path.display()));
    if !needed {
        fields.text("damage", Some("none; the store is left alone"));
    }
    if repaired.into.is_none() && !args.dry_run {
        return fields;
    }
    let saved = if args.dry_run { "would save" } else { "saved" };
    fields.text(saved, Some(grouped(repaired.checkpoints)));
    let salvaged = Some(grouped(repaired.salvaged)).filter(|_| repaired.salvaged > 0);
    fields.text("salvaged", salvaged.map(|count| format!("{count} without their entries")));
    fields.text("deleted", Some(grouped(repaired.deleted)).filter(|_| repaired.deleted > 0));
    fields.text("artifacts", Some(grouped(repaired.artifacts)).filter(|_| repaired.artifacts > 0));
    fields.text("lost", Some(grouped(repaired.lost.len() as u64)));
    let unsure = repaired.unsure.len() as u64;
    fields.text("unsure", Some(grouped(unsure)).filter(|_| unsure > 0));
    fields.text("into", repaired.into.as_ref().map(|path| path.display()));
    fields.text("old store", repaired.aside.as_ref().map(|path| path.display()));
    fields
}

/// Writes a line for each part that is unreadable, lost or unsure.
fn write_losses(repaired: &Repaired, out: &mut dyn Write) -> Result<()> {
    for unreadable in &repaired.unreadable {
        let text = format!("{unreadable}: {}", unreadable.reason);
        writeln!(out, "unreadable  {}", plain(&text))?;
    }
    for lost in &repaired.lost {
        writeln!(out, "lost  {}", plain(&format!("{}: {}", lost.place, lost.reason)))?;
    }
    for unsure in &repaired.unsure {
        writeln!(out, "unsure  {}", plain(&format!("{}: {}", unsure.place, unsure.reason)))?;
    }
    Ok(())
}

fn ended(repaired: &Repaired) -> Result<()> {
    let [lost, unsure] = [&repaired.lost, &repaired.unsure].map(|it| it.len() as u64);
    let saved = repaired.checkpoints + repaired.deleted;
    let gone = repaired.lost_checkpoints;
    let Some(first) = repaired.lost.first().or(repaired.unsure.first()) else { return Ok(()) };
    let first = format!("{}: {}", first.place, first.reason);
    let partly = in_part(repaired);
    let (what, count, total) = match (gone, lost, partly) {
        (0, 0, _) => ("may not be as they were last", unsure, saved.max(unsure)),
        // Only settings, the log or an index are damaged.
        (0, parts, 0) => return Err(Refusal::Parts { saved, parts, first }.into()),
        (0, _, _) => ("checkpoints were saved only in part", partly, saved.max(partly)),
        _ => ("checkpoints could not be saved", gone, saved + gone),
    };
    let hint = format!("the first is {first}");
    Err(Refusal::Skipped { what, count, total, hint }.into())
}

/// Number of checkpoints that lost their entry or captured files.
fn in_part(repaired: &Repaired) -> u64 {
    let named: BTreeSet<_> = repaired.lost.iter().filter_map(|it| it.checkpoint.as_ref()).collect();
    (named.len() as u64).max(repaired.salvaged)
}

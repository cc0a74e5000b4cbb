//! `waypost backup`: a consistent copy of the store while others work.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::Serialize;
use waypost::care::{Backup, Copied};

use crate::args::Global;
use crate::exit::Refusal;
use crate::interrupt;
use crate::open;
use crate::output::{self, Fields, grouped, size};
use crate::progress::{Progress, Watcher};

const EXAMPLES: &str = "\
Examples:
  waypost backup copy.redb
  waypost backup copy.redb --overwrite
  waypost list --store copy.redb";

/// Copy the store to another file while others work
///
/// The copy is of one moment, and complete: all checkpoints, captured files, what can be restored,
/// the settings and the log. Every page of it has been checked before it gets its name. Other
/// processes can change the store except while the parts that changed are copied again. A plain
/// copy of the file is not safe during a save.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Where the copy goes
    #[arg(value_name = "PATH")]
    path: PathBuf,

    /// Replace a store that is there; nothing else is replaced
    #[arg(long)]
    overwrite: bool,
}

#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    copied: &'a Copied,
    held_seconds: f64,
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    let Args { path, overwrite } = args;
    if path.as_os_str() == "-" {
        return Err(Refusal::NoStream.into());
    }
    check_place(path)?;
    if path.exists() && !overwrite {
        return Err(Refusal::Exists { path: path.clone() }.into());
    }
    let store = open::existing(global, "backup")?;
    interrupt::listen()?;
    let mut watcher = Watcher::new(Progress::new("copying", global));
    let how = Backup { overwrite: *overwrite };
    let copied = store.backup_with(path, how, &mut |step| watcher.step(step))?;
    if let Some((signal, _)) = watcher.stopped() {
        return Err(signal.error("no copy was made".to_owned()));
    }
    if copied.left_out > 0 {
        global.warn(format_args!(
            "the copy lacks {} that wait in the spool: copying them needs the key of the store",
            grouped(copied.left_out)
        ));
    }
    let held_seconds = copied.held.as_secs_f64();
    if global.json {
        output::json_line(out, &Shown { copied: &copied, held_seconds })?;
    } else {
        let mut fields = Fields::default();
        fields.text("copy", Some(copied.path.display()));
        fields.text("checkpoints", Some(grouped(copied.checkpoints)));
        fields.text("left out", Some(grouped(copied.left_out)).filter(|_| copied.left_out > 0));
        fields.text("size", Some(size(copied.bytes)));
        fields.text("others waited", Some(format!("{held_seconds:.3} s")));
        output::fields(out, &fields, global)?;
    }
    Ok(())
}

/// Refuses a path where no file can be created; the error has the path as it was given.
fn check_place(path: &Path) -> Result<()> {
    if path.is_dir() {
        let error = io::Error::from(io::ErrorKind::IsADirectory);
        return Err(error).with_context(|| format!("cannot write {}", path.display()));
    }
    let directory = path.parent().filter(|it| !it.as_os_str().is_empty());
    let Some(directory) = directory else { return Ok(()) };
    let found = fs::metadata(directory);
    found.map(drop).with_context(|| format!("cannot write into {}", directory.display()))
}

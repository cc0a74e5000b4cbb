//! `waypost rekey`: encrypts everything with another key, or decrypts it.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::Serialize;
use waypost::care::{KeyId, Rekeyed};

use crate::args::Global;
use crate::exit::Refusal;
use crate::output::{self, Fields};
use crate::progress::{Progress, Watcher};
use crate::{interrupt, keys, open};

const EXAMPLES: &str = "\
Examples:
  waypost rekey --new-key-file new.key      # encrypts what is not encrypted yet
  waypost rekey --new-key-file newer.key --key-file new.key
  waypost rekey --plain --key-file newer.key";

/// Encrypt the store, change its key, or decrypt it
///
/// Give the key that the store has with --key-file, or in `WAYPOST_KEY_FILE` or `WAYPOST_KEY`, and
/// the new one with --new-key-file. If it is interrupted, the store has some of both; run it again
/// with both keys to go on.
///
/// From one key to another, others can go on meanwhile: what they save takes the new key, so give
/// them both before, as two --key-file. When a plain store is encrypted, those without the key
/// cannot save from the first moment on, and must not have it before: start them again with it.
/// When a store is decrypted, those with the key can save until all is done, and then must not have
/// it any more.
///
/// Free pages of the file still hold what was there before, until `waypost compact` gives them
/// back to the file system, which may keep them; so does a backup that is made before that. Other
/// copies and backups are as they were, and so is what lies beside the store from before: files
/// that were set aside, journals of other stores, and what a repair kept. They are named at the
/// end.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[group(id = "to", required = true, multiple = false)]
pub(super) struct Args {
    /// The key to encrypt everything with from now on
    #[arg(long, value_name = "FILE")]
    new_key_file: Option<PathBuf>,

    /// Decrypt everything
    #[arg(long)]
    plain: bool,
}

/// Files beside a store that a rekey leaves as they are: what was set aside, what a repair kept.
fn left_beside(store: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (store.parent(), store.file_name()) else {
        return Vec::new();
    };
    let names_in = |folder: &Path| {
        let files = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        files.map(|file| file.file_name()).collect::<Vec<_>>()
    };
    let name = name.to_string_lossy();
    let starts = [".damaged-", ".journal."].map(|it| format!("{name}{it}"));
    let is_old = |it: &OsString| starts.iter().any(|start| it.to_string_lossy().starts_with(start));
    let mut left: Vec<PathBuf> =
        names_in(folder).into_iter().filter(is_old).map(|it| folder.join(it)).collect();
    let aside = folder.join(format!("{name}.spool")).join("aside");
    if !names_in(&aside).is_empty() {
        left.push(aside);
    }
    left.sort();
    left
}

#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    rekeyed: Rekeyed,
    /// The key that the store has now.
    key: Option<KeyId>,
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    let new = args.new_key_file.as_deref().map(|path| keys::of_file(path, global)).transpose()?;
    let to = new.as_ref().map(waypost::SecretKey::id);
    let store = open::existing_with(global, "rekey", new.into_iter().collect())?;
    interrupt::listen()?;
    let mut watcher = Watcher::new(Progress::new("rekeying", global));
    let rekeyed = store.rekey_with(to, &mut |step| watcher.step(step))?;
    let stopped = watcher.stopped();
    if global.json {
        output::json_line(out, &Shown { rekeyed, key: to })?;
    } else {
        output::fields(out, &Fields::of_rekeyed(rekeyed, to), global)?;
    }
    out.flush()?;
    if let Some((signal, _)) = stopped {
        return Err(signal.error("run it again with both keys to go on".to_owned()));
    }
    for path in left_beside(store.path()) {
        global.warn(format_args!(
            "{} was not changed: it is not encrypted, or has an old key",
            path.display()
        ));
    }
    if rekeyed.damaged > 0 {
        let count = rekeyed.damaged;
        global.warn(format_args!(
            "{count} are damaged and were not changed: they do not have the new key"
        ));
    }
    if rekeyed.sealed > 0 {
        let count = rekeyed.sealed;
        let total = count + rekeyed.documents + rekeyed.contents;
        let what = "need a key that was not given and were not changed";
        let hint = "give every key of the store, each with --key-file, and run it again".to_owned();
        return Err(Refusal::Skipped { what, count, total, hint }.into());
    }
    Ok(())
}

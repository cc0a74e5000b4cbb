//! `waypost rekey`: everything under another key, or under none.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use serde::Serialize;
use waypost::{KeyId, Rekeyed};

use crate::args::Global;
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
/// the new one with --new-key-file. Others can go on meanwhile: what they save takes the new key,
/// so give them both, as two --key-file. If it is interrupted, the store has some of both; run it
/// again with both keys to go on.
///
/// Free pages of the file still hold what was there before, until `waypost compact` gives them
/// back; copies and backups are as they were.
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

#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    rekeyed: Rekeyed,
    /// What the store has now.
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
    if rekeyed.damaged > 0 {
        let count = rekeyed.damaged;
        global.warn(format_args!("{count} are damaged and are as they were: not under the key"));
    }
    Ok(())
}

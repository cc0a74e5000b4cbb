//! `waypost verify`: reads everything, and says exactly what is damaged.

use std::io::Write;
use std::time::Instant;

use anyhow::Result;
use serde::Serialize;
use waypost::Store;
use waypost::care::{Verification, Verify};

use crate::args::Global;
use crate::exit::Refusal;
use crate::interrupt;
use crate::keys;
use crate::open;
use crate::output::{self, Fields, grouped, plain, size};
use crate::progress::{Progress, Watcher};

const EXAMPLES: &str = "\
Examples:
  waypost verify
  waypost verify --store old.redb
  waypost verify --json | jq '.findings[] | select(.harm == \"reading\").checkpoint'";

/// Read the whole store, and say exactly what is damaged
///
/// Checks every page, entry, document and captured file by its checksum, and follows every row both
/// ways. Changes nothing, and lets others work meanwhile. Each finding says whom it hurts:
/// `reading` (a checkpoint or file cannot be read), `listing` (a checkpoint is whole, but not found
/// everywhere, or cannot be removed), `aside` (a save was acknowledged, lies beside the store, and
/// cannot be taken in) or `upkeep` (no checkpoint). Exits with 5 if there is any; `waypost repair`
/// then saves what can be read. An unfinished rekey is no damage: it is shown as `rekey`, and
/// `waypost rekey` with both keys finishes it. Of what is encrypted with a key that was not given,
/// only what is stored is checked: `not checked` counts it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {}

#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    verified: &'a Verification,
    is_complete: bool,
    is_damaged: bool,
    seconds: f64,
}

pub(super) fn run(_: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    let path = open::there(global)?;
    interrupt::listen()?;
    let begun = Instant::now();
    let mut watcher = Watcher::new(Progress::new("checking pages", global));
    let how = Verify { wait: global.wait, keys: keys::given_or_told(global, &path)? };
    let verified = Store::verify_with(path, &how, &mut |step| watcher.step(step))?;
    let stopped = watcher.stopped();
    let seconds = begun.elapsed().as_secs_f64();
    if global.json {
        let (is_complete, is_damaged) = (verified.is_complete(), verified.is_damaged());
        output::json_line(out, &Shown { verified: &verified, is_complete, is_damaged, seconds })?;
    } else {
        output::fields(out, &fields(&verified, seconds), global)?;
        for finding in &verified.findings {
            let text = format!("{}: {}", finding.place, finding.reason);
            writeln!(out, "{:7}  {}", finding.harm, plain(&text))?;
        }
    }
    out.flush()?;
    if !verified.unreadable.is_empty() {
        global.warn(
            "the disk is failing: waypost repair --into FILE saves what can be read on another one",
        );
    }
    if let Some((signal, step)) = stopped {
        return Err(signal.error(format!("while {}; nothing was changed", step.stage)));
    }
    let count = verified.findings.len() as u64 + verified.more;
    match count {
        0 => Ok(()),
        _ if verified.needs_repair() => Err(Refusal::Unsound { count }.into()),
        _ => Err(Refusal::SetAside { count }.into()),
    }
}

fn fields(verified: &Verification, seconds: f64) -> Fields {
    let mut fields = Fields::default();
    fields.text("store", Some(verified.path.display()));
    fields.text("pages", Some(grouped(verified.pages)));
    fields.text("checkpoints", Some(grouped(verified.checkpoints)));
    fields.text("deleted", Some(grouped(verified.deleted)).filter(|_| verified.deleted > 0));
    let bytes = size(verified.document_bytes);
    fields.text("documents", Some(format!("{}, {bytes}", grouped(verified.documents))));
    if verified.artifacts > 0 {
        let (files, bytes) = (grouped(verified.artifacts), size(verified.content_bytes));
        let contents = grouped(verified.contents);
        fields.text("artifacts", Some(format!("{files}, {contents} contents, {bytes}")));
    }
    let sealed = Some(grouped(verified.sealed)).filter(|_| verified.sealed > 0);
    fields.text("not checked", sealed.map(|count| format!("{count}, encrypted: see --key-file")));
    let unlike = Some(grouped(verified.unlike)).filter(|_| verified.unlike > 0);
    fields.text("other key", unlike.map(|count| format!("{count}: see waypost rekey")));
    let rekey = "unfinished: some data is not under the new key; run waypost rekey again";
    fields.text("rekey", Some(rekey).filter(|_| verified.is_rekeying));
    fields.text("rows", Some(grouped(verified.rows)));
    fields.text("journal", Some(verified.waiting).filter(|waiting| *waiting > 0));
    fields.text("time", Some(format!("{seconds:.1} s")));
    let findings = match verified.findings.len() as u64 + verified.more {
        0 if verified.is_whole => "none".to_owned(),
        0 => "none so far".to_owned(),
        count => grouped(count),
    };
    fields.text("findings", Some(findings));
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_read_to_its_end_is_not_said_to_be_without_findings() {
        let said = |is_whole| {
            let mut verified = Verification::default();
            verified.is_whole = is_whole;
            let mut text = Vec::new();
            fields(&verified, 0.0).plainly(&mut text).unwrap();
            String::from_utf8(text).unwrap()
        };
        assert!(said(true).ends_with("findings     none\n"));
        assert!(said(false).ends_with("findings     none so far\n"));
    }
}

//! The store itself: whether it opens, what is in it, and which process has it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Examination;
use super::report::Checkup;
use super::system::stopped_advice;
use crate::checkpoint::Timestamp;
use crate::error::{Damage, Error, Result};
use crate::store::opening::{self, kind};
use crate::store::{Contents, Holder, Inspection, LockText, Spooled, StoreState};
use crate::text::{age, ago, counted, grouped, linked_advice, move_away, quoted};
use crate::transfer::size::size;

const NAME: &str = "store";
const LOCK: &str = "lock";
const LOCK_FILE: &str = "lock-file";
const JOURNAL: &str = "journal";
const FAILING: &str = "the disk is failing: waypost verify names what is damaged, waypost \
                       repair --into FILE saves the rest on another disk";

/// Whether the error is damage, not just a file that cannot be opened.
pub(super) fn is_damaged(found: Option<&Result<Inspection>>) -> bool {
    match found {
        Some(Err(Error::Corrupt { .. })) => true,
        Some(Ok(Inspection { unreadable, .. })) if !unreadable.is_empty() => true,
        Some(Ok(Inspection { state: StoreState::Closed(contents), .. })) => contents.damaged > 0,
        Some(_) | None => false,
    }
}

/// The store at `path`.
pub(super) fn checks(
    path: &Path,
    how: &Examination,
    found: Option<&Result<Inspection>>,
) -> Vec<Checkup> {
    let place = match how.why.as_str() {
        "" => path.display().to_string(),
        why => format!("{}, {why}", path.display()),
    };
    let mut checks = state(path, &place, how, found);
    checks.extend(obstacles(path));
    checks
}

fn state(
    path: &Path,
    place: &str,
    how: &Examination,
    found: Option<&Result<Inspection>>,
) -> Vec<Checkup> {
    match found {
        None => vec![absent(path, place)],
        Some(Err(error)) => vec![unreadable(place, error)],
        Some(Ok(found)) => {
            let journal = journal(found);
            let lock = found.holder.as_ref().map_or_else(
                || Checkup::ok(LOCK, "no other process has the store"),
                |holder| held(holder, &found.state, how.now),
            );
            let rekey = rekey(found);
            let spool = spool(found, path);
            let all = [opened(place, found, how.now), lock].into_iter();
            let all = all.chain(lock_text(found)).chain(unread(found)).chain(rekey);
            all.chain(journal).chain(spool).collect()
        }
    }
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Finds what is not a regular file at the names of the lock file and the journal, and so keeps
/// commands from using the store.
fn obstacles(path: &Path) -> Vec<Checkup> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let obstacle = |(name, suffix)| {
        let path = beside(&path, suffix);
        let found = fs::symlink_metadata(&path).ok()?;
        let what = match opening::names(&found) {
            _ if !found.is_file() => format!("{}, not a regular file", kind(found.file_type())),
            // A journal with several names is moved aside by the next process that writes one.
            names if names > 1 && name == LOCK_FILE => format!("a file with {names} names"),
            _ => return None,
        };
        // Without a lock the store can still be read.
        let verb = if name == LOCK_FILE { "change" } else { "use" };
        let finding = format!("{} is {what}: no command can {verb} the store", path.display());
        Some(Checkup::bad(name, finding).advise(move_away(&path)))
    };
    [(LOCK_FILE, ".lock"), (JOURNAL, ".journal")].into_iter().filter_map(obstacle).collect()
}

fn absent(path: &Path, place: &str) -> Checkup {
    let is_spooled = fs::read_dir(beside(path, ".spool")).is_ok_and(|mut it| it.next().is_some());
    if is_spooled || beside(path, ".journal").is_file() {
        return Checkup::warn(NAME, format!("{place}: gone, and saves of it may lie beside it"))
            .advise("put the store back before anything else; another one does not take them in");
    }
    Checkup::ok(NAME, format!("{place}: none yet")).advise("waypost init")
}

fn unreadable(place: &str, error: &Error) -> Checkup {
    let advice = match error {
        Error::Linked { path, .. } => {
            let finding = format!("{place}: not used, {error}");
            return Checkup::bad(NAME, finding).advise(linked_advice(path));
        }
        Error::Corrupt { damage: Damage::Disk, .. } => FAILING,
        Error::Corrupt { .. } => "waypost repair saves what can be read, and keeps the old file",
        Error::NotAStore { .. } => {
            "name the file of a store with --store; if it was one, waypost repair may save it"
        }
        Error::TooNew { .. } => "a newer waypost reads it",
        Error::TooOld { .. } => "an older waypost reads it",
        Error::Io { source, .. } if source.kind() != io::ErrorKind::PermissionDenied => {
            "look at the disk and the path; waypost repair --into FILE saves what can be read"
        }
        _ => "ask its owner to let you read it",
    };
    let reason = match error {
        // The path stands before it.
        Error::NotAStore { reason, .. } => format!("not a waypost store: {reason}"),
        Error::Io { source, .. } => format!("cannot be read: {source}"),
        error => error.to_string(),
    };
    Checkup::bad(NAME, format!("{place}: {reason}")).advise(advice)
}

fn opened(place: &str, found: &Inspection, now: Timestamp) -> Checkup {
    let bytes = size(found.file_bytes);
    match &found.state {
        StoreState::Closed(contents) => contained(&format!("{place}: {bytes}"), contents, now),
        StoreState::Unclosed => {
            let finding = format!("{place}: {bytes}, not closed, as after a crash");
            Checkup::warn(NAME, finding)
                .advise("the next command that changes it repairs it; waypost verify checks it")
        }
        // The lock says so.
        _ => Checkup::ok(NAME, format!("{place}: {bytes}")),
    }
}

fn contained(place: &str, contents: &Contents, now: Timestamp) -> Checkup {
    let Contents { format, checkpoints, damaged, damage, newest, deleted, deleted_bytes, .. } =
        contents;
    let age_of = |newest: &Timestamp| {
        let (passed, left) = (now.saturating_since(*newest), newest.saturating_since(now));
        format!(", the newest {}", ago(passed, left, age))
    };
    let newest = newest.as_ref().map(age_of).unwrap_or_default();
    let finding =
        format!("{place}, format {format}, checkpoints: {}{newest}", grouped(*checkpoints));
    if let Some(damage) = damage {
        let finding = format!("{finding}; {damaged} damaged, the first: {damage}");
        return Checkup::bad(NAME, finding)
            .advise("waypost verify lists all damage, waypost repair saves the rest");
    }
    if *deleted > 0 {
        let finding = format!("{finding}; {} were deleted", grouped(*deleted));
        let bytes = size(*deleted_bytes);
        return Checkup::ok(NAME, finding)
            .advise(format!("waypost compact frees {bytes} of them; then none can be restored"));
    }
    Checkup::ok(NAME, finding).advise("documents are not read here: waypost verify reads them all")
}

/// A lock file whose content cannot be used.
fn lock_text(found: &Inspection) -> Option<Checkup> {
    let path = format!("{}.lock", found.path.display());
    match found.lock_text {
        LockText::Damaged => {
            let finding = format!("the text in {path} is damaged, as after a power cut");
            Some(
                Checkup::ok(LOCK_FILE, finding)
                    .advise("the next command that changes the store rewrites it"),
            )
        }
        LockText::Foreign => {
            let finding = format!(
                "{path} holds content that waypost did not write; it works as a lock, but saves \
                 cannot be spooled while another process has the store"
            );
            let path = quoted(&path);
            let advice = format!("when no process uses the store: mv {path} {path}.old");
            Some(Checkup::warn(LOCK_FILE, finding).advise(advice))
        }
        _ => None,
    }
}

/// Bytes that the disk cannot read: damage, whatever is stored there.
fn unread(found: &Inspection) -> Option<Checkup> {
    let first = found.unreadable.first()?;
    let more = match found.unreadable.len() as u64 - 1 {
        0 => String::new(),
        more => format!(", and {}", counted(more, "other place", "other places")),
    };
    let finding = format!("the disk cannot read {first}{more}: {}", first.reason);
    Some(Checkup::bad("sectors", finding).advise(FAILING))
}

/// An unfinished rekey.
fn rekey(found: &Inspection) -> Option<Checkup> {
    let StoreState::Closed(contents) = &found.state else { return None };
    contents.is_rekeying.then(|| {
        Checkup::warn("key", "rekey is unfinished: it has changed only a part of the store")
            .advise("run waypost rekey again, with every key of the store")
    })
}

/// The journal beside the store.
fn journal(found: &Inspection) -> Option<Checkup> {
    let bytes = size(found.journal_bytes?);
    Some(match found.state {
        StoreState::Held => {
            Checkup::ok(JOURNAL, format!("{bytes}, of the process that has the store"))
        }
        _ => Checkup::warn(JOURNAL, format!("{bytes} of saves left beside the store by a crash"))
            .advise("do not remove it: the next command that changes the store takes them in"),
    })
}

/// The spool beside the store.
fn spool(found: &Inspection, path: &Path) -> Option<Checkup> {
    const NAME: &str = "spool";
    let Spooled { checkpoints, bytes, damaged, set_aside, strange, obstacle, .. } = found.spool;
    let folder = format!("{}.spool", path.display());
    if let Some(kind) = obstacle {
        let finding = format!(
            "{folder} is {kind}, and no directory: saves wait while another process has the \
             store, instead of being spooled"
        );
        return Some(Checkup::warn(NAME, finding).advise(move_away(Path::new(&folder))));
    }
    let (mut findings, mut advice) = (Vec::new(), Vec::new());
    if checkpoints > 0 {
        let saves = counted(checkpoints, "save waits", "saves wait");
        findings.push(format!("{saves} beside the store, {}", size(bytes)));
        if !matches!(found.state, StoreState::Held) {
            let next = "do not remove them: the next command that changes the store takes them in";
            advice.push(next.to_owned());
        }
    }
    if damaged > 0 {
        findings.push(counted(damaged, "file is damaged", "files are damaged"));
    }
    if set_aside > 0 {
        let aside = counted(set_aside, "file was set aside", "files were set aside");
        findings.push(format!("{aside} as damaged or of another store"));
    }
    if damaged + set_aside > 0 {
        advice.push("waypost verify names the files that cannot be taken in".to_owned());
    }
    if strange > 0 {
        let strange = counted(strange, "thing is", "things are");
        findings.push(format!("{strange} not its own"));
        advice.push(format!("look at {}", quoted(&folder)));
    }
    if findings.is_empty() {
        return None;
    }
    let is_bad = damaged + set_aside + strange > 0;
    let check = if is_bad { Checkup::warn } else { Checkup::ok }(NAME, findings.join("; "));
    Some(if advice.is_empty() { check } else { check.advise(advice.join("; ")) })
}

fn held(holder: &Holder, state: &StoreState, now: Timestamp) -> Checkup {
    let Holder { name, since, .. } = holder;
    let since = since.map(|since| now.saturating_since(since));
    let since = since.map(|since| format!(" for {}", age(since))).unwrap_or_default();
    match state {
        StoreState::Held => {
            let advice = holder.process().and_then(stopped_advice).unwrap_or_else(|| {
                "others wait for it, see --wait; end that process if it hangs".to_owned()
            });
            Checkup::warn(LOCK, format!("{name} has the store{since}, and keeps it")).advise(advice)
        }
        _ => Checkup::ok(LOCK, format!("{name} had the store{since}, and let go when asked")),
    }
}

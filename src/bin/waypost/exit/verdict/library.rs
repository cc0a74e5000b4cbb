//! The verdict on an error of the library.

use std::io::ErrorKind;

use waypost::Error;
use waypost::doctor::stopped_advice;
use waypost::error::{Damage, Subject};
use waypost::text::{linked_advice, move_away};

use super::system::of_system;
use super::{Verdict, not_found, refused};
use crate::exit::Exit;

pub(super) fn of_library(error: &Error) -> Verdict {
    match error {
        Error::NotFound { .. } => not_found("`waypost list` shows what there is"),
        Error::Ambiguous { .. } => {
            Verdict::new(Exit::Usage, "ambiguous").hint("give more characters of the id")
        }
        Error::Exists { .. } => {
            Verdict::new(Exit::Refused, "exists").hint("leave the id out to get a new one")
        }
        Error::Outdated { .. } => {
            Verdict::new(Exit::Refused, "outdated").hint("others work with the store; run it again")
        }
        Error::Invalid { what, .. } => of_invalid(what),
        Error::Limit { .. } => Verdict::new(Exit::Refused, "limit")
            .hint("save less at once: leave out what is not needed to go on"),
        Error::TooNew { .. } => Verdict::new(Exit::Failed, "too_new")
            .hint("upgrade waypost to read it; nothing was changed"),
        Error::TooOld { .. } => Verdict::new(Exit::Failed, "too_old")
            .hint("use an older waypost to read it; nothing was changed"),
        Error::NotAStore { .. } => Verdict::new(Exit::Failed, "not_a_store")
            .hint("name a store with --store; if this file was one, `waypost repair` may save it"),
        Error::Linked { path, .. } => {
            Verdict::new(Exit::Refused, "linked").hint(linked_advice(path))
        }
        Error::Corrupt { damage: Damage::Everything, .. } => Verdict::new(Exit::Damaged, "corrupt")
            .hint("restore a backup; the file was not changed"),
        Error::Corrupt { damage: Damage::Disk, .. } => Verdict::new(Exit::Damaged, "corrupt").hint(
            "the disk is failing: `waypost verify` lists all damage, `waypost repair --into FILE` \
             saves the rest on another disk",
        ),
        Error::Corrupt { .. } => Verdict::new(Exit::Damaged, "corrupt")
            .hint("`waypost verify` lists all damage, `waypost repair` saves the rest"),
        Error::Key { .. } => {
            refused("key", "give its key with --key-file; `waypost list` needs none")
        }
        Error::Locked { .. } => of_locked(error.holding_process()),
        // The command reads the files that a user names, not the library.
        Error::Io { source, .. } if source.kind() == ErrorKind::NotFound => {
            Verdict::new(Exit::Failed, "io").hint("make the directory of the store first")
        }
        // A link, a directory or a FIFO in place of a file of the store.
        Error::Io { path, source } if source.kind() == ErrorKind::InvalidInput => {
            let hint = format!("nothing was changed; {}", move_away(path));
            Verdict::new(Exit::Failed, "io").hint(hint)
        }
        Error::Io { source, .. }
            if matches!(source.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) =>
        {
            Verdict::new(Exit::Failed, "io").hint(
                "make room on that disk: `waypost prune --policy last-50 --now --yes`, then \
                 `waypost compact`, or remove other files; reading needs no room",
            )
        }
        Error::Io { source, .. } => of_system(source),
        // The library may add errors.
        _ => Verdict::new(Exit::Failed, "failed"),
    }
}

/// The verdict on a store that another process holds, if its id is known.
fn of_locked(process: Option<u32>) -> Verdict {
    let locked = Verdict::new(Exit::Locked, "locked");
    match (process.and_then(stopped_advice), process) {
        (Some(advice), _) => locked.hint(advice),
        (None, Some(_)) => locked.hint("wait longer with --wait, or end that process"),
        (None, None) => locked.hint(
            "wait longer with --wait, or end that process; `waypost doctor` may tell why it is \
             not named",
        ),
    }
}

/// The verdict on invalid input, by its subject.
fn of_invalid(what: &Subject) -> Verdict {
    let refused = Verdict::new(Exit::Refused, "invalid");
    match what {
        Subject::Id => Verdict::new(Exit::Usage, "invalid")
            .hint("`waypost list` shows ids; without --id a checkpoint gets a new one"),
        Subject::PruneOnSave => refused.hint("name a policy, too: `waypost policy set crunch`"),
        Subject::LoopId => refused.hint("name the loop so, or leave --workflow-type out"),
        Subject::Checkpoint => {
            refused.hint("choose another one: `waypost list` shows what there is")
        }
        Subject::NeedlessKey => {
            refused.hint("`waypost rekey` encrypts the store; or leave the key out")
        }
        Subject::Key => refused.hint("`waypost key FILE` makes a file with one"),
        Subject::Path => refused.hint("name another file; the file there was not changed"),
        Subject::Line => refused.hint("`waypost save --help` describes a line"),
        Subject::About(_) => {
            refused.hint("`waypost save --help` lists the fields and their values")
        }
        Subject::DocumentOf(_) => refused.hint("correct it, or save it anyway with --force"),
        Subject::TextAfterDocument => {
            refused.hint("--lines saves several documents, each in a line of its own")
        }
        Subject::Document(_) => refused.hint("give a document in JSON"),
        Subject::Artifact(_) => refused.hint("leave the file out of --capture"),
        // The library may add subjects.
        _ => refused.hint("`waypost save --help` says what is accepted"),
    }
}

//! What an error means for the user: exit code, name and what can be done about it.

use std::borrow::Cow;
use std::io::{self, ErrorKind};

use waypost::doctor::stopped_advice;
use waypost::error::{Damage, Subject};
use waypost::project::{ConfigError, NoPlace, PolicyError};
use waypost::recovery::restore;
use waypost::text::{linked_advice, move_away};
use waypost::transfer::capture::CaptureError;
use waypost::{Error, Series};

use super::{Exit, Refusal};
use crate::output::quoted;

/// The disk fails: `EIO`, or on Windows `ERROR_IO_DEVICE`.
const FAILING: i32 = if cfg!(windows) { 1117 } else { 5 };

/// What an error means for the user.
#[derive(Debug, Clone)]
pub(crate) struct Verdict {
    pub(crate) exit: Exit,
    /// The name of the error in JSON.
    pub(crate) code: &'static str,
    /// What can be done about it.
    pub(crate) hint: Option<Cow<'static, str>>,
}

impl Verdict {
    pub(crate) fn of(error: &anyhow::Error) -> Self {
        let by_library = error.downcast_ref().map(of_library);
        let by_restore = || error.downcast_ref().and_then(of_restore);
        let by_capture = || error.downcast_ref().and_then(of_capture);
        let by_project = || {
            let by_policy = error.downcast_ref().and_then(of_policy);
            let by_config = || error.downcast_ref().and_then(of_config);
            by_policy.or_else(by_config).or_else(|| error.downcast_ref().map(of_place))
        };
        let by_command = || error.downcast_ref().map(of_command);
        let by_system = || error.chain().find_map(|cause| cause.downcast_ref()).map(of_system);
        let known = by_library
            .or_else(by_restore)
            .or_else(by_capture)
            .or_else(by_project)
            .or_else(by_command)
            .or_else(by_system);
        known.unwrap_or(Self::new(Exit::Failed, "failed"))
    }

    const fn new(exit: Exit, code: &'static str) -> Self {
        Self { exit, code, hint: None }
    }

    fn hint(self, hint: impl Into<Cow<'static, str>>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

fn not_found(hint: &'static str) -> Verdict {
    Verdict::new(Exit::Nothing, "not_found").hint(hint)
}

fn refused(code: &'static str, hint: &'static str) -> Verdict {
    Verdict::new(Exit::Refused, code).hint(hint)
}

fn of_library(error: &Error) -> Verdict {
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
            .hint("name the file of a store with --store; `waypost repair` may save one that was"),
        Error::Linked { path, .. } => {
            Verdict::new(Exit::Refused, "linked").hint(linked_advice(path))
        }
        Error::Corrupt { damage: Damage::Everything, .. } => {
            Verdict::new(Exit::Damaged, "corrupt").hint("restore a backup; the file is as it was")
        }
        Error::Corrupt { damage: Damage::Disk, .. } => Verdict::new(Exit::Damaged, "corrupt").hint(
            "the disk is failing: `waypost verify` tells all that is damaged, `waypost repair \
                 --into FILE` saves the rest on another disk",
        ),
        Error::Corrupt { .. } => Verdict::new(Exit::Damaged, "corrupt")
            .hint("`waypost verify` tells all that is damaged, `waypost repair` saves the rest"),
        Error::Key { .. } => refused("key", "give its key with --key-file; lists do without"),
        Error::Locked { .. } => of_locked(error.holding_process()),
        // Files that a user names are read by the command, and not by the library.
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
                "make room on that disk, with `waypost prune --now` or otherwise; reading, and \
                 `waypost backup` to another disk, need none",
            )
        }
        Error::Io { source, .. } => of_system(source),
        // The library may learn to fail in new ways.
        _ => Verdict::new(Exit::Failed, "failed"),
    }
}

/// Why nothing was restored. `None` where the error of the system decides.
fn of_restore(why: &restore::Refusal) -> Option<Verdict> {
    use restore::Refusal as Why;
    Some(match why {
        Why::NotResumable { .. } => {
            refused("cannot_resume", "--force writes its files all the same")
        }
        Why::NotADirectory { .. } => refused("not_restorable", "name a directory with --into"),
        Why::NotRestorable { .. } => refused(
            "not_restorable",
            "step 2 of the report says why; move that away, or name another directory with --into",
        ),
        Why::Changed { .. } | Why::Outdated { .. } => refused("outdated", "run it again"),
        Why::StateExists { .. } => {
            refused("exists", "--force replaces and keeps it; or name another file with --state")
        }
        Why::StateNoFile { .. } => {
            refused("not_restorable", "name a regular file with --state, or one to be made")
        }
        Why::Unverified { .. } => Verdict::new(Exit::Damaged, "unverified")
            .hint("look where the report says: what was replaced is kept there"),
        // The command tells others in its own words, and the library may learn to refuse more.
        _ => return None,
    })
}

/// Why files were not captured. `None` where the error of the system decides.
fn of_capture(why: &CaptureError) -> Option<Verdict> {
    match why {
        CaptureError::Refused { .. } => {
            Some(refused("uncaptured", "leave it out of --capture; nothing was saved"))
        }
        CaptureError::TooLong { source, .. } => Some(of_library(source)),
        _ => None,
    }
}

/// Why no policy can be had. `None` where the error of its cause decides.
fn of_policy(why: &PolicyError) -> Option<Verdict> {
    match why {
        PolicyError::None => Some(
            Verdict::new(Exit::Usage, "no_policy")
                .hint("name one with --policy, or set one with `waypost policy set`"),
        ),
        PolicyError::Unknown { .. } => Some(
            Verdict::new(Exit::Failed, "io").hint("name a preset, or a config file that is there"),
        ),
        PolicyError::Empty { .. } => {
            Some(refused("empty_policy", "`waypost policy example` shows what a policy can say"))
        }
        _ => None,
    }
}

/// What is wrong with a config. `None` where the error of the system decides.
fn of_config(why: &ConfigError) -> Option<Verdict> {
    match why {
        ConfigError::Invalid { .. } => {
            Some(refused("invalid_config", "`waypost policy example` shows every key"))
        }
        _ => None,
    }
}

fn of_place(_: &NoPlace) -> Verdict {
    refused(
        "no_place",
        "name a directory that is there and yours to write to, or a file with --store",
    )
}

/// A store that another process keeps, if that process is known.
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

/// What cannot be taken: by what it is.
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
        Subject::Path => refused.hint("name another file; what is there is as it was"),
        Subject::Line => refused.hint("`waypost save --help` tells what a line is"),
        Subject::About(_) => {
            refused.hint("`waypost save --help` has the fields and what they take")
        }
        Subject::DocumentOf(_) => {
            refused.hint("put it right, or save it all the same with --force")
        }
        Subject::TextAfterDocument => {
            refused.hint("--lines saves several documents, each in a line of its own")
        }
        Subject::Document(_) => refused.hint("give a document in JSON"),
        Subject::Artifact(_) => refused.hint("leave the file out of --capture"),
        // The library may learn to refuse more.
        _ => refused.hint("`waypost save --help` tells what is taken"),
    }
}

/// What the system refused.
fn of_system(error: &io::Error) -> Verdict {
    if error.raw_os_error() == Some(FAILING) {
        return Verdict::new(Exit::Failed, "io")
            .hint("the disk may be failing: run it again, then copy what is on it to another one");
    }
    Verdict::new(Exit::Failed, "io").hint(match error.kind() {
        ErrorKind::NotFound => "check the name and the directory it is in",
        ErrorKind::PermissionDenied => "change who may read and write it, or run it as its owner",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "make room on the disk; run it again",
        ErrorKind::FileTooLarge => {
            "raise the limit on file sizes, which `ulimit -f` shows, and run it again"
        }
        ErrorKind::ReadOnlyFilesystem => "use a place that can be written to",
        ErrorKind::IsADirectory => "name a file and not a directory",
        ErrorKind::NotADirectory => "name a directory where the path has a file",
        _ => "check the path and the disk; run it again",
    })
}

#[expect(clippy::too_many_lines, reason = "a line or two for each, all in one place")]
fn of_command(refusal: &Refusal) -> Verdict {
    match refusal {
        // Where nothing was ever saved, nothing matches: a loop starts instead of going on.
        Refusal::NoStore { .. } => Verdict::new(Exit::Nothing, "no_store")
            .hint("`waypost init` or `waypost save` makes one, --store names another"),
        Refusal::Nothing { .. } => not_found("`waypost list` without filters shows what there is"),
        Refusal::Empty => {
            not_found("`waypost save` or `waypost import` brings some, --store names another store")
        }
        Refusal::NothingDeleted => {
            not_found("`waypost log --operations` shows what was removed, and when")
        }
        Refusal::NoOperations => not_found("`waypost log` shows what was saved"),
        Refusal::Unfulfilled { pointer: Some(pointer), .. } => {
            Verdict::new(Exit::Nothing, "not_found")
                .hint(format!("`waypost log --path {}` shows the values it had", quoted(pointer)))
        }
        Refusal::Unfulfilled { pointer: None, .. } | Refusal::NoValue { .. } => {
            not_found("`waypost show latest --document` shows where values are")
        }
        Refusal::NoFiles { .. } => not_found("`waypost import --help` tells which files are known"),
        Refusal::Alive { .. } => refused("exists", "delete it first; nothing was restored"),
        Refusal::Skipped { .. } => {
            Verdict::new(Exit::Skipped, "skipped").hint("see above which, and why")
        }
        Refusal::Exists { .. } => refused("exists", "--overwrite replaces it"),
        Refusal::KeyExists { .. } => refused("exists", "name another file"),
        Refusal::EmptyKey { .. } => {
            refused("key", "unset it to make a store that is not encrypted")
        }
        Refusal::Damaged { .. } => Verdict::new(Exit::Damaged, "corrupt").hint(
            "all others were read; `waypost verify` tells all, `waypost repair` saves the rest",
        ),
        Refusal::Unsound { .. } => Verdict::new(Exit::Damaged, "corrupt")
            .hint("`waypost repair --dry-run` tells what can be saved, `waypost repair` saves it"),
        Refusal::SetAside { .. } => Verdict::new(Exit::Damaged, "corrupt").hint(
            "save them again from where they came, then remove the files; the store is whole",
        ),
        Refusal::NoStream => {
            Verdict::new(Exit::Usage, "usage").hint("name a file; one of this name is ./-")
        }
        Refusal::Taken { .. } => refused("exists", "name a file that is not there with --into"),
        Refusal::NoConfig => Verdict::new(Exit::Nothing, "no_config")
            .hint("`waypost policy example` prints one, for .waypost/config.yaml beside the store"),
        Refusal::Unconfirmed(_) => refused("unconfirmed", "--yes does it without asking"),
        Refusal::Declined | Refusal::Left => Verdict::new(Exit::Refused, "declined"),
        Refusal::LostNames { series, .. } => {
            let first = quoted(series.first().map_or("latest", Series::as_str));
            let hint = format!(
                "look at it with `waypost list {first}`; to start another, first put it away with \
                 `waypost archive --series {first}`"
            );
            Verdict::new(Exit::Refused, "lost_names").hint(hint)
        }
        Refusal::NotDeleted { .. } | Refusal::NotUndone { .. } => {
            not_found("`waypost list --deleted` shows what can be restored")
        }
        Refusal::NotAnIssue { .. } => {
            refused("invalid_issue", "`gh issue view 42 --json number,body,labels` writes one")
        }
        Refusal::First { .. } => not_found("name the checkpoint to compare it with"),
        Refusal::NoTarget { nearby, .. } if nearby.len() == 1 => {
            let hint = format!("if that is meant, `waypost resume {}`", quoted(nearby[0].as_str()));
            Verdict::new(Exit::Nothing, "not_found").hint(hint)
        }
        Refusal::NoTarget { .. } | Refusal::Unknown { .. } => {
            not_found("`waypost list` shows what there is")
        }
        Refusal::Several { name } => {
            let [newest, before] = ["0", "1"].map(|at| quoted(&format!("{name}@{at}")));
            Verdict::new(Exit::Usage, "several")
                .hint(format!("{newest} is its newest checkpoint, {before} the one before"))
        }
        Refusal::Unclear { .. } => {
            Verdict::new(Exit::Usage, "ambiguous").hint("name one of them, or an id")
        }
        Refusal::Unselected { likely, .. } => {
            let likely = quoted(likely.as_str());
            Verdict::new(Exit::Refused, "prompt_user")
                .hint(format!("`waypost resume {likely}` takes that one; so for the others"))
        }
        Refusal::AllDamaged { .. } => Verdict::new(Exit::Damaged, "corrupt")
            .hint("`waypost repair` saves what can be read; --choice fresh starts over"),
        Refusal::CannotResume { worktree: Some(worktree), .. } => {
            Verdict::new(Exit::Refused, "cannot_resume").hint(format!(
                "--worktree {} goes on there, --choice fresh starts over, --force goes on all the \
                 same",
                quoted(worktree)
            ))
        }
        Refusal::CannotResume { id, is_invalid: true, older, .. } => {
            let id = quoted(id.as_str());
            let older = older.as_ref().map_or(String::new(), |older| {
                let older = quoted(older.as_str());
                format!("`waypost resume {older}` goes on from the newest valid one, ")
            });
            let hint = format!(
                "`waypost check {id}` lists what is wrong, {older}--force goes on all the same, \
                 --choice fresh starts over"
            );
            Verdict::new(Exit::Refused, "cannot_resume").hint(hint)
        }
        Refusal::CannotResume { older: Some(older), .. } => {
            let older = quoted(older.as_str());
            Verdict::new(Exit::Refused, "cannot_resume").hint(format!(
                "`waypost resume {older}` goes on from the newest valid one, --choice fresh starts \
                 over, --force goes on all the same"
            ))
        }
        Refusal::CannotResume { .. } => {
            refused("cannot_resume", "--choice fresh starts over, --force goes on all the same")
        }
        Refusal::Undecided { id, files_of: Some(directory), .. } => {
            let (id, into) = (quoted(id.as_str()), quoted(&directory.display().to_string()));
            Verdict::new(Exit::Refused, "prompt_user").hint(format!(
                "--diff shows what changed, `waypost restore {id} --into {into}` brings captured \
                 files back, --choice resume goes on, --choice fresh starts over"
            ))
        }
        Refusal::Undecided { .. } => {
            refused("prompt_user", "--choice resume goes on, --choice fresh starts over")
        }
        // What is over is no reason for the next run not to start.
        Refusal::Ended { series, .. } => Verdict::new(Exit::Nothing, "ended").hint(format!(
            "`waypost reopen --series {}` opens it again, --force goes on all the same",
            quoted(series.as_str())
        )),
        // Nothing is there to go on from, so that a loop starts.
        Refusal::Fresh { .. } => Verdict::new(Exit::Nothing, "start_fresh"),
        Refusal::NotStarted { .. } => Verdict::new(Exit::Refused, "deleted"),
        Refusal::NoTasks { id } => Verdict::new(Exit::Refused, "no_tasks")
            .hint(format!("`waypost show {} --document` prints the document", quoted(id.as_str()))),
        Refusal::NoWorker { files: Some(files), .. } => {
            let files = quoted(&files.display().to_string());
            let hint = format!("add what is missing there, then `waypost import {files}`");
            Verdict::new(Exit::Refused, "no_worker").hint(hint)
        }
        Refusal::NoWorker { files: None, .. } => {
            refused("no_worker", "leave --worker out: --prompt alone takes any checkpoint")
        }
        Refusal::Newest { series, .. } => {
            let series = quoted(series.as_str());
            Verdict::new(Exit::Refused, "newest")
                .hint(format!("`waypost log {series}` shows what there is to go back to"))
        }
        Refusal::NoSeries => Verdict::new(Exit::Usage, "no_series").hint(
            "name it with --series; `waypost rollback` goes on in the series of the checkpoint",
        ),
        Refusal::SeriesExists { .. } => {
            refused("exists", "--append adds to it; `waypost rollback` goes back within a series")
        }
        Refusal::Wrong { .. } => refused("invalid", "see above which rules are broken, and where"),
        Refusal::NoDocument => refused(
            "invalid",
            "the document goes before --capture: `waypost save state.json --capture src`",
        ),
        Refusal::Unwell { is_damaged: true, .. } => Verdict::new(Exit::Damaged, "corrupt")
            .hint("`waypost verify` tells all that is damaged, `waypost repair` saves the rest"),
        Refusal::Unwell { .. } => {
            Verdict::new(Exit::Failed, "unwell").hint("see above what to do about each")
        }
        Refusal::ExportIntoFile { .. } => refused(
            "exists",
            "name a directory, or one to be made; --jsonl FILE writes lines of JSON to a file",
        ),
        Refusal::NoThread(_) => {
            Verdict::new(Exit::Failed, "no_thread").hint("raise that limit, or use fewer --threads")
        }
        // It tells how to go on where there is a way.
        Refusal::Interrupted { signal, .. } => Verdict::new((*signal).into(), "interrupted"),
        Refusal::Differs => Verdict::new(Exit::Failed, "differs"),
        Refusal::Usage(_) => Verdict::new(Exit::Usage, "usage").hint("try --help"),
    }
}

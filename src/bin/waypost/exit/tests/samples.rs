//! One of each error, or more where the hint depends on its values.

use std::fmt::Debug;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use waypost::error::{Damage, Subject};
use waypost::project::{ConfigError, NoPlace, PolicyError};
use waypost::recovery::restore;
use waypost::transfer::capture::CaptureError;
use waypost::{Error, Id, Series, Status};

use super::super::Refusal;
use crate::interrupt::Signal;

/// Every sample with its parts as `Debug` shows them.
pub(super) fn all() -> Vec<(String, anyhow::Error)> {
    let mut all: Vec<_> = library().into_iter().map(sample).collect();
    all.extend(found_nothing().into_iter().map(sample));
    all.extend(policies());
    all.extend(resuming().into_iter().chain(files()).map(sample));
    all.push(sample(CaptureError::Refused { path: file(), reason: text("a link") }));
    let source = Error::Limit { what: text("length in bytes"), limit: 67_108_864 };
    all.push(sample(CaptureError::TooLong { path: file(), source }));
    all.extend(restoring().into_iter().map(sample));
    all.extend(others().into_iter().map(sample));
    all.push(sample(NoPlace::new(Path::new("p"), "it is not there")));
    all.extend(endings().into_iter().map(sample));
    all
}

fn sample<E: Debug + Into<anyhow::Error>>(error: E) -> (String, anyhow::Error) {
    (format!("{error:?}"), error.into())
}

fn text(text: &str) -> String {
    text.to_owned()
}

fn store() -> PathBuf {
    PathBuf::from("p/store.redb")
}

fn file() -> PathBuf {
    PathBuf::from("p/file.json")
}

fn id() -> Id {
    Id::new("a-1").unwrap()
}

fn series() -> Series {
    Series::new("issue:42").unwrap()
}

fn about(what: Subject, reason: &str) -> Error {
    Error::Invalid { what, reason: text(reason) }
}

fn library() -> Vec<Error> {
    let invalid = |what: &str, reason: &str| about(what.into(), reason);
    let io = |kind: ErrorKind| Error::Io { path: store(), source: io::Error::from(kind) };
    vec![
        Error::NotFound { wanted: text("x").into() },
        Error::Ambiguous { prefix: text("a"), first: text("a-1"), second: text("a-2") },
        Error::Exists { id: text("a-1") },
        Error::Outdated { id: text("a-1"), reason: "was tagged", removed: 2 },
        invalid("id", "it is too short; give at least 4 characters"),
        about(Subject::Document(Some(text("/a/1"))), "expected a value at line 1 column 11"),
        about(
            Subject::TextAfterDocument,
            "unexpected text after the end of the document at line 2 column 1",
        ),
        invalid("line", "not JSON, at column 3"),
        about(Subject::About(text("phas")), "no such field"),
        invalid("loop_id", "ralph is not like ralph-SLUG-0123abcd"),
        invalid("checkpoint", "a-1 has no document: its file could not be read"),
        invalid("prune_on_save", "there is no policy to prune by"),
        about(Subject::Artifact(text("artifact path a/../b")), "has a part that leads elsewhere"),
        invalid("phase", "has a control character"),
        invalid("path", "it is the store itself"),
        Error::Limit { what: text("length of the document"), limit: 67_108_864 },
        Error::TooNew { path: store(), found: 2, supported: 1 },
        Error::TooOld { path: store(), found: 0, oldest: 1 },
        Error::NotAStore { path: store(), reason: text("it is a directory") },
        Error::Linked { path: store(), names: 2, others: vec![file()] },
        Error::Corrupt {
            place: text("checkpoint a-1"),
            reason: text("the sum is wrong"),
            damage: Damage::Part,
        },
        Error::Corrupt {
            place: text("p/store.redb"),
            reason: text("none of its tables can be found; nothing can be saved"),
            damage: Damage::Everything,
        },
        Error::Corrupt {
            place: text("p/store.redb"),
            reason: text("the disk cannot read bytes 0 to 511: Input/output error (os error 5)"),
            damage: Damage::Disk,
        },
        Error::Key {
            what: text("checkpoint a-1"),
            id: text("0123456789abcdef"),
            reason: "no key was given",
        },
        about(Subject::NeedlessKey, "one was given, and the store is not encrypted"),
        invalid("key", "not 32 bytes as 64 hexadecimal digits or as base64"),
        Error::Locked {
            path: store(),
            holder: text("process 7 (waypost save)"),
            waited: Duration::from_secs(5),
        },
        Error::Locked {
            path: store(),
            holder: text("another process"),
            waited: Duration::from_secs(5),
        },
        io(ErrorKind::NotFound),
        io(ErrorKind::PermissionDenied),
        io(ErrorKind::StorageFull),
        io(ErrorKind::ReadOnlyFilesystem),
        io(ErrorKind::Interrupted),
        Error::Io { path: store(), source: io::Error::from_raw_os_error(5) },
        Error::Io {
            path: PathBuf::from("p/store.redb.lock"),
            source: io::Error::new(
                ErrorKind::InvalidInput,
                "it is a FIFO, not a regular file".to_owned(),
            ),
        },
    ]
}

fn others() -> Vec<Refusal> {
    vec![
        Refusal::ExportIntoFile { path: file(), kind: "a file" },
        Refusal::Parts { saved: 3, parts: 1, first: text("the log: checksum differs") },
        Refusal::Skipped {
            what: "lines were refused",
            count: 1,
            total: 3,
            hint: text("mend line 2, then save the refused lines again"),
        },
        Refusal::Damaged { count: 1, total: 3 },
        Refusal::Unsound { count: 2 },
        Refusal::SetAside { count: 1 },
        Refusal::NoStream,
        Refusal::Alive { id: text("a-1") },
        Refusal::Unconfirmed(text("Remove 3 of 4 checkpoints by policy crunch, restorably")),
        Refusal::Declined,
        Refusal::Left,
        Refusal::Newest { id: id(), series: series() },
        Refusal::NoSeries,
        Refusal::SeriesExists { series: series() },
    ]
}

fn endings() -> Vec<Refusal> {
    vec![
        Refusal::Unwell { count: 1, total: 12, is_damaged: false },
        Refusal::Unwell { count: 1, total: 12, is_damaged: true },
        Refusal::Interrupted {
            signal: Signal::Interrupt,
            told: text("3,200 imported; run it again to go on"),
        },
        Refusal::NoThread(io::Error::from(ErrorKind::WouldBlock)),
        Refusal::Differs,
        Refusal::Usage(text("--loops 1 is less than --threads 2")),
    ]
}

fn found_nothing() -> Vec<Refusal> {
    let wanted = || text("issue:43");
    vec![
        Refusal::NoStore { path: store() },
        Refusal::Nothing { asked: text("--issue 43 --status failed") },
        Refusal::Empty,
        Refusal::NothingDeleted,
        Refusal::NoOperations,
        Refusal::Unfulfilled { total: 12, pointer: Some(text("/score")) },
        Refusal::Unfulfilled { total: 12, pointer: None },
        Refusal::NoValue {
            pointer: text("/last_score"),
            total: 12,
            nearby: vec![text("/state/last_score")],
        },
        Refusal::NoFiles { place: text("p") },
        Refusal::NotDeleted { wanted: text("x") },
        Refusal::NotUndone { number: 7, reason: text("is not in the log") },
        Refusal::First { id: id() },
        Refusal::LostNames { wanted: wanted(), series: vec![series()] },
        Refusal::NoTarget { wanted: wanted(), nearby: vec![series()], newest: Vec::new() },
        Refusal::NoTarget { wanted: wanted(), nearby: Vec::new(), newest: vec![series()] },
        Refusal::Unknown { wanted: wanted(), nearby: Vec::new(), newest: vec![series()] },
        Refusal::Several { name: text("42") },
        Refusal::Unclear { wanted: text("42"), choices: vec![text("issue:42"), text("loop:42")] },
    ]
}

fn policies() -> Vec<(String, anyhow::Error)> {
    let source = about("keep".into(), "line 3: no such key");
    vec![
        sample(PolicyError::None),
        sample(PolicyError::Unknown { name: text("crunsh") }),
        sample(PolicyError::Empty { place: text("p/config.yaml") }),
        sample(Refusal::NoConfig),
        sample(ConfigError::Invalid { path: PathBuf::from("p/config.yaml"), source }),
    ]
}

fn resuming() -> Vec<Refusal> {
    let cannot = |worktree, is_invalid| Refusal::CannotResume {
        id: id(),
        why: vec![text("it says that it cannot be resumed")],
        worktree,
        is_invalid,
        older: Some(id()),
    };
    let undecided = |files_of| Refusal::Undecided {
        id: id(),
        why: vec![text("the text of the issue has changed")],
        files_of,
    };
    let no_worker = |files| Refusal::NoWorker {
        id: id(),
        why: vec![text("/team_name: is missing in .pipeline/state.json")],
        files,
    };
    vec![
        Refusal::NotAnIssue { path: file(), reason: text("has neither body nor labels") },
        Refusal::Unselected { series: series(), count: 3, likely: id() },
        Refusal::AllDamaged { series: series(), count: 3 },
        cannot(Some(text("trees/issue-7")), false),
        cannot(None, true),
        cannot(None, false),
        Refusal::Broken {
            id: id(),
            why: vec![text("it is invalid: p/file.json could not be read: empty")],
            path: file(),
            older: Some(id()),
        },
        Refusal::NoContent { id: id() },
        Refusal::Wrong { count: 1, total: 3 },
        undecided(Some(PathBuf::from("p"))),
        undecided(None),
        Refusal::Ended { series: series(), status: Status::Completed },
        Refusal::Fresh { series: series() },
        Refusal::NotStarted { id: id() },
        Refusal::NoTasks { id: id() },
        no_worker(Some(PathBuf::from("p/.pipeline"))),
        no_worker(None),
    ]
}

fn files() -> Vec<Refusal> {
    vec![
        Refusal::Exists { path: file() },
        Refusal::Taken { path: file() },
        Refusal::KeyExists { path: PathBuf::from("p/store.key") },
        Refusal::EmptyKey { variable: "WAYPOST_KEY" },
        Refusal::NoDocument,
    ]
}

fn restoring() -> Vec<restore::Refusal> {
    use restore::{Obstacle, Refusal as Why};
    // The report names these.
    let obstacle = || Obstacle { path: String::new(), reason: String::new() };
    vec![
        Why::NotResumable { id: id(), hurdles: Vec::new() },
        Why::NotADirectory { path: file() },
        Why::NotRestorable { path: PathBuf::from("p"), obstacles: vec![obstacle(), obstacle()] },
        Why::Changed { id: id() },
        Why::Outdated { path: file() },
        Why::StateExists { path: file() },
        Why::StateNoFile { path: file(), kind: "a FIFO" },
        Why::Unverified { count: 1, total: 3 },
    ]
}

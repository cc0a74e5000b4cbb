//! What the command itself has to refuse, beside what the library does.

use std::io;
use std::path::PathBuf;

use waypost::history::Tally;
use waypost::{Id, Series, Status};

use crate::interrupt::Signal;

/// What the command itself has to refuse, beside what the library does.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("there is no store at {}", path.display())]
    NoStore { path: PathBuf },
    #[error("nothing matches {asked}")]
    Nothing { asked: String },
    #[error("the store has no checkpoints")]
    Empty,
    #[error("nothing was deleted that can be restored")]
    NothingDeleted,
    #[error("nothing was done to the store beside saving")]
    NoOperations,
    #[error("the condition holds for none of {total} checkpoints")]
    Unfulfilled { total: u64, pointer: Option<String> },
    #[error("none of {total} checkpoints has {pointer}{}", near(nearby, &[]))]
    NoValue { pointer: String, total: u64, nearby: Vec<String> },
    #[error("{count} of {total} {what}")]
    Skipped {
        what: &'static str,
        count: u64,
        total: u64,
        /// What to do; names the first skipped item.
        hint: String,
    },
    #[error("checkpoints saved: {saved}; damaged parts that could not be saved: {parts}")]
    Parts { saved: u64, parts: u64, first: String },
    #[error("no checkpoint files in {place}")]
    NoFiles { place: String },
    #[error("checkpoint {id} exists again: it was saved or imported after the deletion")]
    Alive { id: String },
    #[error("{} is there already", path.display())]
    Exists { path: PathBuf },
    #[error("{} is there already, and may be the only copy of a key", path.display())]
    KeyExists { path: PathBuf },
    #[error("the variable {variable} is set, and empty")]
    EmptyKey { variable: &'static str },
    #[error("{count} of {total} checkpoints are damaged")]
    Damaged { count: u64, total: u64 },
    #[error("{}: the store is damaged", findings(*count))]
    Unsound { count: u64 },
    #[error("{}: saves beside the store cannot be taken in", findings(*count))]
    SetAside { count: u64 },
    /// What `-` means for other commands.
    #[error("- is not accepted here: this command needs a file")]
    NoStream,
    #[error("{} is there already", path.display())]
    Taken { path: PathBuf },
    #[error("there is no config file in this project")]
    NoConfig,
    #[error("no terminal to confirm at: {}", lower(.0))]
    Unconfirmed(String),
    #[error("nothing was changed")]
    Declined,
    /// The person at the terminal left a question unanswered.
    #[error("left as it is")]
    Left,
    #[error("nothing that was deleted matches {wanted:?}")]
    NotDeleted { wanted: String },
    #[error("operation {number} {reason}")]
    NotUndone { number: u64, reason: String },
    #[error("{} {reason}", path.display())]
    NotAnIssue { path: PathBuf, reason: String },
    #[error("{id} is the first of its series")]
    First { id: Id },
    /// There is nothing to go on from. A loop that starts treats this as no failure.
    #[error("no checkpoint matches {wanted:?}, but a repair lost some names: {}", listed(series))]
    LostNames { wanted: String, series: Vec<Series> },
    #[error("no checkpoint matches {wanted:?}{}", near(nearby, newest))]
    NoTarget { wanted: String, nearby: Vec<Series>, newest: Vec<Series> },
    #[error("no checkpoint matches {wanted:?}{}", near(nearby, newest))]
    Unknown { wanted: String, nearby: Vec<String>, newest: Vec<Series> },
    #[error("{name:?} stands for several checkpoints")]
    Several { name: String },
    #[error("{wanted:?} may be {}", choices.join(", "))]
    Unclear { wanted: String, choices: Vec<String> },
    #[error("{series} has {count} checkpoints, and there is no terminal to select one at")]
    Unselected { series: Series, count: usize, likely: Id },
    #[error("none of the newest {count} checkpoints of {series} can be read")]
    AllDamaged { series: Series, count: usize },
    #[error("cannot resume from {id}: {}", why.join("; "))]
    CannotResume {
        id: Id,
        why: Vec<String>,
        worktree: Option<String>,
        /// It breaks rules of its system.
        is_invalid: bool,
        /// The newest older checkpoint that could be resumed.
        older: Option<Id>,
    },
    #[error("cannot resume from {id}: {}", why.join("; "))]
    Broken {
        id: Id,
        why: Vec<String>,
        /// The file that could not be read.
        path: PathBuf,
        /// The newest older checkpoint that could be resumed.
        older: Option<Id>,
    },
    #[error("{id} has no document: its file could not be read")]
    NoContent { id: Id },
    #[error("{count} of {total} checked are invalid")]
    Wrong { count: u64, total: u64 },
    #[error("cannot decide alone whether to resume {id}: {}", why.join("; "))]
    Undecided { id: Id, why: Vec<String>, files_of: Option<PathBuf> },
    #[error("{series} is {status}: there is nothing to go on from")]
    Ended { series: Series, status: Status },
    #[error("{series} starts over")]
    Fresh { series: Series },
    #[error("{id} was deleted; no work was started")]
    NotStarted { id: Id },
    #[error("the document of {id} has neither tasks nor a last action")]
    NoTasks { id: Id },
    #[error("cannot make a prompt for a worker from {id}: {}", why.join("; "))]
    NoWorker { id: Id, why: Vec<String>, files: Option<PathBuf> },
    #[error("{id} is the newest already")]
    Newest { id: Id, series: Series },
    #[error("the series to continue in is not named")]
    NoSeries,
    #[error("series {series} is there already")]
    SeriesExists { series: Series },
    /// Most likely its name was read as a path of `--capture`.
    #[error("there is no document in standard input")]
    NoDocument,
    #[error("{count} of {total} checks found something bad")]
    Unwell { count: usize, total: usize, is_damaged: bool },
    #[error("{} is {kind}, and the target of an export is a directory", path.display())]
    ExportIntoFile { path: PathBuf, kind: &'static str },
    /// A thread without which the caller cannot work.
    #[error(
        "cannot start a thread: {0}; `ulimit -u`, `ulimit -v` or pids.max of a cgroup limits it"
    )]
    NoThread(io::Error),
    /// `told` says what was done until then and how to go on.
    #[error("interrupted{}{told}", if told.is_empty() { "" } else { ": " })]
    Interrupted { signal: Signal, told: String },
    /// No failure; only the exit code reports it.
    #[error("the documents differ")]
    Differs,
    /// Values that are valid alone but not together.
    #[error("{0}")]
    Usage(String),
}

impl Refusal {
    /// Fails if a document was damaged. Call it after everything else is printed.
    pub(crate) fn if_damaged(tally: Tally) -> Result<(), Self> {
        match tally {
            Tally { damaged: 0, .. } => Ok(()),
            Tally { damaged, total, .. } => Err(Self::Damaged { count: damaged, total }),
        }
    }
}

fn findings(count: u64) -> String {
    if count == 1 { "1 finding".to_owned() } else { format!("{count} findings") }
}

/// The question, starting in lower case.
fn lower(question: &str) -> String {
    let mut text = question.to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    text
}

fn listed(names: &[impl ToString]) -> String {
    names.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// What exists instead, if anything does.
fn near(nearby: &[impl ToString], newest: &[Series]) -> String {
    match (nearby, newest) {
        ([], []) => String::new(),
        ([], newest) => format!("; the newest series are {}", listed(newest)),
        (nearby, _) => format!("; nearby: {}", listed(nearby)),
    }
}

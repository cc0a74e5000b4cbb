//! Exit codes, and which error ends with which.

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use waypost::{Error, Id, Series, Status};

/// Exit codes; `waypost --help` lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Done = 0,
    Failed = 1,
    Usage = 2,
    Nothing = 3,
    Refused = 4,
    Damaged = 5,
    Locked = 6,
    Skipped = 7,
}

impl Exit {
    const ALL: [Self; 8] = [
        Self::Done,
        Self::Failed,
        Self::Usage,
        Self::Nothing,
        Self::Refused,
        Self::Damaged,
        Self::Locked,
        Self::Skipped,
    ];

    fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed, or with `diff --exit-code` there are changes",
            Self::Usage => "wrong usage, or a prefix that is too short or fits several ids",
            Self::Nothing => "nothing matched, or there is no store yet",
            Self::Refused => "refused: what cannot be taken, resumed or decided without you",
            Self::Damaged => "damaged data found",
            Self::Locked => "the store is held by another process",
            Self::Skipped => "done, but some of it was skipped",
        }
    }

    /// What `help` starts with.
    pub(crate) const HEADING: &str = "Exit codes";

    /// All codes, and what each means.
    pub(crate) fn meanings() -> impl Iterator<Item = (u8, &'static str)> {
        Self::ALL.into_iter().map(|exit| (exit as u8, exit.meaning()))
    }

    /// The part of the help that explains exit codes.
    pub(crate) fn help() -> String {
        Self::meanings().fold(format!("{}:", Self::HEADING), |mut text, (code, meaning)| {
            let _ = write!(text, "\n  {code}  {meaning}");
            text
        })
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// What the command itself has to refuse, beside what the library does.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("there is no store at {}", path.display())]
    NoStore { path: PathBuf },
    #[error("nothing matches")]
    Nothing,
    #[error("{count} of {total} {what}")]
    Skipped { what: &'static str, count: u64, total: u64 },
    #[error("no checkpoint files in {place}")]
    NoFiles { place: String },
    #[error("checkpoint {id} is there again: it was saved or imported since")]
    Alive { id: String },
    #[error("{} is there already", path.display())]
    Exists { path: PathBuf },
    #[error("{count} of {total} checkpoints are damaged")]
    Damaged { count: u64, total: u64 },
    #[error("there is no policy to prune by")]
    NoPolicy,
    #[error("the policy of {place} says nothing")]
    EmptyPolicy { place: String },
    #[error("there is no config file in this project")]
    NoConfig,
    #[error("{0}: nobody is there to ask")]
    Unconfirmed(String),
    #[error("nothing was changed")]
    Declined,
    #[error("nothing that was deleted matches {wanted:?}")]
    NotDeleted { wanted: String },
    #[error("operation {number} {reason}")]
    NotUndone { number: u64, reason: String },
    #[error("in {}", path.display())]
    Config { path: PathBuf, source: Error },
    #[error("{} {reason}", path.display())]
    NotAnIssue { path: PathBuf, reason: String },
    #[error("{id} is the first of its series")]
    First { id: Id },
    #[error("no checkpoint of {wanted:?}{}", near(nearby, newest))]
    NoTarget { wanted: String, nearby: Vec<Series>, newest: Vec<Series> },
    #[error("no checkpoint matches {wanted:?}{}", alike(nearby))]
    Unknown { wanted: String, nearby: Vec<String> },
    #[error("{name:?} stands for several checkpoints")]
    Several { name: String },
    #[error("{wanted:?} may be {}", choices.join(", "))]
    Unclear { wanted: String, choices: Vec<String> },
    #[error("{series} has {count} checkpoints, and nobody is there to select one")]
    Unselected { series: Series, count: usize },
    #[error("none of the newest {count} checkpoints of {series} can be read")]
    AllDamaged { series: Series, count: usize },
    #[error("cannot resume from {id}: {}", why.join("; "))]
    CannotResume { id: Id, why: Vec<String>, is_elsewhere: bool },
    #[error("somebody must decide whether to go on from {id}: {}", why.join("; "))]
    Undecided { id: Id, why: Vec<String>, has_files: bool },
    #[error("{series} is {status}: there is nothing to go on from")]
    Ended { series: Series, status: Status },
    #[error("{series} starts over")]
    Fresh { series: Series },
    #[error("{id} was deleted, and nothing goes on")]
    NotStarted { id: Id },
    #[error("the document of {id} tells neither tasks nor the last action")]
    NoTasks { id: Id },
    #[error("{id} is the newest already")]
    Newest { id: Id },
    #[error("nothing names the series to go on in")]
    NoSeries,
    #[error("series {series} is there already")]
    SeriesExists { series: Series },
    /// Most likely its name was taken for a file to capture.
    #[error("there is no document in standard input")]
    NoDocument,
    #[error("cannot capture {}: {reason}", path.display())]
    Uncaptured { path: PathBuf, reason: String },
    #[error("checkpoint {id} cannot be resumed from")]
    NotResumable { id: Id },
    #[error("{} cannot be restored into: it is not a directory", path.display())]
    NotADirectory { path: PathBuf },
    #[error("{} cannot be restored into: {} cannot be written", path.display(), paths(*count))]
    NotRestorable { path: PathBuf, count: usize },
    #[error("checkpoint {id} changed meanwhile: it was deleted and saved again")]
    Changed { id: Id },
    #[error("{} is there with other content", path.display())]
    StateExists { path: PathBuf },
    #[error("{count} of {total} files are not as they were captured after they were written")]
    Unverified { count: u64, total: u64 },
    /// Not a failure, but to be told by the exit code.
    #[error("the documents differ")]
    Differs,
    /// Values that are right alone and not together.
    #[error("{0}")]
    Usage(String),
}

fn paths(count: usize) -> String {
    if count == 1 { "1 path".to_owned() } else { format!("{count} paths") }
}

fn listed(series: &[Series]) -> String {
    series.iter().map(Series::as_str).collect::<Vec<_>>().join(", ")
}

/// What may have been meant.
fn alike(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("; nearby: {}", names.join(", ")) }
}

/// What exists instead, if anything does.
fn near(nearby: &[Series], newest: &[Series]) -> String {
    match (nearby, newest) {
        ([], []) => String::new(),
        ([], newest) => format!("; the newest are {}", listed(newest)),
        (nearby, _) => format!("; nearby: {}", listed(nearby)),
    }
}

/// What an error means for the user.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Verdict {
    pub(crate) exit: Exit,
    /// The name of the error in JSON.
    pub(crate) code: &'static str,
    /// What can be done about it.
    pub(crate) hint: Option<&'static str>,
}

impl Verdict {
    pub(crate) fn of(error: &anyhow::Error) -> Self {
        let by_library = error.downcast_ref().map(of_library);
        let by_command = || error.downcast_ref().map(of_command);
        by_library.or_else(by_command).unwrap_or(Self::new(Exit::Failed, "failed"))
    }

    const fn new(exit: Exit, code: &'static str) -> Self {
        Self { exit, code, hint: None }
    }

    const fn hint(self, hint: &'static str) -> Self {
        Self { hint: Some(hint), ..self }
    }
}

fn of_library(error: &Error) -> Verdict {
    match error {
        Error::NotFound { .. } => {
            Verdict::new(Exit::Nothing, "not_found").hint("`waypost list` shows what there is")
        }
        Error::Ambiguous { .. } => {
            Verdict::new(Exit::Usage, "ambiguous").hint("give more characters of the id")
        }
        Error::Exists { .. } => {
            Verdict::new(Exit::Refused, "exists").hint("leave the id out to get a new one")
        }
        Error::Outdated { .. } => {
            Verdict::new(Exit::Refused, "outdated").hint("others work with the store; run it again")
        }
        Error::Invalid { what, .. } if what == "policy" => Verdict::new(Exit::Usage, "invalid")
            .hint("name a preset, or a config file that is there"),
        Error::Invalid { what, .. } if what.starts_with("document") => {
            Verdict::new(Exit::Refused, "invalid").hint("the input must be a document in JSON")
        }
        Error::Invalid { what, .. } if what == "id" => Verdict::new(Exit::Usage, "invalid"),
        Error::Invalid { .. } => Verdict::new(Exit::Refused, "invalid"),
        Error::Limit { .. } => Verdict::new(Exit::Refused, "limit"),
        Error::TooNew { .. } => Verdict::new(Exit::Failed, "too_new")
            .hint("a newer waypost reads it; nothing was changed"),
        Error::TooOld { .. } => Verdict::new(Exit::Failed, "too_old")
            .hint("an older waypost reads it; nothing was changed"),
        Error::NotAStore { .. } => {
            Verdict::new(Exit::Failed, "not_a_store").hint("name the file of a store with --store")
        }
        Error::Corrupt { .. } => Verdict::new(Exit::Damaged, "corrupt")
            .hint("keep a copy of the file; other checkpoints may still be readable"),
        Error::Locked { .. } => Verdict::new(Exit::Locked, "locked")
            .hint("wait longer with --wait, or end that process"),
        Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            Verdict::new(Exit::Failed, "io").hint("make the directory of the store first")
        }
        Error::Io { .. } => Verdict::new(Exit::Failed, "io"),
        // The library may learn to fail in new ways.
        _ => Verdict::new(Exit::Failed, "failed"),
    }
}

fn of_command(refusal: &Refusal) -> Verdict {
    match refusal {
        // Where nothing was ever saved, nothing matches: a loop starts instead of going on.
        Refusal::NoStore { .. } => Verdict::new(Exit::Nothing, "no_store")
            .hint("`waypost save` or `waypost import` makes one, --store names another"),
        Refusal::Nothing => Verdict::new(Exit::Nothing, "not_found"),
        Refusal::NoFiles { .. } => Verdict::new(Exit::Nothing, "not_found")
            .hint("`waypost import --help` tells which files are known"),
        Refusal::Alive { .. } => {
            Verdict::new(Exit::Refused, "exists").hint("nothing was restored; delete it first")
        }
        Refusal::Skipped { .. } => Verdict::new(Exit::Skipped, "skipped"),
        Refusal::Exists { .. } => {
            Verdict::new(Exit::Refused, "exists").hint("--overwrite replaces it")
        }
        Refusal::Damaged { .. } => Verdict::new(Exit::Damaged, "corrupt")
            .hint("keep a copy of the store; all others were read"),
        Refusal::NoPolicy => Verdict::new(Exit::Usage, "no_policy")
            .hint("name one with --policy, or set one with `waypost policy set`"),
        Refusal::EmptyPolicy { .. } => Verdict::new(Exit::Refused, "empty_policy")
            .hint("`waypost policy example` shows what a policy can say"),
        Refusal::NoConfig => Verdict::new(Exit::Nothing, "no_config")
            .hint("`waypost policy example` prints one, for .waypost/config.yaml beside the store"),
        Refusal::Unconfirmed(_) => {
            Verdict::new(Exit::Refused, "unconfirmed").hint("--yes does it without asking")
        }
        Refusal::Declined => Verdict::new(Exit::Refused, "declined"),
        Refusal::NotDeleted { .. } | Refusal::NotUndone { .. } => {
            Verdict::new(Exit::Nothing, "not_found")
                .hint("`waypost list --deleted` shows what can be restored")
        }
        Refusal::Config { .. } => Verdict::new(Exit::Refused, "invalid_config")
            .hint("`waypost policy example` shows every key"),
        Refusal::NotAnIssue { .. } => Verdict::new(Exit::Refused, "invalid_issue")
            .hint("`gh issue view NUMBER --json number,body,labels` writes one"),
        Refusal::First { .. } => {
            Verdict::new(Exit::Nothing, "not_found").hint("name the checkpoint to compare it with")
        }
        Refusal::NoTarget { .. } | Refusal::Unknown { .. } => {
            Verdict::new(Exit::Nothing, "not_found").hint("`waypost list` shows what there is")
        }
        Refusal::Several { .. } => Verdict::new(Exit::Usage, "several")
            .hint("NAME@0 is its newest checkpoint, NAME@1 the one before"),
        Refusal::Unclear { .. } => {
            Verdict::new(Exit::Usage, "ambiguous").hint("name one of them, or an id")
        }
        Refusal::Unselected { .. } => Verdict::new(Exit::Refused, "prompt_user")
            .hint("`waypost resume ID` takes the one that is named"),
        Refusal::AllDamaged { .. } => Verdict::new(Exit::Damaged, "corrupt")
            .hint("keep a copy of the store; --choice fresh starts over"),
        Refusal::CannotResume { is_elsewhere: true, .. } => {
            Verdict::new(Exit::Refused, "cannot_resume").hint(
                "--worktree DIR names the directory to go on in, --choice fresh starts over, \
                 --force goes on all the same",
            )
        }
        Refusal::CannotResume { .. } => Verdict::new(Exit::Refused, "cannot_resume")
            .hint("--choice fresh starts over, --force goes on all the same"),
        Refusal::Undecided { has_files: true, .. } => Verdict::new(Exit::Refused, "prompt_user")
            .hint(
                "`waypost restore ID --into DIR` brings captured files back, --choice resume goes \
                 on, --choice fresh starts over",
            ),
        Refusal::Undecided { .. } => Verdict::new(Exit::Refused, "prompt_user")
            .hint("--choice resume goes on, --choice fresh starts over"),
        // What is over is no reason for the next run not to start.
        Refusal::Ended { .. } => Verdict::new(Exit::Nothing, "ended")
            .hint("`waypost reopen --series SERIES` opens it again, --force goes on all the same"),
        // Nothing is there to go on from, so that a loop starts.
        Refusal::Fresh { .. } => Verdict::new(Exit::Nothing, "start_fresh"),
        Refusal::NotStarted { .. } => Verdict::new(Exit::Refused, "deleted"),
        Refusal::NoTasks { .. } => Verdict::new(Exit::Refused, "no_tasks")
            .hint("`waypost resume --json` gives all that it says"),
        Refusal::Newest { .. } => Verdict::new(Exit::Refused, "newest")
            .hint("`waypost log SERIES` shows what there is to go back to"),
        Refusal::NoSeries => Verdict::new(Exit::Usage, "no_series").hint(
            "name it with --series; `waypost rollback` goes on in the series of the checkpoint",
        ),
        Refusal::SeriesExists { .. } => Verdict::new(Exit::Refused, "exists")
            .hint("--append adds to it; `waypost rollback` goes back within a series"),
        Refusal::NoDocument => Verdict::new(Exit::Refused, "invalid")
            .hint("FILE goes before --capture: `waypost save FILE --capture PATH...`"),
        Refusal::Uncaptured { .. } => {
            Verdict::new(Exit::Refused, "uncaptured").hint("nothing was saved")
        }
        Refusal::NotResumable { .. } => Verdict::new(Exit::Refused, "cannot_resume")
            .hint("--force writes its files all the same"),
        Refusal::Changed { .. } => Verdict::new(Exit::Refused, "outdated").hint("run it again"),
        Refusal::NotADirectory { .. } => {
            Verdict::new(Exit::Refused, "not_restorable").hint("name a directory with --into")
        }
        Refusal::NotRestorable { .. } => Verdict::new(Exit::Refused, "not_restorable").hint(
            "step 2 of the report says why; move that away, or name another directory with --into",
        ),
        Refusal::StateExists { .. } => Verdict::new(Exit::Refused, "exists")
            .hint("--force replaces and keeps it; or name another file with --state"),
        Refusal::Unverified { .. } => Verdict::new(Exit::Damaged, "unverified")
            .hint("what was replaced is kept where the report says"),
        Refusal::Differs => Verdict::new(Exit::Failed, "differs"),
        Refusal::Usage(_) => Verdict::new(Exit::Usage, "usage"),
    }
}

//! `waypost resume`: chooses the checkpoint to continue from, and decides whether to.

mod ask;
mod choose;
mod difference;
mod tell;
mod worker;

use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::ValueEnum;
use clap::builder::NonEmptyStringValueParser;
use serde::Serialize;
use waypost::project;
use waypost::recovery::{
    self, Decision, IssueJson, RealWorld, Resume, Resumption, Strategy, Surroundings, differences,
};
use waypost::{Entry, Error, Issue, Series, Store, Timestamp};

use crate::args::{self, Global};
use crate::confirm::is_asked;
use crate::exit::Refusal;
use crate::output::{come_back, quoted};
use crate::{open, output};

const EXAMPLES: &str = "\
Examples:
  waypost resume 42                                  # by issue, loop, story, series or id
  waypost resume 'Implement authentication system'   # by what the work is called
  waypost resume issue:42 --strategy smart           # the last one before things went wrong
  state=$(waypost resume nightly --document)         # 0: go on, 3: start, else: ask a person
  waypost resume PROJ-42 --prompt >> worker-prompt.md
  waypost resume API-427 --prompt --worker           # all that a new worker of a pipeline needs
  waypost resume 42 --diff                           # which files changed since, line by line
  waypost resume 42 --issue-json issue.json          # what gh printed, on a machine without it";

/// Show the checkpoint to go on from, and what changed since
///
/// What is offered has been read and checked. Its branch, issue, worktree, plan and files are
/// compared with what they are now; on a terminal you are asked, elsewhere flags decide. Exit code
/// 0: go on; 3: nothing to go on from, because nothing was saved, all is done or archived, or by
/// `--choice fresh`; 4: it cannot be resumed, or a person must decide.
///
/// Scores, failures, tasks and the like are read from files of known systems, and from documents of
/// your own by the names `score`, `failures`, `failing`, `error`, `tests_passing`, `tasks_done`,
/// `tasks_remaining`, `last_action`, `last_feedback`, `description`, `branch`, `worktree`,
/// `plan_file`, `labels`, `artifacts` at their top.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(super) struct Args {
    /// A series, issue, loop, story, workflow or its description, or an id, `latest`, NAME@N; at a
    /// terminal, if not said, you choose from a list of all series
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    target: Option<String>,

    /// How to choose among the checkpoints of a series
    #[arg(long, value_enum, default_value = "last")]
    strategy: How,

    /// Decide beforehand, and do not ask
    #[arg(long, value_enum)]
    choice: Option<Choice>,

    /// Go on though the checkpoint or the world speak against it
    #[arg(long)]
    force: bool,

    /// Print the document only
    #[arg(long, conflicts_with = "prompt")]
    document: bool,

    /// Print the CHECKPOINT RESUME block for the prompt of an agent
    #[arg(long)]
    prompt: bool,

    /// With the prompt, name the new worker of a pipeline, its team, stage, worktree and answers
    ///
    /// They come from the checkpoint of the story and from the newest imported state.json beside
    /// it; what neither has is an error.
    #[arg(long, requires = "prompt")]
    worker: bool,

    /// Show how captured files, and modified files of claude-crunch, differ now, line by line
    ///
    /// Whatever is decided, and before you are asked. At most 20 files and 2,000 lines; with --json
    /// as `differences`.
    #[arg(long, conflicts_with_all = ["document", "prompt"])]
    diff: bool,

    /// Look at the newest N checkpoints of a series
    #[arg(long, value_name = "N", default_value = "256")]
    #[arg(value_parser = args::whole::<u32>(1..=100_000))]
    depth: u32,

    #[command(flatten)]
    around: Around,
}

/// Where the present state of branch, issue and files is read.
#[derive(Debug, clap::Args)]
struct Around {
    /// The issue to go on with; work on another one is not resumed
    #[arg(long)]
    issue: Option<Issue>,

    /// The directory to go on in; by default the one that the store is for, or below it the
    /// worktree or project of the work
    #[arg(long, value_name = "DIR")]
    worktree: Option<PathBuf>,

    /// The issue as it is now: what `gh issue view N --json number,body,labels` prints
    #[arg(long, value_name = "FILE")]
    issue_json: Option<PathBuf>,

    /// Do not ask `gh` about issues and pull requests
    #[arg(long)]
    no_gh: bool,
}

/// How the checkpoint is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum How {
    /// The newest that can be resumed
    Last,
    /// You choose from a list
    Select,
    /// The last one before things went wrong
    Smart,
}

/// What a person may answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Choice {
    /// Go on from the checkpoint, also if something changed since
    #[value(alias = "r")]
    Resume,
    /// Archive the series, and start over
    #[value(alias = "s", alias = "start_fresh", alias = "start-fresh")]
    Fresh,
    /// Delete the checkpoint, and do not start
    #[value(alias = "d")]
    Delete,
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    let store = open::existing(global, "resume")?;
    let home = project::home(store.path()).unwrap_or_else(|| PathBuf::from("."));
    let world = args.around.world(home)?;
    let how = args.how();
    let chosen = match choose::choose(args, &store, global, out) {
        Ok(chosen) => chosen,
        Err(error) => return or_fresh(args, &store, error, global, out),
    };
    let world = world.settled(&chosen.offer).map_err(other_issue)?;
    let mut found = chosen.decide(&how, &world, Timestamp::now());
    if !global.json {
        tell::notes(&found, global);
    }
    let changes = || Ok(differences(&store, &found.offer, &world)?);
    let shown = if args.diff { Some(changes()?) } else { None };
    if let Some(shown) = shown.as_ref().filter(|_| !global.json) {
        difference::write(out, shown, &difference::Styles::of(global))?;
        out.flush()?;
    }
    if is_question(args, &found) && is_asked_here(args, global) {
        found.decision = ask::ask(&found, &changes)?;
    }
    let ended = end(&store, &found, &world, global);
    // Prints a decision once it is carried out; any other error is printed alone.
    if ended.as_ref().err().is_none_or(anyhow::Error::is::<Refusal>) {
        let decided = tell::Decided { found: &found, shown: shown.as_ref(), root: world.root() };
        tell::tell(args, global, out, &decided)?;
    }
    ended
}

/// Carries out the decision.
fn end(store: &Store, found: &Resumption, world: &RealWorld, global: &Global) -> Result<()> {
    let entry = &found.offer.checkpoint.entry;
    match found.decision {
        Decision::Resume => Ok(()),
        Decision::StartFresh => start_fresh(store, &entry.series, global),
        Decision::Delete => delete(store, entry, global),
        Decision::Ended => {
            let Entry { series, status, .. } = entry.clone();
            Err(Refusal::Ended { series, status }.into())
        }
        Decision::PromptUser => Err(undecided(found, world.root())),
        Decision::Refused => Err(refusal(store, found)),
    }
}

impl Args {
    fn how(&self) -> Resume {
        Resume {
            strategy: match self.strategy {
                How::Last => Strategy::Last,
                How::Select => Strategy::Select,
                How::Smart => Strategy::Smart,
            },
            depth: self.depth,
            choice: self.choice.map(|choice| match choice {
                Choice::Resume => recovery::Choice::Resume,
                Choice::Fresh => recovery::Choice::Fresh,
                Choice::Delete => recovery::Choice::Delete,
            }),
            force: self.force,
        }
    }
}

impl Around {
    /// The present state around the directory of the store.
    fn world(&self, home: PathBuf) -> Result<RealWorld> {
        let Self { issue, worktree, issue_json, no_gh } = self;
        let root = worktree.as_ref().unwrap_or(&home);
        if !root.is_dir() {
            let what = format!("--worktree: {} is not a directory", root.display());
            return Err(Refusal::Usage(what).into());
        }
        let world = RealWorld::new(Surroundings {
            home,
            worktree: worktree.clone(),
            here: env::current_dir().ok(),
            issue_json: issue_json.clone().map(IssueJson::File),
            use_gh: !no_gh,
            wanted_issue: issue.clone(),
            ..Surroundings::default()
        });
        world.map_err(|error| no_issue(error, issue_json.as_deref()))
    }
}

/// Says what is wrong with the file that `--issue-json` names.
fn no_issue(error: Error, file: Option<&Path>) -> anyhow::Error {
    match (error, file) {
        (Error::Invalid { reason, .. }, Some(path)) => {
            Refusal::NotAnIssue { path: path.to_owned(), reason }.into()
        }
        (Error::Io { path, source }, _) => {
            anyhow::Error::new(source).context(format!("cannot read {}", path.display()))
        }
        (error, _) => error.into(),
    }
}

/// Says that the file that `--issue-json` names is about another issue.
fn other_issue(error: Error) -> anyhow::Error {
    match error {
        Error::Invalid { reason, .. } => Refusal::Usage(format!("--issue-json {reason}")).into(),
        error => error.into(),
    }
}

/// True if a person at the terminal is asked instead of taking the decision made without one.
fn is_question(args: &Args, found: &Resumption) -> bool {
    match found.decision {
        Decision::Resume => !args.force && !found.is_automatic(),
        Decision::PromptUser | Decision::Refused => true,
        Decision::StartFresh | Decision::Delete | Decision::Ended => false,
    }
}

/// With --json a program reads the answer: it is never asked, even at a terminal.
fn is_asked_here(args: &Args, global: &Global) -> bool {
    !(global.json || args.document || args.prompt) && args.choice.is_none() && is_asked()
}

/// The report about a series of which nothing can be read.
#[derive(Serialize)]
struct Started<'a> {
    decision: Decision,
    series: &'a str,
}

/// Starts over if that is the choice, even if no checkpoint can be read.
fn or_fresh(
    args: &Args,
    store: &Store,
    error: anyhow::Error,
    global: &Global,
    out: &mut dyn Write,
) -> Result<()> {
    match error.downcast_ref() {
        Some(Refusal::AllDamaged { series, .. }) if args.choice == Some(Choice::Fresh) => {
            let ended = start_fresh(store, series, global);
            if global.json && !args.document {
                let decision = Decision::StartFresh;
                output::json_line(out, &Started { decision, series: series.as_str() })?;
            }
            ended
        }
        _ => Err(error),
    }
}

fn start_fresh(store: &Store, series: &Series, global: &Global) -> Result<()> {
    let done = store.start_fresh(series)?;
    let (archived, damaged) = (done.archived, done.damaged);
    if damaged > 0 {
        global.note(format_args!("{damaged} of {series} are damaged and stay as they are"));
    }
    let back = format!("`waypost reopen --series {}` opens it again", quoted(series.as_str()));
    global.note(format_args!("archived {archived} of {series}: {back}"));
    Err(Refusal::Fresh { series: series.clone() }.into())
}

fn delete(store: &Store, entry: &Entry, global: &Global) -> Result<()> {
    let id = entry.id.clone();
    let deleted = store.delete(std::slice::from_ref(&id))?;
    global.note(format_args!("deleted {id}: {}", come_back(&deleted)));
    Err(Refusal::NotStarted { id }.into())
}

fn refusal(store: &Store, found: &Resumption) -> anyhow::Error {
    let entry = &found.offer.checkpoint.entry;
    let (id, why) = (entry.id.clone(), found.refusals());
    if let Some(path) = entry.source_path.as_ref().filter(|_| entry.is_unreadable()) {
        let path = project::home(store.path()).unwrap_or_default().join(path);
        return Refusal::Broken { id, why, path, older: found.older.clone() }.into();
    }
    Refusal::CannotResume {
        id,
        why,
        worktree: found.freshness.elsewhere.clone(),
        is_invalid: found.is_invalid(),
        older: found.older.clone(),
    }
    .into()
}

fn undecided(found: &Resumption, root: &Path) -> anyhow::Error {
    Refusal::Undecided {
        id: found.offer.checkpoint.entry.id.clone(),
        why: found.questions(),
        files_of: found.can_restore_files().then(|| root.to_owned()),
    }
    .into()
}

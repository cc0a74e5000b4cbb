//! `waypost resume`: which checkpoint to go on from, and whether to.

mod ask;
mod choose;
mod decision;
mod tell;

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::ValueEnum;
use clap::builder::NonEmptyStringValueParser;
use serde::Serialize;
use waypost::recovery::{Advice, Freshness, freshness};
use waypost::{Issue, Layout, Series, Status, Store, Timestamp};

use super::prune::come_back;
use crate::args::Global;
use crate::confirm::is_asked;
use crate::exit::Refusal;
use crate::open;
use crate::world::RealWorld;
use choose::Chosen;
use decision::Decision;

const EXAMPLES: &str = "\
Examples:
  waypost resume 42                                  # by issue, loop, story, series or id
  waypost resume 'Implement authentication system'   # by what the work is called
  waypost resume issue:42 --strategy smart           # the last one before things went wrong
  state=$(waypost resume nightly --document)         # 0: go on, 3: start, else: ask somebody
  waypost resume PROJ-42 --prompt >> worker-prompt.md
  waypost resume 42 --issue-json issue.json          # what gh printed, on a machine without it";

/// Choose the checkpoint to go on from, and tell whether the world is still as it was
///
/// What is offered has been read and checked. Its branch, issue, worktree, plan and files are
/// compared with what they are now; on a terminal you are asked, elsewhere flags decide. Exit code
/// 0: go on; 3: nothing to go on from, or `--choice fresh`; 4: it cannot be resumed, or somebody
/// must decide.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// A series, issue, loop, story, workflow or its description, or an id, `latest`, SERIES@N
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    target: String,

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

    /// Look at so many of the newest checkpoints of a series
    #[arg(long, value_name = "N", default_value = "256")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    depth: u32,

    #[command(flatten)]
    around: Around,
}

/// Where to look for the world as it is now.
#[derive(Debug, clap::Args)]
struct Around {
    /// The issue to go on with; work on another one is not resumed
    #[arg(long)]
    issue: Option<Issue>,

    /// The directory to go on in; by default the one that the store is for
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
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
    let home = || open::home(store.path()).unwrap_or_else(|| PathBuf::from("."));
    let Around { issue, worktree, issue_json, no_gh } = &args.around;
    let root = worktree.clone().unwrap_or_else(home);
    let world = RealWorld::new(root, issue_json.as_deref(), !no_gh)?.wanting(issue.clone());
    let chosen = choose::choose(args, &store, global, out)?;
    let now = Timestamp::now();
    let entry = &chosen.offer.checkpoint.entry;
    let freshness = freshness(entry, &chosen.offer.standing, &world, now);
    if !global.json {
        tell::notes(&chosen, &freshness, global);
    }
    let decision = decide(args, &chosen, &freshness, global)?;
    tell::tell(
        args,
        global,
        out,
        &tell::Told { chosen: &chosen, freshness: &freshness, decision },
    )?;
    match decision {
        Decision::Resume => Ok(()),
        Decision::StartFresh => start_fresh(&store, &entry.series, global),
        Decision::Delete => delete(&store, &chosen, global),
        Decision::PromptUser => Err(Refusal::Undecided { id: entry.id.clone() }.into()),
        Decision::Refused => Err(refusal(&chosen, &freshness)),
    }
}

/// What is done about a checkpoint: by flags, else by whoever is there, else by what was found.
fn decide(
    args: &Args,
    chosen: &Chosen,
    freshness: &Freshness,
    global: &Global,
) -> Result<Decision> {
    let is_refused = !chosen.hurdles.is_empty() || freshness.advice == Advice::StartFresh;
    match args.choice {
        Some(Choice::Fresh) => return Ok(Decision::StartFresh),
        Some(Choice::Delete) => return Ok(Decision::Delete),
        _ if args.force => return Ok(Decision::Resume),
        _ if is_refused => return Ok(Decision::Refused),
        Some(Choice::Resume) => return Ok(Decision::Resume),
        None => {}
    }
    // A program that reads the answer is not there to be asked, whatever its terminal is.
    let is_for_person = !(global.json || args.document || args.prompt);
    if is_for_person && is_asked() && !is_automatic(chosen, freshness) {
        return ask::ask(chosen);
    }
    Ok(match freshness.advice {
        Advice::Resume | Advice::ProceedWithWarning => Decision::Resume,
        Advice::PromptUser | Advice::StartFresh => Decision::PromptUser,
    })
}

/// The later schemas of the claude system go on by themselves when all is well.
fn is_automatic(chosen: &Chosen, freshness: &Freshness) -> bool {
    let is_claude = chosen.offer.checkpoint.entry.layout == Layout::Claude;
    is_claude && chosen.offer.standing.tests_passing.is_some() && freshness.advice == Advice::Resume
}

fn start_fresh(store: &Store, series: &Series, global: &Global) -> Result<()> {
    let archived = store.mark_series(series, Status::Archived)?.len();
    let back = format!("`waypost reopen --series {series}` takes it back");
    global.note(format_args!("archived {archived} of {series}: {back}"));
    Err(Refusal::Fresh { series: series.clone() }.into())
}

fn delete(store: &Store, chosen: &Chosen, global: &Global) -> Result<()> {
    let id = chosen.offer.checkpoint.entry.id.clone();
    let deleted = store.delete(std::slice::from_ref(&id))?;
    global.note(format_args!("deleted {id}: {}", come_back(&deleted)));
    Err(Refusal::NotStarted { id }.into())
}

fn refusal(chosen: &Chosen, freshness: &Freshness) -> anyhow::Error {
    let id = chosen.offer.checkpoint.entry.id.to_string();
    let mut why: Vec<String> = chosen.hurdles.iter().map(ToString::to_string).collect();
    let strict = freshness.findings.iter().filter(|it| it.advice == Advice::StartFresh);
    why.extend(strict.map(|finding| finding.message.clone()));
    Refusal::CannotResume { what: id, why }.into()
}

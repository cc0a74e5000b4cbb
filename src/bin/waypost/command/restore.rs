//! `waypost restore`: the files and the state of a checkpoint, step by step and with a report.
//!
//! Decides first and acts second: nothing is written before everything that will be is known to be
//! whole, and `--dry-run` prints the very plan that a run without it carries out.

mod apply;
mod later;
mod look;
mod named;
mod plan;
mod report;
mod state;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::builder::NonEmptyStringValueParser;
use waypost::layouts::{Carried, NamedFile, Standing, carried, standing};
use waypost::recovery::{self, Hurdle};
use waypost::{Artifact, Document, Entry, Error, Store};

use crate::args::Global;
use crate::exit::Refusal;
use crate::interrupt;
use crate::progress::Progress;
use crate::{name, open, output};
use later::{Later, Search};
use named::Comparison;
use plan::{Obstacle, Plan};
use report::{Outcome, Report, StepName};
use state::StateFile;
use waypost::transfer::directory::{Directory, Modes};
use waypost::transfer::own::{IS_OWN, Own, resolve};
use waypost::transfer::place::leads_home;

const EXAMPLES: &str = "\
Examples:
  waypost restore latest --into . --dry-run      # what would change
  waypost restore issue:42@1 --into . --state restored.json
  waypost restore issue:42@1 --into . --exact    # without files that came later
  waypost restore 019a8b2c-d3e4 --into before --json | jq .files";

/// Restore the files and the state of a checkpoint
///
/// In steps that are reported. The files that were captured with it (`waypost save --capture`) are
/// written below a directory, each as a whole or not at all, and never outside of it or through a
/// link. What they replace is kept below `.waypost/replaced` there. If anything of the checkpoint
/// is damaged, nothing is written. Files that later checkpoints of its series captured, and it did
/// not, are left and told, or moved away with --exact. Files that the document names without their
/// content having been captured are compared with what is there, by their hashes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// An id, the start of one, `latest`, a NAME (series, issue, loop) for its newest, or NAME@N
    /// for the Nth newest, from 0
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,

    /// The directory to write files below; made if it is not there
    ///
    /// Paths of files start at the directory that the store is for, so that DIR is that one to put
    /// them back where they were.
    #[arg(long, value_name = "DIR")]
    into: PathBuf,

    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,

    /// Move files away that only later checkpoints of the series captured
    ///
    /// They are kept below `.waypost/replaced`, like what is replaced. What was there before the
    /// checkpoint, as earlier ones or its document say, stays.
    #[arg(long)]
    exact: bool,

    /// Write variables and agent state to this file, as JSON
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,

    /// Restore what cannot be resumed from, replace a state file with other content, and write
    /// files that grant access or run at login, such as .bashrc or those in .ssh
    ///
    /// The state file that was there is kept beside the new one.
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    let store = open::existing(global, "restore")?;
    let entry = name::one(&store, &args.id)?;
    let mut report = Report::new(&entry, &args.into, args.dry_run);
    let path = open::path(global)?;
    let own = Own::new(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let ended = Restore { args, global, store: &store, own, entry: &entry }.run(&mut report);
    // Whatever came of it, the steps up to there are told.
    report.write(out, global)?;
    out.flush()?;
    ended
}

struct Restore<'a> {
    args: &'a Args,
    global: &'a Global,
    store: &'a Store,
    own: Own,
    entry: &'a Entry,
}

impl Restore<'_> {
    fn run(&self, report: &mut Report) -> Result<()> {
        let (document, artifacts) = self.validate(report)?;
        let carried = carried(self.entry.layout, &document);
        let standing = standing(self.entry, &document);
        let directory = Directory::new(&self.args.into, true, Modes::Recorded);
        let why = hurdles(self.entry, &standing);
        if !why.is_empty() && !self.args.force {
            report.cannot_resume(&why, Outcome::Failed);
            return Err(Refusal::NotResumable { id: self.entry.id.clone() }.into());
        }
        let named = &standing.snapshot.files;
        let (going, left) = self.later(&directory, &artifacts, named)?;
        let plan = self.plan(&directory, &with(&artifacts, &going), report)?;
        if !artifacts.is_empty() {
            self.note_place()?;
        }
        let state = self.state_file(&carried, &plan, &directory)?;
        let compared = Comparison::of(&directory, named, &artifacts);
        let applied = if self.args.dry_run {
            None
        } else {
            interrupt::listen()?;
            let progress = Progress::new("writing", self.global);
            match apply::apply(self.store, self.entry, &plan, &directory, &progress) {
                Ok(applied) => Some(applied),
                Err(broken) => {
                    report.broken_off(&plan, &broken);
                    return Err(broken.error);
                }
            }
        };
        let (differing, named) = (compared.differing(), compared.len());
        report.artifacts(&plan, applied.as_ref(), compared);
        report.left(&left, self.args.exact);
        report.variables(&carried)?;
        if let Some(state) = state.as_ref().filter(|_| !self.args.dry_run) {
            let failed = |error: &_| {
                report.step(StepName::AgentState, Outcome::Failed, format!("{error:#}"));
            };
            let kept = state.write().inspect_err(failed)?;
            report.state_written(kept);
        }
        report.agent_state(&carried, state.as_ref())?;
        if self.args.dry_run {
            let nothing = "nothing was written".to_owned();
            report.step(StepName::Verify, Outcome::Skipped, nothing);
        } else {
            let _progress = Progress::new("verifying", self.global);
            let wrong = unlike(&directory, &plan, state.as_ref());
            let (count, total) = (wrong.len() as u64, written(&plan, state.as_ref()));
            report.verified(wrong, total, differing);
            if count > 0 {
                return Err(Refusal::Unverified { count, total }.into());
            }
        }
        report.resume(self.entry, &why);
        match differing {
            0 => Ok(()),
            count => {
                let what = "files are not as the checkpoint names them";
                Err(Refusal::Skipped { what, count, total: named }.into())
            }
        }
    }

    /// Reads everything, so that what is damaged shows before anything is written.
    fn validate(&self, report: &mut Report) -> Result<(Document, Vec<Artifact>)> {
        match self.read_all() {
            Ok(read) => {
                let count = read.1.len();
                let files = match count {
                    0 => "no files were captured with it".to_owned(),
                    count => format!("{count} captured"),
                };
                report.step(StepName::Validate, Outcome::Ok, format!("document is whole; {files}"));
                Ok(read)
            }
            Err(error @ Error::Corrupt { .. }) => {
                report.step(StepName::Validate, Outcome::Failed, error.to_string());
                Err(error.into())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn read_all(&self) -> waypost::Result<(Document, Vec<Artifact>)> {
        let document = self.store.get(&self.entry.id)?.document()?;
        let artifacts = self.store.artifacts(&self.entry.id)?;
        let progress = Progress::new("reading", self.global).of(Some(artifacts.len() as u64));
        let with_content = artifacts.iter().filter(|artifact| artifact.sha256.is_some());
        for (artifact, done) in with_content.zip(0..) {
            progress.show(done);
            self.store.artifact(&self.entry.id, &artifact.path)?;
        }
        Ok((document, artifacts))
    }

    /// Says so if files would go below a directory in the project, and not where they were.
    fn note_place(&self) -> Result<()> {
        let into = &self.args.into;
        // What cannot be told here is told when it is written to.
        let Ok(into) = into.canonicalize().or_else(|_| resolve(into)) else { return Ok(()) };
        let home = open::home(&open::path(self.global)?);
        if let Some(home) = home.filter(|home| into.starts_with(home) && into != *home) {
            let (into, home) = (into.display(), home.display());
            let note = format!(
                "files go below {into}, but their paths start at {home}: \
                 --into {home} puts them where they were"
            );
            self.global.note(output::plain(&note));
        }
        Ok(())
    }

    /// Files that came after the checkpoint: those to move away, and those to leave.
    fn later(
        &self,
        directory: &Directory,
        artifacts: &[Artifact],
        named: &[NamedFile],
    ) -> Result<(Vec<Later>, Vec<Later>)> {
        let Self { args, global, store, entry, .. } = self;
        let later = Search { store, entry, artifacts, named, directory, global }.run()?;
        Ok(later.into_iter().partition(|it| args.exact && !it.was_before))
    }

    fn plan(
        &self,
        directory: &Directory,
        artifacts: &[Artifact],
        report: &mut Report,
    ) -> Result<Plan> {
        let into = &self.args.into;
        if into.exists() && !into.is_dir() {
            return Err(Refusal::NotADirectory { path: into.clone() }.into());
        }
        let mut obstacles = match Plan::make(directory, artifacts, &self.own) {
            Ok(plan) if self.args.force || !artifacts.iter().any(|it| leads_home(&it.path)) => {
                return Ok(plan);
            }
            Ok(_) => Vec::new(),
            Err(obstacles) => obstacles,
        };
        if !self.args.force {
            // The store cannot tell a capture of the user's from one in imported lines of JSON.
            let of_home = artifacts.iter().filter(|it| leads_home(&it.path));
            obstacles.extend(of_home.map(|it| Obstacle {
                path: it.path.clone(),
                reason: "is a file that another tool trusts or runs; --force writes it".to_owned(),
            }));
        }
        let count = obstacles.len();
        report.obstacles(obstacles);
        Err(Refusal::NotRestorable { path: into.clone(), count }.into())
    }

    fn state_file(
        &self,
        carried: &Carried,
        plan: &Plan,
        directory: &Directory,
    ) -> Result<Option<StateFile>> {
        let Some(path) = &self.args.state else { return Ok(None) };
        if self.own.has(path) {
            let what = format!("--state: {} {IS_OWN}", path.display());
            return Err(Refusal::Usage(what).into());
        }
        let is_it = |it: &plan::Planned| {
            resolve(&directory.path(&it.artifact.path)).ok() == resolve(path).ok()
        };
        if plan.files.iter().any(is_it) {
            let what = format!("--state: {} is one of the files to restore", path.display());
            return Err(Refusal::Usage(what).into());
        }
        // Files are not to be replaced before it is known that the state has a place, too.
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let is_there = |parent: &Path| parent.is_dir() || plan.makes(directory, parent);
        if !parent.is_none_or(is_there) {
            let what = format!("--state: the directory of {} is not there", path.display());
            return Err(Refusal::Usage(what).into());
        }
        StateFile::new(path, &self.entry.id, carried, self.args.force).map(Some)
    }
}

/// What was captured, and what came later as deleted, in the order of their paths.
fn with(artifacts: &[Artifact], going: &[Later]) -> Vec<Artifact> {
    let mut all = artifacts.to_vec();
    all.extend(going.iter().map(Later::as_deleted));
    all.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    all
}

/// What stands in the way of going on. Work that has ended can still be looked at.
fn hurdles(entry: &Entry, standing: &Standing) -> Vec<Hurdle> {
    let mut hurdles = recovery::hurdles(entry, standing);
    hurdles.retain(|hurdle| !matches!(hurdle, Hurdle::Ended { .. }));
    hurdles
}

/// Reads back everything that was written, and returns what is not as it should be.
fn unlike(directory: &Directory, plan: &Plan, state: Option<&StateFile>) -> Vec<Obstacle> {
    let mut wrong = plan.unlike(directory);
    wrong.extend(state.and_then(StateFile::unlike));
    wrong
}

/// How many files were written, moved or found as they should be.
fn written(plan: &Plan, state: Option<&StateFile>) -> u64 {
    plan.files.len() as u64 + u64::from(state.is_some())
}

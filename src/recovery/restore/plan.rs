//! What a restore will do, decided before anything changes.
//!
//! Must never change a file: `apply` carries out what is decided here.

use std::io;
use std::path::Path;

use super::Restore;
use super::files::{Files, PlannedFile};
use super::later::{Later, Search};
use super::named::{Compared, compare_all};
use super::refusal::{NotRestored, Refusal, Trying as _};
use super::report::{Restored, StepName, StepOutcome};
use super::state::StateFile;
use crate::checkpoint::{Artifact, Document, Entry};
use crate::error::{Error, Result};
use crate::layouts::{Carried, NamedFile, Standing, carried, standing};
use crate::recovery::{Hurdle, hurdles};
use crate::store::{Stage, Step, Store, Watch};
use crate::transfer::directory::{Directory, Modes};
use crate::transfer::own::{IS_OWN, Own, resolve};

/// A plan of a restore, for [`Store::apply_restore`] or for display.
///
/// ```
/// use std::ops::ControlFlow;
/// use waypost::artifact::ArtifactStatus;
/// use waypost::recovery::restore::{FileAction, Restore};
/// use waypost::{NewArtifact, NewEntry, Store};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// # let (path, content) = ("notes.md".to_owned(), Some(b"notes".to_vec()));
/// # let notes = NewArtifact { path, content, mode: None, status: ArtifactStatus::Created };
/// # let draft = store.draft(NewEntry::default(), &"state")?.with_artifacts(vec![notes])?;
/// let saved = store.save_draft(draft)?; // With the file notes.md.
/// let how = Restore { into: dir.path().to_owned(), ..Restore::default() };
/// let mut watch = |_| ControlFlow::Continue(());
/// let plan = store.plan_restore(&saved, &how, &mut watch)?;
/// let file = &plan.files()[0];
/// assert_eq!((file.artifact.path.as_str(), file.action), ("notes.md", FileAction::Create));
/// store.apply_restore(&plan, &mut watch)?;
/// assert_eq!(std::fs::read(dir.path().join("notes.md"))?, b"notes");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct RestorePlan {
    pub(super) entry: Entry,
    pub(super) how: Restore,
    pub(super) decided: Decided,
    /// The report up to here.
    pub(super) begun: Restored,
}

/// The decisions, and the findings behind them.
#[derive(Debug, Clone)]
pub(super) struct Decided {
    pub(super) files: Files,
    /// Files that came later and stay.
    pub(super) left: Vec<Later>,
    pub(super) compared: Vec<Compared>,
    pub(super) carried: Carried,
    pub(super) hurdles: Vec<Hurdle>,
    pub(super) state: Option<StateFile>,
}

impl RestorePlan {
    /// Returns the files and their actions, in the order of their paths.
    #[must_use]
    pub fn files(&self) -> &[PlannedFile] {
        &self.decided.files.0
    }

    /// Returns what the search for later files could not read, or left out.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.begun.notes
    }

    /// Returns the report of a dry run: what would be done.
    #[must_use]
    pub fn report(&self) -> Restored {
        let Decided { files, left, compared, carried, hurdles, state } = &self.decided;
        let mut report = Restored { dry_run: true, ..self.begun.clone() };
        report.tell_files(files, None, compared);
        report.tell_left(left, self.how.exact);
        report.tell_variables(carried);
        report.tell_agent_state(carried, state.as_ref());
        let nothing = "nothing was written".to_owned();
        report.tell(StepName::Verify, StepOutcome::Skipped, nothing);
        report.tell_resume(&self.entry, hurdles);
        report
    }
}

/// The directory of a restore.
pub(super) fn directory(how: &Restore) -> Directory {
    Directory::new(&how.into, true, Modes::Recorded)
}

pub(super) fn plan(
    store: &Store,
    entry: &Entry,
    how: &Restore,
    watch: Watch<'_>,
) -> Result<RestorePlan, NotRestored> {
    let mut begun = Restored::new(entry, how);
    match (Planning { store, entry, how }).run(&mut begun, watch) {
        Ok(decided) => Ok(RestorePlan { entry: entry.clone(), how: how.clone(), decided, begun }),
        Err(why) => Err(NotRestored::new(begun, why)),
    }
}

#[derive(Clone, Copy)]
struct Planning<'a> {
    store: &'a Store,
    entry: &'a Entry,
    how: &'a Restore,
}

impl Planning<'_> {
    fn run(self, report: &mut Restored, watch: Watch<'_>) -> Result<Decided, Refusal> {
        if self.how.into.as_os_str().is_empty() {
            return Err(Error::invalid("into", "no directory is named").into());
        }
        let (document, artifacts) = self.validate(report, watch)?;
        let standing = standing(self.entry, &document);
        let hurdles = resume_hurdles(self.entry, &standing);
        if !hurdles.is_empty() && !self.how.force {
            report.tell_hurdles(&hurdles, StepOutcome::Failed);
            return Err(Refusal::NotResumable { id: self.entry.id.clone(), hurdles });
        }
        let carried = carried(self.entry.layout, &document);
        let (directory, named) = (directory(self.how), &standing.snapshot.files);
        let own = Own::new(self.store.path());
        let own = own.trying(|| format!("read {}", self.store.path().display()))?;
        let (going, left) = self.later(&directory, &artifacts, named, &mut report.notes)?;
        let files = self.files(&directory, &with(&artifacts, &going), &own, report)?;
        let state = match &self.how.state {
            Some(path) => Some(self.state(path, &carried, &files, &own)?),
            None => None,
        };
        let compared = compare_all(&directory, named, &artifacts);
        Ok(Decided { files, left, compared, carried, hurdles, state })
    }

    /// Reads everything, so that damage shows before anything is written.
    fn validate(
        self,
        report: &mut Restored,
        watch: Watch<'_>,
    ) -> Result<(Document, Vec<Artifact>), Refusal> {
        let read = self.read_all(watch);
        let (outcome, message) = match &read {
            Ok((_, artifacts)) if artifacts.is_empty() => {
                let whole = "document is whole; no files were captured with it";
                (StepOutcome::Ok, whole.to_owned())
            }
            Ok((_, artifacts)) => {
                (StepOutcome::Ok, format!("document is whole; {} captured", artifacts.len()))
            }
            Err(Refusal::Store(error @ Error::Corrupt { .. })) => {
                (StepOutcome::Failed, error.to_string())
            }
            Err(_) => return read,
        };
        report.tell(StepName::Validate, outcome, message);
        read
    }

    fn read_all(self, watch: Watch<'_>) -> Result<(Document, Vec<Artifact>), Refusal> {
        let document = self.store.get(&self.entry.id)?.document()?;
        let artifacts = self.store.artifacts(&self.entry.id)?;
        let with_content = artifacts.iter().filter(|artifact| artifact.sha256.is_some());
        for (artifact, done) in with_content.zip(0..) {
            if watch(Step::of(Stage::Read, done, artifacts.len())).is_break() {
                return Err(Refusal::Stopped);
            }
            self.store.artifact(&self.entry.id, &artifact.path)?;
        }
        Ok((document, artifacts))
    }

    /// Files that came after the checkpoint: those to move away, and those to leave.
    fn later(
        self,
        directory: &Directory,
        artifacts: &[Artifact],
        named: &[NamedFile],
        notes: &mut Vec<String>,
    ) -> Result<(Vec<Later>, Vec<Later>)> {
        let Self { store, entry, how } = self;
        let later = Search { store, entry, artifacts, named, directory, notes }.run()?;
        Ok(later.into_iter().partition(|it| how.exact && !it.was_before))
    }

    fn files(
        self,
        directory: &Directory,
        artifacts: &[Artifact],
        own: &Own,
        report: &mut Restored,
    ) -> Result<Files, Refusal> {
        let path = self.how.into.clone();
        if path.exists() && !path.is_dir() {
            return Err(Refusal::NotADirectory { path });
        }
        Files::make(directory, artifacts, own, self.how.force).map_err(|obstacles| {
            report.tell_obstacles(&obstacles);
            Refusal::NotRestorable { path, obstacles }
        })
    }

    /// Checked before files are replaced: the state file needs a valid place, too.
    fn state(
        self,
        path: &Path,
        carried: &Carried,
        files: &Files,
        own: &Own,
    ) -> Result<StateFile, Refusal> {
        let refused = |reason| Err(Refusal::StatePlace { path: path.to_owned(), reason });
        let shown = path.display();
        if own.has(path) || own.is_led_to(path) {
            return refused(format!("{shown} {IS_OWN}"));
        }
        let directory = directory(self.how);
        let restored = |it: &PlannedFile| resolve(&directory.path(&it.artifact.path));
        let is_it = |it: io::Result<_>| it.ok() == resolve(path).ok();
        if files.0.iter().map(restored).any(is_it) {
            return refused(format!("{shown} is one of the files to restore"));
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let is_there = |parent: &Path| parent.is_dir() || files.makes(&directory, parent);
        if !parent.is_none_or(is_there) {
            return refused(format!("the directory of {shown} is not there"));
        }
        StateFile::new(path, &self.entry.id, carried, self.how.force)
    }
}

/// The captured files, and later files as deleted ones, in the order of their paths.
fn with(artifacts: &[Artifact], going: &[Later]) -> Vec<Artifact> {
    let mut all = artifacts.to_vec();
    all.extend(going.iter().map(Later::as_deleted));
    all.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    all
}

/// The hurdles of a resume. Ended work may be restored.
fn resume_hurdles(entry: &Entry, standing: &Standing) -> Vec<Hurdle> {
    let mut hurdles = hurdles(entry, standing);
    hurdles.retain(|hurdle| !matches!(hurdle, Hurdle::Ended { .. }));
    hurdles
}

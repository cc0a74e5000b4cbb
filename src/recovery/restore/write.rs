//! Carries out a plan: each file is written atomically, and replaced files are kept.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, ErrorKind};
use std::iter::once;
use std::ops::ControlFlow;
use std::path::Path;

use uuid::Uuid;

use super::files::{FileAction, Files, KEPT, PlannedFile};
use super::plan::{Decided, RestorePlan};
use super::refusal::{Refusal, Trying as _};
use crate::checkpoint::{Entry, Hash, Id, SourceForm, Timestamp};
use crate::store::{Stage, Step, Store, Watch, opening};
use crate::transfer::directory::{Content, Directory, Draft, Occupant};
use crate::transfer::place::split;
use crate::transfer::private;
use crate::transfer::whole::WholeFile;

// An id of another system may have any length and contain path separators.
const ID_CHARS: usize = 40;
// These characters of a UUIDv7 are its time in milliseconds.
const UUID_CHARS: usize = 13;
const SYNC: &str = "sync what was written";

/// Drafts, written beside the places of their files.
type Drafts<'f> = Vec<(&'f PlannedFile, Draft)>;

/// The results of carrying out a plan.
#[derive(Debug, Default)]
pub(super) struct Applied {
    /// Paths of files that were written or removed.
    pub(super) done: BTreeSet<String>,
    /// Where replaced or removed files are kept, by path.
    pub(super) kept: BTreeMap<String, String>,
    /// The directory of kept files, from that of the restore.
    pub(super) kept_in: String,
}

/// The results until a failure.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) applied: Applied,
    pub(super) why: Refusal,
}

/// Writes all drafts, moves away the files to remove, and then renames the drafts into place.
pub(super) fn write(
    store: &Store,
    plan: &RestorePlan,
    directory: &Directory,
    watch: Watch<'_>,
) -> Result<Applied, Box<Broken>> {
    let kept_in = kept_in(directory, &plan.entry.id, store.now());
    let applied = Applied { kept_in, ..Applied::default() };
    let mut work = Work { store, plan, directory, applied, touched: BTreeSet::new() };
    match work.run(watch) {
        Ok(()) => Ok(work.applied),
        Err(why) => Err(Box::new(Broken { applied: work.applied, why })),
    }
}

struct Work<'a> {
    store: &'a Store,
    plan: &'a RestorePlan,
    directory: &'a Directory,
    applied: Applied,
    /// Directories in which something changed.
    touched: BTreeSet<String>,
}

impl Work<'_> {
    fn run(&mut self, watch: Watch<'_>) -> Result<(), Refusal> {
        let Decided { files, state, .. } = &self.plan.decided;
        self.check_checkpoint(files)?;
        if let Some(path) = files.outdated(self.directory) {
            return Err(Refusal::Outdated { path: self.directory.path(path) });
        }
        if let Some(state) = state.as_ref().filter(|state| !state.is_as_planned()) {
            return Err(Refusal::Outdated { path: state.path().to_owned() });
        }
        let drafts = self.draft(files, watch)?;
        for planned in files.0.iter().filter(|it| it.action == FileAction::Remove) {
            let path = &planned.artifact.path;
            self.remove(path).trying(|| format!("move {path} away"))?;
        }
        let late = self.draft_late(files)?;
        for (planned, draft) in drafts.into_iter().chain(late) {
            let path = &planned.artifact.path;
            self.place(planned, draft).trying(|| format!("write {path}"))?;
        }
        self.finish().trying(|| SYNC.to_owned())
    }

    /// The id may have been deleted and saved again since it was planned.
    fn check_checkpoint(&self, files: &Files) -> Result<(), Refusal> {
        let artifacts = self.store.artifacts(&self.entry().id)?;
        // Removed files are kept, and may be later ones.
        let is_known = |PlannedFile { artifact, .. }: &PlannedFile| {
            let at = artifacts.binary_search_by(|it| it.path.cmp(&artifact.path));
            at.is_ok_and(|at| artifacts[at] == *artifact)
        };
        if files.written().all(is_known) { Ok(()) } else { Err(self.changed()) }
    }

    /// Writes and syncs drafts. Until all are written `watch` may end it, with nothing changed.
    fn draft<'f>(&self, files: &'f Files, watch: Watch<'_>) -> Result<Drafts<'f>, Refusal> {
        let is_early = |it: &&PlannedFile| !files.is_below_removed(&it.artifact.path);
        let total = files.written().count();
        let mut step = |done| match watch(Step::of(Stage::Write, done, total)) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Refusal::Stopped),
        };
        let mut drafts = Vec::new();
        for planned in files.written().filter(is_early) {
            step(drafts.len())?;
            drafts.push((planned, self.draft_one(planned)?));
        }
        self.sync(&drafts)?;
        step(drafts.len())?;
        Ok(drafts)
    }

    /// The same for files whose path was blocked by a file that is now removed.
    fn draft_late<'f>(&self, files: &'f Files) -> Result<Drafts<'f>, Refusal> {
        let is_late = |it: &&PlannedFile| files.is_below_removed(&it.artifact.path);
        let late = files.written().filter(is_late);
        let drafts = late.map(|planned| Ok((planned, self.draft_one(planned)?)));
        let drafts = drafts.collect::<Result<Drafts<'_>, Refusal>>()?;
        self.sync(&drafts).map(|()| drafts)
    }

    fn draft_one(&self, planned: &PlannedFile) -> Result<Draft, Refusal> {
        let path = &planned.artifact.path;
        let text = self.store.artifact(&self.entry().id, path)?;
        if planned.artifact.sha256 != Some(Hash::of(&text)) {
            return Err(self.changed());
        }
        let form = SourceForm { mode: planned.artifact.mode, ..SourceForm::default() };
        self.directory.draft(path, &Content { text, form }).trying(|| format!("write {path}"))
    }

    fn remove(&mut self, path: &str) -> io::Result<()> {
        let kept = self.room_for(path)?;
        self.directory.check(split(path).0)?;
        opening::rename_new(&self.directory.path(path), &self.directory.path(&kept))?;
        self.note(path, Some(kept));
        Ok(())
    }

    /// Renames a draft into place. Its name always leads to the old or the new file.
    fn place(&mut self, planned: &PlannedFile, mut draft: Draft) -> io::Result<()> {
        let path = &planned.artifact.path;
        let place = self.directory.path(path);
        let kept = match planned.action {
            FileAction::Replace => Some(self.keep(path, planned.before.is_some())?),
            FileAction::Create | FileAction::Remove | FileAction::Leave => None,
        };
        // Noted first: should the next call fail, a link is only there.
        self.applied.kept.extend(kept.clone().map(|kept| (path.clone(), kept)));
        self.directory.check(split(path).0)?;
        if planned.action == FileAction::Replace && planned.before.is_some() {
            fs::rename(&draft.temporary, &place)?;
        } else {
            if fs::symlink_metadata(&place).is_ok_and(|found| found.is_dir()) {
                remove_empty(&place)?;
            }
            // What came meanwhile is not replaced.
            opening::rename_new(&draft.temporary, &place)?;
        }
        draft.temporary.clear();
        self.note(path, kept);
        Ok(())
    }

    /// Keeps the file that is about to be replaced.
    fn keep(&self, path: &str, is_file: bool) -> io::Result<String> {
        let kept = self.room_for(path)?;
        let (from, to) = (self.directory.path(path), self.directory.path(&kept));
        self.directory.check(split(path).0)?;
        if !is_file {
            opening::rename_new(&from, &to)?;
            return Ok(kept);
        }
        keep_file(&from, &to)?;
        Ok(kept)
    }

    /// A path for a replaced file, in an existing directory that is reached by no link.
    fn room_for(&self, path: &str) -> io::Result<String> {
        let kept = format!("{}/{path}", self.applied.kept_in);
        let (own, _) = split(KEPT);
        if self.directory.directory(own)? == Occupant::Nothing {
            let own = self.directory.path(own);
            let cannot = |error| format!("cannot make {}: {error}", own.display());
            private::own_directory(&own).map_err(|error| io::Error::other(cannot(error)))?;
        }
        // The parent may be open to other users, so this directory is made private.
        if self.directory.directory(KEPT)? == Occupant::Nothing {
            private::directory(&self.directory.path(KEPT))?;
        }
        let (parent, _) = split(&kept);
        if let Occupant::Obstacle(why) = self.directory.directory(parent)? {
            return Err(io::Error::other(format!("{kept} {why}")));
        }
        self.directory.make_directory(parent)?;
        Ok(kept)
    }

    fn note(&mut self, path: &str, kept: Option<String>) {
        let kept_parent = kept.as_deref().map(|kept| split(kept).0);
        let parents = once(split(path).0).chain(kept_parent);
        self.touched.extend(parents.map(str::to_owned));
        self.applied.done.insert(path.to_owned());
        if let Some(kept) = kept {
            self.applied.kept.insert(path.to_owned(), kept);
        }
    }

    /// Syncs drafts before they replace other files.
    fn sync(&self, drafts: &Drafts<'_>) -> Result<(), Refusal> {
        let drafts = drafts.iter().map(|(_, draft)| draft);
        self.directory.sync_drafts(drafts).trying(|| SYNC.to_owned())
    }

    /// Syncs the names of all files.
    fn finish(&self) -> io::Result<()> {
        self.directory.sync_names(self.touched.iter().map(String::as_str))
    }

    fn entry(&self) -> &Entry {
        &self.plan.entry
    }

    fn changed(&self) -> Refusal {
        Refusal::Changed { id: self.entry().id.clone() }
    }
}

/// Gives a file a second, unused name, so that it outlasts the first.
pub(super) fn keep_file(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(error),
        // If the file system has no hard links, the file is copied, with its permissions.
        Err(_) => {
            let mut copy = WholeFile::new(to, false)?;
            let mut file = opening::read(from)?;
            io::copy(&mut file, &mut copy)?;
            copy.set_permissions(file.metadata()?.permissions())?;
            copy.finish()
        }
        Ok(()) => Ok(()),
    }
}

/// A time as part of a name.
pub(super) fn file_time(time: Timestamp) -> String {
    time.to_string().chars().filter(|it| !matches!(it, '-' | ':')).collect()
}

/// Removes a directory that has nothing but directories; never removes a file.
fn remove_empty(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_empty(&entry.path())?;
        }
    }
    fs::remove_dir(path)
}

/// An unused directory name, made of the time and the checkpoint's id.
fn kept_in(directory: &Directory, id: &Id, now: Timestamp) -> String {
    let is_uuid = id.as_str().len() == 36 && Uuid::try_parse(id.as_str()).is_ok();
    let chars = if is_uuid { UUID_CHARS } else { ID_CHARS };
    let plain = |it: char| if it.is_ascii_alphanumeric() || it == '-' { it } else { '_' };
    let id: String = id.as_str().chars().take(chars).map(plain).collect();
    let name = format!("{KEPT}/{}-{id}", file_time(now));
    let is_free = |name: &String| fs::symlink_metadata(directory.path(name)).is_err();
    // Two restores with the same time must not share a directory.
    let mut names = once(name.clone()).chain((1_u64..).map(|number| format!("{name}-{number}")));
    names.find(is_free).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::super::Restore;
    use super::*;
    use crate::checkpoint::{ArtifactStatus, NewArtifact, NewEntry};

    /// A restore would have written another checkpoint of the same id and reported it as the
    /// requested one.
    #[test]
    fn what_was_not_planned_is_not_written() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path().join("s.redb")).unwrap();
        let about = || NewEntry { id: Some(Id::new("x").unwrap()), ..NewEntry::default() };
        let file = |path: &str, text: Option<&str>| NewArtifact {
            path: path.to_owned(),
            content: text.map(Into::into),
            mode: None,
            status: text.map_or(ArtifactStatus::Deleted, |_| ArtifactStatus::Created),
        };
        let save = |text| {
            let draft = store.draft(about(), &1).unwrap();
            let files = vec![file("a", Some(text)), file("b", None)];
            store.save_draft(draft.with_artifacts(files).unwrap()).unwrap()
        };
        let entry = save("first");
        let into = dir.path().join("into");
        fs::create_dir(&into).unwrap();
        fs::write(into.join("b"), "b").unwrap();
        let how = Restore { into: into.clone(), ..Restore::default() };
        let mut watch = |_| ControlFlow::Continue(());
        let plan = store.plan_restore(&entry, &how, &mut watch).unwrap();
        let count = |action| plan.decided.files.count(action);
        assert_eq!((count(FileAction::Create), count(FileAction::Remove)), (1, 1));
        store.delete_now(std::slice::from_ref(&entry.id)).unwrap();
        save("second");
        let broken = store.apply_restore(&plan, &mut watch).unwrap_err();
        assert!(broken.to_string().contains("changed meanwhile"), "{broken}");
        assert_eq!(fs::read_dir(&into).unwrap().count(), 1, "nothing was written");
        assert_eq!(fs::read(into.join("b")).unwrap(), b"b", "nor removed");
    }
}

//! Carries a plan out: each file is there as a whole or not at all, and what it replaces is kept.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use anyhow::{Context as _, Result};
use waypost::{Entry, Hash, Id, SourceForm, Store, Timestamp, opening};

use super::plan::{Action, KEPT, Plan, Planned};
use crate::exit::Refusal;
use crate::interrupt;
use crate::open;
use crate::output::short_id;
use crate::progress::Progress;
use waypost::transfer::directory::{Content, Directory, Draft, Found};
use waypost::transfer::place::{ancestors, split};
use waypost::transfer::private;

// An id of another system may be of any length, and lead anywhere.
const ID_CHARS: usize = 40;

/// What was done beside what was planned.
#[derive(Debug, Default)]
pub(super) struct Applied {
    /// Paths of files that were written or removed.
    pub(super) done: BTreeSet<String>,
    /// Where what was replaced or removed is now, by its path.
    pub(super) kept: BTreeMap<String, String>,
    /// The directory of that, from the one of the restore.
    pub(super) kept_in: String,
}

/// What was done until something failed.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) applied: Applied,
    pub(super) error: anyhow::Error,
}

/// Removes, then writes all files beside their places, and then puts them there.
pub(super) fn apply(
    store: &Store,
    entry: &Entry,
    plan: &Plan,
    directory: &Directory,
    progress: &Progress,
) -> Result<Applied, Box<Broken>> {
    let kept_in = format!("{KEPT}/{}", kept_name(&entry.id, Timestamp::now()));
    let applied = Applied { kept_in, ..Applied::default() };
    let mut work = Work { directory, progress, applied, touched: BTreeSet::new() };
    match work.run(store, entry, plan) {
        Ok(()) => Ok(work.applied),
        Err(error) => Err(Box::new(Broken { applied: work.applied, error })),
    }
}

struct Work<'a> {
    directory: &'a Directory,
    progress: &'a Progress,
    applied: Applied,
    /// Directories in which something changed.
    touched: BTreeSet<String>,
}

impl Work<'_> {
    fn run(&mut self, store: &Store, entry: &Entry, plan: &Plan) -> Result<()> {
        // The id may have been deleted and saved again since it was planned.
        let artifacts = store.artifacts(&entry.id)?;
        let is_known = |Planned { artifact, .. }: &Planned| {
            let at = artifacts.binary_search_by(|it| it.path.cmp(&artifact.path));
            at.is_ok_and(|at| artifacts[at] == *artifact)
        };
        let is_of_checkpoint = |planned: &&Planned| match planned.action {
            Action::Create | Action::Replace => true,
            // What is removed is kept, and may be what came later.
            Action::Remove | Action::Leave => false,
        };
        if !plan.files.iter().filter(is_of_checkpoint).all(is_known) {
            return Err(changed(entry));
        }
        // First, since a file that goes may be in the way of a directory that comes.
        for planned in plan.files.iter().filter(|planned| planned.action == Action::Remove) {
            let path = &planned.artifact.path;
            self.remove(path).with_context(|| format!("cannot move {path} away"))?;
        }
        let mut drafts = Vec::new();
        let is_written =
            |planned: &&Planned| matches!(planned.action, Action::Create | Action::Replace);
        let total = plan.files.iter().filter(is_written).count() as u64;
        self.progress.stage("writing", Some(total));
        for planned in plan.files.iter().filter(is_written) {
            self.progress.show(drafts.len() as u64);
            check_interrupt()?;
            let path = &planned.artifact.path;
            let text = store.artifact(&entry.id, path)?;
            if planned.artifact.sha256 != Some(Hash::of(&text)) {
                return Err(changed(entry));
            }
            let form = SourceForm { mode: planned.artifact.mode, ..SourceForm::default() };
            let draft = self.directory.draft(path, &Content { text, form });
            drafts.push((planned, draft.with_context(|| format!("cannot write {path}"))?));
        }
        self.sync(drafts.iter().map(|(_, draft)| draft.temporary.as_path()))
            .context("cannot sync what was written")?;
        // From here on it is soon done, and better than half done.
        check_interrupt()?;
        for (planned, draft) in drafts {
            let path = &planned.artifact.path;
            self.place(planned, draft).with_context(|| format!("cannot write {path}"))?;
        }
        self.finish().context("cannot sync what was written")
    }

    fn remove(&mut self, path: &str) -> io::Result<()> {
        let kept = self.room_for(path)?;
        self.directory.check(split(path).0)?;
        opening::rename_new(&self.directory.path(path), &self.directory.path(&kept))?;
        self.note(path, Some(kept));
        Ok(())
    }

    /// Puts a draft in its place. There is always the old file under its name, or the new one.
    fn place(&mut self, planned: &Planned, mut draft: Draft) -> io::Result<()> {
        let path = &planned.artifact.path;
        let place = self.directory.path(path);
        let kept = match planned.action {
            Action::Replace => Some(self.keep(path, planned.before.is_some())?),
            Action::Create | Action::Remove | Action::Leave => None,
        };
        // Should the next call fail, a link is there and nowhere else.
        self.applied.kept.extend(kept.clone().map(|kept| (path.clone(), kept)));
        self.directory.check(split(path).0)?;
        if planned.action == Action::Replace && planned.before.is_some() {
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

    /// Keeps what is about to be replaced.
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

    /// A path for what is replaced, in a directory that is there and is reached by no link.
    fn room_for(&self, path: &str) -> io::Result<String> {
        let kept = format!("{}/{path}", self.applied.kept_in);
        let (own, _) = split(KEPT);
        if self.directory.directory(own)? == Found::Nothing {
            open::create_directory(&self.directory.path(own)).map_err(io::Error::other)?;
        }
        // Whoever made the one above may let others into it.
        if self.directory.directory(KEPT)? == Found::Nothing {
            private::directory(&self.directory.path(KEPT))?;
        }
        let (parent, _) = split(&kept);
        if let Found::Obstacle(why) = self.directory.directory(parent)? {
            return Err(io::Error::other(format!("{kept} {why}")));
        }
        self.directory.make_directory(parent)?;
        Ok(kept)
    }

    fn note(&mut self, path: &str, kept: Option<String>) {
        let kept_parent = kept.as_deref().map(|kept| split(kept).0);
        let parents = std::iter::once(split(path).0).chain(kept_parent);
        self.touched.extend(parents.flat_map(ancestors).map(str::to_owned));
        self.applied.done.insert(path.to_owned());
        if let Some(kept) = kept {
            self.applied.kept.insert(path.to_owned(), kept);
        }
    }

    /// Makes sure that drafts last, before they take the places of others.
    fn sync<'d>(&self, mut drafts: impl Iterator<Item = &'d Path>) -> io::Result<()> {
        if self.sync_system() {
            return Ok(());
        }
        drafts.try_for_each(|draft| opening::read(draft)?.sync_all())
    }

    /// Makes sure that names last.
    fn finish(&self) -> io::Result<()> {
        if !self.touched.is_empty() && cfg!(unix) && !self.sync_system() {
            let sync = |path: &String| opening::directory(&self.directory.path(path))?.sync_all();
            self.touched.iter().try_for_each(sync)?;
        }
        Ok(())
    }

    fn sync_system(&self) -> bool {
        let system = self.directory.system.get().and_then(Option::as_ref);
        system.is_some_and(|system| system.sync().is_ok())
    }
}

/// Gives a file a second name, which nothing has yet, so that it outlasts the first.
pub(super) fn keep_file(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(error),
        // Where a file cannot have two names, it is copied.
        Err(_) => {
            // Who may not read the one may not read the other.
            let mut copy = opening::make(to)?;
            let mut file = opening::read(from)?;
            io::copy(&mut file, &mut copy)?;
            copy.set_permissions(file.metadata()?.permissions())?;
            copy.sync_all()
        }
        Ok(()) => Ok(()),
    }
}

/// A time as part of a name.
pub(super) fn file_time(time: Timestamp) -> String {
    time.to_string().chars().filter(|it| !matches!(it, '-' | ':')).collect()
}

fn check_interrupt() -> Result<()> {
    let told = "no file was written; run it again";
    interrupt::signal().map_or(Ok(()), |signal| Err(signal.error(told.to_owned())))
}

fn changed(entry: &Entry) -> anyhow::Error {
    Refusal::Changed { id: entry.id.clone() }.into()
}

/// Removes a directory in which there are at most directories; nothing else is ever removed.
fn remove_empty(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_empty(&entry.path())?;
        }
    }
    fs::remove_dir(path)
}

/// The name of a directory that tells when and for what it was made.
fn kept_name(id: &Id, now: Timestamp) -> String {
    let time = file_time(now);
    let plain = |it: char| if it.is_ascii_alphanumeric() || it == '-' { it } else { '_' };
    let id: String = short_id(id, 13).chars().take(ID_CHARS).map(plain).collect();
    format!("{time}-{id}")
}

#[cfg(test)]
mod tests {
    use waypost::{ArtifactStatus, NewArtifact, NewEntry};

    use super::*;
    use waypost::transfer::directory::Modes;
    use waypost::transfer::own::Own;

    /// Another checkpoint of the same id would have been written, and told as the one asked for.
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
        let directory = Directory::new(&into, true, Modes::Recorded);
        let artifacts = store.artifacts(&entry.id).unwrap();
        let plan = Plan::make(&directory, &artifacts, &Own::default()).unwrap();
        assert_eq!((plan.count(Action::Create), plan.count(Action::Remove)), (1, 1));
        store.delete_now(std::slice::from_ref(&entry.id)).unwrap();
        save("second");
        let broken = apply(&store, &entry, &plan, &directory, &Progress::hidden()).unwrap_err();
        assert!(broken.error.to_string().contains("changed meanwhile"), "{:#}", broken.error);
        assert_eq!(fs::read_dir(&into).unwrap().count(), 1, "nothing was written");
        assert_eq!(fs::read(into.join("b")).unwrap(), b"b", "nor removed");
    }
}

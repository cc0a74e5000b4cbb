//! Puts the drafts of an export in their places, once they are on disk.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::mpsc::Receiver;

use anyhow::{Context as _, Result};
use waypost::{Layout, opening};

use super::tally::Tally;
use super::vacate::Moved;
use crate::args::Global;
use waypost::transfer::directory::{Directory, Draft};
use waypost::transfer::place::{ancestors, split};
use waypost::transfer::system::{self, Identity};

/// A draft that is to be put in its place.
pub(super) struct Pending {
    pub(super) draft: Draft,
    pub(super) path: String,
    /// What to call it if that fails.
    pub(super) name: String,
    pub(super) layout: Layout,
    /// How many are in it.
    pub(super) checkpoints: u64,
    /// Where it was before.
    pub(super) moved: Option<Moved>,
}

/// Puts drafts in their places.
pub(super) struct Placer<'a> {
    directory: &'a Directory,
    tally: Tally,
    /// Files of this export, which are not replaced by another one whose name counts as the same.
    own: HashSet<Identity>,
    /// Directories in which something was put in its place.
    touched: BTreeSet<String>,
}

impl<'a> Placer<'a> {
    pub(super) fn new(directory: &'a Directory) -> Self {
        let (own, touched) = (HashSet::new(), BTreeSet::new());
        Self { directory, tally: Tally::default(), own, touched }
    }

    /// Puts all that comes in its place, and makes sure that it lasts.
    pub(super) fn run(mut self, batches: Receiver<Vec<Pending>>, global: &Global) -> Result<Tally> {
        batches.into_iter().try_for_each(|batch| self.take(batch, global))?;
        self.finish()
    }

    /// Moves drafts into place.
    pub(super) fn take(&mut self, batch: Vec<Pending>, global: &Global) -> Result<()> {
        let synced = self.sync(batch.iter().map(|pending| &pending.draft));
        synced.context("cannot sync the export")?;
        for Pending { draft, path, name, layout, checkpoints, moved } in batch {
            let bytes = draft.bytes;
            let placed = self.place(draft, &path);
            if placed.with_context(|| format!("cannot write {path}"))? {
                self.tally.bytes += bytes;
                self.tally.export(layout, checkpoints);
                self.tally.moved.extend(moved);
            } else {
                self.tally.refuse_for_other(global, &name, &path, checkpoints);
            }
        }
        Ok(())
    }

    /// Syncs all names, and returns what was written.
    pub(super) fn finish(self) -> Result<Tally> {
        self.sync_names().context("cannot sync the export")?;
        Ok(self.tally)
    }

    /// Makes sure that drafts last, so that they can be put in their places.
    fn sync<'d>(&self, mut drafts: impl Iterator<Item = &'d Draft>) -> io::Result<()> {
        if self.sync_system() {
            return Ok(());
        }
        drafts.try_for_each(|draft| match opening::read(&draft.temporary) {
            // A link, which is no file to be synced.
            Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
            file => file?.sync_all(),
        })
    }

    /// Puts a draft in its place; `false` if another file is there, and is to stay.
    fn place(&mut self, mut draft: Draft, path: &str) -> io::Result<bool> {
        let place = self.directory.path(path);
        let renamed = self.directory.check(split(path).0);
        match renamed.and_then(|()| opening::rename_new(&draft.temporary, &place)) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                if !self.directory.overwrites || self.is_own(&place)? {
                    return Ok(false);
                }
                match fs::rename(&draft.temporary, &place) {
                    // A directory of this very export, or of whoever was here before.
                    Err(error) if is_obstacle(&error) => return Ok(false),
                    renamed => renamed?,
                }
            }
            Err(error) if is_obstacle(&error) => return Ok(false),
            renamed => renamed?,
        }
        if self.directory.overwrites {
            self.own.insert(draft.identity.unwrap_or_else(|| system::identity_of_name(&place)));
        }
        draft.temporary.clear();
        let (parent, _) = split(path);
        if !self.touched.contains(parent) {
            self.touched.insert(parent.to_owned());
        }
        Ok(true)
    }

    fn is_own(&self, place: &Path) -> io::Result<bool> {
        let found = fs::symlink_metadata(place)?;
        let identity = system::identity(&found).unwrap_or_else(|| system::identity_of_name(place));
        Ok(self.own.contains(&identity))
    }

    /// Makes sure that names last.
    fn sync_names(&self) -> io::Result<()> {
        if self.touched.is_empty() || self.sync_system() || !cfg!(unix) {
            return Ok(());
        }
        let directories: BTreeSet<&str> =
            self.touched.iter().flat_map(|path| ancestors(path)).collect();
        let sync = |path: &str| opening::directory(&self.directory.path(path))?.sync_all();
        directories.into_iter().try_for_each(sync)
    }

    fn sync_system(&self) -> bool {
        let system = self.directory.system.get().and_then(Option::as_ref);
        system.is_some_and(|system| system.sync().is_ok())
    }
}

fn is_obstacle(error: &io::Error) -> bool {
    let kinds = [ErrorKind::IsADirectory, ErrorKind::NotADirectory, ErrorKind::DirectoryNotEmpty];
    kinds.contains(&error.kind())
}

#[cfg(test)]
mod tests {
    use waypost::SourceForm;

    use super::*;
    use waypost::transfer::directory::{Content, Found, Modes};

    fn content(text: &str) -> Content {
        Content { text: text.into(), form: SourceForm::default() }
    }

    fn names(place: &Path) -> Vec<String> {
        let names = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name());
        names.map(|name| name.into_string().unwrap()).collect()
    }

    /// As where case does not count: the second name leads to the first file.
    #[test]
    fn a_file_of_the_same_export_is_never_replaced() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a"), "before").unwrap();
        let directory = Directory::new(dir.path(), true, Modes::Limited);
        let mut placer = Placer::new(&directory);
        let drafts = ["first", "second"].map(|text| directory.draft("a", &content(text)).unwrap());
        placer.sync(drafts.iter()).unwrap();
        let [first, second] = drafts;
        assert!(placer.place(first, "a").unwrap(), "what was there before is replaced");
        assert!(!placer.place(second, "a").unwrap());
        placer.finish().unwrap();
        assert_eq!(fs::read(dir.path().join("a")).unwrap(), b"first");
        assert_eq!(names(dir.path()), ["a"], "what has no place is gone");
    }

    #[test]
    fn a_file_that_came_meanwhile_stays() {
        let dir = tempfile::tempdir().unwrap();
        let directory = Directory::new(dir.path(), false, Modes::Limited);
        let mut placer = Placer::new(&directory);
        assert_eq!(directory.look("x/a", &content("ours")).unwrap(), Found::Nothing);
        let draft = directory.draft("x/a", &content("ours")).unwrap();
        fs::write(dir.path().join("x/a"), "theirs").unwrap();
        assert!(!placer.place(draft, "x/a").unwrap());
        assert_eq!(fs::read(dir.path().join("x/a")).unwrap(), b"theirs");
        let directory = Directory::new(dir.path(), false, Modes::Limited);
        assert_eq!(directory.look("x/a", &content("ours")).unwrap(), Found::Other);
        assert_eq!(directory.look("x/a", &content("theirs")).unwrap(), Found::Same);
    }

    /// It was known as a directory once, and never looked at again.
    #[cfg(unix)]
    #[test]
    fn a_directory_that_became_a_link_meanwhile_is_not_entered() {
        let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let at = |name: &str| dir.path().join(name);
        let directory = Directory::new(dir.path(), true, Modes::Limited);
        let mut placer = Placer::new(&directory);
        let draft = directory.draft("x/y/a", &content("ours")).unwrap();
        fs::create_dir(elsewhere.path().join("y")).unwrap();
        let temporary = elsewhere.path().join("y").join(draft.temporary.file_name().unwrap());
        fs::write(&temporary, "theirs").unwrap();
        fs::rename(at("x"), at("z")).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), at("x")).unwrap();
        assert!(!placer.place(draft, "x/y/a").unwrap());
        assert!(directory.draft("x/y/b", &content("ours")).is_err());
        assert!(directory.draft("x/b", &content("ours")).is_err());
        assert_eq!(names(elsewhere.path()), ["y"]);
        assert!(!elsewhere.path().join("y/a").exists());
        assert_eq!(names(&at("z/y")).len(), 1);
    }

    #[test]
    fn a_draft_is_not_there_under_its_name_and_goes_when_it_is_given_up() {
        let dir = tempfile::tempdir().unwrap();
        let directory = Directory::new(dir.path(), false, Modes::Limited);
        let draft = directory.draft("a", &content("ours")).unwrap();
        assert!(!dir.path().join("a").exists());
        assert_eq!(names(dir.path()).len(), 1);
        drop(draft);
        assert!(names(dir.path()).is_empty());
    }
}

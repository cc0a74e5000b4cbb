//! Renames the drafts of an export into place, once they are on disk.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::mpsc::Receiver;

use super::failure::{ExportError, NotExported, Trying as _};
use super::report::Exported;
use super::vacate::Move;
use crate::checkpoint::Layout;
use crate::store::opening;
use crate::transfer::directory::{Directory, Draft};
use crate::transfer::place::split;
use crate::transfer::system::{self, Identity};

/// A draft that is to be put in its place.
pub(super) struct Pending {
    pub(super) draft: Draft,
    pub(super) path: String,
    /// The id of its checkpoint, or its path if it has several or none.
    pub(super) name: String,
    pub(super) layout: Layout,
    /// Number of checkpoints in it.
    pub(super) checkpoints: u64,
    /// The place it comes from, if it has another one now.
    pub(super) moved: Option<Move>,
}

/// The placed files, and those left out.
#[derive(Default)]
pub(super) struct Placed {
    pub(super) report: Exported,
    pub(super) moves: Vec<Move>,
    /// Files that stay out since another one came, counted but not reported to the caller: the
    /// placer may run in a thread of its own.
    pub(super) left_out: Vec<(String, NotExported)>,
}

/// Puts drafts in their places.
pub(super) struct Placer<'a> {
    directory: &'a Directory,
    placed: Placed,
    /// Files of this export. They are not replaced by another one whose name counts as the same,
    /// as where case does not count.
    own: HashSet<Identity>,
    /// Directories in which something was put in its place.
    touched: BTreeSet<String>,
    /// Directories held open whose paths were checked for this batch.
    checked: HashSet<String>,
}

impl<'a> Placer<'a> {
    pub(super) fn new(directory: &'a Directory) -> Self {
        let (own, touched, checked) = (HashSet::new(), BTreeSet::new(), HashSet::new());
        Self { directory, placed: Placed::default(), own, touched, checked }
    }

    /// Places all batches until the channel closes.
    pub(super) fn run(mut self, batches: Receiver<Vec<Pending>>) -> Result<Placed, ExportError> {
        batches.into_iter().try_for_each(|batch| self.take(batch))?;
        self.finish()
    }

    /// Puts drafts in their places, after they are on disk.
    pub(super) fn take(&mut self, batch: Vec<Pending>) -> Result<(), ExportError> {
        let synced = self.directory.sync_drafts(batch.iter().map(|pending| &pending.draft));
        synced.trying(|| SYNC.to_owned())?;
        self.checked.clear();
        for Pending { draft, path, name, layout, checkpoints, moved } in batch {
            let bytes = draft.bytes;
            let placed = self.place(draft, &path);
            if placed.trying(|| format!("write {path}"))? {
                self.placed.report.bytes += bytes;
                self.placed.report.count(layout, checkpoints);
                self.placed.moves.extend(moved);
            } else {
                let why = NotExported::Differs { path };
                self.placed.report.leave_out(&why, checkpoints);
                self.placed.left_out.push((name, why));
            }
        }
        Ok(())
    }

    /// Syncs the names of all files, and returns what was placed.
    pub(super) fn finish(self) -> Result<Placed, ExportError> {
        let touched = self.touched.iter().map(String::as_str);
        self.directory.sync_names(touched).trying(|| SYNC.to_owned())?;
        Ok(self.placed)
    }

    /// Renames a draft into place; `false` if another file is there and must stay.
    fn place(&mut self, mut draft: Draft, path: &str) -> io::Result<bool> {
        let place = self.directory.path(path);
        match self.rename_new(&draft, path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                if !self.directory.overwrites || self.is_own(&place)? {
                    return Ok(false);
                }
                let replaced = match &draft.folder {
                    Some(folder) => folder.rename(draft.name(), split(path).1),
                    None => fs::rename(&draft.temporary, &place),
                };
                match replaced {
                    // A directory, of this export or from before.
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

    /// Renames a draft if its name is free. Its directory must still be at its path.
    fn rename_new(&mut self, draft: &Draft, path: &str) -> io::Result<()> {
        let (parent, name) = split(path);
        let Some(folder) = &draft.folder else {
            self.directory.check(parent)?;
            return opening::rename_new(&draft.temporary, &self.directory.path(path));
        };
        if !self.checked.contains(parent) {
            self.directory.check_held(parent, folder)?;
            self.checked.insert(parent.to_owned());
        }
        folder
            .rename_new(draft.name(), name)
            .unwrap_or_else(|| opening::rename_new(&draft.temporary, &self.directory.path(path)))
    }

    fn is_own(&self, place: &Path) -> io::Result<bool> {
        let found = fs::symlink_metadata(place)?;
        let identity = system::identity(&found).unwrap_or_else(|| system::identity_of_name(place));
        Ok(self.own.contains(&identity))
    }
}

const SYNC: &str = "sync the export";

fn is_obstacle(error: &io::Error) -> bool {
    let kinds = [ErrorKind::IsADirectory, ErrorKind::NotADirectory, ErrorKind::DirectoryNotEmpty];
    kinds.contains(&error.kind())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::SourceForm;
    use crate::transfer::directory::{Content, Modes, Occupant};

    fn content(text: &str) -> Content {
        Content { text: text.into(), form: SourceForm::default() }
    }

    fn names(place: &Path) -> Vec<String> {
        let names = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name());
        names.map(|name| name.into_string().unwrap()).collect()
    }

    /// As on a case-insensitive file system: the second name leads to the first file.
    #[test]
    fn a_file_of_the_same_export_is_never_replaced() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a"), "before").unwrap();
        let directory = Directory::new(dir.path(), true, Modes::Limited);
        let mut placer = Placer::new(&directory);
        let drafts = ["first", "second"].map(|text| directory.draft("a", &content(text)).unwrap());
        directory.sync_drafts(drafts.iter()).unwrap();
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
        assert_eq!(directory.look("x/a", &content("ours")).unwrap(), Occupant::Nothing);
        let draft = directory.draft("x/a", &content("ours")).unwrap();
        fs::write(dir.path().join("x/a"), "theirs").unwrap();
        assert!(!placer.place(draft, "x/a").unwrap());
        assert_eq!(fs::read(dir.path().join("x/a")).unwrap(), b"theirs");
        let directory = Directory::new(dir.path(), false, Modes::Limited);
        assert_eq!(directory.look("x/a", &content("ours")).unwrap(), Occupant::Other);
        assert_eq!(directory.look("x/a", &content("theirs")).unwrap(), Occupant::Same);
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
        // Drafts go to the directory that is held open, and never get a name.
        let draft = directory.draft("x/y/b", &content("ours")).unwrap();
        assert!(!placer.place(draft, "x/y/b").unwrap());
        assert!(directory.draft("x/b", &content("ours")).is_err());
        assert_eq!(names(elsewhere.path()), ["y"]);
        assert_eq!(fs::read(temporary).unwrap(), b"theirs", "and no other file is removed");
        assert_eq!(names(&elsewhere.path().join("y")).len(), 1);
        assert!(names(&at("z/y")).is_empty());
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

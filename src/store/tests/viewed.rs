//! Views: what a handle reads of a store that another handle has open, and of files that change or
//! are damaged meanwhile.

use std::error::Error as _;
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::{about, state};
use crate::checkpoint::{Entry, Id, NewEntry, Trigger};
use crate::error::{Error, Result};
use crate::key::Span;
use crate::retention::Policy;
use crate::store::engine::location;
use crate::store::log::spool::own::IDLE;
use crate::store::{Hold, Options, Settings, Store};

/// A store that one handle has open, and another handle that reads beside it.
pub(super) struct Pair {
    dir: tempfile::TempDir,
    pub(super) writer: Store,
    pub(super) reader: Store,
}

impl Pair {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.redb");
        let options = Options { hold: Hold::Forever, ..Options::default() };
        let writer = Store::open_with(&path, options).unwrap();
        let reader = Store::open(&path).unwrap();
        Self { dir, writer, reader }
    }
}

/// A view prunes on save, too. So a view had removed the base of a later save, while the saving
/// process still had that base, and the save could not be read.
///
/// Also, a save that a view could not add was lost for other threads with the same view.
#[test]
fn a_save_whose_base_a_view_has_pruned_is_read_in_another_view() {
    let pair = Pair::new();
    let policy = Some(Policy::preset("last-1").unwrap());
    let settings = Settings { policy, prune_on_save: true, ..Settings::default() };
    pair.writer.set_settings(&settings).unwrap();
    let mut without_base = 0;
    for number in 0..4000 {
        // On a busy machine the writer may prune first many times.
        if number >= 40 && without_base > 0 {
            return;
        }
        pair.reader.count().unwrap();
        let view = pair.reader.shared.views.kept().unwrap();
        let about = NewEntry { trigger: Trigger::Heartbeat, ..about(0) };
        let saved = pair.writer.save(about, &state(0, number)).unwrap();
        if view.is_current().unwrap() && !view.follow().unwrap() {
            without_base += 1;
            assert!(!view.follow().unwrap(), "other threads must not miss it");
        }
        let found = pair.reader.get(&saved.id).unwrap();
        assert_eq!(found.state::<Vec<String>>().unwrap(), state(0, number));
    }
    panic!("the writer always prunes first");
}

/// What a killed process left: tables, a journal and spooled saves.
struct Killed {
    dir: tempfile::TempDir,
    /// In the order in which they were saved.
    saved: Vec<Id>,
}

impl Killed {
    fn new() -> Self {
        let pair = Pair::new();
        let mut saved = Vec::new();
        for number in 0..30 {
            let entry = pair.writer.save(about(0), &state(0, number)).unwrap();
            saved.push(entry.id);
            if number == 20 {
                pair.writer.delete_now(&saved.split_off(20)).unwrap();
            }
        }
        let dir = tempfile::tempdir().unwrap();
        for found in fs::read_dir(pair.dir.path()).unwrap() {
            let path = found.unwrap().path();
            fs::copy(&path, dir.path().join(path.file_name().unwrap())).unwrap();
        }
        let killed = Self { dir, saved };
        assert!(location::beside(&killed.path(), ".journal").exists());
        killed
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("store.redb")
    }

    /// Opens a handle that keeps a view.
    fn reader(&self, cache_bytes: usize) -> Store {
        let wait = Duration::from_millis(100);
        let options = Options { create: false, wait, cache_bytes, ..Options::default() };
        let reader = Store::open_with(self.path(), options).unwrap();
        assert_eq!(list(&reader).unwrap(), self.saved);
        assert!(reader.shared.views.kept().is_some());
        reader
    }
}

pub(super) fn list(store: &Store) -> Result<Vec<Id>> {
    let entries: Vec<Entry> = store.read(|snapshot| snapshot.entries(Span::ALL)?.collect())?;
    let mut entries: Vec<_> = entries.into_iter().map(|entry| (entry.sequence, entry.id)).collect();
    entries.sort_unstable();
    Ok(entries.into_iter().map(|(_, id)| id).collect())
}

/// Whether the text of an error names a path.
fn names(error: &Error, path: &Path) -> bool {
    let source = error.source().map(ToString::to_string).unwrap_or_default();
    format!("{error} {source}").contains(&*path.to_string_lossy())
}

type Hurt = fn(&Path);

/// What happens to a file while a view of it is kept.
const HURTS: [(&str, Hurt); 8] = [
    ("cut to nothing", |path| cut(path, 0)),
    ("cut within the header", |path| cut(path, 100)),
    ("cut behind the first page", |path| cut(path, 4096)),
    ("cut by its last part", |path| cut(path, fs::metadata(path).unwrap().len() / 2)),
    ("overwritten", |path| put_zeros(path, 0)),
    ("overwritten behind the first page", |path| put_zeros(path, 4096)),
    ("a directory", |path| {
        fs::remove_file(path).unwrap();
        fs::create_dir(path).unwrap();
    }),
    ("gone", |path| fs::remove_file(path).unwrap()),
];

fn cut(path: &Path, bytes: u64) {
    OpenOptions::new().write(true).open(path).unwrap().set_len(bytes).unwrap();
}

fn put_zeros(path: &Path, from: u64) {
    let length = fs::metadata(path).unwrap().len();
    cut(path, from);
    cut(path, length);
}

#[test]
fn a_view_of_a_file_that_is_damaged_gives_all_of_it_or_an_error() {
    for (what, hurt) in HURTS {
        for cache_bytes in [0, 1 << 20] {
            let killed = Killed::new();
            let reader = killed.reader(cache_bytes);
            hurt(&killed.path());
            let case = format!("{what}, with a cache of {cache_bytes}");
            for _ in 0..2 {
                match list(&reader) {
                    Ok(found) => assert_eq!(found, killed.saved, "{case}"),
                    Err(error) => assert!(names(&error, &killed.path()), "{case}: {error:?}"),
                }
                for (number, id) in killed.saved.iter().enumerate().step_by(4) {
                    match reader.get(id) {
                        Ok(found) => assert_eq!(found.entry.id, *id, "{number}, {case}"),
                        Err(error) => assert!(names(&error, &killed.path()), "{case}: {error:?}"),
                    }
                }
            }
        }
    }
}

#[test]
fn another_store_in_the_place_of_a_view_is_read() {
    let other = Killed::new();
    for is_link in [false, true] {
        let killed = Killed::new();
        let reader = killed.reader(0);
        if is_link {
            fs::remove_file(killed.path()).unwrap();
            #[cfg(unix)]
            std::os::unix::fs::symlink(other.path(), killed.path()).unwrap();
            let error = list(&reader).unwrap_err();
            assert!(names(&error, &killed.path()), "{error:?}");
        } else {
            let new = killed.dir.path().join("new");
            fs::copy(other.path(), &new).unwrap();
            fs::rename(new, killed.path()).unwrap();
            // The journal is that of the first store.
            let found = list(&reader).unwrap();
            assert!(!found.is_empty() && other.saved.starts_with(&found), "{found:?}");
        }
    }
}

#[test]
fn a_view_has_what_it_read_of_a_journal_whatever_becomes_of_it() {
    let flipped: Hurt = |path| {
        let mut bytes = fs::read(path).unwrap();
        bytes[40] ^= 1;
        fs::write(path, bytes).unwrap();
    };
    for (what, hurt) in HURTS.into_iter().chain([("flipped", flipped)]) {
        let killed = Killed::new();
        let reader = killed.reader(0);
        let journal = location::beside(&killed.path(), ".journal");
        hurt(&journal);
        for _ in 0..2 {
            match list(&reader) {
                Ok(found) => assert_eq!(found, killed.saved, "{what}"),
                Err(error) => assert!(names(&error, &journal), "{what}: {error:?}"),
            }
        }
    }
}

/// A new handle finds the same in a view as in a turn.
#[test]
fn a_damaged_journal_fails_a_view_as_it_fails_a_turn() {
    let killed = Killed::new();
    let journal = location::beside(&killed.path(), ".journal");
    let mut bytes = fs::read(&journal).unwrap();
    bytes[40] ^= 1;
    fs::write(&journal, &bytes).unwrap();
    let options = || Options { create: false, ..Options::default() };
    for open_late in [false, true] {
        let opened = Store::open_with(killed.path(), Options { open_late, ..options() });
        assert!(matches!(&opened, Err(error @ Error::Corrupt { .. }) if names(error, &journal)));
    }
    assert_eq!(fs::read(&journal).unwrap(), bytes);
}

/// The whole files are read, and a turn sets the damaged one aside.
#[test]
fn a_damaged_log_of_the_spool_hides_no_other() {
    for has_view in [false, true] {
        let killed = Killed::new();
        let reader = has_view.then(|| killed.reader(0));
        let spooler = killed.reader(0);
        let mut saved = killed.saved.clone();
        // This save makes the handle open the store, so that it knows how saves are sealed.
        saved.push(spooler.save(about(0), &state(0, 30)).unwrap().id);
        spooler.shared.let_go();
        for number in 40..43 {
            let mut drafts = vec![spooler.draft(about(0), &state(0, number)).unwrap()];
            saved.push(spooler.shared.spool(&mut drafts).remove(0).unwrap().id);
            // The next one goes to another log.
            thread::sleep(IDLE);
            assert!(!spooler.shared.spool.let_go_if_idle());
        }
        let folder = location::beside(&killed.path(), ".spool");
        let mut files: Vec<_> =
            fs::read_dir(&folder).unwrap().map(|it| it.unwrap().path()).collect();
        files.sort();
        assert_eq!(files.len(), 3);
        let mut bytes = fs::read(&files[1]).unwrap();
        bytes[40] ^= 1;
        fs::write(&files[1], &bytes).unwrap();
        let reader = reader.unwrap_or_else(|| {
            Store::open_with(killed.path(), Options { create: false, ..Options::default() })
                .unwrap()
        });
        // While another process has the file, no handle can set the damaged file aside, and a read
        // fails rather than leave it out.
        let held = File::open(killed.path()).unwrap();
        if has_view {
            held.lock().unwrap();
            let error = list(&reader).unwrap_err();
            assert!(names(&error, &killed.path()), "{error:?}");
            held.unlock().unwrap();
        }
        saved.remove(saved.len() - 2);
        assert_eq!(list(&reader).unwrap(), saved);
        assert_eq!(fs::read_dir(folder.join("aside")).unwrap().count(), 1);
        assert_eq!(list(&spooler).unwrap(), saved);
    }
}

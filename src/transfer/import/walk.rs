//! Walks through directories and tells which files may be checkpoints.
//!
//! Never follows a symbolic link, so that nothing outside the tree is read and every walk ends.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fs::{self, DirEntry, FileType};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::text::read;
use crate::codec::Source;
use crate::layouts::crunch::{self, Location};
use crate::layouts::{Kind, kind};
use crate::transfer::home::{Home, join};
use crate::transfer::steady::{reason, stamp};

/// Directories of other tools, which are large and have no checkpoints.
const SKIPPED: [&str; 3] = [".git", "node_modules", ".waypost"];
/// Marks directories that a tool can make again, such as those of cargo.
const CACHE: &str = "CACHEDIR.TAG";
// A pointer is the name of a file. A longer text is no pointer.
const POINTER_BYTES_MAX: usize = 4096;

/// A file to read.
#[derive(Debug, Clone)]
pub(in crate::transfer) struct Item {
    pub(in crate::transfer) path: PathBuf,
    /// From the directory that the store is for, with `/`.
    pub(in crate::transfer) place: String,
    pub(in crate::transfer) kind: Kind,
    pub(in crate::transfer) index: Option<Arc<crunch::Index>>,
    /// Changes when the index changes.
    pub(in crate::transfer) beside: u64,
}

/// What a walk finds.
pub(in crate::transfer) enum Discovered {
    File(Item),
    /// No checkpoint.
    Skipped {
        place: String,
        reason: String,
    },
    /// Cannot be read.
    Problem {
        place: String,
        reason: String,
    },
    /// A file says something that is not so.
    Note {
        place: String,
        reason: String,
    },
}

/// Receives what a walk finds, and returns false to end the walk.
pub(in crate::transfer) type HandOut<'a> = &'a mut dyn FnMut(Discovered) -> bool;

/// A file or directory that the caller named.
#[derive(Debug)]
pub(in crate::transfer) struct Root {
    path: PathBuf,
    place: String,
    is_file: bool,
    location: Location,
}

impl Root {
    /// `path` must be absolute and without links. The project has the files of claude-crunch at
    /// `location`.
    pub(in crate::transfer) fn new(path: PathBuf, home: &Home, location: &Location) -> Self {
        let place = home.place(&path);
        Self { is_file: !path.is_dir(), place, path, location: location.clone() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// True if there is anything that may be a checkpoint.
    pub(super) fn has_files(&self) -> bool {
        let is_none = |found| matches!(found, Discovered::Skipped { .. } | Discovered::Note { .. });
        !self.walk(&mut || true, &mut |found| is_none(found))
    }

    /// Hands out all files below, or the file itself. Asks `goes_on` before each directory. False
    /// if either ended the walk.
    pub(in crate::transfer) fn walk(
        &self,
        goes_on: &mut dyn FnMut() -> bool,
        hand_out: HandOut<'_>,
    ) -> bool {
        if self.is_file {
            return self.file(hand_out);
        }
        let mut open = vec![(self.path.clone(), self.place.clone())];
        while let Some((path, place)) = open.pop() {
            if !goes_on() {
                return false;
            }
            let read = Directory::read(&path, &place, &self.location, hand_out);
            let Some(directory) = read else { continue };
            if !directory.files(hand_out) {
                return false;
            }
            // The walk goes on with the last one.
            open.extend(directory.below.into_iter().rev());
        }
        true
    }

    /// Hands out a file that the caller named, whatever its name is.
    fn file(&self, hand_out: HandOut<'_>) -> bool {
        let directory = self.path.parent().unwrap_or(&self.path);
        let place = self.place.rsplit_once('/').map_or("", |(directory, _)| directory);
        let directory = Directory::read(directory, place, &self.location, &mut |_| true);
        let kind = match kind_at(&self.place, &self.location) {
            Kind::Lines => Kind::Lines,
            Kind::Index => {
                let reason = "an index; import the directory that it lies in".to_owned();
                return hand_out(Discovered::Problem { place: self.place.clone(), reason });
            }
            _ => Kind::Checkpoint,
        };
        hand_out(Discovered::File(Item {
            path: self.path.clone(),
            place: self.place.clone(),
            kind,
            beside: directory.as_ref().map_or(0, |directory| directory.beside),
            index: directory.and_then(|directory| directory.index),
        }))
    }
}

/// What a file is by its path, which may be below the project's own location of claude-crunch.
fn kind_at(place: &str, location: &Location) -> Kind {
    kind(location.usual(place).as_deref().unwrap_or(place))
}

/// The content of a directory, in the order of names.
struct Directory {
    files: Vec<File>,
    below: Vec<(PathBuf, String)>,
    index: Option<Arc<crunch::Index>>,
    beside: u64,
}

struct File {
    path: PathBuf,
    place: String,
    kind: Kind,
    is: FileType,
}

impl Directory {
    /// `None` if it cannot be read, which is handed out, or is a cache.
    fn read(path: &Path, place: &str, location: &Location, hand_out: HandOut<'_>) -> Option<Self> {
        let mut problem = |reason: String| {
            hand_out(Discovered::Problem { place: shown(place, path), reason });
            None
        };
        let entries = match fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) => return problem(reason(&error)),
        };
        let entries: Vec<DirEntry> = match entries.collect() {
            Ok(entries) => entries,
            Err(error) => return problem(reason(&error)),
        };
        if entries.iter().any(|entry| entry.file_name() == CACHE) {
            return None;
        }
        let mut this = Self { files: Vec::new(), below: Vec::new(), index: None, beside: 0 };
        for entry in entries {
            this.take(&entry, (place, location), hand_out);
        }
        this.files.sort_by(|a, b| natural(&a.place, &b.place));
        this.below.sort_by(|a, b| natural(&a.1, &b.1));
        this.read_index(hand_out);
        Some(this)
    }

    fn take(
        &mut self,
        entry: &DirEntry,
        (directory, location): (&str, &Location),
        hand_out: HandOut<'_>,
    ) {
        let (path, name) = (entry.path(), entry.file_name());
        let place = join(directory, &name.to_string_lossy());
        let file_type = match entry.file_type() {
            Ok(file_type) => file_type,
            Err(error) => {
                hand_out(Discovered::Problem { place, reason: reason(&error) });
                return;
            }
        };
        if file_type.is_dir() && name.to_str().is_none() {
            // Two such directories could have the same place.
            let reason = "its name is not UTF-8".to_owned();
            hand_out(Discovered::Problem { place, reason });
            return;
        }
        if file_type.is_dir() {
            if !SKIPPED.iter().any(|skipped| name == *skipped) {
                self.below.push((path, place));
            }
            return;
        }
        let kind = kind_at(&place, location);
        if file_type.is_symlink() && path.is_dir() {
            let reason = "a link to a directory, which is not followed".to_owned();
            hand_out(Discovered::Skipped { place, reason });
        } else if name.to_str().is_none() && !matches!(kind, Kind::Other) {
            let reason = "its name is not UTF-8".to_owned();
            hand_out(Discovered::Problem { place, reason });
        } else if !matches!(kind, Kind::Other) {
            self.files.push(File { path, place, kind, is: file_type });
        }
    }

    /// Reads the index. Of several, the last by name counts: the YAML of the later releases.
    fn read_index(&mut self, hand_out: HandOut<'_>) {
        let is_index = |file: &&File| matches!(file.kind, Kind::Index) && file.is.is_file();
        for file in self.files.iter().filter(is_index) {
            match read_index(file) {
                Ok(index) => {
                    self.check_index(&index, &file.place, hand_out);
                    self.index = Some(Arc::new(index));
                    self.beside = fs::metadata(&file.path).map_or(0, |found| changes(&found));
                }
                Err(reason) => {
                    hand_out(Discovered::Problem { place: file.place.clone(), reason });
                }
            }
        }
    }

    /// Reports rows without a file: the cleanup of claude-crunch leaves them behind.
    fn check_index(&self, index: &crunch::Index, place: &str, hand_out: HandOut<'_>) {
        let names: BTreeSet<&str> = self.files.iter().map(|file| stem(&file.place)).collect();
        let rows = index.checkpoints.value().map_or(&[][..], Vec::as_slice);
        let ids = rows.iter().filter_map(|row| row.checkpoint_id.value());
        for id in ids.filter(|id| !names.contains(id.as_str())) {
            let reason = format!("names {id:?}, and there is no such file");
            hand_out(Discovered::Note { place: place.to_owned(), reason });
        }
    }

    fn files(&self, hand_out: HandOut<'_>) -> bool {
        self.files.iter().filter_map(|file| self.found(file)).all(hand_out)
    }

    fn found(&self, file: &File) -> Option<Discovered> {
        let place = file.place.clone();
        let skipped =
            |reason: &str| Discovered::Skipped { place: place.clone(), reason: reason.into() };
        Some(match &file.kind {
            Kind::Latest => return self.dangling(file),
            Kind::Debris(reason) => skipped(reason),
            _ if file.is.is_symlink() => skipped("a link, which is not followed"),
            _ if !file.is.is_file() => skipped("neither a file nor a directory"),
            Kind::Index | Kind::Other => return None,
            Kind::Checkpoint | Kind::Neighbour | Kind::Candidate | Kind::Lines => {
                Discovered::File(Item {
                    path: file.path.clone(),
                    place,
                    kind: file.kind,
                    index: self.index.clone(),
                    beside: self.beside,
                })
            }
        })
    }

    /// A note about a pointer to a missing file. A pointer is not needed otherwise: the times of
    /// the checkpoints tell which is the newest.
    fn dangling(&self, file: &File) -> Option<Discovered> {
        let target = if file.is.is_symlink() {
            fs::read_link(&file.path).ok()?.to_string_lossy().into_owned()
        } else {
            let content = read(&file.path).ok()?;
            let is_name = content.bytes.len() <= POINTER_BYTES_MAX;
            String::from_utf8(content.bytes).ok().filter(|_| is_name)?
        };
        let target = stem(target.trim());
        let is_there = self.files.iter().any(|file| stem(&file.place) == target);
        let reason = "leads to a file that is not there; times tell which is the newest".to_owned();
        (!is_there).then(|| Discovered::Note { place: file.place.clone(), reason })
    }
}

/// The name of a file without its directories and the extension of a checkpoint.
fn stem(path: &str) -> &str {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    name.strip_suffix(".yaml")
        .or_else(|| name.strip_suffix(".yml"))
        .or_else(|| name.strip_suffix(".json"))
        .unwrap_or(name)
}

fn read_index(file: &File) -> Result<crunch::Index, String> {
    let content = read(&file.path).map_err(|error| error.to_string())?;
    // JSON is YAML, too, but the reader of JSON gives better errors.
    let is_json = content.bytes.trim_ascii_start().starts_with(b"{");
    let text = &content.bytes;
    let source = if is_json { Source::from_json(text) } else { Source::from_yaml(text) };
    let document = source.and_then(|source| source.document());
    document.map(|document| crunch::Index::read(&document)).map_err(|error| error.to_string())
}

/// A number that changes when a file does.
fn changes(metadata: &fs::Metadata) -> u64 {
    let mut hasher = DefaultHasher::new();
    stamp(metadata).hash(&mut hasher);
    hasher.finish()
}

fn shown(place: &str, path: &Path) -> String {
    if place.is_empty() { path.display().to_string() } else { place.to_owned() }
}

/// `iteration-2` before `iteration-10`, so that consecutive states are stored one after the other.
fn natural(a: &str, b: &str) -> Ordering {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    // Names in a directory start alike. A number must not be cut.
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let number = a[..same].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (mut a, mut b) = (&a[same - number..], &b[same - number..]);
    loop {
        let (x, y) = (digits(a), digits(b));
        if x > 0 && y > 0 {
            let (left, right) = (value(&a[..x]), value(&b[..y]));
            let order = left.len().cmp(&right.len()).then_with(|| left.cmp(right));
            if order.is_ne() {
                return order;
            }
            (a, b) = (&a[x..], &b[y..]);
            continue;
        }
        match (a.split_first(), b.split_first()) {
            (Some((left, rest_a)), Some((right, rest_b))) if left == right => {
                (a, b) = (rest_a, rest_b);
            }
            (left, right) => return left.map(|(byte, _)| byte).cmp(&right.map(|(byte, _)| byte)),
        }
    }
}

/// The digits of a number without the zeros before it.
fn value(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    &digits[zeros..]
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_counted() {
        let mut names = ["i-10.json", "i-9.json", "i-0010.json", "i-2", "a", "i-", "i-2b"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["a", "i-", "i-2", "i-2b", "i-9.json", "i-10.json", "i-0010.json"]);
        let mut names = ["i-100", "i-19", "i-11", "i-1", "i-1a", "i-01"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["i-1", "i-01", "i-1a", "i-11", "i-19", "i-100"]);
    }
}

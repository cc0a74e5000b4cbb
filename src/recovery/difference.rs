//! Differences between present files and those of a checkpoint, line by line.
//!
//! Bounded, since it is shown to people and programs: files, lines, and the length of a line.
//!
//! Captured contents are compared directly. Modified files of claude-crunch are compared with the
//! commit that `since` finds; a commit lacks what was not committed when the checkpoint was saved,
//! so the result names what it compared with. Files of more than a mebibyte or without text are
//! only named.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Answer, Moment, Offer, World};
use crate::checkpoint::{Artifact, Entry, Layout};
use crate::diff::{Line, hunks, lines};
use crate::error::{Error, Result};
use crate::layouts::NamedFile;
use crate::store::Store;

/// Files that are shown; others are counted.
const FILES_MAX: usize = 20;
/// Lines that are shown of all files together.
const LINES_MAX: usize = 2000;
/// Characters that are shown of a line.
const CHARS_MAX: usize = 500;
/// Longer files are not compared by line.
const BYTES_MAX: u64 = 1 << 20;
const TOO_LONG: &str = "it has more than 1048576 bytes";

/// Differences between present files and those of a checkpoint.
///
/// ```
/// use waypost::artifact::ArtifactStatus;
/// use waypost::recovery::{FileChange, RealWorld, Surroundings, differences};
/// use waypost::{NewArtifact, NewEntry, Store};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// # let (path, content) = ("notes.md".to_owned(), Some(b"old\n".to_vec()));
/// # let notes = NewArtifact { path, content, mode: None, status: ArtifactStatus::Created };
/// # let draft = store.draft(NewEntry::default(), &"state")?.with_artifacts(vec![notes])?;
/// let saved = store.save_draft(draft)?; // With the file notes.md.
/// std::fs::write(dir.path().join("notes.md"), "new\n")?;
/// let home = dir.path().to_owned();
/// let world = RealWorld::new(Surroundings { home, use_gh: false, ..Surroundings::default() })?;
/// let (offer, _hurdles) = store.offer(saved)?;
/// let found = differences(&store, &offer, &world)?;
/// assert_eq!(found.files[0].change, FileChange::Modified);
/// assert!(found.files[0].lines.contains(&"+new".to_owned()));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Differences {
    /// The files that differ, at most twenty.
    pub files: Vec<FileDifference>,
    /// How many more differ.
    pub more: u64,
    /// Files that could not be compared, and why.
    pub unchecked: Vec<String>,
}

/// How a file differs.
///
/// See [`Differences`] for an example.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FileDifference {
    /// As the checkpoint has it.
    pub path: String,
    /// What the file is compared with.
    pub against: Against,
    /// How it changed.
    pub change: FileChange,
    /// The lines of a unified diff, without line ends: headers of hunks, then lines that start with
    /// a blank, `-` or `+`.
    pub lines: Vec<String>,
    /// Why there are no lines, or not all.
    pub note: Option<String>,
}

/// What a file is compared with.
///
/// See [`Differences`] for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Against {
    /// The content that was captured with the checkpoint.
    Captured,
    /// The commit at the time of the checkpoint. What was not committed by then differs, too.
    Commit,
}

/// How a file changed.
///
/// See [`Differences`] for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FileChange {
    /// It has another content.
    Modified,
    /// It is new.
    Created,
    /// It is gone.
    Deleted,
}

/// Compares the files that were captured with a checkpoint, and those that a document of crunch
/// lists without a hash, with what they are now.
///
/// Reads every captured file once, and those that differ twice.
///
/// # Errors
/// If the store cannot be read. A damaged content is reported as not compared.
pub fn differences(store: &Store, offer: &Offer, world: &dyn World) -> Result<Differences> {
    let entry = &offer.checkpoint.entry;
    let mut found = Collector::default();
    if entry.artifact_count > 0 {
        match store.artifacts(&entry.id) {
            Ok(artifacts) => captured(store, entry, &artifacts, world, &mut found)?,
            Err(error @ Error::Corrupt { .. }) => found.skip("captured files", &error.to_string()),
            Err(error) => return Err(error),
        }
    }
    if entry.layout == Layout::Crunch {
        listed(offer, world, &mut found);
    }
    Ok(found.finish())
}

fn captured(
    store: &Store,
    entry: &Entry,
    artifacts: &[Artifact],
    world: &dyn World,
    found: &mut Collector,
) -> Result<()> {
    for artifact in artifacts {
        found.paths.insert(artifact.path.clone());
        let now = match world.file(&artifact.path) {
            Answer::Known(now) => now.map(|now| now.sha256),
            Answer::Unknown(reason) => {
                found.skip(&artifact.path, &reason);
                continue;
            }
        };
        let was = artifact.sha256.map(|hash| hash.to_string());
        if now == was || !found.has_room() {
            found.all.more += u64::from(now != was);
            continue;
        }
        let old = match artifact.sha256 {
            None => Ok(None),
            Some(_) if artifact.bytes > BYTES_MAX => Err(TOO_LONG.to_owned()),
            Some(_) => match store.artifact(&entry.id, &artifact.path) {
                Ok(content) => Ok(Some(content)),
                Err(error @ Error::Corrupt { .. }) => Err(error.to_string()),
                Err(error) => return Err(error),
            },
        };
        let new = now.map_or(Ok(None), |_| content(world, &artifact.path));
        let change = change(was.is_some(), new != Ok(None));
        found.add(&artifact.path, Against::Captured, change, [old, new]);
    }
    Ok(())
}

/// Files that the document lists as modified, without a hash.
fn listed(offer: &Offer, world: &dyn World, found: &mut Collector) {
    let snapshot = &offer.standing.snapshot;
    let since = Moment {
        time: offer.checkpoint.entry.created_at,
        branch: snapshot.branch.as_deref().filter(|it| !it.trim().is_empty()),
    };
    for NamedFile { path, status, .. } in snapshot.files.iter().filter(|it| it.hash.is_none()) {
        let is_deleted =
            status.as_ref().is_some_and(|it| it.trim().eq_ignore_ascii_case("deleted"));
        if is_deleted && world.has_file(path) == Answer::Known(false) {
            continue;
        }
        // Captured and repeated files have been compared already.
        if !found.paths.insert(path.clone()) {
            continue;
        }
        match world.has_changed(path, &since) {
            Answer::Known(false) => {}
            Answer::Known(true) if !found.has_room() => found.all.more += 1,
            Answer::Known(true) => {
                let old = known(world.content_at(path, &since));
                let new = content(world, path);
                let change = change(old != Ok(None), new != Ok(None));
                found.add(path, Against::Commit, change, [old, new]);
            }
            Answer::Unknown(reason) => found.skip(path, &reason),
        }
    }
}

/// A content, `None` if there is no such file, or why it is unknown.
type Content = Result<Option<Vec<u8>>, String>;

fn content(world: &dyn World, path: &str) -> Content {
    known(world.content(path, BYTES_MAX))
}

fn known<T>(seen: Answer<T>) -> Result<T, String> {
    match seen {
        Answer::Known(answer) => Ok(answer),
        Answer::Unknown(reason) => Err(reason),
    }
}

fn change(was_there: bool, is_there: bool) -> FileChange {
    match (was_there, is_there) {
        (false, _) => FileChange::Created,
        (true, false) => FileChange::Deleted,
        (true, true) => FileChange::Modified,
    }
}

#[derive(Default)]
struct Collector {
    all: Differences,
    /// Files that were compared.
    paths: BTreeSet<String>,
    lines: usize,
    unchecked: usize,
}

impl Collector {
    fn has_room(&self) -> bool {
        self.all.files.len() < FILES_MAX
    }

    fn skip(&mut self, what: &str, reason: &str) {
        self.unchecked += 1;
        if self.unchecked <= FILES_MAX {
            self.all.unchecked.push(format!("{what}: {reason}"));
        }
    }

    fn finish(mut self) -> Differences {
        if self.unchecked > FILES_MAX {
            self.all.unchecked.push(format!("{} more files", self.unchecked - FILES_MAX));
        }
        self.all
    }

    fn add(&mut self, path: &str, against: Against, change: FileChange, both: [Content; 2]) {
        let (lines, note) = match both {
            [Ok(old), Ok(new)] => self.compare(old.as_deref(), new.as_deref()),
            [Err(reason), _] | [_, Err(reason)] => {
                (Vec::new(), Some(format!("not compared by line: {reason}")))
            }
        };
        let path = path.to_owned();
        self.all.files.push(FileDifference { path, against, change, lines, note });
    }

    /// The lines that differ, up to the limit, and a note about the rest.
    fn compare(&mut self, old: Option<&[u8]>, new: Option<&[u8]>) -> (Vec<String>, Option<String>) {
        let [old, new] = [old, new].map(Option::unwrap_or_default);
        let (Ok(old_text), Ok(new_text)) = (str::from_utf8(old), str::from_utf8(new)) else {
            let note = format!("not text: {} bytes were {}", new.len(), old.len());
            return (Vec::new(), Some(note));
        };
        if old == new {
            return (Vec::new(), Some("only what is staged differs".to_owned()));
        }
        let mut shown = unified(old_text, new_text);
        let room = LINES_MAX - self.lines;
        let more = shown.len().saturating_sub(room);
        shown.truncate(room);
        self.lines += shown.len();
        (shown, (more > 0).then(|| format!("{more} more lines")))
    }
}

fn unified(old: &str, new: &str) -> Vec<String> {
    let mut shown = Vec::new();
    let all = lines(old, new);
    for hunk in hunks(&all) {
        shown.push(hunk.to_string());
        for line in hunk.lines {
            let (sign, text) = match line {
                Line::Kept(text) => (' ', text),
                Line::Removed(text) => ('-', text),
                Line::Added(text) => ('+', text),
            };
            let ended = text.strip_suffix('\n');
            shown.push(format!("{sign}{}", cut(ended.unwrap_or(text))));
            if ended.is_none() {
                shown.push("\\ no line end".to_owned());
            }
        }
    }
    shown
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(CHARS_MAX) {
        None => line.to_owned(),
        Some((end, _)) => format!("{}...", &line[..end]),
    }
}

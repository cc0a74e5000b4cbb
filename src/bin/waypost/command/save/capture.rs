//! `waypost save --capture`: files as they are, and what became of them since the last time.
//!
//! Must never follow a link, nor keep a file that changed while it was read.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::{ErrorKind, Read as _};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use waypost::{
    Artifact, ArtifactStatus, Error, Limits, NewArtifact, NewEntry, Order, Query, Series, Store,
    opening,
};

use crate::args::Global;
use crate::exit::Refusal;
use crate::open;
use crate::output::plain;
use crate::progress::Progress;
use waypost::transfer::directory::is_draft;
use waypost::transfer::home::{Home, join};
use waypost::transfer::own::{IS_OWN, Own, resolve};
use waypost::transfer::place::{RESERVED, ancestors, refusal};
use waypost::transfer::system;

// Who writes to a file all the time must wait for a better moment.
const READ_TIMES: usize = 3;
// How far back it is looked for what was captured before: a save must not cost more the longer a
// series is.
const CHECKPOINTS_LOOKED_AT: usize = 10_000;
const CAPTURES_LOOKED_AT: usize = 64;

/// What was captured before: of each path the newest.
pub(super) type Before = BTreeMap<String, Artifact>;

/// Files that are read and not saved yet, by their paths in the store.
#[derive(Debug, Default)]
pub(super) struct Capture {
    files: BTreeMap<String, Found>,
    /// Directories whose files are all there.
    directories: Vec<String>,
    /// Paths where nothing is, as they were given.
    missing: Vec<(String, PathBuf)>,
    bytes: usize,
}

#[derive(Debug)]
struct Found {
    content: Vec<u8>,
    mode: Option<u32>,
}

/// Where files are looked for.
struct Place<'a> {
    home: PathBuf,
    own: Own,
    global: &'a Global,
    progress: Progress,
}

impl Capture {
    /// Reads all files of these paths.
    pub(super) fn read(paths: &[PathBuf], global: &Global) -> Result<Self> {
        let mut capture = Self::default();
        if paths.is_empty() {
            return Ok(capture);
        }
        let place = Place::new(global)?;
        for path in paths {
            // A slash at the end would follow a link.
            let path: &PathBuf = &path.components().collect();
            let kept = place.kept(path)?;
            if place.own.has(path) {
                bail!(uncapturable(path, IS_OWN));
            }
            match fs::symlink_metadata(path) {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    capture.missing.push((kept, path.clone()));
                }
                Err(error) => {
                    return Err(error).with_context(|| format!("cannot read {}", path.display()));
                }
                Ok(found) if found.is_dir() => {
                    capture.add_directory(path, &kept, &place)?;
                    capture.directories.push(kept);
                }
                Ok(found) if found.is_file() => capture.add_file(path, kept, &place)?,
                Ok(found) => bail!(uncapturable(path, what(&found))),
            }
        }
        Ok(capture)
    }

    /// The paths of files, as they are kept.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> + Clone {
        self.files.keys().map(String::as_str)
    }

    /// Refuses a path where nothing is and nothing was.
    pub(super) fn check_missing(&self, before: &Before) -> Result<()> {
        for (kept, path) in &self.missing {
            let was_there = |earlier: &String| earlier == kept || is_below(earlier, kept);
            if !before.keys().any(was_there) {
                let reason = "it is not there, and was not captured before";
                bail!(uncapturable(path, reason));
            }
        }
        Ok(())
    }

    /// Looks for what the series of a checkpoint has captured before it.
    pub(super) fn before(
        &self,
        store: &Store,
        about: &NewEntry,
        global: &Global,
    ) -> Result<Before> {
        let mut before = Before::new();
        if self.files.is_empty() && self.missing.is_empty() && self.directories.is_empty() {
            return Ok(before);
        }
        let query =
            Query { series: Some(Series::of(about)), order: Order::Newest, ..Query::default() };
        let mut left = CAPTURES_LOOKED_AT;
        for entry in store.entries(query).take(CHECKPOINTS_LOOKED_AT) {
            let entry = entry?;
            // A retry is compared with what its first try was compared with.
            if entry.artifact_count == 0 || about.id.as_ref() == Some(&entry.id) {
                continue;
            }
            match store.artifacts(&entry.id) {
                Ok(artifacts) => artifacts.into_iter().for_each(|artifact| {
                    before.entry(artifact.path.clone()).or_insert(artifact);
                }),
                // Deleted since it was listed.
                Err(Error::NotFound { .. }) => continue,
                // Damage to what was saved before is no reason not to save.
                Err(error @ Error::Corrupt { .. }) => {
                    global.note(format_args!("not compared: {}", plain(&error.to_string())));
                }
                Err(error) => return Err(error.into()),
            }
            left -= 1;
            if left == 0 || self.is_all_in(&before) {
                break;
            }
        }
        Ok(before)
    }

    /// Whether there is nothing more to be found about what was captured before.
    fn is_all_in(&self, before: &Before) -> bool {
        self.directories.is_empty()
            && self.missing.iter().all(|(kept, _)| before.contains_key(kept))
            && self.files.keys().all(|path| before.contains_key(path))
    }

    /// The files as the store takes them.
    pub(super) fn artifacts(self, before: &Before) -> Result<Vec<NewArtifact>> {
        self.check_missing(before)?;
        let mut gone: Vec<&str> = Vec::new();
        for (path, earlier) in before.iter().filter(|(path, _)| !self.files.contains_key(*path)) {
            // Where a directory is now, a file is gone; where a file is, a directory.
            let is_named = self.missing.iter().any(|(kept, _)| kept == path)
                || self.directories.contains(path);
            // What was noted as gone before is not told again and again.
            let was_there = earlier.status != ArtifactStatus::Deleted;
            let roots = self.directories.iter().chain(self.missing.iter().map(|(kept, _)| kept));
            let is_below_root = roots.into_iter().any(|root| is_below(path, root))
                || ancestors(path).any(|above| self.files.contains_key(above));
            if is_named || (was_there && is_below_root) {
                gone.push(path);
            }
        }
        let deleted = gone.into_iter().map(|path| NewArtifact {
            path: path.to_owned(),
            content: None,
            mode: None,
            status: ArtifactStatus::Deleted,
        });
        let mut artifacts: Vec<NewArtifact> = deleted.collect();
        for (path, Found { content, mode }) in self.files {
            let status = status(before.get(&path), &content);
            artifacts.push(NewArtifact { path, content: Some(content), mode, status });
        }
        Ok(artifacts)
    }

    /// Adds all files below a directory, in the order of their names.
    fn add_directory(&mut self, path: &Path, kept: &str, place: &Place<'_>) -> Result<()> {
        let context = || format!("cannot read {}", path.display());
        let entries = fs::read_dir(path).with_context(context)?;
        let mut entries: Vec<_> = entries.collect::<Result<_, _>>().with_context(context)?;
        entries.sort_unstable_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (path, name) = (entry.path(), entry.file_name());
            let Some(name) = name.to_str() else {
                bail!(uncapturable(&path, "its name is not UTF-8"));
            };
            if RESERVED.iter().any(|reserved| name.eq_ignore_ascii_case(reserved)) {
                continue;
            }
            let pass_over = |what: &str| {
                let path = plain(&path.display().to_string());
                place.global.note(format_args!("not captured: {path}: {what}"));
            };
            if is_draft(name) {
                pass_over("left behind by a restore or an export");
                continue;
            }
            if place.own.has(&path) {
                pass_over("the store");
                continue;
            }
            let kept = join(kept, name);
            let found = fs::symlink_metadata(&path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            if found.is_dir() {
                self.add_directory(&path, &kept, place)?;
            } else if found.is_file() {
                self.add_file(&path, kept, place)?;
            } else {
                pass_over(what(&found));
            }
        }
        Ok(())
    }

    fn add_file(&mut self, path: &Path, kept: String, place: &Place<'_>) -> Result<()> {
        if let Some(reason) = refusal(&kept) {
            bail!(uncapturable(path, reason));
        }
        if self.files.contains_key(&kept) {
            return Ok(());
        }
        let limit = Limits::default().artifacts;
        if self.files.len() >= limit {
            let what = "number of captured files".to_owned();
            return Err(Error::Limit { what, limit: limit as u64 }.into());
        }
        let found = read(path)?;
        self.bytes += found.content.len();
        let limit = Limits::default().artifacts_bytes();
        if self.bytes > limit {
            let what = "length in bytes of all captured files".to_owned();
            return Err(Error::Limit { what, limit: limit as u64 }.into());
        }
        self.files.insert(kept, found);
        place.progress.show(self.files.len() as u64);
        Ok(())
    }
}

impl<'a> Place<'a> {
    fn new(global: &'a Global) -> Result<Self> {
        let store = open::path(global)?;
        let base = Home::of(&store);
        let home = base.path().context("cannot tell which directory the store is for")?.to_owned();
        let own = Own::new(&store)?;
        Ok(Self { home, own, global, progress: Progress::new("reading files", global) })
    }

    /// The path of a file in the store: that from the directory that the store is for.
    fn kept(&self, path: &Path) -> Result<String> {
        let whole = resolve(path).with_context(|| format!("cannot read {}", path.display()))?;
        let home = self.home.display();
        let outside = || uncapturable(path, &format!("it is not below {home}"));
        let Ok(below) = whole.strip_prefix(&self.home) else { bail!(outside()) };
        let mut kept = String::new();
        for part in below.components() {
            let Component::Normal(name) = part else { bail!(outside()) };
            let Some(name) = name.to_str() else {
                bail!(uncapturable(path, "its name is not UTF-8"));
            };
            kept = join(&kept, name);
        }
        match refusal(&kept) {
            // The directory that the store is for may be captured as a whole.
            Some(reason) if !kept.is_empty() => bail!(uncapturable(path, reason)),
            _ => Ok(kept),
        }
    }
}

fn status(before: Option<&Artifact>, content: &[u8]) -> ArtifactStatus {
    match before.map(|before| before.sha256) {
        None | Some(None) => ArtifactStatus::Created,
        Some(Some(hash)) if hash == waypost::Hash::of(content) => ArtifactStatus::Unchanged,
        Some(Some(_)) => ArtifactStatus::Modified,
    }
}

fn is_below(path: &str, directory: &str) -> bool {
    directory.is_empty() || path.strip_prefix(directory).is_some_and(|below| below.starts_with('/'))
}

/// Reads a file as it is at one moment.
fn read(path: &Path) -> Result<Found> {
    for _ in 0..READ_TIMES {
        let found = read_once(path).with_context(|| format!("cannot read {}", path.display()))?;
        if let Some(found) = found {
            return Ok(found);
        }
    }
    bail!(uncapturable(path, "it changes while it is read"))
}

/// `None` if it changed meanwhile.
fn read_once(path: &Path) -> Result<Option<Found>> {
    let named = fs::symlink_metadata(path)?;
    let file = opening::read(path)?;
    let before = file.metadata()?;
    // A link may have been put in its place.
    if !named.is_file() || system::identity(&named) != system::identity(&before) {
        return Ok(None);
    }
    let limit = Limits::default().artifact_bytes as u64;
    let mut content = Vec::new();
    (&file).take(limit + 1).read_to_end(&mut content)?;
    if content.len() as u64 > limit {
        return Err(Error::Limit { what: "length in bytes".to_owned(), limit }.into());
    }
    let after = file.metadata()?;
    let is_same = content.len() as u64 == after.len()
        && before.len() == after.len()
        && before.modified().ok() == after.modified().ok();
    Ok(is_same.then(|| Found { content, mode: system::mode(&after) }))
}

fn what(found: &Metadata) -> &'static str {
    if found.is_symlink() { "a link" } else { "neither a file nor a directory" }
}

fn uncapturable(path: &Path, reason: &str) -> Refusal {
    Refusal::Uncaptured { path: path.to_owned(), reason: reason.to_owned() }
}

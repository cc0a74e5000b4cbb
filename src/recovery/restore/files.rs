//! Decides what a restore does to each file, and changes nothing.

use std::collections::HashMap;
use std::path::{Path, absolute};
use std::{fs, io};

use super::look::{IS_DIRECTORY, There, look};
use crate::checkpoint::{Artifact, Hash};
use crate::transfer::directory::{Directory, Occupant, THROUGH_FILE};
use crate::transfer::own::{IS_OWN, Own};
use crate::transfer::place::{ancestors, leads_home, refusal, split};

/// The directory for replaced files, below that of the restore.
pub(super) const KEPT: &str = ".waypost/replaced";

/// What a restore does to a file.
///
/// See [`RestorePlan`](crate::recovery::restore::RestorePlan) for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileAction {
    /// Writes a new file.
    Create,
    /// Replaces the existing file, which is kept.
    Replace,
    /// Moves it away, since the checkpoint does not have it.
    Remove,
    /// Does nothing: the file is as it was captured.
    Leave,
}

/// A file of the checkpoint, and what a restore does to it.
///
/// See [`RestorePlan`](crate::recovery::restore::RestorePlan) for an example.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedFile {
    /// The file as the checkpoint has it.
    pub artifact: Artifact,
    /// The action.
    pub action: FileAction,
    /// The file that is there, unless it is a link or something else.
    pub before: Option<FileBefore>,
}

/// A file as it was when a restore was planned.
///
/// See [`RestorePlan`](crate::recovery::restore::RestorePlan) for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileBefore {
    /// The hash of its content.
    pub sha256: Hash,
    /// Length of its content.
    pub bytes: u64,
    /// Its permissions, where the system tells.
    pub mode: Option<u32>,
}

/// A path that cannot be written to, and why.
///
/// See [`Refusal`](crate::recovery::restore::Refusal) for an example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// The path, from the directory of the restore.
    pub path: String,
    /// Why not, in words that follow the path.
    pub reason: String,
}

/// The actions for all files, in the order of their paths.
#[derive(Debug, Clone, Default)]
pub(super) struct Files(pub(super) Vec<PlannedFile>);

impl Obstacle {
    /// A file that runs or grants access in a home directory.
    ///
    /// The store cannot distinguish a capture of the user from imported lines of JSON.
    fn of_home(artifact: &Artifact) -> Option<Self> {
        let reason = "is a file that another tool trusts or runs; --force writes it".to_owned();
        leads_home(&artifact.path).then(|| Self { path: artifact.path.clone(), reason })
    }
}

impl PlannedFile {
    /// How its mode changes, if it does.
    pub(super) fn modes(&self) -> Option<[u32; 2]> {
        other_mode(self.before?.mode, &self.artifact)
    }

    /// Whether the content that is there is the one that was captured.
    pub(super) fn has_same_content(&self) -> bool {
        self.before.is_some_and(|before| Some(before.sha256) == self.artifact.sha256)
    }
}

impl Files {
    /// Decides about all files; the error names every file that cannot be written. Files of a home
    /// directory are written only if that is forced.
    pub(super) fn make(
        directory: &Directory,
        artifacts: &[Artifact],
        own: &Own,
        is_forced: bool,
    ) -> Result<Self, Vec<Obstacle>> {
        let mut plan = Self::default();
        let mut obstacles = Vec::new();
        let all = artifacts.iter().map(|it| (it.path.as_str(), it.sha256.is_none())).collect();
        for artifact in artifacts {
            match decide(directory, artifact, &all, own) {
                Ok(planned) => plan.0.push(planned),
                Err(reason) => obstacles.push(Obstacle { path: artifact.path.clone(), reason }),
            }
        }
        let keeps = plan.count(FileAction::Replace) + plan.count(FileAction::Remove) > 0;
        if let Some(reason) = keeping_refusal(directory).filter(|_| keeps) {
            obstacles.push(Obstacle { path: KEPT.to_owned(), reason });
        }
        if !is_forced {
            obstacles.extend(artifacts.iter().filter_map(Obstacle::of_home));
        }
        if obstacles.is_empty() { Ok(plan) } else { Err(obstacles) }
    }

    /// Those that are to be written.
    pub(super) fn written(&self) -> impl Iterator<Item = &PlannedFile> {
        self.0.iter().filter(|planned| match planned.action {
            FileAction::Create | FileAction::Replace => true,
            FileAction::Remove | FileAction::Leave => false,
        })
    }

    pub(super) fn count(&self, action: FileAction) -> usize {
        self.0.iter().filter(|planned| planned.action == action).count()
    }

    /// Whether a directory will be there for files that go below it.
    pub(super) fn makes(&self, directory: &Directory, place: &Path) -> bool {
        let Ok(place) = absolute(place) else { return false };
        let is_it = |path: &str| absolute(directory.path(path)).is_ok_and(|it| it == place);
        let created = self.0.iter().filter(|it| it.action == FileAction::Create);
        created.flat_map(|it| ancestors(split(&it.artifact.path).0)).any(is_it)
    }

    /// The files that differ from the capture, and how.
    pub(super) fn unlike(&self, directory: &Directory) -> Vec<Obstacle> {
        let unlike = |planned: &PlannedFile| {
            let path = &planned.artifact.path;
            let reason = match look(directory, path) {
                Ok(there) => difference(there, &planned.artifact)?.to_owned(),
                Err(error) => format!("cannot be read: {error}"),
            };
            Some(Obstacle { path: path.clone(), reason })
        };
        self.0.iter().filter_map(unlike).collect()
    }

    /// The first file to change that is no longer as it was when the plan was made.
    pub(super) fn outdated(&self, directory: &Directory) -> Option<&str> {
        let changing = self.0.iter().filter(|it| it.action != FileAction::Leave);
        let is_as_planned = |planned: &PlannedFile| {
            let replaces = planned.action != FileAction::Create;
            match look(directory, &planned.artifact.path) {
                Ok(There::File { sha256, bytes, mode }) => {
                    planned.before == Some(FileBefore { sha256, bytes, mode })
                }
                Ok(There::Other) => replaces && planned.before.is_none(),
                Ok(There::Nothing | There::BelowFile | There::Directory) => !replaces,
                Ok(There::Obstacle(_)) | Err(_) => false,
            }
        };
        let mut paths =
            changing.filter(|it| !is_as_planned(it)).map(|it| it.artifact.path.as_str());
        paths.next()
    }

    /// Whether a path is below a file that is removed.
    pub(super) fn is_below_removed(&self, path: &str) -> bool {
        let is_removed = |above: &str| {
            let at = self.0.binary_search_by(|it| it.artifact.path.as_str().cmp(above));
            at.is_ok_and(|at| self.0[at].action == FileAction::Remove)
        };
        ancestors(split(path).0).any(is_removed)
    }
}

/// All paths of the checkpoint, and whether the file was deleted.
type Paths<'a> = HashMap<&'a str, bool>;

fn decide(
    directory: &Directory,
    artifact: &Artifact,
    all: &Paths<'_>,
    own: &Own,
) -> Result<PlannedFile, String> {
    let path = &artifact.path;
    if let Some(reason) = refusal(path) {
        return Err(reason.to_owned());
    }
    if own.has(&directory.path(path)) || own.is_led_to(&directory.path(path)) {
        return Err(IS_OWN.to_owned());
    }
    let there = look(directory, path).map_err(|error| format!("cannot be read: {error}"))?;
    let is_deleted = artifact.sha256.is_none();
    if let Some(above) = file_above(path, all).filter(|_| !is_deleted) {
        return Err(format!("is below {above}, which is a file of the checkpoint, too"));
    }
    let action = match there {
        There::Obstacle(why) => return Err(why.to_owned()),
        There::BelowFile if !is_deleted && !gives_way(directory, path, all) => {
            return Err(THROUGH_FILE.to_owned());
        }
        There::Directory if !is_deleted => match left_in(directory, path, all) {
            Ok(None) => FileAction::Create,
            Ok(Some(left)) => return Err(format!("{IS_DIRECTORY}, and {left} stays in it")),
            Err(error) => return Err(format!("{IS_DIRECTORY} that cannot be read: {error}")),
        },
        // The file is gone, even if something else has its place.
        There::Nothing | There::BelowFile | There::Directory if is_deleted => FileAction::Leave,
        There::Nothing | There::BelowFile | There::Directory => FileAction::Create,
        There::Other | There::File { .. } if is_deleted => FileAction::Remove,
        There::File { .. } if difference(there, artifact).is_none() => FileAction::Leave,
        There::Other | There::File { .. } => FileAction::Replace,
    };
    let before = match there {
        There::File { sha256, bytes, mode } => Some(FileBefore { sha256, bytes, mode }),
        _ => None,
    };
    Ok(PlannedFile { artifact: artifact.clone(), action, before })
}

/// The reason why replaced files cannot be kept, if any.
fn keeping_refusal(directory: &Directory) -> Option<String> {
    match directory.directory(KEPT) {
        Ok(Occupant::Same | Occupant::Nothing) => None,
        Ok(Occupant::Obstacle(why)) => Some(why.to_owned()),
        Ok(Occupant::Other) => Some("is not a directory".to_owned()),
        Err(error) => Some(format!("cannot be read: {error}")),
    }
}

/// A file of the checkpoint at a parent of this path: both cannot exist.
fn file_above<'a>(path: &'a str, all: &Paths<'_>) -> Option<&'a str> {
    let mut above = ancestors(path).filter(|above| *above != path);
    above.find(|above| all.get(above) == Some(&false))
}

/// Whether the file in the way of a path is to be removed.
fn gives_way(directory: &Directory, path: &str, all: &Paths<'_>) -> bool {
    let is_file = |above: &&str| {
        let found = fs::symlink_metadata(directory.path(above));
        !above.is_empty() && found.is_ok_and(|found| !found.is_dir())
    };
    ancestors(path).find(is_file).is_some_and(|above| all.get(above) == Some(&true))
}

/// Something that stays in a directory after all deletions.
fn left_in(directory: &Directory, path: &str, all: &Paths<'_>) -> io::Result<Option<String>> {
    for entry in fs::read_dir(directory.path(path))? {
        let entry = entry?;
        let name = entry.file_name();
        let below = format!("{path}/{}", name.to_string_lossy());
        let left = if entry.file_type()?.is_dir() {
            left_in(directory, &below, all)?
        } else {
            Some(below).filter(|below| all.get(below.as_str()) != Some(&true))
        };
        if left.is_some() {
            return Ok(left);
        }
    }
    Ok(None)
}

/// The mode that a file has and the one it was captured with, if these differ.
fn other_mode(mode: Option<u32>, artifact: &Artifact) -> Option<[u32; 2]> {
    let (wanted, mode) = artifact.mode.zip(mode)?;
    (wanted & 0o777 != mode).then_some([mode, wanted & 0o777])
}

/// How the present file differs from the captured one.
fn difference(there: There, artifact: &Artifact) -> Option<&'static str> {
    match (there, artifact.sha256) {
        (There::Nothing | There::BelowFile | There::Directory, None) => None,
        (There::Nothing | There::BelowFile, Some(_)) => Some("is not there"),
        (There::File { sha256, mode, .. }, Some(wanted)) => {
            match (sha256 == wanted, other_mode(mode, artifact).is_some()) {
                (false, _) => Some("has other content"),
                (true, true) => Some("has another mode"),
                (true, false) => None,
            }
        }
        (There::File { .. } | There::Other, None) => Some("is still there"),
        (There::Other | There::Directory, Some(_)) => Some("is no file"),
        (There::Obstacle(why), _) => Some(why),
    }
}

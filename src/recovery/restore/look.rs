//! Looks at the place where a file should go. Follows no link below the directory.

use std::fs;
use std::io::{self, ErrorKind};

use crate::checkpoint::Hash;
use crate::store::opening;
use crate::transfer::directory::{Directory, Occupant, THROUGH_FILE};
use crate::transfer::place::split;
use crate::transfer::system;

/// The reason for a path that is a directory.
pub(super) const IS_DIRECTORY: &str = "is a directory";

/// What is at the place of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum There {
    Nothing,
    File {
        sha256: Hash,
        bytes: u64,
        mode: Option<u32>,
    },
    Directory,
    /// A link, or what is neither a file nor a directory.
    Other,
    /// A file is where its directory should be.
    BelowFile,
    /// Something that can neither be read nor replaced.
    Obstacle(&'static str),
}

/// Looks at the place of a path that has been found to lead nowhere else.
pub(super) fn look(directory: &Directory, path: &str) -> io::Result<There> {
    match directory.directory(split(path).0)? {
        Occupant::Same => {}
        Occupant::Nothing | Occupant::Other => return Ok(There::Nothing),
        Occupant::Obstacle(THROUGH_FILE) => return Ok(There::BelowFile),
        Occupant::Obstacle(why) => return Ok(There::Obstacle(why)),
    }
    let place = directory.path(path);
    let found = match fs::symlink_metadata(&place) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(There::Nothing),
        other => other?,
    };
    if found.is_dir() {
        return Ok(There::Directory);
    }
    if !found.is_file() {
        return Ok(There::Other);
    }
    let file = opening::read(&place)?;
    let (bytes, mode) = (found.len(), system::mode(&found));
    Ok(There::File { sha256: Hash::of_reader(file)?, bytes, mode })
}

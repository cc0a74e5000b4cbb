//! Files and directories that only their owner may read.
//!
//! Documents may be confidential, so the command makes its files here, except those that are meant
//! for others. The umask may take more permissions away.

use std::fs::{DirBuilder, Metadata};
use std::io::{self, Write as _};
use std::path::Path;

use crate::store::whole::WholeFile;

/// The mode of a file without a recorded one.
pub(crate) const MODE: u32 = 0o600;

/// True if others than the owner have any permission on a file. Always false without Unix modes.
#[must_use]
#[cfg(unix)]
pub fn is_open(file: &Metadata) -> bool {
    file.is_file() && std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o077 != 0
}

#[must_use]
#[cfg(not(unix))]
pub fn is_open(_file: &Metadata) -> bool {
    false
}

/// Makes a directory. Its parent must exist.
pub fn directory(path: &Path) -> io::Result<()> {
    directories(0o700).create(path)
}

/// Makes the directory of a store in a project, with a `.gitignore`: states of agents do not belong
/// in the history of the project.
///
/// Both may exist already: a config needs the directory, too, and an earlier save may have failed.
pub fn own_directory(path: &Path) -> io::Result<()> {
    let if_new = |made: io::Result<()>| match made {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    };
    if_new(directory(path))?;
    if_new(write_lasting(&path.join(".gitignore"), b"*\n"))
}

/// Makes directories of at most this mode; the umask may take more away.
#[must_use]
pub fn directories(mode: u32) -> DirBuilder {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, mode);
    #[cfg(not(unix))]
    let _ = mode;
    builder
}

/// Makes a file with this text and syncs it. Leaves no file behind if that fails.
///
/// # Errors
/// Those of the system; `AlreadyExists` if there is a file.
pub fn write_lasting(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = WholeFile::new(path, false)?;
    file.write_all(text)?;
    file.finish()
}

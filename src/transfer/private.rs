//! Files and directories that only their owner may look into.
//!
//! Documents may hold what nobody else should see, so whatever the command makes is made here,
//! but for what is meant for others. A stricter umask holds as it always does.

use std::fs::{DirBuilder, Metadata};
use std::io::{self, Write as _};
use std::path::Path;

use crate::store::whole::WholeFile;

/// The mode of a file that nothing else is known of.
pub(crate) const MODE: u32 = 0o600;

/// Whether others than the owner may do anything with a file; other systems do not tell.
#[cfg(unix)]
pub fn is_open(file: &Metadata) -> bool {
    file.is_file() && std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o077 != 0
}

#[cfg(not(unix))]
pub fn is_open(_file: &Metadata) -> bool {
    false
}

/// Makes a directory in one that is there.
pub fn directory(path: &Path) -> io::Result<()> {
    directories(0o700).create(path)
}

/// Makes the directory in which a store, or what belongs to it, lies in a project, and keeps git
/// from it: states of agents do not belong into the history of the project they work on.
///
/// Both may be there: the directory for a config, or from a save that failed in between.
pub fn own_directory(path: &Path) -> io::Result<()> {
    let if_new = |made: io::Result<()>| match made {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    };
    if_new(directory(path))?;
    if_new(write_lasting(&path.join(".gitignore"), b"*\n"))
}

/// Makes directories of this mode at most; the umask may take more away.
pub fn directories(mode: u32) -> DirBuilder {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, mode);
    #[cfg(not(unix))]
    let _ = mode;
    builder
}

/// Makes a file with a text in it, if there is none. It is whole and on disk afterwards, or not
/// there at all.
pub fn write_lasting(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = WholeFile::new(path, false)?;
    file.write_all(text)?;
    file.finish()
}

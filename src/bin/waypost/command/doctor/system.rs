//! What only the system knows: room, kinds of file systems, owners.

use std::fs::Metadata;
use std::path::Path;

/// How many bytes a user may still write.
#[cfg(unix)]
pub(super) fn free_bytes(directory: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(directory).ok()?;
    found.f_bavail.checked_mul(found.f_frsize)
}

#[cfg(not(unix))]
pub(super) fn free_bytes(_directory: &Path) -> Option<u64> {
    None
}

/// A file system that may lose what was synced, or whose locks may not hold, and why.
#[cfg(target_os = "linux")]
pub(super) fn doubt(directory: &Path) -> Option<(&'static str, &'static str)> {
    const FORGETS: &str = "it is gone after a restart";
    const REMOTE: &str = "locks and syncs hold only if the server keeps its word";
    // From statfs(2).
    let kinds = [
        (0x0102_1994, "tmpfs", FORGETS),
        (0x8584_58f6, "ramfs", FORGETS),
        (0x6969, "NFS", REMOTE),
        (0xff53_4d42, "CIFS", REMOTE),
        (0xfe53_4d42, "SMB", REMOTE),
        (0x517b, "SMB", REMOTE),
        (0x0102_1997, "9p", REMOTE),
        (0x00c3_6400, "Ceph", REMOTE),
        (0x5346_414f, "AFS", REMOTE),
        (0x6573_5546, "FUSE", "locks and syncs are as good as the program behind it"),
    ];
    let found = rustix::fs::statfs(directory).ok()?;
    let kind = u32::try_from(found.f_type).ok()?;
    let (_, name, why) = kinds.into_iter().find(|(known, ..)| *known == kind)?;
    Some((name, why))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn doubt(_directory: &Path) -> Option<(&'static str, &'static str)> {
    None
}

/// The owner of a file and the user of this process, if they are not the same.
#[cfg(unix)]
pub(super) fn other_owner(file: &Metadata) -> Option<(u32, u32)> {
    let owner = std::os::unix::fs::MetadataExt::uid(file);
    let user = rustix::process::geteuid().as_raw();
    (owner != user).then_some((owner, user))
}

#[cfg(not(unix))]
pub(super) fn other_owner(_file: &Metadata) -> Option<(u32, u32)> {
    None
}

//! What only the system knows: room, kinds of file systems, owners.

use std::fs::{self, Metadata};
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

/// Returns what to do about a process that is stopped (SIGSTOP, Ctrl-Z) and would keep a store
/// forever; `None` if it is not stopped, or the system does not tell.
#[must_use]
pub fn stopped_advice(id: u32) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    is_stopped(&status).then(|| {
        format!("process {id} is stopped: `kill -CONT {id}` lets it go on, `kill -9 {id}` ends it")
    })
}

fn is_stopped(status: &str) -> bool {
    // The name of the program comes before it, and may have parentheses of its own.
    let after = status.rsplit_once(") ").map(|(_, after)| after);
    after.is_some_and(|after| after.starts_with(['T', 't']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_stopped_by_its_state_and_not_by_its_name() {
        assert!(is_stopped("7 (waypost) T 1 7 7"));
        assert!(is_stopped("7 (a) S (b) t 1 7 7"));
        assert!(!is_stopped("7 (a) T (b) S 1 7 7"));
        assert!(!is_stopped(""));
        assert_eq!(stopped_advice(std::process::id()), None);
    }
}

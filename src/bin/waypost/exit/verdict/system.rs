//! The verdict on an error of the operating system.

use std::io::{self, ErrorKind};

use super::Verdict;
use crate::exit::Exit;

/// The disk fails: `EIO`, or on Windows `ERROR_IO_DEVICE`.
const FAILING: i32 = if cfg!(windows) { 1117 } else { 5 };

pub(super) fn of_system(error: &io::Error) -> Verdict {
    if error.raw_os_error() == Some(FAILING) {
        return Verdict::new(Exit::Failed, "io")
            .hint("the disk may be failing: run it again, then copy what is on it to another one");
    }
    Verdict::new(Exit::Failed, "io").hint(match error.kind() {
        ErrorKind::NotFound => "check the name and the directory it is in",
        ErrorKind::PermissionDenied => "change who may read and write it, or run it as its owner",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "make room on the disk; run it again",
        ErrorKind::FileTooLarge => {
            "raise the limit on file sizes, which `ulimit -f` shows, and run it again"
        }
        ErrorKind::ReadOnlyFilesystem => "use a place that can be written to",
        ErrorKind::IsADirectory => "name a file and not a directory",
        ErrorKind::NotADirectory => "name a directory where the path has a file",
        _ => "check the path and the disk; run it again",
    })
}

//! What opening files takes on systems that are no Unix.

use std::fs::{FileType, Metadata, OpenOptions};
use std::io;
use std::path::Path;

pub(super) fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

pub(super) fn without_following(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

pub(super) fn directory(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

pub(super) fn with_mode(options: &mut OpenOptions, _: u32) -> &mut OpenOptions {
    options
}

pub(super) fn names(_: &Metadata) -> u64 {
    1
}

pub(super) fn special(_: FileType) -> &'static str {
    "a device"
}

pub(super) fn rename_new(_: &Path, _: &Path) -> Option<io::Result<()>> {
    None
}

pub(super) fn exchange(_: &Path, _: &Path) -> Option<io::Result<()>> {
    None
}

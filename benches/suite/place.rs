//! Where the benchmarks keep their stores.
//!
//! On a real disk, or syncs would cost nothing: in the target directory, or in
//! `WAYPOST_BENCH_DIR`.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use waypost::Store;

pub(crate) fn directory() -> PathBuf {
    let chosen = env::var_os("WAYPOST_BENCH_DIR").map(PathBuf::from);
    let directory = chosen.unwrap_or_else(|| env!("CARGO_TARGET_TMPDIR").into());
    fs::create_dir_all(&directory).expect("the directory of the benchmarks can be made");
    directory
}

pub(crate) fn temporary() -> TempDir {
    tempfile::tempdir_in(directory()).expect("a directory can be made among the benchmarks")
}

/// A store that is gone when this is dropped.
#[derive(Debug)]
pub(crate) struct Scratch {
    pub(crate) store: Store,
    // Below the store, so that it is removed after the store is closed.
    _directory: TempDir,
}

impl Scratch {
    pub(crate) fn empty() -> Self {
        Self::in_directory(temporary())
    }

    pub(crate) fn copy_of(path: &Path) -> Self {
        let directory = temporary();
        let copy = directory.path().join("store.redb");
        fs::copy(path, &copy).expect("there is room for a copy");
        // Else the first saves would wait for all of it to be written.
        File::open(&copy).and_then(|file| file.sync_all()).expect("the copy can be synced");
        Self::in_directory(directory)
    }

    fn in_directory(directory: TempDir) -> Self {
        let store = Store::open(directory.path().join("store.redb")).expect("it is ours alone");
        Self { store, _directory: directory }
    }
}

//! How things are at one moment of a run.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::latency::Latency;

/// How things are at one moment, and what the calls took since the moment before.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sample {
    /// Since the start of the run.
    pub(crate) at: Duration,
    pub(crate) file_bytes: u64,
    /// What lies beside the file: journal, lock and spool.
    pub(crate) beside_bytes: u64,
    pub(crate) checkpoints: u64,
    /// Deleted and not yet purged.
    pub(crate) deleted: u64,
    /// Resident memory of the workers that are never killed, in bytes.
    pub(crate) spared_bytes: Vec<u64>,
    /// Of the others.
    pub(crate) others_bytes: Vec<u64>,
    pub(crate) save: Option<Latency>,
    pub(crate) latest: Option<Latency>,
    pub(crate) list: Option<Latency>,
    /// How many processes wanted a processor, on average of a minute; others' included.
    pub(crate) load: Option<f64>,
}

impl Sample {
    pub(crate) fn disk_bytes(&self) -> u64 {
        self.file_bytes + self.beside_bytes
    }

    /// The most memory of a worker that is never killed.
    pub(crate) fn memory_bytes(&self) -> Option<u64> {
        self.spared_bytes.iter().copied().max()
    }
}

/// The length of the store's file, and of what lies beside it.
///
/// Files come and go meanwhile: one that is gone has no length.
pub(crate) fn disk_bytes(store: &Path) -> Result<(u64, u64)> {
    let file = fs::metadata(store).context("the store is gone")?.len();
    let beside = [".journal", ".lock", ".spool"].map(|suffix| bytes_below(&with(store, suffix)));
    Ok((file, beside.iter().sum()))
}

/// What a process has in memory, in bytes; `None` if it is gone.
pub(crate) fn memory_bytes(process: u32) -> Option<u64> {
    resident(&fs::read_to_string(format!("/proc/{process}/status")).ok()?)
}

/// How busy the machine is, as far as it says so.
pub(crate) fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

fn resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes << 10)
}

fn bytes_below(path: &Path) -> u64 {
    let Ok(found) = fs::symlink_metadata(path) else { return 0 };
    if !found.is_dir() {
        return found.len();
    }
    let Ok(files) = fs::read_dir(path) else { return 0 };
    files.flatten().map(|file| bytes_below(&file.path())).sum()
}

fn with(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_beside_a_store_counts() {
        let directory = tempfile::tempdir().unwrap();
        let store = directory.path().join("store.redb");
        fs::write(&store, [0; 100]).unwrap();
        assert_eq!(disk_bytes(&store).unwrap(), (100, 0));
        fs::write(with(&store, ".journal"), [0; 10]).unwrap();
        fs::create_dir(with(&store, ".spool")).unwrap();
        fs::write(with(&store, ".spool").join("one"), [0; 7]).unwrap();
        fs::write(directory.path().join("other"), [0; 1000]).unwrap();
        assert_eq!(disk_bytes(&store).unwrap(), (100, 17));
    }

    #[test]
    fn resident_memory_is_read_from_the_status_of_a_process() {
        let status = "Name:\tsoak\nVmHWM:\t  9000 kB\nVmRSS:\t    8192 kB\nThreads:\t3\n";
        assert_eq!(resident(status), Some(8 << 20));
        assert_eq!(resident("Name:\tgone\n"), None);
    }
}

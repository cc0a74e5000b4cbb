//! Loss of power: which changes to a disk survive it.
//!
//! Synced changes do. Of later changes, each write, each change of a length and each name may
//! survive or not, independent of its order; of a write, any of its sectors may. A file may have
//! grown by a write without having its bytes: ext4 leaves zeros then.

use super::chance::Chance;
use super::simulated::{Change, Files};

// A disk writes this many bytes at once or not at all.
const SECTOR_BYTES: usize = 512;

// An unsynced write that only made the file longer.
const ZEROS_PERCENT: usize = 5;

/// What is sure to be on disk at some moment, and what may be.
#[derive(Debug, Clone, Default)]
pub(super) struct Durable {
    files: Files,
    /// Writes since the last sync, by file.
    unsynced: Vec<Vec<Change>>,
    unsynced_names: Vec<Change>,
}

impl Durable {
    pub(super) fn new(files: Files) -> Self {
        let unsynced = vec![Vec::new(); files.images.len()];
        Self { files, unsynced, unsynced_names: Vec::new() }
    }

    /// Applies one change. `chance` decides what a failed sync leaves.
    pub(super) fn pass(&mut self, passed: &Change, chance: &mut Chance) {
        match passed {
            Change::Write { file, .. }
            | Change::Resize { file, .. }
            | Change::Free { file, .. } => {
                self.unsynced[*file].push(passed.clone());
            }
            Change::Sync { file } => {
                for change in std::mem::take(&mut self.unsynced[*file]) {
                    apply(&mut self.files, &change);
                }
            }
            Change::FailedSync { file } => {
                // The kernel takes pages for written that it could not write. Lengths and names are
                // journaled by the file system, and reach the disk with the next sync.
                let (lengths, writes): (Vec<_>, Vec<_>) = std::mem::take(&mut self.unsynced[*file])
                    .into_iter()
                    .partition(|change| matches!(change, Change::Resize { .. }));
                self.unsynced[*file] = lengths;
                survive(&mut self.files, &writes, chance);
            }
            Change::Name(names) => {
                let known = names.iter().filter_map(|(_, file)| *file).max();
                let known = known.map_or(0, |file| file + 1).max(self.unsynced.len());
                self.unsynced.resize(known, Vec::new());
                self.files.images.resize(known, super::image::Image::default());
                self.unsynced_names.push(passed.clone());
            }
            Change::SyncDirectory(directory) => {
                let is_within = |change: &Change| match change {
                    Change::Name(names) => {
                        names.iter().any(|(it, _)| it.parent() == Some(directory))
                    }
                    _ => false,
                };
                let (within, others): (Vec<_>, Vec<_>) =
                    std::mem::take(&mut self.unsynced_names).into_iter().partition(is_within);
                self.unsynced_names = others;
                for name in within {
                    apply(&mut self.files, &name);
                }
            }
        }
    }

    /// The files after the power is lost now.
    pub(super) fn cut(&self, chance: &mut Chance) -> Files {
        let mut files = self.files.clone();
        survive(&mut files, &self.unsynced_names, chance);
        for unsynced in &self.unsynced {
            survive(&mut files, unsynced, chance);
        }
        files
    }
}

/// Applies some of `changes`: none, all, few, many, whole or in parts.
fn survive(files: &mut Files, changes: &[Change], chance: &mut Chance) {
    let percent = [0, 10, 50, 50, 90, 100][chance.below(6)];
    let torn_percent = [0, 0, 30, 100][chance.below(4)];
    for change in changes {
        if !chance.happens(percent) {
            continue;
        }
        match change {
            Change::Write { file, at, bytes } if chance.happens(ZEROS_PERCENT) => {
                let image = &mut files.images[*file];
                image.set_length(image.length().max(at + bytes.len() as u64));
            }
            Change::Write { file, at, bytes } if chance.happens(torn_percent) => {
                for (from, part) in sectors(*at, bytes) {
                    if chance.happens(50) {
                        files.images[*file].write(from, part);
                    }
                }
            }
            whole => apply(files, whole),
        }
    }
}

/// Applies a change to files that are known by number.
pub(super) fn apply(files: &mut Files, change: &Change) {
    match change {
        Change::Write { file, at, bytes } => files.images[*file].write(*at, bytes),
        Change::Resize { file, length } => files.images[*file].set_length(*length),
        Change::Free { file, part } => files.images[*file].free(part),
        Change::Name(names) => files.rename(names),
        Change::Sync { .. } | Change::FailedSync { .. } | Change::SyncDirectory(_) => {}
    }
}

/// The parts of a write that lie in one sector each.
fn sectors(at: u64, bytes: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let first = usize::try_from(at % SECTOR_BYTES as u64).expect("below a sector");
    let (head, rest) = bytes.split_at(bytes.len().min(SECTOR_BYTES - first));
    let parts = std::iter::once(head).chain(rest.chunks(SECTOR_BYTES));
    let mut from = at;
    parts.map(move |part| {
        let start = from;
        from += part.len() as u64;
        (start, part)
    })
}

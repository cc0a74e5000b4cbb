//! The least that any durable write costs here: appending a page and syncing it.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::store::opening;

const PAGE: [u8; 4096] = [7; 4096];

/// Measures how long the disk below a directory needs to make a page durable.
///
/// ```
/// use waypost::doctor::Floor;
///
/// # fn main() -> std::io::Result<()> {
/// # let dir = tempfile::tempdir()?;
/// let mut floor = Floor::new(dir.path())?;
/// floor.append(3)?;
/// assert_eq!(floor.times().len(), 3);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Floor {
    file: File,
    times: Vec<Duration>,
}

impl Floor {
    /// Makes the file `floor` in a directory.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn new(directory: &Path) -> io::Result<Self> {
        let file = opening::make(&directory.join("floor"))?;
        Ok(Self { file, times: Vec::new() })
    }

    /// Appends this many pages, each with a sync of its own.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn append(&mut self, count: u32) -> io::Result<()> {
        for _ in 0..count {
            let start = Instant::now();
            self.file.write_all(&PAGE)?;
            self.file.sync_data()?;
            self.times.push(start.elapsed());
        }
        Ok(())
    }

    /// Returns how long each took.
    #[must_use]
    pub fn times(&self) -> &[Duration] {
        &self.times
    }

    /// Returns the median time in microseconds, zero if nothing was appended.
    pub(super) fn median_micros(&self) -> f64 {
        let mut sorted = self.times.clone();
        sorted.sort_unstable();
        let middle = sorted.len().div_ceil(2).saturating_sub(1);
        sorted.get(middle).map_or(0.0, |time| time.as_secs_f64() * 1e6)
    }
}

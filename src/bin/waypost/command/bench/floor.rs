//! The least that any durable write costs here: appending a page and syncing it.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use waypost::opening;

const PAGE: [u8; 4096] = [7; 4096];

#[derive(Debug)]
pub(in crate::command) struct Floor {
    file: File,
    times: Vec<Duration>,
}

impl Floor {
    pub(in crate::command) fn new(place: &Path) -> Result<Self> {
        let file = opening::make(&place.join("floor"))?;
        Ok(Self { file, times: Vec::new() })
    }

    pub(in crate::command) fn append(&mut self, count: u32) -> Result<()> {
        for _ in 0..count {
            let start = Instant::now();
            self.file.write_all(&PAGE)?;
            self.file.sync_data()?;
            self.times.push(start.elapsed());
        }
        Ok(())
    }

    pub(in crate::command) fn times(&self) -> &[Duration] {
        &self.times
    }
}

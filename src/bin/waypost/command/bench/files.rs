//! The rival: one `.json.gz` file per checkpoint, written, synced and renamed as durably as a
//! store.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use waypost::opening;

use super::Plan;
use super::document::AgentLoop;
use super::run::Contender;

const LISTED: usize = 20;

#[derive(Debug)]
pub(super) struct Files {
    directory: PathBuf,
    is_durable: bool,
}

impl Files {
    pub(super) fn new(place: &Path, plan: &Plan) -> Result<Self> {
        let directory = place.join("files");
        fs::create_dir(&directory)?;
        Ok(Self { directory, is_durable: plan.is_durable })
    }

    fn path(&self, agent_loop: &AgentLoop) -> Result<PathBuf> {
        let about = agent_loop.about();
        let name = about.loop_id.context("a loop has an id")?;
        let number = about.iteration.context("a loop counts its iterations")?;
        Ok(self.directory.join(name.as_str()).join(format!("iteration-{number:08}.json.gz")))
    }
}

impl Contender for Files {
    type Saved = PathBuf;

    fn save(&self, agent_loop: &AgentLoop) -> Result<PathBuf> {
        let path = self.path(agent_loop)?;
        let directory = path.parent().context("a file is in a directory")?;
        fs::create_dir_all(directory)?;
        let temporary = path.with_extension("tmp");
        let file = opening::make(&temporary)?;
        let mut gzip = GzEncoder::new(file, Compression::default());
        gzip.write_all(agent_loop.state.to_json().as_bytes())?;
        let file = gzip.finish()?;
        if self.is_durable {
            file.sync_all()?;
        }
        fs::rename(&temporary, &path)?;
        // The name lasts only once its directory is synced, where directories can be.
        if self.is_durable && cfg!(unix) {
            File::open(directory)?.sync_all()?;
        }
        Ok(path)
    }

    fn finish(&self) -> Result<()> {
        Ok(())
    }

    fn newest(&self, saved: &PathBuf) -> Result<String> {
        let newest = names(saved)?.pop().context("nothing was saved")?;
        self.get(&newest)
    }

    fn get(&self, saved: &PathBuf) -> Result<String> {
        let mut json = String::new();
        GzDecoder::new(fs::read(saved)?.as_slice()).read_to_string(&mut json)?;
        Ok(json)
    }

    fn list(&self, saved: &PathBuf) -> Result<usize> {
        Ok(names(saved)?.into_iter().rev().take(LISTED).count())
    }

    fn bytes(&self) -> Result<u64> {
        let mut bytes = 0;
        for directory in fs::read_dir(&self.directory)? {
            for file in fs::read_dir(directory?.path())? {
                bytes += file?.metadata()?.len();
            }
        }
        Ok(bytes)
    }
}

/// All files in the directory of `saved`, oldest first: without an index, finding the newest needs
/// this list.
fn names(saved: &Path) -> Result<Vec<PathBuf>> {
    let directory = saved.parent().context("a file is in a directory")?;
    let names = fs::read_dir(directory)?.map(|entry| Ok(entry?.path()));
    let mut names = names.collect::<Result<Vec<PathBuf>>>()?;
    names.sort_unstable();
    Ok(names)
}

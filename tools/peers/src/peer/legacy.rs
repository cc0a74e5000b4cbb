//! One `.json.gz` file a checkpoint, as programs without a store write them with care.
//!
//! `LOOP/iteration-000123.json.gz`: a series is a directory, and its newest file the one with the
//! greatest name. What is known about a checkpoint stands at the start of its file, so that a
//! listing reads a few hundred bytes of each and not the document.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use waypost::NewEntry;

use super::{Document, Durability, PAGE, Peer, Record};
use crate::document::LoopState;

// What gzip takes unless told otherwise.
const LEVEL: u32 = 6;
// Longer than any record here; a file that is read further is read for its document.
const HEAD_BYTES: u64 = 1024;
// Between the record and the document; a record has only names that cannot contain it.
const SEPARATOR: &str = ",\"state\":";

pub(super) struct Legacy {
    directory: PathBuf,
    durability: Durability,
}

/// The whole file.
#[derive(Serialize, Deserialize)]
struct Envelope<'a> {
    #[serde(flatten)]
    record: Record,
    /// Last, so that the document can be cut out of the text.
    #[serde(skip_deserializing)]
    state: Option<&'a LoopState>,
}

impl Legacy {
    pub(super) fn open(directory: &Path, durability: Durability) -> Self {
        Self { directory: directory.to_owned(), durability }
    }

    fn series_directory(&self, series: &str) -> PathBuf {
        // A series of a loop is named `loop:ID`, and a colon is no good in a file name.
        self.directory.join(series.replace(':', "-"))
    }

    fn series_directories(&self) -> Result<Vec<PathBuf>> {
        let directories = fs::read_dir(&self.directory)?.map(|entry| Ok(entry?.path()));
        directories.collect()
    }

    fn is_durable(&self) -> bool {
        self.durability == Durability::Durable
    }
}

impl Peer for Legacy {
    fn save(&self, about: NewEntry, state: &LoopState) -> Result<String> {
        let record = Record::new(&about);
        let directory = self.series_directory(&record.series);
        if !directory.exists() {
            fs::create_dir_all(&directory)?;
        }
        let path = directory.join(format!("iteration-{:06}.json.gz", record.iteration));
        let json = serde_json::to_vec(&Envelope { record, state: Some(state) })?;

        let temporary = path.with_extension("tmp");
        let mut encoder = GzEncoder::new(Vec::new(), Compression::new(LEVEL));
        encoder.write_all(&json)?;
        let mut file = File::create(&temporary)?;
        file.write_all(&encoder.finish()?)?;
        if self.is_durable() {
            file.sync_all()?;
        }
        fs::rename(&temporary, &path)?;
        if self.is_durable() {
            File::open(&directory)?.sync_all()?;
        }
        Ok(path.to_str().context("a path that is text")?.to_owned())
    }

    fn latest(&self, series: &str) -> Result<Document> {
        let directory = self.series_directory(series);
        let mut newest = None;
        for entry in fs::read_dir(&directory)? {
            newest = newest.max(Some(entry?.file_name()));
        }
        read_document(&directory.join(newest.context("an empty series")?)).map(Document::Text)
    }

    fn get(&self, id: &str) -> Result<Document> {
        read_document(Path::new(id)).map(Document::Text)
    }

    fn list(&self, issue: &str, limit: usize) -> Result<Vec<Record>> {
        let mut newest: Vec<(SystemTime, PathBuf)> = Vec::new();
        for directory in self.series_directories()? {
            let mut names = names(&directory)?;
            // All files of a loop work on the same issue, so one of them tells it.
            let Some(last) = names.last() else { continue };
            if read_record(last)?.issue != issue {
                continue;
            }
            for path in names.split_off(names.len().saturating_sub(limit)) {
                newest.push((fs::metadata(&path)?.modified()?, path));
            }
        }
        newest.sort_unstable_by(|left, right| right.cmp(left));
        newest.iter().take(limit).map(|(_, path)| read_record(path)).collect()
    }

    fn filter(&self, series: &str, trigger: &str) -> Result<Vec<Record>> {
        let mut found = Vec::new();
        for path in names(&self.series_directory(series))?.iter().rev() {
            let record = read_record(path)?;
            if record.trigger == trigger {
                found.push(record);
            }
            if found.len() == PAGE {
                break;
            }
        }
        Ok(found)
    }

    fn export(&self, out: &mut dyn Write) -> Result<()> {
        for directory in self.series_directories()? {
            for path in names(&directory)? {
                let mut line = read_document(&path)?;
                line.push('\n');
                out.write_all(line.as_bytes())?;
            }
        }
        Ok(())
    }

    fn delete(&self, ids: &[String]) -> Result<()> {
        for id in ids {
            fs::remove_file(id)?;
        }
        for directory in self.series_directories()? {
            File::open(directory)?.sync_all()?;
        }
        Ok(())
    }

    fn reclaim(&mut self) -> Result<()> {
        Ok(())
    }

    fn flush(&self) -> Result<()> {
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

/// The files of a series, oldest first.
fn names(directory: &Path) -> Result<Vec<PathBuf>> {
    let names = fs::read_dir(directory)?.map(|entry| Ok(entry?.path()));
    let mut names = names.collect::<Result<Vec<PathBuf>>>()?;
    names.sort_unstable();
    Ok(names)
}

fn read_document(path: &Path) -> Result<String> {
    let packed = fs::read(path)?;
    // A gzip file ends with the length of what it holds, so that one allocation is enough.
    let length = packed.last_chunk::<4>().map_or(0, |length| u32::from_le_bytes(*length));
    let mut text = String::with_capacity(length as usize + 1);
    GzDecoder::new(&packed[..]).read_to_string(&mut text)?;
    let start = text.find(SEPARATOR).context("a file without a document")? + SEPARATOR.len();
    text.pop();
    text.drain(..start);
    Ok(text)
}

fn read_record(path: &Path) -> Result<Record> {
    let mut head = Vec::new();
    GzDecoder::new(File::open(path)?).take(HEAD_BYTES).read_to_end(&mut head)?;
    let text = String::from_utf8_lossy(&head);
    let end = text.find(SEPARATOR).context("a file without a document")?;
    Ok(serde_json::from_str(&format!("{}}}", &text[..end]))?)
}

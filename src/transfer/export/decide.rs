//! Decides which checkpoint gets a path, in order, and passes files to the placer.

use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc::SyncSender;

use super::claims::{Claim, Claims};
use super::event::{ExportEvent, Halt, Watcher};
use super::failure::{ExportError, NotExported, Trying as _};
use super::index::{Beside, Indexes};
use super::line_file::{DraftedLines, LineFile, LineFiles};
use super::placer::{Pending, Placed, Placer};
use super::prepare::{File, Prepared, Progress, Ready, drafted};
use super::render::Report;
use super::report::Exported;
use super::vacate::Move;
use crate::checkpoint::{Id, Layout};
use crate::store::Store;
use crate::transfer::directory::Directory;
use crate::transfer::place;

// Enough to make a sync cheap beside them; little enough to be on disk within a second.
const BATCH_FILES: usize = 4096;
const BATCH_BYTES: u64 = 64 << 20;

/// Where files are put in their places.
pub(super) enum Places<'a> {
    /// In a thread, while the next files are written.
    Elsewhere(SyncSender<Vec<Pending>>),
    /// In the exporting thread, since no other could be started.
    Here(Box<Placer<'a>>),
}

/// An export under way.
pub(super) struct Export<'a, 'w> {
    store: &'a Store,
    directory: &'a Directory,
    watcher: &'a mut Watcher<'w>,
    claims: Claims,
    line_files: LineFiles,
    indexes: Indexes,
    batch: Vec<Pending>,
    batch_bytes: u64,
    places: Places<'a>,
    /// Number of checkpoints that were handed to the placer.
    handed_over: u64,
    report: Exported,
    /// Files that were in their new places already.
    moves: Vec<Move>,
}

impl<'a, 'w> Export<'a, 'w> {
    pub(super) fn new(
        store: &'a Store,
        directory: &'a Directory,
        watcher: &'a mut Watcher<'w>,
        places: Places<'a>,
    ) -> Self {
        Self {
            store,
            directory,
            watcher,
            claims: Claims::default(),
            line_files: LineFiles::default(),
            indexes: Indexes::default(),
            batch: Vec::new(),
            batch_bytes: 0,
            places,
            handed_over: 0,
            report: Exported::default(),
            moves: Vec::new(),
        }
    }

    /// Number of checkpoints that are done, or on their way to their places.
    pub(super) fn done(&self) -> u64 {
        self.report.total() + self.handed_over + self.batch.len() as u64
    }

    pub(super) fn take(&mut self, prepared: Prepared) -> Result<(), Halt> {
        self.watcher.step(self.done())?;
        self.report.older += prepared.older;
        for file in prepared.files {
            match file {
                File::Ready(ready) => self.take_ready(*ready)?,
                File::Line { path, form, layout, id } => {
                    if !self.line_files.add(path, form, layout, id) {
                        self.report.older += 1;
                    }
                }
                File::Refused { id, why } => self.leave_out(id.as_str(), &why, 1),
            }
        }
        Ok(())
    }

    fn take_ready(&mut self, mut ready: Ready) -> Result<(), ExportError> {
        let claim = self.claims.claim(&ready.path, ready.series.as_str());
        if claim != Claim::Granted {
            let other_path =
                ready.other_path.take().filter(|path| place::recorded_refusal(path).is_none());
            let Some(path) = other_path.filter(|path| self.claims.take(path)) else {
                // A file that came from here was overwritten there, too; a new one was not.
                if ready.is_made && claim == Claim::Foreign {
                    let why = NotExported::Taken { path: ready.path };
                    self.leave_out(ready.id.as_str(), &why, 1);
                } else {
                    self.report.older += 1;
                }
                return Ok(());
            };
            self.report.renamed += 1;
            ready.progress = drafted(self.directory, &path, &ready.content)?;
            ready.path = path;
        }
        let Ready { id, path, layout, content, row, report, leaving, progress, .. } = ready;
        let is_there = matches!(progress, Progress::Drafted(_) | Progress::Unchanged);
        if let Some(row) = row.filter(|_| is_there) {
            self.indexes.add(&path, content.form, row);
        }
        if is_there {
            self.report_file(id.as_str(), report);
        }
        let name = id.to_string();
        let moved = leaving.map(|leaving| leaving.to(id, &path));
        self.settle(progress, Settled { path, name, layout, checkpoints: 1, moved })
    }

    /// Counts notes about a file, and reports those that no earlier file had.
    fn report_file(&mut self, name: &str, file: Report) {
        for field in file.added {
            count(&mut self.report.added, field);
        }
        for note in file.notes {
            // Thousands of files may have the same.
            if !self.report.notes.contains_key(&note) {
                self.watcher.tell(ExportEvent::Note { name, note: &note });
            }
            count(&mut self.report.notes, note);
        }
    }

    fn settle(&mut self, progress: Progress, file: Settled) -> Result<(), ExportError> {
        let Settled { path, name, layout, checkpoints, moved } = file;
        match progress {
            Progress::Drafted(draft) => {
                self.batch_bytes += draft.bytes;
                self.batch.push(Pending { draft, path, name, layout, checkpoints, moved });
                if self.batch.len() >= BATCH_FILES || self.batch_bytes >= BATCH_BYTES {
                    self.place_batch()?;
                }
            }
            Progress::Unchanged => {
                self.report.unchanged += checkpoints;
                self.moves.extend(moved);
            }
            Progress::Differs => {
                self.leave_out(&name, &NotExported::Differs { path }, checkpoints);
            }
            Progress::Obstructed(reason) => {
                self.leave_out(&name, &NotExported::Obstructed { path, reason }, checkpoints);
            }
        }
        Ok(())
    }

    /// Passes the drafted files to the placer.
    pub(super) fn place_batch(&mut self) -> Result<(), ExportError> {
        let batch = std::mem::take(&mut self.batch);
        self.batch_bytes = 0;
        self.handed_over += batch.iter().map(|pending| pending.checkpoints).sum::<u64>();
        match &mut self.places {
            Places::Elsewhere(to_placer) => {
                // The placer has failed; joining its thread returns the error.
                let ended = || io::Error::from(io::ErrorKind::BrokenPipe);
                let sent = to_placer.send(batch).map_err(|_| ended());
                sent.trying(|| "place files".to_owned())
            }
            Places::Here(placer) => placer.take(batch),
        }
    }

    /// Writes the files that depend on all checkpoints.
    pub(super) fn finish(&mut self) -> Result<(), Halt> {
        for (path, file) in std::mem::take(&mut self.line_files).into_files() {
            self.watcher.step(self.done())?;
            self.write_lines(path, &file)?;
        }
        // Last, so that an index names only files that are there.
        for beside in std::mem::take(&mut self.indexes).into_files() {
            self.watcher.step(self.done())?;
            self.write_beside(beside?)?;
        }
        Ok(self.place_batch()?)
    }

    /// Distinguishes a stop from a failure; see [`Watcher::halted`].
    pub(super) fn halted(&mut self, ended: Result<(), Halt>) -> Result<(), Halt> {
        let done = self.done();
        self.watcher.halted(ended, done)
    }

    /// Ends it, and returns the report and the files to remove from where they were, except for
    /// what a thread has placed.
    pub(super) fn end(self) -> Result<(Exported, Placed), ExportError> {
        let mut placed = match self.places {
            Places::Here(placer) => placer.finish()?,
            Places::Elsewhere(_) => Placed::default(),
        };
        placed.moves.splice(0..0, self.moves);
        Ok((self.report, placed))
    }

    fn write_lines(&mut self, path: String, file: &LineFile) -> Result<(), ExportError> {
        let count = file.lines.len() as u64;
        if let Some(reason) = place::recorded_refusal(&path) {
            let first = file.lines.values().next().map(Id::as_str).unwrap_or_default();
            self.leave_out(first, &NotExported::Path { path, reason }, count);
            return Ok(());
        }
        if !self.claims.take(&path) {
            self.report.older += count;
            return Ok(());
        }
        let DraftedLines { draft, lines, damaged } =
            file.write(self.store, self.directory, &path)?;
        for (id, why) in &damaged {
            self.leave_out(id.as_str(), why, 1);
        }
        let found = self.directory.look_for_draft(&path, &draft, file.form.is_gzip);
        let found = found.trying(|| format!("read {}", self.directory.path(&path).display()))?;
        let progress = Progress::of(self.directory, found, &path, || Ok(draft))?;
        let name = path.clone();
        let (layout, moved) = (file.layout, None);
        self.settle(progress, Settled { path, name, layout, checkpoints: lines, moved })
    }

    /// Writes the files that claude-crunch keeps beside its checkpoints.
    fn write_beside(&mut self, beside: Beside) -> Result<(), ExportError> {
        let Beside { index_path, index, latest_path, latest } = beside;
        if self.claims.take(&index_path) {
            let progress = drafted(self.directory, &index_path, &index)?;
            self.settle(progress, Settled::beside(index_path))?;
        }
        if self.claims.take(&latest_path) {
            let shown = self.directory.path(&latest_path);
            let found = self.directory.look_for_link(&latest_path, &latest);
            let found = found.trying(|| format!("read {}", shown.display()))?;
            let draft = || self.directory.draft_link(&latest_path, &latest);
            let progress = Progress::of(self.directory, found, &latest_path, draft)?;
            self.settle(progress, Settled::beside(latest_path))?;
        }
        Ok(())
    }

    fn leave_out(&mut self, name: &str, why: &NotExported, checkpoints: u64) {
        self.watcher.leave_out(&mut self.report, name, why, checkpoints);
    }
}

fn count(counts: &mut BTreeMap<String, u64>, name: String) {
    *counts.entry(name).or_default() += 1;
}

/// A file whose place is decided.
struct Settled {
    path: String,
    name: String,
    layout: Layout,
    checkpoints: u64,
    moved: Option<Move>,
}

impl Settled {
    fn beside(path: String) -> Self {
        Self { name: path.clone(), path, layout: Layout::Crunch, checkpoints: 0, moved: None }
    }
}

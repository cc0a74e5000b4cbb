//! Decides who gets a path, in the order of checkpoints, and has files put in their places.

use std::sync::mpsc::SyncSender;

use anyhow::{Context as _, Result};
use waypost::{Error, Id, Layout, Store};

use super::claims::{Claim, Claims};
use super::index::{Beside, Indexes};
use super::lines::{LineFile, Lines, Written};
use super::placer::{Pending, Placer};
use super::prepare::{File, Prepared, Ready, State, drafted, named, stated};
use super::tally::Tally;
use super::vacate::Moved;
use crate::args::Global;
use crate::interrupt;
use crate::progress::Progress;
use waypost::transfer::directory::Directory;
use waypost::transfer::place;

// Enough to make a sync cheap beside them; little enough to be on disk within a second.
const BATCH_FILES: usize = 4096;
const BATCH_BYTES: u64 = 64 << 20;

/// Where files are moved into place.
pub(super) enum Places<'a> {
    /// In a thread, while the next files are written.
    Elsewhere(SyncSender<Vec<Pending>>),
    /// In the exporting thread, since no other could be started.
    Here(Box<Placer<'a>>),
}

/// An export under way: decides who gets a path, in order.
pub(super) struct Export<'a> {
    store: &'a Store,
    directory: &'a Directory,
    global: &'a Global,
    progress: &'a Progress,
    claims: Claims,
    lines: Lines,
    indexes: Indexes,
    batch: Vec<Pending>,
    batch_bytes: u64,
    places: Places<'a>,
    /// How many checkpoints are on their way to their places.
    handed_over: u64,
    tally: Tally,
}

impl<'a> Export<'a> {
    pub(super) fn new(
        store: &'a Store,
        directory: &'a Directory,
        global: &'a Global,
        progress: &'a Progress,
        places: Places<'a>,
    ) -> Self {
        Self {
            store,
            directory,
            global,
            progress,
            claims: Claims::default(),
            lines: Lines::default(),
            indexes: Indexes::default(),
            batch: Vec::new(),
            batch_bytes: 0,
            places,
            handed_over: 0,
            tally: Tally::default(),
        }
    }

    pub(super) fn take(&mut self, prepared: Prepared) -> Result<()> {
        interrupt::check()?;
        self.tally.older += prepared.older;
        for file in prepared.files {
            match file {
                File::Ready(ready) => self.take_ready(*ready)?,
                File::Line { path, form, layout, id } => {
                    if !self.lines.add(path, form, layout, id) {
                        self.tally.older += 1;
                    }
                }
                File::Refused { id, reason } => self.refuse(id.as_str(), &reason, 1),
                File::Damaged(error) => self.report_damage(&error),
            }
        }
        self.progress.show(self.tally.total() + self.handed_over + self.batch.len() as u64);
        Ok(())
    }

    fn take_ready(&mut self, mut ready: Ready) -> Result<()> {
        let claim = self.claims.claim(&ready.path, ready.series.as_str());
        if claim != Claim::Granted {
            let other_path =
                ready.other_path.take().filter(|path| place::recorded_refusal(path).is_none());
            let Some(path) = other_path.filter(|path| self.claims.take(path)) else {
                // A file that came from here was overwritten by whoever; one that is made was not.
                if ready.is_made && claim == Claim::Foreign {
                    let reason = format!("{} is that of a newer one of another series", ready.path);
                    self.refuse(ready.id.as_str(), &reason, 1);
                } else {
                    self.tally.older += 1;
                }
                return Ok(());
            };
            self.tally.renamed += 1;
            ready.state = drafted(self.directory, &path, &ready.content)?;
            ready.path = path;
        }
        let Ready { id, path, layout, content, row, report, leaving, state, .. } = ready;
        let is_there = matches!(state, State::Drafted(_) | State::Unchanged);
        if let Some(row) = row.filter(|_| is_there) {
            self.indexes.add(&path, content.form, row);
        }
        if is_there {
            self.tally.report(self.global, id.as_str(), report);
        }
        let name = id.to_string();
        let moved = leaving.map(|leaving| leaving.to(id, &path));
        self.settle(state, Settled { path, name, layout, checkpoints: 1, moved })
    }

    fn settle(&mut self, state: State, file: Settled) -> Result<()> {
        let Settled { path, name, layout, checkpoints, moved } = file;
        match state {
            State::Drafted(draft) => {
                self.batch_bytes += draft.bytes;
                self.batch.push(Pending { draft, path, name, layout, checkpoints, moved });
                if self.batch.len() >= BATCH_FILES || self.batch_bytes >= BATCH_BYTES {
                    self.place_batch()?;
                }
            }
            State::Unchanged => {
                self.tally.unchanged += checkpoints;
                self.tally.moved.extend(moved);
            }
            State::Differs => self.tally.refuse_for_other(self.global, &name, &path, checkpoints),
            State::Obstructed(reason) => {
                self.refuse(&name, &format!("{path} {reason}"), checkpoints);
            }
        }
        Ok(())
    }

    /// Has what was written put in its places.
    pub(super) fn place_batch(&mut self) -> Result<()> {
        let batch = std::mem::take(&mut self.batch);
        self.batch_bytes = 0;
        self.handed_over += batch.iter().map(|pending| pending.checkpoints).sum::<u64>();
        match &mut self.places {
            Places::Elsewhere(to_placer) => {
                to_placer.send(batch).ok().context("the thread that places files has ended")
            }
            Places::Here(placer) => placer.take(batch, self.global),
        }
    }

    /// Writes what all of it had to be known for.
    pub(super) fn finish(&mut self) -> Result<()> {
        for (path, file) in std::mem::take(&mut self.lines).into_files() {
            interrupt::check()?;
            self.write_lines(path, &file)?;
        }
        // Last, for what they tell of comes first.
        for beside in std::mem::take(&mut self.indexes).into_files() {
            interrupt::check()?;
            self.write_beside(beside?)?;
        }
        self.place_batch()
    }

    /// Ends it. Files that a thread moves into place are not counted.
    pub(super) fn into_tally(mut self) -> Result<Tally> {
        if let Places::Here(placer) = self.places {
            self.tally.add(placer.finish()?);
        }
        Ok(self.tally)
    }

    fn write_lines(&mut self, path: String, file: &LineFile) -> Result<()> {
        let count = file.lines.len() as u64;
        if let Some(reason) = place::recorded_refusal(&path) {
            let first = file.lines.values().next().map(Id::as_str).unwrap_or_default();
            self.refuse(first, &named(&path, reason), count);
            return Ok(());
        }
        if !self.claims.take(&path) {
            self.tally.older += count;
            return Ok(());
        }
        let Written { draft, lines, damaged } = file.write(self.store, self.directory, &path)?;
        for error in &damaged {
            self.report_damage(error);
        }
        let found = self.directory.look_for_draft(&path, &draft, file.form.is_gzip)?;
        let state = stated(self.directory, found, || Ok(draft))?;
        let name = path.clone();
        let (layout, moved) = (file.layout, None);
        self.settle(state, Settled { path, name, layout, checkpoints: lines, moved })
    }

    /// Writes what claude-crunch has in a directory beside its checkpoints.
    fn write_beside(&mut self, beside: Beside) -> Result<()> {
        let Beside { index_path, index, latest_path, latest } = beside;
        if self.claims.take(&index_path) {
            let state = drafted(self.directory, &index_path, &index)?;
            self.settle(state, Settled::beside(index_path))?;
        }
        if self.claims.take(&latest_path) {
            let found = self.directory.look_for_link(&latest_path, &latest)?;
            let draft = || Ok(self.directory.draft_link(&latest_path, &latest)?);
            let state = stated(self.directory, found, draft)?;
            self.settle(state, Settled::beside(latest_path))?;
        }
        Ok(())
    }

    fn refuse(&mut self, name: &str, reason: &str, checkpoints: u64) {
        self.tally.refuse(self.global, name, reason, checkpoints);
    }

    fn report_damage(&mut self, error: &Error) {
        self.tally.damaged += 1;
        self.global.note(format_args!("not exported: {error}"));
    }
}

/// A file about whose place is decided.
struct Settled {
    path: String,
    name: String,
    layout: Layout,
    checkpoints: u64,
    moved: Option<Moved>,
}

impl Settled {
    fn beside(path: String) -> Self {
        Self { name: path.clone(), path, layout: Layout::Crunch, checkpoints: 0, moved: None }
    }
}

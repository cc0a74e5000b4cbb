//! The parts of a verification: which rows each reads, and what it checks of them.

use std::ops::ControlFlow;

use redb::{ReadableTable as _, ReadableTableMetadata as _};

use super::frames::{self, Owners};
use super::tables::{Opener, each_after};
use super::tally::{Harm, Verification};
use super::{PART, ROWS_PART, Sweep, Verifier, checkpoints, contents, notes, rows, spool};
use crate::error::Result;
use crate::key::frame_sequence;
use crate::store::engine::fault::{In as _, without_panics};
use crate::store::watch::Stage;

impl Verifier<'_> {
    pub(super) fn notes(&mut self) -> Result<ControlFlow<()>> {
        let Self { held, found, .. } = self;
        let tables = Opener::of(held)?.open()?;
        let path = tables.path;
        let mut part = Verification::default();
        let notes = without_panics(path, || notes::check_notes(&tables, &mut part));
        let names = without_panics(path, || rows::check_names(&tables, &mut part));
        let spool = without_panics(path, || spool::check_spool(&tables, &mut part));
        found.waiting = part.waiting;
        found.add(part);
        for error in [notes, names, spool].into_iter().filter_map(Result::err) {
            found.find_error(Harm::Reading, None, &error);
        }
        Ok(ControlFlow::Continue(()))
    }

    pub(super) fn checkpoints(&mut self) -> Result<ControlFlow<()>> {
        let total = Opener::of(&mut self.held)?.open()?.records.len().within(self.held.path).ok();
        self.sweep(&Sweep {
            stage: Stage::Documents,
            total,
            read: &|tables, after: Option<&([u8; 14], Vec<u8>)>, found| {
                let mut rows = Vec::new();
                let table = ("records", tables.path);
                let after = after.map(|(key, _)| *key);
                each_after(&tables.records, table, after, found, |key, value| {
                    rows.push((key, value.to_owned()));
                    rows.len() < PART
                });
                rows
            },
            check: &checkpoints::check_record,
        })
    }

    pub(super) fn deleted(&mut self) -> Result<ControlFlow<()>> {
        self.sweep(&Sweep {
            stage: Stage::Documents,
            total: None,
            read: &|tables, after: Option<&([u8; 22], Vec<u8>)>, found| {
                let mut rows = Vec::new();
                let Some(deleted) = &tables.deleted else { return rows };
                let after = after.map(|(key, _)| *key);
                each_after(deleted, ("deleted", tables.path), after, found, |key, value| {
                    rows.push((key, value.to_owned()));
                    rows.len() < PART
                });
                rows
            },
            check: &checkpoints::check_deleted,
        })
    }

    pub(super) fn index(&mut self) -> Result<ControlFlow<()>> {
        let total = Opener::of(&mut self.held)?.open()?.index.len().within(self.held.path).ok();
        self.sweep(&Sweep {
            stage: Stage::Rows,
            total,
            read: &|tables, after: Option<&[u8; 22]>, found| {
                let mut rows = Vec::new();
                let table = ("index", tables.path);
                each_after(&tables.index, table, after.copied(), found, |row, ()| {
                    rows.push(row);
                    rows.len() < ROWS_PART
                });
                rows
            },
            check: &rows::check_index,
        })
    }

    pub(super) fn sources(&mut self) -> Result<ControlFlow<()>> {
        self.sweep(&Sweep {
            stage: Stage::Rows,
            total: None,
            read: &|tables, after: Option<&[u8; 22]>, found| {
                let mut rows = Vec::new();
                let Some(sources) = &tables.sources else { return rows };
                let table = ("sources", tables.path);
                each_after(sources, table, after.copied(), found, |row, ()| {
                    rows.push(row);
                    rows.len() < ROWS_PART
                });
                rows
            },
            check: &rows::check_source,
        })
    }

    /// Ids, and children under their parents: their keys are texts, and few.
    pub(super) fn ids(&mut self) -> Result<ControlFlow<()>> {
        let Self { held, found, .. } = self;
        let tables = Opener::of(held)?.open()?;
        let path = tables.path;
        let mut part = Verification::default();
        let followed = without_panics(path, || {
            for row in tables.ids.iter().within(path)? {
                let (id, key) = row.within(path)?;
                rows::check_id(&tables, &(id.value().to_owned(), key.value()), &mut part);
            }
            let Some(children) = &tables.children else { return Ok(()) };
            for row in children.iter().within(path)? {
                let row = row.within(path)?.0;
                let (parent, key) = row.value();
                rows::check_child(&tables, &(parent.to_owned(), key), &mut part);
            }
            Ok(())
        });
        found.add(part);
        followed.map(ControlFlow::Continue)
    }

    pub(super) fn frames(&mut self) -> Result<ControlFlow<()>> {
        let owners = self.owners()?;
        self.sweep(&Sweep {
            stage: Stage::Rows,
            total: None,
            read: &|tables, after: Option<&u64>, found| {
                let mut sequences: Vec<u64> = Vec::new();
                let after = after.map(|sequence| crate::key::dependents_row(*sequence));
                each_after(&tables.frames, ("frames", tables.path), after, found, |row, _| {
                    let sequence = frame_sequence(row);
                    if sequences.last() != Some(&sequence) {
                        sequences.push(sequence);
                    }
                    sequences.len() <= ROWS_PART
                });
                sequences.truncate(ROWS_PART);
                sequences
            },
            check: &|tables, sequence, found| {
                frames::check_frame(tables, *sequence, &owners, found);
            },
        })
    }

    pub(super) fn contents(&mut self) -> Result<ControlFlow<()>> {
        let owners = self.owners()?;
        let Self { held, found, .. } = self;
        let tables = Opener::of(held)?.open()?;
        let path = tables.path;
        let mut part = Verification::default();
        let holders = without_panics(path, || {
            contents::check_holders(&tables, &owners, &mut part);
            Ok(())
        });
        drop(tables);
        found.add(part);
        holders?;
        self.sweep(&Sweep {
            stage: Stage::Contents,
            total: None,
            read: &|tables, after, found| contents::next_stored(tables, after, PART, found),
            check: &contents::check_content,
        })
    }

    /// All current checkpoints.
    pub(super) fn owners(&mut self) -> Result<Owners> {
        let tables = Opener::of(&mut self.held)?.open()?;
        let path = tables.path;
        // Lost rows were reported before.
        without_panics(path, || Ok(Owners::read(&tables, &mut Verification::default())))
    }
}

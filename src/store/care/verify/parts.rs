//! The parts of a verification: which rows each reads, and what it checks of them.

use std::ops::ControlFlow;

use redb::{ReadOnlyTable, ReadableTable as _, ReadableTableMetadata as _, Value};

use super::frames::{self, Owners};
use super::tables::{Opener, Tables, each_after};
use super::tally::{Harm, Verification};
use super::{PART, ROWS_PART, Sweep, Verifier, checkpoints, contents, notes, rows, spool};
use crate::error::Result;
use crate::key::frame_sequence;
use crate::store::engine::fault::{In as _, without_panics};
use crate::store::watch::Stage;

impl Verifier<'_> {
    pub(super) fn notes(&mut self) -> Result<ControlFlow<()>> {
        self.found.waiting = self.part(|held, part| {
            let tables = Opener::of(held)?.open()?;
            let path = tables.path;
            let notes = without_panics(path, || notes::check_notes(&tables, part));
            let names = without_panics(path, || rows::check_names(&tables, part));
            let spool = without_panics(path, || spool::check_spool(&tables, part));
            for error in [notes, names, spool].into_iter().filter_map(Result::err) {
                part.find_error(Harm::Reading, None, &error);
            }
            Ok(part.waiting)
        })?;
        Ok(ControlFlow::Continue(()))
    }

    pub(super) fn checkpoints(&mut self) -> Result<ControlFlow<()>> {
        let total = self.part(|held, _| {
            let tables = Opener::of(held)?.open()?;
            Ok(tables.records.len().within(tables.path).ok())
        })?;
        let end = self.end(|tables| Some(&tables.records))?;
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
            is_new: &|(key, _)| *key > end,
        })
    }

    pub(super) fn deleted(&mut self) -> Result<ControlFlow<()>> {
        let end = self.end(|tables| tables.deleted.as_ref())?;
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
            is_new: &|(row, _)| *row > end,
        })
    }

    pub(super) fn index(&mut self) -> Result<ControlFlow<()>> {
        let total = self.part(|held, _| {
            let tables = Opener::of(held)?.open()?;
            Ok(tables.index.len().within(tables.path).ok())
        })?;
        let end = self.end(|tables| Some(&tables.index))?;
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
            is_new: &|row| *row > end,
        })
    }

    pub(super) fn sources(&mut self) -> Result<ControlFlow<()>> {
        let end = self.end(|tables| tables.sources.as_ref())?;
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
            is_new: &|row| *row > end,
        })
    }

    /// Ids, and children under their parents: their keys are texts, and few.
    pub(super) fn ids(&mut self) -> Result<ControlFlow<()>> {
        self.part(|held, part| {
            let tables = Opener::of(held)?.open()?;
            let path = tables.path;
            without_panics(path, || {
                for row in tables.ids.iter().within(path)? {
                    let (id, key) = row.within(path)?;
                    rows::check_id(&tables, &(id.value().to_owned(), key.value()), part);
                }
                let Some(children) = &tables.children else { return Ok(()) };
                for row in children.iter().within(path)? {
                    let row = row.within(path)?.0;
                    let (parent, key) = row.value();
                    rows::check_child(&tables, &(parent.to_owned(), key), part);
                }
                Ok(())
            })
        })?;
        Ok(ControlFlow::Continue(()))
    }

    pub(super) fn frames(&mut self) -> Result<ControlFlow<()>> {
        let end = frame_sequence(self.end(|tables| Some(&tables.frames))?);
        let owners = self.part(|held, _| {
            let tables = Opener::of(held)?.open()?;
            without_panics(tables.path, || Ok(owners(&tables)))
        })?;
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
            is_new: &|sequence| *sequence > end,
        })
    }

    pub(super) fn contents(&mut self) -> Result<ControlFlow<()>> {
        self.part(|held, part| {
            let tables = Opener::of(held)?.open()?;
            without_panics(tables.path, || {
                contents::check_holders(&tables, &owners(&tables), part);
                Ok(())
            })
        })?;
        self.sweep(&Sweep {
            stage: Stage::Contents,
            total: None,
            read: &|tables, after, found| contents::next_stored(tables, after, PART, found),
            check: &contents::check_content,
            is_new: &|_| false,
        })
    }
}

impl Verifier<'_> {
    /// The last key of a table; the last possible one if damage may hide it.
    fn end<const N: usize, V: Value + 'static>(
        &mut self,
        table: impl for<'t> Fn(&'t Tables<'_>) -> Option<&'t ReadOnlyTable<[u8; N], V>>,
    ) -> Result<[u8; N]> {
        if self.found.is_damaged() {
            return Ok([0xff; N]);
        }
        self.part(|held, _| {
            let tables = Opener::of(held)?.open()?;
            let Some(table) = table(&tables) else { return Ok([0; N]) };
            let last = without_panics(tables.path, || {
                let last = table.last().within(tables.path)?;
                Ok(last.map_or([0; N], |(key, _)| key.value()))
            });
            Ok(last.unwrap_or([0xff; N]))
        })
    }
}

/// All current checkpoints.
fn owners(tables: &Tables<'_>) -> Owners {
    // Lost rows were reported before.
    Owners::read(tables, &mut Verification::default())
}

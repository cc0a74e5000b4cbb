//! What became of an export, counted.

use std::collections::BTreeMap;
use std::fmt::{self, Display};

use serde::Serialize;
use waypost::Layout;

use super::render::Report;
use super::vacate::Moved;
use crate::args::Global;
use crate::output::grouped;

/// What became of an export.
#[derive(Debug, Default, Serialize)]
pub(in crate::command::export) struct Tally {
    /// Checkpoints that were written.
    pub(super) exported: u64,
    /// The same, by the layout they were written in.
    pub(super) layouts: BTreeMap<Layout, u64>,
    /// Checkpoints whose files were there already.
    pub(super) unchanged: u64,
    /// Checkpoints that a newer one has the file of.
    pub(super) older: u64,
    /// Checkpoints that a newer one has the usual name of.
    pub(super) renamed: u64,
    /// Files that were not written, for reasons that were told.
    pub(in crate::command::export) refused: u64,
    /// Those of them in whose place is something else.
    pub(in crate::command::export) differing: u64,
    pub(in crate::command::export) damaged: u64,
    /// Bytes of files that were written.
    pub(super) bytes: u64,
    /// How many files got a field that their version has, by its JSON pointer.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) added: BTreeMap<String, u64>,
    /// How many files a note is about.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) notes: BTreeMap<String, u64>,
    /// Files that were taken from where they were before their status changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) moved: Vec<Moved>,
}

impl Tally {
    pub(in crate::command::export) fn total(&self) -> u64 {
        self.exported + self.unchanged + self.older + self.refused + self.damaged
    }

    /// How many are where they belong.
    pub(in crate::command::export) fn written(&self) -> String {
        let there = grouped(self.exported + self.unchanged);
        format!("{there} exported")
    }

    /// The fields that files got, those of equally many files in one line.
    pub(in crate::command::export) fn additions(&self) -> Vec<String> {
        let mut lots: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
        for (field, count) in &self.added {
            lots.entry(*count).or_default().push(field);
        }
        let line = |(count, fields): (u64, Vec<&str>)| {
            let files = if count == 1 { "file" } else { "files" };
            format!("added to {} {files}: {}", grouped(count), fields.join(", "))
        };
        lots.into_iter().rev().map(line).collect()
    }

    /// Adds what another has counted.
    pub(super) fn add(&mut self, other: Self) {
        for (layout, count) in other.layouts {
            self.export(layout, count);
        }
        self.unchanged += other.unchanged;
        self.older += other.older;
        self.renamed += other.renamed;
        self.refused += other.refused;
        self.differing += other.differing;
        self.damaged += other.damaged;
        self.bytes += other.bytes;
        self.moved.extend(other.moved);
        for (field, count) in other.added {
            *self.added.entry(field).or_default() += count;
        }
        for (note, count) in other.notes {
            *self.notes.entry(note).or_default() += count;
        }
    }

    /// Counts the fields that a file got, and says what else is to be known of it.
    pub(super) fn report(&mut self, global: &Global, name: &str, report: Report) {
        for field in report.added {
            *self.added.entry(field).or_default() += 1;
        }
        for note in report.notes {
            // Thousands of files may have the same.
            if !self.notes.contains_key(&note) && !global.json {
                global.note(format_args!("{name}: {note}"));
            }
            *self.notes.entry(note).or_default() += 1;
        }
    }

    /// What was said of one file, and is so of several.
    pub(in crate::command::export) fn repeated_notes(&self) -> impl Iterator<Item = String> {
        let repeated = self.notes.iter().filter(|(_, count)| **count > 1);
        repeated.map(|(note, count)| format!("{count} files: {note}"))
    }

    /// Counts what is not written, and tells why.
    pub(super) fn refuse(&mut self, global: &Global, name: &str, reason: &str, checkpoints: u64) {
        self.refused += checkpoints.max(1);
        global.note(format_args!("not exported: {name}: {reason}"));
    }

    /// Counts what is not written because something else is there, and is to stay.
    pub(super) fn refuse_for_other(
        &mut self,
        global: &Global,
        name: &str,
        path: &str,
        checkpoints: u64,
    ) {
        self.differing += checkpoints.max(1);
        let reason = "is there with other content";
        if name == path {
            self.refused += checkpoints.max(1);
            global.note(format_args!("not exported: {path} {reason}"));
            return;
        }
        self.refuse(global, name, &format!("{path} {reason}"), checkpoints);
    }

    /// Counts the checkpoints of a file; an index has none.
    pub(super) fn export(&mut self, layout: Layout, checkpoints: u64) {
        if checkpoints == 0 {
            return;
        }
        self.exported += checkpoints;
        *self.layouts.entry(layout).or_default() += checkpoints;
    }
}

impl Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exported {}", self.exported)?;
        for (number, (layout, count)) in self.layouts.iter().enumerate() {
            let lead = if number == 0 { ":" } else { "," };
            write!(f, "{lead} {count} {layout}")?;
        }
        if self.unchanged > 0 {
            write!(f, "; {} unchanged", self.unchanged)?;
        }
        if self.renamed > 0 {
            write!(f, "; {} under a second name, as a newer one has the first", self.renamed)?;
        }
        if self.older > 0 {
            write!(
                f,
                "; {} older contents of overwritten files are in the store only",
                self.older
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_reads_as_a_sentence() {
        let mut tally = Tally::default();
        assert_eq!(tally.to_string(), "exported 0");
        tally.export(Layout::Crunch, 80);
        tally.export(Layout::Aiwg, 40);
        tally.unchanged = 3;
        assert_eq!(tally.to_string(), "exported 120: 80 crunch, 40 aiwg; 3 unchanged");
        assert_eq!(tally.total(), 123);
        assert!(tally.additions().is_empty());
        for (field, count) in [("/b", 2), ("/a", 2), ("/c", 1)] {
            tally.added.insert(field.to_owned(), count);
        }
        assert_eq!(tally.additions(), ["added to 2 files: /a, /b", "added to 1 file: /c"]);
    }
}

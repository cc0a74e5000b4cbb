//! What became of an export, counted.

use std::collections::BTreeMap;
use std::fmt::{self, Display};

use serde::Serialize;
use waypost::Layout;

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
}

impl Tally {
    pub(in crate::command::export) fn total(&self) -> u64 {
        self.exported + self.unchanged + self.older + self.refused + self.damaged
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
    }
}

//! Which checkpoints of other systems lie in a tree, counted before anybody asks for them.
//!
//! Must never take long: of a tree that is too large, it tells how far it came.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde::Serialize;
use waypost::layouts::Kind;
use waypost::{Layout, Store};

use super::file::{Importer, Step};
use super::place::Base;
use super::revisions::Revisions;
use super::walk::{Found, Item, Root};
use crate::config;

// What a person waits for an answer without wondering.
const TIME_MAX: Duration = Duration::from_secs(5);
const FILES_MAX: u64 = 10_000;

/// What the store has already.
#[derive(Clone, Copy)]
pub(in crate::command) enum Known<'a> {
    /// It is asked.
    In(&'a Store),
    /// Files at these places, from the directory that the store is for.
    At(&'a HashSet<String>),
}

/// What lies in a tree and is not in the store.
#[derive(Debug, Default, Serialize)]
pub(in crate::command) struct Survey {
    pub(in crate::command) layouts: BTreeMap<Layout, Lot>,
    /// Files that look like checkpoints and cannot be read.
    pub(in crate::command) unreadable: u64,
    /// Whether there may be more.
    pub(in crate::command) is_cut: bool,
    #[serde(skip)]
    files: u64,
}

/// Checkpoints of one layout.
#[derive(Debug, Default, Serialize)]
pub(in crate::command) struct Lot {
    pub(in crate::command) count: u64,
    /// The directory that all of them lie in, from the one that the store is for.
    pub(in crate::command) place: String,
}

impl Survey {
    /// Looks through a directory, which is an absolute path, for the store at `store`.
    pub(in crate::command) fn of(directory: &Path, store: &Path, known: Known<'_>) -> Result<Self> {
        let start = Instant::now();
        let store_now = match known {
            Known::In(store) => Some(store),
            Known::At(_) => None,
        };
        let importer = Importer {
            store: store_now,
            home: None,
            is_dry: true,
            keeps_unreadable: false,
            revisions: &Revisions::default(),
            takes_undated: false,
        };
        let mut this = Self::default();
        let mut failure = None;
        let mut hand_out = |found: Found| {
            let added = match found {
                Found::File(item) => this.look(&importer, &item, known),
                Found::Problem { .. } => {
                    this.unreadable += 1;
                    Ok(())
                }
                Found::Skipped { .. } | Found::Note { .. } => Ok(()),
            };
            failure = added.err();
            failure.is_none() && this.files < FILES_MAX && start.elapsed() < TIME_MAX
        };
        let location = config::location(store).unwrap_or_default();
        let root = Root::new(directory.to_owned(), &Base::new(store), &location);
        let is_whole = root.walk_while(&mut || start.elapsed() < TIME_MAX, &mut hand_out);
        this.is_cut = !is_whole;
        failure.map_or(Ok(this), Err)
    }

    /// How many there are.
    pub(in crate::command) fn count(&self) -> u64 {
        self.layouts.values().map(|lot| lot.count).sum()
    }

    /// Such as `120 crunch, 94 aiwg`.
    pub(in crate::command) fn in_words(&self) -> String {
        self.joined(|name, lot| format!("{} {name}", lot.count))
    }

    /// Such as `120 crunch in .claude/crunch, 94 aiwg in .aiwg; 1 cannot be read`.
    pub(in crate::command) fn told(&self) -> String {
        let mut text = self.joined(|name, lot| match lot.place.as_str() {
            "" => format!("{} {name}", lot.count),
            place => format!("{} {name} in {place}", lot.count),
        });
        if text.is_empty() {
            "nothing to import".clone_into(&mut text);
        }
        if self.unreadable > 0 {
            let _ = write!(text, "; {} cannot be read", self.unreadable);
        }
        if self.is_cut {
            text.push_str("; not all was looked through, and there may be more");
        }
        text
    }

    fn joined(&self, tell: impl Fn(&str, &Lot) -> String) -> String {
        // Whatever lies where checkpoints do, of no layout that is known.
        let name = |layout: Layout| match layout {
            Layout::Native => "other",
            layout => layout.as_str(),
        };
        let lots: Vec<String> =
            self.layouts.iter().map(|(layout, lot)| tell(name(*layout), lot)).collect();
        lots.join(", ")
    }

    fn look(&mut self, importer: &Importer<'_>, item: &Item, known: Known<'_>) -> Result<()> {
        self.files += 1;
        if matches!(known, Known::At(places) if places.contains(&item.place)) {
            return Ok(());
        }
        if matches!(item.kind, Kind::Lines) {
            return importer.look_at_lines(item, &mut |look| self.take(look(), &item.place));
        }
        self.take(importer.look(item, true), &item.place)
    }

    fn take(&mut self, step: Step, place: &str) -> Result<()> {
        match step {
            Step::Would { about, .. } => {
                let directory = place.rsplit_once('/').map_or("", |(directory, _)| directory);
                self.layouts.entry(about.layout).or_default().add(directory);
            }
            Step::Refuse { .. } | Step::Unread(_) => self.unreadable += 1,
            Step::Fail(error) => return Err(error.into()),
            // Nothing is saved, and what is looked at alone is looked at to its end.
            Step::Save { .. }
            | Step::Alone
            | Step::Undated
            | Step::Known
            | Step::Deleted
            | Step::Explain { .. }
            | Step::Skip(_)
            | Step::Ignore => {}
        }
        Ok(())
    }
}

impl Lot {
    fn add(&mut self, directory: &str) {
        if self.count == 0 {
            directory.clone_into(&mut self.place);
        }
        self.count += 1;
        while !is_within(directory, &self.place) {
            let end = self.place.rfind('/').unwrap_or_default();
            self.place.truncate(end);
        }
    }
}

fn is_within(path: &str, directory: &str) -> bool {
    let below = path.strip_prefix(directory);
    directory.is_empty() || below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lot_lies_in_the_directory_that_all_of_it_is_below() {
        let place = |directories: &[&str]| {
            let mut lot = Lot::default();
            for directory in directories {
                lot.add(directory);
            }
            (lot.count, lot.place)
        };
        assert_eq!(place(&["a/b/c"]), (1, "a/b/c".to_owned()));
        assert_eq!(place(&["a/b/c", "a/b/d", "a/b"]), (3, "a/b".to_owned()));
        assert_eq!(place(&["a/b", "a/bc"]), (2, "a".to_owned()));
        assert_eq!(place(&["a", "b", "a"]), (3, String::new()));
    }

    #[test]
    fn a_survey_that_stopped_says_so() {
        let mut survey = Survey { unreadable: 2, ..Survey::default() };
        assert_eq!(survey.told(), "nothing to import; 2 cannot be read");
        survey.layouts.insert(Layout::Native, Lot { count: 1, place: String::new() });
        survey.layouts.insert(Layout::Aiwg, Lot { count: 9, place: ".aiwg".to_owned() });
        survey.is_cut = true;
        let told = "1 other, 9 aiwg in .aiwg; 2 cannot be read; not all was looked through";
        assert_eq!(survey.told(), format!("{told}, and there may be more"));
        assert_eq!((survey.count(), survey.in_words().as_str()), (10, "1 other, 9 aiwg"));
    }
}

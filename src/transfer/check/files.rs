//! Checks files in place, and all checkpoint files of a directory.

use std::fs;
use std::io;
use std::path::Path;

use super::report::{Checked, Subject};
use super::{CheckOptions, layout_of};
use crate::checkpoint::{Document, Layout};
use crate::codec::Source;
use crate::layouts::{Kind, Place, Problem, check, locate, recognise};
use crate::transfer::home::Home;
use crate::transfer::import::text::{self, bytes_max, debris, read, said, unzipped};
use crate::transfer::import::walk::{Discovered, Item, Root};

/// Checks a file, or all below a directory.
pub(super) fn check_path(
    checked: &mut Checked,
    path: &Path,
    options: &CheckOptions,
    goes_on: &mut dyn FnMut() -> bool,
) -> io::Result<()> {
    let absolute = fs::canonicalize(path)?;
    let is_named = !absolute.is_dir();
    let home = Home::of(&options.store);
    Root::new(absolute, &home, &options.location).walk(goes_on, &mut |found| {
        match found {
            Discovered::File(item) => Checking { options, item: &item, checked }.file(is_named),
            Discovered::Problem { place, reason } => {
                let subject = Subject::of_file(&place, Layout::Native);
                checked.add(&subject, vec![Problem::syntax(&reason)]);
            }
            Discovered::Skipped { .. } | Discovered::Note { .. } => {}
        }
        true
    });
    Ok(())
}

/// A file that is checked.
struct Checking<'a> {
    options: &'a CheckOptions,
    item: &'a Item,
    checked: &'a mut Checked,
}

impl Checking<'_> {
    fn file(&mut self, is_named: bool) {
        let content = match read(&self.item.path) {
            Ok(content) => content,
            Err(error) => return self.unreadable(&error.to_string()),
        };
        if let Some(reason) = debris(&content.bytes) {
            return self.unreadable(reason);
        }
        let text = match unzipped(&content.bytes, bytes_max()) {
            Ok(text) => text,
            Err(fault) => return self.unreadable(&fault.to_string()),
        };
        if matches!(self.item.kind, Kind::Lines) {
            return self.lines(&text);
        }
        match text::source(&self.item.place, &text) {
            Ok(source) => self.document(&source, &text, is_named),
            Err(error) => self.unreadable(&said(&error)),
        }
    }

    /// Reports a file that cannot be read, unless it may be no checkpoint at all.
    fn unreadable(&mut self, reason: &str) {
        if !matches!(self.item.kind, Kind::Candidate) {
            let layout = self.options.layout.unwrap_or_default();
            self.add(layout, vec![Problem::syntax(reason)]);
        }
    }

    /// Checks a file in which each line is a document.
    fn lines(&mut self, text: &[u8]) {
        for (number, line) in (1..).zip(text.split(|byte| *byte == b'\n')) {
            if line.trim_ascii().is_empty() {
                continue;
            }
            match Source::from_json(line) {
                Ok(source) => self.document(&source.at_line(number, false), line, false),
                Err(error) => {
                    let mut problem = Problem::syntax(&said(&error));
                    problem.line = Some(number);
                    self.add(Layout::Pipeline, vec![problem]);
                }
            }
        }
    }

    fn document(&mut self, source: &Source, text: &[u8], is_named: bool) {
        // The text was parsed, so its document can be made. If not, no rule is checked.
        let document = source.document().unwrap_or(Document::Null);
        let item = self.item;
        let place = Place { path: &item.place, modified_at: None, index: item.index.as_deref() };
        let recognised = recognise(&document, &place).map(|about| about.layout);
        let Some(layout) = layout_of(self.options.layout, recognised, &document) else {
            let is_empty = !matches!(&document, Document::Object(fields) if !fields.is_empty());
            match item.kind {
                // Another system writes no such document into a place of checkpoints.
                _ if is_named || (item.kind == Kind::Checkpoint && is_empty) => {
                    self.add(Layout::Native, vec![Problem::no_layout()]);
                }
                Kind::Candidate => {}
                _ => self.checked.other += 1,
            }
            return;
        };
        let mut found = check(layout, &document, &item.place);
        locate(&mut found, source.form(), text);
        self.add(layout, found);
    }

    fn add(&mut self, layout: Layout, found: Vec<Problem>) {
        let path = &self.item.path;
        let below = self.options.shown_from.as_ref().and_then(|it| path.strip_prefix(it).ok());
        let shown = below.unwrap_or(path).display().to_string();
        self.checked.add(&Subject::of_file(&shown, layout), found);
    }
}

//! Files in place, and the directories that they are in.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use waypost::layouts::crunch::Location;
use waypost::layouts::{Kind, Place, Problem, check, locate, recognise};
use waypost::{Document, Layout, Source};

use super::super::import::place::Base;
use super::super::import::read;
use super::super::import::text::{self, debris, unzipped};
pub(super) use super::super::import::text::{is_dump, said};
use super::super::import::walk::{Found, Item, Root};
use super::report::{Report, Subject};
use crate::args::Global;
use crate::{config, open};

/// Where files are, and by which rules.
pub(super) struct Files {
    base: Base,
    location: Location,
    here: Option<PathBuf>,
    layout: Option<Layout>,
}

impl Files {
    pub(super) fn new(layout: Option<Layout>, global: &Global) -> Result<Self> {
        let store = open::path(global)?;
        let here = env::current_dir().and_then(fs::canonicalize).ok();
        Ok(Self { base: Base::new(&store), location: config::location(&store)?, here, layout })
    }

    /// Checks a file, or all below a directory.
    pub(super) fn check(&self, path: &Path, report: &mut Report) -> Result<()> {
        let absolute =
            fs::canonicalize(path).with_context(|| format!("cannot read {}", path.display()))?;
        let is_named = !absolute.is_dir();
        Root::new(absolute, &self.base, &self.location).walk(&mut |found| {
            match found {
                Found::File(item) => self.file(&item, is_named, report),
                Found::Problem { place, reason } => {
                    report.add(
                        &Subject::of_file(&place, Layout::Native),
                        vec![Problem::syntax(&reason)],
                    );
                }
                Found::Skipped { .. } | Found::Note { .. } => {}
            }
            true
        });
        Ok(())
    }

    fn file(&self, item: &Item, is_named: bool, report: &mut Report) {
        let is_candidate = matches!(item.kind, Kind::Candidate);
        let wrong = |report: &mut Report, reason: &str| {
            if !is_candidate {
                let subject = Subject::of_file(&self.shown(item), self.layout.unwrap_or_default());
                report.add(&subject, vec![Problem::syntax(reason)]);
            }
        };
        let content = match read::read(&item.path) {
            Ok(content) => content,
            Err(reason) => return wrong(report, &reason),
        };
        if let Some(reason) = debris(&content.bytes) {
            return wrong(report, reason);
        }
        let text = match unzipped(&content.bytes, read::bytes_max()) {
            Ok(text) => text,
            Err(fault) => return wrong(report, &fault.to_string()),
        };
        if matches!(item.kind, Kind::Lines) {
            return self.lines(item, &text, report);
        }
        match text::source(&item.place, &text) {
            Ok(source) => self.document(item, &source, &text, is_named, report),
            Err(error) => wrong(report, &said(&error)),
        }
    }

    /// A file in which each line is a document.
    fn lines(&self, item: &Item, text: &[u8], report: &mut Report) {
        for (number, line) in (1..).zip(text.split(|byte| *byte == b'\n')) {
            if line.trim_ascii().is_empty() {
                continue;
            }
            match Source::from_json(line) {
                Ok(source) => {
                    let source = source.at_line(number, false);
                    self.document(item, &source, line, false, report);
                }
                Err(error) => {
                    let mut problem = Problem::syntax(&said(&error));
                    problem.line = Some(number);
                    let subject = Subject::of_file(&self.shown(item), Layout::Pipeline);
                    report.add(&subject, vec![problem]);
                }
            }
        }
    }

    fn document(
        &self,
        item: &Item,
        source: &Source,
        text: &[u8],
        is_named: bool,
        report: &mut Report,
    ) {
        // None that a text could cause; then no rule is checked.
        let document = source.document().unwrap_or(Document::Null);
        let place = Place { path: &item.place, modified_at: None, index: item.index.as_deref() };
        let own = || recognise(&document, &place).map(|about| about.layout);
        let own = || own().or_else(|| is_dump(&document).then_some(Layout::Native));
        let Some(layout) = self.layout.or_else(own) else {
            let is_empty = !matches!(&document, Document::Object(fields) if !fields.is_empty());
            return match item.kind {
                // Nothing that another system could have put into the place of a checkpoint.
                _ if is_named || (item.kind == Kind::Checkpoint && is_empty) => {
                    let subject = Subject::of_file(&self.shown(item), Layout::Native);
                    report.add(&subject, vec![Problem::no_layout()]);
                }
                Kind::Candidate => {}
                _ => report.add_other(),
            };
        };
        let mut found = check(layout, &document, &item.place);
        locate(&mut found, source.form(), text);
        report.add(&Subject::of_file(&self.shown(item), layout), found);
    }

    /// The path from the current directory, which editors and CI open.
    fn shown(&self, item: &Item) -> String {
        let below = self.here.as_ref().and_then(|here| item.path.strip_prefix(here).ok());
        below.unwrap_or(&item.path).display().to_string()
    }
}

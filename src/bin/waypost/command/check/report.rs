//! What was checked, and what is wrong with it.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anyhow::Result;
use serde::Serialize;
use waypost::layouts::{Code, Level, Problem};
use waypost::{Id, Layout};

use crate::args::Global;
use crate::exit::Refusal;
use crate::output::{self, Column, counted, plain};

// What a person or a program takes in; more are counted.
const LISTED_MAX: usize = 10_000;

/// What a document was found in.
pub(super) struct Subject {
    pub(super) path: Option<String>,
    pub(super) id: Option<Id>,
    pub(super) layout: Layout,
}

impl Subject {
    pub(super) fn of_file(path: &str, layout: Layout) -> Self {
        Self { path: Some(path.to_owned()), id: None, layout }
    }
}

/// All that was checked.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    /// Documents that were checked.
    checked: u64,
    /// Those that break a rule in a way that makes them invalid.
    invalid: u64,
    errors: u64,
    warnings: u64,
    /// Files where checkpoints are that no system is known to have written.
    other: u64,
    /// How often each rule is broken, by its name.
    rules: BTreeMap<String, u64>,
    /// Whether there are more problems than are listed.
    has_more: bool,
    problems: Vec<Row>,
}

/// A problem, and where it is.
#[derive(Debug, Serialize)]
struct Row {
    path: Option<String>,
    id: Option<Id>,
    layout: Layout,
    line: Option<u64>,
    code: Code,
    level: Level,
    field: String,
    rule: String,
}

impl Report {
    pub(super) fn add(&mut self, subject: &Subject, mut found: Vec<Problem>) {
        self.checked += 1;
        found.sort_by_key(|problem| problem.line);
        self.invalid += u64::from(found.iter().any(Problem::is_error));
        for problem in found {
            let Problem { field, rule, code, level, line, .. } = problem;
            let count = if level == Level::Error { &mut self.errors } else { &mut self.warnings };
            *count += 1;
            *self.rules.entry(named(subject.layout, code)).or_default() += 1;
            if self.problems.len() == LISTED_MAX {
                self.has_more = true;
                continue;
            }
            let (path, id, layout) = (subject.path.clone(), subject.id.clone(), subject.layout);
            self.problems.push(Row { path, id, layout, line, code, level, field, rule });
        }
    }

    /// Counts a file that no system is known to have written.
    pub(super) fn add_other(&mut self) {
        self.other += 1;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.checked + self.other == 0
    }

    pub(super) fn show(&self, out: &mut dyn Write, global: &Global) -> io::Result<()> {
        let rows = || self.problems.iter();
        if !self.problems.is_empty() {
            let columns = [
                Column::text("PLACE", rows(), |row| Some(plain(&row.place()))).whole(),
                Column::text("LEVEL", rows(), |row| Some(row.level.as_str().to_owned())).whole(),
                Column::text("RULE", rows(), |row| Some(named(row.layout, row.code))).whole(),
                Column::text("PROBLEM", rows(), |row| Some(plain(&row.said()))).whole(),
            ];
            output::table(out, &columns, global)?;
        }
        let (errors, warnings) = (
            counted(self.errors, "error", "errors"),
            counted(self.warnings, "warning", "warnings"),
        );
        let mut text = format!("checked {}: {errors}, {warnings}", self.checked);
        if self.other > 0 {
            text = format!("{text}; {} of no known layout", self.other);
        }
        if self.has_more {
            text = format!("{text}; only the first {LISTED_MAX} are listed");
        }
        global.note(text);
        Ok(())
    }

    /// An error if anything is invalid, once everything is told.
    pub(super) fn verdict(&self) -> Result<()> {
        match self.invalid {
            0 => Ok(()),
            count => Err(Refusal::Wrong { count, total: self.checked }.into()),
        }
    }
}

impl Row {
    /// `PATH:LINE`, which editors open.
    fn place(&self) -> String {
        let id = self.id.as_ref().map(ToString::to_string);
        let place = self.path.clone().or(id).unwrap_or_default();
        self.line.map_or_else(|| place.clone(), |line| format!("{place}:{line}"))
    }

    fn said(&self) -> String {
        if self.field.is_empty() {
            self.rule.clone()
        } else {
            format!("{} {}", self.field, self.rule)
        }
    }
}

fn named(layout: Layout, code: Code) -> String {
    match layout {
        // Of a file that cannot be read nobody knows whose it is.
        Layout::Native => code.to_string(),
        layout => format!("{layout}/{code}"),
    }
}

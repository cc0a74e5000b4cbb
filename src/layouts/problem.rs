//! What a document should have and does not, by field.
//!
//! Must never quote a value: messages end up in logs.

use std::fmt;
use std::ops::RangeInclusive;

use serde::Serialize;

use super::{Field, Scalar, Vocabulary, Word};
use crate::checkpoint::Timestamp;

/// A rule of a system that a document breaks. Printed as `FIELD: RULE`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Problem {
    /// The JSON pointer of the field; of the missing one, if one is missing.
    pub field: String,
    /// What it should be.
    pub rule: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.rule)
    }
}

/// Collects problems; each check is given the JSON pointer of what it looks at.
#[derive(Debug, Default)]
pub(super) struct Checker {
    problems: Vec<Problem>,
}

impl Checker {
    pub(super) fn finish(self) -> Vec<Problem> {
        self.problems
    }

    pub(super) fn refuse(&mut self, field: impl Into<String>, rule: impl Into<String>) {
        self.problems.push(Problem { field: field.into(), rule: rule.into() });
    }

    pub(super) fn must(&mut self, holds: bool, field: impl Into<String>, rule: &str) {
        if !holds {
            self.refuse(field, rule);
        }
    }

    /// The value of a field that must have one. Readers take null for nothing, so it is none.
    pub(super) fn required<'a, T>(&mut self, at: &str, field: &'a Field<T>) -> Option<&'a T> {
        self.must(field.value().is_some(), at, "is required");
        field.value()
    }

    pub(super) fn required_text(&mut self, at: &str, field: &Field<String>) {
        if let Some(text) = self.required(at, field) {
            self.must(!text.is_empty(), at, "must not be empty");
        }
    }

    pub(super) fn required_time(&mut self, at: &str, field: &Field<String>) {
        self.required(at, field);
        self.time(at, field);
    }

    pub(super) fn time(&mut self, at: &str, field: &Field<String>) {
        if let Some(text) = field.value() {
            self.time_text(at, text);
        }
    }

    /// Local times without a zone are times, too: who can order them is not asked here.
    pub(super) fn time_text(&mut self, at: &str, text: &str) {
        let is_time = |text: &str| text.parse::<Timestamp>().is_ok();
        let holds = is_time(text) || is_time(&format!("{text}Z"));
        self.must(holds, at, "must be a time like 2026-01-25T15:00:00Z");
    }

    pub(super) fn word<T: Vocabulary>(&mut self, at: &str, field: &Field<Word<T>>) {
        if let Some(word) = field.value() {
            self.word_of(at, word, T::ALL);
        }
    }

    /// Some stages allow only a part of a list.
    pub(super) fn word_of<T: Vocabulary>(&mut self, at: &str, word: &Word<T>, allowed: &[T]) {
        let names: Vec<&str> = allowed.iter().map(|word| word.as_str()).collect();
        if !names.contains(&word.as_str()) {
            self.refuse(at, format!("must be one of {}", names.join(", ")));
        }
    }

    pub(super) fn range(&mut self, at: &str, field: &Field<Scalar>, right: RangeInclusive<f64>) {
        let Some(number) = self.number(at, field) else { return };
        if !right.contains(&number) {
            self.refuse(at, format!("must be from {} to {}", right.start(), right.end()));
        }
    }

    pub(super) fn whole(&mut self, at: &str, field: &Field<Scalar>, least: i64) {
        let Some(scalar) = field.value() else { return };
        match scalar.as_i64() {
            None => self.refuse(at, "must be a whole number"),
            Some(number) if number < least => self.refuse(at, format!("must be {least} or more")),
            Some(_) => {}
        }
    }

    fn number(&mut self, at: &str, field: &Field<Scalar>) -> Option<f64> {
        let number = field.value()?.as_f64();
        self.must(number.is_some(), at, "must be a number");
        number
    }
}

/// A key as it stands in a JSON pointer.
pub(super) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

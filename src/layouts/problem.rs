//! Broken rules of a document, by field.
//!
//! Must never quote a value: messages end up in logs.

use std::fmt;
use std::ops::RangeInclusive;

use serde::{Serialize, Serializer};

use super::word::vocabulary;
use super::{Field, Scalar, Vocabulary, Word, time};
use crate::checkpoint::Timestamp;

/// A rule of a system that a document breaks. Printed as `FIELD: RULE`, and the line if known; as
/// the rule alone if it is about the whole document.
///
/// ```
/// use waypost::layouts::{Code, Level, check};
/// use waypost::{Document, Layout};
///
/// # fn main() -> waypost::Result<()> {
/// let document = Document::from_json(br#"{"storyId": "PROJ-42", "agentId": "a"}"#)?;
/// let problems = check(Layout::Pipeline, &document, ".pipeline/checkpoint-PROJ-42.json");
/// let problem = problems.iter().find(|problem| problem.field == "/stage").unwrap();
/// assert_eq!((problem.code, problem.level), (Code::Required, Level::Error));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Problem {
    /// The JSON pointer of the field, which may be missing.
    pub field: String,
    /// The rule.
    pub rule: String,
    /// The stable name of the rule.
    pub code: Code,
    /// Whether it makes the document invalid.
    pub level: Level,
    /// The line in the text, from one; for a missing field, that of the enclosing object.
    pub line: Option<u64>,
}

vocabulary! {
    /// The names of rules.
    Code {
        /// A field that the system cannot do without is missing, null or empty.
        Required = "required",
        /// A value is of another type.
        Type = "type",
        /// A word is not in the list of allowed ones.
        Enum = "enum",
        /// The verdict is not one of those of the stage.
        Verdict = "verdict",
        /// A number is too small or too large.
        Range = "range",
        /// A time cannot be read, or only by a guess.
        Time = "time",
        /// The version is unknown.
        Version = "version",
        /// A name does not have the form that the system requires.
        Pattern = "pattern",
        /// A stage cannot follow the one before it.
        Transition = "transition",
        /// Steps, phases or totals contradict each other.
        Order = "order",
        /// The lists of tasks are not those of the stage.
        Tasks = "tasks",
        /// More retries than the protocol allows.
        RetryLimit = "retry_limit",
        /// The document is in the wrong directory.
        Place = "place",
        /// No stage follows this one.
        Terminal = "terminal",
        /// A value cannot name a file.
        Name = "name",
        /// The text is no document.
        Syntax = "syntax",
        /// No system is known to write such a document.
        Layout = "layout",
        /// There are more problems than are listed.
        More = "more",
    }
}

/// How bad a problem is.
///
/// See [`Problem`] for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The document is invalid: its system would refuse it, or misread it.
    Error,
    /// The system's own programs deviate here from their document.
    Warning,
}

impl Level {
    /// The word that people and programs read.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.field.is_empty() {
            return f.write_str(&self.rule);
        }
        write!(f, "{}: {}", self.field, self.rule)?;
        self.line.map_or(Ok(()), |line| write!(f, " (line {line})"))
    }
}

impl Problem {
    /// An error.
    pub(crate) fn new(code: Code, field: impl Into<String>, rule: impl Into<String>) -> Self {
        let (field, rule) = (field.into(), rule.into());
        Self { field, rule, code, level: Level::Error, line: None }
    }

    /// Says that a field is missing.
    pub(super) fn required(field: &str) -> Self {
        Self::new(Code::Required, field, IS_REQUIRED.1)
    }

    /// Says that a text cannot be read as a document.
    #[must_use]
    pub fn syntax(reason: &str) -> Self {
        let line = reason.split_once("line ").map_or("", |(_, rest)| rest);
        let digits = line.split(|it: char| !it.is_ascii_digit()).next().unwrap_or_default();
        Self { line: digits.parse().ok(), ..Self::new(Code::Syntax, "", reason) }
    }

    /// Says that no system is known to write such a document.
    #[must_use]
    pub fn no_layout() -> Self {
        Self::new(Code::Layout, "", "has no known layout")
    }

    /// True if it makes the document invalid.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.level == Level::Error
    }
}

/// Problems listed per document; one with more cannot be mended by hand.
const PROBLEMS_MAX: usize = 256;

/// Collects problems; every check gets the JSON pointer of its value.
#[derive(Debug, Default)]
pub(super) struct Checker {
    problems: Vec<Problem>,
}

impl Checker {
    pub(super) fn finish(self) -> Vec<Problem> {
        self.problems
    }

    /// Notes an error.
    pub(super) fn refuse(&mut self, code: Code, field: impl Into<String>, rule: impl Into<String>) {
        self.note(Problem::new(code, field, rule));
    }

    /// Notes a deviation that the system's own programs make, too.
    pub(super) fn warn(&mut self, code: Code, field: impl Into<String>, rule: impl Into<String>) {
        self.note(Problem { level: Level::Warning, ..Problem::new(code, field, rule) });
    }

    fn note(&mut self, problem: Problem) {
        if self.problems.len() == PROBLEMS_MAX {
            self.problems.push(Problem::new(Code::More, "", "has more problems than are listed"));
        } else if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(problem);
        }
    }

    pub(super) fn must(&mut self, holds: bool, field: impl Into<String>, rule: (Code, &str)) {
        if !holds {
            self.refuse(rule.0, field, rule.1);
        }
    }

    /// The value of a required field. Readers treat null as missing.
    pub(super) fn required<'a, T>(&mut self, at: &str, field: &'a Field<T>) -> Option<&'a T> {
        self.must(field.value().is_some(), at, IS_REQUIRED);
        field.value()
    }

    pub(super) fn required_text(&mut self, at: &str, field: &Field<String>) {
        if let Some(text) = self.required(at, field) {
            self.must(!text.is_empty(), at, (Code::Required, "must not be empty"));
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

    /// Local times without a zone are valid, whether or not they can be ordered. Language models
    /// write others that can only be guessed.
    pub(super) fn time_text(&mut self, at: &str, text: &str) {
        const RULE: &str = "must be a time like 2026-01-25T15:00:00Z";
        let is_time = |text: &str| text.parse::<Timestamp>().is_ok();
        if is_time(text) || is_time(&format!("{text}Z")) {
            return;
        }
        if time::of_text(text.trim()).is_some() {
            self.warn(Code::Time, at, RULE);
        } else {
            self.refuse(Code::Time, at, RULE);
        }
    }

    pub(super) fn word<T: Vocabulary>(&mut self, at: &str, field: &Field<Word<T>>) {
        if let Some(word) = field.value() {
            self.word_of(at, word, T::ALL);
        }
    }

    pub(super) fn word_of<T: Vocabulary>(&mut self, at: &str, word: &Word<T>, allowed: &[T]) {
        if let Some(rule) = not_one_of(word, allowed) {
            self.refuse(Code::Enum, at, rule);
        }
    }

    pub(super) fn range(&mut self, at: &str, field: &Field<Scalar>, right: RangeInclusive<f64>) {
        let Some(number) = self.number(at, field) else { return };
        if !right.contains(&number) {
            self.refuse(Code::Range, at, from_to(&right));
        }
    }

    pub(super) fn whole(&mut self, at: &str, field: &Field<Scalar>, least: i64) {
        let Some(scalar) = field.value() else { return };
        match scalar.as_i64() {
            None => self.refuse(Code::Type, at, "must be a whole number"),
            Some(number) if number < least => {
                self.refuse(Code::Range, at, format!("must be {least} or more"));
            }
            Some(_) => {}
        }
    }

    fn number(&mut self, at: &str, field: &Field<Scalar>) -> Option<f64> {
        let number = field.value()?.as_f64();
        self.must(number.is_some(), at, (Code::Type, "must be a number"));
        number
    }
}

/// The rule about a missing field.
pub(super) const IS_REQUIRED: (Code, &str) = (Code::Required, "is required");

/// The rule for a number in a range.
pub(super) fn from_to(right: &RangeInclusive<f64>) -> String {
    format!("must be from {} to {}", right.start(), right.end())
}

/// The rule for a word that is not one of those allowed.
pub(super) fn not_one_of<T: Vocabulary>(word: &Word<T>, allowed: &[T]) -> Option<String> {
    let names: Vec<&str> = allowed.iter().map(|word| word.as_str()).collect();
    (!names.contains(&word.as_str())).then(|| format!("must be one of {}", names.join(", ")))
}

/// A key as it stands in a JSON pointer.
pub(super) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

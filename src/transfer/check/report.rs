//! The report of a check.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::checkpoint::{Id, Layout};
use crate::layouts::{Code, Level, Problem};

// More than a reader takes in. The others are counted.
const LISTED_MAX: usize = 10_000;

/// What was checked and which rules it breaks. Serializes to what `waypost check --json` prints,
/// except `version`.
///
/// ```
/// use waypost::Layout;
/// use waypost::transfer::check::Checked;
///
/// # fn main() -> waypost::Result<()> {
/// let mut checked = Checked::default();
/// checked.text("-", Layout::Pipeline, br#"{"storyId": "PROJ-42"}"#)?;
/// assert_eq!((checked.checked, checked.invalid), (1, 1));
/// assert!(checked.rules.contains_key("pipeline/required"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default, Clone, Serialize)]
#[non_exhaustive]
pub struct Checked {
    /// Documents that were checked.
    pub checked: u64,
    /// Those that break a rule in a way that makes them invalid.
    pub invalid: u64,
    /// Broken rules that make a document invalid.
    pub errors: u64,
    /// Other broken rules.
    pub warnings: u64,
    /// Files of no known system in places of checkpoints.
    pub other: u64,
    /// How often each rule is broken, by layout and code, such as `pipeline/required`.
    pub rules: BTreeMap<String, u64>,
    /// True if `problems` has only the first 10,000.
    pub has_more: bool,
    /// The broken rules.
    pub problems: Vec<BrokenRule>,
}

/// A rule that a document breaks, and where; see [`Checked`].
///
/// ```
/// use waypost::Layout;
/// use waypost::transfer::check::Checked;
///
/// # fn main() -> waypost::Result<()> {
/// let mut checked = Checked::default();
/// checked.text("a.json", Layout::Pipeline, b"{\n\"storyId\": 7}")?;
/// let first = &checked.problems[0];
/// assert_eq!(first.path.as_deref(), Some("a.json"));
/// assert_eq!(first.name(), format!("pipeline/{}", first.code));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct BrokenRule {
    /// The file; `None` for a checkpoint of a store.
    pub path: Option<String>,
    /// The checkpoint; `None` for a file.
    pub id: Option<Id>,
    /// The system whose rule it is.
    pub layout: Layout,
    /// The line of the file, counted from one.
    pub line: Option<u64>,
    /// The kind of rule.
    pub code: Code,
    /// Whether it makes the document invalid.
    pub level: Level,
    /// A JSON pointer to the value.
    pub field: String,
    /// What is wrong, in words.
    pub rule: String,
}

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

impl Checked {
    /// The largest number of problems that is listed.
    pub const LISTED_MAX: usize = LISTED_MAX;

    /// True if there was nothing to check.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.checked + self.other == 0
    }

    pub(super) fn add(&mut self, subject: &Subject, mut found: Vec<Problem>) {
        self.checked += 1;
        found.sort_by_key(|problem| problem.line);
        self.invalid += u64::from(found.iter().any(Problem::is_error));
        for problem in found {
            let Problem { field, rule, code, level, line, .. } = problem;
            let count = if level == Level::Error { &mut self.errors } else { &mut self.warnings };
            *count += 1;
            *self.rules.entry(name(subject.layout, code)).or_default() += 1;
            if self.problems.len() == LISTED_MAX {
                self.has_more = true;
                continue;
            }
            let (path, id, layout) = (subject.path.clone(), subject.id.clone(), subject.layout);
            self.problems.push(BrokenRule { path, id, layout, line, code, level, field, rule });
        }
    }
}

impl BrokenRule {
    /// Its name in [`Checked::rules`].
    #[must_use]
    pub fn name(&self) -> String {
        name(self.layout, self.code)
    }
}

impl fmt::Display for BrokenRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.field.is_empty() {
            f.write_str(&self.rule)
        } else {
            write!(f, "{} {}", self.field, self.rule)
        }
    }
}

fn name(layout: Layout, code: Code) -> String {
    match layout {
        // The system of a file that cannot be read is unknown.
        Layout::Native => code.to_string(),
        layout => format!("{layout}/{code}"),
    }
}

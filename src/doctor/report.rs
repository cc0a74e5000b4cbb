//! Checks and their results.

use serde::Serialize;

/// How a check ended.
///
/// See [`Examination`](crate::doctor::Examination) for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckStatus {
    /// All is well.
    Ok,
    /// It works, and could be better.
    Warn,
    /// Something must be done.
    Bad,
}

/// What was examined, what was found, and what to do about it.
///
/// See [`Examination`](crate::doctor::Examination) for an example.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Checkup {
    /// What was examined, such as `store`, `disk` or `policy`.
    pub name: &'static str,
    /// How it ended.
    pub status: CheckStatus,
    /// What was found.
    pub finding: String,
    /// What to do, often a command to type.
    pub advice: Option<String>,
}

impl Checkup {
    pub(super) fn ok(name: &'static str, finding: impl Into<String>) -> Self {
        Self { name, status: CheckStatus::Ok, finding: finding.into(), advice: None }
    }

    pub(super) fn warn(name: &'static str, finding: impl Into<String>) -> Self {
        Self { status: CheckStatus::Warn, ..Self::ok(name, finding) }
    }

    pub(super) fn bad(name: &'static str, finding: impl Into<String>) -> Self {
        Self { status: CheckStatus::Bad, ..Self::ok(name, finding) }
    }

    /// With what to do.
    pub(super) fn advise(self, advice: impl Into<String>) -> Self {
        Self { advice: Some(advice.into()), ..self }
    }
}

/// All checks; serializes to what `waypost doctor --json` prints, without its version.
///
/// See [`Examination`](crate::doctor::Examination) for an example.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The path of the store.
    pub store: String,
    /// In the order in which a person reads them.
    pub checks: Vec<Checkup>,
    /// Whether the store is damaged, and not only out of reach.
    #[serde(rename = "damaged")]
    pub is_damaged: bool,
}

impl Report {
    /// Returns how many checks are bad.
    #[must_use]
    pub fn bad(&self) -> usize {
        self.checks.iter().filter(|check| check.status == CheckStatus::Bad).count()
    }
}

//! Policies of the systems that people come from, by name.

use super::age::Age;
use super::policy::{OnSuccess, Per, Policy, Rule};
use crate::checkpoint::{Status, Trigger};
use crate::error::{Error, Result};

const ISSUE_BYTES_MAX: u64 = 50 << 20;

impl Policy {
    /// The names that [`Policy::preset`] knows, beside `last-N`.
    pub const PRESETS: [&str; 4] = ["crunch", "claude", "aiwg", "keep-all"];

    /// The policy of a known system, or `last-N`, such as `last-5`, which keeps the last N of each
    /// series.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is none of this name.
    pub fn preset(name: &str) -> Result<Self> {
        match name {
            "crunch" => Ok(Self::crunch()),
            "claude" => Ok(Self::claude()),
            "aiwg" => Ok(Self::aiwg()),
            "keep-all" => Ok(Self::keep_all()),
            _ => Self::last(name).ok_or_else(|| {
                let known = Self::PRESETS.join(", ");
                Error::invalid("policy", format_args!("{name:?} is none of {known}, last-N"))
            }),
        }
    }

    /// Keeps the last N of each series, as its name says.
    fn last(name: &str) -> Option<Self> {
        let count = name.strip_prefix("last-")?.parse().ok().filter(|count| *count > 0)?;
        let rule = Rule { keep_last: Some(count), ..Rule::default() };
        Some(Self { name: name.to_owned(), rules: vec![rule], ..Self::default() })
    }

    /// Keeps milestones, the last few of each phase, and 50 MiB an issue.
    fn crunch() -> Self {
        let rule = |trigger, keep_last, per| Rule {
            triggers: vec![trigger],
            keep_last,
            per,
            ..Rule::default()
        };
        Self {
            name: "crunch".to_owned(),
            rules: vec![
                rule(Trigger::PhaseTransition, None, Per::Series),
                rule(Trigger::BatchComplete, Some(3), Per::Phase),
                rule(Trigger::AgentComplete, Some(1), Per::Phase),
                rule(Trigger::ConflictResolved, None, Per::Series),
                rule(Trigger::UserInterrupt, Some(1), Per::Series),
                rule(Trigger::Manual, None, Per::Series),
                // The system writes these too, but does not say how long they are kept.
                rule(Trigger::SessionEnd, Some(1), Per::Series),
                rule(Trigger::ConflictStart, Some(1), Per::Phase),
                rule(Trigger::BatchStart, Some(1), Per::Phase),
                rule(Trigger::Unknown, None, Per::Series),
            ],
            issue_bytes_max: Some(ISSUE_BYTES_MAX),
            ..Self::default()
        }
    }

    /// Removes what is done, keeps what failed for 30 days and everything else for 7.
    fn claude() -> Self {
        let for_days =
            |statuses, days| Rule { statuses, max_age: Some(Age::days(days)), ..Rule::default() };
        let completed =
            Rule { statuses: vec![Status::Completed], keep_last: Some(0), ..Rule::default() };
        Self {
            name: "claude".to_owned(),
            rules: vec![
                completed,
                for_days(vec![Status::Failed, Status::Archived], 30),
                for_days(Vec::new(), 7),
            ],
            on_success: OnSuccess::Remove,
            ..Self::default()
        }
    }

    /// Keeps the last 5 and 30 days; of a series that is done the newest, of one that failed 30
    /// days.
    fn aiwg() -> Self {
        let month = Some(Age::days(30));
        Self {
            name: "aiwg".to_owned(),
            rules: vec![
                Rule {
                    series_statuses: vec![Status::Completed],
                    keep_last: Some(1),
                    ..Rule::default()
                },
                Rule { series_statuses: vec![Status::Failed], max_age: month, ..Rule::default() },
                Rule { keep_last: Some(5), keep_within: month, ..Rule::default() },
            ],
            on_success: OnSuccess::KeepNewest,
            ..Self::default()
        }
    }

    /// Removes nothing.
    fn keep_all() -> Self {
        Self { name: "keep-all".to_owned(), rules: vec![Rule::default()], ..Self::default() }
    }
}

//! The kinds of checkpoints that workers save, and which of them may be missing later.

use std::fmt;
use std::str::FromStr;

use anyhow::{Error, Result, anyhow};
use waypost::retention::{Age, Rule};
use waypost::{Entry, Issue, NewEntry, Policy, Series, Settings, Trigger};

const PHASES: [&str; 3] = ["plan", "build", "test"];
// Long enough that its worker can restore it, short enough that much is purged in a run.
const KEEP_DELETED: Age = Age::seconds(20);

/// What becomes of checkpoints once they are saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    /// Every save prunes its own group.
    Ring,
    /// A plan removes all but the last few, every now and then.
    Pruned,
    /// They stay until their worker deletes them; a file is captured with each.
    Kept,
    /// They come from the text of a file, and are pruned by a plan, too.
    Imported,
}

/// Which checkpoint of which worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Spot {
    pub(crate) worker: u32,
    pub(crate) kind: Kind,
    /// Rises from one save to the next.
    pub(crate) number: u64,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Ring, Self::Pruned, Self::Kept, Self::Imported];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ring => "ring",
            Self::Pruned => "pruned",
            Self::Kept => "kept",
            Self::Imported => "imported",
        }
    }

    /// How many of the newest of a series no policy removes; `None` if it removes none at all.
    pub(crate) fn keep_last(self) -> Option<u32> {
        match self {
            Self::Ring => Some(32),
            Self::Pruned => Some(100),
            Self::Kept => None,
            Self::Imported => Some(40),
        }
    }

    pub(crate) fn series(self, worker: u32) -> Series {
        Series::new(format!("{}-{worker}", self.name())).expect("it is not empty")
    }

    // A rule goes by the trigger, so each kind has one of its own.
    pub(crate) fn trigger(self) -> Trigger {
        match self {
            Self::Ring => Trigger::Iteration,
            Self::Pruned => Trigger::Automatic,
            Self::Kept => Trigger::Manual,
            Self::Imported => Trigger::PhaseBoundary,
        }
    }

    fn rule(self) -> Rule {
        let triggers = vec![self.trigger()];
        Rule { triggers, keep_last: self.keep_last(), ..Rule::default() }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Kind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == text);
        found.ok_or_else(|| anyhow!("{text:?} is no kind"))
    }
}

impl Spot {
    /// Which one an entry of the store is; `None` if no worker saved it.
    pub(crate) fn of(entry: &Entry) -> Option<Self> {
        let (kind, worker) = entry.series.as_str().rsplit_once('-')?;
        let (kind, worker) = (kind.parse().ok()?, worker.parse().ok()?);
        Some(Self { worker, kind, number: entry.iteration? })
    }

    /// What its worker reports about it.
    pub(crate) fn about(self) -> NewEntry {
        let phase = PHASES[usize::try_from(self.number % 3).expect("it is below three")];
        NewEntry {
            series: Some(self.kind.series(self.worker)),
            issue: Some(issue(self.worker)),
            trigger: self.kind.trigger(),
            phase: Some(phase.to_owned()),
            iteration: Some(self.number),
            ..NewEntry::default()
        }
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{} number {}", self.kind, self.worker, self.number)
    }
}

/// The issue that a worker works on.
pub(crate) fn issue(worker: u32) -> Issue {
    Issue::new(worker.to_string()).expect("a number is not empty")
}

/// The tag by which a worker protects some of its ring.
pub(crate) fn tag(worker: u32) -> String {
    format!("of-{worker}")
}

/// The policy that workers prune by.
pub(crate) fn policy() -> Policy {
    let rules = Kind::ALL.into_iter().filter(|kind| kind.keep_last().is_some()).map(Kind::rule);
    Policy { name: "soak".to_owned(), rules: rules.collect(), ..Policy::default() }
}

/// The settings of the store: its saves prune the rings, and nothing else.
pub(crate) fn settings() -> Settings {
    let policy = Policy { name: "ring".to_owned(), rules: vec![Kind::Ring.rule()], ..policy() };
    Settings { policy: Some(policy), prune_on_save: true, keep_deleted: KEEP_DELETED }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_rule_is_about_what_is_deleted_by_hand() {
        let kept = Kind::Kept.trigger();
        assert!(policy().rules.iter().all(|rule| !rule.triggers.contains(&kept)));
        assert_eq!(policy().rules.len(), 3);
    }

    #[test]
    fn a_kind_is_known_by_its_name() {
        for kind in Kind::ALL {
            assert_eq!(kind.name().parse::<Kind>().unwrap(), kind);
        }
    }
}

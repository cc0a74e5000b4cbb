//! `index.yaml`: the checkpoints of an issue, and why each was saved.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::IssueCheckpoint;
use crate::checkpoint::{Document, Timestamp};
use crate::layouts::problem::{Checker, Code};
use crate::layouts::word::vocabulary;
use crate::layouts::{Field, Problem, Scalar, Word};

/// The trigger of a checkpoint that no index lists.
const UNKNOWN: &str = "unknown";

/// The index of the checkpoints of an issue.
///
/// ```
/// use waypost::layouts::crunch::Index;
/// use waypost::layouts::from_yaml;
/// use waypost::source::Format;
///
/// # fn main() -> waypost::Result<()> {
/// let index: Index = from_yaml(b"
/// issue_number: 42
/// checkpoints: [{checkpoint_id: CP-20250114-a3f2, can_resume: true}]
/// latest: CP-20250114-a3f2
/// ")?;
/// let entry = index.get("CP-20250114-a3f2").expect("it is listed");
/// assert_eq!(entry.can_resume.value(), Some(&true));
/// let file = index.file(Format::Yaml)?;
/// assert_eq!(file.name, "index.yaml");
/// assert_eq!(file.latest.as_deref(), Some("CP-20250114-a3f2.yaml"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Index {
    /// The issue.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub issue_number: Field<Scalar>,
    /// The checkpoints, from the oldest to the newest.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub checkpoints: Field<Vec<IndexEntry>>,
    /// The id of the newest.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub latest: Field<String>,
    /// How many there are.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub total_checkpoints: Field<Scalar>,
    /// Fields that the template does not have.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// The row of a checkpoint in an index.
///
/// See [`Index`] for an example.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct IndexEntry {
    /// Its id.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub checkpoint_id: Field<String>,
    /// When it was saved, as written.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub created_at: Field<String>,
    /// Why it was saved.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub trigger: Field<Word<IndexTrigger>>,
    /// The phase it was saved in.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub phase: Field<String>,
    /// Whether work can go on from it.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub can_resume: Field<bool>,
    /// Fields that the template does not have.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

vocabulary! {
    /// Why a checkpoint was saved.
    IndexTrigger {
        /// Before the next phase.
        PhaseTransition = "phase_transition",
        /// After a batch of tasks.
        BatchComplete = "batch_complete",
        /// An agent is done.
        AgentComplete = "agent_complete",
        /// Before a debate.
        ConflictStart = "conflict_start",
        /// After a debate.
        ConflictResolved = "conflict_resolved",
        /// The user interrupted.
        UserInterrupt = "user_interrupt",
        /// The session ends.
        SessionEnd = "session_end",
        /// The user asked for it.
        Manual = "manual",
        /// Before a batch of tasks; only the workflow has this trigger, not the template.
        BatchStart = "batch_start",
    }
}

impl Index {
    /// The index of `checkpoints`, which are those of one issue.
    ///
    /// Checkpoints do not say why they were saved: triggers come from the index `before`, or are
    /// `unknown`.
    #[must_use]
    pub fn of(checkpoints: &[IssueCheckpoint], before: Option<&Self>) -> Self {
        let entries = checkpoints.iter().map(|checkpoint| entry(checkpoint, before)).collect();
        let mut numbers = checkpoints.iter().map(|checkpoint| &checkpoint.issue_number);
        let issue_number = numbers.rfind(|number| number.value().is_some()).cloned();
        Self {
            other: before.map(|before| before.other.clone()).unwrap_or_default(),
            ..Self::of_entries(issue_number.unwrap_or_default(), entries)
        }
    }

    /// The index of an issue with these entries; of two with the same time the later one counts as
    /// newer.
    #[must_use]
    pub fn of_entries(issue_number: Field<Scalar>, mut entries: Vec<IndexEntry>) -> Self {
        // Stable: what was saved in the same second stays in order.
        entries.sort_by_cached_key(IndexEntry::age);
        let newest = entries.last().map(|entry| entry.checkpoint_id.clone());
        Self {
            issue_number,
            latest: newest.unwrap_or(Field::Null),
            total_checkpoints: Scalar::from(entries.len() as u64).into(),
            checkpoints: entries.into(),
            other: Map::new(),
        }
    }

    /// Reads an index that may be partly wrong: each field of a row is read on its own, and
    /// unreadable ones are left out.
    #[must_use]
    pub fn read(document: &Document) -> Self {
        let text = |row: &Document, field: &str| match row.get(field)? {
            Document::Text(text) => Some(text.clone()),
            Document::Uint(number) => Some(number.to_string()),
            _ => None,
        };
        let field = |value: Option<String>| value.map_or(Field::Absent, Field::Value);
        let entry = |row: &Document| {
            Some(IndexEntry {
                checkpoint_id: text(row, "checkpoint_id")?.into(),
                created_at: field(text(row, "created_at")),
                trigger: text(row, "trigger").map_or(Field::Absent, |word| Word::of(&word).into()),
                phase: field(text(row, "phase")),
                can_resume: match row.get("can_resume") {
                    Some(Document::Bool(value)) => (*value).into(),
                    _ => Field::Absent,
                },
                other: Map::new(),
            })
        };
        let rows = match document.get("checkpoints") {
            Some(Document::Array(rows)) => rows.as_slice(),
            _ => &[],
        };
        Self {
            checkpoints: rows.iter().filter_map(entry).collect::<Vec<_>>().into(),
            latest: field(text(document, "latest")),
            ..Self::default()
        }
    }

    /// Returns the entry of a checkpoint; the last one if it is listed twice.
    #[must_use]
    pub fn get(&self, checkpoint_id: &str) -> Option<&IndexEntry> {
        let is_it =
            |entry: &&IndexEntry| entry.checkpoint_id.value().is_some_and(|id| id == checkpoint_id);
        self.entries().iter().rev().find(is_it)
    }

    /// Returns the rules of the template that this breaks.
    #[must_use]
    pub fn validate(&self) -> Vec<Problem> {
        let mut checker = Checker::default();
        checker.required("/issue_number", &self.issue_number);
        checker.whole("/issue_number", &self.issue_number, 1);
        checker.required("/checkpoints", &self.checkpoints);
        let mut ids = BTreeSet::new();
        for (at, entry) in self.entries().iter().enumerate() {
            entry.check(&format!("/checkpoints/{at}"), &mut checker);
            let is_new = entry.checkpoint_id.value().is_none_or(|id| ids.insert(id));
            let unique = (Code::Order, "must be unique");
            checker.must(is_new, format!("/checkpoints/{at}/checkpoint_id"), unique);
        }
        self.check_sums(&mut checker);
        checker.finish()
    }

    fn check_sums(&self, checker: &mut Checker) {
        let entries = self.entries();
        if let Some(total) = checker.required("/total_checkpoints", &self.total_checkpoints) {
            let is_right = total.as_i64() == i64::try_from(entries.len()).ok();
            let rule = "must be the number of checkpoints in the list";
            checker.must(is_right, "/total_checkpoints", (Code::Order, rule));
        }
        if entries.is_empty() {
            let rule = "must not name a checkpoint where there is none";
            return checker.must(self.latest.value().is_none(), "/latest", (Code::Order, rule));
        }
        let Some(latest) = checker.required("/latest", &self.latest) else { return };
        let newest = entries.iter().map(IndexEntry::age).max();
        let is_newest = self.get(latest).map(IndexEntry::age) == newest;
        checker.must(is_newest, "/latest", (Code::Order, "must be the newest of the list"));
    }

    fn entries(&self) -> &[IndexEntry] {
        self.checkpoints.value().map_or(&[], Vec::as_slice)
    }
}

impl IndexEntry {
    /// The sort key, old to new; entries without a time come first.
    fn age(&self) -> Option<Timestamp> {
        self.created_at.value()?.parse().ok()
    }

    fn check(&self, at: &str, checker: &mut Checker) {
        checker.required_text(&format!("{at}/checkpoint_id"), &self.checkpoint_id);
        checker.required_time(&format!("{at}/created_at"), &self.created_at);
        checker.required(&format!("{at}/trigger"), &self.trigger);
        checker.word(&format!("{at}/trigger"), &self.trigger);
        checker.required(&format!("{at}/phase"), &self.phase);
        checker.required(&format!("{at}/can_resume"), &self.can_resume);
    }
}

fn entry(checkpoint: &IssueCheckpoint, before: Option<&Index>) -> IndexEntry {
    let id = checkpoint.checkpoint_id.value();
    let earlier = before.zip(id).and_then(|(before, id)| before.get(id));
    let trigger = earlier.and_then(|earlier| earlier.trigger.value()).cloned();
    IndexEntry {
        checkpoint_id: checkpoint.checkpoint_id.clone(),
        created_at: checkpoint.created_at.clone(),
        trigger: trigger.unwrap_or_else(|| Word::of(UNKNOWN)).into(),
        phase: checkpoint.phase().map_or(Field::Absent, |phase| phase.to_string().into()),
        can_resume: checkpoint.can_resume().into(),
        other: earlier.map(|earlier| earlier.other.clone()).unwrap_or_default(),
    }
}

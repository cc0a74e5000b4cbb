//! Compares checkpoints with a fake world.
//!
//! Covers issues, files, branches and worktrees that changed, the order and wording of findings,
//! what resumes without asking, and hostile documents.

mod auto;
mod files;
mod hostile;
mod issue;
mod order;
mod place;
mod plan;
mod story;
mod unknown;

use std::collections::{BTreeMap, BTreeSet};

use super::{Advice, Check, Freshness, freshness};
use crate::checkpoint::{Entry, Id, Issue, Layout, Series, Status, Timestamp, Trigger};
use crate::layouts::{NamedFile, Snapshot, Standing};
use crate::recovery::{Answer, FileNow, IssueNow, Moment, ResumePoint, World};

const HOUR_MICROS: i64 = 3600 * 1_000_000;
// Some day in 2025.
const NOW: Timestamp = Timestamp::from_micros(1_750_000_000 * 1_000_000);
const HERE: &str = "/home/trees/issue-42";
const BRANCH: &str = "feature/x";

/// A world that answers every question, or none.
#[derive(Debug, Clone, Default)]
struct Fake {
    branches: Vec<String>,
    issue: IssueNow,
    directories: Vec<String>,
    files: BTreeMap<String, FileNow>,
    pull_request: Option<String>,
    wanted_issue: Option<String>,
    checked_out: Option<String>,
    links: Vec<String>,
    /// Files that changed since `NOW` in `BRANCH`.
    changed: Vec<String>,
    /// Why nothing is known.
    blindness: Option<&'static str>,
}

impl Fake {
    fn see<T>(&self, answer: T) -> Answer<T> {
        match self.blindness {
            None => Answer::Known(answer),
            Some(reason) => Answer::Unknown(reason.to_owned()),
        }
    }
}

impl World for Fake {
    fn has_branch(&self, name: &str) -> Answer<bool> {
        self.see(self.branches.iter().any(|it| it == name))
    }

    fn issue(&self, _issue: &str) -> Answer<IssueNow> {
        self.see(self.issue.clone())
    }

    fn has_directory(&self, path: &str) -> Answer<bool> {
        self.see(self.directories.iter().any(|it| it == path))
    }

    fn worktree(&self) -> Answer<String> {
        self.see(HERE.to_owned())
    }

    fn file(&self, path: &str) -> Answer<Option<FileNow>> {
        self.see(self.files.get(path).cloned())
    }

    fn pull_request(&self, branch: &str) -> Answer<Option<String>> {
        self.see(self.pull_request.clone().filter(|_| branch == BRANCH))
    }

    fn wanted_issue(&self) -> Option<Issue> {
        self.wanted_issue.as_ref().map(|it| Issue::new(it).unwrap())
    }

    fn branch(&self) -> Answer<Option<String>> {
        self.see(self.checked_out.clone())
    }

    fn has_changed(&self, path: &str, since: &Moment<'_>) -> Answer<bool> {
        assert_eq!(*since, Moment { time: NOW, branch: Some(BRANCH) });
        self.see(self.changed.iter().any(|it| it == path))
    }

    fn is_same_directory(&self, one: &str, other: &str) -> bool {
        other == HERE && self.links.iter().any(|it| it == one)
    }
}

fn entry(layout: Layout) -> Entry {
    Entry {
        id: "a".parse::<Id>().unwrap(),
        series: Series::new("a").unwrap(),
        issue: None,
        loop_id: None,
        workflow_id: None,
        workflow_type: None,
        session_id: None,
        agent: None,
        trigger: Trigger::Unknown,
        phase: None,
        step: None,
        iteration: None,
        status: Status::InProgress,
        created_at: NOW,
        ordered_at: None,
        updated_at: None,
        parent: None,
        tags: BTreeSet::new(),
        can_resume: None,
        resume_from: None,
        warnings: Vec::new(),
        retention_days: None,
        layout,
        source_path: None,
        source: None,
        artifact_count: 0,
        sequence: 0,
        document_bytes: 0,
        stored_bytes: 0,
    }
}

#[expect(clippy::unnecessary_wraps, reason = "what a document says may be absent")]
fn text(it: &str) -> Option<String> {
    Some(it.to_owned())
}

fn texts(them: &[&str]) -> Vec<String> {
    them.iter().map(|&it| it.to_owned()).collect()
}

/// A checkpoint of issue 42 with what it was based on.
fn based_on(snapshot: Snapshot) -> Standing {
    let issue = snapshot.issue.clone().or(Some(Issue::new("42").unwrap()));
    Standing { snapshot: Snapshot { issue, ..snapshot }, ..Standing::default() }
}

fn look(layout: Layout, snapshot: Snapshot, world: &Fake) -> Freshness {
    freshness(&entry(layout), &based_on(snapshot), world, NOW)
}

/// The only finding, if there is one at all; all else must be known.
fn only(freshness: &Freshness) -> Option<(Check, Advice, &str)> {
    assert_eq!(freshness.unchecked, [] as [&str; 0]);
    assert!(freshness.findings.len() < 2, "{:?}", freshness.findings);
    let finding = freshness.findings.first()?;
    assert_eq!(freshness.advice, finding.advice);
    Some((finding.check, finding.advice, &finding.message))
}

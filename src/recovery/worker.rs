//! The prompt for a new worker that takes over a story of a pipeline.
//!
//! Must never make a value up: a value in neither the checkpoint nor the state is a problem.

use std::fmt::Write as _;

use serde::Serialize;

use super::prompt::{one_line, resume_block};
use super::proposal::Offer;
use crate::checkpoint::{Id, Layout};
use crate::layouts::pipeline::{Assignment, BusinessAnswer, phase, stage, state_path};
use crate::layouts::{Code, Problem};

/// A new worker for a story, in place of one that cannot be resumed.
///
/// ```
/// use waypost::layouts::{Place, recognise};
/// use waypost::recovery::Worker;
/// use waypost::source::Source;
/// use waypost::{Document, NewEntry, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let story = br#"{"storyId": "PROJ-42", "stage": 2, "agentId": "abc-123",
///     "tasksCompleted": ["PROJ-101"], "tasksRemaining": ["PROJ-102"],
///     "lastAction": "PROJ-101 done", "timestamp": "2026-02-14T14:30:00Z"}"#;
/// let state = br#"{"complete": false, "team_name": "shop",
///     "story_state": {"PROJ-42": "STAGE_2"}, "worktree_map": {"PROJ-42": ".worktrees/42"},
///     "business_answers": {"Which database?": "SQLite"}}"#;
/// # let mut save = |path: &str, json: &[u8]| {
/// #     let place = Place { path, ..Place::default() };
/// #     let about = recognise(&Document::from_json(json)?, &place).unwrap_or_default();
/// #     let about = NewEntry { source_path: Some(path.to_owned()), ..about };
/// #     store.save_draft(store.draft_source(about, Source::from_json(json)?)?)
/// # };
/// // Both are saved as an import does.
/// save(".pipeline/state.json", state)?;
/// let (offer, _hurdles) = store.offer(save(".pipeline/checkpoint-PROJ-42.json", story)?)?;
/// let worker = Worker::of(&offer, "/home/shop").expect("nothing is missing");
/// assert_eq!((worker.team.as_str(), worker.worktree.as_str()), ("shop", ".worktrees/42"));
/// assert_eq!(worker.business_answers[0].answer, "SQLite");
/// assert!(worker.prompt().contains("PROJ-101"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Worker {
    /// Its name.
    pub name: String,
    /// The team it belongs to.
    pub team: String,
    /// The agent to try to resume before a new worker is started.
    pub agent: Option<String>,
    /// The story.
    pub story: String,
    /// The number of the stage.
    pub stage: u64,
    /// The name of the stage.
    pub phase: &'static str,
    /// The directory of the project.
    pub project_root: String,
    /// The worktree of the story, as the state has it.
    pub worktree: String,
    /// What the user answered before the work began.
    pub business_answers: Vec<BusinessAnswer>,
    /// The checkpoint of the state that this is from.
    pub state: Option<Id>,
    #[serde(skip)]
    block: String,
}

impl Worker {
    /// Joins the checkpoint of a story with the state of its pipeline.
    ///
    /// # Errors
    /// Everything that is missing in either.
    pub fn of(offer: &Offer, project_root: &str) -> Result<Self, Vec<Problem>> {
        let entry = &offer.checkpoint.entry;
        let file = entry.source_path.as_deref().and_then(state_path);
        let is_story = entry.layout == Layout::Pipeline && file.is_some();
        let Some(file) = file.filter(|_| is_story) else {
            // Checkpoints of several systems may be in one series.
            let rule = format!(
                "has layout {}; only an imported .pipeline/checkpoint-STORY.json has a worker",
                entry.layout
            );
            return Err(vec![problem("the checkpoint", &rule)]);
        };
        let Some(assignment) = &offer.standing.assignment else {
            return Err(vec![problem(&file, "was not imported, or is of another system")]);
        };
        if let Some(damage) = &assignment.damage {
            return Err(vec![problem(&file, &format!("cannot be read: {damage}"))]);
        }
        let mut lacks = Lacks { file, problems: Vec::new() };
        let worker = lacks.worker(offer, assignment, project_root);
        worker.ok_or(lacks.problems)
    }

    /// Returns the prompt: who the worker is, what it works on, and what not to do again.
    #[must_use]
    pub fn prompt(&self) -> String {
        let Self { name, team, story, stage, phase, project_root, worktree, .. } = self;
        let stage = format!("{stage} ({phase})");
        let mut prompt = String::new();
        for (what, value) in [
            ("Worker", name),
            ("Team", team),
            ("Story", story),
            ("Stage", &stage),
            ("Project root", project_root),
            ("Worktree", worktree),
        ] {
            // Writing to a string cannot fail.
            let _ = writeln!(prompt, "{what}: {}", one_line(value));
        }
        prompt.push_str(&self.answers());
        prompt.push('\n');
        prompt.push_str(&self.block);
        prompt
    }

    fn answers(&self) -> String {
        if self.business_answers.is_empty() {
            return "Business answers: none\n".to_owned();
        }
        let mut lines = "Business answers:\n".to_owned();
        for BusinessAnswer { question, answer, .. } in &self.business_answers {
            let _ = writeln!(lines, "- {} -> {}", one_line(question), one_line(answer));
        }
        lines
    }
}

/// The missing values so far.
struct Lacks {
    /// The path of the state.
    file: String,
    problems: Vec<Problem>,
}

impl Lacks {
    fn worker(&mut self, offer: &Offer, of: &Assignment, project_root: &str) -> Option<Worker> {
        let story = offer.standing.snapshot.issue.as_ref().map(ToString::to_string)?;
        let document = offer.checkpoint.document().ok();
        let stage = document.and_then(|document| stage(&document, "stage"));
        let stage = self.checkpoint("/stage", stage);
        let block = self.checkpoint("/lastAction", resume_block(&offer.standing));
        self.state(&format!("/story_state/{story}"), of.story_state.as_ref());
        let team = self.state("/team_name", of.team.clone());
        let answers = self.state("/business_answers", of.business_answers.clone());
        let worktree = self.state(&format!("/worktree_map/{story}"), of.worktree.clone());
        if !self.problems.is_empty() {
            return None;
        }
        let stage = stage?;
        Some(Worker {
            name: format!("story-{story}-s{}-retry", stage.number()),
            team: team?,
            agent: offer.checkpoint.entry.agent.clone(),
            story,
            stage: stage.number(),
            phase: phase(stage),
            project_root: project_root.to_owned(),
            worktree: worktree?,
            business_answers: answers?,
            state: of.state.clone(),
            block: block?,
        })
    }

    fn checkpoint<T>(&mut self, field: &str, value: Option<T>) -> Option<T> {
        self.need(field, "is missing in the checkpoint", value)
    }

    fn state<T>(&mut self, field: &str, value: Option<T>) -> Option<T> {
        let rule = format!("is missing in {}", self.file);
        self.need(field, &rule, value)
    }

    fn need<T>(&mut self, field: &str, rule: &str, value: Option<T>) -> Option<T> {
        if value.is_none() {
            self.problems.push(problem(field, rule));
        }
        value
    }
}

fn problem(field: &str, rule: &str) -> Problem {
    Problem::new(Code::Required, field, rule)
}

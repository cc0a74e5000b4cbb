//! The report of a restore: what each step found and did, for a person or a program.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::Serialize;
use serde_json::value::RawValue;
use waypost::layouts::Carried;
use waypost::recovery::Hurdle;
use waypost::{Document, Entry, Hash, Id, TextStyle};

use super::apply::{Applied, Broken};
use super::later::Later;
use super::named::{Compared, Comparison};
use super::plan::{Action, Obstacle, Plan, Planned};
use super::state::StateFile;
use crate::args::Global;
use crate::output::{self, palette, plain, size};

/// The steps, by the names that AIWG gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) enum StepName {
    #[serde(rename = "validate_checkpoint_integrity")]
    Validate,
    #[serde(rename = "restore_artifacts")]
    Artifacts,
    #[serde(rename = "restore_variables")]
    Variables,
    #[serde(rename = "restore_agent_state")]
    AgentState,
    #[serde(rename = "verify_state")]
    Verify,
    #[serde(rename = "resume_or_fail")]
    Resume,
}

impl StepName {
    const ALL: [Self; 6] = [
        Self::Validate,
        Self::Artifacts,
        Self::Variables,
        Self::AgentState,
        Self::Verify,
        Self::Resume,
    ];

    fn as_str(self) -> &'static str {
        match self {
            Self::Validate => "validate_checkpoint_integrity",
            Self::Artifacts => "restore_artifacts",
            Self::Variables => "restore_variables",
            Self::AgentState => "restore_agent_state",
            Self::Verify => "verify_state",
            Self::Resume => "resume_or_fail",
        }
    }
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    Ok,
    Warning,
    Failed,
    /// It was not taken, because of another one or because nothing was to be written.
    Skipped,
}

impl Outcome {
    fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

#[derive(Debug, Serialize)]
struct Step {
    #[serde(rename = "step")]
    name: StepName,
    outcome: Outcome,
    message: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    details: Vec<String>,
}

/// What became of a file, or would.
#[derive(Debug, Serialize)]
struct FileLine {
    path: String,
    action: &'static str,
    sha256: Option<Hash>,
    mode: Option<u32>,
    mode_before: Option<u32>,
    bytes: u64,
    bytes_before: Option<u64>,
    #[serde(skip)]
    changed: String,
    kept_as: Option<String>,
}

/// All that is told of a restore.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    id: Id,
    into: String,
    dry_run: bool,
    steps: Vec<Step>,
    files: Vec<FileLine>,
    /// Files that only later checkpoints captured, and that are still there.
    left: Vec<String>,
    /// Files that the document names and that were not captured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    compared: Vec<Compared>,
    variables: Option<Box<RawValue>>,
    agent_state: Option<Box<RawValue>>,
    state_file: Option<String>,
    /// Where the one before it is now.
    state_kept_as: Option<String>,
    phase: Option<String>,
    step: Option<String>,
    iteration: Option<u64>,
    resume_from: Option<String>,
    can_resume: Option<bool>,
    warnings: Vec<String>,
}

impl Report {
    pub(super) fn new(entry: &Entry, into: &Path, dry_run: bool) -> Self {
        Self {
            id: entry.id.clone(),
            into: into.display().to_string(),
            dry_run,
            steps: Vec::new(),
            files: Vec::new(),
            left: Vec::new(),
            compared: Vec::new(),
            variables: None,
            agent_state: None,
            state_file: None,
            state_kept_as: None,
            phase: entry.phase.clone(),
            step: entry.step.clone(),
            iteration: entry.iteration,
            resume_from: entry.resume_from.clone(),
            can_resume: entry.can_resume,
            warnings: entry.warnings.clone(),
        }
    }

    pub(super) fn step(&mut self, step: StepName, outcome: Outcome, message: String) {
        self.add(step, outcome, message, Vec::new());
    }

    fn add(&mut self, name: StepName, outcome: Outcome, message: String, details: Vec<String>) {
        self.steps.push(Step { name, outcome, message, details });
    }

    pub(super) fn obstacles(&mut self, obstacles: Vec<Obstacle>) {
        let message = "nothing was written".to_owned();
        let details = obstacles.into_iter().map(|it| format!("{} {}", it.path, it.reason));
        let details = details.collect();
        self.add(StepName::Artifacts, Outcome::Failed, message, details);
    }

    /// Files were written or moved until something failed.
    pub(super) fn broken_off(&mut self, plan: &Plan, broken: &Broken) {
        let Broken { applied, error } = broken;
        let done = plan.files.iter().filter(|it| applied.done.contains(&it.artifact.path));
        self.files = done.map(|planned| FileLine::new(planned, Some(applied))).collect();
        let mut details: Vec<String> = self.files.iter().map(FileLine::text).collect();
        let kept = match applied.kept.len() {
            0 => "nothing was replaced or removed".to_owned(),
            _ => format!("what was replaced or removed until then is in {}", applied.kept_in),
        };
        details.push(kept);
        self.add(StepName::Artifacts, Outcome::Failed, format!("{error:#}"), details);
    }

    /// What became of files; `applied` is `None` if they were left alone.
    pub(super) fn artifacts(
        &mut self,
        plan: &Plan,
        applied: Option<&Applied>,
        compared: Comparison,
    ) {
        let line = |planned: &Planned| FileLine::new(planned, applied);
        self.files = plan.files.iter().map(line).collect();
        let restored = match plan.files.len() {
            0 => "no files were captured".to_owned(),
            _ => counted(plan, applied.is_some()),
        };
        let mut details: Vec<String> = self.files.iter().map(FileLine::text).collect();
        for Compared { path, likeness, reason } in &compared.0 {
            let reason = reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
            details.push(format!("{likeness:13}  {path}{reason}"));
        }
        let message = match (compared.differing(), compared.len()) {
            (_, 0) => restored,
            (differing, total) => {
                format!("{restored}; {differing} of {total} that the document names differ")
            }
        };
        let outcome = if compared.differing() > 0 { Outcome::Warning } else { Outcome::Ok };
        self.add(StepName::Artifacts, outcome, message, details);
        self.compared = compared.0;
    }

    /// Says which files came after the checkpoint and stay, so that they are not taken for its own.
    pub(super) fn left(&mut self, left: &[Later], is_exact: bool) {
        self.left = left.iter().map(|it| it.artifact.path.clone()).collect();
        let step = self.steps.iter_mut().find(|step| step.name == StepName::Artifacts);
        let Some(step) = step.filter(|_| !left.is_empty()) else { return };
        step.outcome = Outcome::Warning;
        let count = left.len();
        let advice = if is_exact { "" } else { " (see --exact)" };
        step.message = format!("{}; {count} left{advice}", step.message);
        for Later { artifact, was_before } in left {
            let there = if *was_before { "there before, " } else { "" };
            let path = &artifact.path;
            step.details.push(format!("{:13}  {path}  ({there}captured later)", "left"));
        }
    }

    pub(super) fn variables(&mut self, carried: &Carried) -> Result<()> {
        self.variables = raw(carried.variables.as_ref())?;
        let message = told(carried.variables.as_ref(), "variables");
        self.step(StepName::Variables, Outcome::Ok, message);
        Ok(())
    }

    /// The state file was written, and the one before it is now there.
    pub(super) fn state_written(&mut self, kept: Option<PathBuf>) {
        self.state_kept_as = kept.map(|kept| kept.display().to_string());
    }

    pub(super) fn agent_state(
        &mut self,
        carried: &Carried,
        state: Option<&StateFile>,
    ) -> Result<()> {
        self.agent_state = raw(carried.agent_state.as_ref())?;
        let found = told(carried.agent_state.as_ref(), "agent state");
        self.state_file = state.map(|state| state.path().display().to_string());
        let verb = if self.dry_run { "would be written" } else { "written" };
        let kept = match &self.state_kept_as {
            Some(kept) => format!(", before in {kept}"),
            None if self.dry_run && state.is_some_and(StateFile::replaces) => {
                ", and what is there kept beside it".to_owned()
            }
            None => String::new(),
        };
        let message = match &self.state_file {
            Some(path) => format!("{found}; {verb} to {path}{kept}"),
            None => found,
        };
        self.step(StepName::AgentState, Outcome::Ok, message);
        Ok(())
    }

    /// What came of reading back the `total` files that were written. `differing` files that the
    /// document names were not captured, so they stay as they are.
    pub(super) fn verified(&mut self, wrong: Vec<Obstacle>, total: u64, differing: u64) {
        let (outcome, written) = match wrong.len() {
            0 if total == 0 => (Outcome::Ok, "no file was written".to_owned()),
            0 if total == 1 => (Outcome::Ok, "1 file is as captured".to_owned()),
            0 => (Outcome::Ok, format!("{total} files are as captured")),
            1 if total == 1 => (Outcome::Failed, "1 file is not as captured".to_owned()),
            count => (Outcome::Failed, format!("{count} of {total} files are not as captured")),
        };
        let (outcome, message) = match (differing, outcome) {
            (0, outcome) => (outcome, written),
            (_, outcome) => {
                let outcome = if outcome == Outcome::Ok { Outcome::Warning } else { outcome };
                (outcome, format!("{written}; {differing} that the document names differ"))
            }
        };
        let details = wrong.into_iter().map(|it| format!("{} {}", it.path, it.reason)).collect();
        self.add(StepName::Verify, outcome, message, details);
    }

    /// Says where to go on.
    pub(super) fn resume(&mut self, entry: &Entry, hurdles: &[Hurdle]) {
        if !hurdles.is_empty() {
            self.cannot_resume(hurdles, Outcome::Warning);
            return;
        }
        let mut places = Vec::new();
        let mut add = |name: &str, value: Option<String>| {
            places.extend(value.map(|value| format!("{name} {value}")));
        };
        add("phase", entry.phase.clone());
        add("step", entry.step.clone());
        add("iteration", entry.iteration.map(|number| number.to_string()));
        add("from", entry.resume_from.clone());
        let place = places.join(", ");
        let place =
            if place.is_empty() { "where it stopped".to_owned() } else { format!("at {place}") };
        let is_unlike = |it: &Step| it.name == StepName::Verify && it.outcome != Outcome::Ok;
        let is_unlike = self.steps.iter().any(is_unlike);
        let is_well = entry.warnings.is_empty() && !is_unlike;
        let outcome = if is_well { Outcome::Ok } else { Outcome::Warning };
        let first = if is_unlike { "look at the files that differ, then " } else { "" };
        let message = format!("{first}go on {place}");
        let details = entry.warnings.clone();
        self.add(StepName::Resume, outcome, message, details);
    }

    /// Says why not to go on.
    pub(super) fn cannot_resume(&mut self, hurdles: &[Hurdle], outcome: Outcome) {
        let message = "the checkpoint cannot be resumed from".to_owned();
        let details = hurdles.iter().map(|hurdle| format!("it {hurdle}")).collect();
        self.add(StepName::Resume, outcome, message, details);
    }

    pub(super) fn write(mut self, out: &mut dyn Write, global: &Global) -> io::Result<()> {
        self.add_skipped();
        if global.json {
            return output::json_line(out, &self);
        }
        let bold = global.style(&io::stdout(), palette::TITLE);
        let width = StepName::ALL.map(|step| step.as_str().len()).into_iter().max().unwrap_or(0);
        let dry = if self.dry_run { ", dry run" } else { "" };
        writeln!(out, "{} into {}{dry}", plain(self.id.as_str()), plain(&self.into))?;
        for (step, number) in self.steps.iter().zip(1..) {
            let (name, outcome) = (step.name.as_str(), step.outcome.as_str());
            let message = plain(&step.message);
            writeln!(out, "{number}. {bold}{name:width$}{bold:#}  {outcome:7}  {message}")?;
            step.details.iter().try_for_each(|text| writeln!(out, "     {}", plain(text)))?;
        }
        Ok(())
    }

    /// What was not come to is told, too.
    fn add_skipped(&mut self) {
        let mut given = std::mem::take(&mut self.steps);
        for step in StepName::ALL {
            match given.iter().position(|it| it.name == step) {
                Some(at) => self.steps.push(given.remove(at)),
                None => {
                    self.step(step, Outcome::Skipped, "not come to".to_owned());
                }
            }
        }
    }
}

impl FileLine {
    fn new(planned: &Planned, applied: Option<&Applied>) -> Self {
        Self {
            path: planned.artifact.path.clone(),
            action: word(planned.action, applied.is_some()),
            sha256: planned.artifact.sha256,
            mode: planned.artifact.mode,
            mode_before: planned.before.and_then(|before| before.mode),
            bytes: planned.artifact.bytes,
            bytes_before: planned.before.map(|before| before.bytes),
            changed: changed(planned),
            kept_as: applied.and_then(|it| it.kept.get(&planned.artifact.path)).cloned(),
        }
    }

    fn text(&self) -> String {
        let Self { path, action, changed, kept_as, .. } = self;
        let kept = kept_as.as_ref().map_or(String::new(), |kept| format!(", before in {kept}"));
        format!("{:13}  {path}{changed}{kept}", action.replace('_', " "))
    }
}

/// How length and mode of a file change, as far as they do.
fn changed(planned: &Planned) -> String {
    let Planned { artifact, action, before } = planned;
    let bytes = size(artifact.bytes);
    let length = match (before, artifact.sha256) {
        (Some(before), None) => Some(size(before.bytes)),
        (None, None) => None,
        (Some(_), Some(_)) if *action == Action::Leave => Some(bytes),
        (Some(_), Some(_)) if planned.has_same_content() => None,
        (Some(before), Some(_)) => Some(format!("{} -> {bytes}", size(before.bytes))),
        (None, Some(_)) => Some(bytes),
    };
    let modes = planned.modes().filter(|_| artifact.sha256.is_some());
    let mode = modes.map(|[before, mode]| format!("mode {before:o} -> {mode:o}"));
    let parts: Vec<String> = length.into_iter().chain(mode).collect();
    if parts.is_empty() { String::new() } else { format!("  {}", parts.join(", ")) }
}

const UNCHANGED: &str = "unchanged";

fn word(action: Action, is_done: bool) -> &'static str {
    match (action, is_done) {
        (Action::Create, true) => "created",
        (Action::Replace, true) => "replaced",
        (Action::Remove, true) => "removed",
        (Action::Create, false) => "would_create",
        (Action::Replace, false) => "would_replace",
        (Action::Remove, false) => "would_remove",
        (Action::Leave, _) => UNCHANGED,
    }
}

fn counted(plan: &Plan, is_done: bool) -> String {
    let actions = [Action::Create, Action::Replace, Action::Remove, Action::Leave];
    let counts = actions.into_iter().map(|action| (action, plan.count(action)));
    let counts = counts.filter(|(_, count)| *count > 0);
    let texts = counts.map(|(action, count)| format!("{count} {}", word(action, is_done)));
    texts.collect::<Vec<_>>().join(", ").replace('_', " ")
}

fn told(value: Option<&Document>, what: &str) -> String {
    match value {
        None => format!("the document has no {what}"),
        Some(Document::Object(fields)) => {
            let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
            format!("{what} ({}): {}", names.len(), names.join(", "))
        }
        Some(_) => format!("{what} of another shape than names and values"),
    }
}

fn raw(value: Option<&Document>) -> Result<Option<Box<RawValue>>> {
    let Some(value) = value else { return Ok(None) };
    Ok(Some(RawValue::from_string(value.to_json(TextStyle::default())?)?))
}

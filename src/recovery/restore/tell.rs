//! Writes the report of a restore, step by step and in words.

use super::files::{FileAction, Files, Obstacle, PlannedFile};
use super::later::Later;
use super::named::Compared;
use super::report::{FileOutcome, RestoreStep, Restored, RestoredFile, StepName, StepOutcome};
use super::state::StateFile;
use super::write::{Applied, Broken};
use crate::checkpoint::{Document, Entry};
use crate::layouts::Carried;
use crate::recovery::Hurdle;
use crate::transfer::size::size;

impl Restored {
    pub(super) fn tell(&mut self, step: StepName, outcome: StepOutcome, message: String) {
        self.add(step, outcome, message, Vec::new());
    }

    fn add(&mut self, name: StepName, outcome: StepOutcome, message: String, details: Vec<String>) {
        self.steps.push(RestoreStep { name, outcome, message, details });
    }

    pub(super) fn tell_obstacles(&mut self, obstacles: &[Obstacle]) {
        let message = "nothing was written".to_owned();
        self.add(StepName::Artifacts, StepOutcome::Failed, message, lines(obstacles));
    }

    /// Files were written or moved until something failed.
    pub(super) fn tell_broken(&mut self, files: &Files, broken: &Broken) {
        let Broken { applied, why } = broken;
        let done = files.0.iter().filter(|it| applied.done.contains(&it.artifact.path));
        let mut details = self.add_files(done, Some(applied));
        details.push(match applied.kept.len() {
            0 => "nothing was replaced or removed".to_owned(),
            _ => format!("what was replaced or removed until then is in {}", applied.kept_in),
        });
        self.add(StepName::Artifacts, StepOutcome::Failed, why.told(), details);
    }

    /// Reports the files; `applied` is `None` if they were not changed.
    pub(super) fn tell_files(
        &mut self,
        files: &Files,
        applied: Option<&Applied>,
        compared: &[Compared],
    ) {
        let mut details = self.add_files(files.0.iter(), applied);
        let restored = match files.0.len() {
            0 => "no files were captured".to_owned(),
            _ => counted(files, applied.is_some()),
        };
        for Compared { path, likeness, reason } in compared {
            let reason = reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
            details.push(format!("{likeness:13}  {path}{reason}"));
        }
        self.compared = compared.to_vec();
        let differing = self.differing();
        let message = match compared.len() {
            0 => restored,
            total => format!("{restored}; {differing} of {total} that the document names differ"),
        };
        let outcome = if differing > 0 { StepOutcome::Warning } else { StepOutcome::Ok };
        self.add(StepName::Artifacts, outcome, message, details);
    }

    /// Adds files, and returns a line for each.
    fn add_files<'f>(
        &mut self,
        files: impl Iterator<Item = &'f PlannedFile>,
        applied: Option<&Applied>,
    ) -> Vec<String> {
        let mut lines = Vec::new();
        for planned in files {
            let file = RestoredFile::new(planned, applied);
            lines.push(line(&file, planned));
            self.files.push(file);
        }
        lines
    }

    /// Names the later files that stay, since they do not belong to the checkpoint.
    pub(super) fn tell_left(&mut self, left: &[Later], is_exact: bool) {
        self.left = left.iter().map(|it| it.artifact.path.clone()).collect();
        let step = self.steps.iter_mut().find(|step| step.name == StepName::Artifacts);
        let Some(step) = step.filter(|_| !left.is_empty()) else { return };
        step.outcome = StepOutcome::Warning;
        let count = left.len();
        let advice = if is_exact { "" } else { " (see --exact)" };
        step.message = format!("{}; {count} left{advice}", step.message);
        for Later { artifact, was_before } in left {
            let there = if *was_before { "there before, " } else { "" };
            let path = &artifact.path;
            step.details.push(format!("{:13}  {path}  ({there}captured later)", "left"));
        }
    }

    pub(super) fn tell_variables(&mut self, carried: &Carried) {
        self.variables.clone_from(&carried.variables);
        let message = described(carried.variables.as_ref(), "variables");
        self.tell(StepName::Variables, StepOutcome::Ok, message);
    }

    /// Reports where the state was written.
    pub(super) fn tell_agent_state(&mut self, carried: &Carried, state: Option<&StateFile>) {
        self.agent_state.clone_from(&carried.agent_state);
        self.state_file = state.map(|state| state.path().to_owned());
        let found = described(carried.agent_state.as_ref(), "agent state");
        let verb = if self.dry_run { "would be written" } else { "written" };
        let kept = match &self.state_kept_as {
            Some(kept) => format!(", before in {}", kept.display()),
            None if self.dry_run && state.is_some_and(StateFile::replaces) => {
                ", and what is there kept beside it".to_owned()
            }
            None => String::new(),
        };
        let message = match &self.state_file {
            Some(path) => format!("{found}; {verb} to {}{kept}", path.display()),
            None => found,
        };
        self.tell(StepName::AgentState, StepOutcome::Ok, message);
    }

    /// Reports the result of reading back `total` files. Files that were not captured stay as they
    /// are.
    pub(super) fn tell_verified(&mut self, wrong: &[Obstacle], total: u64) {
        let (outcome, written) = match wrong.len() {
            0 if total == 0 => (StepOutcome::Ok, "no file was written".to_owned()),
            0 if total == 1 => (StepOutcome::Ok, "1 file is as captured".to_owned()),
            0 => (StepOutcome::Ok, format!("{total} files are as captured")),
            1 if total == 1 => (StepOutcome::Failed, "1 file is not as captured".to_owned()),
            count => (StepOutcome::Failed, format!("{count} of {total} files are not as captured")),
        };
        let (outcome, message) = match (self.differing(), outcome) {
            (0, outcome) => (outcome, written),
            (differing, outcome) => {
                let outcome =
                    if outcome == StepOutcome::Ok { StepOutcome::Warning } else { outcome };
                (outcome, format!("{written}; {differing} that the document names differ"))
            }
        };
        self.add(StepName::Verify, outcome, message, lines(wrong));
    }

    /// Says where to go on.
    pub(super) fn tell_resume(&mut self, entry: &Entry, hurdles: &[Hurdle]) {
        if !hurdles.is_empty() {
            self.tell_hurdles(hurdles, StepOutcome::Warning);
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
        let differs =
            |it: &RestoreStep| it.name == StepName::Verify && it.outcome == StepOutcome::Warning;
        let has_differing = self.steps.iter().any(differs);
        let is_well = entry.warnings.is_empty() && !has_differing;
        let outcome = if is_well { StepOutcome::Ok } else { StepOutcome::Warning };
        let first = if has_differing { "look at the files that differ, then " } else { "" };
        let message = format!("{first}go on {place}");
        let details = entry.warnings.clone();
        self.add(StepName::Resume, outcome, message, details);
    }

    /// Reports why work cannot go on.
    pub(super) fn tell_hurdles(&mut self, hurdles: &[Hurdle], outcome: StepOutcome) {
        let message = "the checkpoint cannot be resumed from".to_owned();
        let details = hurdles.iter().map(|hurdle| format!("it {hurdle}")).collect();
        self.add(StepName::Resume, outcome, message, details);
    }
}

impl RestoredFile {
    /// The result for a file, or the planned one if nothing was `applied`.
    fn new(planned: &PlannedFile, applied: Option<&Applied>) -> Self {
        let PlannedFile { artifact, action, before } = planned;
        Self {
            path: artifact.path.clone(),
            outcome: FileOutcome::of(*action, applied.is_some()),
            sha256: artifact.sha256,
            mode: artifact.mode,
            mode_before: before.and_then(|before| before.mode),
            bytes: artifact.bytes,
            bytes_before: before.map(|before| before.bytes),
            kept_as: applied.and_then(|it| it.kept.get(&artifact.path)).cloned(),
        }
    }
}

impl FileOutcome {
    fn of(action: FileAction, is_done: bool) -> Self {
        match (action, is_done) {
            (FileAction::Create, true) => Self::Created,
            (FileAction::Replace, true) => Self::Replaced,
            (FileAction::Remove, true) => Self::Removed,
            (FileAction::Create, false) => Self::WouldCreate,
            (FileAction::Replace, false) => Self::WouldReplace,
            (FileAction::Remove, false) => Self::WouldRemove,
            (FileAction::Leave, _) => Self::Unchanged,
        }
    }
}

fn lines(obstacles: &[Obstacle]) -> Vec<String> {
    obstacles.iter().map(|it| format!("{} {}", it.path, it.reason)).collect()
}

/// A file in a line.
fn line(file: &RestoredFile, planned: &PlannedFile) -> String {
    let RestoredFile { path, outcome, kept_as, .. } = file;
    let kept = kept_as.as_ref().map_or(String::new(), |kept| format!(", before in {kept}"));
    format!("{outcome:13}  {path}{}{kept}", changed(planned))
}

/// The changes of length and mode of a file, if any.
fn changed(planned: &PlannedFile) -> String {
    let PlannedFile { artifact, action, before } = planned;
    let bytes = size(artifact.bytes);
    let length = match (before, artifact.sha256) {
        (Some(before), None) => Some(size(before.bytes)),
        (None, None) => None,
        (Some(_), Some(_)) if *action == FileAction::Leave => Some(bytes),
        (Some(_), Some(_)) if planned.has_same_content() => None,
        (Some(before), Some(_)) => Some(format!("{} -> {bytes}", size(before.bytes))),
        (None, Some(_)) => Some(bytes),
    };
    let modes = planned.modes().filter(|_| artifact.sha256.is_some());
    let mode = modes.map(|[before, mode]| format!("mode {before:o} -> {mode:o}"));
    let parts: Vec<String> = length.into_iter().chain(mode).collect();
    if parts.is_empty() { String::new() } else { format!("  {}", parts.join(", ")) }
}

fn counted(files: &Files, is_done: bool) -> String {
    let actions = [FileAction::Create, FileAction::Replace, FileAction::Remove, FileAction::Leave];
    let counts = actions.into_iter().map(|action| (action, files.count(action)));
    let counts = counts.filter(|(_, count)| *count > 0);
    let texts =
        counts.map(|(action, count)| format!("{count} {}", FileOutcome::of(action, is_done)));
    texts.collect::<Vec<_>>().join(", ")
}

fn described(value: Option<&Document>, what: &str) -> String {
    match value {
        None => format!("the document has no {what}"),
        Some(Document::Object(fields)) => {
            let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
            format!("{what} ({}): {}", names.len(), names.join(", "))
        }
        Some(_) => format!("{what} of another shape than names and values"),
    }
}

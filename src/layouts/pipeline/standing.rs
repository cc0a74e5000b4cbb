//! Where a story or a whole pipeline stands: `.pipeline`, and its successor `.hex-skills`.
//!
//! The protocol resumes only documents with tasks, so only those can be refused. Manifests and
//! states of runs, which their own code rebuilds, never are.

use std::collections::BTreeSet;

use super::recognise::phase;
use super::{StoryStage, StoryState, Verdict, exceeded};
use crate::checkpoint::{Document, Entry};
use crate::layouts::reading::{at, is_object, list, text, whole, whole_of, word};
use crate::layouts::standing::told::{
    LIST_MAX, cut, first_list, issue, message, missing, name, name_of, names, number, progress,
    required, said, sum,
};
use crate::layouts::standing::{Progress, Snapshot, Standing};
use crate::layouts::{Problem, Word};

const DONE: [&str; 2] = ["tasksCompleted", "tasks_completed"];
const REMAINING: [&str; 2] = ["tasksRemaining", "tasks_remaining"];
const STORY: [&str; 3] = ["storyId", "story_id", "selected_story_id"];
/// The retry counters of a story or a run.
const RETRIES: [&str; 3] = ["quality_cycles", "validation_retries", "crash_count"];

pub(in crate::layouts) fn standing(entry: &Entry, document: &Document) -> Standing {
    let part = part(document);
    let has = |fields: &[&str]| fields.iter().any(|field| at(part, field).is_some());
    let mut standing = if has(&DONE) || has(&REMAINING) || has(&["storyId"]) {
        checkpoint(entry, part)
    } else if has(&["story_state"]) {
        pipeline(part)
    } else {
        run(part)
    };
    // Its own command rebuilds runs from any recorded content.
    if !std::ptr::eq(part, document) {
        standing.refusals.clear();
    }
    let titles = ["story_title", "storyTitle"];
    standing.description = said(part, &titles).or_else(|| said(document, &titles));
    standing.snapshot.issue = issue(entry, part, &STORY);
    standing
}

/// The part of a document about the work: the record of an event, or the last of several.
fn part(document: &Document) -> &Document {
    let last = list(document, "_history").and_then(<[Document]>::last);
    let outer = last.unwrap_or(document);
    let is_event = last.is_some() || text(document, "event_type").is_some();
    let inner = ["payload", "state", "manifest"];
    let inner = inner.iter().filter(|_| is_event).find(|field| is_object(outer, field));
    inner.and_then(|field| outer.get(field)).unwrap_or(outer)
}

/// The checkpoint of a story, in either spelling.
fn checkpoint(entry: &Entry, part: &Document) -> Standing {
    let (done, left) = (first_list(part, &DONE), first_list(part, &REMAINING));
    let has_work = left.is_some_and(|tasks| !tasks.is_empty());
    Standing {
        refusals: refusals(entry, part),
        progress: progress("task", done.unwrap_or_default(), left),
        tasks_done: names(part, &DONE),
        tasks_remaining: names(part, &REMAINING),
        last_action: said(part, &["lastAction", "last_action"]),
        // Only the score of the quality gate (of 100) is comparable: the plan score is of 4,
        // readiness of 10.
        score: number(part, &["qualityScore", "quality_score"]),
        error: error(part),
        next: has_work.then(|| "Continue from remaining tasks only.".to_owned()),
        snapshot: Snapshot {
            branch: name(part, &["branch", "branch_name"]),
            worktree: name(part, &["worktree", "worktree_dir"]),
            ..Snapshot::default()
        },
        ..Standing::default()
    }
}

/// The story may be in the file name only. Successor files have no story inside, and their command
/// fills in the last action.
fn refusals(entry: &Entry, part: &Document) -> Vec<Problem> {
    if at(part, DONE[1]).is_some() || at(part, REMAINING[1]).is_some() {
        return missing(part, &["stage", DONE[1], REMAINING[1]]);
    }
    let has_story = entry.issue.is_some() || at(part, STORY[0]).is_some();
    let story = (!has_story).then(|| required(STORY[0]));
    story
        .into_iter()
        .chain(missing(part, &["stage", DONE[0], REMAINING[0], "lastAction"]))
        .collect()
}

/// The reason of a verdict that sends a story back, else the verdict itself.
fn error(part: &Document) -> Option<String> {
    let verdict = text(part, "verdict")?;
    let fields: &[&str] = match Word::of(&verdict.to_ascii_uppercase()).known()? {
        Verdict::NoGo => &["reason", "issues"],
        Verdict::Fail => &["issues", "reason"],
        Verdict::Go | Verdict::Pass | Verdict::Concerns | Verdict::Waived => return None,
    };
    message(part, fields).or_else(|| Some(verdict.to_owned()))
}

/// The state of a pipeline. With a single story, it describes that story.
fn pipeline(part: &Document) -> Standing {
    let story = story(part);
    let of_story = |field: &str| at(part, field)?.get(story.as_deref()?);
    let stories = Stories::of(part);
    let stage = of_story("story_state").and_then(name_of).and_then(|word| stages(&word));
    Standing {
        progress: stage.or_else(|| stories.progress()),
        tasks_done: Some(stories.done),
        tasks_remaining: Some(stories.remaining),
        failures: sum(RETRIES.iter().map(|field| retries(at(part, field)?, story.as_deref()))),
        retries_exceeded: exceeded(part, story.as_deref()),
        snapshot: Snapshot {
            worktree: of_story("worktree_map").and_then(name_of),
            ..Snapshot::default()
        },
        ..Standing::default()
    }
}

/// The story that was selected, or the only one.
fn story(part: &Document) -> Option<String> {
    if let Some(story) = word(part, "selected_story_id") {
        return Some(story.into_owned());
    }
    match at(part, "story_state") {
        Some(Document::Object(stories)) if stories.len() == 1 => Some(stories[0].0.clone()),
        _ => None,
    }
}

/// Retries of one story or of all.
fn retries(counts: &Document, story: Option<&str>) -> Option<u64> {
    let Document::Object(stories) = counts else { return None };
    let of_story = |(name, _): &&(String, Document)| story.is_none_or(|story| story == name);
    sum(stories.iter().filter(of_story).map(|(_, count)| whole_of(count)))
}

/// The stories of a pipeline, as many as are kept, and how many there are.
#[derive(Default)]
struct Stories {
    done: Vec<String>,
    remaining: Vec<String>,
    done_count: u64,
    count: u64,
}

impl Stories {
    fn of(part: &Document) -> Self {
        let mut stories = Self::default();
        let mut known = BTreeSet::new();
        if let Some(Document::Object(states)) = at(part, "story_state") {
            for (name, state) in states {
                known.insert(name.as_str());
                stories.add(name, name_of(state).as_deref());
            }
        }
        // Stories that no worker has begun.
        for story in list(part, "priority_queue_ids").unwrap_or_default() {
            if let Document::Text(name) = story
                && known.insert(name)
            {
                stories.add(name, None);
            }
        }
        stories
    }

    /// A paused story waits for a person; the protocol does not count it as remaining.
    fn add(&mut self, name: &str, state: Option<&str>) {
        let is = |word: StoryState| state == Some(word.as_str());
        self.count += 1;
        if is(StoryState::Done) {
            self.done_count += 1;
            push(&mut self.done, name);
        } else if !is(StoryState::Paused) {
            push(&mut self.remaining, name);
        }
    }

    fn progress(&self) -> Option<Progress> {
        (self.count > 0).then(|| Progress {
            unit: "story",
            done: self.done_count,
            total: Some(self.count),
            next: self.remaining.first().cloned(),
        })
    }
}

fn push(names: &mut Vec<String>, name: &str) {
    if names.len() < LIST_MAX {
        names.push(cut(name));
    }
}

/// The state of a run of one story; the name of the stage field differs between releases.
fn run(part: &Document) -> Standing {
    let stage = name(part, &["phase", "stage"]);
    Standing {
        progress: stage.and_then(|word| stages(&word)),
        failures: sum(RETRIES.iter().map(|field| whole(part, field))),
        snapshot: Snapshot {
            branch: name(part, &["branch_name"]),
            worktree: name(part, &["worktree_dir"]),
            ..Snapshot::default()
        },
        ..Standing::default()
    }
}

/// The progress of a story by its stage.
fn stages(word: &str) -> Option<Progress> {
    let stage = match Word::of(word).known()? {
        StoryState::Queued | StoryState::Stage0 => Some(StoryStage::Planning),
        StoryState::Stage1 => Some(StoryStage::Validation),
        StoryState::Stage2 => Some(StoryStage::Execution),
        StoryState::Stage3 => Some(StoryStage::QualityGate),
        StoryState::Done | StoryState::PendingMerge => None,
        // The stage in which it was paused is unknown.
        StoryState::Paused => return None,
    };
    let total = StoryStage::ALL.len() as u64;
    Some(Progress {
        unit: "stage",
        done: stage.map_or(total, StoryStage::number),
        total: Some(total),
        next: stage.map(|stage| format!("Stage {} ({})", stage.number(), phase(stage))),
    })
}

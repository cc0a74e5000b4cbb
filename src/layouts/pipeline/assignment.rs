//! The part of a pipeline's state about one story, and the exceeded retry limits.
//!
//! Must never fill in a value that the state does not have.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Serialize;

use super::StoryState;
use crate::checkpoint::{Document, Id};
use crate::layouts::reading::{at, spelled, truth};
use crate::layouts::standing::told::{LIST_MAX, name, name_of};
use crate::layouts::{Word, path};

const ANCHOR: &str = ".pipeline";
/// Allowed retries of a story, by counter; beyond that the lead pauses it for a person.
const LIMITS: [(&str, u64); 3] =
    [("quality_cycles", 2), ("validation_retries", 1), ("crash_count", 1)];

/// The part of `.pipeline/state.json` about a story.
///
/// ```
/// use waypost::layouts::{Place, recognise};
/// use waypost::source::Source;
/// use waypost::{Document, NewEntry, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// # let save = |path: &str, json: &[u8]| {
/// #     let place = Place { path, ..Place::default() };
/// #     let about = recognise(&Document::from_json(json)?, &place).unwrap_or_default();
/// #     let about = NewEntry { source_path: Some(path.to_owned()), ..about };
/// #     store.save_draft(store.draft_source(about, Source::from_json(json)?)?)
/// # };
/// let story = br#"{"storyId": "A-1", "stage": 2, "agentId": "a"}"#;
/// let state = br#"{"complete": false, "team_name": "shop", "story_state": {"A-1": "STAGE_2"},
///     "business_answers": {"Which database?": "SQLite"}}"#;
/// // Both are saved as an import does.
/// save(".pipeline/state.json", state)?;
/// let (offer, _hurdles) = store.offer(save(".pipeline/checkpoint-A-1.json", story)?)?;
/// let assignment = offer.standing.assignment.expect("the state is there");
/// assert_eq!(assignment.team.as_deref(), Some("shop"));
/// assert_eq!(assignment.business_answers.unwrap()[0].answer, "SQLite");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Assignment {
    /// The checkpoint of the state; `None` if damage hides it.
    pub state: Option<Id>,
    /// The directory of the project, from the one that the store is for; `None` if it is that one.
    pub project: Option<String>,
    /// Where the story is, such as `STAGE_2`, as written.
    pub story_state: Option<String>,
    /// The team of the workers.
    pub team: Option<String>,
    /// The worktree of the story.
    pub worktree: Option<String>,
    /// What the user answered before the work began.
    pub business_answers: Option<Vec<BusinessAnswer>>,
    /// Why the state cannot be read: it is damaged in the store, or its file could not be read when
    /// it was imported. Only the latter has a checkpoint in `state`.
    pub damage: Option<String>,
    /// Whether the whole pipeline has ended.
    #[serde(skip)]
    pub(crate) is_complete: bool,
}

/// What the user answered to a question.
///
/// See [`Assignment`] for an example.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BusinessAnswer {
    /// The question.
    pub question: String,
    /// The answer; one that is no text, as JSON.
    pub answer: String,
}

/// A retry counter that is beyond its limit.
///
/// ```
/// use waypost::layouts::standing;
/// use waypost::{Document, Layout, NewEntry, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let json = br#"{"complete": false, "story_state": {"A-1": "STAGE_2"},
///     "crash_count": {"A-1": 3}}"#;
/// let state = Document::from_json(json)?;
/// let about = NewEntry { layout: Layout::Pipeline, ..NewEntry::default() };
/// let entry = store.save(about, &state)?;
/// let exceeded = &standing(&entry, &state).retries_exceeded[0];
/// assert_eq!((exceeded.counter, exceeded.story.as_str()), ("crash_count", "A-1"));
/// assert!(exceeded.count > exceeded.limit);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ExceededRetry {
    /// `quality_cycles`, `validation_retries` or `crash_count`.
    pub counter: &'static str,
    /// The story.
    pub story: String,
    /// The value of the counter.
    pub count: u64,
    /// The limit of the protocol.
    pub limit: u64,
}

/// Returns the path of the state that belongs to the checkpoint of a story at `path`.
///
/// A worker in a worktree writes its checkpoint there; the lead writes the state in the project.
pub(crate) fn state_path(path: &str) -> Option<String> {
    match path::parts(path).as_slice() {
        [.., ANCHOR, name] if name.starts_with("checkpoint-") => {}
        _ => return None,
    }
    let project = project(path).map_or_else(String::new, |project| project + "/");
    Some(format!("{project}{ANCHOR}/state.json"))
}

/// Returns the directory of the project that a file of a pipeline belongs to.
pub(crate) fn project(path: &str) -> Option<String> {
    path::project(path, &[ANCHOR])
}

/// Tells whether a document is the state of a pipeline.
pub(crate) fn is_state(document: &Document) -> bool {
    matches!(at(document, "story_state"), Some(Document::Object(_)))
}

/// Returns what a state says about a story.
pub(crate) fn assignment(state: &Document, story: &str) -> Assignment {
    let of_story = |field: &str| at(state, field)?.get(story).and_then(name_of);
    Assignment {
        story_state: of_story("story_state"),
        team: name(state, &["team_name"]),
        worktree: of_story("worktree_map"),
        business_answers: answers(state),
        is_complete: truth(state, "complete") == Some(true),
        ..Assignment::default()
    }
}

fn answers(state: &Document) -> Option<Vec<BusinessAnswer>> {
    let Some(Document::Object(answers)) = at(state, "business_answers") else { return None };
    let one = |(question, answer): &(String, Document)| {
        let text = spelled(answer).map(Cow::into_owned);
        let answer = text.unwrap_or_else(|| serde_json::to_string(answer).unwrap_or_default());
        BusinessAnswer { question: question.clone(), answer }
    };
    Some(answers.iter().map(one).collect())
}

/// Returns the retry counters of a state that are beyond their limits: of one story, or of all that
/// are neither done nor paused.
pub(crate) fn exceeded(state: &Document, story: Option<&str>) -> Vec<ExceededRetry> {
    let mut found = Vec::new();
    for (counter, limit) in LIMITS {
        let Some(Document::Object(counts)) = at(state, counter) else { continue };
        let names: BTreeSet<&str> = counts.iter().map(|(name, _)| name.as_str()).collect();
        let open = names.into_iter().filter(|name| match story {
            Some(story) => *name == story && !is(state, name, StoryState::Done),
            None => !is(state, name, StoryState::Done) && !is(state, name, StoryState::Paused),
        });
        let beyond = open.filter_map(|name| {
            let count = at(state, counter)?.get(name).and_then(count)?;
            let story = name.to_owned();
            (count > limit).then_some(ExceededRetry { counter, story, count, limit })
        });
        found.extend(beyond.take(LIST_MAX));
    }
    found
}

fn is(state: &Document, story: &str, word: StoryState) -> bool {
    let said = at(state, "story_state").and_then(|it| it.get(story)).and_then(name_of);
    said.is_some_and(|said| Word::of(&said).known() == Some(word))
}

/// A count, rounded up: language models also write `3.0` and `"3"`.
fn count(value: &Document) -> Option<u64> {
    let text = spelled(value)?;
    let text = text.trim();
    text.parse().ok().or_else(|| {
        let number: f64 = text.parse().ok()?;
        let is_count = number.is_finite() && number >= 0.0;
        is_count.then(|| format!("{:.0}", number.ceil()).parse().unwrap_or(u64::MAX))
    })
}

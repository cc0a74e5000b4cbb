//! Writes checkpoints as `.pipeline/checkpoint-STORY.json`, one per story.
//!
//! The sources of each field, the entry first, then fields of the document, which may also be
//! spelled with underscores:
//!
//! - `storyId`: `issue`; the same.
//! - `stage`: `phase`, which is the number, `STAGE_` and the number, or `planning`, `validation`,
//!   `execution` or `quality_gate`; the same, a number.
//! - `agentId`: `agent`; the same.
//! - `tasksCompleted`, `tasksRemaining`, `lastAction`: by all the names that `resume --prompt`
//!   knows, such as `tasks_done`; empty in stages where the protocol requires empty lists.
//! - `timestamp`: `created_at`.
//! - `planScore`, `readiness`, `verdict`, `reason`, `qualityScore`, `issues`: the same.
//! - `document`: all of the document.

use super::StoryStage;
use crate::checkpoint::{Document, Format, Issue, SourceForm, Spacing, TextStyle};
use crate::layouts::given::{Given, at, object, text, text_of, time};
use crate::layouts::native::{DONE, LAST_ACTION, REMAINING};
use crate::layouts::standing::told::said;
use crate::layouts::write::Paths;
use crate::layouts::{Code, Problem, part};

/// The form of the successor's code; a language model writes these files.
pub(in crate::layouts) const FORM: SourceForm = SourceForm {
    format: Format::Json,
    style: Some(TextStyle {
        spacing: Spacing::Indent(2),
        is_ascii: false,
        has_final_newline: true,
        has_byte_order_mark: false,
    }),
    is_gzip: false,
    mode: None,
    modified_at: None,
    line: None,
    text_bytes: 0,
};

pub(in crate::layouts) fn paths(document: &Document) -> Result<Paths, Vec<Problem>> {
    const AT: &str = "/storyId";
    let problem = |rule: &str| vec![Problem::new(Code::Name, AT, rule)];
    let story = at(document, AT).and_then(text_of).ok_or_else(|| problem("is required"))?;
    if !part::is_name(story) {
        return Err(problem(part::RULE));
    }
    Ok(Paths { path: format!(".pipeline/checkpoint-{story}.json"), other_path: None })
}

pub(in crate::layouts) fn envelope(given: &mut Given<'_>) -> Document {
    let story = story(given);
    let stage = stage(given);
    let agent = given.entry.agent.clone().or_else(|| given.text_at(&["/agentId", "/agent_id"]));
    if agent.is_none() {
        given.miss("agent", "the worker, for resuming it");
    }
    let [completed, remaining] = tasks(given, stage);
    let action = said(given.document, &LAST_ACTION);
    if action.is_none() {
        given.miss("/lastAction", "what was done last, in words");
    }
    let found = |pointers: &[&str]| given.at(pointers).cloned();
    object([
        ("storyId", text(story)),
        ("stage", stage.map(|stage| Document::Uint(stage.number()))),
        ("agentId", text(agent)),
        ("tasksCompleted", completed),
        ("tasksRemaining", remaining),
        ("lastAction", text(action)),
        ("timestamp", text(Some(time(given.entry.created_at)))),
        ("planScore", found(&["/planScore", "/plan_score"])),
        ("readiness", found(&["/readiness"])),
        ("verdict", found(&["/verdict"])),
        ("reason", found(&["/reason"])),
        ("qualityScore", found(&["/qualityScore", "/quality_score"])),
        ("issues", found(&["/issues"])),
        ("document", Some(Document::Null)),
    ])
}

fn story(given: &mut Given<'_>) -> Option<String> {
    let issue = given.entry.issue.as_ref().map(Issue::as_str);
    let said = given.said("issue", issue, &["/storyId", "/story_id"]);
    if said.is_none() {
        given.miss("issue", "the story");
    }
    given.name(said)
}

fn stage(given: &mut Given<'_>) -> Option<StoryStage> {
    let said = given.entry.phase.clone();
    let Some(said) = said.or_else(|| given.whole_at(&["/stage"]).map(|stage| stage.to_string()))
    else {
        given.miss("phase", "the stage, from 0 to 3 or by its name");
        return None;
    };
    let stage = StoryStage::ALL.into_iter().find(|stage| {
        let number = stage.number().to_string();
        said == number || said.strip_prefix("STAGE_") == Some(&number) || said == name(*stage)
    });
    if stage.is_none() {
        let names = StoryStage::ALL.map(name).join(", ");
        given.refuse("phase", format!("must be 0 to 3 or one of {names} for pipeline"));
    }
    stage
}

fn name(stage: StoryStage) -> &'static str {
    match stage {
        StoryStage::Planning => "planning",
        StoryStage::Validation => "validation",
        StoryStage::Execution => "execution",
        StoryStage::QualityGate => "quality_gate",
    }
}

/// Completed and remaining tasks. A list that the protocol requires to be empty is not looked up.
fn tasks(given: &mut Given<'_>, stage: Option<StoryStage>) -> [Option<Document>; 2] {
    let [has_completed, has_remaining] = match stage {
        Some(StoryStage::Planning) => [false, true],
        Some(StoryStage::QualityGate) => [true, false],
        Some(StoryStage::Execution) => [true, true],
        // Without a stage it is unknown which lists it needs.
        Some(StoryStage::Validation) | None => [false, false],
    };
    [
        (has_completed, &DONE[..], "/tasksCompleted", "tasks that are done"),
        (has_remaining, &REMAINING, "/tasksRemaining", "tasks that are not done"),
    ]
    .map(|(is_needed, fields, pointer, what)| {
        let said = given.names(fields);
        if said.is_none() && is_needed {
            given.miss(pointer, what);
        }
        let said = said.or((!is_needed).then(Vec::new))?;
        Some(Document::Array(said.into_iter().map(Document::Text).collect()))
    })
}

//! Reasons in the state of a pipeline not to resume a story.

use super::*;
use crate::layouts::pipeline::{Assignment, ExceededRetry};

fn judge(assignment: Assignment, retries_exceeded: Vec<ExceededRetry>) -> Freshness {
    let assignment = Some(assignment);
    let standing = Standing { retries_exceeded, assignment, ..based_on(Snapshot::default()) };
    freshness(&entry(Layout::Pipeline), &standing, &Fake::default(), NOW)
}

#[test]
fn a_story_that_is_done_or_paused_is_for_a_person() {
    for (state, says) in [
        (None, None),
        (text("STAGE_2"), None),
        (text("DONE"), Some("its pipeline says that the story is done")),
        (text("PAUSED"), Some("its pipeline says that the story is paused, for a person")),
        // A spelling of language models: such a story was resumed.
        (text("Done"), Some("its pipeline says that the story is done")),
        (text("completed"), Some("its pipeline says that the story is done")),
        (text("paused"), Some("its pipeline says that the story is paused, for a person")),
    ] {
        let found = judge(Assignment { story_state: state, ..Assignment::default() }, Vec::new());
        assert_eq!(only(&found), says.map(|says| (Check::Story, Advice::PromptUser, says)));
    }
}

#[test]
fn a_story_of_a_pipeline_that_is_complete_is_for_a_person() {
    for state in [None, text("STAGE_2")] {
        let ended = Assignment { story_state: state, is_complete: true, ..Assignment::default() };
        let says = "its pipeline says that it is complete";
        assert_eq!(only(&judge(ended, Vec::new())), Some((Check::Story, Advice::PromptUser, says)));
    }
}

#[test]
fn every_counter_beyond_its_limit_is_named_once() {
    let beyond = |counter, story: &str, count| ExceededRetry {
        counter,
        story: story.to_owned(),
        count,
        limit: 1,
    };
    let retries = vec![
        beyond("validation_retries", "A-1", 2),
        beyond("crash_count", "A-1", 3),
        beyond("crash_count", "A\n2", 2),
    ];
    let found = judge(Assignment::default(), retries);
    let told: Vec<_> = found.findings.iter().map(|it| (it.advice, it.message.as_str())).collect();
    let wanted = [
        "validation_retries is beyond its limit of 1: 2 for \"A-1\"",
        "crash_count is beyond its limit of 1: 3 for \"A-1\", 2 for \"A\\n2\"",
    ];
    assert_eq!(told, wanted.map(|it| (Advice::PromptUser, it)));
}

#[test]
fn a_state_that_cannot_be_read_is_told_and_decides_nothing() {
    let damage = text("damaged data");
    let found = judge(Assignment { damage, ..Assignment::default() }, Vec::new());
    assert_eq!((found.advice, found.findings.len()), (Advice::Resume, 0));
    let reason = "the state of the pipeline cannot be read: damaged data, so this was not compared";
    assert_eq!(found.unchecked, [format!("{reason}: the retries of the story")]);
}

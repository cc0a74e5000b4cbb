//! `.pipeline/`: what each stage must write, and the state of the whole.

use serde_json::{Value, json};
use waypost::layouts::pipeline::{PipelineState, StoryCheckpoint, StoryStage, StoryState};
use waypost::layouts::{Scalar, Word};

use super::{comes_back, printed, typed, with};

/// What a worker writes in a stage, and nothing more.
fn example(stage: StoryStage) -> Value {
    let mut checkpoint = json!({
        "storyId": "PROJ-42",
        "stage": stage.number(),
        "agentId": "abc-123-def",
        "tasksCompleted": [],
        "tasksRemaining": [],
        "lastAction": "did it",
        "timestamp": "2026-02-14T14:30:00Z",
    });
    let more = match stage {
        StoryStage::Planning => json!({"planScore": 4, "tasksRemaining": ["PROJ-101"]}),
        StoryStage::Validation => json!({"readiness": 1, "verdict": "GO"}),
        StoryStage::Execution => {
            json!({"tasksCompleted": ["PROJ-101"], "tasksRemaining": ["PROJ-102"]})
        }
        StoryStage::QualityGate => json!({"qualityScore": 92.5, "verdict": "WAIVED"}),
    };
    for (key, value) in more.as_object().unwrap() {
        checkpoint[key] = value.clone();
    }
    checkpoint
}

fn problems(document: &Value) -> Vec<String> {
    printed(&typed::<StoryCheckpoint>(document).validate())
}

#[test]
fn what_is_read_comes_back_and_is_right() {
    let checkpoint = comes_back::<StoryCheckpoint>("pipeline", "checkpoint").remove(0);
    assert_eq!(printed(&checkpoint.validate()), [""; 0]);
    assert_eq!(checkpoint.stage(), Some(StoryStage::QualityGate));
    assert_eq!(checkpoint.file_name().unwrap(), "checkpoint-PROJ-42.json");
    let state = comes_back::<PipelineState>("pipeline", "state").remove(0);
    assert_eq!(printed(&state.validate()), [""; 0]);
    assert_eq!(state.story_state.value().unwrap()["API-427"], Word::Known(StoryState::Stage2));
}

#[test]
fn every_stage_is_right_with_what_it_must_write() {
    for stage in StoryStage::ALL {
        assert_eq!(problems(&example(stage)), [""; 0], "{stage:?}");
        assert_eq!(typed::<StoryCheckpoint>(&example(stage)).stage(), Some(stage));
    }
}

#[test]
fn every_stage_asks_for_its_own_fields() {
    for stage in StoryStage::ALL {
        let own: &[&str] = match stage {
            StoryStage::Planning => &["/planScore"],
            StoryStage::Validation => &["/readiness", "/verdict"],
            StoryStage::Execution => &[],
            StoryStage::QualityGate => &["/qualityScore", "/verdict"],
        };
        let all = ["/storyId", "/agentId", "/tasksCompleted", "/lastAction", "/timestamp"];
        for pointer in own.iter().chain(&all) {
            let expected = [format!("{pointer}: is required")];
            assert_eq!(problems(&with(&example(stage), pointer, None)), expected, "{stage:?}");
            let null = with(&example(stage), pointer, Some(Value::Null));
            assert_eq!(problems(&null), expected, "{stage:?}");
        }
    }
}

#[test]
fn every_rule_names_its_field() {
    use StoryStage::{Execution, Planning, QualityGate, Validation};
    for (stage, pointer, value, rule) in [
        (Planning, "/storyId", json!(""), "must not be empty"),
        (Planning, "/stage", json!(4), "must be 0, 1, 2 or 3"),
        (Planning, "/stage", json!("STAGE_0"), "must be 0, 1, 2 or 3"),
        (Planning, "/timestamp", json!("now"), "must be a time like 2026-01-25T15:00:00Z"),
        (Planning, "/planScore", json!(4.5), "must be from 0 to 4"),
        (Planning, "/planScore", json!("good"), "must be a number"),
        (Planning, "/tasksCompleted", json!(["a"]), "must be empty in this stage"),
        (Validation, "/readiness", json!(0), "must be from 1 to 10"),
        (Validation, "/verdict", json!("PASS"), "must be one of GO, NO-GO"),
        (Validation, "/tasksRemaining", json!(["a"]), "must be empty in this stage"),
        (Execution, "/tasksCompleted", json!(["PROJ-102"]), ""),
        (QualityGate, "/qualityScore", json!(101), "must be from 0 to 100"),
        (QualityGate, "/verdict", json!("GO"), "must be one of PASS, CONCERNS, WAIVED, FAIL"),
        (QualityGate, "/issues", json!(["slow"]), "must be a text"),
        (QualityGate, "/tasksRemaining", json!(["a"]), "must be empty in this stage"),
    ] {
        let expected = match rule {
            "" => "/tasksRemaining/0: must not be completed, too".to_owned(),
            rule => format!("{pointer}: {rule}"),
        };
        assert_eq!(problems(&with(&example(stage), pointer, Some(value))), [expected]);
    }
}

#[test]
fn a_verdict_against_the_story_says_why() {
    let no_go = with(&example(StoryStage::Validation), "/verdict", Some(json!("NO-GO")));
    assert_eq!(problems(&no_go), ["/reason: is required if the verdict is NO-GO"]);
    assert_eq!(problems(&with(&no_go, "/reason", Some(json!("no tests")))), [""; 0]);
    let fail = with(&example(StoryStage::QualityGate), "/verdict", Some(json!("FAIL")));
    assert_eq!(problems(&fail), ["/issues: is required if the verdict is FAIL"]);
    assert_eq!(problems(&with(&fail, "/issues", Some(json!("slow")))), [""; 0]);
}

#[test]
fn numbers_in_quotes_are_numbers_and_stay_in_quotes() {
    let quoted = with(&example(StoryStage::Planning), "/planScore", Some(json!("3")));
    let quoted = with(&quoted, "/stage", Some(json!("0")));
    let checkpoint: StoryCheckpoint = typed(&quoted);
    assert_eq!(printed(&checkpoint.validate()), [""; 0]);
    assert_eq!(serde_json::to_value(&checkpoint).unwrap(), quoted);
}

#[test]
fn a_new_checkpoint_lacks_only_what_the_stage_finds_out() {
    let mut checkpoint = StoryCheckpoint::new("PROJ-42", StoryStage::Planning, "abc");
    let missing = ["/lastAction", "/timestamp", "/planScore"];
    let missing = missing.map(|field| format!("{field}: is required"));
    assert_eq!(printed(&checkpoint.validate()), missing);
    checkpoint.last_action = "planned".to_owned().into();
    checkpoint.timestamp = "2026-02-14T14:30:00Z".to_owned().into();
    checkpoint.plan_score = Scalar::from(3).into();
    assert_eq!(printed(&checkpoint.validate()), [""; 0]);
}

#[test]
fn every_rule_of_the_state_names_its_field() {
    let state = PipelineState::new("2026-02-13T12:55:00Z");
    assert_eq!(printed(&state.validate()), [""; 0]);
    let state = serde_json::to_value(state).unwrap();
    let check = |document: &Value| printed(&typed::<PipelineState>(document).validate());
    assert_eq!(check(&json!({})), ["/complete: is required", "/story_state: is required"]);
    let states =
        "must be one of QUEUED, STAGE_0, STAGE_1, STAGE_2, STAGE_3, DONE, PAUSED, PENDING_MERGE";
    let time = "must be a time like 2026-01-25T15:00:00Z";
    for (field, value, below, rule) in [
        ("/active_workers", json!(-1), "", "must be 0 or more"),
        ("/stories_remaining", json!(1.5), "", "must be a whole number"),
        ("/last_check", json!("now"), "", time),
        ("/pipeline_start_time", json!(""), "", time),
        ("/storage_mode", json!("disk"), "", "must be one of file, linear"),
        ("/story_state", json!({"a/b": "STAGE_4"}), "/a~1b", states),
        ("/quality_cycles", json!({"a": 3}), "/a", "must be from 0 to 2"),
        ("/validation_retries", json!({"a": 2}), "/a", "must be from 0 to 1"),
        ("/crash_count", json!({"a": -1}), "/a", "must be from 0 to 1"),
        ("/readiness_scores", json!({"a": 11}), "/a", "must be from 1 to 10"),
        ("/stage_timestamps", json!({"a": {"stage_0_end": "x"}}), "/a/stage_0_end", time),
        ("/git_stats", json!({"a": {"lines_added": -1}}), "/a/lines_added", "must be 0 or more"),
    ] {
        let found = check(&with(&state, field, Some(value)));
        assert_eq!(found, [format!("{field}{below}: {rule}")]);
    }
}

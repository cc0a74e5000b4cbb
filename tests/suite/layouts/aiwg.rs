//! Checkpoints of AIWG: the schema, and where files lie.

use serde_json::{Value, json};
use waypost::layouts::aiwg::{LoopCheckpoint, LoopFileName, LoopState, LoopTrigger, SchemaVersion};
use waypost::layouts::{Field, Word};

use super::{comes_back, printed, typed, with};

const LOOP: &str = "ralph-fix-tests-a1b2c3d4";

fn example() -> Value {
    serde_json::to_value(comes_back::<LoopCheckpoint>("aiwg", "multi").remove(0)).unwrap()
}

fn single() -> Value {
    serde_json::to_value(comes_back::<LoopCheckpoint>("aiwg", "single").remove(0)).unwrap()
}

fn problems(document: &Value) -> Vec<String> {
    printed(&typed::<LoopCheckpoint>(document).validate())
}

/// The examples of the schema's path resolution.
#[test]
fn a_checkpoint_lies_where_the_schema_says() {
    let many: LoopCheckpoint = typed(&example());
    assert_eq!(printed(&many.validate()), [""; 0]);
    let path = ".aiwg/ralph/loops/ralph-fix-tests-a1b2c3d4/checkpoints/iteration-005.json.gz";
    assert_eq!(many.location().unwrap(), path);
    assert_eq!(many.schema_version(), Word::Known(SchemaVersion::V2));
    assert!(!many.is_single_loop());

    let single: LoopCheckpoint = typed(&single());
    assert_eq!(printed(&single.validate()), [""; 0]);
    let path = ".aiwg/checkpoints/ralph-research-impl-2026-01-25T15-00-00Z-iteration.json.gz";
    assert_eq!(single.location().unwrap(), path);
    assert_eq!(single.schema_version(), Word::Known(SchemaVersion::V1));
    assert!(single.is_single_loop());
}

#[test]
fn a_missing_loop_id_is_as_null_but_written_as_it_was() {
    let absent = with(&single(), "/loop_id", None);
    let checkpoint: LoopCheckpoint = typed(&absent);
    assert_eq!(
        checkpoint.location().unwrap(),
        typed::<LoopCheckpoint>(&single()).location().unwrap()
    );
    assert_eq!(serde_json::to_value(&checkpoint).unwrap(), absent);
    assert_eq!(typed::<LoopCheckpoint>(&single()).loop_id, Field::Null);
}

#[test]
fn a_time_in_another_zone_is_named_in_utc() {
    for (created_at, named) in [
        ("2026-01-25T15:00:00.123Z", "2026-01-25T15-00-00.123Z"),
        ("2026-01-25T17:00:00+02:00", "2026-01-25T15-00-00Z"),
        ("2026-01-25T15:00:00.5+00:00", "2026-01-25T15-00-00.500000Z"),
    ] {
        let checkpoint: LoopCheckpoint =
            typed(&with(&single(), "/created_at", Some(json!(created_at))));
        let name = checkpoint.name().unwrap();
        let expected = format!("ralph-research-impl-{named}-iteration.json.gz");
        assert_eq!(name.to_string(), expected);
        assert_eq!(expected.parse::<LoopFileName>().unwrap(), name);
        assert_eq!(name.created_at(), Some(created_at.parse().unwrap()));
    }
}

#[test]
fn what_has_no_place_says_which_field_is_to_blame() {
    for (document, pointer, value, reason) in [
        (example(), "/loop_id", json!("../../x"), "must be able to name a file"),
        (example(), "/state/iteration", Value::Null, "is required"),
        (example(), "/state/iteration/current", json!(-1), "must be a whole number, 0 or more"),
        (single(), "/workflow_id", json!("a/b"), "must be able to name a file"),
        (single(), "/workflow_id", Value::Null, "is required"),
        (single(), "/trigger", json!("/"), "must be able to name a file"),
        (single(), "/trigger", Value::Null, "is required"),
        (single(), "/created_at", json!("x"), "must be a time like 2026-01-25T15:00:00Z"),
    ] {
        let checkpoint: LoopCheckpoint = typed(&with(&document, pointer, Some(value)));
        let error = checkpoint.location().unwrap_err().to_string();
        let pointer =
            if pointer.ends_with("iteration") { "/state/iteration/current" } else { pointer };
        assert_eq!(error, format!("invalid {pointer}: {reason}"));
    }
}

#[test]
fn names_of_both_forms_are_taken_apart() {
    let iteration = |number| LoopFileName::Iteration(number);
    let legacy = |workflow_id: &str, time: &str, trigger: &str| LoopFileName::Legacy {
        workflow_id: workflow_id.to_owned(),
        time: time.to_owned(),
        trigger: Word::of(trigger),
    };
    for (text, expected) in [
        ("iteration-000.json.gz", iteration(0)),
        ("iteration-005.json.gz", iteration(5)),
        ("iteration-1234.json.gz", iteration(1234)),
        (
            "ralph-research-impl-2026-01-25T15-00-00Z-iteration.json.gz",
            legacy("ralph-research-impl", "2026-01-25T15-00-00Z", "iteration"),
        ),
        (
            "a-2026-01-25T15-00-00-123Z-pre_risky_op.json.gz",
            legacy("a", "2026-01-25T15-00-00-123Z", "pre_risky_op"),
        ),
        (
            "a-T-2026-01-25T15-00-00.5Z-other.json.gz",
            legacy("a-T", "2026-01-25T15-00-00.5Z", "other"),
        ),
    ] {
        let name: LoopFileName = text.parse().unwrap();
        assert_eq!(name, expected);
        assert_eq!(name.to_string(), text);
    }
    for wrong in [
        "iteration-5.json.gz",
        "iteration-005.json",
        "iteration-99999999999999999999999.json.gz",
        "checkpoint-5-1700000000000.json.gz",
        "2026-01-25T15-00-00Z-iteration.json.gz",
        "a-2026-13-25T15-00-00Z-iteration.json.gz",
        "a-2026-01-25T15-00-00Z-.json.gz",
        "loops/iteration-005.json.gz",
        "",
    ] {
        assert!(wrong.parse::<LoopFileName>().is_err(), "{wrong}");
    }
}

#[test]
fn in_the_directory_of_a_loop_the_id_is_that_of_the_directory() {
    let at = |document: &Value, path: &str| {
        printed(&typed::<LoopCheckpoint>(document).validate_at(path))
    };
    let path = format!("home/.aiwg/ralph/loops/{LOOP}/checkpoints/iteration-005.json.gz");
    assert_eq!(at(&example(), &path), [""; 0]);
    assert_eq!(at(&single(), &path), ["/loop_id: is required"]);
    let other = path.replace("fix", "mix");
    assert_eq!(at(&example(), &other), ["/loop_id: must be the name of the loop's directory"]);
    let legacy = typed::<LoopCheckpoint>(&single()).location().unwrap();
    assert_eq!(at(&single(), &legacy), [""; 0]);
}

#[test]
fn every_rule_names_its_field() {
    for pointer in [
        "/checkpoint_id",
        "/workflow_id",
        "/created_at",
        "/state",
        "/state/phase",
        "/state/progress",
        "/state/artifacts",
    ] {
        assert_eq!(problems(&with(&example(), pointer, None)), [format!("{pointer}: is required")]);
    }
    let pattern = "must match ^ralph-[a-z0-9-]+-[a-f0-9]{8}$";
    for (pointer, value, rule) in [
        ("/checkpoint_id", json!(""), "must not be empty"),
        ("/loop_id", json!("ralph--a1b2c3d4"), pattern),
        ("/loop_id", json!("ralph-Fix-a1b2c3d4"), pattern),
        ("/loop_id", json!("ralph-fix-a1b2c3dg"), pattern),
        ("/loop_id", json!(""), pattern),
        (
            "/workflow_type",
            json!("loop"),
            "must be one of ralph_loop, flow_command, skill_execution, agent_task",
        ),
        ("/created_at", json!("2026-02-30"), "must be a time like 2026-01-25T15:00:00Z"),
        (
            "/trigger",
            json!("heartbeat"),
            "must be one of manual, automatic, phase_boundary, iteration, pre_risky_op, \
             error_recovery",
        ),
        ("/state/progress/percentage", json!(100.1), "must be from 0 to 100"),
        ("/state/progress/percentage", json!(-1), "must be from 0 to 100"),
        ("/state/progress/total_steps", json!(2.5), "must be a whole number"),
        ("/state/iteration/current", json!(-1), "must be 0 or more"),
        (
            "/state/artifacts/0/status",
            json!("moved"),
            "must be one of created, modified, deleted, unchanged",
        ),
        ("/execution_config/temperature", json!(2.1), "must be from 0 to 2"),
        ("/execution_config/temperature", json!("warm"), "must be a number"),
        ("/execution_config/seed", json!("dice"), "must be a whole number"),
        (
            "/execution_config/execution_mode",
            json!("fast"),
            "must be one of strict, seeded, logged, default",
        ),
        ("/metadata/compression", json!("zstd"), "must be one of none, gzip, lz4"),
        ("/metadata/size_bytes", json!(-1), "must be 0 or more"),
        ("/metadata/retention_days", json!("long"), "must be a whole number"),
        ("/metadata/schema_version", json!("3.0"), "must be one of 1.0, 2.0"),
    ] {
        let found = problems(&with(&example(), pointer, Some(value)));
        assert_eq!(found, [format!("{pointer}: {rule}")]);
    }
}

#[test]
fn a_new_checkpoint_is_right_and_has_the_defaults_of_the_schema() {
    let state = LoopState::new("construction");
    let mut checkpoint = LoopCheckpoint::new("cp-1", "flow", "2026-02-02T21:05:00Z", state);
    assert_eq!(printed(&checkpoint.validate()), [""; 0]);
    let expected = json!({"compression": "gzip", "retention_days": 30, "schema_version": "2.0"});
    assert_eq!(serde_json::to_value(&checkpoint).unwrap()["metadata"], expected);
    checkpoint.trigger = Field::Value(LoopTrigger::PhaseBoundary.into());
    let path = ".aiwg/checkpoints/flow-2026-02-02T21-05-00Z-phase_boundary.json.gz";
    assert_eq!(checkpoint.location().unwrap(), path);
}

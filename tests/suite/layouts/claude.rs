//! `.claude/checkpoints/`: the README, and what later releases add.

use serde_json::{Value, json};
use waypost::Status;
use waypost::layouts::claude::{WorkflowCheckpoint, WorkflowCheckpointId};

use super::{comes_back, printed, typed, with};

/// The example of the README.
fn example() -> Value {
    json!({
        "checkpoint_id": "orchestrate_auth_system_20251003_184530",
        "workflow_type": "orchestrate",
        "workflow_description": "Implement authentication system",
        "created_at": "2025-10-03T18:45:30Z",
        "updated_at": "2025-10-03T18:52:15Z",
        "status": "in_progress",
        "current_phase": 2,
        "total_phases": 5,
        "completed_phases": [1],
        "workflow_state": {
            "project_name": "auth_system",
            "artifact_registry": {},
            "research_results": [],
            "plan_path": "specs/plans/022_auth_implementation.md"
        },
        "last_error": null
    })
}

fn problems(document: &Value) -> Vec<String> {
    printed(&typed::<WorkflowCheckpoint>(document).validate())
}

#[test]
fn what_is_read_comes_back_and_is_right() {
    for checkpoint in comes_back::<WorkflowCheckpoint>("claude", "schema") {
        assert_eq!(printed(&checkpoint.validate()), [""; 0]);
        assert_eq!(checkpoint.status(), Status::InProgress);
        assert_eq!(checkpoint.tests_passing(), Some(false));
    }
    let migrated = comes_back::<WorkflowCheckpoint>("claude", "migrated").remove(0);
    assert_eq!(printed(&migrated.validate()), [""; 0]);
    assert_eq!(migrated.schema_version(), "2.1");
    assert_eq!(migrated.other["state_machine"]["current_state"], "plan");
}

/// Files of another kind that lie beside them lose nothing either.
#[test]
fn what_is_of_another_kind_comes_back_and_is_wrong() {
    for kind in ["build", "parallel"] {
        let other = comes_back::<WorkflowCheckpoint>("claude", kind).remove(0);
        assert!(printed(&other.validate()).contains(&"/workflow_type: is required".to_owned()));
    }
}

#[test]
fn the_example_of_the_readme_is_right() {
    assert_eq!(problems(&example()), [""; 0]);
    let checkpoint: WorkflowCheckpoint = typed(&example());
    assert_eq!(checkpoint.project_name(), Some("auth_system"));
    assert_eq!(checkpoint.schema_version(), "1.0");
    assert_eq!(checkpoint.tests_passing(), None);
}

#[test]
fn every_rule_names_its_field() {
    for pointer in ["/checkpoint_id", "/workflow_type", "/created_at", "/status"] {
        for value in [None, Some(Value::Null)] {
            let found = problems(&with(&example(), pointer, value));
            assert_eq!(found, [format!("{pointer}: is required")]);
        }
    }
    let nameless = with(&example(), "/workflow_state", Some(json!({})));
    assert_eq!(problems(&nameless), ["/project_name: is required"]);
    let id = "must be TYPE_PROJECT_YYYYMMDD_HHMMSS";
    let beyond = "must not be beyond the last phase";
    for (pointer, value, rule) in [
        ("/schema_version", json!("3.0"), "must be one of 1.0, 1.1, 1.2, 1.3, 2.0, 2.1"),
        ("/checkpoint_id", json!("orchestrate_auth_system"), id),
        ("/checkpoint_id", json!("orchestrate_auth_20251303_184530"), id),
        ("/created_at", json!("2025-10-03 at noon"), "must be a time like 2026-01-25T15:00:00Z"),
        ("/updated_at", json!(""), "must be a time like 2026-01-25T15:00:00Z"),
        ("/status", json!("so-so"), "must be in_progress, completed, failed or paused"),
        ("/current_phase", json!("two"), "must be a whole number"),
        ("/current_phase", json!("6"), beyond),
        ("/total_phases", json!(-1), ""),
        ("/completed_phases", json!([1, 6]), ""),
    ] {
        let expected = match pointer {
            "/total_phases" => vec!["/total_phases: must be 0 or more".to_owned()],
            "/completed_phases" => vec![format!("/completed_phases/1: {beyond}")],
            _ => vec![format!("{pointer}: {rule}")],
        };
        assert_eq!(problems(&with(&example(), pointer, Some(value))), expected);
    }
    let named = with(&example(), "/project_name", Some(json!("dark_mode")));
    assert_eq!(problems(&named), ["/checkpoint_id: must start with the type and the project"]);
}

#[test]
fn ids_are_taken_apart() {
    for (text, workflow_type, project_name, time) in [
        (
            "orchestrate_auth_system_20251003_184530",
            "orchestrate",
            "auth_system",
            "2025-10-03T18:45:30Z",
        ),
        ("test-all_x_20251003_192230", "test-all", "x", "2025-10-03T19:22:30Z"),
    ] {
        let id: WorkflowCheckpointId = text.parse().unwrap();
        let (workflow_type, project_name) = (workflow_type.to_owned(), project_name.to_owned());
        assert_eq!(
            id,
            WorkflowCheckpointId { workflow_type, project_name, time: time.parse().unwrap() }
        );
        assert_eq!(id.to_string(), text);
        assert_eq!(format!("{text}.json").parse::<WorkflowCheckpointId>().unwrap(), id);
    }
    let wrong = [
        "",
        "_20251003_184530",
        "a_20251003_184530",
        "a_b_20251003-184530",
        "a_b_2025\u{e9}1003_18453",
    ];
    for wrong in wrong {
        assert!(wrong.parse::<WorkflowCheckpointId>().is_err(), "{wrong}");
    }
}

#[test]
fn a_new_checkpoint_is_right() {
    let id: WorkflowCheckpointId = "implement_dark_mode_20251003_192230".parse().unwrap();
    let checkpoint = WorkflowCheckpoint::new(&id, "2025-10-03T19:22:30Z", serde_json::Map::new());
    assert_eq!(printed(&checkpoint.validate()), [""; 0]);
    assert_eq!(checkpoint.status(), Status::InProgress);
}

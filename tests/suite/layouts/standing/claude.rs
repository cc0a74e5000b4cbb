//! `.claude/checkpoints`: phases, operations, and builds.

use serde_json::{Value, json};
use waypost::Layout;
use waypost::layouts::Progress;

use super::{described, document, fixture_at, imported, of, refusals, value, with};

const PATH: &str = ".claude/checkpoints/x.json";
const PLAIN: &str = "claude/schema-none.json";
const SET_FIELD: &str = "claude/schema-1.2-set-field.json";
const MIGRATED: &str = "claude/migrated-to-2.1.json";

#[test]
fn a_workflow_is_told_in_every_schema() {
    insta::assert_snapshot!(fixture_at(PLAIN, PATH), @"
    description: Implement authentication system
    progress: phase 1 of 5, then Phase 2
    done: 1
    - Phase 1
    remaining: 4
    - Phase 2
    - Phase 3
    - Phase 4
    - Phase 5
    tests_passing: false
    plan_file: specs/plans/022_auth_implementation.md
    file: specs/reports/012_auth.md ? ?
    ");
    insta::assert_snapshot!(fixture_at(SET_FIELD, PATH), @"
    description: Implement authentication system
    version: 1.2
    progress: phase 1 of 5, then Phase 3
    done: 1
    - Phase 1
    remaining: 4
    - Phase 2
    - Phase 3
    - Phase 4
    - Phase 5
    failures: 0
    tests_passing: false
    plan_file: specs/plans/022_auth_implementation.md
    file: specs/reports/012_auth.md ? ?
    ");
    insta::assert_snapshot!(fixture_at(MIGRATED, PATH), @"
    description: Implement authentication system
    version: 2.1
    progress: phase 1 of 5, then Phase 2 (plan)
    done: 1
    - Phase 1
    remaining: 4
    - Phase 2
    - Phase 3
    - Phase 4
    - Phase 5
    failures: 0
    tests_passing: false
    plan_file: specs/plans/022_auth_implementation.md
    file: specs/reports/012_auth.md ? ?
    ");
    insta::assert_snapshot!(fixture_at("claude/schema-2.1.json", PATH), @"
    description: Implement authentication system
    version: 2.1
    progress: phase 1 of 5, then Phase 2
    done: 1
    - Phase 1
    remaining: 4
    - Phase 2
    - Phase 3
    - Phase 4
    - Phase 5
    failures: 0
    tests_passing: false
    plan_file: specs/plans/022_auth_implementation.md
    file: specs/reports/012_auth.md ? ?
    ");
}

#[test]
fn operations_and_builds_are_told_too() {
    insta::assert_snapshot!(fixture_at("claude/parallel-operations.json", PATH), @"
    progress: task 0 of 1, then phase_1
    remaining: 1
    - phase_1
    plan_file: specs/plans/022_auth.md
    ");
    insta::assert_snapshot!(fixture_at("claude/build-iteration.json", PATH), @"
    version: 2.1
    progress: iteration 1 of 5, then iteration 2
    remaining: 2
    - Phase 3
    - Phase 4
    plan_file: /x/plan.md
    ");
}

/// The example of the README: the second of five phases is completed.
#[test]
fn the_prompt_of_the_readme_can_be_printed() {
    let mut document = value(PLAIN);
    document["completed_phases"] = json!([1, 2]);
    let progress = of(Layout::Claude, &document).progress.unwrap();
    assert_eq!((progress.done, progress.total), (2, Some(5)));
    assert_eq!(progress.next.as_deref(), Some("Phase 3"));
    let progress = of(Layout::Claude, &without_lists(&document)).progress.unwrap();
    assert_eq!((progress.done, progress.next.as_deref()), (2, Some("Phase 3")));
}

fn without_lists(document: &Value) -> Value {
    let less = with(document, "/completed_phases", None);
    with(&less, "/workflow_state/completed_phases", None)
}

fn progress(changes: &Value) -> Progress {
    let mut document = json!({"workflow_state": {}});
    for (key, value) in changes.as_object().unwrap() {
        document[key] = value.clone();
    }
    of(Layout::Claude, &document).progress.unwrap()
}

#[test]
fn the_next_phase_is_the_one_that_is_not_done() {
    for (current, completed, total, next) in [
        (json!(0), json!([]), json!(5), Some("Phase 1")),
        (json!(2), json!([1]), json!(5), Some("Phase 2")),
        (json!("2"), json!(["1", "2"]), json!("5"), Some("Phase 3")),
        (json!(2), json!(null), json!(0), Some("Phase 3")),
        (json!(5), json!([1, 2, 3, 4, 5]), json!(5), None),
        (json!(5), json!(null), json!(5), None),
        (json!(u64::MAX), json!(null), json!(0), None),
        (json!(null), json!([1]), json!(5), None),
    ] {
        let changes = json!({
            "current_phase": current, "completed_phases": completed, "total_phases": total,
        });
        assert_eq!(progress(&changes).next.as_deref(), next, "{changes}");
    }
    let over = json!({
        "checkpoint_id": "i", "workflow_type": "w", "workflow_state": {}, "status": "complete",
        "current_phase": 2, "completed_phases": [1], "total_phases": 5,
    });
    assert_eq!(imported(&document(&over), PATH).progress.unwrap().next, None);
}

/// The numbers of a plan's phases are no states.
#[test]
fn a_phase_has_a_name_if_the_machine_is_in_it() {
    let next = |current: u64, completed: Value, state: Value| {
        progress(&json!({
            "current_phase": current, "completed_phases": completed, "state_machine": state,
        }))
        .next
        .unwrap()
    };
    let state = |name: &str| json!({"current_state": name});
    assert_eq!(next(2, json!([1, 2]), state("plan")), "Phase 3 (implement)");
    assert_eq!(next(0, json!([]), state("initialize")), "Phase 0 (initialize)");
    assert_eq!(next(2, json!([1]), state("implement")), "Phase 2");
    assert_eq!(next(2, json!([1]), json!(null)), "Phase 2");
    assert_eq!(next(7, json!([7]), state("complete")), "Phase 8");
}

#[test]
fn phases_that_remain_are_known_by_number_only() {
    let told = |completed: Value, total: Value| {
        let document = json!({"completed_phases": completed, "total_phases": total,
            "current_phase": 2, "workflow_state": {}});
        let told = of(Layout::Claude, &document);
        (told.tasks_done.unwrap(), told.tasks_remaining)
    };
    let (done, remaining) = told(json!([3, 1, 1]), json!(4));
    assert_eq!(
        (done.join(" "), remaining.unwrap().join(" ")),
        ("Phase 3 Phase 1".into(), "Phase 2 Phase 4".into())
    );
    let (done, remaining) = told(json!(["research"]), json!(4));
    assert_eq!((done.join(" "), remaining), ("research".to_owned(), None));
    assert_eq!(told(json!([1]), json!(0)).1, None);
    let (done, remaining) = told(json!(null), json!(3));
    assert_eq!(
        (done.join(" "), remaining.unwrap().join(" ")),
        ("Phase 1 Phase 2".into(), "Phase 3".into())
    );
    for completed in [json!([1]), json!(null)] {
        assert_eq!(told(completed, json!(u64::MAX)).1.unwrap().len(), 10_000);
    }
}

/// The copy at the top is always true.
#[test]
fn the_state_knows_whether_tests_pass() {
    for (top, state, expected) in [
        (json!(true), json!({"tests_passing": false}), Some(false)),
        (json!(true), json!({"tests_passing": "false"}), Some(false)),
        (json!(true), json!({}), Some(true)),
        (json!(null), json!({}), None),
        (json!(3), json!({"tests_passing": []}), None),
    ] {
        let document = json!({"tests_passing": top, "workflow_state": state});
        assert_eq!(of(Layout::Claude, &document).tests_passing, expected);
    }
}

#[test]
fn an_error_is_a_text_or_has_one() {
    for (document, expected) in [
        (json!({"last_error": "boom"}), Some("boom")),
        (json!({"last_error": {"message": "boom", "type": "x"}}), Some("boom")),
        (json!({"last_error": null, "error_state": {"last_error": "late"}}), Some("late")),
        (json!({"workflow_state": {"last_error": "deep"}}), Some("deep")),
        (json!({"last_error": "null"}), None),
        (json!({"last_error": ""}), None),
        (json!({"last_error": {}}), None),
    ] {
        assert_eq!(of(Layout::Claude, &document).error.as_deref(), expected, "{document}");
    }
}

#[test]
fn retries_and_debugging_are_failures() {
    let counts = json!({"error_state": {"retry_count": 2}, "debug_iteration_count": "1"});
    assert_eq!(of(Layout::Claude, &counts).failures, Some(3));
    assert_eq!(of(Layout::Claude, &json!({"debug_iteration_count": 1})).failures, Some(1));
    assert_eq!(of(Layout::Claude, &value(PLAIN)).failures, None);
}

#[test]
fn what_the_scripts_validate_is_required() {
    for field in ["checkpoint_id", "workflow_type", "created_at", "status", "workflow_state"] {
        let pointer = format!("/{field}");
        let expected = [format!("{pointer}: is required to resume")];
        for none in [None, Some(json!(null)), Some(json!(false))] {
            assert_eq!(refusals(Layout::Claude, &with(&value(PLAIN), &pointer, none)), expected);
        }
    }
    let moved = with(&value(PLAIN), "/project_name", None);
    assert_eq!(refusals(Layout::Claude, &moved), [""; 0]);
    let none = with(&moved, "/workflow_state/project_name", None);
    assert_eq!(refusals(Layout::Claude, &none), ["/project_name: is required to resume"]);
    let newer = with(&value(MIGRATED), "/schema_version", Some(json!("2.2")));
    let expected = ["/schema_version: is newer than 2.1, the newest known version"];
    assert_eq!(refusals(Layout::Claude, &newer), expected);
    for version in ["2.1", "1.7", "draft"] {
        let known = with(&value(MIGRATED), "/schema_version", Some(json!(version)));
        assert_eq!(refusals(Layout::Claude, &known), [""; 0], "{version}");
    }
}

#[test]
fn a_registry_has_paths_and_other_things() {
    let registry = json!({
        "report": "specs/reports/1.md", "plans": ["specs/plans/2.md", 3],
        "summary": {"path": "specs/summaries/3.md", "status": "created"},
        "note": "not a / path", "page": "https://example.com/x", "word": "word", "none": null,
    });
    let document = json!({
        "workflow_state": {"artifact_registry": registry}, "plan_path": "specs/plans/1.md",
        "plan_modification_time": "1760000000",
    });
    let told = described(&of(Layout::Claude, &document));
    let told: Vec<&str> = told.lines().filter(|line| !line.starts_with("refusal")).collect();
    insta::assert_snapshot!(told.join("\n"), @"
    plan_file: specs/plans/1.md
    plan_modified_at: 1760000000
    file: specs/plans/2.md ? ?
    file: specs/reports/1.md ? ?
    file: specs/summaries/3.md ? created
    ");
}

#[test]
fn work_that_remains_is_a_list_or_a_text() {
    let told = |work: Value| {
        let document = json!({"iteration": 2, "max_iterations": 5, "work_remaining": work});
        of(Layout::Claude, &document).tasks_remaining
    };
    assert_eq!(told(json!(["phase_8", "phase_9"])).unwrap(), ["phase_8", "phase_9"]);
    assert_eq!(told(json!("[Phase 3, Phase 4]")).unwrap(), ["Phase 3", "Phase 4"]);
    assert_eq!(told(json!("")).unwrap(), [""; 0]);
    assert_eq!(told(json!(null)), None);
    let stuck = json!({"iteration": 2, "max_iterations": 5, "halt_reason": "stuck"});
    let told = of(Layout::Claude, &stuck);
    assert_eq!(told.error.as_deref(), Some("stuck"));
    assert_eq!(told.refusals[0].to_string(), "/plan_path: is required to resume");
}

//! The rules of the systems, as one set: what is missing is named, and keeps its system.

use proptest::prelude::*;
use serde_json::{Value, json};
use waypost::layouts::{Code, Level, Place, Problem, check, recognise};
use waypost::{Document, Layout};

use super::property::any_document;
use super::{fixtures, with};

/// A file of a system that is right, where it lies, and the fields that it cannot do without.
struct Example {
    path: &'static str,
    document: Value,
    required: &'static [&'static str],
}

const AGENTIZE: [&str; 6] = [
    "/version",
    "/timestamp",
    "/state/issue_no",
    "/state/current_stage",
    "/state/iteration",
    "/state/worktree",
];
const CRUNCH: [&str; 9] = [
    "/checkpoint_id",
    "/version",
    "/created_at",
    "/issue_number",
    "/workflow_state",
    "/issue_snapshot",
    "/execution_graph",
    "/recovery_info/can_resume",
    "/recovery_info/resume_from",
];
const CLAUDE: [&str; 5] =
    ["/checkpoint_id", "/workflow_type", "/created_at", "/status", "/workflow_state"];
const PIPELINE: [&str; 9] = [
    "/storyId",
    "/stage",
    "/agentId",
    "/tasksCompleted",
    "/tasksRemaining",
    "/lastAction",
    "/timestamp",
    "/verdict",
    "/qualityScore",
];
const AIWG: [&str; 8] = [
    "/checkpoint_id",
    "/workflow_id",
    "/loop_id",
    "/created_at",
    "/state",
    "/state/phase",
    "/state/progress",
    "/state/artifacts",
];

fn json_of(layout: &str, name: &str) -> Value {
    let path = fixtures(layout, name, ".json").remove(0);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn crunch() -> Value {
    let text = json_of("crunch", "CP-template").to_string();
    let text = text.replace("ISO-8601", "2025-01-14T10:00:00Z");
    let document: Value = serde_json::from_str(&text).unwrap();
    with(&document, "/workflow_state/current_phase", Some(json!("enrich")))
}

/// `None` for our own, which has no rules.
fn example(layout: Layout) -> Option<Example> {
    let (path, document, required): (_, _, &[&str]) = match layout {
        Layout::Native => return None,
        Layout::Agentize => (".tmp/impl-checkpoint.json", json_of("agentize", "v2-01"), &AGENTIZE),
        Layout::Crunch => (".claude/crunch/42/checkpoints/CP-a.json", crunch(), &CRUNCH),
        Layout::Claude => {
            let path = ".claude/checkpoints/implement_dark_mode_20261116_021755.json";
            (path, json_of("claude", "schema-none"), &CLAUDE)
        }
        Layout::Pipeline => {
            let path = ".pipeline/checkpoint-PROJ-42.json";
            (path, json_of("pipeline", "checkpoint"), &PIPELINE)
        }
        Layout::Aiwg => {
            let path = ".aiwg/ralph/loops/ralph-fix-tests-a1b2c3d4/checkpoints/iteration-005.json";
            (path, json_of("aiwg", "multi-loop"), &AIWG)
        }
    };
    Some(Example { path, document, required })
}

fn document(value: &Value) -> Document {
    Document::from_json(value.to_string().as_bytes()).unwrap()
}

fn found(layout: Layout, value: &Value, path: &str) -> Vec<Problem> {
    check(layout, &document(value), path)
}

/// The code, the level and the field of each.
fn told(layout: Layout, value: &Value) -> Vec<(Code, Level, String)> {
    let path = example(layout).map_or("", |example| example.path);
    found(layout, value, path).into_iter().map(|it| (it.code, it.level, it.field)).collect()
}

fn error(code: Code, field: &str) -> (Code, Level, String) {
    (code, Level::Error, field.to_owned())
}

fn warning(code: Code, field: &str) -> (Code, Level, String) {
    (code, Level::Warning, field.to_owned())
}

/// What lacked a field was taken for a file of no system, and `resume` went on from an older one.
#[test]
fn a_file_without_a_required_field_keeps_its_system_and_its_series_and_is_invalid() {
    for layout in Layout::ALL {
        let Some(Example { path, document: whole, required }) = example(layout) else { continue };
        let place = Place { path, ..Place::default() };
        let series = recognise(&document(&whole), &place).expect("its system").series;
        assert_eq!(told(layout, &whole), [], "{layout}");
        for field in required {
            for value in [None, Some(Value::Null)] {
                let broken = with(&whole, field, value);
                let about = recognise(&document(&broken), &place)
                    .unwrap_or_else(|| panic!("{layout} without {field}"));
                assert_eq!(about.layout, layout, "{field}");
                let names = ["/state/issue_no", "/state/worktree"];
                if layout == Layout::Agentize && names.contains(field) {
                    assert_eq!(about.series, None, "{field}");
                } else {
                    assert_eq!(about.series, series, "{layout} without {field}");
                }
                let told = told(layout, &broken);
                assert!(told.contains(&error(Code::Required, field)), "{layout} {field}: {told:?}");
            }
        }
    }
}

/// A value of a wrong type hid all other problems.
#[test]
fn a_value_of_a_wrong_type_hides_no_other_problem() {
    for layout in Layout::ALL {
        let Some(Example { document: whole, required, .. }) = example(layout) else { continue };
        for field in required {
            let odd = with(&whole, field, Some(json!([true])));
            let told = told(layout, &odd);
            let is_named = |it: &(Code, Level, String)| {
                it.1 == Level::Error && (it.2 == *field || it.2.starts_with(&format!("{field}/")))
            };
            assert!(told.iter().any(is_named), "{layout} {field}: {told:?}");
        }
        let last = required[required.len() - 1];
        let two = with(&with(&whole, last, None), required[0], Some(json!(["odd"])));
        let told = told(layout, &two);
        assert!(told.contains(&error(Code::Type, required[0])), "{layout}: {told:?}");
        assert!(told.contains(&error(Code::Required, last)), "{layout}: {told:?}");
    }
    let story = example(Layout::Pipeline).unwrap().document;
    let odd = with(&story, "/planScore", Some(json!([1])));
    assert_eq!(told(Layout::Pipeline, &odd), [warning(Code::Type, "/planScore")]);
}

#[test]
fn what_is_inside_of_something_missing_is_not_named_too() {
    let run = with(&example(Layout::Agentize).unwrap().document, "/state", None);
    assert_eq!(told(Layout::Agentize, &run), [error(Code::Required, "/state")]);
}

#[test]
fn what_is_no_object_is_one_problem() {
    for layout in Layout::ALL.into_iter().filter(|layout| *layout != Layout::Native) {
        for odd in [json!([1]), json!("x")] {
            let told = told(layout, &odd);
            assert!(told.contains(&error(Code::Type, "")), "{layout}: {told:?}");
        }
    }
}

#[test]
fn every_kind_of_rule_has_a_name_and_a_level() {
    use Layout::{Agentize, Aiwg, Claude, Crunch, Pipeline};
    let step = |stage: &str| {
        json!({"stage": stage, "iteration": 1, "timestamp": "2026-01-25T15:00:00",
               "result": "success", "score": null})
    };
    for (layout, field, value, expected) in [
        (Agentize, "/version", json!(3), error(Code::Version, "/version")),
        (Agentize, "/state/last_score", json!(101), error(Code::Range, "/state/last_score")),
        (Agentize, "/state/worktree", json!("here"), warning(Code::Pattern, "/state/worktree")),
        (
            Agentize,
            "/state/history",
            json!([step("impl"), step("done")]),
            error(Code::Transition, "/state/history/1/stage"),
        ),
        (
            Agentize,
            "/state/current_stage",
            json!("done"),
            error(Code::Transition, "/state/current_stage"),
        ),
        (
            Agentize,
            "/state/current_stage",
            json!("deploy"),
            error(Code::Enum, "/state/current_stage"),
        ),
        (Crunch, "/checkpoint_id", json!("x"), error(Code::Pattern, "/checkpoint_id")),
        (Crunch, "/version", json!("2.0"), error(Code::Version, "/version")),
        (Crunch, "/created_at", json!("soon"), error(Code::Time, "/created_at")),
        (Crunch, "/created_at", json!("2025-01-14"), warning(Code::Time, "/created_at")),
        (
            Crunch,
            "/workflow_state/current_phase",
            json!("design"),
            warning(Code::Enum, "/workflow_state/current_phase"),
        ),
        (Claude, "/checkpoint_id", json!("x"), error(Code::Pattern, "/checkpoint_id")),
        (Claude, "/schema_version", json!("1.9"), error(Code::Version, "/schema_version")),
        (Claude, "/status", json!("fine"), error(Code::Enum, "/status")),
        (Claude, "/current_phase", json!(99), error(Code::Order, "/current_phase")),
        (Pipeline, "/verdict", json!("GO"), error(Code::Verdict, "/verdict")),
        (Pipeline, "/verdict", json!("FAIL"), error(Code::Required, "/issues")),
        (Pipeline, "/qualityScore", json!(101), error(Code::Range, "/qualityScore")),
        (Pipeline, "/tasksRemaining", json!(["a"]), error(Code::Tasks, "/tasksRemaining")),
        (Pipeline, "/issues", json!(["slow"]), warning(Code::Type, "/issues")),
        (Aiwg, "/workflow_type", json!("loop"), error(Code::Enum, "/workflow_type")),
        (Aiwg, "/trigger", json!("sometimes"), error(Code::Enum, "/trigger")),
        (
            Aiwg,
            "/state/progress/percentage",
            json!(101),
            error(Code::Range, "/state/progress/percentage"),
        ),
        (
            Aiwg,
            "/metadata/schema_version",
            json!("1.5"),
            error(Code::Enum, "/metadata/schema_version"),
        ),
    ] {
        let whole = example(layout).unwrap().document;
        let told = told(layout, &with(&whole, field, Some(value)));
        assert_eq!(told[0], expected, "{layout} {field}: {told:?}");
    }
}

/// Its code makes names that its own pattern refuses, and has other names for some triggers.
#[test]
fn what_the_programs_of_a_system_write_is_no_error() {
    let whole = example(Layout::Aiwg).unwrap().document;
    let odd = with(&whole, "/loop_id", Some(json!("my-loop")));
    let there = ".aiwg/ralph/loops/my-loop/checkpoints/iteration-005.json";
    let problems = found(Layout::Aiwg, &odd, there);
    let told: Vec<_> = problems.iter().map(|it| (it.code, it.level)).collect();
    assert_eq!(told, [(Code::Pattern, Level::Warning)]);
    let problems = found(Layout::Aiwg, &odd, example(Layout::Aiwg).unwrap().path);
    assert_eq!(problems[1].code, Code::Place);
    for trigger in
        ["phase_start", "artifact_complete", "before_external_call", "iteration_boundary"]
    {
        let known = with(&whole, "/trigger", Some(json!(trigger)));
        assert_eq!(self::told(Layout::Aiwg, &known), [], "{trigger}");
    }
    // A run that was resumed at `review` keeps that stage while it goes on.
    let run = example(Layout::Agentize).unwrap().document;
    let step = |stage: &str| {
        json!({"stage": stage, "iteration": 1, "timestamp": "2026-01-25T15:00:00",
               "result": "success"})
    };
    let path = json!([step("impl"), step("review"), step("pr")]);
    let run = with(
        &with(&run, "/state/history", Some(path)),
        "/state/current_stage",
        Some(json!("review")),
    );
    let expected = [warning(Code::Transition, "/state/current_stage")];
    assert_eq!(self::told(Layout::Agentize, &run), expected);
}

#[test]
fn a_pipeline_without_its_stories_is_invalid_and_retries_have_limits() {
    let state = json_of("pipeline", "state");
    let path = ".pipeline/state.json";
    let place = Place { path, ..Place::default() };
    assert_eq!(found(Layout::Pipeline, &state, path), []);
    for field in ["/complete", "/story_state"] {
        let broken = with(&state, field, None);
        assert_eq!(recognise(&document(&broken), &place).unwrap().layout, Layout::Pipeline);
        let problems = found(Layout::Pipeline, &broken, path);
        assert_eq!(problems[0].to_string(), format!("{field}: is required"));
    }
    for (field, most) in waypost::layouts::pipeline::RETRY_LIMITS {
        let pointer = format!("/{field}");
        let at_limit = with(&state, &pointer, Some(json!({"A": most})));
        assert_eq!(found(Layout::Pipeline, &at_limit, path), [], "{field}");
        let beyond = with(&state, &pointer, Some(json!({"A": most + 1})));
        let problems = found(Layout::Pipeline, &beyond, path);
        assert_eq!((problems[0].code, problems.len()), (Code::RetryLimit, 1), "{field}");
    }
}

/// For these the documents of the systems have no rules.
#[test]
fn files_that_no_document_describes_break_no_rule() {
    for (layout, directory, name) in [
        (Layout::Claude, "claude", "build-iteration"),
        (Layout::Claude, "claude", "parallel-operations"),
        (Layout::Aiwg, "aiwg/loops", "003-checkpoint"),
        (Layout::Aiwg, "aiwg/loops", "current-loop.json"),
        (Layout::Pipeline, "pipeline/successor", "state"),
        (Layout::Pipeline, "pipeline/successor", "manifest"),
        (Layout::Pipeline, "pipeline/successor", "checkpoints"),
    ] {
        let name = name.trim_end_matches(".json");
        assert_eq!(found(layout, &json_of(directory, name), ""), [], "{name}");
    }
}

#[test]
fn what_the_systems_wrote_breaks_no_rule() {
    for (layout, directory, prefix) in [
        (Layout::Agentize, "agentize", "v"),
        (Layout::Claude, "claude", "schema"),
        (Layout::Claude, "claude", "migrated"),
        (Layout::Pipeline, "pipeline", "checkpoint"),
        (Layout::Pipeline, "pipeline", "state"),
        (Layout::Aiwg, "aiwg", "multi-loop"),
        (Layout::Aiwg, "aiwg", "single-loop"),
    ] {
        for path in fixtures(directory, prefix, ".json") {
            let value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            assert_eq!(found(layout, &value, ""), [], "{}", path.display());
        }
    }
}

#[test]
fn a_document_with_endless_problems_has_a_list_with_an_end() {
    let run = example(Layout::Agentize).unwrap().document;
    let steps: Vec<Value> = (0..2000)
        .map(|_| {
            json!({"stage": "x", "iteration": 1,
        "timestamp": "x", "result": "x"})
        })
        .collect();
    let problems = told(Layout::Agentize, &with(&run, "/state/history", Some(json!(steps))));
    assert!(problems.len() < 300 && problems.contains(&error(Code::More, "")), "{problems:?}");
    let story = example(Layout::Pipeline).unwrap().document;
    let odd = with(&story, "/tasksCompleted", Some(json!(vec![1; 2000])));
    assert!(told(Layout::Pipeline, &odd).len() < 300);
}

proptest! {
    #[test]
    fn any_document_is_checked_as_any_layout(
        value in prop_oneof![
            any_document("agentize", "v"),
            any_document("claude", ""),
            any_document("crunch", "CP"),
            any_document("pipeline", ""),
            any_document("aiwg", ""),
        ]
    ) {
        for layout in Layout::ALL {
            for problem in found(layout, &value, "") {
                prop_assert!(problem.field.is_empty() || problem.field.starts_with('/'));
            }
        }
    }
}

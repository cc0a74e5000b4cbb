//! `save-checkpoint.sh`: its arguments, what of the state ends up where, and what is refused.

use serde_json::{Value, json};

use super::Shims;

/// What waypost knows of the newest checkpoint, and its document.
fn newest(shims: &Shims) -> Value {
    serde_json::from_str(&shims.waypost("latest --json", "")).unwrap()
}

#[test]
fn the_checkpoint_is_the_one_that_the_readme_has() {
    let Some(shims) = Shims::new() else { return };
    let state = r#"{"status": "in_progress", "current_phase": 2, "total_phases": 5,
        "completed_phases": [1, {"a": []}], "workflow_description": "dark, \"really\"\n",
        "iteration": 4, "nested": {"status": "failed", "s": "\n  \"status\": \"failed\"\n"}}"#;
    let id = shims.save("implement", "dark_mode", state);
    let mut entry = newest(&shims);
    let mut document = entry["document"].take();
    assert_eq!(entry["id"], id);
    let expected = json!(["implement:dark_mode", "implement", "2", 4, "in_progress", []]);
    let keys = ["series", "workflow_type", "phase", "iteration", "status", "warnings"];
    assert_eq!(keys.map(|key| entry[key].take()).as_slice(), expected.as_array().unwrap());
    let [made, changed, name] =
        ["created_at", "updated_at", "checkpoint_id"].map(|key| document[key].take());
    assert_eq!(made, changed);
    let digits: String = made.as_str().unwrap().replace(['-', ':', 'Z'], "").replace('T', "_");
    assert_eq!(name, format!("implement_dark_mode_{digits}"));
    let given: Value = serde_json::from_str(state).unwrap();
    assert_eq!(
        document,
        json!({
            "checkpoint_id": null, "workflow_type": "implement", "project_name": "dark_mode",
            "workflow_description": "dark, \"really\"\n", "created_at": null, "updated_at": null,
            "status": "in_progress", "current_phase": 2, "total_phases": 5,
            "completed_phases": [1, {"a": []}], "workflow_state": given, "last_error": null,
        })
    );
}

#[test]
fn what_the_state_does_not_say_is_as_the_original_has_it() {
    let Some(shims) = Shims::new() else { return };
    shims.save("implement", "x", r#"{"status": null, "current_phase": null}"#);
    let entry = newest(&shims);
    let [phase, status] = ["phase", "status"].map(|key| &entry[key]);
    assert_eq!((phase, status), (&Value::Null, &json!("in_progress")));
    let document = &entry["document"];
    let keys = ["status", "current_phase", "total_phases", "completed_phases", "tests_passing"];
    let values = keys.map(|key| document[key].clone());
    assert_eq!(values, [json!("in_progress"), json!(0), json!(0), json!([]), Value::Null]);
}

#[test]
fn the_state_may_come_in_each_documented_way() {
    let Some(shims) = Shims::new() else { return };
    let state = r#" {"project_name": "in_state", "phase": 2}"#;
    let deeper = r#"{"workflow_state": {"project_name": "deeper"}}"#;
    let cases: [(&[&str], &str, &str); 8] = [
        (&["implement", "named", state], "", "implement:named"),
        (&["implement", "named", "-"], state, "implement:named"),
        (&["implement", "named", ""], state, "implement:named"),
        (&["implement", "named"], state, "implement:named"),
        (&["--", "implement", state], "", "implement:in_state"),
        (&["implement", "-"], state, "implement:in_state"),
        (&["implement", deeper], "", "implement:deeper"),
        (&["implement", r#"{"phase": 2}"#], "", "implement:default"),
    ];
    for (args, input, series) in cases {
        shims.feed("save-checkpoint", args, input).done();
        assert_eq!(newest(&shims)["series"], series, "{args:?}");
    }
    assert_eq!(shims.ids().len(), cases.len());
    assert_eq!(newest(&shims)["phase"], "2");
}

/// The original named files by the second, so that the second save replaced the first.
#[test]
fn saves_of_one_second_are_all_kept_in_order() {
    let Some(shims) = Shims::new() else { return };
    shims.stop_the_clock();
    let saved = ["1", "2", "1"].map(|n| shims.save("implement", "x", &format!(r#"{{"n": {n}}}"#)));
    let mut kept = shims.ids();
    kept.reverse();
    assert_eq!(kept, saved);
    let newest = shims.load(&["implement", "x"]);
    assert_eq!(newest["workflow_state"]["n"], 1);
    assert_eq!(newest["checkpoint_id"], "implement_x_20260125_150000");
}

/// The original wrote true, whatever the state said.
#[test]
fn tests_that_do_not_pass_stay_so() {
    let Some(shims) = Shims::new() else { return };
    for passing in [false, true] {
        shims.save("implement", "x", &json!({"tests_passing": passing}).to_string());
        assert_eq!(shims.load(&["implement"])["tests_passing"], passing);
    }
}

#[test]
fn words_for_where_work_stands_are_understood_and_kept() {
    let Some(shims) = Shims::new() else { return };
    let words = [
        ("complete", "completed"),
        ("FAILED", "failed"),
        ("paused", "paused"),
        ("In-Progress", "in_progress"),
        ("plan_ready", "unknown"),
    ];
    for (word, status) in words {
        shims.save("implement", "x", &json!({"status": word}).to_string());
        let entry = newest(&shims);
        assert_eq!(
            (&entry["status"], &entry["document"]["status"]),
            (&json!(status), &json!(word))
        );
    }
}

#[test]
fn an_error_is_noted_with_the_checkpoint() {
    let Some(shims) = Shims::new() else { return };
    shims.save("implement", "x", r#"{"last_error": {"at": [1, 2]}}"#);
    let entry = newest(&shims);
    assert_eq!(entry["warnings"], json!(["last_error is set"]));
    assert_eq!(entry["document"]["last_error"], json!({"at": [1, 2]}));
}

#[test]
fn any_name_on_one_line_comes_back_as_it_was() {
    let Some(shims) = Shims::new() else { return };
    let names = [
        "with spaces ",
        r#"a "quoted" 'one'"#,
        "../../etc",
        "-dash",
        r"back\slash",
        "$(id)`id`",
        "*",
    ];
    for (number, name) in names.into_iter().enumerate() {
        let by_state = json!({"project_name": name, "number": number}).to_string();
        shims.run("save-checkpoint", &["implement", &by_state]).done();
        shims.save("orchestrate", name, &by_state);
    }
    let listed = shims.run("list-checkpoints", &[]).done();
    for (number, name) in names.into_iter().enumerate() {
        for kind in ["implement", "orchestrate"] {
            let loaded = shims.load(&[kind, name]);
            assert_eq!(loaded["project_name"], name);
            assert_eq!(loaded["workflow_state"]["number"], number, "{kind} {name}");
        }
        assert_eq!(listed.matches(&format!("  Project: {name}\n")).count(), 2, "{listed}");
    }
}

#[test]
fn what_is_no_object_is_refused_and_nothing_is_saved() {
    let Some(shims) = Shims::new() else { return };
    let said = shims.run("save-checkpoint", &["implement", "x", "[1]"]).failed(1);
    assert_eq!(said, "save-checkpoint.sh: the state must be a JSON object\n");
    // Pasted into a checkpoint, the second would be JSON again.
    for wrong in ["{", r#"{}, "more": {}"#] {
        let said = shims.run("save-checkpoint", &["implement", "x", wrong]).failed(4);
        assert!(said.starts_with("error: invalid document"), "{said}");
    }
    let said = shims.run("save-checkpoint", &["implement", "x"]).failed(4);
    assert!(said.contains("the text is empty"), "{said}");
    shims.run("load-checkpoint", &["implement"]).failed(1);
}

#[test]
fn what_cannot_be_indexed_is_no_reason_not_to_save() {
    let Some(shims) = Shims::new() else { return };
    for phase in [json!("a\nb"), json!("x".repeat(513)), json!({"a": 1}), json!("")] {
        let state = json!({"current_phase": phase, "iteration": "many", "status": [1]});
        shims.save("implement", "x", &state.to_string());
        let entry = newest(&shims);
        assert_eq!(entry["document"]["workflow_state"], state);
        assert_eq!((&entry["phase"], &entry["status"]), (&Value::Null, &json!("unknown")));
    }
}

#[test]
fn a_state_may_be_larger_than_an_argument() {
    let Some(shims) = Shims::new() else { return };
    let notes: Vec<String> = (0..20_000).map(|number| format!("what {number} found")).collect();
    let state = json!({"notes": notes, "current_phase": 7});
    shims.feed("save-checkpoint", &["implement", "x", "-"], &state.to_string()).done();
    let loaded = shims.load(&["implement", "x"]);
    assert_eq!((&loaded["workflow_state"], &loaded["current_phase"]), (&state, &json!(7)));
}

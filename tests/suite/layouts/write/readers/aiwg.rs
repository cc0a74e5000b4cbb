//! What the recovery of AIWG does with a directory of checkpoints, done with files made for it.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use waypost::layouts::{Form, LayoutFile, Place, Writing, file_with, recognise};
use waypost::source::{Format, SourceForm};
use waypost::{Document, Entry, Layout, LoopId, NewEntry, Status, Trigger};

use super::super::super::printed;
use super::super::{LOOP, document, entry, state};

const READER: Writing = Writing { schema: None, form: Form::Reader };

/// The files of a project, by path.
type Files = BTreeMap<String, Value>;

fn about() -> Entry {
    entry(Layout::Aiwg)
}

fn exported(entry: &Entry, state: &Value) -> LayoutFile {
    file_with(Layout::Aiwg, entry, &document(state), READER).unwrap()
}

fn added(files: &mut Files, file: &LayoutFile) {
    assert!(file.form.is_gzip && file.form.format == Format::Json);
    files.insert(file.path.clone(), serde_json::to_value(&file.document).unwrap());
}

/// `getLatestCheckpoint`: of those whose names have an iteration and a time, the latest by time.
fn latest<'a>(files: &'a Files, loop_id: &str) -> Option<(&'a String, u64)> {
    let directory = format!(".aiwg/ralph/loops/{loop_id}/checkpoints/");
    let parsed = files.keys().filter_map(|path| {
        let name = path.strip_prefix(&directory)?.strip_suffix(".json.gz")?;
        let (iteration, time) = name.strip_prefix("checkpoint-")?.split_once('-')?;
        Some((path, iteration.parse().ok()?, time.parse::<u64>().ok()?))
    });
    let latest = parsed.max_by_key(|(_, _, time)| *time);
    latest.map(|(path, iteration, _)| (path, iteration))
}

/// `restoreFromCheckpoint`: the whole document becomes the state of the loop.
fn restored(files: &Files, loop_id: &str) -> Value {
    let (path, iteration) = latest(files, loop_id).expect("no checkpoints available");
    let state = files[path].clone();
    assert_eq!(state["currentIteration"], iteration, "the loop goes on there");
    state
}

/// `determineRecoveryStrategy` of a loop that is running and whose process is gone.
fn strategy(state: &Value) -> Option<&'static str> {
    if state["status"] != "running" {
        return None;
    }
    let last = state["iterations"].as_array().expect("iterations has no length").last();
    let goes_on = last.is_some_and(|last| last["analysis"]["shouldContinue"] == true);
    for field in ["loopId", "objective", "currentIteration"] {
        assert!(!state[field].is_null(), "the prompt would say undefined: {field}");
    }
    if let Some(files) = state.get("filesModified") {
        assert!(files.as_array().unwrap().iter().all(Value::is_string));
    }
    Some(if goes_on { "continue_external" } else { "restart" })
}

#[test]
fn recovery_restores_the_newest_checkpoint_of_a_loop() {
    let mut files = Files::new();
    let mut entry = about();
    // Neither the order of names nor that of iterations is that of time.
    for (iteration, time) in [(90, "21:05:00"), (9, "21:05:02"), (10, "21:05:01.5")] {
        entry.iteration = Some(iteration);
        entry.created_at = format!("2026-02-02T{time}Z").parse().unwrap();
        let state = json!({"task": "Fix tests", "iteration": iteration});
        added(&mut files, &exported(&entry, &state));
    }
    let path = format!(".aiwg/ralph/loops/{LOOP}/checkpoints/checkpoint-9-1770066302000.json.gz");
    assert_eq!(latest(&files, LOOP), Some((&path, 9)));
    let state = restored(&files, LOOP);
    assert_eq!(state["document"], json!({"task": "Fix tests", "iteration": 9}));
    assert_eq!(strategy(&state), Some("restart"));
    assert_eq!(latest(&files, "other"), None);

    // Stated before the others, and saved after them.
    entry.iteration = Some(11);
    entry.created_at = "2026-02-02T20:00:00Z".parse().unwrap();
    entry.ordered_at = Some("2026-02-02T21:05:03Z".parse().unwrap());
    added(&mut files, &exported(&entry, &json!({"task": "t"})));
    assert_eq!(latest(&files, LOOP).unwrap().1, 11);
}

#[test]
fn a_state_has_what_recovery_prints() {
    let mut entry = about();
    let state = json!({"objective": "Fix tests", "completion_criteria": "npm test",
        "max_iterations": 20, "started_at": "2026-02-02T20:00:00Z",
        "iterations": [{"number": 1, "analysis": {"shouldContinue": true}}],
        "accumulatedLearnings": "mock the clock",
        "files_modified": ["src/a.ts", {"path": "src/b.ts", "status": "modified"}]});
    let found = serde_json::to_value(&exported(&entry, &state).document).unwrap();
    assert_eq!(strategy(&found), Some("continue_external"));
    let expected = json!({
        "loopId": LOOP, "objective": "Fix tests", "completionCriteria": "npm test",
        "status": "running", "currentIteration": 7, "maxIterations": 20,
        "currentPhase": "construction", "startTime": "2026-02-02T20:00:00Z",
        "lastUpdate": "2026-02-02T21:05:00.500Z", "sessionId": "s-1", "issue": "42",
        "iterations": state["iterations"], "accumulatedLearnings": "mock the clock",
        "filesModified": ["src/a.ts", "src/b.ts"],
        "metadata": {"trigger": "phase_transition"}, "document": state,
    });
    assert_eq!(found, expected);
    for (status, word) in [(Status::Completed, "completed"), (Status::Paused, "paused")] {
        entry.status = status;
        let found = serde_json::to_value(&exported(&entry, &state).document).unwrap();
        assert_eq!((&found["status"], strategy(&found)), (&json!(word), None));
    }
}

#[test]
fn a_document_that_is_the_state_of_its_loop_is_restored_as_it_is() {
    let own = json!({"loopId": "my-loop", "currentIteration": 3, "status": "running",
        "iterations": [], "currentPid": 4711});
    let mut entry = about();
    (entry.loop_id, entry.iteration) = (None, None);
    let file = exported(&entry, &own);
    assert_eq!(file.document, document(&own));
    let path = ".aiwg/ralph/loops/my-loop/checkpoints/checkpoint-3-1770066300500.json.gz";
    assert_eq!(file.path, path);
    // Also if it came from a file of the loop, in its project.
    entry.layout = Layout::Aiwg;
    entry.loop_id = Some(LoopId::new("my-loop").unwrap());
    entry.source_path = Some("shop/.aiwg/ralph/loops/my-loop/state.json".to_owned());
    let file = exported(&entry, &own);
    assert_eq!((file.path, file.document), (format!("shop/{path}"), document(&own)));
    // The state of another loop is only carried.
    entry.loop_id = Some(LoopId::new("other").unwrap());
    let found = serde_json::to_value(&exported(&entry, &own).document).unwrap();
    assert_eq!((&found["loopId"], &found["document"]), (&json!("other"), &own));
}

#[test]
fn what_names_the_file_is_asked_for() {
    let refused = |entry: &Entry, state: &Value| {
        printed(&file_with(Layout::Aiwg, entry, &document(state), READER).unwrap_err())
    };
    let mut entry = about();
    (entry.loop_id, entry.iteration) = (None, None);
    let expected = [
        "loop_id: is required by aiwg: the loop, whose directory has the file; save with --loop-id",
        "iteration: is required by aiwg: the iteration of the loop, which names the file; save \
         with --iteration",
    ];
    assert_eq!(refused(&entry, &json!({})), expected);
    let state = json!({"loop_id": "../x", "current_iteration": 1});
    assert_eq!(refused(&entry, &state), ["/loop_id: must be able to name a file"]);
    let mut entry = about();
    entry.created_at = "1969-12-31T00:00:00Z".parse().unwrap();
    let expected = "created_at: must not be before 1970 for aiwg's recovery";
    assert_eq!(refused(&entry, &json!({})), [expected]);
    let mut entry = about();
    entry.source = Some(SourceForm { format: Format::Unreadable, ..SourceForm::default() });
    let expected = "document: cannot be read, so it is not the state of a loop";
    assert_eq!(refused(&entry, &Value::Null), [expected]);
}

/// What is imported again from a file.
fn imported(file: &LayoutFile) -> NewEntry {
    let place = Place { path: &file.path, ..Place::default() };
    recognise(&file.document, &place).unwrap()
}

/// `batch_complete` became `automatic`, and names of the user's own were left out without a word.
#[test]
fn a_trigger_is_never_changed_without_a_word() {
    let known =
        ["manual", "automatic", "phase_boundary", "iteration", "pre_risky_op", "error_recovery"];
    let meant = BTreeMap::from([
        ("phase_start", "phase_boundary"),
        ("artifact_complete", "automatic"),
        ("before_external_call", "pre_risky_op"),
        ("iteration_boundary", "iteration"),
    ]);
    let mut entry = about();
    for trigger in Trigger::ALL.into_iter().chain(["deploy_2".parse().unwrap()]) {
        entry.trigger = trigger.clone();
        let name = trigger.as_str();
        let file = file_with(Layout::Aiwg, &entry, &document(&state()), Writing::default());
        let file = file.unwrap();
        let found = serde_json::to_value(&file.document).unwrap();
        let is_known = known.contains(&name);
        let word = meant.get(name).copied().or(is_known.then_some(name));
        assert_eq!(found["trigger"].as_str(), word, "{name}");
        let is_kept = !is_known && trigger != Trigger::Unknown;
        assert_eq!(found["metadata"]["trigger"].as_str(), is_kept.then_some(name));
        let is_named = file.notes.iter().any(|note| note.contains(&format!("trigger {name} ")))
            || file.notes.iter().any(|note| note.contains(&format!("trigger {name};")));
        assert_eq!(is_named, is_kept, "{:?}", file.notes);
        assert_eq!(imported(&file).trigger, trigger, "and comes back");

        let file = exported(&entry, &state());
        let back = imported(&file).trigger;
        let expected = if trigger == Trigger::Unknown { Trigger::Iteration } else { trigger };
        assert_eq!(back, expected, "{}", file.path);
    }
    assert_eq!(exported(&about(), &json!({})).document.get("trigger"), None::<&Document>);
}

//! Checkpoints as files of each layout: accepted there, or refused by the name of what is missing.
//!
//! Covers fields that are mapped, kept, migrated and indexed, files that readers of other systems
//! accept, and refusals.

mod index;
mod kept;
mod lol_impl;
mod migrated;
mod readers;
mod refused;
mod workflow;

use std::fs;
use std::process::Command;
use std::sync::LazyLock;

use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use waypost::layouts::{
    LayoutFile, Problem, agentize, aiwg, claude, crunch, file_as, from_json, from_yaml, pipeline,
    to_yaml,
};
use waypost::{
    Document, Entry, Format, Id, Issue, Layout, LoopId, NewEntry, Series, SourceForm, Spacing,
    Status, Store, Timestamp, Trigger,
};

use super::{printed, yaml};

const LOOP: &str = "ralph-fix-tests-a1b2c3d4";

static SAVED: LazyLock<Entry> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("store.redb")).unwrap();
    let about = NewEntry {
        id: Some(Id::new("one").unwrap()),
        issue: Some(Issue::new("42").unwrap()),
        loop_id: Some(LoopId::new(LOOP).unwrap()),
        workflow_id: Some("auth".to_owned()),
        workflow_type: Some("ralph_loop".to_owned()),
        session_id: Some("s-1".to_owned()),
        agent: Some("worker".to_owned()),
        trigger: Trigger::PhaseTransition,
        step: Some("write tests".to_owned()),
        iteration: Some(7),
        created_at: Some("2026-02-02T21:05:00.5Z".parse().unwrap()),
        tags: ["good".to_owned()].into(),
        can_resume: Some(true),
        resume_from: Some("batch_3_task_1".to_owned()),
        warnings: vec!["branch moved".to_owned()],
        retention_days: Some(9),
        ..NewEntry::default()
    };
    store.save(about, &state()).unwrap()
});

/// A state that has what some systems want and no entry has.
fn state() -> Value {
    json!({
        "worktree": "/home/me/tree",
        "tasks_completed": ["a"],
        "tasksRemaining": ["b"],
        "last_action": "wrote a test",
        "big": 1.5,
        "notes": ["caf\u{e9}\nna\u{ef}ve\n", "yes", "1e3"],
    })
}

fn document(value: &Value) -> Document {
    Document::from_json(value.to_string().as_bytes()).unwrap()
}

/// A native entry that has everything, with a phase that the layout knows.
fn entry(layout: Layout) -> Entry {
    let phase = match layout {
        Layout::Agentize => "review",
        Layout::Crunch => "implementing",
        Layout::Claude => "2",
        Layout::Pipeline => "execution",
        Layout::Aiwg | Layout::Native => "construction",
    };
    let mut entry = SAVED.clone();
    entry.phase = Some(phase.to_owned());
    entry
}

fn refusal(layout: Layout, entry: &Entry, state: &Value) -> Vec<String> {
    printed(&file_as(layout, entry, &document(state)).unwrap_err())
}

/// What the layout's own type says of a file, once it was written and read.
fn complaints(layout: Layout, file: &LayoutFile) -> Vec<Problem> {
    fn of<T: DeserializeOwned>(file: &LayoutFile, look: fn(&T) -> Vec<Problem>) -> Vec<Problem> {
        match file.form.format {
            Format::Yaml => look(&from_yaml(to_yaml(&file.document).unwrap().as_bytes()).unwrap()),
            _ => look(&from_json(&serde_json::to_vec(&file.document).unwrap()).unwrap()),
        }
    }
    match layout {
        Layout::Native => Vec::new(),
        Layout::Agentize => of(file, agentize::ImplCheckpoint::validate),
        Layout::Crunch => of(file, crunch::IssueCheckpoint::validate),
        Layout::Claude => of(file, claude::WorkflowCheckpoint::validate),
        Layout::Pipeline => of(file, pipeline::StoryCheckpoint::validate),
        Layout::Aiwg => {
            let found: aiwg::LoopCheckpoint =
                from_json(&serde_json::to_vec(&file.document).unwrap()).unwrap();
            found.validate_at(&file.path)
        }
    }
}

/// Where the whole document travels.
fn carried(layout: Layout, file: &LayoutFile) -> &Document {
    let keys: &[&str] = match layout {
        Layout::Native | Layout::Crunch | Layout::Pipeline => &["document"],
        Layout::Agentize => &["state", "document"],
        Layout::Claude => &["workflow_state"],
        Layout::Aiwg => &["state", "variables", "document"],
    };
    keys.iter().fold(&file.document, |document, key| document.get(key).unwrap())
}

#[test]
fn a_checkpoint_that_has_everything_is_a_file_of_every_layout() {
    for (layout, path, other) in [
        (Layout::Native, "native/loop%3aralph-fix-tests-a1b2c3d4/one.json", None),
        (Layout::Agentize, ".tmp/impl-checkpoint.json", None),
        (
            Layout::Crunch,
            ".claude/crunch/42/checkpoints/CP-implementing-20260202-911faba7321fe1a0.yaml",
            None,
        ),
        (
            Layout::Claude,
            ".claude/data/checkpoints/ralph_loop_auth_20260202_210500.json",
            Some(".claude/data/checkpoints/ralph_loop_auth_911faba7_20260202_210500.json"),
        ),
        (Layout::Pipeline, ".pipeline/checkpoint-42.json", None),
        (
            Layout::Aiwg,
            ".aiwg/ralph/loops/ralph-fix-tests-a1b2c3d4/checkpoints/iteration-007.json.gz",
            Some(
                ".aiwg/ralph/loops/ralph-fix-tests-a1b2c3d4/checkpoints/\
                 auth-2026-02-02T21-05-00.500Z-unknown.json.gz",
            ),
        ),
    ] {
        let file = file_as(layout, &entry(layout), &document(&state())).unwrap();
        assert_eq!(file.path, path);
        assert_eq!(file.other_path.as_deref(), other);
        assert_eq!(printed(&complaints(layout, &file)), [""; 0], "{layout}");
        assert_eq!(carried(layout, &file), &document(&state()), "{layout}");
    }
}

#[test]
fn a_file_is_written_as_its_system_does() {
    for (layout, format, ascii, newline, gzip, mode) in [
        (Layout::Native, Format::Json, false, true, false, Some(0o600)),
        (Layout::Agentize, Format::Json, true, false, false, Some(0o600)),
        (Layout::Claude, Format::Json, false, true, false, None),
        (Layout::Pipeline, Format::Json, false, true, false, None),
        (Layout::Aiwg, Format::Json, false, false, true, None),
    ] {
        let form = file_as(layout, &entry(layout), &document(&state())).unwrap().form;
        assert_eq!((form.format, form.is_gzip, form.mode), (format, gzip, mode), "{layout}");
        let style = form.style.unwrap();
        assert_eq!(style.spacing, Spacing::Indent(2));
        assert_eq!((style.is_ascii, style.has_final_newline), (ascii, newline), "{layout}");
    }
    let form = file_as(Layout::Crunch, &entry(Layout::Crunch), &document(&state())).unwrap().form;
    assert_eq!(form, SourceForm { format: Format::Yaml, ..SourceForm::default() });
}

#[test]
fn a_crunch_checkpoint_reads_like_the_template() {
    let mut entry = entry(Layout::Crunch);
    entry.session_id = None;
    let file = file_as(Layout::Crunch, &entry, &document(&json!({"step": 3}))).unwrap();
    let text = "\
checkpoint_id: CP-implementing-20260202-911faba7321fe1a0
version: \"1.0\"
created_at: \"2026-02-02T21:05:00.500Z\"
issue_number: 42
workflow_state:
  current_phase: implementing
  phase_attempt: 7
issue_snapshot:
  title: null
  body: null
  labels: null
  assignees: null
  branch: null
execution_graph:
  graph_id: GRAPH-20260202-911faba7321fe1a0
  current_batch: null
  node_states: {}
recovery_info:
  can_resume: true
  resume_from: batch_3_task_1
  prerequisites_met: true
  warnings:
    - branch moved
document:
  step: 3
";
    assert_eq!(to_yaml(&file.document).unwrap(), text);
}

/// Systems with one loop have no directory for it.
#[test]
fn without_a_loop_the_legacy_name_of_aiwg_is_used() {
    let mut entry = entry(Layout::Aiwg);
    (entry.loop_id, entry.iteration) = (None, None);
    let file = file_as(Layout::Aiwg, &entry, &document(&state())).unwrap();
    let path = ".aiwg/checkpoints/auth-2026-02-02T21-05-00.500Z-unknown.json.gz";
    assert_eq!((file.path.as_str(), &file.other_path), (path, &None));
    assert_eq!(printed(&complaints(Layout::Aiwg, &file)), [""; 0]);
}

#[test]
fn the_size_in_an_aiwg_file_is_that_of_its_text() {
    // Around the lengths where the number itself grows by a digit.
    let padded = |count: usize| {
        let state = json!({"pad": "x".repeat(count)});
        let file = file_as(Layout::Aiwg, &entry(Layout::Aiwg), &document(&state)).unwrap();
        let text = serde_json::to_string_pretty(&file.document).unwrap();
        let size = file.document.get("metadata").unwrap().get("size_bytes").unwrap().clone();
        assert_eq!(size, Document::Uint(text.len() as u64));
        text.len()
    };
    let base = padded(0);
    assert!(base < 990, "{base}");
    assert!((980..1020).map(|length| padded(length - base)).max().unwrap() > 1010);
}

#[test]
fn two_names_of_one_iteration_or_second_are_both_read() {
    let file = file_as(Layout::Aiwg, &entry(Layout::Aiwg), &document(&state())).unwrap();
    for path in [&file.path, file.other_path.as_ref().unwrap()] {
        assert!(path.rsplit('/').next().unwrap().parse::<aiwg::LoopFileName>().is_ok(), "{path}");
    }
    let file = file_as(Layout::Claude, &entry(Layout::Claude), &document(&state())).unwrap();
    let other = file.other_path.unwrap();
    let id: claude::WorkflowCheckpointId = other.rsplit('/').next().unwrap().parse().unwrap();
    assert_eq!(id.time.to_string(), "2026-02-02T21:05:00.000000Z");
    assert!(other.contains("/ralph_loop_auth_"));

    let mut failed = entry(Layout::Claude);
    failed.status = Status::Failed;
    let path = file_as(Layout::Claude, &failed, &document(&state())).unwrap().path;
    assert_eq!(path, ".claude/data/checkpoints/failed/ralph_loop_auth_20260202_210500.json");
}

#[test]
fn every_trigger_is_a_word_of_aiwg_or_left_out() {
    let mut entry = entry(Layout::Aiwg);
    for trigger in Trigger::ALL.into_iter().chain(["deploy_2".parse().unwrap()]) {
        entry.trigger = trigger.clone();
        let file = file_as(Layout::Aiwg, &entry, &document(&state())).unwrap();
        let is_said = file.document.get("trigger").is_some();
        assert_eq!(printed(&complaints(Layout::Aiwg, &file)), [""; 0], "{trigger}");
        let other = file.other_path.unwrap();
        assert_eq!(other.ends_with("-unknown.json.gz"), !is_said, "{other}");
    }
}

/// The checks of the scripts that read `.claude/checkpoints`.
#[test]
fn jq_finds_what_the_scripts_ask_for() {
    needs!("jq");
    let dir = tempfile::tempdir().unwrap();
    let file = file_as(Layout::Claude, &entry(Layout::Claude), &document(&state())).unwrap();
    let path = dir.path().join("one.json");
    fs::write(&path, serde_json::to_string_pretty(&file.document).unwrap() + "\n").unwrap();
    for key in ["checkpoint_id", "workflow_type", "project_name", "created_at", "status"] {
        let output = Command::new("jq").arg("-e").arg(format!(".{key}")).arg(&path).output();
        assert!(output.unwrap().status.success(), "{key}");
    }
    let output = Command::new("jq").arg(".").arg(&path).output().unwrap();
    assert_eq!(output.stdout, fs::read(&path).unwrap());
}

/// Whatever the writer thinks of it: one name after the other, each below the one before.
fn is_tame(path: &str) -> bool {
    let is_name = |part: &str| {
        !["", ".", ".."].contains(&part)
            && part.len() <= 255
            && !part.contains(|it: char| it.is_control() || it == '\\')
    };
    path.split('/').all(is_name)
}

fn any_name() -> impl Strategy<Value = Option<String>> {
    let name = prop_oneof!["[a-z0-9./-]{1,9}", any::<String>(), "[0-9]{1,3}", Just("impl".into())];
    proptest::option::of(name.prop_filter("names are not empty", |name| !name.is_empty()))
}

proptest! {
    /// What a document says beyond what a system asks for is never a reason to refuse it.
    #[test]
    fn any_document_travels_whole(more in yaml::any_document(), id in any_name()) {
        let Document::Object(mut fields) = document(&state()) else { panic!("no object") };
        fields.push(("more".to_owned(), more));
        let whole = Document::Object(fields);
        // The files have such numbers, but the types read none beyond 64 bits where they flatten.
        prop_assume!(!to_yaml(&whole).unwrap().contains(yaml::BEYOND_64_BITS));
        for layout in Layout::ALL {
            let mut entry = entry(layout);
            entry.id = Id::new(id.clone().unwrap_or("x".to_owned())).unwrap();
            let file = file_as(layout, &entry, &whole).unwrap();
            prop_assert_eq!(printed(&complaints(layout, &file)), [""; 0]);
            prop_assert!(yaml::is_same(carried(layout, &file), &whole));
        }
    }

    #[test]
    fn any_checkpoint_is_a_tame_file_or_refused(
        (issue, loop_id, phase, kind, workflow) in
            (any_name(), any_name(), any_name(), any_name(), any_name()),
        (series, iteration, micros, is_ralph) in
            (any_name(), any::<Option<u64>>(), any::<i64>(), any::<bool>()),
        state in yaml::any_document(),
    ) {
        let mut entry = SAVED.clone();
        entry.issue = issue.and_then(|name| Issue::new(name).ok());
        let slug = loop_id.map(|id| if is_ralph { format!("ralph-{id}-a1b2c3d4") } else { id });
        entry.loop_id = slug.map(|name| LoopId::new(name).unwrap());
        (entry.phase, entry.workflow_type, entry.workflow_id) = (phase, kind, workflow);
        entry.series = Series::new(series.unwrap_or("x".to_owned())).unwrap();
        entry.iteration = iteration;
        entry.created_at = Timestamp::from_micros(micros);
        for layout in Layout::ALL {
            match file_as(layout, &entry, &state) {
                Ok(file) => {
                    prop_assert!(is_tame(&file.path), "{}", file.path);
                    prop_assert!(file.other_path.as_deref().is_none_or(is_tame));
                    prop_assert_eq!(printed(&complaints(layout, &file)), [""; 0]);
                }
                Err(problems) => prop_assert!(!problems.is_empty()),
            }
            let mut same = entry.clone();
            same.layout = layout;
            if let Ok(file) = file_as(layout, &same, &state) {
                prop_assert!(is_tame(&file.path), "{}", file.path);
            }
        }
    }
}

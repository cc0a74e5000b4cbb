//! What a system requires and a checkpoint does not have, or has in a form that leads elsewhere.

use serde_json::{Value, json};
use waypost::layouts::file_as;
use waypost::{Document, Entry, Id, Issue, Layout, LoopId, Series, Status, Timestamp};

use super::super::printed;
use super::{complaints, document, entry, is_tame, refusal, state};

/// What is taken away from a checkpoint that has everything.
type Change = fn(&mut Entry, &mut Value);

const MISSING: [(Layout, Change, &str); 22] = [
    (
        Layout::Agentize,
        |entry, _| entry.issue = None,
        "issue: is required by agentize: the number of the issue; save with --issue",
    ),
    (
        Layout::Agentize,
        |entry, _| entry.issue = Some(Issue::new("PROJ-1").unwrap()),
        "issue: must be a number of 1 or more for agentize",
    ),
    (
        Layout::Agentize,
        |entry, _| entry.phase = None,
        "phase: is required by agentize: the stage that is next, such as impl or review; \
             save with --phase",
    ),
    (
        Layout::Agentize,
        |entry, _| entry.phase = Some("lunch".to_owned()),
        "phase: must be one of impl, review, simp, pr, rebase, fatal, done for agentize",
    ),
    (
        Layout::Agentize,
        |entry, _| entry.iteration = None,
        "iteration: is required by agentize: the round of implementing and reviewing; save \
             with --iteration",
    ),
    (
        Layout::Agentize,
        |entry, _| entry.iteration = Some(0),
        "iteration: must be 1 or more for agentize",
    ),
    (
        Layout::Agentize,
        |_, state| state["worktree"] = Value::Null,
        "/worktree: is required by agentize: the absolute path of the worktree; put it into \
             the document",
    ),
    (
        Layout::Agentize,
        |_, state| state["worktree"] = json!("tree"),
        "/worktree: must be absolute for agentize",
    ),
    (
        Layout::Crunch,
        |entry, _| entry.issue = None,
        "issue: is required by crunch: the number of the issue; save with --issue",
    ),
    (
        Layout::Crunch,
        |entry, _| entry.phase = None,
        "phase: is required by crunch: the phase of the work, such as enrich or docs; save \
             with --phase",
    ),
    (
        Layout::Crunch,
        |entry, _| (entry.can_resume, entry.resume_from) = (None, None),
        "can_resume: is required by crunch: whether work can go on from here; save with \
             --can-resume",
    ),
    (
        Layout::Crunch,
        |entry, _| entry.resume_from = None,
        "resume_from: is required by crunch: where work can go on; save with --resume-from",
    ),
    (
        Layout::Claude,
        |entry, _| entry.workflow_type = None,
        "workflow_type: is required by claude: the kind of workflow, such as implement; save \
             with --workflow-type",
    ),
    (
        Layout::Claude,
        |entry, _| entry.workflow_id = None,
        "/project_name: is required by claude: the project, else the workflow with \
             --workflow-id; put it into the document",
    ),
    (
        Layout::Claude,
        |entry, _| entry.status = Status::Unknown,
        "status: is required by claude: where the work stands; save with --status",
    ),
    (
        Layout::Pipeline,
        |entry, _| entry.issue = None,
        "issue: is required by pipeline: the story; save with --issue",
    ),
    (
        Layout::Pipeline,
        |entry, _| entry.agent = None,
        "agent: is required by pipeline: the worker, for resuming it; save with --agent",
    ),
    (
        Layout::Pipeline,
        |_, state| state["tasks_completed"] = Value::Null,
        "/tasksCompleted: is required by pipeline: tasks that are done; put it into the \
             document",
    ),
    (
        Layout::Pipeline,
        |_, state| state["last_action"] = json!(""),
        "/lastAction: is required by pipeline: what was done last, in words; put it into the \
             document",
    ),
    (
        Layout::Aiwg,
        |entry, _| entry.iteration = None,
        "iteration: is required by aiwg: the iteration of the loop, which names the file; \
             save with --iteration",
    ),
    (
        Layout::Aiwg,
        |entry, _| (entry.loop_id, entry.workflow_id) = (None, None),
        "workflow_id: is required by aiwg: the workflow; save with --workflow-id",
    ),
    (
        Layout::Aiwg,
        |entry, _| entry.created_at = Timestamp::from_micros(i64::MAX),
        "created_at: must be from the year 0 to 9999-12-31",
    ),
];

#[test]
fn what_a_system_requires_is_asked_for_by_name() {
    for (layout, change, problem) in MISSING {
        let (mut entry, mut state) = (entry(layout), state());
        change(&mut entry, &mut state);
        assert_eq!(refusal(layout, &entry, &state), [problem], "{layout}");
    }
}

#[test]
fn all_that_is_missing_is_told_at_once() {
    let mut entry = entry(Layout::Pipeline);
    (entry.issue, entry.phase, entry.agent) = (None, None, None);
    let fields: Vec<_> = file_as(Layout::Pipeline, &entry, &Document::Null)
        .unwrap_err()
        .into_iter()
        .map(|problem| problem.field)
        .collect();
    let expected = ["issue", "phase", "agent", "/lastAction"];
    assert_eq!(fields, expected);
}

/// The stages have rules of their own, which the type knows.
#[test]
fn what_a_stage_requires_is_found_in_the_document() {
    let mut entry = entry(Layout::Pipeline);
    entry.phase = Some("STAGE_3".to_owned());
    let state = json!({"tasksCompleted": ["a"], "lastAction": "gate"});
    let missing = ["/qualityScore: is required", "/verdict: is required"];
    assert_eq!(refusal(Layout::Pipeline, &entry, &state), missing);
    let state = json!({"tasksCompleted": ["a"], "lastAction": "gate", "quality_score": 92,
        "verdict": "PASS"});
    let file = file_as(Layout::Pipeline, &entry, &document(&state)).unwrap();
    assert_eq!(printed(&complaints(Layout::Pipeline, &file)), [""; 0]);
    assert_eq!(file.document.get("tasksRemaining"), Some(&Document::Array(Vec::new())));
    entry.phase = Some("lunch".to_owned());
    let rule = "phase: must be 0 to 3 or one of planning, validation, execution, quality_gate for \
                pipeline";
    assert_eq!(refusal(Layout::Pipeline, &entry, &state), [rule]);
}

#[test]
fn no_name_leads_elsewhere() {
    const RULE: &str = "must be able to name a file";
    let long = "a".repeat(300);
    for name in ["../x", "a/b", "/etc", "a\0b", "a\nb", ".hidden", "..", "a\\b", "c:x", &long] {
        let mut claude = entry(Layout::Claude);
        claude.workflow_type = Some(name.to_owned());
        assert_eq!(refusal(Layout::Claude, &claude, &state()), [format!("workflow_type: {RULE}")]);
        let mut claude = entry(Layout::Claude);
        claude.workflow_id = Some(name.to_owned());
        assert_eq!(refusal(Layout::Claude, &claude, &state()), [format!("workflow_id: {RULE}")]);
        let mut pipeline = entry(Layout::Pipeline);
        pipeline.issue = Some(Issue::new(name).unwrap());
        assert_eq!(refusal(Layout::Pipeline, &pipeline, &state()), [format!("issue: {RULE}")]);
        let mut aiwg = entry(Layout::Aiwg);
        (aiwg.loop_id, aiwg.workflow_id) = (None, Some(name.to_owned()));
        assert_eq!(refusal(Layout::Aiwg, &aiwg, &state()), [format!("workflow_id: {RULE}")]);
        let mut aiwg = entry(Layout::Aiwg);
        aiwg.loop_id = Some(LoopId::new(name).unwrap());
        let problem = refusal(Layout::Aiwg, &aiwg, &state()).remove(0);
        assert!(problem.starts_with("loop_id: must match ^ralph-"), "{problem}");
        let mut crunch = entry(Layout::Crunch);
        crunch.layout = Layout::Crunch;
        let state = json!({"checkpoint_id": name, "issue_number": 42});
        let problem = format!("/checkpoint_id: {RULE}");
        assert_eq!(refusal(Layout::Crunch, &crunch, &state), [problem]);
        let mut native = entry(Layout::Native);
        (native.series, native.id) = (Series::new(name).unwrap(), Id::new(name).unwrap());
        let path = file_as(Layout::Native, &native, &Document::Null).unwrap().path;
        assert_eq!(path.split('/').count(), 3, "{path}");
        assert!(is_tame(&path), "{path}");
    }
    let mut aiwg = entry(Layout::Aiwg);
    let id = format!("ralph-{long}-a1b2c3d4");
    aiwg.loop_id = Some(LoopId::new(id).unwrap());
    assert_eq!(refusal(Layout::Aiwg, &aiwg, &state()), [format!("loop_id: {RULE}")]);
}

/// The report shows the place that needs a change.
#[test]
fn what_is_wrong_in_the_document_is_named_by_its_place() {
    const RULE: &str = "must be able to name a file";
    let mut entry = entry(Layout::Native);
    (entry.issue, entry.phase, entry.workflow_id, entry.loop_id) = (None, None, None, None);
    for (layout, state, problem) in [
        (
            Layout::Pipeline,
            json!({"story_id": "../x", "stage": 1, "lastAction": "a"}),
            format!("/story_id: {RULE}"),
        ),
        (
            Layout::Claude,
            json!({"workflow_state": {"project_name": "a/b"}}),
            format!("/workflow_state/project_name: {RULE}"),
        ),
        (
            Layout::Aiwg,
            json!({"workflow_id": "a/b", "phase": "p"}),
            format!("/workflow_id: {RULE}"),
        ),
        (
            Layout::Agentize,
            json!({"issue_no": 1, "worktree": "/", "current_stage": "x"}),
            "/current_stage: must be one of impl, review, simp, pr, rebase, fatal, done for \
             agentize"
                .to_owned(),
        ),
    ] {
        assert_eq!(refusal(layout, &entry, &state), [problem]);
    }
}

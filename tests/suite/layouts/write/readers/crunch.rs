//! What crunch's own document says that resuming does, done with files that were made for it.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use waypost::layouts::{Standing, file_as, from_yaml, standing, to_yaml};
use waypost::{Entry, Layout};

use super::super::{document, entry, refusal, state};

/// A node as `restore_graph_state` leaves it: status, result, beginning and end.
type Node = (String, Value, Value, Value);

/// What resuming gives: the workflow's graph, and where to go on.
#[derive(Debug, PartialEq)]
struct Resumed {
    graph_id: String,
    nodes: BTreeMap<String, Node>,
    current_batch: Value,
    resume_point: String,
}

/// The file as any reader of YAML has it.
fn exported(entry: &Entry, state: &Value) -> Value {
    let file = file_as(Layout::Crunch, entry, &document(state)).unwrap();
    from_yaml(to_yaml(&file.document).unwrap().as_bytes()).unwrap()
}

/// A field that the code reads without asking whether it is there.
fn field<'a>(of: &'a Value, name: &str) -> Result<&'a Value, String> {
    of.get(name).ok_or_else(|| format!("no attribute {name}"))
}

fn truth(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false))
}

/// `resume_from_checkpoint`, with a `verify_prerequisites` that asks what the template has for it.
fn resumed(checkpoint: &Value) -> Result<Resumed, String> {
    let info = field(checkpoint, "recovery_info")?;
    if !truth(field(info, "can_resume")?) {
        return Err(format!("cannot resume: {}", field(info, "warnings")?));
    }
    if !truth(field(info, "prerequisites_met")?) {
        return Err("prerequisites are not met".to_owned());
    }
    field(checkpoint, "issue_number")?.as_u64().ok_or("no number")?;
    field(field(checkpoint, "workflow_state")?, "current_phase")?.as_str().ok_or("no phase")?;
    let graph = field(checkpoint, "execution_graph")?;
    Ok(Resumed {
        graph_id: field(graph, "graph_id")?.as_str().ok_or("no graph_id")?.to_owned(),
        nodes: nodes(field(graph, "node_states")?)?,
        current_batch: field(graph, "current_batch")?.clone(),
        resume_point: field(info, "resume_from")?.as_str().ok_or("no place")?.to_owned(),
    })
}

fn nodes(all: &Value) -> Result<BTreeMap<String, Node>, String> {
    let all = all.as_object().ok_or("node_states has no items()")?;
    let node = |(id, state): (&String, &Value)| {
        let get = |name: &str| state.get(name).cloned().unwrap_or_default();
        let status = field(state, "status")?.as_str().ok_or("no status")?.to_owned();
        Ok((id.clone(), (status, get("result"), get("started_at"), get("completed_at"))))
    };
    all.iter().map(node).collect()
}

/// `validate_checkpoint_freshness`.
fn action(checkpoint: &Value, issue: &Value, branches: &[&str]) -> Result<&'static str, String> {
    let snapshot = field(checkpoint, "issue_snapshot")?;
    if field(issue, "labels")? != field(snapshot, "labels")? {
        return Ok("proceed_with_warning");
    }
    if field(issue, "body")? != field(snapshot, "body")? {
        return Ok("prompt_user");
    }
    let branch = field(snapshot, "branch")?.as_str();
    let is_there = branch.is_some_and(|branch| branches.contains(&branch));
    Ok(if is_there { "resume" } else { "start_fresh" })
}

fn about() -> Entry {
    entry(Layout::Crunch)
}

#[test]
fn the_code_of_the_template_resumes_from_any_checkpoint() {
    let found = exported(&about(), &json!({"step": 3}));
    let expected = Resumed {
        graph_id: "GRAPH-20260202-911faba7321fe1a0".to_owned(),
        nodes: BTreeMap::new(),
        current_batch: Value::Null,
        resume_point: "batch_3_task_1".to_owned(),
    };
    assert_eq!(resumed(&found), Ok(expected));
    // What is not known is no reason to go on without a word.
    for labels in [json!([]), json!(["state:docs"])] {
        let issue = json!({"labels": labels, "body": ""});
        assert_eq!(action(&found, &issue, &[]), Ok("proceed_with_warning"));
    }
    // Nor does our own check compare it with anything.
    let snapshot = told(&found).snapshot;
    assert_eq!((snapshot.body, snapshot.labels, snapshot.branch), (None, None, None));
}

#[test]
fn an_issue_is_lifted_from_where_documents_have_it() {
    let tracker = json!({"title": "Refresh tokens", "body": "", "branch": "feature/42",
        "labels": [{"id": "LA_1", "name": "state:docs", "color": "f00"}, "type:feature"],
        "assignees": [{"login": "ada", "id": "U_1"}]});
    let mut own = json!({"issue_snapshot": tracker.clone()});
    own["issue_snapshot"]["milestone"] = json!("v2");
    for state in [own, json!({"issue": tracker.clone()}), tracker] {
        let found = exported(&about(), &state);
        let snapshot = &found["issue_snapshot"];
        assert_eq!(snapshot["title"], "Refresh tokens");
        assert_eq!(snapshot["labels"], json!(["state:docs", "type:feature"]));
        assert_eq!(snapshot["assignees"], json!(["ada"]));
        let more = state.get("issue_snapshot").map(|_| json!("v2"));
        assert_eq!(snapshot.get("milestone"), more.as_ref());
        let issue = |labels: Value, body: &str| json!({"labels": labels, "body": body});
        let same = issue(json!(["state:docs", "type:feature"]), "");
        assert_eq!(action(&found, &same, &["feature/42"]), Ok("resume"));
        assert_eq!(action(&found, &same, &[]), Ok("start_fresh"));
        let other = issue(json!(["state:docs", "type:feature"]), "more");
        assert_eq!(action(&found, &other, &[]), Ok("prompt_user"));
    }
    // Labels of another kind, as others have them, are not the issue's.
    let found = exported(&about(), &json!({"labels": {"app": "web"}, "branch": 7}));
    assert_eq!(found["issue_snapshot"]["labels"], Value::Null);
    let wrong = json!({"issue_snapshot": {"labels": "bug"}});
    let rule = "/issue_snapshot/labels: must be a list of names";
    assert_eq!(refusal(Layout::Crunch, &about(), &wrong), [rule]);
}

#[test]
fn a_graph_is_restored_with_its_nodes() {
    let nodes = json!({
        "spec": {"status": "complete", "result": {"ok": true}, "started_at": "a",
            "completed_at": "b", "agent": "x"},
        "code": "running",
    });
    let graph = json!({"graph_id": "GRAPH-20250114-a3f2", "completed_batches": [1],
        "current_batch": 2, "node_states": nodes});
    let named = json!({"execution_graph": graph.clone()});
    for state in [named, json!({"graph_state": graph.clone()}), graph] {
        let found = exported(&about(), &state);
        assert_eq!(found["execution_graph"]["completed_batches"], json!([1]));
        let found = resumed(&found).unwrap();
        assert_eq!(
            (found.graph_id.as_str(), &found.current_batch),
            ("GRAPH-20250114-a3f2", &json!(2))
        );
        let text = |text: &str| json!(text);
        let spec = ("complete".to_owned(), json!({"ok": true}), text("a"), text("b"));
        assert_eq!(found.nodes["spec"], spec);
        assert_eq!(found.nodes["code"].0, "running");
    }
}

#[test]
fn tasks_that_are_done_and_remain_are_nodes() {
    let found = exported(&about(), &state());
    let status = |node: &Node| node.0.clone();
    let nodes = resumed(&found).unwrap().nodes;
    let found: Vec<_> = nodes.iter().map(|(id, node)| (id.as_str(), status(node))).collect();
    assert_eq!(found, [("a", "complete".to_owned()), ("b", "pending".to_owned())]);
    let twice = json!({"tasks_done": [{"id": "T-1"}, "T-1", 2], "todo": []});
    let nodes = resumed(&exported(&about(), &twice)).unwrap().nodes;
    assert_eq!(nodes.keys().collect::<Vec<_>>(), ["2", "T-1"]);
    for (state, problem) in [
        (
            json!({"tasks_done": ["a"], "todo": ["a"]}),
            "/node_states: cannot be made of lists that have a task both as done and as not done",
        ),
        (json!({"tasks_done": [[]]}), "/tasks_done: must be a list of names"),
        (
            json!({"node_states": {"a/b": {"result": 1}}}),
            "/node_states/a~1b/status: is required by crunch: where the task stands; put it into \
             the document",
        ),
        (
            json!({"node_states": {"a": "lunch"}}),
            "/execution_graph/node_states/a/status: must be one of pending, queued, running, \
             complete, failed, skipped",
        ),
    ] {
        assert_eq!(refusal(Layout::Crunch, &about(), &state), [problem]);
    }
}

#[test]
fn what_is_known_of_resuming_is_where_the_algorithm_looks() {
    let mut less = about();
    (less.can_resume, less.resume_from) = (None, None);
    less.warnings.clear();
    let found = exported(&less, &json!({"resume_from": "batch_2", "warnings": ["flaky"]}));
    assert_eq!(resumed(&found).unwrap().resume_point, "batch_2");
    assert_eq!(found["recovery_info"]["warnings"], json!(["flaky"]));

    let unmet = json!({"resume_from": "x", "unmet_prerequisites": ["database"]});
    let found = exported(&less, &unmet);
    assert_eq!(resumed(&found), Err("prerequisites are not met".to_owned()));
    assert_eq!(told(&found).unmet_prerequisites.unwrap(), ["database"]);

    less.can_resume = Some(false);
    less.warnings = vec!["branch gone".to_owned()];
    let found = exported(&less, &json!({}));
    assert_eq!(resumed(&found), Err("cannot resume: [\"branch gone\"]".to_owned()));
}

/// Resuming does not need them, but the resumed agent reads them there.
#[test]
fn what_else_the_template_has_is_lifted_if_it_has_that_shape() {
    let state = json!({
        "session_id": "s-2",
        "workflow_state": {"current_state_label": "state:docs",
            "phase_started_at": "2026-02-02T20:00:00Z"},
        "team_state": {"team_id": "T", "members": [{"agent": "a", "tasks_completed": 2}]},
        "acp_state": {"pending_messages": ["MSG-1"]},
        "knowledge_context": {"captured_entries": ["KE-1"]},
        "agent_outputs": "none",
        "files_modified": ["src/a.rs", {"path": "src/b.rs", "status": "modified", "staged": true}],
    });
    let mut about = about();
    about.session_id = None;
    let found = exported(&about, &state);
    for field in ["session_id", "team_state", "acp_state", "knowledge_context"] {
        assert_eq!(found[field], state[field], "{field}");
    }
    assert_eq!(found["workflow_state"]["current_state_label"], "state:docs");
    assert_eq!(found["files_modified"][0], json!({"path": "src/a.rs"}));
    assert_eq!(found["files_modified"][1], state["files_modified"][1]);
    assert_eq!((found.get("agent_outputs"), &found["document"]), (None, &state));
}

fn told(checkpoint: &Value) -> Standing {
    let mut entry = about();
    entry.layout = Layout::Crunch;
    standing(&entry, &document(checkpoint))
}

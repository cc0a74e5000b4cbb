//! claude-crunch: the execution graph, restored.

use serde_json::{Value, json};
use waypost::Layout;
use waypost::layouts::Graph;

use super::of;

fn graph(graph: &Value) -> Graph {
    of(Layout::Crunch, &json!({"execution_graph": graph})).graph.unwrap()
}

/// `3: a b; 4: c`, and what is blocked after `!`.
fn plan(graph: &Graph) -> String {
    let batches = graph.batches.iter();
    let batches: Vec<String> =
        batches.map(|it| format!("{}: {}", it.number, it.tasks.join(" "))).collect();
    format!("{} !{}", batches.join("; "), graph.blocked.join(" "))
}

#[test]
fn nodes_keep_their_status_result_and_times() {
    let told = graph(&json!({
        "graph_id": "GRAPH-20250114-a3f2",
        "completed_batches": [1, 2],
        "current_batch": 3,
        "node_states": {
            "a": {"status": "complete", "result": {"score": 0.10}, "started_at": "10:00",
                  "completed_at": "2025-01-14T10:05:00Z"},
            "b": {"status": "running", "started_at": 1_736_848_800},
            "c": "pending",
            "d": 3,
        },
    }));
    assert_eq!(told.id.as_deref(), Some("GRAPH-20250114-a3f2"));
    assert_eq!((told.current_batch.as_deref(), told.completed_batches.len()), (Some("3"), 2));
    let nodes = serde_json::to_value(&told.nodes).unwrap();
    assert_eq!(
        nodes,
        json!([
            {"id": "a", "status": "complete", "result": {"score": 0.10}, "started_at": "10:00",
             "completed_at": "2025-01-14T10:05:00Z"},
            {"id": "b", "status": "running", "result": null, "started_at": "1736848800",
             "completed_at": null},
            {"id": "c", "status": "pending", "result": null, "started_at": null,
             "completed_at": null},
            {"id": "d", "status": null, "result": null, "started_at": null,
             "completed_at": null},
        ])
    );
    assert!(!told.has_dependencies);
    assert_eq!(plan(&told), "3: b c d !");
}

/// Whatever the spelling: in the states, in a list of nodes, or as edges.
#[test]
fn batches_are_made_anew_from_what_is_pending() {
    let states = json!({"spec": "complete", "code": "running", "tests": "pending",
        "review": "pending", "docs": "queued"});
    let edges = json!([{"from": "spec", "to": "code"}, {"source": "spec", "target": "tests"},
        {"from": "code", "to": "review"}, {"from": "tests", "to": "review"}]);
    let nodes = json!([
        {"id": "spec", "status": "pending", "dependencies": []},
        {"id": "code", "status": "pending", "dependencies": ["spec"]},
        {"id": "tests", "depends_on": "spec"},
        {"node_id": "review", "deps": [{"id": "code"}, "tests"]},
        {"id": "docs"},
    ]);
    for graphed in [
        json!({"current_batch": 3, "node_states": states, "edges": edges}),
        json!({"current_batch": "3", "node_states": states, "nodes": nodes}),
        json!({"completed_batches": [1, 2], "node_states": states, "nodes": nodes}),
        // The current one is done already.
        json!({"completed_batches": [1, 2], "current_batch": 2, "node_states": states,
            "nodes": nodes}),
    ] {
        let told = graph(&graphed);
        assert_eq!(plan(&told), "3: code docs tests; 4: review !", "{graphed}");
        assert!(told.has_dependencies && told.nodes.len() == 5);
    }
}

#[test]
fn without_dependencies_batches_stay_as_the_document_has_them() {
    let states = json!({"a": "complete", "b": "pending", "c": "pending", "d": "pending",
        "e": "failed", "f": "skipped"});
    for batches in [
        json!([{"batch_id": 1, "tasks": ["a"]}, {"tasks": ["c", "e"]}, {"tasks": ["b", "c", "x"]}]),
        json!([["a", "f"], ["c"], ["b"]]),
    ] {
        let told = graph(&json!({"node_states": states, "batches": batches}));
        assert_eq!(plan(&told), "1: c; 2: b; 3: d !");
    }
    let numbered = json!({"b": {"batch": 4}, "c": {"batch": "3"}, "d": {"batch": 4}});
    let told = graph(&json!({"current_batch": 3, "node_states": numbered}));
    assert_eq!(plan(&told), "3: c; 4: b d !");
}

#[test]
fn what_waits_for_a_failure_a_cycle_or_nothing_known_is_blocked() {
    let told = graph(&json!({"node_states": {
        "failed": {"status": "failed", "dependencies": []},
        "skipped": {"status": "Skipped", "dependencies": ["failed"]},
        "after": {"status": "pending", "dependencies": ["failed"]},
        "later": {"status": "pending", "dependencies": ["after"]},
        "lost": {"status": "pending", "dependencies": ["nowhere"]},
        "one": {"status": "pending", "dependencies": ["two"]},
        "two": {"status": "pending", "dependencies": ["one", "free"]},
        "self": {"status": "pending", "dependencies": ["self"]},
        "free": {"status": "pending", "dependencies": []},
    }}));
    assert_eq!(plan(&told), "1: free !after later lost one self two");
}

#[test]
fn no_shape_of_a_graph_is_too_odd() {
    for odd in [
        json!({"node_states": [], "edges": [1, {"from": 1}], "batches": [1, null, {"tasks": 3}]}),
        json!({"node_states": 3, "nodes": "x", "edges": {}, "current_batch": {}}),
        json!({"node_states": {"": {}, "a": null}, "nodes": [null, [], {"id": ""}],
            "current_batch": u64::MAX, "completed_batches": [u64::MAX, -1, "x", {}]}),
    ] {
        graph(&odd);
    }
    for odd in [json!(3), json!("x"), json!([1])] {
        assert_eq!(of(Layout::Crunch, &json!({"execution_graph": odd})).graph, None);
    }
    let many: serde_json::Map<String, Value> = (0..12_000)
        .map(|it| (it.to_string(), json!({"status": "pending", "dependencies": [it - 1]})))
        .collect();
    let told = of(Layout::Crunch, &json!({"execution_graph": {"node_states": many}}));
    assert_eq!(told.graph.unwrap().nodes.len(), 10_000);
    assert_eq!(told.progress.unwrap().total, Some(12_000));
}

//! claude-crunch: messages between agents, and the knowledge base.

use serde_json::{Value, json};
use waypost::Layout;

use super::{of, value};

const NONE: [&str; 0] = [];

#[test]
fn the_template_has_messages_conflicts_and_entries() {
    let told = of(Layout::Crunch, &value("crunch/CP-template.yaml"));
    let messages = told.messages.unwrap();
    assert_eq!((messages.pending, messages.awaiting), (texts("MSG-ids"), texts("MSG-ids")));
    assert_eq!(messages.conflicts, ["CONF-ids"]);
    let knowledge = told.knowledge.unwrap();
    assert_eq!((knowledge.injected, knowledge.captured), (texts("KE-ids"), texts("KE-ids")));
    assert_eq!(knowledge.to_capture, NONE);
}

fn texts(it: &str) -> Vec<String> {
    vec![it.to_owned()]
}

/// A list of ids, of objects that have one, an object by id, or a single one.
#[test]
fn ids_are_found_in_any_shape() {
    for pending in [
        json!(["MSG-1", "MSG-2", "MSG-1", "", null]),
        json!([{"message_id": "MSG-1", "to": "qa"}, {"id": "MSG-2"}]),
        json!({"MSG-1": {"to": "qa"}, "MSG-2": {}}),
    ] {
        let told = of(Layout::Crunch, &json!({"acp_state": {"pending_messages": pending}}));
        assert_eq!(told.messages.unwrap().pending, ["MSG-1", "MSG-2"], "{pending}");
    }
    let one = json!({"acpState": {"awaitingResponse": "MSG-3", "conflicts": "none"}});
    let told = of(Layout::Crunch, &one).messages.unwrap();
    assert_eq!((told.awaiting, told.conflicts.len()), (texts("MSG-3"), 0));
}

#[test]
fn what_was_captured_is_not_to_be_captured_again() {
    let context = json!({"captured_entries": ["KE-1", {"entry_id": "KE-2"}],
        "pending_captures": ["KE-2", {"title": "how tokens expire"}, "KE-1"]});
    let told = of(Layout::Crunch, &json!({"knowledge_context": context})).knowledge.unwrap();
    assert_eq!(told.captured, ["KE-1", "KE-2"]);
    assert_eq!(told.to_capture, ["how tokens expire"]);
}

#[test]
fn a_part_of_a_wrong_type_tells_nothing() {
    let odd = |it: Value| of(Layout::Crunch, &json!({"acp_state": it, "knowledge_context": it}));
    for it in [json!(null), json!([1]), json!("x"), json!(3)] {
        let told = odd(it);
        assert_eq!((told.messages, told.knowledge), (None, None));
    }
    let told = odd(json!({"pending_messages": 3.5, "captured_entries": [[], {}, false]}));
    assert_eq!(told.knowledge.unwrap().captured, NONE);
}

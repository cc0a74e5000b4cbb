//! The variables and agent state of a document, for the agent that continues the work.

use serde::Serialize;

use super::reading::at;
use crate::checkpoint::{Document, Layout};

/// The variables and the state of the agent that a document carries.
///
/// ```
/// use waypost::layouts::carried;
/// use waypost::{Document, Layout};
///
/// # fn main() -> waypost::Result<()> {
/// let document = Document::from_json(br#"{"state": {"variables": {"port": 8080}}}"#)?;
/// let carried = carried(Layout::Aiwg, &document);
/// assert_eq!(carried.variables.unwrap().get("port"), Some(&Document::Uint(8080)));
/// assert_eq!(carried.agent_state, None);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Carried {
    /// Variables and context of the workflow.
    pub variables: Option<Document>,
    /// The agent, its memory and its next action.
    pub agent_state: Option<Document>,
}

/// Returns the variables and agent state of a document of `layout`.
#[must_use]
pub fn carried(layout: Layout, document: &Document) -> Carried {
    let (variables, agent_state) = match layout {
        Layout::Aiwg => ("state.variables", "state.agent_state"),
        Layout::Crunch => ("workflow_state", "team_state"),
        Layout::Claude => ("workflow_state", "agent_state"),
        Layout::Native | Layout::Agentize | Layout::Pipeline => ("variables", "agent_state"),
    };
    let found = |field| at(document, field).cloned();
    Carried { variables: found(variables), agent_state: found(agent_state) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_system_has_its_own_places() {
        let document = |json: &str| Document::from_json(json.as_bytes()).unwrap();
        let aiwg = document(
            r#"{"state": {"variables": {"x": 1}, "agent_state": {"current_agent": "b"}}}"#,
        );
        let found = carried(Layout::Aiwg, &aiwg);
        assert_eq!(found.variables, Some(document(r#"{"x": 1}"#)));
        assert_eq!(found.agent_state, Some(document(r#"{"current_agent": "b"}"#)));
        assert_eq!(carried(Layout::Native, &aiwg), Carried::default());
        let crunch = document(r#"{"team_state": {"team_id": "t"}, "workflow_state": null}"#);
        let found = carried(Layout::Crunch, &crunch);
        assert_eq!(found.variables, None, "null is nothing");
        assert_eq!(found.agent_state, Some(document(r#"{"team_id": "t"}"#)));
    }
}

//! What a document says that can be restored or compared. Pure: it gets the document and no more.

use waypost::{Document, Layout};

/// A file that a document names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) path: String,
    /// As the document has it.
    pub(super) hash: Option<String>,
    pub(super) is_deleted: bool,
}

/// What a document says that can be restored or compared.
#[derive(Debug, Default)]
pub(super) struct Restorable {
    pub(super) artifacts: Vec<Named>,
    pub(super) variables: Option<Document>,
    pub(super) agent_state: Option<Document>,
}

impl Restorable {
    /// Looks where the system of this layout keeps things; what is missing there is not there.
    pub(super) fn of(document: &Document, layout: Layout) -> Self {
        let at = |path: &[&str]| find(document, path).cloned();
        let files = |path: &[&str]| named(find(document, path));
        match layout {
            Layout::Aiwg => Self {
                artifacts: files(&["state", "artifacts"]),
                variables: at(&["state", "variables"]),
                agent_state: at(&["state", "agent_state"]),
            },
            Layout::Crunch => Self {
                artifacts: files(&["files_modified"]),
                variables: at(&["workflow_state"]),
                agent_state: at(&["team_state"]),
            },
            Layout::Claude => Self {
                artifacts: files(&["artifacts"]),
                variables: at(&["workflow_state"]),
                agent_state: at(&["agent_state"]),
            },
            Layout::Native | Layout::Agentize | Layout::Pipeline => Self {
                artifacts: files(&["artifacts"]),
                variables: at(&["variables"]),
                agent_state: at(&["agent_state"]),
            },
        }
    }
}

fn find<'a>(document: &'a Document, path: &[&str]) -> Option<&'a Document> {
    let found = path.iter().try_fold(document, |at, key| at.get(key))?;
    Some(found).filter(|found| **found != Document::Null)
}

/// Files of a list: objects with a path, or paths alone.
fn named(list: Option<&Document>) -> Vec<Named> {
    let Some(Document::Array(items)) = list else { return Vec::new() };
    let text = |it: &Document| match it {
        Document::Text(text) => Some(text.clone()),
        _ => None,
    };
    let file = |it: &Document| {
        let path = text(it).or_else(|| it.get("path").and_then(text))?;
        let hash = it.get("hash").or_else(|| it.get("sha256")).and_then(text);
        let is_deleted = it.get("status").and_then(text).is_some_and(|it| it == "deleted");
        Some(Named { path, hash, is_deleted })
    };
    items.iter().filter_map(file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(json: &str) -> Document {
        Document::from_json(json.as_bytes()).unwrap()
    }

    #[test]
    fn each_system_has_its_own_places() {
        let aiwg = document(
            r#"{"state": {"artifacts": [{"path": "a", "hash": "ff", "status": "deleted"}],
                "variables": {"x": 1}, "agent_state": {"current_agent": "b"}}}"#,
        );
        let found = Restorable::of(&aiwg, Layout::Aiwg);
        let named = Named { path: "a".into(), hash: Some("ff".into()), is_deleted: true };
        assert_eq!(found.artifacts, [named]);
        assert_eq!(found.variables, Some(document(r#"{"x": 1}"#)));
        assert_eq!(found.agent_state, Some(document(r#"{"current_agent": "b"}"#)));
        assert_eq!(Restorable::of(&aiwg, Layout::Native).variables, None);

        let crunch = document(
            r#"{"files_modified": [{"path": "a", "status": "modified"}, "b"],
                "team_state": {"team_id": "t"}, "workflow_state": null}"#,
        );
        let found = Restorable::of(&crunch, Layout::Crunch);
        let paths: Vec<&str> = found.artifacts.iter().map(|it| it.path.as_str()).collect();
        assert_eq!(paths, ["a", "b"]);
        assert_eq!(found.variables, None, "null is nothing");
        assert!(found.agent_state.is_some());
    }

    #[test]
    fn what_is_of_another_shape_names_nothing() {
        for json in ["1", "[]", r#"{"artifacts": 1}"#, r#"{"artifacts": [1, {"path": 2}, []]}"#] {
            for layout in Layout::ALL {
                assert_eq!(Restorable::of(&document(json), layout).artifacts, [], "{json}");
            }
        }
    }
}

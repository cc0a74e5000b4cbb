//! The tasks of a workflow as a graph, in the words that layouts share.

use serde::Serialize;

use crate::checkpoint::Document;

/// A graph of tasks, restored as its system does it: statuses as saved, batches planned again.
///
/// ```
/// use waypost::layouts::standing;
/// use waypost::{Document, Layout, NewEntry, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let document = Document::from_json(br#"{"execution_graph": {"nodes": [
///     {"id": "plan", "status": "complete"},
///     {"id": "code", "status": "pending", "dependencies": ["plan"]},
///     {"id": "test", "status": "pending", "dependencies": ["code"]}]}}"#)?;
/// let about = NewEntry { layout: Layout::Crunch, ..NewEntry::default() };
/// let graph = standing(&store.save(about, &document)?, &document).graph.expect("it has one");
/// assert_eq!(graph.nodes[0].status.as_deref(), Some("complete"));
/// assert_eq!((graph.batches[0].tasks[0].as_str(), graph.batches.len()), ("code", 2));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Graph {
    /// The id of the graph.
    pub id: Option<String>,
    /// The tasks, in the order of the document.
    pub nodes: Vec<GraphNode>,
    /// Batches that are done, as they are written.
    pub completed_batches: Vec<String>,
    /// The batch that the work goes on with, as it is written.
    pub current_batch: Option<String>,
    /// Batches of the tasks that are neither done nor failed nor skipped. A batch waits for the one
    /// before it; the first has the number of the current batch.
    pub batches: Vec<Batch>,
    /// Tasks that are pending but in no batch: they depend on a task that failed, was skipped, is
    /// not in the graph, or depends on them.
    pub blocked: Vec<String>,
    /// Whether the document says which task depends on which. Otherwise batches are as it has them,
    /// or a single one.
    pub has_dependencies: bool,
}

/// A task of a graph.
///
/// See [`Graph`] for an example.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GraphNode {
    /// Its id.
    pub id: String,
    /// Its status, as it is written.
    pub status: Option<String>,
    /// Its result, as it is written.
    pub result: Option<Document>,
    /// When it began, as it is written.
    pub started_at: Option<String>,
    /// When it ended, as it is written.
    pub completed_at: Option<String>,
}

/// Tasks that can run at the same time.
///
/// See [`Graph`] for an example.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Batch {
    /// Its number.
    pub number: u64,
    /// The ids of its tasks.
    pub tasks: Vec<String>,
}

//! What a team of agents shares: its messages, and what it knows.

use serde::Serialize;

/// Messages between agents that were under way when a checkpoint was saved, by id.
///
/// ```
/// use waypost::layouts::standing;
/// use waypost::{Document, Layout, NewEntry, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let document = Document::from_json(br#"{"acp_state": {"pending_messages": ["m1"]}}"#)?;
/// let about = NewEntry { layout: Layout::Crunch, ..NewEntry::default() };
/// let standing = standing(&store.save(about, &document)?, &document);
/// assert_eq!(standing.messages.unwrap().pending, ["m1"]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Messages {
    /// Those that were not delivered, and are to be sent again.
    pub pending: Vec<String>,
    /// Those whose answer is awaited.
    pub awaiting: Vec<String>,
    /// Conflicts that are being resolved.
    pub conflicts: Vec<String>,
}

/// What was taken from and put into a knowledge base, by id.
///
/// ```
/// use waypost::layouts::standing;
/// use waypost::{Document, Layout, NewEntry, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let document = Document::from_json(br#"{"knowledge_context": {"injected": ["k1"]}}"#)?;
/// let about = NewEntry { layout: Layout::Crunch, ..NewEntry::default() };
/// let standing = standing(&store.save(about, &document)?, &document);
/// assert_eq!(standing.knowledge.unwrap().injected, ["k1"]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Knowledge {
    /// Entries that were injected into the work.
    pub injected: Vec<String>,
    /// Entries that were captured from the work, and are not to be captured again.
    pub captured: Vec<String>,
    /// What is still to be captured. What was captured since is left out.
    pub to_capture: Vec<String>,
}

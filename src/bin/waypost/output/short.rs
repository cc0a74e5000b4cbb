//! The shortest unique prefixes of ids.

use waypost::{Entry, Id, Store};

/// How many characters of the ids of entries are shown.
pub(crate) fn id_length<'a>(
    store: &Store,
    entries: impl IntoIterator<Item = &'a Entry>,
) -> waypost::Result<usize> {
    let ids: Vec<&Id> = entries.into_iter().map(|entry| &entry.id).collect();
    store.short_length(&ids)
}

//! Documents in the form that a store compresses.

use anyhow::Result;
use waypost::{Document, Issue, NewEntry, Options, Store};

/// Saves documents into a store that is thrown away, and reads back their raw bytes.
pub(crate) fn stored_forms(documents: &[Document]) -> Result<Vec<Vec<u8>>> {
    let dir = tempfile::tempdir()?;
    let store = Store::open_with(dir.path().join("store.redb"), Options::default())?;
    let mut drafts = Vec::new();
    for (number, document) in documents.iter().enumerate() {
        // Series of their own, so that no time is spent on finding differences.
        let about =
            NewEntry { issue: Some(Issue::new(number.to_string())?), ..NewEntry::default() };
        drafts.push(store.draft(about, document)?);
    }
    let mut forms = Vec::new();
    for entry in store.batch(drafts)? {
        forms.push(store.get(&entry?.id)?.stored_form().to_owned());
    }
    Ok(forms)
}

//! Tells a broken file of a followed tree from one that is just being written.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::sync::lock;

/// The broken files of a pass and of the one before, by their texts.
///
/// A file with the same bytes in both is not being written: then the bytes are kept.
#[derive(Debug, Default)]
pub(super) struct Unsettled {
    before: HashMap<String, u64>,
    now: Mutex<HashMap<String, u64>>,
}

impl Unsettled {
    /// True if the file had the same text in the pass before.
    pub(super) fn is_settled(&self, place: &str, fingerprint: u64) -> bool {
        lock(&self.now).insert(place.to_owned(), fingerprint);
        self.before.get(place) == Some(&fingerprint)
    }

    /// Ends a pass.
    pub(super) fn end(&mut self) {
        self.before = std::mem::take(&mut *lock(&self.now));
    }
}

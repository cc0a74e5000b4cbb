//! An iterator over all entries of a query, which holds a snapshot only while it reads a page.

use super::{PAGE, Query};
use crate::checkpoint::Entry;
use crate::error::Result;
use crate::store::Store;

pub(super) struct Entries<'a> {
    store: &'a Store,
    query: Query,
    left: Option<usize>,
    page: std::vec::IntoIter<Entry>,
    is_last: bool,
}

impl<'a> Entries<'a> {
    pub(super) fn new(store: &'a Store, query: Query) -> Self {
        Self { store, left: query.limit, query, page: Vec::new().into_iter(), is_last: false }
    }
}

impl Iterator for Entries<'_> {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Result<Entry>> {
        if let Some(entry) = self.page.next() {
            return Some(Ok(entry));
        }
        if self.is_last {
            return None;
        }
        let size = self.left.map_or(PAGE, |left| left.min(PAGE));
        self.query.limit = Some(size);
        match self.store.list(&self.query) {
            Ok(page) => {
                self.left = self.left.map(|left| left - page.entries.len());
                self.is_last = page.next.is_none() || self.left == Some(0);
                self.query.after = page.next;
                self.page = page.entries.into_iter();
                self.page.next().map(Ok)
            }
            Err(error) => {
                self.is_last = true;
                Some(Err(error))
            }
        }
    }
}

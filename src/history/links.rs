//! The graph of a time line: which earlier row each row continues.

use std::collections::HashMap;

use super::row::{Origin, Row};

/// What a row continues in the graph of a time line.
///
/// ```
/// use waypost::history::{Link, Timeline, links};
/// use waypost::{NewEntry, Query, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// for number in 0..2 {
///     store.save(NewEntry::issue("42")?, &number)?;
/// }
/// let entries = store.list(&Query::default())?.entries;
/// let rows: Vec<_> = Timeline::new(&store, entries).collect::<Result<_, _>>()?;
/// assert_eq!(links(&rows), [Link::Row(1), Link::Nothing]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// Nothing: the first of its series.
    Nothing,
    /// The row with this index, which comes later in the list.
    Row(usize),
    /// A checkpoint that is not among the rows.
    Hidden,
}

/// Returns what each row continues: the next row of its series, else the row it was forked from.
///
/// Rows are in the order of a [`Timeline`](super::Timeline), the newest first.
#[must_use]
pub fn links(rows: &[Row]) -> Vec<Link> {
    let mut by_series = HashMap::new();
    let mut by_id = HashMap::new();
    let mut links = Vec::with_capacity(rows.len());
    // From the oldest on, so that the maps have only older rows.
    for (at, Row { entry, origin, has_before, .. }) in rows.iter().enumerate().rev() {
        let next = by_series.insert(&entry.series, at);
        let parent = || entry.parent.as_ref().and_then(|id| by_id.get(id).copied());
        let is_hidden = *has_before || matches!(origin, Some(Origin::Fork(_)));
        links.push(match next.or_else(parent) {
            Some(row) => Link::Row(row),
            None if is_hidden => Link::Hidden,
            None => Link::Nothing,
        });
        by_id.insert(&entry.id, at);
    }
    links.reverse();
    links
}

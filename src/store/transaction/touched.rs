//! What a transaction added, as far as it tells which rule governs it.

use crate::checkpoint::{Entry, Layout, Series, Status, Trigger};

/// What tells which rule governs a checkpoint that was added.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::store) struct Touched {
    pub(in crate::store) series: Series,
    pub(in crate::store) trigger: Trigger,
    pub(in crate::store) status: Status,
    pub(in crate::store) layout: Layout,
}

impl Touched {
    pub(in crate::store) fn by(entry: &Entry) -> Self {
        Self {
            series: entry.series.clone(),
            trigger: entry.trigger.clone(),
            status: entry.status,
            layout: entry.layout,
        }
    }
}

//! What a transaction added, as far as rules depend on it.

use crate::checkpoint::{Entry, Layout, Series, Status, Trigger};

/// The facts that decide which rule governs an added checkpoint.
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

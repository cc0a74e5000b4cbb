//! Imports again and again what appears and changes in trees.

use std::ops::ControlFlow;

use super::failure::Unfinished;
use super::sources::Sources;
use super::stamps::Stamps;
use super::tally::{Refusals, Tally};
use super::unsettled::Unsettled;
use super::{ImportEvent, ImportOptions, Imported};
use crate::store::Store;

/// Imports trees in passes. Each pass reads only files that are new or changed since the last one,
/// and reports a refusal once. The bytes of a broken file are kept once it is the same in two
/// passes: until then its writer may not be done.
///
/// ```
/// use std::ops::ControlFlow;
/// use waypost::Store;
/// use waypost::transfer::import::{Follow, ImportOptions, Sources};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let project = dir.path();
/// let store = Store::open(project.join("store.redb"))?;
/// let mut sources = Sources::new(store.path(), Default::default());
/// sources.add(project)?;
/// let mut follow = Follow::new(sources, ImportOptions::default());
/// assert!(follow.pass(&store, &mut |_| ControlFlow::Continue(()))?.is_empty());
/// std::fs::create_dir(project.join(".pipeline"))?;
/// std::fs::write(project.join(".pipeline/checkpoint-A-1.json"), "{")?;
/// let pass = follow.pass(&store, &mut |_| ControlFlow::Continue(()))?;
/// assert_eq!(pass.refusals.len(), 1);
/// assert!(follow.pass(&store, &mut |_| ControlFlow::Continue(()))?.is_empty());
/// # Ok(())
/// # }
/// ```
pub struct Follow {
    sources: Sources,
    options: ImportOptions,
    stamps: Stamps,
    reported: Refusals,
}

impl Follow {
    /// Follows the trees of `sources`. Its lines are not read.
    #[must_use]
    pub fn new(mut sources: Sources, options: ImportOptions) -> Self {
        sources.unsettled = Some(Unsettled::default());
        let (stamps, reported) = (Stamps::default(), Refusals::default());
        Self { sources, options, stamps, reported }
    }

    /// Imports what is new since the last pass. After a failure, or if `watch` stopped it, the
    /// next pass reads the same files again.
    ///
    /// # Errors
    /// [`Unfinished`], with the report up to there.
    pub fn pass(
        &mut self,
        store: &Store,
        watch: &mut dyn FnMut(ImportEvent<'_>) -> ControlFlow<()>,
    ) -> Result<Imported, Unfinished> {
        let mut tally = Tally::new(watch);
        tally.reported = Some(std::mem::take(&mut self.reported));
        let stamps = &mut self.stamps;
        let mut wants = |found: &_| stamps.is_new(found);
        let ended = self.sources.run(Some(store), &self.options, &mut tally, &mut wants);
        let is_done = ended.is_ok();
        let ended = self.sources.log(store, &self.options, &tally, ended);
        if is_done && ended.is_ok() {
            self.stamps.end(&tally.unread);
        } else {
            self.stamps.forget();
        }
        if let Some(unsettled) = &mut self.sources.unsettled {
            unsettled.end();
        }
        self.reported = tally.reported.take().unwrap_or_default();
        tally.finish(ended)
    }
}

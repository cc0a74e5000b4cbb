//! Steps that do not change checkpoints: settings, closing, compacting, and rekeying.

use std::ops::ControlFlow;
use std::path::Path;

use super::super::keys;
use super::super::model::{Model, RING_KEPT, ring};
use super::{Attempt, JOURNAL, Workload, attempted};
use crate::codec::KeyId;
use crate::retention::{Policy, Rule};
use crate::store::Settings;

impl Workload {
    /// Sets what is pruned on save; other settings stay.
    pub(super) fn set_ring(&mut self) -> Attempt {
        let keep_last = u32::try_from(RING_KEPT).ok();
        let rule = Rule { triggers: vec![ring()], keep_last, ..Rule::default() };
        let policy = Some(Policy { rules: vec![rule], ..Policy::default() });
        let settings = Settings { policy, prune_on_save: true, ..Settings::default() };
        let outcome = self.store.set_settings(&settings);
        let after = Model { is_pruned_on_save: true, ..self.model.clone() };
        attempted("set_settings", vec![after], outcome)
    }

    /// Reads, which settles pending saves.
    pub(super) fn look(&mut self) -> Attempt {
        let outcome = self.store.count().map(drop);
        Attempt { name: "look", states: Vec::new(), is_durable: false, outcome }
    }

    /// Closes the file, as for another process.
    pub(super) fn let_go(&mut self) -> Attempt {
        self.store.shared.let_go();
        let outcome = self.store.shared.keeper.take_failure();
        attempted("let_go", Vec::new(), outcome)
    }

    pub(super) fn flush(&mut self) -> Attempt {
        let outcome = self.store.flush();
        attempted("flush", Vec::new(), outcome)
    }

    /// Another program removes the journal when all of it is in the tables. Later saves must not go
    /// into a file that no process finds.
    pub(super) fn lose_journal(&mut self) -> Attempt {
        let outcome = self.store.shared.write(|_| Ok(()));
        self.disk.lose(Path::new(JOURNAL));
        attempted("lose_journal", Vec::new(), outcome)
    }

    pub(super) fn compact(&mut self) -> Attempt {
        let outcome = self.store.compact().map(drop);
        let states = vec![self.model.purged()];
        attempted("compact", states, outcome)
    }

    pub(super) fn close(&mut self) -> Attempt {
        let outcome = self.reopen();
        attempted("close", Vec::new(), outcome)
    }

    /// Another key, or none; ended after this many steps of the work.
    pub(super) fn rekey(&mut self, to: Option<KeyId>, steps: usize) -> Attempt {
        let mixed = Model { key: to, is_mixed: true, ..self.model.clone() };
        let whole = Model { is_mixed: false, ..mixed.clone() };
        let states = if steps == usize::MAX { vec![mixed, whole] } else { vec![mixed] };
        let mut left = steps;
        let outcome = self.reopen_with(keys::all()).and_then(|()| {
            let rekeyed = self.store.rekey_with(to, &mut |_| match left.checked_sub(1) {
                Some(fewer) => {
                    left = fewer;
                    ControlFlow::Continue(())
                }
                None => ControlFlow::Break(()),
            })?;
            assert_eq!(rekeyed.damaged, 0);
            assert!(rekeyed.is_done || steps < usize::MAX, "it was not ended");
            Ok(())
        });
        attempted("rekey", states, outcome)
    }
}

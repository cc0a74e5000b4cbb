//! What is known about a store while another process has it, and what this one writes down.

use std::thread;

use super::{POLL, SIGNING, Turn};
use crate::error::Result;
use crate::store::engine::sealing::Sealing;
use crate::store::turn::lock::{HeldStore, SIGNED};
use crate::store::turn::open::Open;
use crate::sync::lock;

impl Turn {
    /// The identity of the store, if it is known which one this is.
    pub(in crate::store) fn identity(&self) -> Option<u64> {
        *lock(&self.identity)
    }

    /// Whether it can be known which store this is though another process has it: by what that one
    /// wrote down.
    pub(in crate::store) fn learn_identity(&self) -> bool {
        let mut identity = lock(&self.identity);
        *identity = identity.or_else(|| self.lock_file.known().map(|known| known.identity));
        identity.is_some()
    }

    /// What the store is sealed with though another process has it, by what that one wrote down.
    pub(in crate::store) fn learn_sealing(&self) -> Sealing {
        for _ in 0..SIGNING {
            let known = self.lock_file.known();
            let known = known.filter(|known| Some(known.identity) == self.identity());
            match known.map_or(Sealing::Unknown, |known| known.sealing) {
                Sealing::Unknown => thread::sleep(POLL),
                sealing => return sealing,
            }
        }
        Sealing::Unknown
    }

    /// Writes down that it cannot be told what the store is sealed with, and makes that last: what
    /// was so before must not come back with a loss of power.
    pub(in crate::store) fn take_back_sealing(&self, open: &Open) -> Result<()> {
        self.note_sealing(open, Sealing::Unknown)?;
        self.lock_file.sync()
    }

    /// Writes down what the store is sealed with.
    pub(in crate::store) fn note_sealing(&self, open: &Open, sealing: Sealing) -> Result<()> {
        *lock(&self.sealing) = sealing;
        let known = HeldStore { identity: open.identity, file: open.file, sealing };
        self.lock_file.sign(&self.name(), Some(known))
    }

    pub(super) fn name(&self) -> String {
        let process = std::process::id();
        match self.options.label.as_str() {
            "" => format!("{SIGNED}{process}"),
            label => format!("{SIGNED}{process} ({label})"),
        }
    }

    /// Frees the reserve for a call that removes something; false if there is none.
    pub(in crate::store) fn release_reserve(&self) -> bool {
        self.lock_file.release()
    }
}

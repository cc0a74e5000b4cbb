//! What is known about a store while another process has it, and what this process writes down.

use std::thread;

use super::{POLL, SIGNING, Turn};
use crate::error::Result;
use crate::store::engine::sealing::Sealing;
use crate::store::turn::lock::{HeldStore, SIGNED};
use crate::store::turn::open::Open;
use crate::sync::lock;

impl Turn {
    /// The identity of the store, if known.
    pub(in crate::store) fn identity(&self) -> Option<u64> {
        *lock(&self.identity)
    }

    /// Notes the identity of the store as a view has it.
    pub(in crate::store) fn note_identity(&self, of_view: u64) {
        lock(&self.identity).get_or_insert(of_view);
    }

    /// Whether the identity of the store is known though another process has it, by that process's
    /// text in the lock file.
    pub(in crate::store) fn learn_identity(&self) -> bool {
        let mut identity = lock(&self.identity);
        *identity = identity.or_else(|| self.lock_file.known().map(|known| known.identity));
        identity.is_some()
    }

    /// The sealing of the store though another process has it, by that process's text.
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

    /// Writes down that the sealing is unknown, and syncs that: a power loss must not bring the old
    /// text back.
    pub(in crate::store) fn take_back_sealing(&self, open: &Open) -> Result<()> {
        self.note_sealing(open, Sealing::Unknown)?;
        self.lock_file.sync()
    }

    /// Writes down how the store is sealed.
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

//! How a repair opens and checks stores: with which keys.
//!
//! Must never turn a sealed store into a plain one.

use std::time::Duration;

use super::Repair;
use crate::store::care::remains::keys::Keys;
use crate::store::care::verify::Verify;
use crate::store::options::{Hold, Options};

impl Repair {
    /// Options to open stores for the repair.
    #[cfg_attr(not(feature = "encrypt"), expect(clippy::unused_self, reason = "it has no keys"))]
    pub(super) fn options(&self) -> Options {
        Options {
            hold: Hold::Forever,
            #[cfg(feature = "encrypt")]
            keys: self.keys.clone(),
            ..Options::default()
        }
    }

    /// Options to check the new store, which no other process has.
    #[cfg_attr(not(feature = "encrypt"), expect(clippy::unused_self, reason = "it has no keys"))]
    pub(super) fn verify(&self) -> Verify {
        Verify {
            wait: Duration::ZERO,
            #[cfg(feature = "encrypt")]
            keys: self.keys.clone(),
        }
    }

    /// Options to make the new store.
    pub(super) fn options_of_new(&self, keys: &Keys) -> Options {
        #[cfg_attr(not(feature = "encrypt"), expect(unused_mut, reason = "there are no keys"))]
        let mut options = self.options();
        #[cfg(feature = "encrypt")]
        match keys.store {
            // A new store uses the first key.
            Some(id) => options.keys.sort_by_key(|key| key.id() != id),
            None => options.keys.clear(),
        }
        #[cfg(not(feature = "encrypt"))]
        let _ = keys;
        options
    }
}

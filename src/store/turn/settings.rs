//! Settings: how every process must treat a store, as read when the file is opened.
//!
//! Must never fail an opening: unreadable settings prune nothing.

use std::path::Path;
use std::sync::Arc;

use redb::ReadableDatabase;
use serde::{Deserialize, Serialize};

use crate::codec::decode_note;
use crate::error::{Error, Result};
use crate::retention::{Age, Policy};
use crate::store::engine::fault::In;
use crate::store::engine::table::{SETTINGS, open_if_made};

pub(in crate::store) const KEY: &str = "settings";

pub(in crate::store) const SEED: u64 = 0;

/// How every process must treat a store. Kept in the store itself.
///
/// ```
/// use waypost::{NewEntry, Policy, Settings, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let policy = Some(Policy::preset("last-5")?);
/// store.set_settings(&Settings { policy, prune_on_save: true, ..store.settings()? })?;
/// for number in 0..8 {
///     store.save(NewEntry::issue("42")?, &number)?;
/// }
/// assert_eq!(store.count()?, 5);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The policy to prune by, if one was set. Its size limits count documents, and no captured
    /// files.
    pub policy: Option<Policy>,
    /// Whether every save prunes its own group by the policy, in the same transaction.
    ///
    /// What goes that way cannot be restored, except for what was saved before this was set: a loop
    /// that keeps its last five stays at the same size for ever. Of a rule that keeps more than
    /// 256, one in 256 more may stay for a while. Limits of size are left to a prune of the whole
    /// store.
    pub prune_on_save: bool,
    /// How long what was deleted or pruned can be restored, unless the store is compacted. 7 days
    /// by default.
    pub keep_deleted: Age,
}

/// What every save is pruned by.
#[derive(Debug, Clone)]
pub(in crate::store) struct OnSave {
    /// The settings, which have a policy.
    pub(in crate::store) settings: Arc<Settings>,
    /// Whether pruning is final for what was saved since they were set.
    pub(in crate::store) is_final: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { policy: None, prune_on_save: false, keep_deleted: Age::days(7) }
    }
}

impl Settings {
    /// The settings that a handle brings with it.
    pub(in crate::store) fn given(policy: Policy) -> Arc<Self> {
        Arc::new(Self { policy: Some(policy), prune_on_save: true, ..Self::default() })
    }
}

/// The settings in a file, or the default if none were ever set.
pub(in crate::store) fn load(database: &impl ReadableDatabase, path: &Path) -> Result<Settings> {
    let transaction = database.begin_read().within(path)?;
    let Some(table) = open_if_made(&transaction, SETTINGS, path)? else {
        return Ok(Settings::default());
    };
    let Some(row) = table.get(KEY).within(path)? else {
        return Ok(Settings::default());
    };
    decode_note(SEED, row.value()).map_err(|reason| Error::corrupt("settings", reason))
}

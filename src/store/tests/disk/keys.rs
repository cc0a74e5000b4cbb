//! The keys of stores that are encrypted. A build that cannot encrypt has none.

use crate::codec::KeyId;
use crate::store::{Options, Repair, Verify};

#[cfg(feature = "encrypt")]
fn secrets() -> [crate::codec::SecretKey; 2] {
    [1, 2].map(|byte| crate::codec::SecretKey::from_bytes([byte; 32]))
}

/// All keys.
#[cfg(feature = "encrypt")]
pub(super) fn all() -> Vec<KeyId> {
    secrets().iter().map(crate::codec::SecretKey::id).collect()
}

#[cfg(not(feature = "encrypt"))]
pub(super) fn all() -> Vec<KeyId> {
    Vec::new()
}

/// All keys; a store created with them uses this one.
pub(super) fn all_for(first: Option<KeyId>) -> Vec<KeyId> {
    let others = all().into_iter().filter(|id| Some(*id) != first);
    first.into_iter().chain(others).collect()
}

/// Options of a process that has these keys.
#[cfg(feature = "encrypt")]
pub(super) fn given(keys: &[KeyId], options: Options) -> Options {
    let secret = |id: &KeyId| secrets().into_iter().find(|key| key.id() == *id);
    Options { keys: keys.iter().filter_map(secret).collect(), ..options }
}

#[cfg(not(feature = "encrypt"))]
pub(super) fn given(_: &[KeyId], options: Options) -> Options {
    options
}

/// Repairs with all keys.
#[cfg(feature = "encrypt")]
pub(super) fn repair() -> Repair {
    Repair { keys: secrets().into(), ..Repair::default() }
}

#[cfg(not(feature = "encrypt"))]
pub(super) fn repair() -> Repair {
    Repair::default()
}

/// Verifies with all keys.
#[cfg(feature = "encrypt")]
pub(super) fn verify() -> Verify {
    Verify { keys: secrets().into(), ..Verify::default() }
}

#[cfg(not(feature = "encrypt"))]
pub(super) fn verify() -> Verify {
    Verify::default()
}

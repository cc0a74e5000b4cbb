//! The keys of a handle, and their ids.
//!
//! Exists in every build: one that cannot decrypt still reports which key is needed.

use std::fmt;

use serde::{Serialize, Serializer};

#[cfg(feature = "encrypt")]
use super::seal::SecretKey;

/// The id of a key: eight bytes derived from it, from which it cannot be recovered.
///
/// Printed as 16 hexadecimal digits.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # #[cfg(feature = "encrypt")] {
/// # use waypost::{Options, SecretKey, Store};
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("store.redb");
/// let key = SecretKey::generate()?;
/// let options = Options { keys: vec![key.clone()], ..Options::default() };
/// let store = Store::open_with(&path, options)?;
/// assert_eq!(store.key()?, Some(key.id()));
/// assert_eq!(key.id().to_string().len(), 16);
/// # }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId([u8; Self::BYTES]);

/// The keys that a handle was given.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keyring {
    keys: Vec<SecretKey>,
}

/// No keys.
#[cfg(not(feature = "encrypt"))]
#[derive(Debug, Clone)]
pub(crate) enum SecretKey {}

impl KeyId {
    pub(super) const BYTES: usize = 8;

    pub(super) fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    pub(super) fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// The number for it in a table.
    pub(crate) fn number(self) -> u64 {
        u64::from_be_bytes(self.0)
    }

    pub(crate) fn from_number(number: u64) -> Self {
        Self(number.to_be_bytes())
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.number())
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({self})")
    }
}

impl Serialize for KeyId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Keyring {
    #[cfg(feature = "encrypt")]
    pub(crate) fn new(keys: Vec<SecretKey>) -> Self {
        Self { keys }
    }

    pub(crate) fn get(&self, id: KeyId) -> Option<&SecretKey> {
        self.keys.iter().find(|key| key.id() == id)
    }

    /// The key that a new store is encrypted with.
    pub(crate) fn first(&self) -> Option<KeyId> {
        self.keys.first().map(SecretKey::id)
    }

    /// The reason that a key is not among these.
    pub(crate) fn lack(&self) -> &'static str {
        match self.keys.len() {
            _ if cfg!(not(feature = "encrypt")) => "this build cannot decrypt",
            0 => "no key was given",
            1 => "the given key is a different one",
            _ => "the given keys are different ones",
        }
    }
}

#[cfg(not(feature = "encrypt"))]
impl SecretKey {
    pub(crate) fn id(&self) -> KeyId {
        match *self {}
    }

    pub(super) fn seal(&self, _nonce: &[u8], _associated: &[u8], _content: &mut [u8]) -> [u8; 16] {
        match *self {}
    }

    pub(super) fn open(&self, _associated: &[u8], _sealed: &[u8]) -> Option<Vec<u8>> {
        match *self {}
    }

    pub(super) fn nonce(&self) -> std::io::Result<[u8; 24]> {
        match *self {}
    }
}

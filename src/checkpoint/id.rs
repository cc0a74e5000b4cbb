//! Checkpoint ids: our own are UUIDv7, those of other systems are kept as they are.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};
use uuid::{Builder, Uuid, Version};

use crate::checkpoint::Timestamp;
use crate::error::{Error, Result};

/// Stands for the id of the newest checkpoint.
pub(crate) const LATEST: &str = "latest";

// An id has 48 bits for them.
const MILLIS_MAX: u64 = (1 << 48) - 1;

/// The id of a checkpoint: any non-empty text, unique in its store.
///
/// ```
/// use waypost::{Id, NewEntry, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// store.save(NewEntry::default().id("run-7")?, &"state")?;
/// let id = Id::new("run-7")?;
/// assert_eq!(store.get(&id)?.state::<String>()?, "state");
/// assert!(Id::new("").is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Id(String);

impl Id {
    /// Checks and wraps `text`.
    ///
    /// # Errors
    /// If it is empty.
    pub fn new(text: impl Into<String>) -> Result<Self> {
        let text = text.into();
        if text.is_empty() { Err(Error::invalid("id", "empty")) } else { Ok(Self(text)) }
    }

    /// A new UUIDv7 for a checkpoint saved at `time`.
    #[must_use]
    pub fn generate(time: Timestamp) -> Self {
        Self::generate_at(Self::millis_at(time))
    }

    /// A new UUIDv7 with these milliseconds, at most as many as it can hold.
    pub(crate) fn generate_at(millis: u64) -> Self {
        let random = Uuid::new_v4().into_bytes();
        let mut tail = [0; 10];
        tail.copy_from_slice(&random[6..]);
        Self::from_parts(millis.min(MILLIS_MAX), tail)
    }

    /// This id with the time `time`; an id that is no UUIDv7 stays as it is.
    pub(crate) fn moved_to(&self, time: Timestamp) -> Self {
        match self.parts() {
            Some((_, tail)) => Self::from_parts(Self::millis_at(time), tail),
            None => self.clone(),
        }
    }

    /// Whether the id was made at `time`, to the millisecond.
    pub(crate) fn is_made_at(&self, time: Timestamp) -> bool {
        self.parts().is_some_and(|(millis, _)| millis == Self::millis_at(time))
    }

    /// The milliseconds in an id made at `time`: 48 bits, never negative.
    pub(crate) fn millis_at(time: Timestamp) -> u64 {
        time.as_millis().max(0).unsigned_abs() & MILLIS_MAX
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The UUIDv7 of a time and the ten bytes that follow it; version bits are put in their place.
    pub(crate) fn from_parts(millis: u64, tail: [u8; 10]) -> Self {
        let uuid = Builder::from_unix_timestamp_millis(millis, &tail).into_uuid();
        Self(uuid.hyphenated().to_string())
    }

    /// Milliseconds and tail, if this is a UUIDv7 in its canonical spelling.
    pub(crate) fn parts(&self) -> Option<(u64, [u8; 10])> {
        if self.0.len() != 36 {
            return None;
        }
        let uuid = Uuid::parse_str(&self.0).ok()?;
        let bytes = uuid.as_bytes();
        let mut tail = [0; 10];
        tail.copy_from_slice(&bytes[6..]);
        let millis = bytes[..6].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        // An id qualifies only if rebuilding it from these parts gives the same text.
        let canonical = uuid.get_version() == Some(Version::SortRand)
            && Self::from_parts(millis, tail).0 == self.0;
        canonical.then_some((millis, tail))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for Id {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::new(text)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Self::new(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_id_carries_its_time() {
        let time = Timestamp::from_micros(1_700_000_000_123_456);
        let (millis, tail) = Id::generate(time).parts().unwrap();
        assert_eq!(millis, 1_700_000_000_123);
        assert_eq!(Id::from_parts(millis, tail).parts(), Some((millis, tail)));
    }

    #[test]
    fn only_the_canonical_spelling_has_parts() {
        let id = Id::generate(Timestamp::from_micros(1)).to_string();
        assert!(Id::new(id.to_uppercase()).unwrap().parts().is_none());
        assert!(Id::new(id.replace('-', "")).unwrap().parts().is_none());
        assert!(Id::new("6ba7b810-9dad-11d1-80b4-00c04fd430c8").unwrap().parts().is_none());
    }
}

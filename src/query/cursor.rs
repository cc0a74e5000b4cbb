//! Cursors: places in a listing, and their text form.
//!
//! A cursor names a key, and not a row: it stays valid when its checkpoint is deleted.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::checkpoint::{Entry, Timestamp};
use crate::error::{Error, Result};
use crate::key::{RecordKey, SEQUENCE_MAX};

/// A place in a listing, to continue from. Stays valid when checkpoints come and go.
///
/// See [`Page`](super::Page) for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor(pub(super) RecordKey);

/// The place of an entry: the listing continues after it.
impl From<&Entry> for Cursor {
    fn from(entry: &Entry) -> Self {
        Self(RecordKey::of(entry))
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0.time.as_micros(), self.0.sequence)
    }
}

impl FromStr for Cursor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parts = text.split_once('.');
        let key = parts.and_then(|(time, sequence)| {
            let time = Timestamp::from_micros(time.parse().ok()?);
            let sequence = sequence.parse().ok().filter(|sequence| *sequence <= SEQUENCE_MAX)?;
            Some(RecordKey { time, sequence })
        });
        key.map(Cursor).ok_or_else(|| Error::invalid("cursor", "not from an earlier listing"))
    }
}

impl Serialize for Cursor {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

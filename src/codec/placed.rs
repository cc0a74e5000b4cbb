//! A checkpoint in the journal: it has its place in the store but is not in the tables yet.
//!
//! Unlike a record it contains its names, since their numbers may never have reached the disk.

use std::sync::Arc;

use super::v1::{NameKind, decode_entry, encode_entry};
use super::wire::{Malformed, Reader, put};
use crate::checkpoint::{Entry, Timestamp};
use crate::key::{NameId, RecordKey, SEQUENCE_MAX};

/// An entry with its sequence, and its frame as on disk.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Placed {
    pub(crate) entry: Entry,
    pub(crate) frame: Vec<u8>,
}

impl Placed {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let mut names: Vec<(NameKind, String)> = Vec::new();
        let record = encode_entry(&self.entry, &mut |kind, name| {
            let known = names.iter().position(|known| known.0 == kind && known.1 == name);
            let at = known.unwrap_or_else(|| {
                names.push((kind, name.to_owned()));
                names.len() - 1
            });
            NameId::try_from(at)
        });
        let record = record.expect("an entry has a few dozen names at most");
        put(out, self.entry.order().0.as_micros());
        put(out, self.entry.sequence);
        put(out, names.len() as u64);
        for (kind, name) in &names {
            put(out, *kind as u8);
            put(out, name.as_str());
        }
        put(out, record.as_slice());
        put(out, self.frame.as_slice());
    }

    /// `None` if the bytes are not what [`Placed::encode`] writes.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let placed = Self::read(&mut reader).ok()?;
        reader.rest().is_empty().then_some(placed)
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let time = Timestamp::from_micros(reader.take()?);
        let sequence = reader.take()?;
        if sequence > SEQUENCE_MAX {
            return Err(Malformed);
        }
        let key = RecordKey { time, sequence };
        let count: u64 = reader.take()?;
        let mut names = Vec::new();
        for _ in 0..count {
            let kind = NameKind::from_number(reader.take()?).ok_or(Malformed)?;
            names.push((kind, Arc::from(reader.take::<&str>()?)));
        }
        let lookup = |kind, id: NameId| -> Option<Arc<str>> {
            let (found, name) = names.get(usize::try_from(id).ok()?)?;
            (*found == kind).then(|| Arc::clone(name))
        };
        let entry = decode_entry(key, reader.take()?, &lookup).map_err(|_| Malformed)?;
        Ok(Self { entry, frame: reader.take::<&[u8]>()?.to_owned() })
    }
}

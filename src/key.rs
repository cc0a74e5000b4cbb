//! Keys of the tables: byte order is the order of queries.
//!
//! Everything is big-endian and of fixed width, so that a page holds nothing but keys.

use std::fmt;
use std::ops::{Range, RangeInclusive};

use crate::checkpoint::{Entry, Hash, Timestamp};

/// The place of a checkpoint in the order of all: order time, then sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RecordKey {
    pub(crate) time: Timestamp,
    pub(crate) sequence: u64,
}

/// The number of an interned name.
pub(crate) type NameId = u32;

pub(crate) type RecordBytes = [u8; 14];
pub(crate) type IndexBytes = [u8; 22];
pub(crate) type FrameBytes = [u8; 8];
pub(crate) type DeletedBytes = [u8; 22];
pub(crate) type BlobBytes = [u8; 34];
pub(crate) type HolderBytes = [u8; 32];
pub(crate) type SourceBytes = [u8; 22];

/// Sequences have 48 bits on disk, enough for nine thousand years at a thousand saves a second.
pub(crate) const SEQUENCE_MAX: u64 = (1 << 48) - 1;

/// The end from which checkpoints are listed; their order is that of
/// [`Entry::order`](crate::Entry::order).
///
/// ```
/// use waypost::{NewEntry, Order, Query, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// for number in 1..=3 {
///     store.save(NewEntry::issue("42")?.iteration(number), &number)?;
/// }
/// let query = Query { order: Order::Oldest, ..Query::issue("42")? };
/// assert_eq!(store.list(&query)?.entries[0].iteration, Some(1));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// Newest first.
    #[default]
    Newest,
    /// Oldest first.
    Oldest,
}

/// A span of time, `from` included and `to` not, and the end it is read from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub(crate) from: RecordKey,
    pub(crate) to: RecordKey,
    pub(crate) order: Order,
}

impl Span {
    /// Everything, oldest first.
    pub(crate) const ALL: Self =
        Self { from: RecordKey::MIN, to: RecordKey::MAX, order: Order::Oldest };

    /// All of `from..to`, oldest first.
    pub(crate) fn of_times(from: Timestamp, to: Timestamp) -> Self {
        let (from, to) = (RecordKey::first_at(from), RecordKey::first_at(to));
        Self { from, to, order: Order::Oldest }
    }
}

impl RecordKey {
    pub(crate) const MIN: Self = Self { time: Timestamp::from_micros(i64::MIN), sequence: 0 };
    pub(crate) const MAX: Self =
        Self { time: Timestamp::from_micros(i64::MAX), sequence: SEQUENCE_MAX };

    pub(crate) fn of(entry: &Entry) -> Self {
        let (time, sequence) = entry.order();
        Self { time, sequence }
    }

    /// The first possible key at `time`.
    pub(crate) fn first_at(time: Timestamp) -> Self {
        Self { time, sequence: 0 }
    }

    pub(crate) fn to_bytes(self) -> RecordBytes {
        let mut bytes = [0; 14];
        // Flipping the sign bit puts times before 1970 first.
        let time = self.time.as_micros().cast_unsigned() ^ (1 << 63);
        bytes[..8].copy_from_slice(&time.to_be_bytes());
        bytes[8..].copy_from_slice(&self.sequence.to_be_bytes()[2..]);
        bytes
    }

    pub(crate) fn from_bytes(bytes: RecordBytes) -> Self {
        let mut time = [0; 8];
        time.copy_from_slice(&bytes[..8]);
        let mut sequence = [0; 8];
        sequence[2..].copy_from_slice(&bytes[8..]);
        let time = u64::from_be_bytes(time) ^ (1 << 63);
        Self {
            time: Timestamp::from_micros(time.cast_signed()),
            sequence: u64::from_be_bytes(sequence),
        }
    }

    /// The key right after this one, if there is one.
    pub(crate) fn next(self) -> Option<Self> {
        if self.sequence < SEQUENCE_MAX {
            return Some(Self { sequence: self.sequence + 1, ..self });
        }
        let micros = self.time.as_micros().checked_add(1)?;
        Some(Self::first_at(Timestamp::from_micros(micros)))
    }
}

impl fmt::Display for RecordKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "entry {} saved at {}", self.sequence, self.time)
    }
}

/// Stands in the index for any name. Numbers of names start at one.
pub(crate) const ANY_NAME: NameId = 0;

/// The row that says: the checkpoint at `key` has the name `name` and was saved for `cause`.
pub(crate) fn index_row(name: NameId, cause: NameId, key: RecordKey) -> IndexBytes {
    let mut bytes = [0; 22];
    bytes[..4].copy_from_slice(&name.to_be_bytes());
    bytes[4..8].copy_from_slice(&cause.to_be_bytes());
    bytes[8..].copy_from_slice(&key.to_bytes());
    bytes
}

/// The checkpoint that an index row is about.
pub(crate) fn indexed_key(row: IndexBytes) -> RecordKey {
    let mut bytes = [0; 14];
    bytes.copy_from_slice(&row[8..]);
    RecordKey::from_bytes(bytes)
}

/// The cause that an index row is about.
pub(crate) fn indexed_cause(row: IndexBytes) -> NameId {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&row[4..8]);
    NameId::from_be_bytes(bytes)
}

/// The row of a checkpoint that was deleted at `time` and can be restored.
pub(crate) fn deleted_row(time: Timestamp, key: RecordKey) -> DeletedBytes {
    let mut bytes = [0; 22];
    bytes[..8].copy_from_slice(&RecordKey::first_at(time).to_bytes()[..8]);
    bytes[8..].copy_from_slice(&key.to_bytes());
    bytes
}

/// The time of deletion in a row, and the key that the checkpoint had.
pub(crate) fn deleted_at(row: DeletedBytes) -> (Timestamp, RecordKey) {
    let mut time = [0; 14];
    time[..8].copy_from_slice(&row[..8]);
    let mut key = [0; 14];
    key.copy_from_slice(&row[8..]);
    (RecordKey::from_bytes(time).time, RecordKey::from_bytes(key))
}

/// The row that says: the checkpoint at `key` came from the file whose hash is `hash`.
pub(crate) fn source_row(hash: u64, key: RecordKey) -> SourceBytes {
    let mut bytes = [0; 22];
    bytes[..8].copy_from_slice(&hash.to_le_bytes());
    bytes[8..].copy_from_slice(&key.to_bytes());
    bytes
}

/// The checkpoint that the row of a file is about.
pub(crate) fn sourced_key(row: SourceBytes) -> RecordKey {
    indexed_key(row)
}

/// The row of one chunk of a frame.
pub(crate) fn frame_row(sequence: u64, chunk: u16) -> FrameBytes {
    let mut bytes = [0; 8];
    bytes[..6].copy_from_slice(&sequence.to_be_bytes()[2..]);
    bytes[6..].copy_from_slice(&chunk.to_be_bytes());
    bytes
}

/// The row of a frame's dependents: a chunk never has this number.
pub(crate) fn dependents_row(sequence: u64) -> FrameBytes {
    frame_row(sequence, u16::MAX)
}

/// All rows that the chunks of a frame can have.
pub(crate) fn frame_rows(sequence: u64) -> Range<FrameBytes> {
    frame_row(sequence, 0)..frame_row(sequence, u16::MAX)
}

/// The sequence that a frame row belongs to.
pub(crate) fn frame_sequence(row: FrameBytes) -> u64 {
    u64::from_be_bytes(row) >> 16
}

/// The row of one chunk of a captured content.
pub(crate) fn blob_row(hash: &Hash, chunk: u16) -> BlobBytes {
    let mut bytes = [0; 34];
    bytes[..32].copy_from_slice(hash.as_bytes());
    bytes[32..].copy_from_slice(&chunk.to_be_bytes());
    bytes
}

/// All rows that the chunks of a captured content can have.
pub(crate) fn blob_rows(hash: &Hash) -> RangeInclusive<BlobBytes> {
    blob_row(hash, 0)..=blob_row(hash, u16::MAX)
}

/// The content that a row is a chunk of.
pub(crate) fn blob_hash(row: BlobBytes) -> Hash {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(&row[..32]);
    Hash::from_bytes(bytes)
}

/// The number of the chunk that a row is.
pub(crate) fn blob_chunk(row: BlobBytes) -> u16 {
    u16::from_be_bytes([row[32], row[33]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_order_is_time_order_then_arrival() {
        let key = |micros, sequence| RecordKey { time: Timestamp::from_micros(micros), sequence };
        let ordered = [
            RecordKey::MIN,
            key(-5, 9),
            key(-1, 0),
            key(0, 0),
            key(0, 1),
            key(0, SEQUENCE_MAX),
            key(1, 0),
            RecordKey::MAX,
        ];
        assert!(ordered.is_sorted());
        assert!(ordered.map(RecordKey::to_bytes).is_sorted());
        for key in ordered {
            assert_eq!(RecordKey::from_bytes(key.to_bytes()), key);
            assert_eq!(indexed_key(index_row(7, 9, key)), key);
            assert_eq!(indexed_cause(index_row(7, 9, key)), 9);
            let time = Timestamp::from_micros(-3);
            assert_eq!(deleted_at(deleted_row(time, key)), (time, key));
        }
    }

    #[test]
    fn nothing_lies_between_a_key_and_the_next() {
        let last = RecordKey { time: Timestamp::from_micros(3), sequence: SEQUENCE_MAX };
        assert_eq!(last.next(), Some(RecordKey::first_at(Timestamp::from_micros(4))));
        assert_eq!(RecordKey::MAX.next(), None);
    }

    #[test]
    fn rows_of_contents_do_not_meet() {
        let (hash, next) = (Hash::from_bytes([7; 32]), Hash::from_bytes([8; 32]));
        assert_eq!(blob_hash(blob_row(&hash, 3)), hash);
        assert_eq!(blob_chunk(blob_row(&hash, 700)), 700);
        assert!(blob_rows(&hash).contains(&blob_row(&hash, u16::MAX)));
        assert!(!blob_rows(&hash).contains(&blob_row(&next, 0)));
    }

    #[test]
    fn a_frame_row_names_its_sequence() {
        assert_eq!(frame_sequence(frame_row(SEQUENCE_MAX, 3)), SEQUENCE_MAX);
        assert!(frame_rows(5).contains(&frame_row(5, 65_534)));
        assert!(!frame_rows(5).contains(&frame_row(6, 0)));
    }
}

//! The entry of a checkpoint that was deleted and can be restored.

use super::check;
use super::wire::{Reader, put};
use crate::key::DeletedBytes;

const SUM_BYTES: usize = 8;

/// What is kept of a deleted checkpoint besides its frame.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FoundDeleted<'a> {
    /// The number of the operation that deleted it.
    pub(crate) operation: u64,
    /// The entry record as it was.
    pub(crate) record: &'a [u8],
}

/// The value of a row.
pub(crate) fn encode_deleted(row: &DeletedBytes, operation: u64, record: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(record.len() + 16);
    put(&mut out, operation);
    out.extend_from_slice(record);
    let sum = seal(row, &out);
    out.extend_from_slice(&sum);
    out
}

/// `None` if the bytes are not what [`encode_deleted`] writes.
pub(crate) fn decode_deleted<'a>(row: &DeletedBytes, bytes: &'a [u8]) -> Option<FoundDeleted<'a>> {
    let (body, sum) = bytes.split_last_chunk::<SUM_BYTES>()?;
    if seal(row, body) != *sum {
        return None;
    }
    let mut reader = Reader::new(body);
    let operation = reader.take().ok()?;
    Some(FoundDeleted { operation, record: reader.rest() })
}

/// Only the row has the time of deletion, so the sum covers it.
fn seal(row: &DeletedBytes, body: &[u8]) -> [u8; SUM_BYTES] {
    check(check(0, row), body).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_back_and_any_change_is_noticed() {
        let row = [7; 22];
        let bytes = encode_deleted(&row, 300, b"record");
        let found = FoundDeleted { operation: 300, record: b"record" };
        assert_eq!(decode_deleted(&row, &bytes), Some(found));
        assert_eq!(decode_deleted(&[8; 22], &bytes), None, "of another row");
        for at in 0..bytes.len() {
            let mut wrong = bytes.clone();
            wrong[at] ^= 4;
            assert_eq!(decode_deleted(&row, &wrong), None, "byte {at}");
            assert_eq!(decode_deleted(&row, &bytes[..at]), None, "cut at {at}");
        }
    }
}

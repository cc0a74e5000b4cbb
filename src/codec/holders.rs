//! The number of checkpoints that have a captured content, and a mix of their sequences.

use super::check;
use super::wire::{Malformed, Reader, put};
use crate::key::HolderBytes;

const SUM_BYTES: usize = 8;
const MIX_BYTES: usize = 8;

/// The checkpoints that have a content: their number, and a mix of their sequences.
///
/// The mix shows whether the last one left is the one removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Holders {
    count: u64,
    mix: u64,
}

impl Holders {
    pub(crate) fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// Adds one, which must not be one of them.
    pub(crate) fn with(self, sequence: u64) -> Self {
        // So large a count comes from damage, and then the content stays.
        Self { count: self.count.saturating_add(1), mix: self.mix ^ mixed(sequence) }
    }

    /// Removes one. `None` if it certainly was none of them.
    pub(crate) fn without(self, sequence: u64) -> Option<Self> {
        let left = Self { count: self.count.checked_sub(1)?, mix: self.mix ^ mixed(sequence) };
        (left.count > 0 || left.is_empty()).then_some(left)
    }
}

/// The value of a row.
pub(crate) fn encode_holders(row: &HolderBytes, holders: Holders) -> Vec<u8> {
    let mut out = Vec::with_capacity(MIX_BYTES + SUM_BYTES + 9);
    put(&mut out, holders.count);
    out.extend_from_slice(&holders.mix.to_le_bytes());
    let sum = seal(row, &out);
    out.extend_from_slice(&sum);
    out
}

/// `None` if the bytes are not what [`encode_holders`] writes.
pub(crate) fn decode_holders(row: &HolderBytes, bytes: &[u8]) -> Option<Holders> {
    let (body, sum) = bytes.split_last_chunk::<SUM_BYTES>()?;
    if seal(row, body) != *sum {
        return None;
    }
    let mut reader = Reader::new(body);
    let holders = read(&mut reader).ok()?;
    (reader.rest().is_empty() && holders.count > 0).then_some(holders)
}

fn read(reader: &mut Reader<'_>) -> Result<Holders, Malformed> {
    let count = reader.take()?;
    let mix = reader.take_bytes(MIX_BYTES)?.try_into().map_err(|_| Malformed)?;
    Ok(Holders { count, mix: u64::from_le_bytes(mix) })
}

fn mixed(sequence: u64) -> u64 {
    check(0, &sequence.to_be_bytes()[2..])
}

fn seal(row: &HolderBytes, body: &[u8]) -> [u8; SUM_BYTES] {
    check(check(0, row), body).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sequences: &[u64]) -> Holders {
        sequences.iter().fold(Holders::default(), |holders, sequence| holders.with(*sequence))
    }

    #[test]
    fn the_last_to_go_must_be_the_one_that_is_left() {
        let holders = of(&[3, 700, 5]);
        let left = holders.without(700).unwrap();
        assert_eq!(left, of(&[5, 3]), "in any order");
        let last = left.without(3).unwrap();
        assert_eq!(last, of(&[5]));
        assert!(!last.is_empty());
        assert_eq!(last.without(3), None);
        assert!(last.without(5).unwrap().is_empty());
        assert_eq!(Holders::default().without(5), None);
    }

    /// A row with a right sum and the largest possible count made a save panic.
    #[test]
    fn a_count_beyond_all_reason_is_no_panic() {
        let most = Holders { count: u64::MAX, mix: 0 };
        let read = decode_holders(&[7; 32], &encode_holders(&[7; 32], most)).unwrap();
        assert_eq!(read.with(5).count, u64::MAX);
        assert!(!read.with(5).without(5).unwrap().is_empty());
    }

    #[test]
    fn a_row_is_read_back_and_any_change_is_noticed() {
        let row = [7; 32];
        let bytes = encode_holders(&row, of(&[3, 9]));
        assert_eq!(decode_holders(&row, &bytes), Some(of(&[3, 9])));
        assert_eq!(decode_holders(&[8; 32], &bytes), None, "of another row");
        for at in 0..bytes.len() {
            let mut wrong = bytes.clone();
            wrong[at] ^= 4;
            assert_eq!(decode_holders(&row, &wrong), None, "byte {at}");
            assert_eq!(decode_holders(&row, &bytes[..at]), None, "cut at {at}");
        }
        assert_eq!(decode_holders(&row, &encode_holders(&row, Holders::default())), None);
    }

    /// Disks hold these bytes.
    #[test]
    fn the_row_is_pinned() {
        let bytes = encode_holders(&[0; 32], of(&[1]));
        let mix = check(0, &[0, 0, 0, 0, 0, 1]).to_le_bytes();
        let body = [&[1][..], &mix].concat();
        let sum = check(check(0, &[0; 32]), &body).to_le_bytes();
        assert_eq!(bytes, [&body[..], &sum].concat());
    }
}

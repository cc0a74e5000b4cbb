//! Which checkpoints are stored as differences to a given one, so that it can be removed.

use super::check;
use super::wire::{Malformed, Reader, put};
use crate::checkpoint::Timestamp;
use crate::key::{RecordKey, SEQUENCE_MAX};

const SUM_BYTES: usize = 4;

/// The row of `base` for the checkpoints at these keys.
pub(crate) fn encode_dependents(base: u64, dependents: &[RecordKey]) -> Vec<u8> {
    let mut out = Vec::new();
    for RecordKey { time, sequence } in dependents {
        put(&mut out, sequence - base);
        put(&mut out, time.as_micros());
    }
    let sum = sum(base, &out);
    out.extend_from_slice(&sum);
    out
}

/// `None` if the bytes are not what [`encode_dependents`] writes.
pub(crate) fn decode_dependents(base: u64, bytes: &[u8]) -> Option<Vec<RecordKey>> {
    let (items, found) = bytes.split_last_chunk::<SUM_BYTES>()?;
    if sum(base, items) != *found {
        return None;
    }
    let mut reader = Reader::new(items);
    let mut dependents = Vec::new();
    while !reader.rest().is_empty() {
        dependents.push(read(base, &mut reader).ok()?);
    }
    Some(dependents)
}

fn read(base: u64, reader: &mut Reader<'_>) -> Result<RecordKey, Malformed> {
    let sequence = base.checked_add(reader.take()?).filter(|it| *it <= SEQUENCE_MAX);
    let sequence = sequence.filter(|sequence| *sequence > base).ok_or(Malformed)?;
    Ok(RecordKey { time: Timestamp::from_micros(reader.take()?), sequence })
}

fn sum(base: u64, items: &[u8]) -> [u8; SUM_BYTES] {
    let mut sum = [0; SUM_BYTES];
    sum.copy_from_slice(&check(base, items).to_le_bytes()[..SUM_BYTES]);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_damage_is_noticed() {
        let key = |micros, sequence| RecordKey { time: Timestamp::from_micros(micros), sequence };
        let dependents = vec![key(1_769_353_200_000_000, 8), key(-5, SEQUENCE_MAX)];
        let bytes = encode_dependents(7, &dependents);
        assert_eq!(decode_dependents(7, &bytes), Some(dependents));
        assert_eq!(decode_dependents(8, &bytes), None, "of another base");
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode_dependents(7, &damaged), None, "bit {bit}");
        }
        assert_eq!(decode_dependents(7, &encode_dependents(7, &[])), Some(Vec::new()));
    }
}

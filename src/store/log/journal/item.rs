//! The bytes of a journal: its header, and items that each seed the sum of the next.

use std::io;
use std::path::Path;

use crate::codec::{Placed, check};
use crate::error::{At, Error, Result};
use crate::store::engine::disk::Disk;
use crate::store::engine::sectors::{Sectors, Unreadable};

pub(super) const HEADER_BYTES: usize = 16;

pub(super) const HEAD_BYTES: usize = 12;

pub(super) const MAGIC: &[u8; 8] = b"waypostj";

/// Adds an item to `out`, and returns its sum.
pub(in crate::store) fn frame(placed: &Placed, chain: u64, out: &mut Vec<u8>) -> u64 {
    let start = out.len();
    out.extend_from_slice(&[0; HEAD_BYTES]);
    placed.encode(out);
    let payload = &out[start + HEAD_BYTES..];
    let length = u32::try_from(payload.len()).expect("an item is within the limit of a group");
    let sum = check(chain, payload);
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
    out[start + 4..start + HEAD_BYTES].copy_from_slice(&sum.to_le_bytes());
    sum
}

/// The identity that a journal names, and what follows.
pub(in crate::store) fn identified(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (identity, rest) = bytes.strip_prefix(MAGIC)?.split_first_chunk()?;
    Some((u64::from_le_bytes(*identity), rest))
}

/// All items up to the end, of which the first is seeded with `chain`; also their length and the
/// last sum. Or the offset of an item that passes its sum but cannot be read.
pub(in crate::store) fn items(
    bytes: &[u8],
    mut chain: u64,
) -> Result<(Vec<Placed>, (usize, u64)), usize> {
    let mut placed = Vec::new();
    let mut rest = bytes;
    let at = |rest: &[u8]| bytes.len() - rest.len();
    while let Some((sum, payload, left)) = first(rest, chain) {
        placed.push(Placed::decode(payload).ok_or_else(|| at(rest))?);
        (chain, rest) = (sum, left);
    }
    Ok((placed, (at(rest), chain)))
}

/// Length and sum of the first item, as stored.
pub(super) fn head(bytes: &[u8]) -> Option<(usize, u64)> {
    let (length, bytes) = bytes.split_first_chunk::<4>()?;
    let sum = u64::from_le_bytes(*bytes.first_chunk()?);
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    (length > 0).then_some((length, sum))
}

/// The bytes of a journal, with zeros where the disk cannot read, and those ranges.
pub(super) fn read_bytes(
    disk: &dyn Disk,
    (path, bytes_max): (&Path, u64),
) -> Result<Option<(Vec<u8>, Vec<Unreadable>)>> {
    let file = match Sectors::open(disk, path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).at(path),
    };
    let length = file.length();
    let length = usize::try_from(length).ok().filter(|_| length <= bytes_max);
    let too_long = || Error::corrupt(path.display().to_string(), "the journal is too long");
    let mut bytes = vec![0; length.ok_or_else(too_long)?];
    file.read(0, &mut bytes);
    Ok(Some((bytes, file.unreadable(path))))
}

/// The sum and the payload of the first item, if there is one, and what follows.
pub(super) fn first(bytes: &[u8], chain: u64) -> Option<(u64, &[u8], &[u8])> {
    let (length, bytes) = bytes.split_first_chunk::<4>()?;
    let (sum, bytes) = bytes.split_first_chunk::<8>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok().filter(|length| *length > 0)?;
    let (payload, rest) = bytes.split_at_checked(length)?;
    let sum = u64::from_le_bytes(*sum);
    (check(chain, payload) == sum).then_some((sum, payload, rest))
}

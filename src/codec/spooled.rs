//! A file of a spool as earlier builds wrote it: checkpoints that have no place in the store yet.
//!
//! Bound to its store and its own name, with a sum over the whole file: a part of it is refused.

use super::{Placed, check};
use crate::checkpoint::Id;

const MAGIC: &[u8; 8] = b"wayposts";
const NAME_BYTES: usize = 36;
const SUM_BYTES: usize = 8;
/// How many first bytes show what a file claims to be.
pub(crate) const SPOOLED_HEAD_BYTES: usize = MAGIC.len() + 8 + NAME_BYTES + 4;

/// The bytes of a file. Its frames stand alone and have the sequence zero.
#[cfg(test)]
pub(crate) fn encode_spooled(identity: u64, name: &Id, placed: &[Placed]) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&identity.to_le_bytes());
    out.extend_from_slice(name.as_str().as_bytes());
    out.extend_from_slice(&length(placed.len()));
    for placed in placed {
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        placed.encode(&mut out);
        let written = length(out.len() - start - 4);
        out[start..start + 4].copy_from_slice(&written);
    }
    let sum = check(identity, &out);
    out.extend_from_slice(&sum.to_le_bytes());
    out
}

/// The checkpoints of a file of this store with this name, or its fault.
pub(crate) fn decode_spooled(
    bytes: &[u8],
    identity: u64,
    name: &Id,
) -> Result<Vec<Placed>, &'static str> {
    let (found, count) = head(bytes).ok_or("not a file of a spool, or cut short")?;
    if found != identity {
        return Err("it is of another store");
    }
    let (content, sum) = bytes.split_last_chunk::<SUM_BYTES>().ok_or("it is cut short")?;
    if check(identity, content) != u64::from_le_bytes(*sum) {
        return Err("its checksum differs");
    }
    if !content[MAGIC.len() + 8..].starts_with(name.as_str().as_bytes()) {
        return Err("it was written under another name");
    }
    let items = content.get(SPOOLED_HEAD_BYTES..).unwrap_or_default();
    let placed = items_of(items).ok_or("it cannot be read")?;
    if placed.len() as u64 == u64::from(count) { Ok(placed) } else { Err("it cannot be read") }
}

/// The number of checkpoints that a file claims by its first bytes; nothing of that is checked.
pub(crate) fn spooled_count(head_bytes: &[u8]) -> Option<u32> {
    head(head_bytes).map(|(_, count)| count)
}

/// The identity of the store that a file claims; nothing of that is checked.
pub(crate) fn spooled_identity(bytes: &[u8]) -> Option<u64> {
    head(bytes).map(|(identity, _)| identity)
}

/// The identity and the count.
fn head(bytes: &[u8]) -> Option<(u64, u32)> {
    let (identity, rest) = bytes.strip_prefix(MAGIC)?.split_first_chunk::<8>()?;
    let count = rest.get(NAME_BYTES..)?.first_chunk::<4>()?;
    Some((u64::from_le_bytes(*identity), u32::from_le_bytes(*count)))
}

fn items_of(mut bytes: &[u8]) -> Option<Vec<Placed>> {
    let mut placed = Vec::new();
    while !bytes.is_empty() {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (item, rest) = rest.split_at_checked(length)?;
        placed.push(Placed::decode(item)?);
        bytes = rest;
    }
    Some(placed)
}

#[cfg(test)]
fn length(length: usize) -> [u8; 4] {
    u32::try_from(length).expect("a document is within the limits").to_le_bytes()
}

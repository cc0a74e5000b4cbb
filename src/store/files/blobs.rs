//! Captured contents as they are stored: compressed, in chunks, each under its hash.
//!
//! Must never return bytes that fail their checksum.

use std::ops::Bound;
use std::path::Path;

use redb::{ReadableTable, Table};

use crate::checkpoint::Hash;
use crate::codec::{Flaw, FoundFrame, Frames};
use crate::error::{Error, Result};
use crate::key::{BlobBytes, blob_chunk, blob_hash, blob_row, blob_rows};
use crate::store::chain::unpack::CHUNK_BYTES_MIN;
use crate::store::engine::fault::{In, OUT_OF_ORDER};
use crate::store::options::Limits;

// Three to a page of 4 KiB, and one to a page where there are many; as for documents, but keys are
// longer.
const CHUNK_BYTES: usize = 1326;
const LARGE_FROM_BYTES: usize = 64 << 10;
const LARGE_CHUNK_BYTES: usize = 4054;
const _: () = assert!(Limits::ARTIFACT_BYTES_MAX + 128 <= u16::MAX as usize * LARGE_CHUNK_BYTES);
const _: () = assert!(LARGE_FROM_BYTES <= u16::MAX as usize * CHUNK_BYTES);
const _: () = assert!(CHUNK_BYTES >= CHUNK_BYTES_MIN);

/// All chunks of a content as stored; `None` if there is none.
pub(in crate::store) fn stored(
    table: &impl ReadableTable<BlobBytes, &'static [u8]>,
    hash: &Hash,
    path: &Path,
) -> Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    for row in table.range(blob_rows(hash)).within(path)? {
        bytes.extend_from_slice(row.within(path)?.1.value());
    }
    Ok(Some(bytes).filter(|bytes| !bytes.is_empty()))
}

/// Length of all contents as stored.
///
/// All chunks of a content but the last are of one length, so its first and last row tell.
pub(in crate::store) fn stored_bytes(
    table: &impl ReadableTable<BlobBytes, &'static [u8]>,
    path: &Path,
) -> Result<u64> {
    let mut total = 0;
    let mut next = table.first().within(path)?;
    while let Some((first, chunk)) = next {
        let hash = blob_hash(first.value());
        let rows = blob_rows(&hash);
        let last = table.range(rows.clone()).within(path)?.next_back();
        if let Some((last, rest)) = last.transpose().within(path)? {
            let before = u64::from(blob_chunk(last.value())) * chunk.value().len() as u64;
            total += before + rest.value().len() as u64;
        }
        let behind = (Bound::Excluded(*rows.end()), Bound::Unbounded);
        next = table.range::<BlobBytes>(behind).within(path)?.next().transpose().within(path)?;
        // A damaged page may have any order, and this would never end.
        if next.as_ref().is_some_and(|(row, _)| row.value() <= *rows.end()) {
            return Err(Error::corrupt("table blobs", OUT_OF_ORDER));
        }
    }
    Ok(total)
}

/// Unpacks a content of this length from its stored form.
pub(in crate::store) fn unpack(
    frames: &Frames,
    bytes: &[u8],
    (hash, length): (&Hash, u64),
) -> std::result::Result<Vec<u8>, Flaw> {
    let found = FoundFrame::parse(bytes)?;
    // The row of the file is checked, so its length is right; and no capture exceeds this.
    if found.raw_bytes != length || length > Limits::ARTIFACT_BYTES_MAX as u64 {
        return Err("its content has a different length than its row says".into());
    }
    let content = frames.unpack(&found, seed(hash), None)?;
    found.verify(seed(hash), &content)?;
    Ok(content)
}

/// Whether these bytes are a stored form of a content.
///
/// The sum covers the stored bytes and the content, so nothing need be decompressed.
pub(in crate::store) fn is_stored_form(
    frames: &Frames,
    bytes: &[u8],
    hash: &Hash,
    content: &[u8],
) -> bool {
    FoundFrame::parse(bytes).is_ok_and(|found| frames.is_of(&found, seed(hash), content))
}

pub(in crate::store) fn insert_blob(
    blobs: &mut Table<'_, BlobBytes, &'static [u8]>,
    hash: &Hash,
    bytes: &[u8],
) -> std::result::Result<(), redb::StorageError> {
    // The replaced content may have had more chunks.
    if blobs.get(blob_row(hash, 0))?.is_some() {
        blobs.retain_in(blob_rows(hash), |_, _| false)?;
    }
    let large = bytes.len() >= LARGE_FROM_BYTES;
    let chunks = bytes.chunks(if large { LARGE_CHUNK_BYTES } else { CHUNK_BYTES });
    for (chunk, number) in chunks.zip(0..u16::MAX) {
        blobs.insert(blob_row(hash, number), chunk)?;
    }
    Ok(())
}

/// Binds a content to its hash, as a sequence binds a document.
pub(in crate::store) fn seed(hash: &Hash) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&hash.as_bytes()[..8]);
    u64::from_le_bytes(bytes)
}

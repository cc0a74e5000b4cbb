//! Files that are compressed by gzip.

use std::io::{self, Read as _};

use flate2::read::MultiGzDecoder;

/// Tells whether bytes start like a file of gzip.
pub(crate) fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// Returns what is in a file, or `None` if that is more than `limit` bytes.
pub(crate) fn decompress(bytes: &[u8], limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut text = Vec::new();
    MultiGzDecoder::new(bytes).take(limit + 1).read_to_end(&mut text)?;
    Ok((text.len() as u64 <= limit).then_some(text))
}

//! Texts compressed by gzip, as other systems write and read them.

use std::io::{self, Read, Write};

use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use waypost::{Error, Result};

// What Node and `gzip -n` write on any system: neither a time nor a name, and made on Unix.
const UNIX: u8 = 3;
// The level that both have unless told otherwise.
const LEVEL: u32 = 6;

/// Compresses what is written to it; ended by `finish`.
pub(crate) fn writer<W: Write>(out: W) -> GzEncoder<W> {
    GzBuilder::new().mtime(0).operating_system(UNIX).write(out, Compression::new(LEVEL))
}

/// What is in a file that may consist of several compressed ones.
pub(crate) fn reader<R: Read>(compressed: R) -> impl Read {
    MultiGzDecoder::new(compressed)
}

/// Tells whether bytes start like a file of gzip.
pub(crate) fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// The compressed form of a text; the same for the same text.
pub(crate) fn compress(text: &[u8]) -> Vec<u8> {
    // States of agents shrink to a third or less.
    let mut writer = writer(Vec::with_capacity(text.len() / 3 + 64));
    let written = writer.write_all(text).and_then(|()| writer.finish());
    written.expect("a vector takes whatever is written to it")
}

/// The text in a compressed file, if it has at most `limit` bytes; no more than that is made.
///
/// # Errors
/// [`Error::Invalid`] if it is damaged, cut off or something else, or [`Error::Limit`].
pub(crate) fn decompress(compressed: &[u8], limit: u64) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut reader = reader(compressed);
    let read = reader.by_ref().take(limit).read_to_end(&mut text);
    let is_longer = read.and_then(|_| has_more(&mut reader)).map_err(|error| invalid(&error))?;
    if is_longer {
        return Err(Error::Limit { what: "length in bytes of the text".to_owned(), limit });
    }
    Ok(text)
}

fn has_more(reader: &mut impl Read) -> io::Result<bool> {
    Ok(reader.read(&mut [0])? > 0)
}

fn invalid(error: &io::Error) -> Error {
    Error::Invalid { what: "gzip".to_owned(), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_the_one_of_node() {
        assert_eq!(compress(b"{}")[..10], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
    }

    #[test]
    fn members_that_follow_each_other_are_one_text() {
        let mut both = compress(b"first, ");
        both.extend(compress(b"second"));
        assert_eq!(decompress(&both, 13).unwrap(), b"first, second");
    }

    #[test]
    fn a_text_beyond_the_limit_is_refused_before_it_is_made() {
        let bomb = compress(&vec![0; 64 << 20]);
        assert!(bomb.len() < 1 << 17);
        assert!(matches!(decompress(&bomb, 1 << 10), Err(Error::Limit { limit: 1024, .. })));
        let members = compress(b"1234").repeat(3);
        assert!(matches!(decompress(&members, 11), Err(Error::Limit { .. })));
        assert_eq!(decompress(&members, 12).unwrap().len(), 12);
    }

    #[test]
    fn what_is_cut_off_damaged_or_something_else_is_refused() {
        let whole = compress(b"a text that is long enough to be cut off anywhere");
        for end in 1..whole.len() {
            let cut = decompress(&whole[..end], 100);
            assert!(matches!(cut, Err(Error::Invalid { .. })), "{end}");
        }
        let mut damaged = whole.clone();
        damaged[whole.len() - 6] ^= 1;
        assert!(matches!(decompress(&damaged, 100), Err(Error::Invalid { .. })));
        assert!(matches!(decompress(b"{}", 100), Err(Error::Invalid { .. })));
    }
}

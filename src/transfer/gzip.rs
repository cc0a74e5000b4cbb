//! Compresses and decompresses texts with gzip, as other systems do.

#[cfg(test)]
mod fuzz;

use std::cell::RefCell;
use std::io::{self, Read, Write};

use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use flate2::{Compress, Compression, Crc, FlushCompress, GzBuilder, Status};

use crate::error::{Error, Result};

// Node and `gzip -n` write no time, no name, and Unix as the system, whatever it is.
const UNIX: u8 = 3;
// The default level of both.
const LEVEL: u32 = 6;
/// The start of a file.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, UNIX];

/// Compresses what is written to it. Call `finish` at the end.
pub fn writer<W: Write>(out: W) -> GzEncoder<W> {
    GzBuilder::new().mtime(0).operating_system(UNIX).write(out, Compression::new(LEVEL))
}

/// Decompresses a file, which may have several members.
pub fn reader<R: Read>(compressed: R) -> MultiGzDecoder<R> {
    MultiGzDecoder::new(compressed)
}

/// True if bytes start like a gzip file.
#[must_use]
pub fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// Compresses a text. The same text gives the same bytes.
#[must_use]
pub fn compress(text: &[u8]) -> Vec<u8> {
    thread_local! {
        // Making a new one for each text of 16 KB takes a seventh longer.
        static DEFLATE: RefCell<Compress> =
            RefCell::new(Compress::new(Compression::new(LEVEL), false));
    }
    let mut file = Vec::with_capacity(text.len() + text.len() / 1000 + 64);
    file.extend_from_slice(&HEADER);
    DEFLATE.with_borrow_mut(|deflate| {
        deflate.reset();
        loop {
            let taken = usize::try_from(deflate.total_in()).unwrap_or(usize::MAX);
            let left = text.get(taken..).unwrap_or_default();
            let status = deflate.compress_vec(left, &mut file, FlushCompress::Finish);
            if status.expect("any bytes can be compressed") == Status::StreamEnd {
                break;
            }
            file.reserve(text.len() / 8 + 64);
        }
    });
    let mut crc = Crc::new();
    crc.update(text);
    file.extend_from_slice(&crc.sum().to_le_bytes());
    file.extend_from_slice(&crc.amount().to_le_bytes());
    file
}

/// Decompresses a text of at most `limit` bytes, and stops there if it is longer.
///
/// # Errors
/// [`Error::Invalid`] if it is damaged, cut off or no gzip file, or [`Error::Limit`].
pub fn decompress(compressed: &[u8], limit: u64) -> Result<Vec<u8>> {
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
    Error::Invalid { what: "gzip".into(), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_the_one_of_node() {
        assert_eq!(compress(b"{}")[..10], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
    }

    #[test]
    fn a_text_at_once_or_in_parts_comes_back() {
        let mut random = 1_u64;
        let mut noise = |_| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            random.to_be_bytes()[0]
        };
        let texts = [
            Vec::new(),
            b"{}".to_vec(),
            b"again and ".repeat(9999),
            (0..99_999).map(&mut noise).collect(),
        ];
        for text in texts {
            let mut parts = writer(Vec::new());
            text.chunks(1000).for_each(|part| parts.write_all(part).unwrap());
            let compressed = compress(&text);
            assert_eq!(decompress(&compressed, 100_000).unwrap(), text);
            assert_eq!(decompress(&parts.finish().unwrap(), 100_000).unwrap(), text);
            assert_eq!(compress(&text), compressed, "whatever was compressed before");
        }
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

//! Frames: a document's raw bytes as they lie on disk, compressed and checked.
//!
//! Must never hand out bytes whose checksum does not fit.

use std::sync::Mutex;

use zstd::bulk::{Compressor, Decompressor};

use super::check;
use super::wire::{Malformed, Reader, put};
use crate::sync::lock;

/// The raw bytes follow as they are.
const PLAIN: u8 = 0;
/// One zstd frame that stands alone.
const WHOLE: u8 = 1;

// The knee of the table of levels in docs/DESIGN.md.
const LEVEL: i32 = 1;
// Below this zstd's own header costs more than it saves.
const COMPRESS_FROM_BYTES: usize = 64;
const CHECK_BYTES: usize = 8;

/// A frame that has been compressed but has no place in a store yet.
#[derive(Debug)]
pub(crate) struct Frame {
    /// Kind and raw length, as on disk.
    head: Vec<u8>,
    payload: Vec<u8>,
    /// Of the payload and of the raw bytes.
    checks: [u64; 2],
}

/// Compresses and decompresses frames, from any number of threads at once.
#[derive(Default)]
pub(crate) struct Frames {
    // Contexts are large; each is used by one thread at a time and then kept for the next.
    compressors: Mutex<Vec<Compressor<'static>>>,
    decompressors: Mutex<Vec<Decompressor<'static>>>,
}

impl std::fmt::Debug for Frames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Frames").finish_non_exhaustive()
    }
}

impl Frame {
    /// The bytes on disk, bound to the place they are stored at.
    pub(crate) fn to_bytes(&self, sequence: u64) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.stored_bytes());
        out.extend_from_slice(&self.head);
        let sealed = seal(sequence, &self.head, self.checks);
        out.extend_from_slice(&sealed.to_le_bytes());
        out.extend_from_slice(&self.payload);
        out
    }

    pub(crate) fn stored_bytes(&self) -> usize {
        self.head.len() + CHECK_BYTES + self.payload.len()
    }
}

impl Frames {
    pub(crate) fn pack(&self, raw: &[u8]) -> Frame {
        let compressed = (raw.len() >= COMPRESS_FROM_BYTES)
            .then(|| self.compress(raw))
            .flatten()
            .filter(|compressed| compressed.len() < raw.len());
        let (kind, payload) = match compressed {
            Some(payload) => (WHOLE, payload),
            None => (PLAIN, raw.to_owned()),
        };
        let mut head = Vec::with_capacity(10);
        put(&mut head, kind);
        put(&mut head, raw.len() as u64);
        let checks = [check(0, &payload), check(0, raw)];
        Frame { head, payload, checks }
    }

    /// The raw bytes of the frame stored at `sequence`, or which check they fail.
    ///
    /// `length` is what is known from elsewhere to be right, and all that is allocated.
    pub(crate) fn unpack(
        &self,
        sequence: u64,
        bytes: &[u8],
        length: usize,
    ) -> Result<Vec<u8>, &'static str> {
        let mut reader = Reader::new(bytes);
        let (kind, claimed, sealed) =
            header(&mut reader).map_err(|_| "frame header is cut short")?;
        let head = &bytes[..bytes.len() - reader.rest().len() - CHECK_BYTES];
        if claimed != length as u64 {
            return Err("frame is of another length than its entry says");
        }
        let raw = match kind {
            PLAIN => reader.rest().to_owned(),
            WHOLE => self.decompress(reader.rest(), length).ok_or("zstd frame is damaged")?,
            _ => return Err("frame is of an unknown kind"),
        };
        if raw.len() != length {
            return Err("frame is not as long as it says");
        }
        if seal(sequence, head, [check(0, reader.rest()), check(0, &raw)]) != sealed {
            return Err("checksum differs");
        }
        Ok(raw)
    }

    fn compress(&self, raw: &[u8]) -> Option<Vec<u8>> {
        let pooled = lock(&self.compressors).pop();
        let mut compressor = pooled.or_else(|| Compressor::new(LEVEL).ok())?;
        let compressed = compressor.compress(raw).ok();
        lock(&self.compressors).push(compressor);
        compressed
    }

    /// zstd never writes beyond `length`.
    fn decompress(&self, payload: &[u8], length: usize) -> Option<Vec<u8>> {
        let pooled = lock(&self.decompressors).pop();
        let mut decompressor = pooled.or_else(|| Decompressor::new().ok())?;
        let raw = decompressor.decompress(payload, length).ok();
        lock(&self.decompressors).push(decompressor);
        raw
    }
}

fn header(reader: &mut Reader<'_>) -> Result<(u8, u64, u64), Malformed> {
    let kind = reader.take()?;
    let length = reader.take()?;
    let sealed = reader.take_bytes(CHECK_BYTES)?.try_into().map_err(|_| Malformed)?;
    Ok((kind, length, u64::from_le_bytes(sealed)))
}

/// Binds raw and stored bytes to their header and place, so that a frame in another's place is
/// noticed, and so is a flipped bit that zstd does not look at.
fn seal(sequence: u64, head: &[u8], checks: [u64; 2]) -> u64 {
    check(check(sequence, head), checks.map(u64::to_le_bytes).as_flattened())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw() -> Vec<u8> {
        "the same words again and again ".repeat(20).into_bytes()
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        let frames = Frames::default();
        for raw in [Vec::new(), vec![0], raw(), (0..=255).collect()] {
            let bytes = frames.pack(&raw).to_bytes(7);
            assert_eq!(frames.unpack(7, &bytes, raw.len()).unwrap(), raw);
        }
        assert!(frames.pack(&raw()).stored_bytes() < 100);
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_an_error() {
        let frames = Frames::default();
        for raw in [b"short".to_vec(), raw()] {
            let bytes = frames.pack(&raw).to_bytes(7);
            for bit in 0..bytes.len() * 8 {
                let mut damaged = bytes.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                assert!(frames.unpack(7, &damaged, raw.len()).is_err(), "bit {bit}");
            }
            for length in 0..bytes.len() {
                assert!(frames.unpack(7, &bytes[..length], raw.len()).is_err(), "cut at {length}");
            }
        }
    }

    #[test]
    fn a_frame_in_the_place_of_another_is_an_error() {
        let frames = Frames::default();
        let bytes = frames.pack(&raw()).to_bytes(7);
        assert_eq!(frames.unpack(8, &bytes, raw().len()), Err("checksum differs"));
    }

    #[test]
    fn a_frame_that_claims_another_length_is_not_decompressed() {
        let frames = Frames::default();
        let bytes = frames.pack(&vec![0; 1 << 20]).to_bytes(7);
        assert!(bytes.len() < 200);
        assert_eq!(
            frames.unpack(7, &bytes, 1 << 10),
            Err("frame is of another length than its entry says")
        );
    }
}

//! Numbers, text and bytes as bincode 2 writes them in its standard configuration.
//!
//! The only file that names bincode: a byte-compatible crate can replace it here. Reads borrow from
//! the input and never allocate, so no length in it is trusted.

use bincode::config::{Configuration, standard};
use bincode::de::BorrowDecode;
use bincode::enc::Encode;
use bincode::enc::write::Writer;
use bincode::error::EncodeError;

const CONFIG: Configuration = standard();
/// Integers up to this are one byte.
const ONE_BYTE_MAX: u8 = 250;

/// A short text with what follows it.
pub(super) const BLOCK: usize = 16;

/// Appends one value.
pub(super) fn put(out: &mut Vec<u8>, value: impl Encode) {
    bincode::encode_into_writer(value, Sink(out), CONFIG)
        .expect("primitives and text always encode, and a vector takes any bytes");
}

/// Appends text or bytes with their length.
///
/// Most are short, and then their length is one byte: documents are full of them.
#[inline]
pub(super) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    match u8::try_from(bytes.len()) {
        Ok(length) if length <= ONE_BYTE_MAX => {
            out.reserve(1 + bytes.len());
            out.push(length);
            out.extend_from_slice(bytes);
        }
        _ => put(out, bytes),
    }
}

struct Sink<'a>(&'a mut Vec<u8>);

impl Writer for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

/// The unread rest of a slice.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

/// The bytes end early or are not what a writer would have written.
#[derive(Debug)]
pub(super) struct Malformed;

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Takes one value off the front.
    pub(super) fn take<T: BorrowDecode<'a, ()>>(&mut self) -> Result<T, Malformed> {
        let (value, length) =
            bincode::borrow_decode_from_slice(self.rest, CONFIG).map_err(|_| Malformed)?;
        self.rest = &self.rest[length..];
        Ok(value)
    }

    /// Takes a byte off the front.
    #[inline]
    pub(super) fn take_byte(&mut self) -> Result<u8, Malformed> {
        let (byte, rest) = self.rest.split_first().ok_or(Malformed)?;
        self.rest = rest;
        Ok(*byte)
    }

    /// Takes text with its length off the front.
    #[inline]
    pub(super) fn take_text(&mut self) -> Result<&'a str, Malformed> {
        std::str::from_utf8(self.take_text_bytes()?).map_err(|_| Malformed)
    }

    /// Takes text or bytes with their length off the front.
    #[inline]
    pub(super) fn take_text_bytes(&mut self) -> Result<&'a [u8], Malformed> {
        match self.rest.split_first() {
            Some((length, rest)) if *length <= ONE_BYTE_MAX => {
                let (bytes, rest) = rest.split_at_checked((*length).into()).ok_or(Malformed)?;
                self.rest = rest;
                Ok(bytes)
            }
            _ => self.take(),
        }
    }

    /// The bytes from the start of the text at the front, and its length; `None` if it is longer
    /// than they are, or if fewer are left.
    #[inline]
    pub(super) fn peek_short(&self) -> Option<(&'a [u8; BLOCK], usize)> {
        let (length, rest) = self.rest.split_first()?;
        let length = usize::from(*length);
        Some((rest.first_chunk()?, length)).filter(|_| length <= BLOCK)
    }

    /// Passes over bytes.
    #[inline]
    pub(super) fn skip(&mut self, length: usize) -> Result<(), Malformed> {
        self.rest = self.rest.get(length..).ok_or(Malformed)?;
        Ok(())
    }

    /// Takes `length` bytes off the front.
    pub(super) fn take_bytes(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(Malformed)?;
        self.rest = rest;
        Ok(bytes)
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Disks hold these bytes; a bincode that writes others cannot be used.
    #[test]
    fn the_bytes_are_the_ones_that_the_format_document_specifies() {
        let written = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut out = Vec::new();
            write(&mut out);
            out
        };
        assert_eq!(written(&|out| put(out, 250_u64)), [250]);
        assert_eq!(written(&|out| put(out, 251_u64)), [251, 251, 0]);
        assert_eq!(written(&|out| put(out, 65_536_u64)), [252, 0, 0, 1, 0]);
        assert_eq!(written(&|out| put(out, 1_u64 << 32)), [253, 0, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(written(&|out| put(out, -1_i64)), [1]);
        assert_eq!(written(&|out| put(out, 1_i64)), [2]);
        assert_eq!(written(&|out| put(out, 1.5_f64)), [0, 0, 0, 0, 0, 0, 248, 63]);
        assert_eq!(written(&|out| put(out, "ab")), [2, b'a', b'b']);
    }

    #[test]
    fn the_short_ways_write_and_read_the_same_bytes() {
        for length in [0, 1, 250, 251, 252, 70_000] {
            let text = "x".repeat(length);
            let (mut long, mut short) = (Vec::new(), Vec::new());
            put(&mut long, text.as_str());
            put_bytes(&mut short, text.as_bytes());
            assert_eq!(long, short, "{length}");
            assert_eq!(Reader::new(&long).take_text().unwrap(), text);
            assert!(Reader::new(&long[..long.len() - 1]).take_text().is_err());
        }
        assert!(Reader::new(&[1, 0xff]).take_text().is_err());
        assert!(Reader::new(&[]).take_byte().is_err());
    }

    #[test]
    fn a_length_beyond_the_end_is_malformed() {
        let claims_much = [253, 0, 0, 0, 0, 0, 1, 0, 0, b'a'];
        assert!(Reader::new(&claims_much).take::<&str>().is_err());
        assert!(Reader::new(&[3, b'a']).take::<&[u8]>().is_err());
        assert!(Reader::new(&[1, 0xff]).take::<&str>().is_err());
    }
}

//! The stored form of a document: a flat run of tokens, each a tag byte and its bincode payload.
//!
//! A container is open until its [`END`], so a writer needs no counts in advance, and a reader
//! trusts none. A changed element changes no byte outside itself.

use super::fault::Fault;
use super::json;
use super::wire::{Malformed, Reader, put, put_bytes};

pub(super) const NULL: u8 = 0;
pub(super) const FALSE: u8 = 1;
pub(super) const TRUE: u8 = 2;
pub(super) const UINT: u8 = 3;
pub(super) const INT: u8 = 4;
pub(super) const FLOAT: u8 = 5;
pub(super) const NUMBER: u8 = 6;
pub(super) const TEXT: u8 = 7;
pub(super) const BYTES: u8 = 8;
pub(super) const ARRAY: u8 = 9;
pub(super) const OBJECT: u8 = 10;
pub(super) const END: u8 = 11;

/// One token, borrowed from the stored bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Token<'a> {
    Null,
    Bool(bool),
    /// From zero up.
    Uint(u64),
    /// Below zero.
    Int(i64),
    Float(f64),
    /// A number literal.
    Number(&'a str),
    Text(&'a str),
    Bytes(&'a [u8]),
    Array,
    /// Keys are text tokens.
    Object,
    End,
}

impl<'a> Token<'a> {
    // Types of other crates are read by code that is compiled there.
    #[inline]
    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(match reader.take_byte()? {
            NULL => Self::Null,
            FALSE => Self::Bool(false),
            TRUE => Self::Bool(true),
            UINT => Self::Uint(reader.take()?),
            INT => Self::Int(reader.take()?),
            FLOAT => Self::Float(reader.take()?),
            NUMBER => Self::Number(reader.take_text()?),
            TEXT => Self::Text(reader.take_text()?),
            BYTES => Self::Bytes(reader.take()?),
            ARRAY => Self::Array,
            OBJECT => Self::Object,
            END => Self::End,
            _ => return Err(Malformed),
        })
    }
}

/// Sizes that a document must not exceed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) bytes: usize,
    pub(crate) depth: usize,
}

impl Bounds {
    pub(crate) const DEFAULT: Self = Self { bytes: 64 << 20, depth: 128 };
}

/// Writes tokens, and stops at the limits before memory or stack run out.
#[derive(Debug)]
pub(super) struct Tokens {
    out: Vec<u8>,
    depth: usize,
    bounds: Bounds,
}

impl Tokens {
    /// `expected_bytes` saves reallocations, if it is near the length of the document.
    pub(super) fn new(bounds: Bounds, expected_bytes: usize) -> Self {
        Self { out: Vec::with_capacity(expected_bytes.min(bounds.bytes)), depth: 0, bounds }
    }

    pub(super) fn finish(self) -> Result<Vec<u8>, Fault> {
        self.check_size()?;
        Ok(self.out)
    }

    pub(super) fn null(&mut self) -> Result<(), Fault> {
        self.tag(NULL)
    }

    pub(super) fn bool(&mut self, value: bool) -> Result<(), Fault> {
        self.tag(if value { TRUE } else { FALSE })
    }

    pub(super) fn uint(&mut self, value: u64) -> Result<(), Fault> {
        self.tag(UINT)?;
        put(&mut self.out, value);
        Ok(())
    }

    pub(super) fn int(&mut self, value: i64) -> Result<(), Fault> {
        if let Ok(value) = u64::try_from(value) {
            return self.uint(value);
        }
        self.tag(INT)?;
        put(&mut self.out, value);
        Ok(())
    }

    pub(super) fn float(&mut self, value: f64) -> Result<(), Fault> {
        self.tag(FLOAT)?;
        put(&mut self.out, value);
        Ok(())
    }

    pub(super) fn number(&mut self, literal: &str) -> Result<(), Fault> {
        self.tag(NUMBER)?;
        put_bytes(&mut self.out, literal.as_bytes());
        Ok(())
    }

    #[inline]
    pub(super) fn text(&mut self, text: &str) -> Result<(), Fault> {
        self.tag(TEXT)?;
        put_bytes(&mut self.out, text.as_bytes());
        self.check_size()
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.tag(BYTES)?;
        put_bytes(&mut self.out, bytes);
        self.check_size()
    }

    pub(super) fn open_array(&mut self) -> Result<(), Fault> {
        self.open(ARRAY)
    }

    pub(super) fn open_object(&mut self) -> Result<(), Fault> {
        self.open(OBJECT)
    }

    pub(super) fn close(&mut self) -> Result<(), Fault> {
        self.depth -= 1;
        self.tag(END)
    }

    /// The offset of the next token, for [`Tokens::text_at`].
    pub(super) fn position(&self) -> usize {
        self.out.len()
    }

    /// The text token at `position`, to name a key in an error.
    pub(super) fn text_at(&self, position: usize) -> &str {
        let token = self.out.get(position..).map(|bytes| Token::read(&mut Reader::new(bytes)));
        if let Some(Ok(Token::Text(text))) = token { text } else { "" }
    }

    /// Turns the text token at `position`, the last one written, into a number literal.
    pub(super) fn make_number(&mut self, position: usize) -> Result<(), Fault> {
        if !json::is_number(self.text_at(position)) {
            return Err(Fault::refused("not a number literal"));
        }
        self.out[position] = NUMBER;
        Ok(())
    }

    fn open(&mut self, tag: u8) -> Result<(), Fault> {
        if self.depth == self.bounds.depth {
            return Err(Fault::limit("depth", self.bounds.depth));
        }
        self.depth += 1;
        self.tag(tag)
    }

    #[inline]
    fn tag(&mut self, tag: u8) -> Result<(), Fault> {
        self.check_size()?;
        self.out.push(tag);
        Ok(())
    }

    #[inline]
    fn check_size(&self) -> Result<(), Fault> {
        if self.out.len() > self.bounds.bytes {
            return Err(Fault::limit("length in bytes", self.bounds.bytes));
        }
        Ok(())
    }
}

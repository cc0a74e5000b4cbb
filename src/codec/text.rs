//! Tokens straight into JSON text.

use std::io::{self, Write};

use super::token::{END, Token};
use super::wire::{Malformed, Reader};

/// How JSON text is laid out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum JsonStyle {
    /// One line, no spaces.
    #[default]
    Compact,
    /// Two spaces a level, one element a line.
    Pretty,
}

/// Writes the document in `raw`. Depth costs no stack.
pub(super) fn write(raw: &[u8], style: JsonStyle, out: &mut impl Write) -> io::Result<()> {
    let mut reader = Reader::new(raw);
    let mut writer = Writer { out, style, open: Vec::new() };
    loop {
        let token = Token::read(&mut reader).map_err(malformed)?;
        writer.token(token, reader.peek() == Some(END))?;
        if writer.open.is_empty() {
            break;
        }
    }
    if reader.rest().is_empty() { Ok(()) } else { Err(malformed(Malformed)) }
}

/// Not an error of whoever takes the text.
#[derive(Debug, thiserror::Error)]
#[error("not a well-formed document")]
pub(super) struct Damaged;

fn malformed(_: Malformed) -> io::Error {
    io::Error::other(Damaged)
}

struct Writer<'a, W> {
    out: &'a mut W,
    style: JsonStyle,
    open: Vec<Container>,
}

struct Container {
    is_object: bool,
    is_empty: bool,
    /// Whether the next token is the value of a key just written.
    after_key: bool,
}

impl<W: Write> Writer<'_, W> {
    /// `ends` tells whether the token after this one closes a container.
    fn token(&mut self, token: Token<'_>, ends: bool) -> io::Result<()> {
        if token == Token::End {
            return self.close();
        }
        let is_key = self.separate()?;
        match token {
            Token::Text(text) => self.string(text)?,
            _ if is_key => return Err(malformed(Malformed)),
            Token::Null => self.out.write_all(b"null")?,
            Token::Bool(true) => self.out.write_all(b"true")?,
            Token::Bool(false) => self.out.write_all(b"false")?,
            Token::Uint(value) => write!(self.out, "{value}")?,
            Token::Int(value) => write!(self.out, "{value}")?,
            Token::Float(value) => self.float(value)?,
            Token::Number(literal) => self.out.write_all(literal.as_bytes())?,
            Token::Bytes(bytes) => self.bytes(bytes)?,
            Token::Array => self.open(b"[", false)?,
            Token::Object => self.open(b"{", true)?,
            Token::End => unreachable!("handled above"),
        }
        if is_key {
            let colon: &[u8] = if self.style == JsonStyle::Pretty { b": " } else { b":" };
            self.out.write_all(colon)?;
            // A key without a value would otherwise look like a finished object.
            if ends {
                return Err(malformed(Malformed));
            }
        }
        Ok(())
    }

    /// Writes what stands before a token, and tells whether that token is a key.
    fn separate(&mut self) -> io::Result<bool> {
        let depth = self.open.len();
        let Some(container) = self.open.last_mut() else {
            return Ok(false);
        };
        if container.after_key {
            container.after_key = false;
            return Ok(false);
        }
        let is_key = container.is_object;
        container.after_key = is_key;
        if !container.is_empty {
            self.out.write_all(b",")?;
        }
        container.is_empty = false;
        self.line(depth)?;
        Ok(is_key)
    }

    fn open(&mut self, bracket: &[u8], is_object: bool) -> io::Result<()> {
        self.open.push(Container { is_object, is_empty: true, after_key: false });
        self.out.write_all(bracket)
    }

    fn close(&mut self) -> io::Result<()> {
        let container = self.open.pop().ok_or_else(|| malformed(Malformed))?;
        if !container.is_empty {
            self.line(self.open.len())?;
        }
        self.out.write_all(if container.is_object { b"}" } else { b"]" })
    }

    fn line(&mut self, depth: usize) -> io::Result<()> {
        if self.style == JsonStyle::Compact {
            return Ok(());
        }
        self.out.write_all(b"\n")?;
        (0..depth).try_for_each(|_| self.out.write_all(b"  "))
    }

    fn string(&mut self, text: &str) -> io::Result<()> {
        // One look at all bytes at once is much faster than one at each in turn.
        let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
        if !text.bytes().fold(true, |so_far, byte| so_far & is_plain(byte)) {
            return Ok(serde_json::to_writer(&mut *self.out, text)?);
        }
        self.out.write_all(b"\"")?;
        self.out.write_all(text.as_bytes())?;
        self.out.write_all(b"\"")
    }

    /// Not-a-number and infinities as Python writes them: `null` would be another value.
    fn float(&mut self, value: f64) -> io::Result<()> {
        if value.is_nan() {
            self.out.write_all(b"NaN")
        } else if value.is_infinite() {
            self.out.write_all(if value > 0.0 { b"Infinity" } else { b"-Infinity" })
        } else {
            Ok(serde_json::to_writer(&mut *self.out, &value)?)
        }
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        let colon = if self.style == JsonStyle::Pretty { ": " } else { ":" };
        write!(self.out, "{{\"$bytes\"{colon}\"")?;
        bytes.chunks(3).try_for_each(|chunk| self.out.write_all(&base64(chunk)))?;
        self.out.write_all(b"\"}")
    }
}

/// One to three bytes as four characters of standard base64.
fn base64(chunk: &[u8]) -> [u8; 4] {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let byte = |index: usize| usize::from(chunk.get(index).copied().unwrap_or_default());
    let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
    let digit = |shift: usize| ALPHABET[bits >> shift & 63];
    let padded = |index: usize, shift: usize| if chunk.len() > index { digit(shift) } else { b'=' };
    [digit(18), digit(12), padded(1, 6), padded(2, 0)]
}

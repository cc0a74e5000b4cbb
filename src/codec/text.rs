//! Tokens straight into JSON text, in any style.
//!
//! What is compact and not only ASCII, as almost every text is, [`Compact`] writes.

use std::io::{self, Write};

use super::TEXT_BYTES_MAX;
use super::compact::Compact;
use super::token::{ARRAY, BYTES, END, FALSE, FLOAT, INT, NULL, NUMBER, OBJECT, TEXT, TRUE, UINT};
use super::wire::{Malformed, Reader};
use crate::checkpoint::{Spacing, TextStyle};

/// How JSON text is laid out.
///
/// ```
/// use waypost::source::JsonStyle;
/// use waypost::{NewEntry, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let saved = store.save(NewEntry::default(), &[1, 2])?;
/// let checkpoint = store.get(&saved.id)?;
/// assert_eq!(checkpoint.to_json(JsonStyle::Compact)?, "[1,2]");
/// assert_eq!(checkpoint.to_json(JsonStyle::Pretty)?, "[\n  1,\n  2\n]");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum JsonStyle {
    /// One line, no spaces.
    #[default]
    Compact,
    /// Two spaces a level, one element a line.
    Pretty,
}

impl From<JsonStyle> for TextStyle {
    fn from(style: JsonStyle) -> Self {
        let spacing = match style {
            JsonStyle::Compact => Spacing::Compact,
            JsonStyle::Pretty => Spacing::Indent(2),
        };
        Self { spacing, ..Self::default() }
    }
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

// Large enough that the writer is called seldom.
const PIECE_BYTES: usize = 32 << 10;

/// The text of the document in `raw`, however long it is.
#[cfg(test)]
pub(super) fn to_text(raw: &[u8], style: TextStyle) -> Result<String, Malformed> {
    to_text_within(raw, style, usize::MAX)?.ok_or(Malformed)
}

/// The text of the document in `raw`, unless it is longer than `bytes_max`.
///
/// Where every element has a line and a wide indent, the text is some thousand times as long as
/// the document. No more of it is made than a line beyond the limit.
pub(super) fn to_text_within(
    raw: &[u8],
    style: TextStyle,
    bytes_max: usize,
) -> Result<Option<String>, Malformed> {
    let mut out = Vec::new();
    if style.has_byte_order_mark {
        out.extend_from_slice(BYTE_ORDER_MARK);
    }
    let is_more = if is_compact(style) {
        Compact::new(raw).append(&mut out, bytes_max.saturating_add(1))?
    } else {
        append_styled(raw, style, &mut out, bytes_max)?
    };
    if is_more {
        return Ok(None);
    }
    if style.has_final_newline {
        out.push(b'\n');
    }
    let is_within = out.len() <= bytes_max;
    let text = String::from_utf8(out).map_err(|_| Malformed)?;
    Ok(is_within.then_some(text))
}

/// Appends compact text to `out`; if that fails, `out` is as it was.
pub(super) fn append(raw: &[u8], out: &mut Vec<u8>) -> Result<(), Appending> {
    let start = out.len();
    let limit = start.saturating_add(TEXT_BYTES_MAX);
    let outcome = match Compact::new(raw).append(out, limit.saturating_add(1)) {
        Ok(false) if out.len() <= limit => match std::str::from_utf8(&out[start..]) {
            Ok(_) => return Ok(()),
            Err(_) => Appending::Damaged,
        },
        Ok(_) => Appending::TooLong,
        Err(Malformed) => Appending::Damaged,
    };
    out.truncate(start);
    Err(outcome)
}

/// Why no text was appended.
pub(super) enum Appending {
    Damaged,
    TooLong,
}

/// Whether [`Compact`] writes this style, but for a mark before it and a line end after it.
fn is_compact(style: TextStyle) -> bool {
    style.spacing == Spacing::Compact && !style.is_ascii
}

/// Writes text of any style after `out`; true if it is longer than `bytes_max`.
pub(super) fn append_styled(
    raw: &[u8],
    style: TextStyle,
    out: &mut Vec<u8>,
    bytes_max: usize,
) -> Result<bool, Malformed> {
    let mut writer = Writer::new(raw, style, std::mem::take(out));
    // Quotes and commas take more than tags and lengths.
    writer.out.reserve((raw.len() + raw.len() / 4).min(bytes_max));
    let mut is_more = true;
    while is_more && writer.out.len() <= bytes_max {
        is_more = writer.step()?;
    }
    *out = writer.out;
    Ok(is_more)
}

/// Writes the document in `raw`, piece by piece. Depth costs no stack.
pub(super) fn write(raw: &[u8], style: JsonStyle, out: &mut impl Write) -> io::Result<()> {
    match style {
        JsonStyle::Compact => {
            let mut writer = Compact::new(raw);
            write_pieces(out, |piece| writer.append(piece, PIECE_BYTES))
        }
        JsonStyle::Pretty => {
            let mut writer = Writer::new(raw, style.into(), Vec::new());
            write_pieces(out, |piece| {
                std::mem::swap(&mut writer.out, piece);
                let mut is_more = true;
                while is_more && writer.out.len() < PIECE_BYTES {
                    is_more = writer.step()?;
                }
                std::mem::swap(&mut writer.out, piece);
                Ok(is_more)
            })
        }
    }
}

/// Writes what `append` makes, a piece at a time, until that is all.
fn write_pieces(
    out: &mut impl Write,
    mut append: impl FnMut(&mut Vec<u8>) -> Result<bool, Malformed>,
) -> io::Result<()> {
    let mut piece = Vec::new();
    while {
        piece.clear();
        let is_more = append(&mut piece).map_err(malformed)?;
        // Each text is complete, so invalid UTF-8 is not the result of a split.
        std::str::from_utf8(&piece).map_err(|_| malformed(Malformed))?;
        out.write_all(&piece)?;
        is_more
    } {}
    Ok(())
}

/// Not an error of the writer.
#[derive(Debug, thiserror::Error)]
#[error("not a well-formed document")]
pub(super) struct Damaged;

fn malformed(_: Malformed) -> io::Error {
    io::Error::other(Damaged)
}

/// Texts are copied as bytes: checking the whole result for UTF-8 is faster.
struct Writer<'a> {
    reader: Reader<'a>,
    style: TextStyle,
    out: Vec<u8>,
    open: Vec<Container>,
}

struct Container {
    is_object: bool,
    is_empty: bool,
}

impl<'a> Writer<'a> {
    fn new(raw: &'a [u8], style: TextStyle, out: Vec<u8>) -> Self {
        Self { reader: Reader::new(raw), style, out, open: Vec::new() }
    }

    /// Writes one value, or the start or end of one; false if it was the last.
    fn step(&mut self) -> Result<bool, Malformed> {
        let mut tag = self.reader.take_byte()?;
        if tag == END {
            self.close()?;
        } else {
            if let Some(container) = self.open.last_mut() {
                let is_object = container.is_object;
                if !std::mem::take(&mut container.is_empty) {
                    self.out.push(b',');
                    if self.style.spacing == Spacing::Spaced {
                        self.out.push(b' ');
                    }
                }
                self.line();
                if is_object {
                    tag = self.key(tag)?;
                }
            }
            self.value(tag)?;
        }
        if !self.open.is_empty() {
            return Ok(true);
        }
        if self.reader.rest().is_empty() { Ok(false) } else { Err(Malformed) }
    }

    /// Writes a key, and returns the tag of its value.
    fn key(&mut self, tag: u8) -> Result<u8, Malformed> {
        if tag != TEXT {
            return Err(Malformed);
        }
        self.text()?;
        self.out.push(b':');
        if self.style.spacing != Spacing::Compact {
            self.out.push(b' ');
        }
        // A key without a value ends in END, which is no value.
        self.reader.take_byte()
    }

    fn value(&mut self, tag: u8) -> Result<(), Malformed> {
        match tag {
            NULL => self.out.extend_from_slice(b"null"),
            FALSE => self.out.extend_from_slice(b"false"),
            TRUE => self.out.extend_from_slice(b"true"),
            UINT => {
                let value: u64 = self.reader.take()?;
                self.plain(value);
            }
            INT => {
                let value: i64 = self.reader.take()?;
                self.plain(value);
            }
            FLOAT => {
                let mut text = [0; FLOAT_BYTES_MAX];
                let length = write_float(self.reader.take()?, &mut text);
                self.out.extend_from_slice(&text[..length]);
            }
            NUMBER => self.out.extend_from_slice(self.reader.take_text_bytes()?),
            TEXT => self.text()?,
            BYTES => {
                let bytes = self.reader.take_text_bytes()?;
                self.bytes(bytes);
            }
            ARRAY => self.open(b'[', false),
            OBJECT => self.open(b'{', true),
            _ => return Err(Malformed),
        }
        Ok(())
    }

    fn open(&mut self, bracket: u8, is_object: bool) {
        self.open.push(Container { is_object, is_empty: true });
        self.out.push(bracket);
    }

    fn close(&mut self) -> Result<(), Malformed> {
        let container = self.open.pop().ok_or(Malformed)?;
        if !container.is_empty {
            self.line();
        }
        self.out.push(if container.is_object { b'}' } else { b']' });
        Ok(())
    }

    fn line(&mut self) {
        let (width, blank) = match self.style.spacing {
            Spacing::Compact | Spacing::Spaced => return,
            Spacing::Indent(width) => (width.into(), b' '),
            Spacing::Tab => (1, b'\t'),
        };
        self.out.push(b'\n');
        self.out.resize(self.out.len() + width * self.open.len(), blank);
    }

    fn text(&mut self) -> Result<(), Malformed> {
        let text = self.reader.take_text_bytes()?;
        // One pass over all bytes is much faster than a check of each.
        let last = if self.style.is_ascii { b'~' } else { u8::MAX };
        let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\' && byte <= last;
        if text.iter().fold(true, |so_far, byte| so_far & is_plain(*byte)) {
            self.out.reserve(text.len() + 2);
            self.out.push(b'"');
            self.out.extend_from_slice(text);
            self.out.push(b'"');
        } else {
            let text = std::str::from_utf8(text).map_err(|_| Malformed)?;
            let start = self.out.len();
            self.plain(text);
            if self.style.is_ascii {
                self.escape_from(start);
            }
        }
        Ok(())
    }

    /// Replaces what is not ASCII in the text that starts at `start`, as Python does.
    fn escape_from(&mut self, start: usize) {
        let text = self.out.split_off(start);
        for character in String::from_utf8_lossy(&text).chars() {
            if matches!(character, ' '..='~') {
                self.out.push(character as u8);
                continue;
            }
            for unit in character.encode_utf16(&mut [0; 2]) {
                self.out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
            }
        }
    }

    /// Writes a token that JSON can write in one way only.
    fn plain(&mut self, value: impl serde::Serialize) {
        serde_json::to_writer(&mut self.out, &value).expect("a vector takes any bytes");
    }

    fn bytes(&mut self, bytes: &[u8]) {
        let start: &[u8] = match self.style.spacing {
            Spacing::Compact => b"{\"$bytes\":\"",
            _ => b"{\"$bytes\": \"",
        };
        self.out.extend_from_slice(start);
        bytes.chunks(3).for_each(|chunk| self.out.extend_from_slice(&base64(chunk)));
        self.out.extend_from_slice(b"\"}");
    }
}

/// No number is longer.
pub(super) const FLOAT_BYTES_MAX: usize = 32;

/// Writes a number into `out`, and returns its length. NaN and infinities are written as Python
/// does: `null` would be another value.
pub(super) fn write_float(value: f64, out: &mut [u8]) -> usize {
    let mut rest = &mut out[..FLOAT_BYTES_MAX];
    let written = if value.is_nan() {
        rest.write_all(b"NaN")
    } else if value.is_infinite() {
        rest.write_all(if value > 0.0 { b"Infinity" } else { b"-Infinity" })
    } else {
        serde_json::to_writer(&mut rest, &value).map_err(Into::into)
    };
    written.expect("no number is longer");
    FLOAT_BYTES_MAX - rest.len()
}

/// One to three bytes as four characters of standard base64.
pub(super) fn base64(chunk: &[u8]) -> [u8; 4] {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let byte = |index: usize| usize::from(chunk.get(index).copied().unwrap_or_default());
    let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
    let digit = |shift: usize| ALPHABET[bits >> shift & 63];
    let padded = |index: usize, shift: usize| if chunk.len() > index { digit(shift) } else { b'=' };
    [digit(18), digit(12), padded(1, 6), padded(2, 0)]
}

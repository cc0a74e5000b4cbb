//! Tokens straight into compact JSON text, in one loop over the stored bytes.
//!
//! An export writes every document this way, so no token goes through serde unless it is a float.
//! Must write the same text as the writer of all styles in `codec/text.rs`.

#[cfg(test)]
pub(super) mod tests;

use super::text::{base64, write_float};
use super::token::{ARRAY, BYTES, END, FALSE, FLOAT, INT, NULL, NUMBER, OBJECT, TEXT, TRUE, UINT};
use super::wire::{BLOCK, Malformed, Reader};

// More than a short text or a number takes, with all that stands around it.
const ROOM: usize = 64;
// A control character becomes `\u0000`.
const ESCAPE_BYTES_MAX: usize = 6;
/// What stands before the first token of a container.
const NOTHING: u8 = 0;

/// Writes the document in `raw`, part by part. Depth costs no stack.
pub(super) struct Compact<'a> {
    reader: Reader<'a>,
    /// The open containers; true for an object.
    open: Vec<bool>,
    /// What stands before the next token, unless it is the end of a container.
    before: u8,
}

impl<'a> Compact<'a> {
    pub(super) fn new(raw: &'a [u8]) -> Self {
        Self { reader: Reader::new(raw), open: Vec::new(), before: NOTHING }
    }

    /// Appends text until there are `until` bytes or a token more; false if the document has ended.
    ///
    /// Texts are copied as bytes: checking the whole result for UTF-8 is faster.
    pub(super) fn append(&mut self, out: &mut Vec<u8>, until: usize) -> Result<bool, Malformed> {
        let at = out.len();
        let left = self.reader.rest().len();
        // Quotes and commas take more than tags and lengths.
        out.resize(at + (left + left / 4).min(until.saturating_sub(at)) + ROOM, 0);
        let mut page = Page { out, at };
        let outcome = self.write(&mut page, until);
        let Page { out, at } = page;
        out.truncate(at);
        outcome
    }

    fn write(&mut self, page: &mut Page<'_>, until: usize) -> Result<bool, Malformed> {
        // Locals stay in registers.
        let Self { mut reader, mut before, .. } = *self;
        let mut in_object = self.open.last() == Some(&true);
        let mut at = page.at;
        while at < until {
            page.reserve(at, ROOM);
            let tag = reader.take_byte()?;
            let is_value = !in_object || before == b':';
            if tag == END {
                self.open.pop().filter(|_| before != b':').ok_or(Malformed)?;
                page.out[at] = if in_object { b'}' } else { b']' };
                at += 1;
                in_object = self.open.last() == Some(&true);
                before = b',';
            } else {
                page.out[at] = before;
                at += usize::from(before != NOTHING);
                before = if is_value { b',' } else { b':' };
                if tag == TEXT {
                    at = match reader.peek_short() {
                        Some((text, length)) if is_plain(text, length) => {
                            page.out[at] = b'"';
                            // What is behind the text is overwritten later.
                            page.out[at + 1..][..BLOCK].copy_from_slice(text);
                            page.out[at + 1 + length] = b'"';
                            reader.skip(1 + length)?;
                            at + length + 2
                        }
                        _ => page.text(at, reader.take_text_bytes()?),
                    };
                } else if !is_value {
                    return Err(Malformed);
                } else if tag == ARRAY || tag == OBJECT {
                    in_object = tag == OBJECT;
                    page.out[at] = if in_object { b'{' } else { b'[' };
                    at += 1;
                    self.open.push(in_object);
                    before = NOTHING;
                } else {
                    at = page.scalar(at, tag, &mut reader)?;
                }
            }
            if self.open.is_empty() {
                page.at = at;
                return if reader.rest().is_empty() { Ok(false) } else { Err(Malformed) };
            }
        }
        page.at = at;
        (self.reader, self.before) = (reader, before);
        Ok(true)
    }
}

/// Text with room behind it: an index is cheaper to advance than the length of a vector. Each
/// writing method gets an index and returns the next one.
struct Page<'a> {
    out: &'a mut Vec<u8>,
    at: usize,
}

impl Page<'_> {
    #[inline]
    fn reserve(&mut self, at: usize, bytes: usize) {
        if self.out.len() - at < bytes {
            self.grow(at + bytes);
        }
    }

    #[cold]
    fn grow(&mut self, length: usize) {
        self.out.resize(length + length / 2, 0);
    }

    fn bytes(&mut self, at: usize, bytes: &[u8]) -> usize {
        let end = at + bytes.len();
        self.out[at..end].copy_from_slice(bytes);
        end
    }

    /// Writes a text of any length in quotes.
    fn text(&mut self, mut at: usize, text: &[u8]) -> usize {
        at = self.bytes(at, b"\"");
        let mut rest = text;
        loop {
            let plain = plain_length(rest);
            self.reserve(at, plain + ESCAPE_BYTES_MAX + ROOM);
            at = self.bytes(at, &rest[..plain]);
            let Some(special) = rest.get(plain) else { break };
            at = self.escape(at, *special);
            rest = &rest[plain + 1..];
        }
        self.bytes(at, b"\"")
    }

    fn escape(&mut self, at: usize, special: u8) -> usize {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digit = |bits: u8| DIGITS[usize::from(bits & 15)];
        let short = match special {
            b'"' | b'\\' => special,
            0x8 => b'b',
            0x9 => b't',
            0xa => b'n',
            0xc => b'f',
            0xd => b'r',
            _ => {
                let long = [b'\\', b'u', b'0', b'0', digit(special >> 4), digit(special)];
                return self.bytes(at, &long);
            }
        };
        self.bytes(at, &[b'\\', short])
    }

    /// Writes what is neither text nor a container.
    fn scalar(&mut self, at: usize, tag: u8, reader: &mut Reader<'_>) -> Result<usize, Malformed> {
        Ok(match tag {
            NULL => self.bytes(at, b"null"),
            FALSE => self.bytes(at, b"false"),
            TRUE => self.bytes(at, b"true"),
            UINT => self.integer(at, false, reader.take()?),
            INT => {
                let value: i64 = reader.take()?;
                self.integer(at, value < 0, value.unsigned_abs())
            }
            FLOAT => at + write_float(reader.take()?, &mut self.out[at..]),
            NUMBER => {
                let literal = reader.take_text_bytes()?;
                self.reserve(at, literal.len() + ROOM);
                self.bytes(at, literal)
            }
            BYTES => {
                let bytes = reader.take_text_bytes()?;
                self.reserve(at, bytes.len().div_ceil(3) * 4 + ROOM);
                let at = self.bytes(at, b"{\"$bytes\":\"");
                let write = |at, chunk: &[u8]| self.bytes(at, &base64(chunk));
                let at = bytes.chunks(3).fold(at, write);
                self.bytes(at, b"\"}")
            }
            _ => return Err(Malformed),
        })
    }

    fn integer(&mut self, at: usize, is_negative: bool, mut value: u64) -> usize {
        // The longest is the least of 64 bits.
        let mut text = [b'-'; 20];
        let mut start = text.len();
        loop {
            start -= 1;
            text[start] = b'0' + (value % 10).to_le_bytes()[0];
            value /= 10;
            if value == 0 {
                break;
            }
        }
        self.bytes(at, &text[start - usize::from(is_negative)..])
    }
}

fn is_special(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

/// Whether the text at the start of a block stands between quotes as it is.
///
/// One loop over all bytes, without a branch, becomes a few vector instructions.
#[inline]
fn is_plain(block: &[u8; BLOCK], length: usize) -> bool {
    /// By length: the bytes of a block that belong to the text.
    const MASKS: [[u8; BLOCK]; BLOCK + 1] = {
        let mut masks = [[0; BLOCK]; BLOCK + 1];
        let mut length = 1;
        while length <= BLOCK {
            masks[length] = masks[length - 1];
            masks[length][length - 1] = u8::MAX;
            length += 1;
        }
        masks
    };
    let masked = |(byte, mask): (&u8, &u8)| u8::from(is_special(*byte)).wrapping_neg() & mask;
    block.iter().zip(&MASKS[length]).fold(0, |so_far, it| so_far | masked(it)) == 0
}

/// Bytes up to the first special one.
fn plain_length(text: &[u8]) -> usize {
    let (blocks, _) = text.as_chunks::<BLOCK>();
    let plain = blocks.iter().take_while(|block| is_plain(block, BLOCK)).count() * BLOCK;
    // The last block overlaps the one before it.
    if text.last_chunk().is_some_and(|last| plain + BLOCK > text.len() && is_plain(last, BLOCK)) {
        return text.len();
    }
    let rest = &text[plain..];
    plain + rest.iter().position(|byte| is_special(*byte)).unwrap_or(rest.len())
}

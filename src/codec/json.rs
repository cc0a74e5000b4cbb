//! JSON text straight into tokens.
//!
//! Accepts what Python writes beyond the standard (`NaN`, `Infinity`, a byte order mark) and keeps
//! every number's value and spelling. `serde_json` rounds what a double cannot hold.

#[cfg(test)]
mod tests;

use super::fault::Fault;
use super::token::{Bounds, Tokens};

/// Reads one JSON text.
pub(super) fn read(text: &[u8], bounds: Bounds) -> Result<Vec<u8>, Fault> {
    let text = std::str::from_utf8(text).map_err(|error| {
        let place = LineColumn::of(text, error.valid_up_to());
        Fault::refused(format_args!("not UTF-8 at {place}"))
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // Tokens take about as much as compact text.
    let tokens = Tokens::new(bounds, text.len());
    if text.trim_ascii().is_empty() {
        return Err(Fault::refused("the text is empty"));
    }
    let mut parser = Parser { text, at: 0, tokens, scratch: String::new() };
    parser.value()?;
    if parser.next_byte().is_none() {
        return parser.tokens.finish();
    }
    let place = LineColumn::of(text.as_bytes(), parser.at);
    Err(Fault::text_after(format_args!("unexpected text after the end of the document at {place}")))
}

/// Tells whether `text` is a number in JSON's grammar.
pub(super) fn is_number(text: &str) -> bool {
    number_length(text.as_bytes()) == Some(text.len())
}

/// Line and column, from one.
struct LineColumn {
    line: usize,
    column: usize,
}

impl LineColumn {
    fn of(text: &[u8], offset: usize) -> Self {
        let before = &text[..offset];
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lines = before.iter().filter(|byte| **byte == b'\n').count();
        let column = String::from_utf8_lossy(&before[line_start..]).chars().count();
        Self { line: lines + 1, column: column + 1 }
    }
}

impl std::fmt::Display for LineColumn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {} column {}", self.line, self.column)
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    tokens: Tokens,
    /// The text of a string with escapes, reused.
    scratch: String,
}

impl<'a> Parser<'a> {
    /// Recursion is bounded by the depth limit of the tokens.
    fn value(&mut self) -> Result<(), Fault> {
        match self.next_byte() {
            Some(b'{') => self.object(),
            Some(b'[') => self.array(),
            Some(b'"') => {
                let (text, range) = self.string()?;
                let text = range.map_or(text, |range| &self.scratch[range]);
                self.tokens.text(text)
            }
            Some(b't') => self.word("true").and_then(|()| self.tokens.bool(true)),
            Some(b'f') => self.word("false").and_then(|()| self.tokens.bool(false)),
            Some(b'n') => self.word("null").and_then(|()| self.tokens.null()),
            Some(b'N') => self.word("NaN").and_then(|()| self.tokens.float(f64::NAN)),
            Some(b'I') => self.word("Infinity").and_then(|()| self.tokens.float(f64::INFINITY)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) => Err(self.refused("expected a value")),
            None => Err(self.refused("the text ends before the document does")),
        }
    }

    fn array(&mut self) -> Result<(), Fault> {
        self.at += 1;
        self.tokens.open_array()?;
        if self.next_byte() == Some(b']') {
            self.at += 1;
            return self.tokens.close();
        }
        for index in 0.. {
            self.value().map_err(|fault| fault.at_index(index))?;
            if self.separator(b']')? {
                break;
            }
        }
        self.tokens.close()
    }

    fn object(&mut self) -> Result<(), Fault> {
        self.at += 1;
        self.tokens.open_object()?;
        if self.next_byte() == Some(b'}') {
            self.at += 1;
            return self.tokens.close();
        }
        loop {
            if self.next_byte() != Some(b'"') {
                return Err(self.refused("expected a key in double quotes"));
            }
            let key = self.tokens.position();
            self.value()?;
            if self.next_byte() != Some(b':') {
                return Err(self.refused("expected a colon after the key"));
            }
            self.at += 1;
            self.value().map_err(|fault| fault.in_key(self.tokens.text_at(key)))?;
            if self.separator(b'}')? {
                return self.tokens.close();
            }
        }
    }

    /// Skips a comma, or `close`, and returns which.
    fn separator(&mut self, close: u8) -> Result<bool, Fault> {
        match self.next_byte() {
            Some(b',') => {
                self.at += 1;
                Ok(false)
            }
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(true)
            }
            Some(_) => Err(self.refused("expected a comma or the end of the list")),
            None => Err(self.refused("the text ends before the document does")),
        }
    }

    /// The string at the cursor: a slice of the text, or a range of the scratch if it has escapes.
    fn string(&mut self) -> Result<(&'a str, Option<std::ops::Range<usize>>), Fault> {
        self.at += 1;
        let start = self.at;
        let length = plain_length(&self.text.as_bytes()[start..]);
        if self.text.as_bytes().get(start + length) == Some(&b'"') {
            self.at = start + length + 1;
            return Ok((&self.text[start..start + length], None));
        }
        self.scratch.clear();
        loop {
            let rest = &self.text[self.at..];
            let length = plain_length(rest.as_bytes());
            self.scratch.push_str(&rest[..length]);
            self.at += length;
            match self.text.as_bytes().get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(("", Some(0..self.scratch.len())));
                }
                Some(b'\\') => {
                    let character = self.escape()?;
                    self.scratch.push(character);
                }
                Some(_) => return Err(self.refused("control character in a string")),
                None => return Err(self.refused("the text ends inside a string")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Fault> {
        let kind = self.text.as_bytes().get(self.at + 1).copied();
        let character = match kind {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => return Err(self.refused("unknown escape in a string")),
        };
        self.at += 2;
        Ok(character)
    }

    fn unicode_escape(&mut self) -> Result<char, Fault> {
        let first = self.code_unit(self.at)?;
        let second = match first {
            0xd800..0xdc00 => self.code_unit(self.at + 6).ok(),
            _ => None,
        };
        let units = [first, second.unwrap_or_default()];
        let units = &units[..=usize::from(second.is_some())];
        match char::decode_utf16(units.iter().copied()).next() {
            Some(Ok(character)) => {
                self.at += 6 * character.len_utf16();
                Ok(character)
            }
            _ => Err(self.refused("half of a surrogate pair, which no text can hold")),
        }
    }

    /// The number in `\uXXXX` at `at`.
    fn code_unit(&self, at: usize) -> Result<u16, Fault> {
        let escape = self.text.as_bytes().get(at..at + 6);
        let digits = escape.and_then(|bytes| bytes.strip_prefix(b"\\u")).unwrap_or_default();
        let valid = digits.len() == 4 && digits.iter().all(u8::is_ascii_hexdigit);
        let text = if valid { &self.text[at + 2..at + 6] } else { "" };
        u16::from_str_radix(text, 16)
            .map_err(|_| self.refused("expected four hexadecimal digits after \\u"))
    }

    fn number(&mut self) -> Result<(), Fault> {
        let rest = &self.text[self.at..];
        if rest.starts_with("-I") {
            self.at += 1;
            return self.word("Infinity").and_then(|()| self.tokens.float(f64::NEG_INFINITY));
        }
        let length =
            number_length(rest.as_bytes()).ok_or_else(|| self.refused("malformed number"))?;
        self.at += length;
        let literal = &rest[..length];
        if let Ok(value) = literal.parse() {
            self.tokens.uint(value)
        } else if let Some(value) = literal.parse().ok().filter(|value| *value < 0) {
            self.tokens.int(value)
        } else if let Some(value) = literal.parse().ok().filter(|value| is_spelled(*value, literal))
        {
            self.tokens.float(value)
        } else {
            self.tokens.number(literal)
        }
    }

    fn word(&mut self, word: &str) -> Result<(), Fault> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.refused("expected a value"));
        }
        self.at += word.len();
        Ok(())
    }

    /// The next byte that is not white space; the cursor stays on it.
    fn next_byte(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        let space = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
        let skip = rest.iter().position(|byte| !space(byte)).unwrap_or(rest.len());
        self.at += skip;
        rest.get(skip).copied()
    }

    fn refused(&self, reason: &str) -> Fault {
        let place = LineColumn::of(self.text.as_bytes(), self.at);
        Fault::refused(format_args!("{reason} at {place}"))
    }
}

/// Bytes up to the first quote, backslash or control character.
fn plain_length(bytes: &[u8]) -> usize {
    let special = |byte: &u8| matches!(byte, b'"' | b'\\' | ..0x20);
    bytes.iter().position(special).unwrap_or(bytes.len())
}

/// Length of the number that `bytes` start with.
fn number_length(bytes: &[u8]) -> Option<usize> {
    let digits = |from: usize| {
        bytes[from..].iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(bytes.len() - from)
    };
    let at_least_one = |from: usize| Some(from + digits(from)).filter(|end| *end > from);
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    at = if bytes.get(at) == Some(&b'0') { at + 1 } else { at_least_one(at)? };
    if bytes.get(at) == Some(&b'.') {
        at = at_least_one(at + 1)?;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        at = at_least_one(at)?;
    }
    Some(at)
}

/// Tells whether writing `value` gives back `literal`; if not, only the literal keeps it.
fn is_spelled(value: f64, literal: &str) -> bool {
    let mut buffer = [0; 32];
    let mut rest = &mut buffer[..];
    let written = serde_json::to_writer(&mut rest, &value).is_ok();
    let left = rest.len();
    written && &buffer[..32 - left] == literal.as_bytes()
}

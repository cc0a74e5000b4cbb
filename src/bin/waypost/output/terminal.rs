//! Output to a terminal, escaped so that saved text cannot control it or mislead the reader.
//!
//! Must never change output to a file or a pipe: a program gets every byte as it was stored.

use std::io::{self, IsTerminal as _, LineWriter, Write};

use waypost::text::escape;
pub(crate) use waypost::text::is_hidden;

// Longer than any colour sequence.
const COLOUR_BYTES_MAX: usize = 32;
const ESCAPE: char = '\u{1b}';

/// Writes to a stream. If that is a terminal, hidden characters are written as JSON escapes, so
/// that JSON keeps its value. New lines, tabs and colours pass.
pub(crate) struct Shown<W> {
    out: W,
    is_terminal: bool,
    /// The start of a character or a colour whose rest has not been written yet.
    held: Vec<u8>,
}

/// Standard error, by whole lines, since several threads write to it.
pub(crate) fn stderr() -> Shown<LineWriter<io::Stderr>> {
    let stderr = io::stderr();
    let is_terminal = stderr.is_terminal();
    Shown::if_terminal(LineWriter::new(stderr), is_terminal)
}

impl<W: Write> Shown<W> {
    pub(crate) fn if_terminal(out: W, is_terminal: bool) -> Self {
        Self { out, is_terminal, held: Vec::new() }
    }

    /// Writes what is held, except for the start of an unfinished character or colour.
    fn show(&mut self, is_end: bool) -> io::Result<()> {
        let bytes = std::mem::take(&mut self.held);
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let (text, after) = split(rest);
            let shown = self.show_text(text, is_end || !after.is_empty())?;
            if shown < text.len() {
                rest = &rest[shown..];
                break;
            }
            let broken = match std::str::from_utf8(after) {
                Err(error) => error.error_len(),
                Ok(_) => None,
            };
            rest = after;
            match broken {
                None if is_end && !rest.is_empty() => rest = self.replace(rest, rest.len())?,
                None => break,
                Some(length) => rest = self.replace(rest, length)?,
            }
        }
        self.held = rest.to_vec();
        Ok(())
    }

    fn replace<'a>(&mut self, bytes: &'a [u8], length: usize) -> io::Result<&'a [u8]> {
        write!(self.out, "{}", char::REPLACEMENT_CHARACTER)?;
        Ok(&bytes[length..])
    }

    /// Shows a text and returns the bytes shown: fewer if it ends in a possible colour sequence.
    fn show_text(&mut self, text: &str, is_whole: bool) -> io::Result<usize> {
        let mut at = 0;
        while let Some(length) = text[at..].find(|it| is_hidden(it) && !['\n', '\t'].contains(&it))
        {
            self.out.write_all(&text.as_bytes()[at..at + length])?;
            at += length;
            match colour(&text[at..]) {
                Colour::Whole(length) => {
                    self.out.write_all(&text.as_bytes()[at..at + length])?;
                    at += length;
                }
                Colour::Started if !is_whole => return Ok(at),
                Colour::Started | Colour::None => {
                    let hidden = text[at..].chars().next().expect("one was found");
                    self.out.write_all(escape(hidden).as_bytes())?;
                    at += hidden.len_utf8();
                }
            }
        }
        self.out.write_all(&text.as_bytes()[at..])?;
        Ok(text.len())
    }
}

impl<W: Write> Write for Shown<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_terminal {
            return self.out.write(bytes);
        }
        self.held.extend_from_slice(bytes);
        self.show(false)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.show(true)?;
        self.out.flush()
    }
}

/// The valid UTF-8 at the start, and the bytes after it.
fn split(bytes: &[u8]) -> (&str, &[u8]) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text, &[]),
        Err(error) => {
            let (text, rest) = bytes.split_at(error.valid_up_to());
            (std::str::from_utf8(text).unwrap_or_default(), rest)
        }
    }
}

/// A colour sequence at the start of a text.
enum Colour {
    /// A colour, with its length in bytes.
    Whole(usize),
    /// The start of a colour.
    Started,
    None,
}

fn colour(text: &str) -> Colour {
    let Some(rest) = text.strip_prefix(ESCAPE) else { return Colour::None };
    if rest.is_empty() {
        return Colour::Started;
    }
    let Some(rest) = rest.strip_prefix('[') else { return Colour::None };
    let digits =
        rest.len() - rest.trim_start_matches(|it: char| it.is_ascii_digit() || it == ';').len();
    match rest.as_bytes().get(digits) {
        _ if digits > COLOUR_BYTES_MAX => Colour::None,
        Some(b'm') => Colour::Whole(digits + 3),
        Some(_) => Colour::None,
        None => Colour::Started,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a terminal gets for a text that is written in parts of `part_bytes`.
    fn shown(bytes: &[u8], part_bytes: usize) -> String {
        let mut out = Shown::if_terminal(Vec::new(), true);
        bytes.chunks(part_bytes).for_each(|part| out.write_all(part).unwrap());
        out.flush().unwrap();
        String::from_utf8(out.out).unwrap()
    }

    #[test]
    fn no_hidden_character_reaches_a_terminal() {
        for (text, expected) in [
            ("a\tb\n\u{e9}\u{4e2d}\u{1f600}\n", "a\tb\n\u{e9}\u{4e2d}\u{1f600}\n"),
            ("\u{1b}[1;31mred\u{1b}[0m", "\u{1b}[1;31mred\u{1b}[0m"),
            ("\u{1b}[2J\u{1b}]0;x\u{7}\u{1b}", "\\u001b[2J\\u001b]0;x\\u0007\\u001b"),
            ("\u{1b}[31", "\\u001b[31"),
            ("\u{9b}2J\r\u{8}\u{7f}", "\\u009b2J\\u000d\\u0008\\u007f"),
            ("\u{202e}\u{2066}\u{200f}\u{61c}\u{2028}", "\\u202e\\u2066\\u200f\\u061c\\u2028"),
            ("\u{feff}\u{200b}\u{e0041}", "\\ufeff\\u200b\\udb40\\udc41"),
            ("\u{1f468}\u{200d}\u{1f469}", "\u{1f468}\u{200d}\u{1f469}"),
            ("\u{2764}\u{fe0f}\u{200c}", "\u{2764}\u{fe0f}\u{200c}"),
            ("\u{ad}\u{34f}\u{17b4}\u{1d173}", "\\u00ad\\u034f\\u17b4\\ud834\\udd73"),
            ("\u{115f}\u{1160}\u{2800}\u{3164}\u{ffa0}", "\\u115f\\u1160\\u2800\\u3164\\uffa0"),
            ("\u{180b}\u{180f}\u{fe00}\u{fe0e}", "\\u180b\\u180f\\ufe00\\ufe0e"),
            ("\u{e0100}\u{e01ef}", "\\udb40\\udd00\\udb40\\uddef"),
            ("", ""),
        ] {
            for part_bytes in 1..8 {
                assert_eq!(shown(text.as_bytes(), part_bytes), expected, "{text:?} {part_bytes}");
            }
        }
        for part_bytes in 1..4 {
            assert_eq!(shown(b"a\x9b\xffb\xe4\xb8", part_bytes), "a\u{fffd}\u{fffd}b\u{fffd}");
        }
        let long = format!("\u{1b}[{}m", "1".repeat(99));
        assert_eq!(shown(long.as_bytes(), 7), long.replace('\u{1b}', "\\u001b"));
    }

    #[test]
    fn json_keeps_its_value() {
        let hidden: String =
            (0..=0x10_ffff).filter_map(char::from_u32).filter(|it| is_hidden(*it)).collect();
        let json = serde_json::to_string(&hidden).unwrap();
        let shown = shown(json.as_bytes(), 1000);
        assert!(!shown.chars().any(is_hidden));
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), hidden);
    }

    #[test]
    fn a_program_gets_every_byte() {
        let mut out = Shown::if_terminal(Vec::new(), false);
        out.write_all(b"\x9b\xc2\x9b\x1b[2J").unwrap();
        out.flush().unwrap();
        assert_eq!(out.out, b"\x9b\xc2\x9b\x1b[2J");
    }
}

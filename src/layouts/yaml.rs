//! YAML text of a document, which readers of YAML 1.1 and of 1.2 read back to the same values.
//!
//! Block style, two spaces a level. Must never be ambiguous: text that any reader could take for
//! another type is quoted.

mod text;

use std::collections::BTreeMap;

use serde::de::IgnoredAny;

use crate::checkpoint::Document;
use crate::codec::{TEXT_BYTES_MAX, too_long};
use crate::error::{Error, Result};

// The limit of a store. Every level is one small call.
const DEPTH: usize = 512;
const STEP: usize = 2;
// Readers search at most 1024 characters for the colon after a key.
const KEY_BYTES: usize = 1000;

/// Returns the YAML text of a document, as `PyYAML` and readers of YAML 1.2 both take it.
///
/// Numbers keep their value but not always their spelling: `1e3` is text to `PyYAML`, so it is
/// written as `1.0e+3`. Texts of several lines are block scalars where that loses nothing. Bytes
/// are `{"$bytes": BASE64}`, as in JSON. The last value of a duplicate key is written.
///
/// ```
/// use waypost::{Document, layouts::to_yaml};
///
/// # fn main() -> waypost::Result<()> {
/// let document = Document::from_json(br#"{"version": "1.0", "labels": ["state:docs", "no"]}"#)?;
/// assert_eq!(to_yaml(&document)?, "version: \"1.0\"\nlabels:\n  - state:docs\n  - \"no\"\n");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Error::Limit`] if it is nested deeper than a store takes or its text would be longer than
/// 1 GiB, or [`Error::Invalid`] if a [`Document::Number`] is no number.
pub fn to_yaml(document: &Document) -> Result<String> {
    let mut writer = Writer { out: String::new() };
    if is_block(document) {
        writer.block(document, 0)?;
    } else {
        writer.scalar(document, STEP)?;
    }
    Ok(writer.out)
}

struct Writer {
    out: String,
}

impl Writer {
    /// Writes a list or an object that is not empty, from the column where its lines start.
    fn block(&mut self, document: &Document, column: usize) -> Result<()> {
        if column / STEP >= DEPTH {
            return Err(Error::Limit { what: "depth".to_owned(), limit: DEPTH as u64 });
        }
        match document {
            Document::Array(items) => self.items(items, column),
            Document::Object(fields) => self.fields(fields, column),
            other => self.scalar(other, column),
        }
    }

    fn items(&mut self, items: &[Document], column: usize) -> Result<()> {
        for (index, item) in items.iter().enumerate() {
            self.start(index, column);
            self.out.push_str("- ");
            if is_block(item) {
                self.block(item, column + STEP)?;
            } else {
                self.scalar(item, column + STEP)?;
            }
        }
        Ok(())
    }

    fn fields(&mut self, fields: &[(String, Document)], column: usize) -> Result<()> {
        for (index, (key, value)) in once_each(fields).into_iter().enumerate() {
            self.start(index, column);
            self.key(key, column);
            if is_block(value) {
                self.out.push('\n');
                self.pad(column + STEP);
                self.block(value, column + STEP)?;
            } else {
                self.out.push(' ');
                self.scalar(value, column + STEP)?;
            }
        }
        Ok(())
    }

    /// Indents a line, except the first of a block.
    fn start(&mut self, index: usize, column: usize) {
        if index > 0 {
            self.pad(column);
        }
    }

    fn pad(&mut self, column: usize) {
        self.out.extend(std::iter::repeat_n(' ', column));
    }

    fn key(&mut self, key: &str, column: usize) {
        let key = text::key(key);
        if key.len() > KEY_BYTES {
            self.out.push_str("? ");
            self.out.push_str(&key);
            self.out.push('\n');
            self.pad(column);
        } else {
            self.out.push_str(&key);
        }
        self.out.push(':');
    }

    /// Writes what is not a block, and the end of its line; more lines of it start at `column`.
    fn scalar(&mut self, document: &Document, column: usize) -> Result<()> {
        self.check_length(document, column)?;
        match document {
            Document::Null => self.line("null"),
            Document::Bool(value) => self.line(if *value { "true" } else { "false" }),
            Document::Int(value) => self.line(&value.to_string()),
            Document::Uint(value) => self.line(&value.to_string()),
            Document::Float(value) => self.line(&float(*value)),
            Document::Number(literal) => self.line(&number(literal)?),
            Document::Text(value) if text::is_block(value) => self.lines(value, column),
            Document::Text(value) => self.line(&text::value(value)),
            Document::Bytes(bytes) => self.line(&format!("{{\"$bytes\": \"{}\"}}", base64(bytes))),
            Document::Array(_) => self.line("[]"),
            Document::Object(_) => self.line("{}"),
        }
        Ok(())
    }

    /// Checks the length before writing: deep in a document, every line also has its indent.
    fn check_length(&self, document: &Document, column: usize) -> Result<()> {
        let lines = match document {
            Document::Text(text) => text.bytes().filter(|byte| *byte == b'\n').count(),
            _ => 0,
        };
        let bytes = self.out.len().saturating_add(lines.saturating_mul(column));
        if bytes <= TEXT_BYTES_MAX { Ok(()) } else { Err(too_long()) }
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn lines(&mut self, text: &str, column: usize) {
        self.line(if text.ends_with('\n') { "|" } else { "|-" });
        for line in text.lines() {
            // An empty line is a line end and nothing else.
            if !line.is_empty() {
                self.pad(column);
            }
            self.line(line);
        }
    }
}

fn is_block(document: &Document) -> bool {
    match document {
        Document::Array(items) => !items.is_empty(),
        Document::Object(fields) => !fields.is_empty(),
        _ => false,
    }
}

/// A key keeps its first position and gets its last value.
fn once_each(fields: &[(String, Document)]) -> Vec<(&str, &Document)> {
    let last: BTreeMap<&str, &Document> =
        fields.iter().map(|(key, value)| (key.as_str(), value)).collect();
    if last.len() == fields.len() {
        return fields.iter().map(|(key, value)| (key.as_str(), value)).collect();
    }
    let mut left = last;
    let first = |(key, _): &(String, Document)| left.remove_entry(key.as_str());
    fields.iter().filter_map(first).collect()
}

fn float(value: f64) -> String {
    if value.is_nan() {
        return ".nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    // The shortest digits that give the number back.
    with_point(&format!("{value:?}"))
}

fn number(literal: &str) -> Result<String> {
    let is_digits = literal.bytes().all(|byte| b"0123456789+-.eE".contains(&byte));
    if !is_digits || serde_json::from_str::<IgnoredAny>(literal).is_err() {
        return Err(Error::invalid("document", "a number that is none"));
    }
    let is_integer = literal.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
    Ok(if is_integer { literal.to_owned() } else { with_point(literal) })
}

/// YAML 1.1 takes it for a number only if it has a point, and its exponent a sign.
fn with_point(literal: &str) -> String {
    let (digits, exponent) = match literal.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, Some(exponent)),
        None => (literal, None),
    };
    let point = if digits.contains('.') { "" } else { ".0" };
    match exponent {
        None => format!("{digits}{point}"),
        Some(exponent) if exponent.starts_with(['-', '+']) => format!("{digits}{point}e{exponent}"),
        Some(exponent) => format!("{digits}{point}e+{exponent}"),
    }
}

/// Standard base64, with padding.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| usize::from(chunk.get(index).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for (index, shift) in [18, 12, 6, 0].into_iter().enumerate() {
            let digit = char::from(ALPHABET[bits >> shift & 63]);
            out.push(if index <= chunk.len() { digit } else { '=' });
        }
    }
    out
}

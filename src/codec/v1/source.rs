//! The form of the file that a checkpoint came from, within its record.

use super::super::wire::{Malformed, Reader, put};
use crate::checkpoint::{Format, SourceForm, Spacing, TextStyle, Timestamp};

const STYLE: u8 = 1 << 0;
const ASCII: u8 = 1 << 1;
const FINAL_NEWLINE: u8 = 1 << 2;
const BYTE_ORDER_MARK: u8 = 1 << 3;
const GZIP: u8 = 1 << 4;
const MODE: u8 = 1 << 5;
const MODIFIED_AT: u8 = 1 << 6;
const LINE: u8 = 1 << 7;

const COMPACT: u8 = 0;
const SPACED: u8 = 1;
const TAB: u8 = 2;
const INDENT: u8 = 3;

/// A time near that of the key takes few bytes.
pub(super) fn put_form(out: &mut Vec<u8>, form: &SourceForm, key_time: Timestamp) {
    put(out, format_number(form.format));
    let bit = |present: bool, bit: u8| if present { bit } else { 0 };
    let style = form.style.unwrap_or_default();
    let mask = bit(form.style.is_some(), STYLE)
        | bit(style.is_ascii, ASCII)
        | bit(style.has_final_newline, FINAL_NEWLINE)
        | bit(style.has_byte_order_mark, BYTE_ORDER_MARK)
        | bit(form.is_gzip, GZIP)
        | bit(form.mode.is_some(), MODE)
        | bit(form.modified_at.is_some(), MODIFIED_AT)
        | bit(form.line.is_some(), LINE);
    put(out, mask);
    if form.style.is_some() {
        put_spacing(out, style.spacing);
    }
    if let Some(mode) = form.mode {
        put(out, mode);
    }
    if let Some(time) = form.modified_at {
        put(out, time.as_micros().wrapping_sub(key_time.as_micros()));
    }
    if let Some(line) = form.line {
        put(out, line);
    }
    put(out, form.text_bytes);
}

pub(super) fn read_form(
    reader: &mut Reader<'_>,
    key_time: Timestamp,
) -> Result<SourceForm, Malformed> {
    let format = format_of(reader.take()?).ok_or(Malformed)?;
    let mask: u8 = reader.take()?;
    let has = |bit: u8| mask & bit != 0;
    let spacing = has(STYLE).then(|| read_spacing(reader)).transpose()?;
    let style = spacing.map(|spacing| TextStyle {
        spacing,
        is_ascii: has(ASCII),
        has_final_newline: has(FINAL_NEWLINE),
        has_byte_order_mark: has(BYTE_ORDER_MARK),
    });
    let mode = has(MODE).then(|| reader.take()).transpose()?;
    let modified_at = has(MODIFIED_AT).then(|| reader.take::<i64>()).transpose()?;
    let line = has(LINE).then(|| reader.take()).transpose()?;
    Ok(SourceForm {
        format,
        style,
        is_gzip: has(GZIP),
        mode,
        modified_at: modified_at
            .map(|micros| Timestamp::from_micros(key_time.as_micros().wrapping_add(micros))),
        line,
        text_bytes: reader.take()?,
    })
}

fn put_spacing(out: &mut Vec<u8>, spacing: Spacing) {
    match spacing {
        Spacing::Compact => put(out, COMPACT),
        Spacing::Spaced => put(out, SPACED),
        Spacing::Tab => put(out, TAB),
        Spacing::Indent(width) => {
            put(out, INDENT);
            put(out, width);
        }
    }
}

fn read_spacing(reader: &mut Reader<'_>) -> Result<Spacing, Malformed> {
    Ok(match reader.take()? {
        COMPACT => Spacing::Compact,
        SPACED => Spacing::Spaced,
        TAB => Spacing::Tab,
        INDENT => Spacing::Indent(reader.take()?),
        _ => return Err(Malformed),
    })
}

fn format_number(format: Format) -> u8 {
    match format {
        Format::Json => 0,
        Format::Yaml => 1,
        Format::Unreadable => 2,
    }
}

fn format_of(number: u8) -> Option<Format> {
    [Format::Json, Format::Yaml, Format::Unreadable]
        .into_iter()
        .find(|format| format_number(*format) == number)
}

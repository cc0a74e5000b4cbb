//! Entries as bytes: fixed numbers first, then texts with their length.

use anyhow::{Context, Result, bail};

use crate::peer::Record;

pub(super) fn encode(record: &Record) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(128);
    bytes.extend(record.iteration.to_le_bytes());
    bytes.extend(record.created_micros.to_le_bytes());
    for text in [&record.series, &record.issue, &record.trigger, &record.phase] {
        bytes.extend(u16::try_from(text.len())?.to_le_bytes());
        bytes.extend(text.as_bytes());
    }
    Ok(bytes)
}

pub(super) fn decode(mut bytes: &[u8]) -> Result<Record> {
    let record = Record {
        iteration: u64::from_le_bytes(take(&mut bytes)?),
        created_micros: i64::from_le_bytes(take(&mut bytes)?),
        series: take_text(&mut bytes)?,
        issue: take_text(&mut bytes)?,
        trigger: take_text(&mut bytes)?,
        phase: take_text(&mut bytes)?,
    };
    if !bytes.is_empty() {
        bail!("an entry that is too long");
    }
    Ok(record)
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N]> {
    let (chunk, rest) = bytes.split_first_chunk().context("an entry that is too short")?;
    *bytes = rest;
    Ok(*chunk)
}

fn take_text(bytes: &mut &[u8]) -> Result<String> {
    let length = u16::from_le_bytes(take(bytes)?);
    let (text, rest) = bytes.split_at_checked(length.into()).context("a text that is too short")?;
    *bytes = rest;
    Ok(str::from_utf8(text)?.to_owned())
}

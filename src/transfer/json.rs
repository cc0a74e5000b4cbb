//! A checkpoint as a JSON object, as `waypost show --json` and the lines of an export have it.
//!
//! `src/docs/JSON.md` promises the members. The document is copied as its text, number by number,
//! and never becomes a tree.

use std::io::{self, Write};

use serde::Serialize;

use crate::checkpoint::{Artifact, Checkpoint, Entry};
use crate::codec::JsonStyle;
use crate::error::{Error, Result};
use crate::layouts::Problem;
use crate::store::Store;

/// The version of every JSON object that the command prints, and of the lines of an export.
pub const VERSION: u64 = 1;
/// The member that holds [`VERSION`].
pub const VERSION_KEY: &str = "version";
/// The text of the file that a checkpoint came from.
pub const SOURCE_TEXT: &str = "source_text";
/// The same in hexadecimal digits, for a text that is not UTF-8.
pub const SOURCE_HEX: &str = "source_hex";
/// The files that were captured with a checkpoint.
pub const ARTIFACTS: &str = "artifacts";
/// The content of a captured file.
pub const TEXT: &str = "text";
/// The same in hexadecimal digits, for a content that is not UTF-8.
pub const HEX: &str = "hex";
/// The rules of its system that a document breaks.
pub const PROBLEMS: &str = "problems";

/// An object that starts with its version.
#[derive(Serialize)]
struct Versioned<'a, T> {
    // Named as `VERSION_KEY` says.
    version: u64,
    #[serde(flatten)]
    value: &'a T,
}

/// Returns a value as a JSON object that starts with [`VERSION`].
///
/// ```
/// use waypost::transfer::export::Exported;
/// use waypost::transfer::json::object;
///
/// let text = object(&Exported::default())?;
/// assert!(text.starts_with(r#"{"version":1,"exported":0,"#));
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
/// Those of the value's `Serialize`.
pub fn object(value: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string(&Versioned { version: VERSION, value })
}

/// Returns the same without the closing brace, so that members can be appended as text.
///
/// # Errors
/// As [`object`].
pub fn open_object(value: &impl Serialize) -> serde_json::Result<String> {
    let mut text = object(value)?;
    text.pop();
    Ok(text)
}

/// Returns the captured files of a checkpoint. Does not ask the store if there are none.
///
/// # Errors
/// As [`Store::artifacts`].
pub fn artifacts(store: &Store, entry: &Entry) -> Result<Vec<Artifact>> {
    if entry.artifact_count == 0 { Ok(Vec::new()) } else { store.artifacts(&entry.id) }
}

/// Writes a checkpoint as one line of JSON: the fields of its entry, its captured files, the rules
/// that its document breaks, and its document.
///
/// ```
/// use waypost::transfer::json::write_checkpoint;
/// use waypost::{Artifact, NewEntry, Store};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// let store = Store::open(dir.path().join("store.redb"))?;
/// let entry = store.save(NewEntry::default(), &"state")?;
/// let mut line = Vec::new();
/// write_checkpoint(&mut line, &store.get(&entry.id)?, &[] as &[Artifact], &[])?;
/// assert!(line.ends_with(b",\"document\":\"state\"}\n"));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Unwritten::Io`] from `out`, and [`Unwritten::Store`] if the checkpoint is damaged.
pub fn write_checkpoint(
    mut out: &mut impl Write,
    checkpoint: &Checkpoint,
    artifacts: &[impl Serialize],
    problems: &[Problem],
) -> Result<(), Unwritten> {
    write!(out, "{}", open_object(&checkpoint.entry)?)?;
    write_source(&mut out, checkpoint)?;
    if !artifacts.is_empty() {
        write!(out, ",\"{ARTIFACTS}\":")?;
        serde_json::to_writer(&mut out, artifacts)?;
    }
    if !problems.is_empty() {
        write!(out, ",\"{PROBLEMS}\":")?;
        serde_json::to_writer(&mut out, problems)?;
    }
    write!(out, ",\"document\":")?;
    checkpoint.write_json(&mut out, JsonStyle::Compact)?;
    Ok(writeln!(out, "}}")?)
}

/// Writes the text of the file that a checkpoint came from, if its document does not give it back.
fn write_source(mut out: &mut impl Write, checkpoint: &Checkpoint) -> Result<(), Unwritten> {
    let is_kept = checkpoint.entry.source.is_some_and(|source| source.style.is_none());
    let Some(text) = checkpoint.source_text()?.filter(|_| is_kept) else { return Ok(()) };
    if let Ok(text) = std::str::from_utf8(&text) {
        write!(out, ",\"{SOURCE_TEXT}\":")?;
        return Ok(serde_json::to_writer(&mut out, text)?);
    }
    write!(out, ",\"{SOURCE_HEX}\":\"")?;
    text.iter().try_for_each(|byte| write!(out, "{byte:02x}"))?;
    Ok(write!(out, "\"")?)
}

/// Why a checkpoint was not written as JSON.
///
/// See [`write_checkpoint`] for an example.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unwritten {
    /// The output failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The checkpoint is damaged.
    #[error(transparent)]
    Store(Error),
}

impl From<Error> for Unwritten {
    fn from(error: Error) -> Self {
        match error {
            // The document is written to the same output, and nothing is read from disk here.
            Error::Io { source, .. } => Self::Io(source),
            error => Self::Store(error),
        }
    }
}

impl From<serde_json::Error> for Unwritten {
    fn from(error: serde_json::Error) -> Self {
        Self::Io(error.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_object_starts_with_its_version() {
        #[derive(Serialize)]
        struct Numbered {
            id: u8,
        }
        let start = format!("{{\"{VERSION_KEY}\":{VERSION},\"id\":7");
        assert_eq!(object(&Numbered { id: 7 }).unwrap(), format!("{start}}}"));
        assert_eq!(open_object(&Numbered { id: 7 }).unwrap(), start);
    }
}

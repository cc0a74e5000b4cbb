//! Reads a line of an export: the entry of a checkpoint, its captured files and its document.

#[cfg(test)]
mod fuzz;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::checkpoint::{ArtifactStatus, Hash, NewArtifact, NewEntry, SourceForm};
use crate::codec::Source;
use crate::error::{Error, Result};
use crate::store::{Draft, Store};
use crate::transfer::envelope;
use crate::transfer::json::{
    ARTIFACTS, HEX, PROBLEMS, SOURCE_HEX, SOURCE_TEXT, TEXT, VERSION, VERSION_KEY,
};

/// Fields of the entry that the store derives itself.
const DERIVED: [&str; 6] =
    ["sequence", "document_bytes", "stored_bytes", ARTIFACT_COUNT, "deleted_at", "operation"];
const ARTIFACT_COUNT: &str = "artifact_count";
/// Members that are no fields of the entry.
const BESIDE: [&str; 7] =
    [VERSION_KEY, "document", "source", SOURCE_TEXT, SOURCE_HEX, ARTIFACTS, PROBLEMS];

/// A captured file as `waypost export --jsonl` writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Captured {
    path: String,
    sha256: Option<Hash>,
    mode: Option<u32>,
    status: ArtifactStatus,
    /// Derived from the content.
    #[serde(rename = "bytes")]
    _bytes: Option<u64>,
    text: Option<String>,
    hex: Option<String>,
    /// The export could not read it, so its content is missing.
    #[serde(default)]
    damaged: bool,
}

/// The checkpoint of a line.
pub(super) struct FromLine {
    pub(super) draft: Draft,
    /// Paths of captured files whose content the line lacks.
    pub(super) missing: Vec<String>,
}

/// True if a text is such a line.
pub(super) fn is_one(line: &[u8]) -> bool {
    let fields = serde_json::from_slice::<BTreeMap<String, &RawValue>>(line);
    fields.is_ok_and(|fields| fields.contains_key("document"))
}

/// Refuses a line that no store takes.
pub(super) fn check(line: &[u8]) -> Result<()> {
    let fields = fields(line)?;
    let (_, document) = described(&fields)?;
    Source::from_json(document.get().as_bytes()).map(drop)
}

fn fields(line: &[u8]) -> Result<BTreeMap<String, &RawValue>> {
    // serde's own wording quotes what it found, and that may be the document.
    serde_json::from_slice(line).map_err(|error| {
        Error::invalid("line", format!("not an object in JSON, at column {}", error.column()))
    })
}

/// What a line says of its checkpoint, and the document.
fn described<'a>(fields: &BTreeMap<String, &'a RawValue>) -> Result<(NewEntry, &'a RawValue)> {
    check_version(fields)?;
    let document = fields.get("document").ok_or_else(|| {
        Error::invalid("line", "has no `document`; `waypost export --jsonl` writes one")
    })?;
    let mut about = NewEntry::default();
    for (name, value) in fields {
        if BESIDE.contains(&name.as_str()) || DERIVED.contains(&name.as_str()) {
            continue;
        }
        let value = serde_json::from_str(value.get());
        let value = value.map_err(|_| Error::invalid(name, "not JSON"))?;
        envelope::set(&mut about, name, value).map_err(|reason| Error::invalid(name, reason))?;
    }
    Ok((about, document))
}

/// Drafts the checkpoint of a line.
pub(super) fn draft(store: &Store, line: &[u8]) -> Result<FromLine> {
    let fields = fields(line)?;
    let (about, document) = described(&fields)?;
    let draft = draft_document(store, about, document, &fields)?;
    let artifacts = fields.get(ARTIFACTS).map(|it| read::<Vec<Captured>>(ARTIFACTS, it));
    let artifacts = artifacts.transpose()?.unwrap_or_default();
    let count = fields.get(ARTIFACT_COUNT).map(|it| read::<u64>(ARTIFACT_COUNT, it)).transpose()?;
    if count.is_some_and(|count| count != artifacts.len() as u64) {
        // An export writes no such line, and the missing files would be lost silently.
        return Err(Error::invalid(ARTIFACTS, "their number differs from that in the line"));
    }
    let is_damaged =
        |it: &Captured| it.damaged && it.sha256.is_some() && it.text.is_none() && it.hex.is_none();
    let (damaged, whole): (Vec<_>, Vec<_>) = artifacts.into_iter().partition(is_damaged);
    let missing = damaged.into_iter().map(|it| it.path).collect();
    let draft = draft.with_artifacts(whole.into_iter().map(captured).collect::<Result<_>>()?)?;
    Ok(FromLine { draft, missing })
}

/// Refuses a line of a newer version. Early releases wrote none.
fn check_version(fields: &BTreeMap<String, &RawValue>) -> Result<()> {
    let version = fields.get(VERSION_KEY).map(|it| read::<u64>(VERSION_KEY, it)).transpose()?;
    match version.filter(|version| *version > VERSION) {
        Some(newer) => {
            let reason = format!("{newer} is newer than {VERSION}, the newest this build reads");
            Err(Error::invalid(VERSION_KEY, reason))
        }
        None => Ok(()),
    }
}

fn draft_document(
    store: &Store,
    about: NewEntry,
    document: &RawValue,
    fields: &BTreeMap<String, &RawValue>,
) -> Result<Draft> {
    let json = document.get().as_bytes();
    let Some(form) = fields.get("source") else { return store.draft_json(about, json) };
    let form: SourceForm = read("source", form)?;
    let text = match (fields.get(SOURCE_TEXT), fields.get(SOURCE_HEX)) {
        (Some(text), _) => Some(read::<String>(SOURCE_TEXT, text)?.into_bytes()),
        (None, Some(digits)) => Some(bytes_of(SOURCE_HEX, &read::<String>(SOURCE_HEX, digits)?)?),
        (None, None) => None,
    };
    store.draft_source(about, Source::restored(json, form, text.as_deref())?)
}

/// A captured file. Refuses one whose content does not have its hash.
fn captured(captured: Captured) -> Result<NewArtifact> {
    let Captured { path, sha256, mode, status, text, hex, damaged, .. } = captured;
    if damaged {
        return Err(Error::invalid(ARTIFACTS, format!("{path:?} is damaged, and yet has content")));
    }
    let content = match (text, hex) {
        (Some(text), None) => Some(text.into_bytes()),
        (None, Some(digits)) => Some(bytes_of(HEX, &digits)?),
        (None, None) => None,
        (Some(_), Some(_)) => {
            return Err(Error::invalid(ARTIFACTS, format!("{path:?} has both {TEXT} and {HEX}")));
        }
    };
    if sha256 != content.as_deref().map(Hash::of) {
        return Err(Error::invalid(
            ARTIFACTS,
            format!("the content of {path:?} is not that of its hash"),
        ));
    }
    Ok(NewArtifact { path, content, mode, status })
}

fn read<T: DeserializeOwned>(name: &str, value: &RawValue) -> Result<T> {
    serde_json::from_str(value.get()).map_err(|_| Error::invalid(name, "of the wrong type"))
}

fn bytes_of(name: &str, digits: &str) -> Result<Vec<u8>> {
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).ok()?;
        // `from_str_radix` takes a sign, which is no digit.
        let is_digits = pair.len() == 2 && pair.bytes().all(|it| it.is_ascii_hexdigit());
        u8::from_str_radix(pair, 16).ok().filter(|_| is_digits)
    };
    let bytes: Option<_> = digits.as_bytes().chunks(2).map(byte).collect();
    bytes.ok_or_else(|| Error::invalid(name, "not in hexadecimal digits"))
}

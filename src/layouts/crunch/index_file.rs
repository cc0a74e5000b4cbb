//! The index of an issue as a file beside its checkpoints, with the target of `latest`.

use super::{Index, IndexEntry};
use crate::checkpoint::{self, Document, Entry, Format};
use crate::codec::convert;
use crate::error::{Error, Result};
use crate::layouts::given::{at, text_of, time};
use crate::layouts::{Word, part, to_yaml};

/// The index of an issue as a file.
///
/// See [`Index`] for an example.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexFile {
    /// `index.yaml`, or the earlier `index.json`.
    pub name: &'static str,
    /// What it says.
    pub text: String,
    /// The file name of the newest checkpoint, the target of `latest` beside it.
    ///
    /// `None` if there is none, or if its id cannot name a file.
    pub latest: Option<String>,
}

impl IndexEntry {
    /// The row of a checkpoint whose file has this document.
    ///
    /// Fields that the document lacks come from the entry, and so does the trigger:
    /// `phase_boundary` becomes `phase_transition`, any other trigger keeps its name, and a missing
    /// one is `unknown`. Clean-ups ignore triggers that they do not know.
    #[must_use]
    pub fn of(entry: &Entry, document: &Document) -> Self {
        let said = |pointer: &str| at(document, pointer).and_then(text_of).map(str::to_owned);
        let phase = said("/workflow_state/current_phase").or_else(|| entry.phase.clone());
        let can_resume = match at(document, "/recovery_info/can_resume") {
            Some(Document::Bool(said)) => Some(*said),
            _ => entry.can_resume,
        };
        Self {
            checkpoint_id: said("/checkpoint_id").unwrap_or_else(|| entry.id.to_string()).into(),
            created_at: said("/created_at").unwrap_or_else(|| time(entry.created_at)).into(),
            trigger: Word::of(trigger(&entry.trigger)).into(),
            phase: phase.map_or_else(Default::default, Into::into),
            can_resume: can_resume.unwrap_or_default().into(),
            ..Self::default()
        }
    }
}

impl Index {
    /// Returns the index as a file in `format`; YAML unless that is JSON.
    ///
    /// # Errors
    /// [`Error::Limit`] if fields that the template does not have are nested deeper than a store
    /// takes.
    pub fn file(&self, format: Format) -> Result<IndexFile> {
        let (name, suffix, text) = match format {
            Format::Json => ("index.json", "json", json(self)?),
            Format::Yaml | Format::Unreadable => {
                ("index.yaml", "yaml", to_yaml(&convert(self, "index")?)?)
            }
        };
        let latest = self.latest.value().filter(|id| part::is_name(id));
        Ok(IndexFile { name, text, latest: latest.map(|id| format!("{id}.{suffix}")) })
    }
}

fn json(index: &Index) -> Result<String> {
    let text =
        serde_json::to_string_pretty(index).map_err(|error| Error::invalid("index", error))?;
    Ok(text + "\n")
}

fn trigger(trigger: &checkpoint::Trigger) -> &str {
    match trigger {
        checkpoint::Trigger::PhaseBoundary => super::IndexTrigger::PhaseTransition.as_str(),
        other => other.as_str(),
    }
}

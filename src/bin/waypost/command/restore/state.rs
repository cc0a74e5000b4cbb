//! Variables and agent state in a file of their own, for whoever goes on.

use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use waypost::layouts::Carried;
use waypost::{Document, Id, Spacing, TextStyle};

use super::super::export::target::Target;
use super::plan::Obstacle;
use crate::exit::Refusal;

/// The file, and what is to be in it.
#[derive(Debug)]
pub(super) struct StateFile {
    path: PathBuf,
    text: String,
    /// Whether that is there already.
    is_there: bool,
}

impl StateFile {
    /// Refuses to replace other content, unless it `overwrites`.
    pub(super) fn new(path: &Path, id: &Id, carried: &Carried, overwrites: bool) -> Result<Self> {
        if path == Path::new("-") {
            return Err(Refusal::Usage("--state must name a file".to_owned()).into());
        }
        let or_null = |it: &Option<Document>| it.clone().unwrap_or_default();
        let fields = [
            ("id", Document::Text(id.to_string())),
            ("variables", or_null(&carried.variables)),
            ("agent_state", or_null(&carried.agent_state)),
        ];
        let fields = fields.map(|(name, value)| (name.to_owned(), value));
        let style = TextStyle {
            spacing: Spacing::Indent(2),
            has_final_newline: true,
            ..TextStyle::default()
        };
        let text = Document::Object(fields.into()).to_json(style)?;
        let is_there = match fs::read(path) {
            Ok(found) if found == text.as_bytes() => true,
            Ok(_) if !overwrites => {
                return Err(Refusal::StateExists { path: path.to_owned() }.into());
            }
            Ok(_) => false,
            Err(error) if error.kind() == ErrorKind::NotFound => false,
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
        };
        Ok(Self { path: path.to_owned(), text, is_there })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the file as a whole or not at all.
    pub(super) fn write(&self) -> Result<()> {
        if self.is_there {
            return Ok(());
        }
        let mut nobody = io::sink();
        let mut target = Target::new(&self.path, true, &mut nobody)?;
        target.write_all(self.text.as_bytes())?;
        target.finish().map(drop)
    }

    /// How the file differs from what it should be.
    pub(super) fn unlike(&self) -> Option<Obstacle> {
        let reason = match fs::read(&self.path) {
            Ok(found) if found == self.text.as_bytes() => return None,
            Ok(_) => "has other content".to_owned(),
            Err(error) => format!("cannot be read: {error}"),
        };
        Some(Obstacle { path: self.path.display().to_string(), reason })
    }
}

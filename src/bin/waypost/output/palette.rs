//! The colours of everything that is printed, so that the same thing looks the same everywhere.

use clap::builder::styling::{AnsiColor, Style};
use waypost::Status;

/// Titles of columns, and names of fields.
pub(crate) const TITLE: Style = Style::new().bold();
/// What a checkpoint is called.
pub(crate) const ID: Style = AnsiColor::Yellow.on_default();
/// What somebody must look at.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// What was there before.
pub(crate) const OLD: Style = AnsiColor::Red.on_default();
/// What is there now.
pub(crate) const NEW: Style = AnsiColor::Green.on_default();
/// What stands elsewhere.
pub(crate) const MOVED: Style = AnsiColor::Yellow.on_default();

/// The colour of a status by its name: only how work ended is told by one.
pub(crate) fn status(name: &str) -> Style {
    match name.parse() {
        Ok(Status::Failed) => AnsiColor::Red.on_default(),
        Ok(Status::Completed) => AnsiColor::Green.on_default(),
        _ => Style::new(),
    }
}

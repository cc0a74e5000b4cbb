//! The colours of everything that is printed, so that the same thing looks the same everywhere.

use clap::builder::styling::{AnsiColor, Style};
use waypost::Status;

/// Titles of columns, and names of fields.
pub(crate) const TITLE: Style = Style::new().bold();
/// Ids of checkpoints.
pub(crate) const ID: Style = AnsiColor::Yellow.on_default();
/// Problems that need attention.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// Old values.
pub(crate) const OLD: Style = AnsiColor::Red.on_default();
/// New values.
pub(crate) const NEW: Style = AnsiColor::Green.on_default();
/// Moved values.
pub(crate) const MOVED: Style = AnsiColor::Yellow.on_default();

/// The colour of a status; only those of ended work have one.
pub(crate) fn status(name: &str) -> Style {
    match name.parse() {
        Ok(Status::Failed) => AnsiColor::Red.on_default(),
        Ok(Status::Completed) => AnsiColor::Green.on_default(),
        _ => Style::new(),
    }
}

//! What `waypost init` did and found, for a person and for a program.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use anyhow::Result;
use clap::builder::styling::Style;
use serde::Serialize;
use waypost::Layout;
use waypost::project::ignore_command;
use waypost::recovery::Ignored;
use waypost::transfer::import::{ImportRemark, Lot};

use crate::args::Global;
use crate::confirm;
use crate::output::plain;

// `imported` is the longest name.
const NAME_WIDTH: usize = 8;

/// The report for a program.
#[derive(Debug, Serialize)]
pub(super) struct Outcome {
    pub(super) store: String,
    pub(super) created: bool,
    pub(super) checkpoints: u64,
    /// The id of the key that it is encrypted with.
    pub(super) key: Option<String>,
    /// The store of a parent directory, which this one now hides.
    pub(super) above: Option<String>,
    /// `null` without git, or if git cannot be asked.
    pub(super) ignored_by_git: Option<bool>,
    pub(super) found: BTreeMap<Layout, Lot>,
    /// True if the time ran out before the survey was complete.
    pub(super) has_more: bool,
    pub(super) unreadable: u64,
    /// The first of the unreadable files.
    pub(super) refusals: Vec<ImportRemark>,
    pub(super) imported: u64,
    pub(super) policy: Option<InForce>,
    pub(super) suggested_policy: Option<&'static str>,
    pub(super) next: Vec<String>,
}

/// The policy in force.
#[derive(Debug, Serialize)]
pub(super) struct InForce {
    pub(super) name: String,
    pub(super) source: String,
}

/// Lines for a person, written at once; a program gets one report at the end.
pub(super) struct Lines<'a> {
    pub(super) out: &'a mut dyn Write,
    pub(super) global: &'a Global,
}

impl Lines<'_> {
    /// Writes a line, if there is something to say.
    pub(super) fn line(&mut self, name: &str, text: Option<impl Display>) -> Result<()> {
        if let Some(text) = text.filter(|_| !self.global.json) {
            let bold = self.global.style(&io::stdout(), Style::new().bold());
            let text = plain(&text.to_string());
            writeln!(self.out, "{bold}{name:NAME_WIDTH$}{bold:#}  {text}")?;
        }
        Ok(())
    }

    /// True if a person at the terminal can be asked. Flushes first, so that the lines are shown.
    pub(super) fn is_asked(&mut self) -> Result<bool> {
        self.out.flush()?;
        Ok(!self.global.json && confirm::is_asked())
    }

    /// What to type next.
    pub(super) fn next(&mut self, commands: &[String]) -> Result<()> {
        if self.global.json || self.global.quiet {
            return Ok(());
        }
        writeln!(self.out, "\nNext:")?;
        commands.iter().try_for_each(|it| writeln!(self.out, "  {}", plain(it)))?;
        Ok(())
    }
}

/// Whether git ignores the store, if that is known.
pub(super) fn is_ignored(ignored: &Ignored) -> Option<bool> {
    match ignored {
        Ignored::Yes => Some(true),
        Ignored::No | Ignored::Tracked => Some(false),
        Ignored::NoRepository | Ignored::Unknown(_) => None,
    }
}

/// Whether git ignores or tracks the store, and the command that corrects it.
pub(super) fn git(ignored: &Ignored, store: &Path) -> Option<String> {
    let advice = ignore_command(ignored, store).unwrap_or_default();
    Some(match ignored {
        Ignored::Yes if store.with_file_name(".gitignore").exists() => {
            "ignores it, by the .gitignore beside it".to_owned()
        }
        Ignored::Yes => "ignores it".to_owned(),
        Ignored::No => format!("warning: does not ignore it: {advice}"),
        Ignored::Tracked => {
            format!("warning: tracks it already, so every save is a change: {advice}")
        }
        Ignored::NoRepository => return None,
        Ignored::Unknown(reason) => format!("was not asked: {reason}"),
    })
}

//! The settings of the project's config for saves: triggers switched off, and pruning.

use std::io::{self, Write};

use anyhow::Result;
use serde::Serialize;
use waypost::config::Cleanup;
use waypost::project;
use waypost::{Config, NewEntry, Policy};

use super::Args;
use crate::args::Global;
use crate::{open, output};

/// The settings of the project's config for saves.
pub(super) struct Switches {
    config: Option<Config>,
    /// True with --force: save every trigger.
    is_forced: bool,
}

/// The answer to a program if nothing was saved.
#[derive(Serialize)]
struct NotSaved<'a> {
    saved: bool,
    reason: &'a str,
}

impl Switches {
    /// The switches of the project.
    ///
    /// A config that cannot be read switches nothing off: a needless save does less harm than a
    /// missing one after a crash.
    pub(super) fn of_project(args: &Args, global: &Global) -> Result<Self> {
        let config = match project::config(&open::path(global)?) {
            Ok(found) => found.map(|(_, config)| config),
            Err(error) => {
                global.warn(format_args!(
                    "the config is passed over: {:#}",
                    anyhow::Error::from(error)
                ));
                None
            }
        };
        Ok(Self { config, is_forced: args.force })
    }

    /// The policy that every save prunes by, unless the store has one.
    pub(super) fn on_save(&self) -> Option<Policy> {
        self.policy_if(Cleanup::OnSave)
    }

    /// The policy that the first save of a day prunes by, unless the store has one.
    pub(super) fn daily(&self) -> Option<Policy> {
        self.policy_if(Cleanup::Daily)
    }

    fn policy_if(&self, cleanup: Cleanup) -> Option<Policy> {
        let config = self.config.as_ref().filter(|config| config.cleanup() == cleanup)?;
        config.policy().cloned()
    }

    /// Why the config switches off a checkpoint, if it does.
    pub(super) fn refusal(&self, about: &NewEntry) -> Option<String> {
        let config = self.config.as_ref().filter(|_| !self.is_forced)?;
        let off = config.refusal(&about.trigger)?;
        Some(format!("trigger {} is switched off: {off}", about.trigger))
    }
}

/// Answers a line that is switched off.
pub(super) fn skip(out: &mut dyn Write, reason: &str, global: &Global) -> io::Result<()> {
    if global.json {
        return output::json_line(out, &NotSaved { saved: false, reason });
    }
    writeln!(out, "off: {reason}")
}

/// Warns that nothing was saved, even with `--quiet`. It is no failure: the config says so.
pub(super) fn refuse(out: &mut dyn Write, reason: &str, global: &Global) -> io::Result<()> {
    global.warn(format_args!("not saved: {reason}; --force saves it"));
    if global.json {
        return output::json_line(out, &NotSaved { saved: false, reason });
    }
    Ok(())
}

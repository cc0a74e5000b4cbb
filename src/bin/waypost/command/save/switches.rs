//! What the config of the project says about saving: what is not saved, and what goes for it.

use std::io::{self, Write};

use anyhow::Result;
use serde::Serialize;
use waypost::project;
use waypost::{Cleanup, Config, NewEntry, Policy};

use super::Args;
use crate::args::Global;
use crate::{open, output};

/// What the config of the project says about saving.
pub(super) struct Switches {
    config: Option<Config>,
    /// Whether all is to be saved.
    is_forced: bool,
}

/// Tells a program why there is no entry.
#[derive(Serialize)]
struct NotSaved<'a> {
    saved: bool,
    reason: &'a str,
}

impl Switches {
    /// Those of the project.
    ///
    /// A config that cannot be read switches nothing off: what is saved needlessly does less harm
    /// than what is missing after a crash.
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

    /// Why a checkpoint is not to be saved, if it is not.
    pub(super) fn refusal(&self, about: &NewEntry) -> Option<String> {
        let config = self.config.as_ref().filter(|_| !self.is_forced)?;
        let off = config.refusal(&about.trigger)?;
        Some(format!("trigger {} is switched off: {off}", about.trigger))
    }
}

/// Answers a line that is not saved.
pub(super) fn skip(out: &mut dyn Write, reason: &str, global: &Global) -> io::Result<()> {
    if global.json {
        return output::json_line(out, &NotSaved { saved: false, reason });
    }
    writeln!(out, "off: {reason}")
}

/// Says that nothing was saved, even with `--quiet`. That is no failure: the config asks for it.
pub(super) fn refuse(out: &mut dyn Write, reason: &str, global: &Global) -> io::Result<()> {
    global.warn(format_args!("not saved: {reason}; --force saves it"));
    if global.json {
        return output::json_line(out, &NotSaved { saved: false, reason });
    }
    Ok(())
}

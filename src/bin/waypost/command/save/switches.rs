//! Triggers that the config of the project switches off.

use std::io::{self, Write};

use anyhow::Result;
use serde::Serialize;
use waypost::{Config, NewEntry};

use super::Args;
use crate::args::Global;
use crate::{config, open, output};

/// What the config of the project says about saving.
pub(super) struct Switches(Option<Config>);

/// Tells a program why there is no entry.
#[derive(Serialize)]
struct NotSaved<'a> {
    saved: bool,
    reason: &'a str,
}

impl Switches {
    /// Those of the project, unless all is to be saved.
    ///
    /// A config that cannot be read switches nothing off: what is saved needlessly does less harm
    /// than what is missing after a crash.
    pub(super) fn of_project(args: &Args, global: &Global) -> Result<Self> {
        if args.force {
            return Ok(Self(None));
        }
        match config::of_project(&open::path(global)?) {
            Ok(found) => Ok(Self(found.map(|(_, config)| config))),
            Err(error) => {
                global.warn(format_args!("the config is passed over: {error:#}"));
                Ok(Self(None))
            }
        }
    }

    /// Why a checkpoint is not to be saved, if it is not.
    pub(super) fn refusal(&self, about: &NewEntry) -> Option<String> {
        let off = self.0.as_ref()?.refusal(&about.trigger)?;
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

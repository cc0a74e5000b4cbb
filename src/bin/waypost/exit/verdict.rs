//! The verdict on an error: exit code, name and hint.

mod command;
mod library;
mod system;

use std::borrow::Cow;

use waypost::project::{ConfigError, NoPlace, PolicyError};
use waypost::recovery::restore;
use waypost::transfer::capture::CaptureError;

use super::Exit;
use command::of_command;
use library::of_library;
use system::of_system;

/// The exit code, name and hint of an error.
#[derive(Debug, Clone)]
pub(crate) struct Verdict {
    pub(crate) exit: Exit,
    /// The name of the error in JSON.
    pub(crate) code: &'static str,
    /// What the user can do.
    pub(crate) hint: Option<Cow<'static, str>>,
}

impl Verdict {
    pub(crate) fn of(error: &anyhow::Error) -> Self {
        let by_library = error.downcast_ref().map(of_library);
        let by_restore = || error.downcast_ref().and_then(of_restore);
        let by_capture = || error.downcast_ref().and_then(of_capture);
        let by_project = || {
            let by_policy = error.downcast_ref().and_then(of_policy);
            let by_config = || error.downcast_ref().and_then(of_config);
            by_policy.or_else(by_config).or_else(|| error.downcast_ref().map(of_place))
        };
        let by_command = || error.downcast_ref().map(of_command);
        let by_system = || error.chain().find_map(|cause| cause.downcast_ref()).map(of_system);
        let known = by_library
            .or_else(by_restore)
            .or_else(by_capture)
            .or_else(by_project)
            .or_else(by_command)
            .or_else(by_system);
        known.unwrap_or(Self::new(Exit::Failed, "failed"))
    }

    const fn new(exit: Exit, code: &'static str) -> Self {
        Self { exit, code, hint: None }
    }

    fn hint(self, hint: impl Into<Cow<'static, str>>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

fn not_found(hint: &'static str) -> Verdict {
    Verdict::new(Exit::Nothing, "not_found").hint(hint)
}

fn refused(code: &'static str, hint: &'static str) -> Verdict {
    Verdict::new(Exit::Refused, code).hint(hint)
}

/// Why nothing was restored. `None` where the error of the system decides.
fn of_restore(why: &restore::Refusal) -> Option<Verdict> {
    use restore::Refusal as Why;
    Some(match why {
        Why::NotResumable { .. } => {
            refused("cannot_resume", "--force writes its files all the same")
        }
        Why::NotADirectory { .. } => refused("not_restorable", "name a directory with --into"),
        Why::NotRestorable { .. } => refused(
            "not_restorable",
            "step 2 of the report says why; move that away, or name another directory with --into",
        ),
        Why::Changed { .. } | Why::Outdated { .. } => refused("outdated", "run it again"),
        Why::StateExists { .. } => {
            refused("exists", "--force replaces and keeps it; or name another file with --state")
        }
        Why::StateNoFile { .. } => {
            refused("not_restorable", "name a regular file with --state, or one to be made")
        }
        Why::Unverified { .. } => Verdict::new(Exit::Damaged, "unverified")
            .hint("look where the report says: what was replaced is kept there"),
        // The command words the others itself, and the library may add refusals.
        _ => return None,
    })
}

/// Why files were not captured. `None` where the error of the system decides.
fn of_capture(why: &CaptureError) -> Option<Verdict> {
    match why {
        CaptureError::Refused { .. } => {
            Some(refused("uncaptured", "leave it out of --capture; nothing was saved"))
        }
        CaptureError::TooLong { source, .. } => Some(of_library(source)),
        _ => None,
    }
}

/// Why no policy can be had. `None` where the error of its cause decides.
fn of_policy(why: &PolicyError) -> Option<Verdict> {
    match why {
        PolicyError::None => Some(
            Verdict::new(Exit::Usage, "no_policy")
                .hint("name one with --policy, or set one with `waypost policy set`"),
        ),
        PolicyError::Unknown { .. } => Some(
            Verdict::new(Exit::Failed, "io").hint("name a preset, or a config file that is there"),
        ),
        PolicyError::Empty { .. } => {
            Some(refused("empty_policy", "`waypost policy example` shows what a policy can say"))
        }
        _ => None,
    }
}

/// What is wrong with a config. `None` where the error of the system decides.
fn of_config(why: &ConfigError) -> Option<Verdict> {
    match why {
        ConfigError::Invalid { .. } => {
            Some(refused("invalid_config", "`waypost policy example` shows every key"))
        }
        _ => None,
    }
}

fn of_place(_: &NoPlace) -> Verdict {
    refused(
        "no_place",
        "name a directory that is there and yours to write to, or a file with --store",
    )
}

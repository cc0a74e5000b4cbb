//! The project around the store: git, config, and files of other systems.

use std::collections::{BTreeSet, HashSet};
use std::error::Error;
use std::path::Path;

use super::Examination;
use super::report::Checkup;
use crate::checkpoint::{Entry, Layout};
use crate::project::{self, Suggestion, ignore_command, suggest};
use crate::recovery::{Ignored, ignored};
use crate::retention::Policy;
use crate::store::{Inspection, StoreState};
use crate::text::quoted;

/// Facts from the entries of a store.
#[derive(Debug, Default)]
pub(super) struct Noted {
    layouts: BTreeSet<Layout>,
    /// The paths of imported files, and the ids of other checkpoints, whose exported files may lie
    /// below the project.
    places: HashSet<String>,
    /// Whether these are all.
    pub(super) is_whole: bool,
}

/// Files of other systems in a project that are not at any of the places that are known.
///
/// ```
/// use std::collections::BTreeSet;
/// use waypost::doctor::{Examination, Files, examine};
/// use waypost::{Layout, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("store.redb");
/// Store::open(&path)?.close()?;
/// let layouts = BTreeSet::from([Layout::Crunch]);
/// let found = Files { are_there: true, layouts, words: "3 crunch".to_owned() };
/// let mut surveyor = |_: &std::path::Path, _: &_| Ok(found.clone());
/// let report = examine(&path, &Examination::default(), Some(&mut surveyor));
/// assert_eq!(report.bad(), 0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Files {
    /// Whether there are any.
    pub are_there: bool,
    /// Their layouts.
    pub layouts: BTreeSet<Layout>,
    /// How many of each, in words.
    pub words: String,
}

/// Looks for files of other systems below a directory, or says why it cannot. Leaves out paths that
/// were imported and exported files of checkpoints with known ids.
pub type Surveyor<'a> = &'a mut dyn FnMut(&Path, &HashSet<String>) -> Result<Files, String>;

impl Noted {
    pub(super) fn hear(&mut self, entry: &Entry) {
        self.layouts.insert(entry.layout);
        let place = entry.source_path.as_deref().unwrap_or(entry.id.as_str());
        self.places.insert(place.to_owned());
    }
}

/// Whether git would commit the store.
pub(super) fn git(store: &Path) -> Option<Checkup> {
    const NAME: &str = "git";
    if !store.exists() {
        return None;
    }
    let ignored = ignored(store);
    let check = match &ignored {
        Ignored::Yes => Checkup::ok(NAME, "ignores the store"),
        Ignored::NoRepository => Checkup::ok(NAME, "no repository here"),
        Ignored::Unknown(reason) => Checkup::ok(NAME, format!("not asked: {reason}")),
        Ignored::No => Checkup::warn(NAME, "does not ignore the store"),
        Ignored::Tracked => Checkup::warn(NAME, "tracks the store: every save is a change"),
    };
    Some(match ignore_command(&ignored, store) {
        Some(advice) => check.advise(advice),
        None => check,
    })
}

/// The config of the project, and the policy in force.
pub(super) fn config_and_policy(
    store: &Path,
    found: Option<&Inspection>,
    noted: &Noted,
) -> (Checkup, Checkup) {
    const NAME: &str = "config";
    match project::config(store) {
        Ok(None) => {
            (Checkup::ok(NAME, "no config file in this project"), policy(None, found, noted))
        }
        Ok(Some((path, config))) => {
            let path = path.display().to_string();
            let of_config = config.policy().map(|policy| (policy, path.as_str()));
            let policy = policy(of_config, found, noted);
            (Checkup::ok(NAME, format!("{path} is valid")), policy)
        }
        Err(error) => {
            let check =
                Checkup::bad(NAME, told(&error)).advise("waypost policy example shows every key");
            (check, policy(None, found, noted))
        }
    }
}

fn policy(
    of_config: Option<(&Policy, &str)>,
    found: Option<&Inspection>,
    noted: &Noted,
) -> Checkup {
    const NAME: &str = "policy";
    let of_store = match found.map(|found| &found.state) {
        Some(StoreState::Closed(contents)) => contents.settings.as_ref(),
        _ => None,
    };
    if let Some(settings) = of_store
        && let Some(policy) = &settings.policy
    {
        let on_save = if settings.prune_on_save { ", on every save" } else { "" };
        return Checkup::ok(NAME, format!("{}, from the store{on_save}", policy.name));
    }
    // A policy of the store comes first, and whether there is one cannot be told.
    if !noted.is_whole {
        return Checkup::ok(NAME, "unknown: the store cannot be read now");
    }
    if let Some((policy, path)) = of_config {
        return Checkup::ok(NAME, format!("{}, from {path}", policy.name));
    }
    let Suggestion { name, keeps, .. } = suggest(&noted.layouts);
    Checkup::ok(NAME, "none, so that nothing is ever removed")
        .advise(format!("waypost policy set {name}, which {keeps}"))
}

/// An error with its causes.
fn told(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// Checkpoints of other systems that are not in the store; notes their layouts.
pub(super) fn files(
    store: &Path,
    how: &Examination,
    noted: &mut Noted,
    surveyor: Surveyor<'_>,
) -> Option<Checkup> {
    const NAME: &str = "files";
    let home = project::home(store)?;
    let found = match surveyor(&home, &noted.places) {
        Ok(found) => found,
        Err(error) => return Some(Checkup::warn(NAME, error)),
    };
    noted.layouts.extend(&found.layouts);
    let words = found.words;
    if !found.are_there {
        return Some(Checkup::ok(NAME, words));
    }
    if !noted.is_whole {
        let finding = format!("{words}, imported or not: the store cannot be read now");
        return Some(Checkup::ok(NAME, finding));
    }
    let is_here = how.here.as_deref() == Some(&*home);
    let typed = if is_here { ".".to_owned() } else { quoted(&home.display().to_string()) };
    let check = Checkup::warn(NAME, format!("not imported yet: {words}"));
    Some(check.advise(format!("waypost import {typed}")))
}

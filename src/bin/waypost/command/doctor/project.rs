//! The project around the store: its git, its config, what other systems left in it.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use waypost::project::{self, Suggestion, ignore_command, suggest};
use waypost::recovery::{Ignored, ignored};
use waypost::{Entry, Inspection, Layout, Policy, State};

use super::check::Check;
use crate::command::import::survey::{Known, Survey};
use crate::open;

/// What the entries of a store tell.
#[derive(Debug, Default)]
pub(super) struct Seen {
    layouts: BTreeSet<Layout>,
    /// Where imported files lay.
    places: HashSet<String>,
    /// Whether these are all.
    pub(super) is_whole: bool,
}

impl Seen {
    pub(super) fn hear(&mut self, entry: &Entry) {
        self.layouts.insert(entry.layout);
        if let Some(place) = &entry.source_path {
            self.places.insert(place.clone());
        }
    }
}

/// Whether git would commit the store.
pub(super) fn git(store: &Path) -> Option<Check> {
    const NAME: &str = "git";
    if !store.exists() {
        return None;
    }
    let ignored = ignored(store);
    let check = match &ignored {
        Ignored::Yes => Check::ok(NAME, "ignores the store"),
        Ignored::NoRepository => Check::ok(NAME, "no repository here"),
        Ignored::Unknown(reason) => Check::ok(NAME, format!("not asked: {reason}")),
        Ignored::No => Check::warn(NAME, "does not ignore the store"),
        Ignored::Tracked => Check::warn(NAME, "tracks the store: every save is a change"),
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
    seen: &Seen,
) -> (Check, Check) {
    const NAME: &str = "config";
    match project::config(store) {
        Ok(None) => (Check::ok(NAME, "no config file in this project"), policy(None, found, seen)),
        Ok(Some((path, config))) => {
            let path = path.display().to_string();
            let of_config = config.policy().map(|policy| (policy, path.as_str()));
            let policy = policy(of_config, found, seen);
            (Check::ok(NAME, format!("{path} is valid")), policy)
        }
        Err(error) => {
            let check = Check::bad(NAME, format!("{:#}", anyhow::Error::from(error)))
                .advise("waypost policy example shows every key");
            (check, policy(None, found, seen))
        }
    }
}

fn policy(of_config: Option<(&Policy, &str)>, found: Option<&Inspection>, seen: &Seen) -> Check {
    const NAME: &str = "policy";
    let of_store = match found.map(|found| &found.state) {
        Some(State::Closed(contents)) => contents.settings.as_ref(),
        _ => None,
    };
    if let Some(settings) = of_store
        && let Some(policy) = &settings.policy
    {
        let on_save = if settings.prune_on_save { ", on every save" } else { "" };
        return Check::ok(NAME, format!("{}, from the store{on_save}", policy.name));
    }
    // A policy of the store comes first, and whether there is one cannot be told.
    if !seen.is_whole {
        return Check::ok(NAME, "unknown: the store cannot be read now");
    }
    if let Some((policy, path)) = of_config {
        return Check::ok(NAME, format!("{}, from {path}", policy.name));
    }
    let Suggestion { name, keeps, .. } = suggest(&seen.layouts);
    Check::ok(NAME, "none, so that nothing is ever removed")
        .advise(format!("waypost policy set {name}, which {keeps}"))
}

/// Checkpoints of other systems that are not in the store; their layouts are seen, too.
pub(super) fn files(store: &Path, seen: &mut Seen) -> Option<Check> {
    const NAME: &str = "files";
    let home = project::home(store)?;
    let survey = match Survey::of(&home, store, Known::At(&seen.places)) {
        Ok(survey) => survey,
        Err(error) => return Some(Check::warn(NAME, format!("{error:#}"))),
    };
    seen.layouts.extend(survey.layouts.keys());
    let told = survey.told();
    if survey.count() == 0 {
        return Some(Check::ok(NAME, told));
    }
    if !seen.is_whole {
        let finding = format!("{told}, imported or not: the store cannot be read now");
        return Some(Check::ok(NAME, finding));
    }
    let advice = format!("waypost import {}", open::typed(&home));
    Some(Check::warn(NAME, format!("not imported yet: {told}")).advise(advice))
}

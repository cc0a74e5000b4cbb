//! Which policy a command goes by, and where it comes from.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use waypost::{Config, Policy, Store};

use crate::config;
use crate::exit::Refusal;

/// A policy, and where it comes from.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) source: Source,
    pub(crate) policy: Policy,
}

/// Where a policy comes from.
#[derive(Debug)]
pub(crate) enum Source {
    Preset,
    Store,
    File(PathBuf),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Preset => f.write_str("preset"),
            Self::Store => f.write_str("store"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

/// What a name stands for.
pub(crate) enum Named {
    Preset(Policy),
    Config(PathBuf, Box<Config>),
}

/// The policy that was asked for, else that of the store, else that of the config of the project.
pub(crate) fn choose(asked: Option<&str>, store: &Store) -> Result<Option<Chosen>> {
    if let Some(name) = asked {
        return named(name)?.policy().map(Some);
    }
    if let Some(policy) = store.settings()?.policy {
        return Ok(Some(Chosen { source: Source::Store, policy }));
    }
    of_project(store.path())
}

/// The policy of the config of the project, if it has one.
pub(crate) fn of_project(store: &Path) -> Result<Option<Chosen>> {
    let found = config::of_project(store)?;
    Ok(found.and_then(|(path, config)| {
        let policy = config.policy()?.clone();
        Some(Chosen { source: Source::File(path), policy })
    }))
}

/// The policy to prune by; refuses where there is none, or one that says nothing.
pub(crate) fn required(asked: Option<&str>, store: &Store) -> Result<Chosen> {
    let chosen = choose(asked, store)?.ok_or(Refusal::NoPolicy)?;
    if chosen.policy.is_empty() {
        return Err(Refusal::EmptyPolicy { place: chosen.source.to_string() }.into());
    }
    Ok(chosen)
}

/// A preset, or a config file.
pub(crate) fn named(name: &str) -> Result<Named> {
    if let Ok(policy) = Policy::preset(name) {
        return Ok(Named::Preset(policy));
    }
    let path = Path::new(name);
    if !path.exists() {
        return Err(Refusal::UnknownPolicy { name: name.to_owned() }.into());
    }
    Ok(Named::Config(path.to_owned(), Box::new(config::read(path)?)))
}

impl Named {
    /// Its policy; refuses a file that says nothing of what is kept.
    pub(crate) fn policy(self) -> Result<Chosen> {
        match self {
            Self::Preset(policy) => Ok(Chosen { source: Source::Preset, policy }),
            Self::Config(path, config) => {
                let place = path.display().to_string();
                let policy = config.policy().cloned().ok_or(Refusal::EmptyPolicy { place })?;
                Ok(Chosen { source: Source::File(path), policy })
            }
        }
    }
}

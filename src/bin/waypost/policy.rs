//! Which policy a command goes by, and where it comes from.

use std::path::Path;

use anyhow::Result;
use serde::Serialize;
use waypost::{Policy, Store};

use crate::config;
use crate::exit::Refusal;

/// A policy, and where it comes from.
#[derive(Debug, Serialize)]
pub(crate) struct Chosen {
    pub(crate) source: String,
    pub(crate) policy: Policy,
}

/// The policy that was asked for, else that of the store, else that of the config of the project.
pub(crate) fn choose(asked: Option<&str>, store: &Store) -> Result<Option<Chosen>> {
    if let Some(name) = asked {
        return named(name).map(Some);
    }
    if let Some(policy) = store.settings()?.policy {
        return Ok(Some(Chosen { source: "store".to_owned(), policy }));
    }
    let Some((path, config)) = config::of_project(store.path())? else {
        return Ok(None);
    };
    let source = path.display().to_string();
    Ok(config.policy().map(|policy| Chosen { source, policy: policy.clone() }))
}

/// The policy to prune by; refuses where there is none, or one that says nothing.
pub(crate) fn required(asked: Option<&str>, store: &Store) -> Result<Chosen> {
    let chosen = choose(asked, store)?.ok_or(Refusal::NoPolicy)?;
    if chosen.policy.is_empty() {
        return Err(Refusal::EmptyPolicy { place: chosen.source }.into());
    }
    Ok(chosen)
}

/// A preset, or the policy of a config file.
pub(crate) fn named(name: &str) -> Result<Chosen> {
    if Policy::PRESETS.contains(&name) {
        return Ok(Chosen { source: "preset".to_owned(), policy: Policy::preset(name)? });
    }
    let path = Path::new(name);
    let is_word = !name.contains(['/', '\\', '.']);
    if is_word && !path.exists() {
        // A word that names no file is more likely meant for a preset.
        Policy::preset(name)?;
    }
    let config = config::read(path)?;
    let source = path.display().to_string();
    let policy = config.policy().cloned().ok_or(Refusal::EmptyPolicy { place: source.clone() })?;
    Ok(Chosen { source, policy })
}

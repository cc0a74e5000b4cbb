//! Which policy is in force, and where it comes from.

use std::fmt;
use std::path::{Path, PathBuf};

use super::config::{self, ConfigError, read_config};
use crate::config::Config;
use crate::error::Error;
use crate::retention::Policy;
use crate::store::{Settings, Store};

/// A policy, and where it comes from.
///
/// ```
/// # fn main() -> Result<(), waypost::project::PolicyError> {
/// let chosen = waypost::project::named_policy("last-5")?.policy()?;
/// assert_eq!(chosen.policy.name, "last-5");
/// assert_eq!(chosen.source.to_string(), "preset");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ChosenPolicy {
    /// Where it comes from.
    pub source: PolicySource,
    /// The policy.
    pub policy: Policy,
}

/// Where a policy comes from.
///
/// See [`ChosenPolicy`] for an example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicySource {
    /// It was named, and is built in.
    Preset,
    /// The settings of the store.
    Store,
    /// This config file.
    File(PathBuf),
}

impl fmt::Display for PolicySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Preset => f.write_str("preset"),
            Self::Store => f.write_str("store"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

/// What the name of a policy stands for.
///
/// ```
/// # fn show(_line: String) {}
/// use waypost::project::{Named, named_policy};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// match named_policy("last-5")? {
///     Named::Preset(policy) => assert_eq!(policy.name, "last-5"),
///     Named::Config(path, _config) => show(format!("{}", path.display())),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub enum Named {
    /// A built-in policy.
    Preset(Policy),
    /// A config file, and what it says.
    Config(PathBuf, Box<Config>),
}

/// Why there is no policy.
///
/// ```
/// use waypost::project::{PolicyError, named_policy};
///
/// assert!(matches!(named_policy("keep-some"), Err(PolicyError::Unknown { .. })));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// No policy is named, set or configured.
    #[error("there is no policy to prune by")]
    None,
    /// The name is neither a preset nor a file.
    #[error("cannot read {name}: there is no such file, and presets are {}, last-N",
        Policy::PRESETS.join(", "))]
    Unknown {
        /// What was named.
        name: String,
    },
    /// The policy has no rules.
    #[error("the policy of {place} is empty")]
    Empty {
        /// The config file, or where else the policy comes from.
        place: String,
    },
    /// The config cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] Error),
}

/// Returns the policy of the store, else that of the config of its project.
///
/// # Errors
/// [`PolicyError::Store`] and [`PolicyError::Config`].
pub fn policy_in_force(store: &Store) -> Result<Option<ChosenPolicy>, PolicyError> {
    if let Some(policy) = store.settings()?.policy {
        return Ok(Some(ChosenPolicy { source: PolicySource::Store, policy }));
    }
    let found = config::config(store.path())?;
    Ok(found.and_then(|(path, config)| {
        let policy = config.policy()?.clone();
        Some(ChosenPolicy { source: PolicySource::File(path), policy })
    }))
}

/// Returns the policy of this name, else the one in force; one without rules is refused.
///
/// # Errors
/// [`PolicyError`].
pub fn required_policy(name: Option<&str>, store: &Store) -> Result<ChosenPolicy, PolicyError> {
    let chosen = match name {
        Some(name) => named_policy(name)?.policy()?,
        None => policy_in_force(store)?.ok_or(PolicyError::None)?,
    };
    if chosen.policy.is_empty() {
        return Err(PolicyError::Empty { place: chosen.source.to_string() });
    }
    Ok(chosen)
}

/// Returns the preset of this name, else the config file.
///
/// # Errors
/// [`PolicyError::Unknown`] and [`PolicyError::Config`].
pub fn named_policy(name: &str) -> Result<Named, PolicyError> {
    if let Ok(policy) = Policy::preset(name) {
        return Ok(Named::Preset(policy));
    }
    let path = Path::new(name);
    if !path.exists() {
        return Err(PolicyError::Unknown { name: name.to_owned() });
    }
    Ok(Named::Config(path.to_owned(), Box::new(read_config(path)?)))
}

impl Named {
    /// Puts the policy into the settings of a store; a config may say more than its policy.
    pub fn put_into(&self, settings: &mut Settings) {
        match self {
            Self::Preset(policy) => settings.policy = Some(policy.clone()),
            Self::Config(_, config) => {
                settings.policy = config.policy().cloned().or(settings.policy.take());
                settings.prune_on_save = config.prune_on_save().unwrap_or(settings.prune_on_save);
                settings.keep_deleted = config.keep_deleted().unwrap_or(settings.keep_deleted);
            }
        }
    }

    /// Returns its policy.
    ///
    /// # Errors
    /// [`PolicyError::Empty`] for a file that says nothing of what is kept.
    pub fn policy(self) -> Result<ChosenPolicy, PolicyError> {
        match self {
            Self::Preset(policy) => Ok(ChosenPolicy { source: PolicySource::Preset, policy }),
            Self::Config(path, config) => {
                let place = path.display().to_string();
                let policy = config.policy().cloned().ok_or(PolicyError::Empty { place })?;
                Ok(ChosenPolicy { source: PolicySource::File(path), policy })
            }
        }
    }
}

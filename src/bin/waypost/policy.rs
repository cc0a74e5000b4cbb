//! The policy of a command. Unwraps errors of the config and the store, for their usual exit codes.

use anyhow::Result;
use waypost::Store;
use waypost::project::{self, ChosenPolicy, Named, PolicyError};

/// The named policy, else that of the store, else that of the project's config.
pub(crate) fn choose(asked: Option<&str>, store: &Store) -> Result<Option<ChosenPolicy>> {
    match asked {
        Some(name) => of(named(name)?).map(Some),
        None => project::policy_in_force(store).map_err(told),
    }
}

/// The policy to prune by; an error if there is none or it is empty.
pub(crate) fn required(asked: Option<&str>, store: &Store) -> Result<ChosenPolicy> {
    project::required_policy(asked, store).map_err(told)
}

/// A preset, or a config file.
pub(crate) fn named(name: &str) -> Result<Named> {
    project::named_policy(name).map_err(told)
}

/// Returns the policy that a name stands for.
pub(crate) fn of(named: Named) -> Result<ChosenPolicy> {
    named.policy().map_err(told)
}

fn told(error: PolicyError) -> anyhow::Error {
    match error {
        PolicyError::Config(error) => error.into(),
        PolicyError::Store(error) => error.into(),
        error => error.into(),
    }
}

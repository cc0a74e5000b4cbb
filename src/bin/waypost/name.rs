//! Names of checkpoints on the command line, the same in every command.

use anyhow::Result;
use waypost::error::Wanted;
use waypost::history::Scope;
use waypost::{Entry, Error, Id, Query, Store};

use crate::args::Global;
use crate::exit::Refusal;

/// The checkpoint of a name: an id, the start of one, `latest`, `NAME@N`, or a name for the newest.
pub(crate) fn one(store: &Store, name: &str) -> Result<Entry> {
    store.resolve(name).map_err(|error| explained(store, error))
}

/// Adds similar names to the error about an unknown one.
fn explained(store: &Store, error: Error) -> anyhow::Error {
    let Error::NotFound { wanted: Wanted::Checkpoint(wanted) } = error else { return error.into() };
    let nearby = store.similar(&wanted).and_then(|nearby| Ok((nearby, store.newest_series()?)));
    match nearby {
        Ok((nearby, newest)) => Refusal::Unknown { wanted, nearby, newest }.into(),
        Err(error) => error.into(),
    }
}

/// As [`one`], for many names.
pub(crate) fn all(store: &Store, names: &[String]) -> Result<Vec<Id>> {
    names.iter().map(|name| Ok(one(store, name)?.id)).collect()
}

/// As [`all`], for a command that removes: it refuses a bare NAME, which may mean all its
/// checkpoints.
pub(crate) fn exactly(store: &Store, name: &str) -> Result<Entry> {
    let entry = one(store, name)?;
    match store.several(name)? {
        Some(_) => Err(Refusal::Several { name: name.to_owned() }.into()),
        None => Ok(entry),
    }
}

/// The checkpoints of a target that a query admits.
pub(crate) fn scope(store: &Store, target: Option<&str>, query: Query) -> Result<Scope> {
    store.scope(target, query).map_err(|error| explained(store, error))
}

/// A parent by any name. A name not found here is kept: the parent may be in another store.
pub(crate) fn parent(store: &Store, name: &Id, global: &Global) -> Result<Id> {
    match store.resolve(name.as_str()) {
        Ok(entry) => Ok(entry.id),
        Err(Error::NotFound { .. } | Error::Invalid { .. }) => {
            if !global.json {
                global.note(format_args!("there is no checkpoint {name} here for a parent"));
            }
            Ok(name.clone())
        }
        Err(error) => Err(error.into()),
    }
}

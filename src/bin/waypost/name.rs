//! What a checkpoint is called on the command line: the same in every command.

use anyhow::Result;
use waypost::{Entry, Error, Id, Issue, Query, Store};

use crate::args::Global;
use crate::exit::Refusal;

/// Stands for the newest checkpoint.
const LATEST: &str = "latest";

/// The checkpoint of a name: an id, the start of one, `latest`, `NAME@N`, or a name for the newest.
pub(crate) fn one(store: &Store, name: &str) -> Result<Entry> {
    match store.resolve(name) {
        Err(Error::NotFound { wanted }) => {
            let (nearby, newest) = (similar(store, name)?, store.newest_series()?);
            Err(Refusal::Unknown { wanted, nearby, newest }.into())
        }
        other => Ok(other?),
    }
}

/// The same of many names.
pub(crate) fn all(store: &Store, names: &[String]) -> Result<Vec<Id>> {
    names.iter().map(|name| Ok(one(store, name)?.id)).collect()
}

/// The same for a command that removes them: a name alone may be meant for all that has it.
pub(crate) fn exactly(store: &Store, name: &str) -> Result<Entry> {
    let entry = one(store, name)?;
    match line(store, name)? {
        Some(_) => Err(Refusal::Several { name: name.to_owned() }.into()),
        None => Ok(entry),
    }
}

/// The checkpoints of a series, an issue or a loop, unless the name is that of one checkpoint.
pub(crate) fn line(store: &Store, name: &str) -> Result<Option<Query>> {
    let is_id = || match Id::new(name).and_then(|id| store.entry(&id)) {
        Ok(_) | Err(Error::Corrupt { .. }) => Ok(true),
        Err(Error::NotFound { .. }) => Ok(false),
        Err(error) => Err(error),
    };
    if name == LATEST || is_id()? { Ok(None) } else { Ok(store.line(name)?) }
}

/// A parent by any name. What is not here may be elsewhere, and is kept as it is.
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

/// Names that may have been meant: issues in another spelling, and series.
pub(crate) fn similar(store: &Store, name: &str) -> Result<Vec<String>> {
    let wanted = name.rsplit_once('@').map_or(name, |(wanted, _)| wanted);
    let is_same = |issue: &Issue| {
        let wanted = wanted.trim_start_matches('#');
        issue.as_str() != wanted && issue.as_str().eq_ignore_ascii_case(wanted)
    };
    let issues = store.issues()?.into_iter().filter(is_same).map(|issue| issue.to_string());
    let series = store.nearby(wanted)?.into_iter().map(|series| series.to_string());
    Ok(issues.chain(series).collect())
}

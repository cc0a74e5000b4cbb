//! The keys that were given, and whether the store takes one of them.

use super::report::Check;
use super::{Examination, GivenKey};
use crate::store::{Inspection, State};

const NAME: &str = "key";

pub(super) fn check(how: &Examination, found: Option<&Inspection>) -> Check {
    let given = &how.keys;
    if let Some(error) = given.iter().find_map(|given| given.key.as_ref().err()) {
        return Check::bad(NAME, error.as_str())
            .advise("bring the file back: nothing that is encrypted can be read or saved without");
    }
    let Some(State::Closed(contents)) = found.map(|found| &found.state) else {
        return match given.first() {
            None => Check::ok(NAME, "none is given"),
            Some(GivenKey { from, .. }) => Check::ok(NAME, format!("given by {from}")),
        };
    };
    let ids: Vec<_> = given.iter().filter_map(|given| given.key.as_ref().ok()).collect();
    match (contents.key, given.first()) {
        (None, None) => Check::ok(NAME, "the store is not encrypted"),
        (None, Some(GivenKey { from, .. })) => {
            Check::warn(NAME, format!("given by {from}, and the store is not encrypted"))
                .advise("waypost rekey encrypts it; or leave the key out, else nothing is saved")
        }
        (Some(id), None) => {
            Check::warn(NAME, format!("the store is encrypted with key {id}, and none is given"))
                .advise("give it with --key-file; lists do without")
        }
        (Some(id), Some(GivenKey { from, .. })) if ids.contains(&&id) => {
            Check::ok(NAME, format!("the store is encrypted with key {id}, given by {from}"))
        }
        (Some(id), Some(GivenKey { from, .. })) => {
            let finding =
                format!("the store is encrypted with key {id}, and another is given by {from}");
            Check::bad(NAME, finding).advise("name the file of that key with --key-file")
        }
    }
}

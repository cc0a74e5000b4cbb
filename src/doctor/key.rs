//! The keys that were given, and whether the store takes one of them.

use super::report::Checkup;
use super::{Examination, GivenKey};
use crate::store::{Inspection, StoreState};

const NAME: &str = "key";

pub(super) fn check(how: &Examination, found: Option<&Inspection>) -> Checkup {
    let given = &how.keys;
    if let Some(error) = given.iter().find_map(|given| given.key.as_ref().err()) {
        return Checkup::bad(NAME, error.as_str())
            .advise("bring the file back: nothing that is encrypted can be read or saved without");
    }
    let Some(StoreState::Closed(contents)) = found.map(|found| &found.state) else {
        return match given.first() {
            None => Checkup::ok(NAME, "none is given"),
            Some(GivenKey { from, .. }) => Checkup::ok(NAME, format!("given by {from}")),
        };
    };
    let ids: Vec<_> = given.iter().filter_map(|given| given.key.as_ref().ok()).collect();
    match (contents.key, given.first()) {
        (None, None) => Checkup::ok(NAME, "the store is not encrypted"),
        (None, Some(GivenKey { from, .. })) => {
            Checkup::warn(NAME, format!("given by {from}, and the store is not encrypted"))
                .advise("waypost rekey encrypts it; or leave the key out, else nothing is saved")
        }
        (Some(id), None) => {
            Checkup::warn(NAME, format!("the store is encrypted with key {id}, and none is given"))
                .advise("give it with --key-file; waypost list needs none")
        }
        (Some(id), Some(GivenKey { from, .. })) if ids.contains(&&id) => {
            Checkup::ok(NAME, format!("the store is encrypted with key {id}, given by {from}"))
        }
        (Some(id), Some(GivenKey { from, .. })) => {
            let finding =
                format!("the store is encrypted with key {id}, and another is given by {from}");
            Checkup::bad(NAME, finding).advise("name the file of that key with --key-file")
        }
    }
}

//! The keys that are named, and whether the store takes one of them.

use std::path::Path;

use waypost::{Inspection, State};

use super::check::Check;
use crate::args::Global;
use crate::keys::{self, Named};

const NAME: &str = "key";

pub(super) fn check(store: &Path, found: Option<&Inspection>, global: &Global) -> Check {
    let named = keys::named(global, store);
    if let Some(error) = named.iter().find_map(|named| named.key.as_ref().err()) {
        return Check::bad(NAME, format!("{error:#}"))
            .advise("bring the file back: nothing that is encrypted can be read or saved without");
    }
    let Some(State::Closed(contents)) = found.map(|found| &found.state) else {
        return match named.first() {
            None => Check::ok(NAME, "none is given"),
            Some(Named { from, .. }) => Check::ok(NAME, format!("given by {from}")),
        };
    };
    let ids: Vec<_> =
        named.iter().filter_map(|named| Some(named.key.as_ref().ok()?.id())).collect();
    match (contents.key, named.first()) {
        (None, None) => Check::ok(NAME, "the store is not encrypted"),
        (None, Some(Named { from, .. })) => {
            Check::warn(NAME, format!("given by {from}, and the store is not encrypted"))
                .advise("waypost rekey encrypts it; or leave the key out, else nothing is saved")
        }
        (Some(id), None) => {
            Check::warn(NAME, format!("the store is encrypted with key {id}, and none is given"))
                .advise("give it with --key-file; lists do without")
        }
        (Some(id), Some(Named { from, .. })) if ids.contains(&id) => {
            Check::ok(NAME, format!("the store is encrypted with key {id}, given by {from}"))
        }
        (Some(id), Some(Named { from, .. })) => {
            let finding =
                format!("the store is encrypted with key {id}, and another is given by {from}");
            Check::bad(NAME, finding).advise("name the file of that key with --key-file")
        }
    }
}

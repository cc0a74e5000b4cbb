//! What a row or a rule keeps.

use super::field::{Field, Section};
use crate::error::Result;
use crate::retention::{Per, Rule};

/// What a row may say in its long form, and a rule beside what it is about.
pub(super) const KEYS: [&str; 4] = ["keep_last", "keep_within", "max_age", "per"];

const PER: [(&str, Per); 2] = [("series", Per::Series), ("phase", Per::Phase)];

/// Reads what `field` keeps from the keys below it; `per` is what it counts within if they do not
/// say.
pub(super) fn read(field: &Field<'_>, keys: &Section<'_>, per: Per) -> Result<Rule> {
    let rule = Rule {
        per: keys.value("per", |field| field.one_of(&PER))?.unwrap_or(per),
        keep_last: keys.value("keep_last", Field::count_or_all)?.flatten(),
        keep_within: keys.value("keep_within", Field::age)?,
        max_age: keys.value("max_age", Field::age)?,
        ..Rule::default()
    };
    let does_say = KEYS.iter().any(|key| *key != "per" && keys.get(key).is_some());
    if !does_say {
        return Err(field.refused("should say what it keeps: keep_last, keep_within or max_age"));
    }
    // Such a rule would keep everything, which a file with an age does not mean.
    match keys.get("keep_within") {
        Some(within) if rule.keep_last.is_none() => Err(within.refused(
            "needs a number as keep_last beside it; to remove what is older, say max_age",
        )),
        _ => Ok(rule),
    }
}

//! Prerequisites of resuming that a document marks as not met.

use super::told::{LIST_MAX, name_of, named};
use crate::checkpoint::Document;
use crate::layouts::reading::at;

const ANSWERS: [&str; 2] = ["prerequisites_met", "prerequisitesMet"];
const LISTS: [&str; 5] = [
    "unmet_prerequisites",
    "prerequisites_unmet",
    "missing_prerequisites",
    "prerequisites_missing",
    "unmetPrerequisites",
];
const ALL: [&str; 1] = ["prerequisites"];
/// Fields by which a prerequisite says that it is met or not.
const STATES: [&str; 4] = ["met", "is_met", "satisfied", "status"];

/// Returns the names of unmet prerequisites. `None` if the document marks none as unmet; empty if
/// it says so without names.
///
/// `place` is the object that has them; an empty text stands for the document itself.
pub(in crate::layouts) fn unmet(document: &Document, place: &str) -> Option<Vec<String>> {
    let object = if place.is_empty() { document } else { at(document, place)? };
    let lists = LISTS.iter().filter_map(|field| at(object, field)).flat_map(all);
    let judged = ANSWERS.iter().chain(&ALL).filter_map(|field| at(object, field)).flat_map(refused);
    let mut unmet: Vec<String> = Vec::new();
    for name in lists.chain(judged).take(LIST_MAX) {
        if !unmet.contains(&name) {
            unmet.push(name);
        }
    }
    let is_refused = ANSWERS.iter().any(|field| at(object, field).is_some_and(is_no));
    (is_refused || !unmet.is_empty()).then_some(unmet)
}

/// Everything that a value names.
fn all(value: &Document) -> Vec<String> {
    match value {
        Document::Array(items) => items.iter().filter_map(named).collect(),
        Document::Object(members) => members.iter().map(|(name, _)| name.clone()).collect(),
        Document::Text(_) => name_of(value).into_iter().filter(|it| !is_nothing(it)).collect(),
        _ => Vec::new(),
    }
}

/// The prerequisites that a list or an object marks as not met. Unmarked ones do not count.
fn refused(value: &Document) -> Vec<String> {
    let is_refused =
        |it: &Document| is_no(it) || STATES.iter().any(|field| at(it, field).is_some_and(is_no));
    match value {
        Document::Array(items) => {
            items.iter().filter(|it| is_refused(it)).filter_map(named).collect()
        }
        Document::Object(members) => {
            let refused = members.iter().filter(|(_, value)| is_refused(value));
            refused.map(|(name, _)| name.clone()).collect()
        }
        _ => Vec::new(),
    }
}

fn is_no(value: &Document) -> bool {
    const NO: [&str; 9] = [
        "false",
        "no",
        "unmet",
        "not met",
        "not_met",
        "missing",
        "pending",
        "failed",
        "unsatisfied",
    ];
    match value {
        Document::Bool(value) => !value,
        Document::Text(text) => NO.contains(&text.trim().to_ascii_lowercase().as_str()),
        _ => false,
    }
}

fn is_nothing(text: &str) -> bool {
    matches!(text.trim().to_ascii_lowercase().as_str(), "none" | "n/a" | "-" | "null")
}

//! The issue as the document describes it, for the checks before resuming.
//!
//! Each field is looked for in `/issue_snapshot`, then in `/issue`, where the output of a tracker's
//! own command usually is, then at the top.

use crate::checkpoint::Document;
use crate::layouts::given::{Given, completed, text_of};

pub(super) fn snapshot(given: &mut Given<'_>) -> Document {
    let own = given.object_at(&["/issue_snapshot"]);
    let fields = [
        ("title", Some(said(given, "title"))),
        ("body", Some(body(given))),
        ("labels", Some(names(given, "labels"))),
        ("assignees", Some(names(given, "assignees"))),
        ("branch", Some(said(given, "branch"))),
    ];
    completed(fields, own)
}

fn places(field: &str) -> [String; 3] {
    ["/issue_snapshot/", "/issue/", "/"].map(|place| format!("{place}{field}"))
}

fn said(given: &Given<'_>, field: &str) -> Document {
    let places = places(field);
    given.text_at(&places.each_ref().map(String::as_str)).map_or(Document::Null, Document::Text)
}

/// The body as it is; an empty one counts.
fn body(given: &Given<'_>) -> Document {
    let mut values = places("body").into_iter().filter_map(|place| given.at(&[&place]));
    let found = values.find(|value| text_of(value).is_some());
    found.cloned().unwrap_or(Document::Null)
}

/// The first list of names. Trackers have objects in the place of a name.
fn names(given: &mut Given<'_>, field: &str) -> Document {
    let places = places(field);
    let found = places.iter().find_map(|place| list(given.at(&[place])?));
    let own = given.at(&[&places[0]]);
    if own.is_some_and(|own| list(own).is_none()) {
        given.refuse(&places[0], "must be a list of names");
    }
    found.map_or(Document::Null, Document::Array)
}

fn list(value: &Document) -> Option<Vec<Document>> {
    let Document::Array(items) = value else { return None };
    items.iter().map(|item| name(item).map(|name| Document::Text(name.to_owned()))).collect()
}

fn name(value: &Document) -> Option<&str> {
    let inner = || ["name", "login"].iter().find_map(|key| text_of(value.get(key)?));
    text_of(value).or_else(inner).filter(|name| !name.is_empty())
}

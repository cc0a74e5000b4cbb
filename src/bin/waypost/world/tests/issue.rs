//! Issues from files.

use super::*;
use crate::exit::{Exit, Verdict};

const ISSUE: &str = r#"{"number": 42, "body": "text", "labels": [{"name": "a"}]}"#;

fn with_json(place: &Place, json: &str) -> anyhow::Result<RealWorld> {
    let path = place.write("issue.json", json);
    RealWorld::new(place.root.clone(), Some(&path), false)
}

#[test]
fn the_file_that_was_given_tells_the_issue() {
    let place = Place::bare();
    let world = with_json(&place, ISSUE).unwrap();
    let Seen::Known(now) = world.issue("42") else { panic!() };
    assert_eq!(now.body.as_deref(), Some("text"));
    assert_eq!(now.labels.unwrap(), ["a"]);
    assert_eq!(reason(world.issue("43")), "what is known is of issue 42");
}

#[test]
fn a_file_that_cannot_be_used_is_an_error_at_once() {
    let place = Place::bare();
    let refused = with_json(&place, "{}").unwrap_err();
    assert_eq!(Verdict::of(&refused).exit, Exit::Refused);
    assert!(refused.to_string().ends_with("issue.json has neither body nor labels"));
    let missing = place.root.join("missing.json");
    let unread = RealWorld::new(place.root.clone(), Some(&missing), false).unwrap_err();
    assert_eq!(Verdict::of(&unread).exit, Exit::Failed);
}

#[test]
fn without_a_file_and_without_gh_nobody_can_tell() {
    let place = Place::bare();
    let world = RealWorld::new(place.root.clone(), None, false).unwrap();
    assert_eq!(reason(world.issue("42")), "gh is not to be asked");
    assert_eq!(reason(world.pull_request("main")), "gh is not to be asked");
}

#[test]
fn the_issue_that_is_asked_for_is_handed_on() {
    let wanted = waypost::Issue::new("#42").unwrap();
    let world = Place::bare().world();
    assert_eq!(world.wanted_issue(), None);
    assert_eq!(world.wanting(Some(wanted.clone())).wanted_issue(), Some(wanted));
}

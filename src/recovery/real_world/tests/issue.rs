//! Issues from files.

use super::*;
use crate::checkpoint::Issue;
use crate::error::{Error, Result};

const ISSUE: &str = r#"{"number": 42, "body": "text", "labels": [{"name": "a"}]}"#;

fn world(place: &Sandbox, issue_json: Option<IssueJson>) -> Result<RealWorld> {
    let home = place.root.clone();
    RealWorld::new(Surroundings { home, issue_json, use_gh: false, ..Surroundings::default() })
}

fn with_json(place: &Sandbox, json: &str) -> Result<RealWorld> {
    world(place, Some(IssueJson::File(place.write("issue.json", json))))
}

#[test]
fn the_file_that_was_given_tells_the_issue() {
    let place = Sandbox::bare();
    let world = with_json(&place, ISSUE).unwrap();
    let Answer::Known(now) = world.issue("42") else { panic!() };
    assert_eq!(now.body.as_deref(), Some("text"));
    assert_eq!(now.labels.unwrap(), ["a"]);
    assert_eq!(reason(world.issue("43")), "the data is of issue 42");
}

#[test]
fn a_file_that_cannot_be_used_is_an_error_at_once() {
    let place = Sandbox::bare();
    let refused = with_json(&place, "{}").unwrap_err();
    assert!(matches!(refused, Error::Invalid { .. }));
    assert!(refused.to_string().ends_with("issue.json: has neither body nor labels"));
    let missing = place.root.join("missing.json");
    let unread = world(&place, Some(IssueJson::File(missing))).unwrap_err();
    assert!(matches!(unread, Error::Io { .. }));
}

#[test]
fn a_text_tells_the_issue_as_a_file_does() {
    let place = Sandbox::bare();
    let text = |json: &str| world(&place, Some(IssueJson::Text(json.to_owned())));
    let given = text(ISSUE).unwrap();
    assert!(matches!(given.issue("42"), Answer::Known(now) if now.body.as_deref() == Some("text")));
    assert_eq!(given.given_issue(), Some(Issue::new("42").unwrap()));
    let refused = text("{}").unwrap_err().to_string();
    assert_eq!(refused, "invalid issue JSON: has neither body nor labels");
}

#[test]
fn without_a_file_and_without_gh_nobody_can_tell() {
    let place = Sandbox::bare();
    let world = world(&place, None).unwrap();
    assert_eq!(reason(world.issue("42")), "gh is turned off");
    assert_eq!(reason(world.pull_request("main")), "gh is turned off");
}

#[test]
fn the_issue_that_is_asked_for_is_handed_on() {
    let place = Sandbox::bare();
    assert_eq!(place.world().wanted_issue(), None);
    let (home, wanted) = (place.root.clone(), Some(Issue::new("#42").unwrap()));
    let around = Surroundings { home, wanted_issue: wanted.clone(), ..Surroundings::default() };
    assert_eq!(RealWorld::new(around).unwrap().wanted_issue(), wanted);
}

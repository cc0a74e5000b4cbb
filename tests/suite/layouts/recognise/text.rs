//! Texts that cannot be names, numbers that are none, and series that are too long.

use serde_json::{Value, json};
use waypost::layouts::{Place, recognise, unrecognised};

use super::super::with;
use super::{document, entry, value};

const CLAUDE: &str = "claude/schema-1.2.json";

fn claude(pointer: &str, wrong: &Value) -> waypost::NewEntry {
    entry(&with(&value(CLAUDE), pointer, Some(wrong.clone())), "x.json")
}

#[test]
fn what_cannot_be_a_name_is_left_out_and_never_quoted() {
    for (wrong, warning) in [
        (json!(""), "checkpoint_id is empty and is left out"),
        (json!("secret\u{1b}[31m"), "checkpoint_id has a control character and is left out"),
        (json!("secret".repeat(100)), "checkpoint_id is longer than 512 bytes and is left out"),
    ] {
        let entry = claude("/checkpoint_id", &wrong);
        assert_eq!(entry.id, None);
        assert_eq!(entry.warnings, [warning]);
    }
    let entry = claude("/current_phase", &json!({"secret": 1}));
    assert_eq!(entry.phase, None);
    assert_eq!(entry.warnings, ["current_phase is no text and is left out"]);
}

/// What leads out of a directory is a text like any other until someone makes a path of it.
#[test]
fn dots_in_an_id_are_kept() {
    let id = claude("/checkpoint_id", &json!("../../etc/passwd")).id;
    assert_eq!(id.unwrap().as_str(), "../../etc/passwd");
}

#[test]
fn a_number_that_is_none_is_left_out() {
    let example = value("agentize/v1-01-after-impl1.json");
    for wrong in [json!(-1), json!(1.5), json!("one"), json!([]), json!(true)] {
        let entry = entry(&with(&example, "/state/iteration", Some(wrong)), "x.json");
        assert_eq!(entry.iteration, None);
        let warning = "state.iteration is no whole number from 0 up and is left out";
        assert_eq!(entry.warnings, [warning]);
    }
    for right in [json!(0), json!("0"), json!(" 0 ")] {
        let entry = entry(&with(&example, "/state/iteration", Some(right)), "x.json");
        assert_eq!((entry.iteration, entry.warnings.len()), (Some(0), 0));
    }
}

#[test]
fn times_that_are_none_are_left_out_and_others_flagged() {
    for (time, expected, warning) in [
        (
            "2026-11-16T02:17:55",
            "2026-11-16T02:17:55Z",
            "created_at has no zone and is taken as UTC",
        ),
        (
            "2026-11-15",
            "2026-11-15T00:00:00Z",
            "created_at has no time of day and is taken as midnight UTC",
        ),
        ("soon", "2026-11-16T02:17:55Z", "created_at is no time and is left out"),
    ] {
        let entry = claude("/created_at", &json!(time));
        assert_eq!(entry.created_at, Some(expected.parse().unwrap()), "{time}");
        assert_eq!(entry.warnings, [warning]);
    }
}

/// The names of two long series differ, however far they are the same.
#[test]
fn a_series_that_is_too_long_ends_in_a_checksum() {
    let series =
        |project: &str| claude("/project_name", &json!(project)).series.unwrap().to_string();
    let (one, other) = ("p".repeat(600) + "1", "p".repeat(600) + "2");
    assert_eq!(series(&one).len(), 512);
    assert_eq!(series(&one), series(&one));
    assert_ne!(series(&one), series(&other));
    assert!(series(&one).starts_with("implement:ppp"));
    assert!(series("a\nb").starts_with("implement:a?b~"));
    assert_ne!(series("a\nb"), series("a\tb"));
    let longest = "p".repeat(512 - "implement:".len());
    assert_eq!(series(&longest), format!("implement:{longest}"));
    assert!(series(&"\u{20ac}".repeat(300)).len() <= 512);
}

#[test]
fn there_is_room_for_some_warnings_only() {
    let all: Vec<_> = (0..100).map(|number| format!("{number} {}", "x".repeat(2000))).collect();
    let json = json!({
        "checkpoint_id": "CP-1", "issue_snapshot": {}, "created_at": "soon",
        "recovery_info": {"warnings": all},
    });
    let entry = entry(&json, "x.json");
    assert_eq!(entry.warnings.len(), 34);
    assert_eq!(entry.warnings[0], "created_at is no time and is left out");
    assert!(entry.warnings.iter().all(|warning| warning.len() <= 1024));
    assert_eq!(entry.warnings[33], "recovery_info.warnings of the document has more");
}

#[test]
fn a_path_that_is_too_long_is_not_kept() {
    let path = format!("{}.json", "a/".repeat(3000));
    let entry = unrecognised(&Place { path: &path, ..Place::default() });
    assert_eq!(entry.source_path, None);
    assert_eq!(entry.warnings, ["the path of the file is too long to be kept"]);
    assert_eq!(entry.series.unwrap().as_str().len(), 512);
    let entry = recognise(&document(&value(CLAUDE)), &Place { path: &path, ..Place::default() });
    assert_eq!(entry.unwrap().source_path, None);
}

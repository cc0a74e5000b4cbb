//! `.tmp/impl-checkpoint.json`.

use serde_json::json;
use waypost::Status;

use super::super::with;
use super::{described, entry, fixture_at, told, value};

const PATH: &str = ".tmp/impl-checkpoint.json";
const EXAMPLE: &str = "agentize/v1-01-after-impl1.json";

#[test]
fn every_version_says_the_same() {
    insta::assert_snapshot!(fixture_at("agentize/v1-00-initial.json", PATH), @"
    layout: agentize
    series: issue:848@/home/u/agentize-worktrees/issue-848
    issue: 848
    trigger: unknown
    phase: impl
    iteration: 1
    status: in_progress
    created_at: 2026-11-16T02:17:32.979318Z
    ");
    insta::assert_snapshot!(fixture_at(EXAMPLE, PATH), @"
    layout: agentize
    series: issue:848@/home/u/agentize-worktrees/issue-848
    issue: 848
    trigger: unknown
    phase: impl
    step: impl
    iteration: 2
    status: in_progress
    created_at: 2026-11-16T02:17:32.979692Z
    ");
    insta::assert_snapshot!(fixture_at("agentize/v1-02-nonascii-review.json", PATH), @"
    layout: agentize
    series: issue:848@/home/u/agentize-worktrees/issue-848
    issue: 848
    trigger: unknown
    phase: review
    step: parse
    iteration: 2
    status: in_progress
    created_at: 2026-11-16T02:17:32.979878Z
    ");
    insta::assert_snapshot!(fixture_at("agentize/v1-03-done.json", PATH), @"
    layout: agentize
    series: issue:848@/home/u/agentize-worktrees/issue-848
    issue: 848
    trigger: unknown
    phase: done
    step: pr
    iteration: 2
    status: completed
    created_at: 2026-11-16T02:17:32.980064Z
    ");
    insta::assert_snapshot!(fixture_at("agentize/v2-03-done.json", PATH), @"
    layout: agentize
    series: issue:848@/home/u/agentize-worktrees/issue-848
    issue: 848
    trigger: unknown
    phase: done
    step: pr
    iteration: 2
    status: completed
    created_at: 2026-11-16T02:17:33.312164Z
    ");
}

#[test]
fn a_file_without_a_version_is_one_of_version_0() {
    let without = with(&value(EXAMPLE), "/version", None);
    assert_eq!(entry(&without, PATH), entry(&value(EXAMPLE), PATH));
    let newer = entry(&with(&value(EXAMPLE), "/version", Some(json!(3))), PATH);
    assert_eq!(newer.warnings, ["version is newer than any that is known"]);
    assert_eq!(told(&with(&value(EXAMPLE), "/version", Some(json!("1.0"))), "x.json"), None);
}

#[test]
fn only_the_stage_says_how_a_run_ended() {
    for (stage, expected) in [
        ("impl", Status::InProgress),
        ("simp", Status::InProgress),
        ("fatal", Status::Failed),
        ("done", Status::Completed),
    ] {
        let document = with(&value(EXAMPLE), "/state/current_stage", Some(json!(stage)));
        assert_eq!(entry(&document, PATH).status, expected, "{stage}");
    }
}

#[test]
fn what_identifies_a_run_must_be_there() {
    for pointer in ["/timestamp", "/state/issue_no", "/state/current_stage", "/state/worktree"] {
        assert_eq!(told(&with(&value(EXAMPLE), pointer, None), "x.json"), None, "{pointer}");
    }
}

/// The document's own example has a time without a zone.
#[test]
fn a_local_time_is_taken_as_utc_and_flagged() {
    let local = with(&value(EXAMPLE), "/timestamp", Some(json!("2026-02-10T12:00:00.5")));
    let entry = entry(&local, PATH);
    assert_eq!(entry.created_at, Some("2026-02-10T12:00:00.5Z".parse().unwrap()));
    assert_eq!(entry.warnings, ["timestamp has no zone and is taken as UTC"]);
}

#[test]
fn worktrees_of_one_issue_are_told_apart() {
    let other = with(&value(EXAMPLE), "/state/worktree", Some(json!("/w/other")));
    let here = entry(&other, "a/.tmp/impl-checkpoint.json");
    assert_eq!(here.series.unwrap().as_str(), "a/issue:848@/w/other");
    // A worktree is the project that it was made of.
    let there = entry(&other, "a/.worktrees/issue-848/.tmp/impl-checkpoint.json");
    assert_eq!(there.series.unwrap().as_str(), "a/issue:848@/w/other");
    assert!(described(&entry(&other, "x.json")).contains("series: issue:848@/w/other\n"));
}

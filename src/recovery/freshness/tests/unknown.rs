//! Questions without an answer.

use super::*;

#[test]
fn what_nobody_can_tell_is_told_once_for_each_reason_and_changes_nothing() {
    let file = NamedFile { path: "made".to_owned(), hash: None, status: None };
    let snapshot = Snapshot {
        branch: text(BRANCH),
        body: text("was"),
        labels: Some(texts(&["was"])),
        worktree: text(HERE),
        plan_file: text("plan.md"),
        plan_modified_at: Some(1),
        files: vec![file],
        ..Snapshot::default()
    };
    let world = Fake { blindness: Some("it is dark"), ..Fake::default() };
    let entry = Entry { phase: text("pr"), ..entry(Layout::Agentize) };
    let found = freshness(&entry, &based_on(snapshot), &world, NOW);
    let sentence = format!(
        "it is dark, so this was not compared: branch \"feature/x\", the text of issue 42, \
         the labels of issue 42, file \"made\", worktree {HERE:?}, plan \"plan.md\", \
         the pull request"
    );
    let wanted = Freshness { unchecked: vec![sentence], ..Freshness::default() };
    assert_eq!(found, wanted);
}

#[test]
fn a_plan_that_cannot_be_seen_does_not_stop_what_goes_on_by_itself() {
    let world = Fake { blindness: Some("it is dark"), ..Fake::default() };
    let plan_file = text("plan.md");
    let snapshot = Snapshot { plan_file, plan_modified_at: Some(1), ..Snapshot::default() };
    let standing =
        Standing { version: text("2.1"), tests_passing: Some(true), ..based_on(snapshot) };
    let found = freshness(&entry(Layout::Claude), &standing, &world, NOW);
    assert_eq!((found.advice, found.unchecked.len()), (Advice::Resume, 1));
}

#[test]
fn parts_of_an_issue_that_were_not_told_are_not_compared() {
    let snapshot =
        Snapshot { body: text("was"), labels: Some(texts(&["was"])), ..Snapshot::default() };
    let found = look(Layout::Crunch, snapshot, &Fake::default());
    let sentence = "the data of the issue is incomplete, so this was not compared: \
                    the text of issue 42, the labels of issue 42";
    assert_eq!((found.advice, found.unchecked), (Advice::Resume, texts(&[sentence])));
}

#[test]
fn without_an_issue_nothing_is_asked_about_one() {
    let snapshot = Snapshot { body: text("was"), ..Snapshot::default() };
    let standing = Standing { snapshot, ..Standing::default() };
    let world = Fake { wanted_issue: text("42"), ..Fake::default() };
    let found = freshness(&entry(Layout::Crunch), &standing, &world, NOW);
    let sentence = "the checkpoint names no issue, so this was not compared: \
                    the text of the issue, issue 42";
    assert_eq!((found.advice, found.unchecked), (Advice::Resume, texts(&[sentence])));
}

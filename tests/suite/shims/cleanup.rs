//! `cleanup-checkpoints.sh`: what goes, what is put aside, and what stays.

use super::Shims;

/// Checkpoints of every kind, named by what they are and their age in days.
fn filled() -> Option<Shims> {
    let shims = Shims::new()?;
    for (id, days, about) in [
        ("old-8", 8, "--series implement:a"),
        ("young-6", 6, "--series implement:a"),
        ("alone-9", 9, "--series implement:b"),
        ("done-10", 10, "--series implement:c --status completed"),
        ("done-1", 1, "--series implement:c --status completed"),
        ("failed-31", 31, "--series implement:d --status failed"),
        ("failed-11", 11, "--series implement:d --status failed"),
        ("failed-2", 2, "--series implement:d --status failed"),
        ("archived-32", 32, "--series implement:e --status archived"),
        ("archived-29", 29, "--series implement:e --status archived"),
        ("tagged-40", 40, "--series implement:a --tag keep"),
        ("other-41", 41, "--series loop:z"),
    ] {
        shims.save_old(id, days, about);
    }
    Some(shims)
}

fn sorted(mut ids: Vec<String>) -> String {
    ids.sort();
    ids.join(" ")
}

#[test]
fn a_dry_run_says_what_would_be_done_and_does_nothing() {
    let Some(shims) = filled() else { return };
    let before = shims.waypost("list --all --json", "");
    let dry = shims.run("cleanup-checkpoints", &["--dry-run"]).done();
    insta::assert_snapshot!(dry, @"
    Cleaning up checkpoints older than 7 days...
    Deleting old checkpoint of implement:a: old-8
    Deleting old checkpoint of implement:b: alone-9
    Deleting old checkpoint of implement:c: done-10
    Archiving failed checkpoint of implement:d: failed-11
    Archiving failed checkpoint of implement:d: failed-31
    Deleting old checkpoint of implement:e: archived-32
    Dry run, nothing was changed:
      Deleted: 4
      Archived: 2
    ");
    assert_eq!(shims.waypost("list --all --json", ""), before);
    assert_eq!(shims.run("cleanup-checkpoints", &["7", "-n"]).done(), dry);
    // The same plan is carried out.
    let cleaned = shims.run("cleanup-checkpoints", &[]).stdout;
    assert_eq!(cleaned, dry.replace("Dry run, nothing was changed:", "Cleanup complete:"));
}

#[test]
fn what_is_old_goes_and_what_has_failed_is_kept_for_a_month() {
    let Some(shims) = filled() else { return };
    let cleaned = shims.run("cleanup-checkpoints", &[]);
    assert_eq!(cleaned.code, Some(0));
    // A failure that was imported late has its 30 days from now on.
    let left = "archived-29 done-1 failed-11 failed-2 failed-31 other-41 tagged-40 young-6";
    assert_eq!(sorted(shims.ids()), left);
    let archived = shims.run("list-checkpoints", &["--status", "archived"]).done();
    assert!(archived.contains("failed-11") && !archived.contains("failed-2\n"), "{archived}");
    assert!(cleaned.stderr.contains("`waypost undelete --operation"), "{}", cleaned.stderr);
    let again = shims.run("cleanup-checkpoints", &[]).done();
    assert!(again.ends_with("Cleanup complete:\n  Deleted: 0\n  Archived: 0\n"), "{again}");
}

#[test]
fn another_age_may_be_given() {
    let Some(shims) = filled() else { return };
    assert_eq!(shims.run("cleanup-checkpoints", &["--", "0035"]).code, Some(0));
    assert_eq!(shims.ids().len(), 12, "failures, too, are kept for at least so long");
    assert_eq!(shims.run("cleanup-checkpoints", &["0"]).code, Some(0));
    let left = "archived-29 failed-11 failed-2 failed-31 other-41 tagged-40";
    assert_eq!(sorted(shims.ids()), left);
}

#[test]
fn what_stopped_with_an_error_counts_as_failed() {
    let Some(shims) = Shims::new() else { return };
    let id = shims.save("implement", "x", r#"{"last_error": "no disk", "status": "in_progress"}"#);
    shims.save("implement", "x", r#"{"last_error": null}"#);
    assert_eq!(shims.run("cleanup-checkpoints", &["0"]).code, Some(0));
    assert_eq!(shims.ids(), [id]);
    shims.run("load-checkpoint", &["implement"]).failed(1);
}

#[test]
fn many_are_removed_in_parts() {
    let Some(shims) = Shims::new() else { return };
    let about = "--series implement:x --workflow-type implement --durability relaxed";
    shims.waypost(&format!("save --lines {about}"), &"{}\n".repeat(1_001));
    shims.save_old("left-40", 40, "--series implement:y --tag keep");
    let cleaned = shims.run("cleanup-checkpoints", &["0"]);
    assert!(cleaned.stdout.ends_with("  Deleted: 1001\n  Archived: 0\n"), "{}", cleaned.stderr);
    assert_eq!(shims.ids(), ["left-40"]);
}

#[test]
fn work_that_is_done_goes_as_the_help_says() {
    let Some(shims) = filled() else { return };
    assert!(shims.run("cleanup-checkpoints", &["-h"]).done().contains("--policy claude"));
    shims.waypost("complete --series implement:c --policy claude --quiet", "");
    assert!(!shims.ids().iter().any(|id| id.starts_with("done")));
}

#[test]
fn there_may_be_nothing_to_clean_up() {
    let Some(shims) = Shims::new() else { return };
    insta::assert_snapshot!(shims.run("cleanup-checkpoints", &[]).done(), @"
    Cleaning up checkpoints older than 7 days...
    Cleanup complete:
      Deleted: 0
      Archived: 0
    ");
    assert!(!shims.here.path().join(".waypost").exists());
}

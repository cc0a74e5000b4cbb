//! `load-checkpoint.sh` and `list-checkpoints.sh`: which checkpoints they find.

use std::fs;

use super::Shims;

/// The original looked for files whose names start alike.
#[test]
fn a_project_is_not_found_by_the_start_of_its_name() {
    let Some(shims) = Shims::new() else { return };
    shims.save("implement", "auth", r#"{"n": 1}"#);
    shims.save("implement", "auth_system", r#"{"n": 2}"#);
    assert_eq!(shims.load(&["implement", "auth"])["workflow_state"]["n"], 1);
    let said = shims.run("load-checkpoint", &["implement", "aut"]).failed(1);
    assert_eq!(said, "load-checkpoint.sh: no checkpoint found for implement of aut\n");
    shims.run("load-checkpoint", &["impl"]).failed(1);
    shims.run("load-checkpoint", &["implement_auth"]).failed(1);
}

#[test]
fn the_newest_is_the_last_by_its_time() {
    let Some(shims) = Shims::new() else { return };
    shims.save_old("x-2", 2, "--series implement:x");
    shims.save_old("x-3", 3, "--series implement:x");
    shims.save_old("y-1", 1, "--series implement:y");
    shims.save_old("other-0", 0, "--series loop:z");
    assert_eq!(shims.load(&["implement", "x"])["id"], "x-2");
    assert_eq!(shims.load(&["implement", "y"])["id"], "y-1");
    assert_eq!(shims.load(&["implement"])["id"], "y-1", "of any project, but not of other tools");
    assert_eq!(shims.load(&["implement", ""])["id"], "y-1");
}

#[test]
fn what_is_archived_is_passed_over_and_what_has_ended_is_told() {
    let Some(shims) = Shims::new() else { return };
    shims.save_old("x-2", 2, "--series implement:x --status failed");
    shims.save_old("x-1", 1, "--series implement:x --status archived");
    let loaded = shims.run("load-checkpoint", &["implement", "x"]);
    assert_eq!((loaded.code, &*loaded.stdout), (Some(0), "{\n  \"id\": \"x-2\"\n}\n"));
    assert_eq!(loaded.stderr, "load-checkpoint.sh: note: this work is failed\n");
    shims.waypost("archive x-2 --quiet", "");
    shims.run("load-checkpoint", &["implement", "x"]).failed(1);
}

#[test]
fn a_list_shows_what_is_known_of_each() {
    let Some(shims) = Shims::new() else { return };
    let at = |time: &str| format!("--workflow-type implement --created-at 2026-01-25T{time}Z");
    let save = |about: &str| shims.waypost(&format!("save {about}"), "{}");
    save(&format!("--id a --series implement:auth --phase 2 {}", at("15:00:00")));
    save(&format!("--id b --series implement:auth --status archived {}", at("16:00:00.5")));
    save(&format!("--id c --series implement:b:c --status failed {}", at("17:00:00.5")));
    save("--id d --series orchestrate:auth --workflow-type orchestrate");
    save("--id e --series implement:auth");
    save("--id f --series loop:z --workflow-type implement");
    insta::assert_snapshot!(shims.run("list-checkpoints", &["implement"]).done(), @"
    Active Checkpoints:
    ==================

    Checkpoint: c
      Type: implement
      Project: b:c
      Created: 2026-01-25T17:00:00Z
      Status: failed

    Checkpoint: a
      Type: implement
      Project: auth
      Created: 2026-01-25T15:00:00Z
      Progress: Phase 2
      Status: in_progress

    To see one: waypost show ID
    ");
    let ids = |args: &[&str]| {
        let listed = shims.run("list-checkpoints", args).done();
        let ids = listed.lines().filter_map(|line| line.strip_prefix("Checkpoint: "));
        ids.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(ids(&[]), "d c a");
    assert_eq!(ids(&[""]), "d c a");
    assert_eq!(ids(&["--status", "archived"]), "b");
    assert_eq!(ids(&["--status=in_progress", "implement"]), "a");
    assert_eq!(ids(&["impl"]), "");
}

#[test]
fn nothing_is_found_where_there_is_no_store() {
    let Some(shims) = Shims::new() else { return };
    let said = shims.run("load-checkpoint", &["implement"]).failed(1);
    assert_eq!(said, "load-checkpoint.sh: no checkpoint found for implement\n");
    assert_eq!(shims.run("list-checkpoints", &[]).done(), "No checkpoints found\n");
}

#[test]
fn a_store_that_cannot_be_read_is_not_taken_for_an_empty_one() {
    let Some(shims) = Shims::new() else { return };
    shims.save("implement", "x", "{}");
    fs::write(shims.here.path().join(".waypost/store.redb"), "no store").unwrap();
    let cases: [(&str, &[&str]); 3] = [
        ("load-checkpoint", &["implement"]),
        ("list-checkpoints", &[]),
        ("cleanup-checkpoints", &[]),
    ];
    for (script, args) in cases {
        let said = shims.run(script, args).failed(5);
        assert!(said.contains("it was a store, and now it is"), "{script}: {said}");
    }
}

//! Worktrees below the directory that the store is for.

use std::fs;

use super::super::{Ended, Test};
use super::freshness::git;

/// A repository with a worktree for each of two issues, and the checkpoint of a run in one.
pub(super) fn repository(worktree: &str) -> Test {
    let test = Test::new();
    git(&test.path(), "init -q -b main .");
    git(&test.path(), "commit -q --allow-empty -m start");
    git(&test.path(), "worktree add -q trees/issue-7 -b issue-7");
    git(&test.path(), "worktree add -q trees/issue-8 -b issue-8");
    let root = test.path().join("trees/issue-7");
    fs::create_dir_all(root.join(".tmp/deep")).unwrap();
    fs::write(root.join(".tmp/plan.md"), "plan").unwrap();
    let worktree = worktree.replace("[HERE]", &test.path().display().to_string());
    let json = format!(
        r#"{{"version": 2, "timestamp": "2025-01-15T10:30:00", "state": {{"issue_no": 7,
        "current_stage": "review", "iteration": 3, "worktree": "{worktree}",
        "plan_file": ".tmp/plan.md", "last_feedback": "more tests", "history": []}}}}"#
    );
    test.write("trees/issue-7/.tmp/impl-checkpoint.json", &json);
    test.run("import . --quiet").done();
    test
}

/// It was refused from the root, and from inside, where the store of the root is found, too.
#[test]
fn work_goes_on_in_its_worktree_below_the_store_from_inside_and_from_the_root() {
    needs!("git");
    for worktree in ["[HERE]/trees/issue-7", "trees/issue-7", "trees/issue-7/"] {
        let test = repository(worktree);
        for directory in [".", "trees/issue-7", "trees/issue-7/.tmp/deep"] {
            let ended = test.run_in(directory, "resume 7 --json --no-gh", "");
            assert_eq!(ended.code, Some(0), "{worktree} from {directory}: {}", ended.stdout);
            let freshness = &ended.object()["freshness"];
            assert_eq!(freshness["findings"].as_array().unwrap().len(), 0, "{freshness}");
            assert_eq!(freshness["unchecked"].as_array().unwrap().len(), 0, "{freshness}");
        }
    }
}

#[test]
fn work_does_not_go_on_in_the_worktree_of_another_issue() {
    needs!("git");
    let test = repository("trees/issue-7");
    let refused = |ended: Ended| {
        let stderr = ended.failed(4);
        let says = "is not where the work would go on, which is \"[HERE]/trees/issue-8\"";
        assert!(stderr.contains(says), "{stderr}");
    };
    refused(test.run_in("trees/issue-8", "resume 7 --no-gh", ""));
    refused(test.run("resume 7 --no-gh --worktree trees/issue-8"));
    let given = test.run("resume 7 --json --no-gh --worktree trees/issue-7");
    assert_eq!(given.code, Some(0), "{}", given.stdout);
}

#[test]
fn a_worktree_that_leads_out_of_the_directory_of_the_store_is_not_followed() {
    needs!("git");
    let test = repository("trees/../../elsewhere");
    assert_eq!(test.run("resume 7 --json --no-gh").code, Some(4));
}

#[test]
fn the_last_feedback_is_part_of_the_prompt() {
    needs!("git");
    let test = repository("[HERE]/trees/issue-7");
    let block = test.run("resume 7 --prompt --no-gh").done();
    assert!(block.contains("\nLast feedback:\n> more tests\n"), "{block}");
}

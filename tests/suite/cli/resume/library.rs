//! The library's answer is the one that the command prints.

use serde_json::Value;
use waypost::recovery::{Choice, IssueJson, RealWorld, Resume, Strategy, Surroundings};
use waypost::{Store, Timestamp};

use super::super::Test;
use super::freshness::{git, issue, repository};

/// What the library says to the same question.
fn library(test: &Test, name: &str, how: &Resume, around: Surroundings) -> Value {
    let store = Store::open(test.path().join(".waypost/store.redb")).unwrap();
    let world = RealWorld::new(Surroundings { home: test.path(), use_gh: false, ..around });
    let found = store.resume(name, how, &world.unwrap(), Timestamp::now()).unwrap();
    serde_json::to_value(&found).unwrap()
}

/// What the command says, without the document and the version of all that it prints.
fn command(test: &Test, args: &str) -> Value {
    let mut answer = test.run(&format!("resume {args} --json --no-gh")).object();
    for added in ["document", "version"] {
        let removed = answer.as_object_mut().and_then(|answer| answer.remove(added));
        assert!(removed.is_some(), "{added} in {answer}");
    }
    answer
}

#[test]
fn the_library_answers_as_the_command_does() {
    let test = super::saved(&[
        (r#"{"score": 9}"#, "--phase build"),
        (r#"{"score": 5, "error": "broken"}"#, "--can-resume false --warning late"),
    ]);
    let how = Resume::default();
    let smart = Resume { strategy: Strategy::Smart, ..how.clone() };
    let resume = Resume { choice: Some(Choice::Resume), ..how.clone() };
    let force = Resume { force: true, ..how.clone() };
    for (name, flags, how) in [
        ("work", "", &how),
        ("work", "--strategy smart", &smart),
        ("n-1", "", &how),
        ("n-1", "--choice resume", &resume),
        ("n-1", "--force", &force),
        ("latest", "", &how),
    ] {
        let told = command(&test, &format!("{name} {flags}"));
        assert_eq!(library(&test, name, how, Surroundings::default()), told, "{name} {flags}");
    }
}

#[test]
fn the_library_sees_the_same_world_as_the_command() {
    needs!("git");
    let test = repository();
    issue(&test, "Something else.", r#"["other"]"#);
    git(&test.path(), "checkout -q main");
    git(&test.path(), "branch -D feature/issue-42");
    let file = IssueJson::File(test.path().join("issue.json"));
    let around = Surroundings { issue_json: Some(file), ..Surroundings::default() };
    let told = command(&test, "42 --issue-json issue.json");
    assert_eq!(told["decision"], "refused");
    assert_eq!(library(&test, "42", &Resume::default(), around), told);
}

/// The world of the library did not follow the work into its worktree.
#[test]
fn the_library_goes_on_in_the_worktree_of_the_work() {
    needs!("git");
    let test = super::worktree::repository("trees/issue-7");
    let told = command(&test, "7");
    assert_eq!(told["decision"], "resume");
    assert_eq!(library(&test, "7", &Resume::default(), Surroundings::default()), told);
    let here = Some(test.path().join("trees/issue-8"));
    let elsewhere = Surroundings { here, ..Surroundings::default() };
    assert_eq!(library(&test, "7", &Resume::default(), elsewhere)["decision"], "refused");
}

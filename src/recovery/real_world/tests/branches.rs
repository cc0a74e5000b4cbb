//! Branches of real repositories.

use super::*;

#[test]
fn a_branch_is_there_until_it_is_deleted() {
    needs!("git");
    let place = Sandbox::with_git();
    git(&place.root, &["branch", "feature/x"]);
    let world = place.world();
    assert_eq!(world.has_branch("main"), Answer::Known(true));
    assert_eq!(world.has_branch("feature/x"), Answer::Known(true));
    assert_eq!(world.has_branch("refs/heads/feature/x"), Answer::Known(true));
    for other in ["feature", "x", "feature/x/y", "Feature/y", "first"] {
        assert_eq!(world.has_branch(other), Answer::Known(false), "{other}");
    }
    git(&place.root, &["pack-refs", "--all"]);
    assert_eq!(world.has_branch("feature/x"), Answer::Known(true), "packed");
    git(&place.root, &["branch", "-D", "feature/x"]);
    assert_eq!(world.has_branch("feature/x"), Answer::Known(false));
}

#[test]
fn a_tag_or_a_commit_is_no_branch() {
    needs!("git");
    let place = Sandbox::with_git();
    git(&place.root, &["tag", "v1"]);
    let commit = git(&place.root, &["rev-parse", "HEAD"]);
    assert_eq!(place.world().has_branch("v1"), Answer::Known(false));
    assert_eq!(place.world().has_branch(&commit), Answer::Known(false));
}

#[test]
fn a_branch_that_only_a_remote_has_is_there() {
    needs!("git");
    let place = Sandbox::with_git();
    git(&place.root, &["branch", "feature/x"]);
    let other = place.directory.path().join("clone");
    git(place.directory.path(), &["clone", "--quiet", "project", "clone"]);
    let world = world_at(other);
    assert_eq!(world.has_branch("feature/x"), Answer::Known(true));
    assert_eq!(world.has_branch("origin/feature/x"), Answer::Known(true));
    assert_eq!(world.has_branch("x"), Answer::Known(false));
    assert_eq!(world.has_branch("origin"), Answer::Known(false));
    assert_eq!(reason(world.has_branch("HEAD")), "HEAD is the name of no branch");
}

#[test]
fn a_name_is_neither_an_option_nor_a_path_nor_a_pattern() {
    needs!("git");
    let place = Sandbox::with_git();
    let world = place.world();
    for name in ["-d", "--version", "--exec=touch x", "--upload-pack=x"] {
        assert_ne!(world.has_branch(name), Answer::Known(true), "{name}");
    }
    // git does not create it, but such a ref can exist.
    git(&place.root, &["update-ref", "refs/heads/-d", "HEAD"]);
    assert_eq!(world.has_branch("-d"), Answer::Known(true));
    for name in ["ma*", "mai?", "[m]ain", "../heads/main", "main~0", "main^", "@{-1}", "", "a\nb"] {
        assert_eq!(reason(world.has_branch(name)), "git has no branches of such a name", "{name}");
    }
}

#[test]
fn a_branch_without_a_commit_is_there() {
    needs!("git");
    let place = Sandbox::bare();
    git(&place.root, &["init", "--quiet", "--initial-branch=main"]);
    assert_eq!(place.world().has_branch("main"), Answer::Known(true));
    assert_eq!(place.world().has_branch("other"), Answer::Known(false));
    assert_eq!(place.world().branch(), Answer::Known(Some("main".to_owned())));
}

#[test]
fn the_branch_that_is_checked_out_is_told() {
    needs!("git");
    let place = Sandbox::with_git();
    git(&place.root, &["switch", "--quiet", "--create", "feature/x"]);
    // A tag of that name makes the short one ambiguous.
    git(&place.root, &["tag", "feature/x"]);
    assert_eq!(place.world().branch(), Answer::Known(Some("feature/x".to_owned())));
    git(&place.root, &["switch", "--quiet", "--detach"]);
    assert_eq!(place.world().branch(), Answer::Known(None));
}

#[test]
fn without_git_or_a_repository_nobody_can_tell() {
    needs!("git");
    let place = Sandbox::bare();
    // Whatever is above the temporary directory.
    place.write(".git", "gitdir: nowhere");
    let world = place.world();
    let said = reason(world.has_branch("main"));
    assert!(said.starts_with("git failed and said: not a git repository"), "{said}");
    assert!(matches!(world.branch(), Answer::Unknown(_)));
    let nowhere = world_at(place.root.join("nowhere"));
    let said = reason(nowhere.has_branch("main"));
    assert!(said.starts_with("git failed and said: cannot change to"), "{said}");
    let mut world = Sandbox::with_git().world();
    world.git.program = "/nonexistent/git".into();
    assert_eq!(reason(world.has_branch("main")), "git is not installed");
}

/// Run by a hook, the command was told about the repository of the hook.
#[test]
fn what_git_sets_for_its_hooks_is_not_handed_on() {
    needs!("git");
    let set = super::super::child::command("git".as_ref(), &[]);
    let removed: Vec<_> = set.get_envs().filter(|(_, value)| value.is_none()).collect();
    for name in git(Path::new("."), &["rev-parse", "--local-env-vars"]).lines() {
        // Variables that do not change the place are left to the user.
        let is_place = ["DIR", "TREE", "FILE", "DIRECTORY", "DIRECTORIES", "PREFIX"];
        let is_place = is_place.iter().any(|end| name.ends_with(&format!("_{end}")));
        let is_kept = ["GIT_GRAFT_FILE", "GIT_SHALLOW_FILE", "GIT_IMPLICIT_WORK_TREE"];
        if is_place && !is_kept.contains(&name) {
            assert!(removed.iter().any(|(key, _)| *key == name), "{name}");
        }
    }
}

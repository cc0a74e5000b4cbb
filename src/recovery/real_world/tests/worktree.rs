//! Worktrees of real repositories.

use super::*;

fn worktree(root: PathBuf) -> PathBuf {
    match world_at(root).worktree() {
        Answer::Known(path) => path.into(),
        Answer::Unknown(reason) => panic!("{reason}"),
    }
}

#[test]
fn the_worktree_is_the_one_around_the_directory() {
    needs!("git");
    let place = Sandbox::with_git();
    place.write("src/deep/file", "");
    let other = place.root.join("trees/issue-42");
    git(&place.root, &["worktree", "add", "--quiet", "-b", "issue-42", "trees/issue-42"]);
    assert_eq!(worktree(place.root.clone()), place.root);
    assert_eq!(worktree(place.root.join("src/deep")), place.root);
    assert_eq!(worktree(other.clone()), other);
    let world = world_at(other.clone());
    assert_eq!(world.branch(), Answer::Known(Some("issue-42".to_owned())));
    assert_eq!(world.has_branch("main"), Answer::Known(true), "branches are shared");
}

#[test]
fn without_git_it_is_the_directory_itself() {
    needs!("git");
    let place = Sandbox::bare();
    place.write(".git", "gitdir: nowhere");
    assert_eq!(worktree(place.root.clone()), place.root);
    let bare = place.directory.path().canonicalize().unwrap().join("bare");
    git(place.directory.path(), &["init", "--quiet", "--bare", "bare"]);
    assert_eq!(worktree(bare.clone()), bare);
}

#[test]
fn directories_may_be_anywhere_but_not_by_going_up() {
    let place = Sandbox::bare();
    place.write("trees/a/file", "");
    let world = place.world();
    let full = place.root.join("trees/a");
    for (path, is_there) in [
        (full.to_str().unwrap(), true),
        (place.directory.path().to_str().unwrap(), true),
        ("trees/a", true),
        ("./trees/../trees", true),
        ("trees/b", false),
        ("trees/a/file", false),
        ("trees/a/file/below", false),
        ("/nonexistent/directory", false),
    ] {
        assert_eq!(world.has_directory(path), Answer::Known(is_there), "{path}");
    }
    let outside = "it lies outside the directory in which the work goes on";
    assert_eq!(reason(world.has_directory("../project")), outside);
    assert!(reason(world.has_directory("a\0b")).starts_with("it cannot be looked at: "));
}

#[cfg(unix)]
#[test]
fn a_link_leads_to_the_same_directory() {
    needs!("git");
    let place = Sandbox::with_git();
    let link = place.directory.path().join("link");
    std::os::unix::fs::symlink(&place.root, &link).unwrap();
    let world = world_at(link.clone());
    let (link, root) = (link.to_str().unwrap(), place.root.to_str().unwrap());
    assert!(world.is_same_directory(link, root));
    assert!(!world.is_same_directory(link, place.directory.path().to_str().unwrap()));
    assert!(!world.is_same_directory("/nonexistent/a", "/nonexistent/b"));
    place.write("file", "");
    for path in [format!("{link}/file"), format!("{root}/file")] {
        assert_eq!(world.has_file(&path), Answer::Known(true), "{path}");
    }
    for path in [format!("{link}/gone"), format!("{root}/gone")] {
        assert_eq!(world.has_file(&path), Answer::Known(false), "{path}");
    }
}

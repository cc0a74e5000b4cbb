//! Files that changed since a time, by real git.

use std::fs::File;
use std::time::{Duration, SystemTime};

use super::*;
use crate::checkpoint::Timestamp;
use crate::recovery::Moment;

/// 2025-01-14T10:00:00Z.
const TEN: i64 = 1_736_848_800;
const HOUR: i64 = 3600;

/// Commits everything at a time.
fn commit_at(place: &Sandbox, seconds: i64) {
    git(&place.root, &["add", "--all"]);
    let date = format!("{seconds} +0000");
    let mut command = super::super::child::command("git".as_ref(), &[]);
    command.arg("-C").arg(&place.root).args(["-c", "user.name=T", "-c", "user.email=t@e.org"]);
    command.args(["commit", "--quiet", "--allow-empty", "--message=x"]);
    command.env("GIT_COMMITTER_DATE", &date).env("GIT_AUTHOR_DATE", &date);
    assert!(command.status().unwrap().success());
}

/// A file that was committed at ten, and again at twelve.
fn place() -> Sandbox {
    let place = Sandbox::bare();
    git(&place.root, &["init", "--quiet", "--initial-branch=main"]);
    place.write("src/a.rs", "ten\n");
    commit_at(&place, TEN);
    place
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

fn changed(world: &RealWorld, path: &str, seconds: i64) -> Answer<bool> {
    world.has_changed(path, &Moment { time: at(seconds), branch: None })
}

#[test]
fn a_file_changed_if_it_is_not_as_in_the_commit_at_that_time() {
    needs!("git");
    let place = place();
    let eleven = TEN + HOUR;
    let path = place.write("src/a.rs", "ten\n");
    for name in ["src/a.rs", "./src/../src/a.rs", path.to_str().unwrap()] {
        assert_eq!(changed(&place.world(), name, eleven), Answer::Known(false), "{name}");
    }
    place.write("src/a.rs", "edited\n");
    for name in ["src/a.rs", "./src/../src/a.rs", path.to_str().unwrap()] {
        assert_eq!(
            changed(&place.world(), name, eleven),
            Answer::Known(true),
            "not staged, {name}"
        );
    }
    git(&place.root, &["add", "--all"]);
    assert_eq!(changed(&place.world(), "src/a.rs", eleven), Answer::Known(true), "staged");
    place.write("src/a.rs", "ten\n");
    assert_eq!(changed(&place.world(), "src/a.rs", eleven), Answer::Known(true), "only staged");
    place.write("src/a.rs", "edited\n");
    commit_at(&place, TEN + 2 * HOUR);
    assert_eq!(changed(&place.world(), "src/a.rs", eleven), Answer::Known(true), "committed since");
    let world = place.world();
    assert_eq!(changed(&world, "src/a.rs", TEN + 2 * HOUR), Answer::Known(false), "that commit");
    assert_eq!(changed(&world, "src/a.rs", TEN + 2 * HOUR - 1), Answer::Known(true), "before it");
    fs::remove_file(&path).unwrap();
    assert_eq!(changed(&place.world(), "src/a.rs", eleven), Answer::Known(true), "gone");
}

#[test]
fn a_file_that_nothing_wrote_to_since_has_not_changed() {
    needs!("git");
    let place = place();
    place.write("src/a.rs", "work that is not committed\n");
    place.write("src/new.rs", "nor tracked\n");
    let world = place.world();
    let now = Moment { time: Timestamp::now(), branch: None };
    for name in ["src/a.rs", "src/new.rs"] {
        assert_eq!(world.has_changed(name, &now), Answer::Known(false), "{name}");
    }
    // Its date proves nothing while it is ahead of the clock.
    let ahead = Moment { time: at(now.time.as_micros() / 1_000_000 + HOUR), branch: None };
    assert_eq!(world.has_changed("src/a.rs", &ahead), Answer::Known(true));
    // Renamed into place later, though written before.
    let old = place.write("old", "older\n");
    File::options().write(true).open(&old).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    fs::rename(&old, place.root.join("src/a.rs")).unwrap();
    assert_eq!(changed(&place.world(), "src/a.rs", TEN + HOUR), Answer::Known(true));
}

#[test]
fn the_commit_is_that_of_the_branch_and_not_of_what_was_merged_later() {
    needs!("git");
    let place = place();
    git(&place.root, &["switch", "--quiet", "--create", "feature/x"]);
    git(&place.root, &["switch", "--quiet", "main"]);
    place.write("src/a.rs", "main\n");
    commit_at(&place, TEN + HOUR);
    let moment = |branch| Moment { time: at(TEN + 2 * HOUR), branch };
    let world = place.world();
    assert_eq!(world.has_changed("src/a.rs", &moment(Some("main"))), Answer::Known(false));
    for branch in ["feature/x", "refs/heads/feature/x"] {
        assert_eq!(world.has_changed("src/a.rs", &moment(Some(branch))), Answer::Known(true));
    }
    for none in [None, Some("gone"), Some("--all"), Some("../x"), Some("")] {
        assert_eq!(world.has_changed("src/a.rs", &moment(none)), Answer::Known(false), "{none:?}");
    }
    git(&place.root, &["switch", "--quiet", "feature/x"]);
    git(&place.root, &["merge", "--quiet", "--no-ff", "--message=merge", "main"]);
    let moment = moment(Some("feature/x"));
    assert_eq!(place.world().has_changed("src/a.rs", &moment), Answer::Known(true));
}

#[test]
fn what_git_does_not_know_is_not_guessed() {
    needs!("git");
    let place = place();
    place.write("new.rs", "x");
    fs::write(place.directory.path().join("beside"), "secret").unwrap();
    let world = place.world();
    let said = |path, seconds| reason(changed(&world, path, seconds));
    assert_eq!(said("new.rs", TEN), "git knows no earlier content");
    for early in [TEN - 1, 0, -5] {
        assert_eq!(said("src/a.rs", early), "git has no commit from before the checkpoint");
    }
    let outside = "it lies outside the directory in which the work goes on";
    assert_eq!(said("../beside", TEN), outside);
    for odd in [":(top)src/a.rs", ":/src/a.rs", "--output=x", "src/*.rs", "a\0b"] {
        assert_ne!(changed(&world, odd, TEN), Answer::Known(false), "{odd}");
    }
    let bare = Sandbox::bare();
    bare.write("a", "x");
    bare.write(".git", "gitdir: nowhere");
    let said = reason(changed(&bare.world(), "a", TEN));
    assert!(said.starts_with("git failed and said: not a git repository"), "{said}");
    let mut world = place.world();
    world.git.program = "/nonexistent/git".into();
    assert_eq!(reason(changed(&world, "src/a.rs", TEN)), "git is not installed");
}

#[test]
fn a_long_list_of_files_is_not_asked_about_to_its_end() {
    needs!("git");
    let place = place();
    let world = place.world();
    let answers: Vec<_> = (0..201).map(|_| changed(&world, "src/a.rs", TEN)).collect();
    assert_eq!(answers[199], Answer::Known(false));
    assert_eq!(reason(answers[200].clone()), "git is asked about 200 files at most");
}

#[test]
fn the_index_stays_as_it_is() {
    needs!("git");
    let place = place();
    let index = place.root.join(".git/index");
    let before = fs::read(&index).unwrap();
    let path = place.write("src/a.rs", "ten\n");
    // The index has another time, so git compares the content, and would refresh the index.
    let later = SystemTime::now() + Duration::from_hours(1);
    File::options().write(true).open(path).unwrap().set_modified(later).unwrap();
    assert_eq!(changed(&place.world(), "src/a.rs", TEN), Answer::Known(false));
    assert_eq!(fs::read(&index).unwrap(), before);
}

#[test]
fn the_content_of_then_and_now_is_told() {
    needs!("git");
    let place = place();
    let path = place.write("src/a.rs", "edited\n");
    let world = place.world();
    let when = Moment { time: at(TEN + HOUR), branch: None };
    let then = Answer::Known(Some(b"ten\n".to_vec()));
    for name in ["src/a.rs", "./src/../src/a.rs", path.to_str().unwrap()] {
        assert_eq!(world.content_at(name, &when), then, "{name}");
        assert_eq!(world.content(name, 7), Answer::Known(Some(b"edited\n".to_vec())), "{name}");
    }
    assert_eq!(reason(world.content("src/a.rs", 6)), "it has more than 6 bytes");
    for none in ["src/b.rs", "src*", ":/src/a.rs"] {
        assert_eq!(world.content_at(none, &when), Answer::Known(None), "{none}");
        assert_eq!(world.content(none, 9), Answer::Known(None), "{none}");
    }
    fs::write(place.directory.path().join("beside"), "secret").unwrap();
    assert!(matches!(world.content("../beside", 9), Answer::Unknown(_)));
    assert!(matches!(world.content_at("../beside", &when), Answer::Unknown(_)));
}

//! Files that documents name, honest and otherwise.

use std::fs::File;
use std::time::{Duration, UNIX_EPOCH};

use super::*;

const OUTSIDE: &str = "it lies outside the directory in which the work goes on";
const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

#[test]
fn a_file_is_told_by_hash_and_time() {
    let place = Sandbox::bare();
    let path = place.write("src/made.rs", "abc");
    let time = UNIX_EPOCH + Duration::from_millis(1_700_000_000_999);
    File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    let world = place.world();
    for name in ["src/made.rs", "./src/../src/made.rs", path.to_str().unwrap()] {
        let Answer::Known(Some(now)) = world.file(name) else { panic!("{name}") };
        assert_eq!((now.sha256.as_str(), now.modified_at), (ABC, 1_700_000_000));
        assert_eq!(world.has_file(name), Answer::Known(true));
    }
    let gone = place.root.join("src/gone.rs");
    for name in ["src/gone.rs", "gone/made.rs", "src/made.rs/below", gone.to_str().unwrap()] {
        assert_eq!(world.file(name), Answer::Known(None), "{name}");
        assert_eq!(world.has_file(name), Answer::Known(false), "{name}");
    }
}

#[test]
fn nothing_outside_is_read_or_even_looked_for() {
    let place = Sandbox::bare();
    place.write("src/made.rs", "abc");
    let beside = place.directory.path().join("beside");
    fs::write(&beside, "secret").unwrap();
    let missing = place.directory.path().join("missing");
    let up = format!("{}/../beside", place.root.display());
    let world = place.world();
    for path in [
        "../beside",
        "../missing",
        "src/../../beside",
        "../project/src/made.rs",
        beside.to_str().unwrap(),
        missing.to_str().unwrap(),
        &up,
        "/etc/passwd",
        "/nonexistent",
        "/",
    ] {
        assert_eq!(reason(world.file(path)), OUTSIDE, "{path}");
        assert_eq!(reason(world.has_file(path)), OUTSIDE, "{path}");
    }
}

#[test]
fn the_worktree_is_not_outside_if_it_is_larger_than_the_directory() {
    needs!("git");
    let place = Sandbox::with_git();
    let path = place.write("made", "abc");
    place.write("sub/file", "");
    let world = world_at(place.root.join("sub"));
    assert_eq!(world.has_file(path.to_str().unwrap()), Answer::Known(true));
    let gone = place.root.join("gone");
    assert_eq!(world.has_file(gone.to_str().unwrap()), Answer::Known(false));
    assert_eq!(reason(world.has_file("../made")), OUTSIDE);
    assert_eq!(world.has_file("file"), Answer::Known(true));
}

#[cfg(unix)]
#[test]
fn links_are_followed_only_inside() {
    use std::os::unix::fs::symlink;
    let place = Sandbox::bare();
    place.write("src/made.rs", "abc");
    fs::write(place.directory.path().join("beside"), "secret").unwrap();
    symlink("src/made.rs", place.root.join("inside")).unwrap();
    symlink("../beside", place.root.join("outside")).unwrap();
    symlink("..", place.root.join("up")).unwrap();
    symlink("nowhere", place.root.join("dangling")).unwrap();
    symlink("loop", place.root.join("loop")).unwrap();
    let world = place.world();
    assert!(matches!(world.file("inside"), Answer::Known(Some(now)) if now.sha256 == ABC));
    assert_eq!(reason(world.file("outside")), OUTSIDE);
    assert_eq!(reason(world.file("up/beside")), OUTSIDE);
    assert_eq!(world.file("dangling"), Answer::Known(None));
    assert!(reason(world.file("loop")).starts_with("it cannot be read: "));
}

#[test]
fn only_files_of_a_bounded_length_are_read() {
    let place = Sandbox::bare();
    place.write("directory/file", "");
    let large = File::create(place.root.join("large")).unwrap();
    large.set_len((1 << 30) + 1).unwrap();
    let world = place.world();
    assert_eq!(reason(world.file("large")), "it has more than 1073741824 bytes");
    assert_eq!(world.has_file("large"), Answer::Known(true));
    assert_eq!(reason(world.file("directory")), "it is not a regular file");
    assert!(reason(world.file("a\0b")).starts_with("it cannot be read: "));
    assert!(matches!(world.file(&"x".repeat(99_999)), Answer::Unknown(_)));
}

#[cfg(unix)]
#[test]
fn a_pipe_is_not_waited_for() {
    let place = Sandbox::bare();
    let pipe = place.root.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert_eq!(reason(place.world().file("pipe")), "it is not a regular file");
}

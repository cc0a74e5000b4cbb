//! `restore`: files as they were captured, and nothing else touched.
//!
//! Covers plans and their outcomes, names that are chosen, files that changed since, captured or
//! broken, and hostile paths.

#[cfg(unix)]
mod broken;
mod later;
mod named;
#[cfg(unix)]
mod safety;
mod turned;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{Ended, Test};

/// All that is below a directory: files with their content and mode, and links.
fn tree(root: &Path) -> BTreeMap<String, (String, u32)> {
    let mut found = BTreeMap::new();
    let mut left = vec![root.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            let meta = fs::symlink_metadata(&path).unwrap();
            if meta.is_dir() {
                left.push(path);
                found.insert(name, ("directory".to_owned(), 0));
            } else if meta.is_symlink() {
                let target = fs::read_link(&path).unwrap().display().to_string();
                found.insert(name, (format!("-> {target}"), 0));
            } else if !name.contains("store.redb") {
                // Reading a store opens it, and that changes its files.
                let content = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
                found.insert(name, (content, mode(&meta)));
            }
        }
    }
    found
}

/// The same, without what belongs to the store.
fn work(root: &Path) -> BTreeMap<String, (String, u32)> {
    tree(root).into_iter().filter(|(path, _)| !path.starts_with(".waypost")).collect()
}

#[cfg(unix)]
fn mode(meta: &fs::Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o777
}

#[cfg(not(unix))]
fn mode(_meta: &fs::Metadata) -> u32 {
    0
}

fn set_mode(path: &Path, mode: u32) {
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    #[cfg(not(unix))]
    let _ = (path, mode);
}

/// A project at its first checkpoint, `one`, with the files of which a later one, `two`, changed
/// one, removed another and added a third.
fn project() -> Test {
    let test = Test::new();
    fs::create_dir_all(test.path().join("src/deep")).unwrap();
    test.write("src/a.rs", "a");
    test.write("src/deep/b.sh", "b");
    set_mode(&test.path().join("src/deep/b.sh"), 0o750);
    test.write("other", "not captured");
    let state = r#"{"variables": {"x": 1.50}, "agent_state": {"current_agent": "q"}}"#;
    let about = "--issue 42 --phase build --step s --iteration 7 --resume-from here";
    test.feed(&format!("save - --id one {about} --capture src"), state).done();
    test.write("src/a.rs", "changed");
    fs::remove_file(test.path().join("src/deep/b.sh")).unwrap();
    test.write("src/c.rs", "c");
    test.feed(&format!("save - --id two {about} --capture src"), "{}").done();
    test
}

fn report(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).expect("one object")
}

/// What became of each file.
fn actions(report: &Value) -> Vec<(&str, &str)> {
    let files = report["files"].as_array().unwrap().iter();
    files.map(|it| (it["path"].as_str().unwrap(), it["action"].as_str().unwrap())).collect()
}

fn outcomes(report: &Value) -> Vec<&str> {
    let steps = report["steps"].as_array().unwrap().iter();
    steps.map(|step| step["outcome"].as_str().unwrap()).collect()
}

#[test]
fn the_report_tells_every_step() {
    let test = project();
    let shown = test.run("restore one --into .").done();
    let shown = shown.lines().map(|line| match line.split_once(", before in ") {
        // The time is another one each time.
        Some((start, kept)) => format!("{start}, before in [KEPT]{}", &kept[kept.len() - 13..]),
        None => line.to_owned(),
    });
    insta::assert_snapshot!(shown.collect::<Vec<_>>().join("\n"), @"
    one into .
    1. validate_checkpoint_integrity  ok       document is whole; 2 captured
    2. restore_artifacts              warning  1 created, 1 replaced; 1 left (see --exact)
         replaced       src/a.rs  7 B -> 1 B, before in [KEPT]-one/src/a.rs
         created        src/deep/b.sh  1 B
         left           src/c.rs  (captured later)
    3. restore_variables              ok       variables (1): x
    4. restore_agent_state            ok       agent state (1): current_agent
    5. verify_state                   ok       2 files are as captured
    6. resume_or_fail                 ok       go on at phase build, step s, iteration 7, from here
    ");
}

#[test]
fn files_are_as_they_were_captured_and_what_they_replace_is_kept() {
    let test = project();
    let ended = test.run("restore one --into . --json");
    let told = report(&ended);
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    assert_eq!(actions(&told), [("src/a.rs", "replaced"), ("src/deep/b.sh", "created")]);
    assert_eq!(outcomes(&told), ["ok", "warning", "ok", "ok", "ok", "ok"]);
    assert_eq!(told["variables"].to_string(), r#"{"x":1.5}"#);
    assert!(ended.stdout.contains(r#""variables":{"x":1.50}"#), "as it was written");
    assert_eq!((&told["resume_from"], &told["iteration"]), (&"here".into(), &7.into()));
    let found = work(&test.path());
    assert_eq!(found["src/a.rs"].0, "a");
    assert_eq!(found["src/deep/b.sh"], ("b".to_owned(), if cfg!(unix) { 0o750 } else { 0 }));
    assert_eq!(found["src/c.rs"].0, "c", "nobody asked for that to go");
    assert_eq!(found["other"].0, "not captured");
    let kept = told["files"][0]["kept_as"].as_str().unwrap();
    assert!(kept.starts_with(".waypost/replaced/2") && kept.ends_with("-one/src/a.rs"), "{kept}");
    assert_eq!(fs::read_to_string(test.path().join(kept)).unwrap(), "changed");

    // Once more changes nothing, nor leaves anything behind.
    let before = tree(&test.path());
    let told = report(&test.run("restore one --into . --json"));
    assert_eq!(actions(&told), [("src/a.rs", "unchanged"), ("src/deep/b.sh", "unchanged")]);
    assert_eq!(tree(&test.path()), before);
}

#[test]
fn what_was_deleted_is_moved_away() {
    let test = project();
    test.run("restore one --into . --quiet").done();
    let told = report(&test.run("restore two --into . --json"));
    let expected =
        [("src/a.rs", "replaced"), ("src/c.rs", "unchanged"), ("src/deep/b.sh", "removed")];
    assert_eq!(actions(&told), expected);
    assert!(!test.path().join("src/deep/b.sh").exists());
    let kept = test.path().join(told["files"][2]["kept_as"].as_str().unwrap());
    assert_eq!(fs::read_to_string(&kept).unwrap(), "b");
    #[cfg(unix)]
    assert_eq!(mode(&fs::metadata(&kept).unwrap()), 0o750);
    let told = report(&test.run("restore two --into . --json"));
    assert_eq!(actions(&told)[2], ("src/deep/b.sh", "unchanged"));
}

#[test]
fn a_dry_run_tells_the_same_and_changes_nothing() {
    let test = project();
    let before = tree(&test.path());
    let told = report(&test.run("restore one --into . --dry-run --state s.json --json"));
    assert_eq!(actions(&told), [("src/a.rs", "would_replace"), ("src/deep/b.sh", "would_create")]);
    let told = report(&test.run("restore two --into new/deep --dry-run --json"));
    assert_eq!(actions(&told)[2], ("src/deep/b.sh", "unchanged"));
    let shown = test.run("restore one --into . --dry-run").done();
    assert!(shown.contains("would replace  src/a.rs  7 B -> 1 B"), "{shown}");
    assert_eq!(tree(&test.path()), before);
}

#[test]
fn a_directory_that_is_not_there_is_made() {
    let test = project();
    test.run("restore one --into new/deep --quiet").done();
    let found = tree(&test.path().join("new/deep"));
    let paths: Vec<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(paths, ["src", "src/a.rs", "src/deep", "src/deep/b.sh"], "and no temporaries");
    assert_eq!(found["src/a.rs"].0, "a");
    let told = test.run("restore one --into other");
    assert_eq!(told.code, Some(4));
    assert!(told.stderr.contains("it is not a directory"), "{}", told.stderr);
}

#[cfg(unix)]
#[test]
fn a_mode_that_differs_is_put_right() {
    let test = project();
    test.run("restore one --into . --quiet").done();
    set_mode(&test.path().join("src/a.rs"), 0o600);
    // It was reported as a content of the same length.
    let shown = test.run("restore one --into . --dry-run").done();
    assert!(shown.contains("would replace  src/a.rs  mode 600 -> 644\n"), "{shown}");
    test.write("src/deep/b.sh", "other");
    set_mode(&test.path().join("src/deep/b.sh"), 0o644);
    let shown = test.run("restore one --into . --dry-run").done();
    assert!(shown.contains("src/deep/b.sh  5 B -> 1 B, mode 644 -> 750\n"), "{shown}");
    let told = report(&test.run("restore one --into . --json"));
    assert_eq!(actions(&told)[0], ("src/a.rs", "replaced"));
    assert_eq!(told["files"][0]["mode_before"], 0o600);
    assert_eq!(work(&test.path())["src/a.rs"].1, 0o644);
}

#[test]
fn a_file_that_became_a_directory_gives_way() {
    let test = Test::new();
    test.write("x", "file");
    test.feed("save - --id one --capture x", "{}").done();
    fs::remove_file(test.path().join("x")).unwrap();
    fs::create_dir(test.path().join("x")).unwrap();
    test.write("x/y", "below");
    test.feed("save - --id two --capture x", "{}").done();
    // As seen from the tree of the first.
    fs::remove_dir_all(test.path().join("x")).unwrap();
    test.write("x", "file");
    let told = report(&test.run("restore two --into . --json"));
    assert_eq!(actions(&told), [("x", "removed"), ("x/y", "created")]);
    assert_eq!(work(&test.path())["x/y"].0, "below");
    let kept = test.path().join(told["files"][0]["kept_as"].as_str().unwrap());
    assert_eq!(fs::read_to_string(kept).unwrap(), "file");
    // A directory in the place of a file stays: its other content is unknown.
    let before = work(&test.path());
    let ended = test.run("restore one --into . --json");
    assert_eq!(ended.code, Some(4));
    let expected = "x is a directory, and x/y stays in it";
    assert_eq!(report(&ended)["steps"][1]["details"][0], expected);
    assert_eq!(work(&test.path()), before);
}

#[test]
fn a_file_that_nobody_said_may_go_stays_where_a_directory_should_be() {
    let test = Test::new();
    fs::create_dir(test.path().join("x")).unwrap();
    test.write("x/y", "below");
    test.feed("save - --id one --capture x/y", "{}").done();
    fs::remove_dir_all(test.path().join("x")).unwrap();
    test.write("x", "mine");
    let ended = test.run("restore one --into . --json");
    assert_eq!(ended.code, Some(4));
    assert_eq!(report(&ended)["steps"][1]["details"][0], "x/y goes through a file");
    assert_eq!(work(&test.path())["x"].0, "mine");
}

#[test]
fn the_state_goes_to_a_file_that_is_not_replaced_unasked() {
    let test = project();
    test.run("restore one --into . --state s.json --quiet").done();
    let state = fs::read_to_string(test.path().join("s.json")).unwrap();
    insta::assert_snapshot!(state, @r#"
    {
      "id": "one",
      "variables": {
        "x": 1.50
      },
      "agent_state": {
        "current_agent": "q"
      }
    }
    "#);
    test.run("restore one --into . --state s.json --quiet").done();
    test.write("s.json", "mine");
    test.write("src/a.rs", "mine, too");
    let before = work(&test.path());
    let ended = test.run("restore one --into . --state s.json");
    assert_eq!(ended.code, Some(4));
    assert!(ended.stderr.contains("s.json is there with other content"), "{}", ended.stderr);
    assert_eq!(work(&test.path()), before, "nothing was written");
    let told = report(&test.run("restore one --into . --state s.json --force --json"));
    assert_eq!(fs::read_to_string(test.path().join("s.json")).unwrap(), state);
    // It was gone: only captured files were kept.
    let kept = told["state_kept_as"].as_str().unwrap();
    assert!(kept.starts_with("s.json.replaced-2"), "{kept}");
    assert_eq!(fs::read_to_string(test.path().join(kept)).unwrap(), "mine");
    test.write("s.json", "mine again");
    let dry = test.run("restore one --into . --state s.json --force --dry-run").done();
    assert!(dry.contains("to s.json, and what is there kept beside it\n"), "{dry}");
    let shown = test.run("restore one --into . --state s.json --force").done();
    assert!(shown.contains("; written to s.json, before in s.json.replaced-2"), "{shown}");
    let told = report(&test.run("restore one --into . --state s.json --force --json"));
    assert_eq!(told["state_kept_as"], Value::Null, "nothing was replaced");
    let is_kept = |path: &&String| path.starts_with("s.json.replaced-");
    assert_eq!(work(&test.path()).keys().filter(is_kept).count(), 2);
}

#[test]
fn what_cannot_be_resumed_is_restored_only_if_told() {
    let test = Test::new();
    test.write("a", "a");
    let save = "save - --id x --can-resume false --warning gone --capture a";
    test.feed(save, "{}").done();
    test.write("a", "mine");
    let ended = test.run("restore x --into . --json");
    assert_eq!(ended.code, Some(4));
    let told = report(&ended);
    assert_eq!(outcomes(&told), ["ok", "skipped", "skipped", "skipped", "skipped", "failed"]);
    assert_eq!(told["steps"][5]["details"][0], "it says that it cannot be resumed: gone");
    assert_eq!(work(&test.path())["a"].0, "mine");
    let ended = test.run("restore x --into . --json --force");
    assert_eq!(ended.code, Some(0));
    assert_eq!(outcomes(&report(&ended)), ["ok", "ok", "ok", "ok", "ok", "warning"]);
    assert_eq!(work(&test.path())["a"].0, "a");
}

#[test]
fn what_others_still_have_survives_deletes_prunes_and_compacting() {
    let test = project();
    test.feed("save - --id three --series s --capture src", "{}").done();
    test.run("delete one --quiet").done();
    test.run("undelete one --quiet").done();
    test.run("restore one --into a --quiet").done();
    test.run("delete two --now --quiet").done();
    test.run("delete one --quiet").done();
    test.run("compact --quiet").done();
    assert_eq!(test.run("restore one --into a").code, Some(3));
    test.run("restore three --into b --quiet").done();
    let paths: Vec<String> = tree(&test.path().join("b")).into_keys().collect();
    assert_eq!(paths, ["src", "src/a.rs", "src/c.rs"]);
}

#[test]
fn damage_is_found_before_anything_is_written() {
    let test = Test::new();
    let pangram = "Jackdaws love my big sphinx of quartz";
    test.write("a", "first");
    test.write("b", pangram);
    test.feed("save - --id x --capture a b", "{}").done();
    test.write("a", "mine");
    let path = test.path().join(".waypost/store.redb");
    let mut bytes = fs::read(&path).unwrap();
    let is_text = |at: &usize| bytes[*at..].starts_with(pangram.as_bytes());
    let places: Vec<usize> = (0..bytes.len() - pangram.len()).filter(is_text).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at] ^= 1;
    }
    fs::write(&path, bytes).unwrap();
    let before = work(&test.path());
    let ended = test.run("restore x --into . --json --state s.json");
    assert_eq!(ended.code, Some(5));
    assert!(ended.stderr.contains(r#"artifact \"b\" of checkpoint x"#), "{}", ended.stderr);
    assert_eq!(outcomes(&report(&ended))[..2], ["failed", "skipped"]);
    assert_eq!(work(&test.path()), before);
    // The document and the other file are not hurt; and the next capture mends it.
    test.run("show x").done();
    test.feed("save - --id y --capture b", "{}").done();
    test.run("restore x --into . --quiet").done();
    assert_eq!(work(&test.path())["a"].0, "first");
}

/// Below `src` they went to `src/src`, without a word.
#[test]
fn who_restores_below_the_project_is_told_where_files_go() {
    let test = project();
    let mut command = test.command("restore one --into . --dry-run");
    let ended = test.ended(command.current_dir(test.path().join("src")).spawn().unwrap());
    let note = "files go below [HERE]/src, but their paths start at [HERE]: \
                --into [HERE] puts them where they were\n";
    assert_eq!((ended.code, &*ended.stderr), (Some(0), note));
    assert_eq!(test.run("restore one --into new/deep --dry-run").stderr.lines().count(), 1);
    assert_eq!(test.run("restore one --into new/deep --dry-run --quiet").stderr, "");
    let elsewhere = Test::new();
    for into in [".", "src/..", elsewhere.path().to_str().unwrap()] {
        test.run(&format!("restore one --into {into} --dry-run")).done();
    }
}

#[test]
fn one_file_is_one_and_a_hint_says_what_to_do() {
    let test = Test::new();
    test.write("x", "file");
    test.feed("save - --id one --capture x", r#"{"variables": {"a": 1}}"#).done();
    let shown = test.run("restore one --into .").done();
    assert!(shown.contains("  1 file is as captured\n"), "{shown}");
    test.write("file", "mine");
    let stderr = test.run("restore one --into . --state file").stderr;
    let hint = "hint: --force replaces and keeps it; or name another file with --state\n";
    assert!(stderr.ends_with(hint), "{stderr}");
    fs::remove_file(test.path().join("x")).unwrap();
    fs::create_dir(test.path().join("x")).unwrap();
    test.write("x/mine", "mine");
    insta::assert_snapshot!(test.run("restore one --into .").stderr, @"
    error: . cannot be restored into: 1 path cannot be written
    hint: step 2 of the report says why; move that away, or name another directory with --into
    ");
    insta::assert_snapshot!(test.run("restore one --into file").stderr, @"
    error: file cannot be restored into: it is not a directory
    hint: name a directory with --into
    ");
}

#[test]
fn the_state_is_not_written_over_a_restored_file() {
    let test = Test::new();
    test.write("a", "mine");
    test.feed("save - --series w --capture a", r#"{"variables": {"x": 1}}"#).done();
    fs::remove_file(test.path().join("a")).unwrap();
    let stderr = test.run("restore w@0 --into . --state a").stderr;
    assert!(stderr.contains("--state: a is one of the files to restore"), "{stderr}");
    assert!(!test.path().join("a").exists());
}

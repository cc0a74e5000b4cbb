//! Nothing outside the directory is ever touched, whatever lies in it.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::super::Test;
use super::{actions, project, report, tree};

#[test]
fn a_link_on_the_way_is_not_followed() {
    let test = project();
    let elsewhere = Test::new();
    elsewhere.write("a.rs", "theirs");
    fs::create_dir(test.path().join("out")).unwrap();
    symlink(elsewhere.path(), test.path().join("out/src")).unwrap();
    let before = (tree(&test.path()), tree(&elsewhere.path()));
    for flags in ["", "--dry-run", "--force"] {
        let ended = test.run(&format!("restore one --into out --json {flags}"));
        assert_eq!(ended.code, Some(4));
        let told = report(&ended);
        assert_eq!(told["steps"][1]["outcome"], "failed");
        assert_eq!(told["steps"][1]["details"][0], "src/a.rs goes through a link");
        // What is to be deleted behind a link is not deleted either.
        assert_eq!(test.run("restore two --into out").code, Some(4));
    }
    assert_eq!((tree(&test.path()), tree(&elsewhere.path())), before);
}

#[test]
fn a_link_in_the_place_of_a_file_is_replaced_itself_and_kept() {
    let test = project();
    let elsewhere = Test::new();
    // Even one whose content is the same: who knows what else leads there.
    elsewhere.write("target", "a");
    fs::remove_file(test.path().join("src/a.rs")).unwrap();
    symlink(elsewhere.path().join("target"), test.path().join("src/a.rs")).unwrap();
    let told = report(&test.run("restore one --into . --json"));
    assert_eq!(actions(&told)[0], ("src/a.rs", "replaced"));
    assert!(!test.path().join("src/a.rs").is_symlink());
    let kept = test.path().join(told["files"][0]["kept_as"].as_str().unwrap());
    assert_eq!(fs::read_link(kept).unwrap(), elsewhere.path().join("target"));
    fs::write(test.path().join("src/a.rs"), "mine").unwrap();
    assert_eq!(fs::read_to_string(elsewhere.path().join("target")).unwrap(), "a");
}

#[test]
fn what_is_replaced_is_not_kept_behind_a_link() {
    for link in [".waypost", ".waypost/replaced"] {
        let test = project();
        let elsewhere = Test::new();
        let out = test.path().join("out");
        fs::create_dir_all(out.join("src")).unwrap();
        fs::write(out.join("src/a.rs"), "mine").unwrap();
        fs::create_dir_all(out.join(link).parent().unwrap()).unwrap();
        symlink(elsewhere.path(), out.join(link)).unwrap();
        let before = tree(&out);
        let ended = test.run("restore one --into out --json");
        assert_eq!(ended.code, Some(4), "{link}");
        let details = &report(&ended)["steps"][1]["details"][0];
        assert_eq!(*details, ".waypost/replaced goes through a link");
        assert_eq!(tree(&out), before);
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    }
}

#[test]
fn the_directory_itself_may_be_named_by_a_link() {
    let test = project();
    fs::create_dir(test.path().join("real")).unwrap();
    symlink("real", test.path().join("out")).unwrap();
    test.run("restore one --into out --quiet").done();
    assert_eq!(fs::read_to_string(test.path().join("real/src/a.rs")).unwrap(), "a");
}

#[test]
fn files_of_git_and_of_the_store_are_never_written() {
    let test = Test::new();
    let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let evil = [".git/hooks/pre-commit", "a/.GIT/config", ".waypost/store.redb"];
    let artifact =
        |path: &&str| json!({"path": path, "sha256": hash, "status": "created", "text": "abc"});
    let artifacts: Vec<_> = evil.iter().map(artifact).collect();
    let line = json!({"id": "x", "document": 1, "artifacts": artifacts}).to_string();
    test.feed("import - --quiet", &line).done();
    let before = tree(&test.path());
    let ended = test.run("restore x --into . --json");
    assert_eq!(ended.code, Some(4));
    assert_eq!(report(&ended)["steps"][1]["details"].as_array().unwrap().len(), evil.len());
    assert_eq!(tree(&test.path()).keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
}

/// A FIFO was waited for, for ever, and a link that led nowhere was replaced unasked.
#[test]
fn the_state_goes_to_a_regular_file_only() {
    let test = project();
    let path = test.path().join("s.json");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    symlink("s.json", test.path().join("link")).unwrap();
    symlink("/dev/null", test.path().join("null")).unwrap();
    fs::create_dir(test.path().join("dir")).unwrap();
    let before = tree(&test.path().join("src"));
    for (state, kind) in
        [("s.json", "a FIFO"), ("link", "a FIFO"), ("null", "a device"), ("dir", "a directory")]
    {
        for flags in ["", "--force", "--force --dry-run"] {
            let ended = test.run(&format!("restore one --into . --state {state} {flags}"));
            let (code, told) = (ended.code, ended.stderr);
            assert_eq!(code, Some(4), "{told}");
            let expected = format!("the state cannot go to {state}: it is {kind}, not a regular");
            assert!(told.contains(&expected), "{flags}: {told}");
        }
    }
    assert_eq!(tree(&test.path().join("src")), before, "nothing was restored");
}

#[test]
fn a_link_that_leads_nowhere_is_in_the_way_of_the_state() {
    let test = project();
    let link = test.path().join("s.json");
    symlink("nowhere", &link).unwrap();
    let ended = test.run("restore one --into . --state s.json");
    assert_eq!(ended.code, Some(4));
    assert!(ended.stderr.contains("s.json is there with other content"), "{}", ended.stderr);
    assert!(link.is_symlink());
    let told = report(&test.run("restore one --into . --state s.json --force --json"));
    let kept = test.path().join(told["state_kept_as"].as_str().unwrap());
    assert_eq!(fs::read_link(kept).unwrap().to_str(), Some("nowhere"));
    assert!(!link.is_symlink() && !test.path().join("nowhere").exists());
}

/// It was replaced by an earlier content, or moved away, and the restore reported success.
#[test]
fn the_store_itself_is_neither_replaced_nor_removed() {
    const UNFINISHED: &str = "s.redb.new-0123456789abcdef0123456789abcdef.unfinished";
    let test = Test::new();
    let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let file = |path: &str, status: &str| match status {
        "deleted" => json!({"path": path, "sha256": null, "status": status}),
        _ => json!({"path": path, "sha256": hash, "status": status, "text": "abc"}),
    };
    fs::create_dir(test.path().join("d")).unwrap();
    let line = |id: &str, files: &[_]| json!({"id": id, "document": 1, "artifacts": files});
    let lines = [
        line("gone", &[file("s.redb", "deleted"), file("other", "created")]),
        line("new", &[file("s.redb", "created"), file("s.redb.lock", "created")]),
        line("beside", &[file(UNFINISHED, "created"), file("s.redb.journal", "created")]),
        line("spool", &[file("s.redb.spool/x.save", "created"), file("s.redb.spool", "deleted")]),
        line("name", &[file("link.redb", "deleted")]),
    ];
    let lines = lines.map(|line| line.to_string()).join("\n");
    test.feed("--store s.redb import - --quiet", &lines).done();
    symlink("s.redb", test.path().join("link.redb")).unwrap();
    for (id, wanted) in [
        ("gone", &["s.redb"][..]),
        ("new", &["s.redb", "s.redb.lock"]),
        ("beside", &["s.redb.journal", UNFINISHED]),
        ("spool", &["s.redb.spool", "s.redb.spool/x.save"]),
        ("name", &["link.redb"]),
    ] {
        let expected: Vec<_> =
            wanted.iter().map(|it| format!("{it} is the store itself")).collect();
        for flags in ["--into .", "--into . --dry-run", "--into d/.."] {
            let ended = test.run(&format!("--store link.redb restore {id} {flags} --json"));
            assert_eq!(ended.code, Some(4), "{id} {flags}");
            assert_eq!(report(&ended)["steps"][1]["details"], json!(expected), "{id} {flags}");
        }
    }
    assert!(!test.path().join("other").exists(), "nothing of it was written");
    test.run("--store s.redb restore gone --into elsewhere --quiet").done();
    let told = test.run("--store s.redb restore gone --into elsewhere --state s.redb --force");
    assert_eq!(told.code, Some(2));
    assert!(told.stderr.contains("--state: s.redb is the store itself"), "{}", told.stderr);
    assert_eq!(test.run("--store s.redb list --json").done().lines().count(), 5);
}

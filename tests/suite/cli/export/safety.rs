//! `export DIR` of hostile checkpoints: nothing outside the directory is ever touched.

use std::fs;

use serde_json::json;
use waypost::Layout;

use super::super::Test;
use super::files::{filled, json as source, of, tree};

/// A store with a checkpoint from each of these paths, as lines of JSON bring them in.
fn with_paths(paths: &[&str]) -> Test {
    let test = Test::new();
    let lines = paths.iter().zip(0..).map(|(path, number)| {
        let style = json!({"spacing": "compact"});
        let source = json!({"format": "json", "style": style});
        json!({"id": format!("c-{number}"), "source_path": path, "source": source, "document": [1]})
            .to_string()
    });
    let lines: Vec<String> = lines.collect();
    test.feed("import - --quiet", &lines.join("\n")).done();
    test
}

#[test]
fn a_path_that_leads_out_of_the_directory_is_refused() {
    let long = "x".repeat(300);
    let outside = Test::new();
    let absolute = outside.path().join("x").display().to_string();
    let evil = [
        "../x",
        &absolute,
        "/x",
        "a//b",
        "a/../../x",
        "a/../b",
        "./a",
        "a/",
        "",
        "a\0b",
        "a\nb",
        &long,
        "a\\b",
        "..\\x",
        ".git/hooks/pre-commit",
        "a/.waypost/store.redb",
    ];
    let test = with_paths(&evil);
    let names = || tree(&test.path()).into_keys().collect::<Vec<_>>();
    let before = names();
    let outcome = test.run("export out --overwrite");
    assert_eq!(outcome.code, Some(7));
    for (number, path) in evil.iter().enumerate() {
        let path = path.replace('\0', "\\u0000").replace('\n', "\\n");
        let told = format!("not exported: c-{number}: path \"{path}\" ");
        assert!(outcome.stderr.contains(&told), "{path:?}: {}", outcome.stderr);
    }
    let total = evil.len();
    assert!(outcome.stderr.contains(&format!("error: {total} of {total} could not be exported\n")));
    assert_eq!(names(), before, "not even the directory is made");
    assert!(!test.path().join("out").exists());
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn a_link_in_the_directory_is_not_followed() {
    use std::os::unix::fs::symlink;

    let test = with_paths(&["linked/a.json", "deep/linked/b.json", "file/c.json", "good/d.json"]);
    let elsewhere = test.path().join("elsewhere");
    fs::create_dir_all(test.path().join("out/deep")).unwrap();
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, test.path().join("out/linked")).unwrap();
    symlink(&elsewhere, test.path().join("out/deep/linked")).unwrap();
    fs::write(test.path().join("out/file"), "mine").unwrap();
    let outcome = test.run("export out --overwrite");
    assert_eq!(outcome.code, Some(7));
    insta::assert_snapshot!(outcome.stderr, @"
    not exported: c-2: file/c.json goes through a file
    not exported: c-1: deep/linked/b.json goes through a link
    not exported: c-0: linked/a.json goes through a link
    exported 1: 1 native
    error: 3 of 4 could not be exported
    hint: the first is c-2: file/c.json goes through a file
    ");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    assert_eq!(fs::read(test.path().join("out/file")).unwrap(), b"mine");
    assert_eq!(fs::read(test.path().join("out/good/d.json")).unwrap(), b"[1]");
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_a_file_is_replaced_itself_or_stays() {
    use std::os::unix::fs::symlink;

    let test = with_paths(&["a.json"]);
    fs::create_dir(test.path().join("real")).unwrap();
    // The directory itself may be named by a link.
    symlink("real", test.path().join("out")).unwrap();
    // Even one whose content is the same, for who knows what else leads there.
    fs::write(test.path().join("target"), "[1]").unwrap();
    symlink("../target", test.path().join("real/a.json")).unwrap();
    assert!(test.run("export out").failed(7).contains("a.json is there with other content"));
    assert!(test.path().join("real/a.json").is_symlink());
    test.run("export out --overwrite --quiet").done();
    assert!(!test.path().join("real/a.json").is_symlink());
    fs::write(test.path().join("target"), "mine").unwrap();
    assert_eq!(fs::read(test.path().join("real/a.json")).unwrap(), b"[1]");
}

#[test]
fn a_directory_in_the_place_of_a_file_stays() {
    let test = with_paths(&["a.json"]);
    fs::create_dir_all(test.path().join("out/a.json/b")).unwrap();
    let told = test.run("export out --overwrite").failed(7);
    assert!(told.contains("not exported: c-0: a.json is a directory"), "{told}");
    assert!(test.path().join("out/a.json/b").is_dir());
}

/// A checkpoint that calls itself an index is what it is, and no index replaces it.
#[test]
fn a_checkpoint_is_not_replaced_by_an_index() {
    let test = filled([
        (of(Layout::Crunch, "x/index.json", 1), source("[1]")),
        (of(Layout::Crunch, "x/latest", 2), source("[2]")),
    ]);
    test.run("export out --overwrite --quiet").done();
    assert_eq!(fs::read(test.path().join("out/x/index.json")).unwrap(), b"[1]");
    assert_eq!(fs::read(test.path().join("out/x/latest")).unwrap(), b"[2]");
}

#[test]
fn what_is_damaged_is_named_and_the_rest_is_written() {
    let pangram = "Jackdaws love my big sphinx of quartz";
    let test = filled([
        (of(Layout::Native, "good.json", 1), source("[1]")),
        (of(Layout::Native, "bad.json", 2), source(&format!("[{pangram:?}]"))),
    ]);
    test.damage(pangram);
    let told = test.run("export out").failed(5);
    assert!(told.contains("not exported: damaged data in checkpoint bad.json@2"), "{told}");
    assert!(told.contains("error: 1 of 2 checkpoints are damaged"), "{told}");
    assert_eq!(tree(&test.path().join("out")).into_keys().collect::<Vec<_>>(), ["good.json"]);
}

#[test]
fn lines_do_not_take_the_place_of_the_store() {
    let test = filled([(of(Layout::Native, "a.json", 1), source("[1]"))]);
    let unfinished = ".waypost/store.redb.new-1.unfinished";
    for path in [".waypost/store.redb", ".waypost/store.redb.journal", unfinished] {
        let stderr = test.run(&format!("export --jsonl {path} --overwrite")).failed(2);
        assert!(stderr.contains("is the store itself"), "{stderr}");
    }
    test.run("export --jsonl - --quiet").done();
}

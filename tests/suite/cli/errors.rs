//! Error messages, and the exit codes of `waypost --help`.

use std::fs;

use waypost::options::Hold;
use waypost::{Options, Store};

use super::{Test, by_member};

#[test]
fn without_a_store_the_user_is_told_how_to_make_one() {
    let test = Test::new();
    insta::assert_snapshot!(test.run("list").failed(3), @"
    error: there is no store at [HERE]/.waypost/store.redb
    hint: `waypost init` or `waypost save` makes one, --store names another
    ");
    for command in ["show x", "latest", "delete x", "tag x", "stats", "compact"] {
        assert!(test.run(command).failed(3).contains("there is no store"), "{command}");
    }
    assert_eq!(fs::read_dir(test.path()).unwrap().count(), 0);
}

#[test]
fn wrong_usage_is_told_from_failure() {
    let test = Test::new();
    for args in [
        "",
        "cleanup",
        "show",
        "list --iteration 3..1",
        "list --limit 0",
        "list --since yesterday",
        "list --after here",
        "list --limit 3 --all",
        "list --wait -1",
        "save --trigger No",
        "save --status done",
        "save --created-at yesterday",
        "save --can-resume maybe",
        "save --about",
    ] {
        assert!(!test.run(args).failed(2).is_empty(), "{args}");
    }
}

#[test]
fn wrong_numbers_are_told_what_would_do() {
    let test = Test::new();
    for (args, flag, would_do) in [
        ("list --limit 0", "--limit <N>", "a whole number from 1 on"),
        ("list --limit x", "--limit <N>", "a whole number from 1 on"),
        ("list --limit -1", "--limit <N>", "a whole number from 1 on"),
        ("list --limit 99999999999999999999", "--limit <N>", "a whole number from 1 on"),
        ("save --iteration -1", "--iteration <N>", "a whole number from 0 on"),
        ("save --retention-days 1.5", "--retention-days <DAYS>", "a whole number from 0 to"),
        ("resume 1 --depth 0", "--depth <N>", "a whole number from 1 to 100000"),
        ("list --wait -1", "--wait <SECONDS>", "a number of seconds, such as"),
        ("list --wait soon", "--wait <SECONDS>", "a number of seconds, such as"),
    ] {
        let told = test.run(args).failed(2);
        assert!(told.contains(&format!("'{flag}': must be {would_do}")), "{told}");
    }
}

#[test]
fn a_program_is_told_of_wrong_usage_in_json() {
    let stderr = Test::new().run("list --json --status done").failed(2);
    let error: serde_json::Value = serde_json::from_str(&stderr).unwrap();
    assert_eq!(error["error"]["code"], "usage");
    assert_eq!(Test::new().run("--json --version").done(), Test::new().run("--version").done());
}

#[test]
fn words_with_a_meaning_of_their_own_are_no_ids() {
    let test = Test::new();
    assert!(test.feed("save --id latest", "1").failed(2).contains("invalid id"));
    let line = r#"{"about": {"id": "a\nb", "tags": ["a\u001bb"]}, "document": 1}"#;
    let ended = test.feed("save --lines --about", line);
    assert_eq!((ended.code, ended.stdout.lines().count()), (Some(7), 1));
}

#[test]
fn an_unknown_id_is_nothing_matched() {
    let test = Test::filled();
    insta::assert_snapshot!(test.run("show x").failed(3), @r#"
    error: no checkpoint matches "x"; the newest series are default, issue:42
    hint: `waypost list` shows what there is
    "#);
    insta::assert_snapshot!(by_member(&test.run("show x --json").failed(3)), @r#"
    {"version":1,
    "error":{"code":"not_found",
    "message":"no checkpoint matches \"x\"; the newest series are default, issue:42",
    "hint":"`waypost list` shows what there is"}}
    "#);
    assert_eq!(
        test.run("show x --quiet").failed(3),
        "error: no checkpoint matches \"x\"; the newest series are default, issue:42\n"
    );
}

#[test]
fn an_ambiguous_prefix_is_wrong_usage() {
    insta::assert_snapshot!(Test::filled().run("delete a").failed(2), @r#"
    error: "a" may be a-1 or a-2
    hint: give more characters of the id
    "#);
}

#[test]
fn what_is_not_a_store_is_left_alone() {
    let test = Test::new();
    let notes = "not a store, but long enough to be taken for one\n".repeat(100);
    test.write("notes.txt", &notes);
    for command in ["list", "save"] {
        let stderr = test.feed(&format!("{command} --store notes.txt"), "1").failed(1);
        assert!(stderr.contains("notes.txt is not a waypost store: "), "{stderr}");
        let stderr = test.feed(&format!("{command} --store ."), "1").failed(1);
        assert!(stderr.contains("is not a waypost store: it is a directory"), "{stderr}");
    }
    assert_eq!(fs::read_to_string(test.path().join("notes.txt")).unwrap(), notes);
}

#[test]
fn a_named_store_is_not_made_in_a_directory_that_is_not_there() {
    let stderr = Test::new().feed("save --store no/store.redb", "1").failed(1);
    assert!(stderr.starts_with("error: cannot access [HERE]/no: "), "{stderr}");
    assert!(stderr.ends_with("hint: make the directory of the store first\n"), "{stderr}");
}

#[test]
fn what_is_not_a_document_leaves_no_store_behind() {
    let test = Test::new();
    let stderr = test.feed("save", "{\"a\": [1, x]}").failed(4);
    let expected = "error: invalid document at /a/1: expected a value at line 1 column 11\n";
    assert!(stderr.starts_with(expected), "{stderr}");
    assert_eq!(fs::read_dir(test.path()).unwrap().count(), 0);
}

#[test]
fn damage_has_an_exit_code_of_its_own() {
    let test = Test::new();
    let document = "Jackdaws love my big sphinx of quartz";
    test.feed("save --store store.redb --id x", &format!("{document:?}")).done();
    let path = test.path().join("store.redb");
    let mut bytes = fs::read(&path).unwrap();
    let starts: Vec<usize> = (0..bytes.len() - document.len())
        .filter(|at| bytes[*at..].starts_with(document.as_bytes()))
        .collect();
    assert!(!starts.is_empty());
    for at in starts {
        bytes[at] ^= 1;
    }
    fs::write(&path, bytes).unwrap();
    let stderr = test.run("show x --store store.redb").failed(5);
    assert!(stderr.starts_with("error: damaged data in "), "{stderr}");
}

#[test]
fn a_store_that_another_process_holds_is_named_with_its_holder() {
    let test = Test::filled();
    let options =
        Options { hold: Hold::Forever, label: "the test".to_owned(), ..Options::default() };
    let holder = Store::open_with(test.path().join(".waypost/store.redb"), options).unwrap();
    test.run("list --wait 0").done();
    let stderr = test.run("compact --wait 0.05").failed(6);
    let expected = format!("is held by process {} (the test); gave up after", std::process::id());
    assert!(stderr.contains(&expected), "{stderr}");
    assert!(stderr.ends_with("\nhint: wait longer with --wait, or end that process\n"), "{stderr}");
    let stderr = test.feed("save --id own --wait 0.05 --json", "1").failed(6);
    assert!(
        stderr.starts_with("{\"version\":1,\"error\":{\"code\":\"locked\",\"message\":"),
        "{stderr}"
    );
    drop(holder);
    test.run("compact").done();
}

/// A message of the storage engine with its file and line came before the error.
#[test]
fn a_panic_of_the_storage_engine_is_told_as_damage_alone() {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/format-1.redb");
    let whole = fs::read(fixture).unwrap();
    let test = Test::new();
    // Each of these makes redb 4.4 panic.
    for at in [20_482, 57_344, 90_118] {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xff;
        for flags in ["", "--quiet", "--json"] {
            fs::write(test.path().join("store.redb"), &bytes).unwrap();
            let stderr = test.run(&format!("list --store store.redb {flags}")).failed(5);
            let starts =
                ["error: damaged data in ", "{\"version\":1,\"error\":{\"code\":\"corrupt\","];
            assert!(starts.iter().any(|start| stderr.starts_with(start)), "{at} {flags}: {stderr}");
        }
    }
}

/// It was wrong usage for some commands and a failure for others.
#[test]
fn a_file_that_is_named_and_not_there_is_the_same_error_everywhere() {
    let test = Test::filled();
    for command in [
        "save none",
        "diff latest --file none",
        "resume issue:42 --issue-json none",
        "policy check none",
        "policy show none",
        "import none",
        "prune --policy none",
    ] {
        let stderr = test.run(&format!("{command} --json")).failed(1);
        let start = r#"{"version":1,"error":{"code":"io","message":"cannot read none: "#;
        assert!(stderr.starts_with(start), "{command}: {stderr}");
    }
}

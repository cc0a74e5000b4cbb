//! `waypost verify`, `repair` and `backup`: what is told, how it ends, and what is changed.

use std::fs;

use serde_json::Value;

use super::Test;

const PANGRAM: &str = "Jackdaws love my big sphinx of quartz";

/// A store of two checkpoints, of which the document of `bad` is damaged.
fn damaged() -> Test {
    let test = Test::new();
    test.feed("save --id good --quiet", "1").done();
    test.feed("save --id bad --series other --quiet", &format!("{PANGRAM:?}")).done();
    test.damage(PANGRAM);
    test
}

/// Lines without those that are different in each run.
fn steady(text: &str) -> String {
    let is_steady = |line: &&str| {
        !["time", "pages", "others waited", "size"].iter().any(|name| line.starts_with(name))
    };
    text.lines().filter(is_steady).collect::<Vec<_>>().join("\n")
}

impl Test {
    fn told(&self, args: &str, code: i32) -> (String, String) {
        let ended = self.run(args);
        let here = self.path().display().to_string();
        assert_eq!(ended.code, Some(code), "{}{}", ended.stdout, ended.stderr);
        (steady(&ended.stdout.replace(&here, "[HERE]")), ended.stderr)
    }
}

#[test]
fn a_store_that_is_whole_is_told_in_numbers() {
    let test = Test::filled();
    let (told, _) = test.told("verify", 0);
    insta::assert_snapshot!(told, @"
    store        [HERE]/.waypost/store.redb
    checkpoints  3
    documents    3, 19 B
    rows         34
    findings     none
    ");
    let (told, _) = test.told("repair", 0);
    insta::assert_snapshot!(told, @"
    store   [HERE]/.waypost/store.redb
    damage  none; the store is left alone
    ");
}

#[test]
fn damage_is_named_and_what_can_be_read_is_saved() {
    let test = damaged();
    let (told, said) = test.told("verify", 5);
    assert!(told.contains("reading  checkpoint bad: checksum differs"), "{told}");
    assert!(!told.contains("checkpoint good"), "{told}");
    assert!(said.contains("waypost repair"), "{said}");
    let store = test.path().join(".waypost/store.redb");
    let before = fs::read(&store).unwrap();
    let (told, said) = test.told("repair --dry-run", 7);
    insta::assert_snapshot!(told, @"
    store       [HERE]/.waypost/store.redb
    would save  1
    lost        1
    lost  checkpoint bad: checksum differs
    ");
    assert!(said.contains("1 of 2 could not be saved"), "{said}");
    assert!(before == fs::read(&store).unwrap());

    test.told("repair --into saved.redb", 7);
    assert!(before == fs::read(&store).unwrap());
    assert_eq!(test.run("list --json --store saved.redb").done().lines().count(), 1);
    assert!(test.run("repair --into saved.redb").failed(4).contains("--into"));

    let (told, _) = test.told("repair --json", 7);
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!((&told["needed"], &told["checkpoints"]), (&Value::Bool(true), &Value::from(1)));
    let aside = told["aside"].as_str().unwrap().replace("[HERE]/", "");
    assert!(before == fs::read(test.path().join(aside)).unwrap());
    test.told("verify", 0);
    assert!(test.run("show good").done().contains("good"));
}

#[test]
fn what_cannot_be_opened_at_all_is_told_and_left_alone() {
    let test = Test::filled();
    let store = test.path().join(".waypost/store.redb");
    fs::write(&store, vec![7; 50_000]).unwrap();
    let said = test.run("repair").failed(5);
    assert!(said.contains("nothing can be saved, nothing was changed"), "{said}");
    assert!(fs::read(&store).unwrap() == vec![7; 50_000]);
    test.run("verify").failed(1);
    assert!(Test::new().run("verify").failed(3).contains("there is no store"));
}

/// All was lost with the first page, though nothing but the way to the rest is on it.
#[test]
fn a_store_without_its_first_page_is_damaged_and_saved() {
    let test = Test::filled();
    let store = test.path().join(".waypost/store.redb");
    let mut bytes = fs::read(&store).unwrap();
    bytes[..4096].fill(0);
    fs::write(&store, bytes).unwrap();
    test.told("verify", 5);
    let (told, said) = test.told("repair", 7);
    assert!(told.contains("unsure  table tables: "), "{told}");
    assert!(said.contains("may not be as they were last"), "{said}");
    test.told("verify", 0);
    assert_eq!(test.run("list --json").done().lines().count(), 3);
}

/// A page that every way to the data leads through, in a file that a crash left: the engine gives
/// up, and the documents are all there.
#[test]
fn what_the_engine_refuses_is_saved_page_by_page() {
    let test = Test::new();
    for number in 0..40 {
        test.feed(&format!("save --id a-{number} --phase p{number} --quiet"), "[1,2]").done();
    }
    let store = test.path().join(".waypost/store.redb");
    let mut bytes = fs::read(&store).unwrap();
    // Not closed, and not sure that the last commit is whole.
    bytes[9] = (bytes[9] | 2) & !4;
    // The text of a phase is in the table of names.
    let place = (0..bytes.len()).rfind(|at| bytes[*at..].starts_with(b"p39")).unwrap();
    bytes[place] ^= 1;
    fs::write(&store, &bytes).unwrap();
    let listed = test.run("list --all --json");
    let (told, _) = test.told("repair --json", 0);
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["checkpoints"], 40, "{told}\n{}{}", listed.stdout, listed.stderr);
    assert_eq!(test.run("list --all --json").done().lines().count(), 40);
}

#[test]
fn a_copy_is_made_and_never_replaces_anything_unasked() {
    let test = Test::filled();
    let (told, _) = test.told("backup copy.redb", 0);
    insta::assert_snapshot!(told, @"
    copy           [HERE]/copy.redb
    checkpoints    3
    ");
    test.told("verify --store copy.redb", 0);
    assert_eq!(test.run("list --json --store copy.redb").done(), test.run("list --json").done());
    assert!(test.run("backup copy.redb").failed(4).contains("--overwrite replaces it"));
    test.told("backup copy.redb --overwrite", 0);
    test.run("backup .waypost/store.redb --overwrite").failed(4);
    test.run("backup none/copy.redb").failed(1);
}

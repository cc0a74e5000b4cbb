//! `waypost verify`, `repair` and `backup`: output, exit codes, and what is changed.

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

/// The error said that "2 of 2 parts" could not be saved, but not how many checkpoints were
/// incomplete.
#[test]
fn a_repair_counts_the_checkpoints_that_lost_files() {
    let test = Test::new();
    test.write("a", PANGRAM);
    test.write("b", &format!("{PANGRAM}, twice"));
    test.feed("save - --id x --capture a b --quiet", "1").done();
    test.feed("save - --id y --quiet", "2").done();
    test.damage(PANGRAM);
    let (_, said) = test.told("repair", 7);
    assert!(said.contains("error: 1 of 2 checkpoints were saved only in part\n"), "{said}");
    assert!(said.contains("hint: the first is "), "{said}");
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
    assert!(said.contains("1 of 2 checkpoints could not be saved"), "{said}");
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
    // A store was opened here, so that it is damage and not another file.
    assert!(said.ends_with("hint: restore a backup; the file was not changed\n"), "{said}");
    let (told, _) = test.told("verify", 5);
    assert!(told.contains("it cannot be opened: "), "{told}");
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

/// Without its lock file it was taken for a file of another program.
#[test]
fn a_store_without_its_first_page_and_its_lock_file_is_damaged() {
    for first in [0, 7] {
        let test = Test::filled();
        let store = test.path().join(".waypost/store.redb");
        let mut bytes = fs::read(&store).unwrap();
        bytes[..4096].fill(first);
        fs::write(&store, bytes).unwrap();
        fs::remove_file(store.with_extension("redb.lock")).unwrap();
        let said = test.run("list").failed(5);
        assert!(said.contains("it was a store") && said.contains("waypost repair"), "{said}");
    }
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
    let said = test.run("backup .waypost/store.redb --overwrite").failed(4);
    assert!(said.contains("it is the store itself\nhint: name another file"), "{said}");
    let said = test.run("backup none/copy.redb").failed(1);
    assert!(said.starts_with("error: cannot write into none: "), "{said}");
    assert!(test.run("backup .").failed(1).contains("hint: name a file and not a directory"));
    for command in ["backup -", "key -"] {
        assert!(test.run(command).failed(2).contains("./- is the file named -"), "{command}");
        assert!(!test.path().join("-").exists());
    }
}

/// Any file was replaced, and a copy could be made where the next command removes it.
#[test]
fn a_copy_replaces_only_stores_and_has_no_name_that_the_store_needs() {
    let test = Test::filled();
    test.write("notes.txt", "not a store");
    test.run("backup notes.txt --overwrite").failed(4);
    assert_eq!(fs::read_to_string(test.path().join("notes.txt")).unwrap(), "not a store");
    test.write("empty", "");
    test.run("backup empty --overwrite").done();
    let unfinished = "new-0123456789abcdef0123456789abcdef.unfinished";
    for suffix in ["journal", "lock", unfinished, "spool", "spool/x.save"] {
        for flag in ["", "--overwrite"] {
            let said = test.run(&format!("backup .waypost/store.redb.{suffix} {flag}"));
            assert!([Some(1), Some(4)].contains(&said.code), "{suffix} {flag}: {}", said.stderr);
        }
        let said = test.run(&format!("repair --into .waypost/store.redb.{suffix}")).failed(4);
        // The lock is there already.
        assert!(said.contains("the store uses this name") || suffix == "lock", "{said}");
    }
    let said = test.run("backup .waypost/store.redb.journal").failed(4);
    assert!(said.contains("the store uses this name"), "{said}");
    test.put("other.redb.spool/x", "");
    // Nor one that another store needs, though that may not be there yet.
    for name in ["other.redb.journal", "other.redb.lock", "other.redb.spool/copy.redb"] {
        for command in ["backup", "repair --into"] {
            let said = test.run(&format!("{command} {name}")).failed(4);
            assert!(said.contains("stores use such names"), "{command} {name}: {said}");
        }
    }
    test.told("verify", 0);
}

#[cfg(unix)]
#[test]
fn a_copy_does_not_replace_what_a_link_leads_to_unless_that_is_a_store() {
    let test = Test::filled();
    test.write("notes.txt", "not a store");
    std::os::unix::fs::symlink("notes.txt", test.path().join("link")).unwrap();
    test.run("backup link --overwrite").failed(4);
    std::os::unix::fs::symlink("nowhere", test.path().join("dangling")).unwrap();
    for flag in ["", "--overwrite"] {
        let said = test.run(&format!("backup dangling {flag}")).failed(4);
        assert!(said.contains("it is a symbolic link that leads nowhere"), "{said}");
    }
    test.run("backup /dev/null --overwrite").failed(4);
    assert_eq!(fs::read_to_string(test.path().join("notes.txt")).unwrap(), "not a store");
}

/// Only the next command reported it, once.
#[test]
fn a_save_that_could_not_be_taken_in_stays_a_finding() {
    let test = Test::filled();
    let name = "0190f2e0-0000-7000-8000-000000000001.save";
    let folder = test.path().join(".waypost/store.redb.spool");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join(name), "not a save").unwrap();
    let (told, said) = test.told("verify", 5);
    let line =
        format!("aside    spooled save [HERE]/.waypost/store.redb.spool/{name}: not a file ");
    assert!(told.contains(&line), "{told}");
    assert!(said.contains("1 finding: saves beside the store cannot be taken in"), "{said}");
    assert!(test.run("stats").stderr.contains("was set aside as"));
    let (told, _) = test.told("verify", 5);
    let line = format!("spool/aside/{name}: it was set aside as damaged or of another store; save");
    assert!(told.contains(&line), "{told}");
    let (told, said) = test.told("repair", 0);
    assert!(told.contains("damage  none"), "{told}");
    assert!(said.contains("1 save lies beside the store and cannot be taken in"), "{said}");
    fs::remove_file(folder.join("aside").join(name)).unwrap();
    test.told("verify", 0);
}

#[test]
fn a_program_is_told_whether_all_was_read_and_whether_it_is_damaged() {
    let of = |test: &Test, code: i32| {
        let told: Value = serde_json::from_str(&test.told("verify --json", code).0).unwrap();
        (told["is_complete"].as_bool().unwrap(), told["is_damaged"].as_bool().unwrap())
    };
    assert_eq!(of(&Test::filled(), 0), (true, false));
    assert_eq!(of(&damaged(), 5), (true, true));
    let sealed = Test::new();
    sealed.run("key k").done();
    sealed.feed("save --key-file k", "1").done();
    assert_eq!(of(&sealed, 0), (false, false));
    let told: Value = serde_json::from_str(&Test::filled().run("repair --json").done()).unwrap();
    assert_eq!((&told["needed"], &told["checkpoints"]), (&Value::Bool(false), &Value::from(3)));
}

/// The object broke off where the path was to come.
#[cfg(target_os = "linux")]
#[test]
fn a_path_that_is_no_text_is_told_as_far_as_it_is() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let test = Test::new();
    let name = OsStr::from_bytes(b"bad\xffname.redb");
    for args in ["save", "verify --json", "stats --json", "doctor --json", "repair --json"] {
        let mut command = test.command(args);
        command.env("WAYPOST_STORE", name);
        let mut child = command.spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"1").ok();
        let told = test.ended(child).done();
        if args != "save" {
            assert!(serde_json::from_str::<Value>(&told).is_ok(), "{args}: {told}");
            assert!(told.contains("bad\u{fffd}name.redb"), "{args}: {told}");
        }
    }
}

/// It ended with 3, so a loop whose name was lost started over.
#[test]
fn a_name_that_matches_nothing_is_refused_after_names_were_lost() {
    let test = Test::new();
    test.feed("save --series lost-name-7 --id a --quiet", "1").done();
    let said = test.run("resume nightly").failed(4);
    assert!(said.contains("a repair lost some names: lost-name-7"), "{said}");
    assert!(said.contains("waypost list lost-name-7"), "{said}");
    test.run("list lost-name-7 --quiet").done();
    test.run("archive --series lost-name-7 --quiet").done();
    test.run("resume nightly").failed(3);
}

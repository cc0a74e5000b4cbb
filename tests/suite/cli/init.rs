//! `waypost init`: what is made, found, asked and told, and that nothing is left half made.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::Test;
use super::import::project;
#[cfg(unix)]
use super::resume::terminal::at_terminal;

impl Test {
    /// Runs git in the directory of the test.
    pub(super) fn git(&self, args: &str) {
        let mut git = Command::new("git");
        git.args(args.split_whitespace()).current_dir(self.path());
        let ended = git.output().expect("git starts");
        assert!(ended.status.success(), "{args}: {}", String::from_utf8_lossy(&ended.stderr));
    }

    /// What a command printed, with the directory of the test left out.
    #[track_caller]
    pub(super) fn shown(&self, args: &str) -> String {
        self.run(args).done().replace(&self.path().display().to_string(), "[HERE]")
    }

    #[track_caller]
    fn outcome(&self, args: &str) -> Value {
        serde_json::from_str(&self.run(args).done()).expect("an object")
    }
}

#[test]
fn a_new_project_is_told_what_there_is_and_what_to_type() {
    needs!("git");
    let test = Test::new();
    test.git("init -q");
    insta::assert_snapshot!(test.shown("init"), @r"
    made      [HERE]/.waypost/store.redb
    git       ignores it, by the .gitignore beside it
    found     nothing to import
    policy    none yet; `waypost policy set aiwg` keeps 30 days and the last 5 of each series

    Next:
      waypost save state.json --issue 42
      waypost resume 42
    ");
    test.feed("save --issue 42", "1").done();
    test.git("add .");
    assert_eq!(test.run("policy set aiwg --quiet").code, Some(0));
    insta::assert_snapshot!(test.shown("init --quiet"), @r"
    store     [HERE]/.waypost/store.redb, there already; checkpoints: 1
    git       ignores it, by the .gitignore beside it
    found     nothing to import
    policy    aiwg, from the store
    ");
}

#[cfg(unix)]
#[test]
fn only_its_owner_can_read_a_new_store() {
    use std::os::unix::fs::PermissionsExt as _;
    let test = Test::new();
    test.run("init").done();
    for (name, mode) in [(".waypost", 0o700), (".waypost/store.redb", 0o600)] {
        let found = fs::metadata(test.path().join(name)).unwrap();
        assert_eq!(found.permissions().mode() & 0o777, mode, "{name}");
    }
}

#[test]
fn files_of_other_systems_are_counted_and_imported_only_if_wished() {
    let test = project();
    let found = json!({
        "agentize": {"count": 1, "place": ".tmp"},
        "crunch": {"count": 1, "place": ".claude/crunch/42/checkpoints"},
        "claude": {"count": 1, "place": ".claude/checkpoints"},
        "pipeline": {"count": 2, "place": ".pipeline"},
        "aiwg": {"count": 1,
            "place": ".aiwg/ralph/loops/ralph-fix-tests-a1b2c3d4/checkpoints"},
    });
    for flags in ["", "--no-import"] {
        let outcome = test.outcome(&format!("init --json {flags}"));
        assert_eq!((&outcome["found"], &outcome["imported"]), (&found, &json!(0)), "{flags}");
        assert_eq!(outcome["suggested_policy"], "crunch");
    }
    let shown = test.shown("init");
    assert!(shown.contains("\nimported  nothing; `waypost import .` imports them\n"), "{shown}");
    assert!(shown.contains("of several systems, this removes the least"), "{shown}");
    assert!(shown.lines().count() <= 12, "{shown}");

    let outcome = test.outcome("init --import --policy claude --json");
    assert_eq!((&outcome["found"], &outcome["imported"]), (&found, &json!(6)));
    assert_eq!(outcome["created"], false);
    assert_eq!(outcome["policy"], json!({"name": "claude", "source": "store"}));
    let entries = test.entries();
    let operations = test.run("log --operations --json").done();
    let again = test.outcome("init --import --policy claude --json");
    assert_eq!((&again["found"], &again["imported"]), (&json!({}), &json!(0)));
    assert_eq!(test.entries(), entries);
    assert_eq!(test.run("log --operations --json").done(), operations);
    assert_eq!(test.run("import . --json").code, Some(0));
    assert_eq!(test.entries().len(), 6);
}

#[test]
fn what_cannot_be_read_is_told_but_the_store_is_there() {
    let test = project();
    test.put(".pipeline/checkpoint-HALF.json", "{\"a\":");
    let ended = test.run("init --import");
    assert_eq!(ended.code, Some(7), "{}", ended.stderr);
    assert!(ended.stdout.contains("\nimported  6, and 1 could not be read\n"), "{}", ended.stdout);
    assert!(ended.stderr.contains(".pipeline/checkpoint-HALF.json: "), "{}", ended.stderr);
    let outcome = test.outcome("init --json");
    assert_eq!(outcome["refusals"][0]["path"], ".pipeline/checkpoint-HALF.json");
    // The report had only a number and did not name the file.
    let shown = test.shown("init");
    assert!(
        shown.contains(
            "\nfound     nothing to import; 1 cannot be read: .pipeline/checkpoint-HALF.json\n"
        ),
        "{shown}"
    );
}

#[cfg(unix)]
#[test]
fn whoever_is_there_is_asked() {
    let test = project();
    let (code, stdout, shown) = at_terminal(&test, "init", "n\nno\n");
    assert_eq!(code, Some(0), "{shown}");
    let layouts = "1 agentize, 1 crunch, 1 claude, 2 pipeline, 1 aiwg";
    assert!(shown.contains(&format!("Import 6 checkpoints ({layouts})? [Y/n] ")), "{shown}");
    let keeps = "keeps milestones and the last few of each phase";
    assert!(shown.contains(&format!("Set the policy crunch, which {keeps}? [Y/n] ")), "{shown}");
    assert!(stdout.contains("\nimported  nothing; "), "{stdout}");
    assert_eq!(test.outcome("init --json --no-import")["checkpoints"], 0);

    let (code, stdout, shown) = at_terminal(&test, "init", "\ny\n");
    assert_eq!(code, Some(0), "{shown}");
    assert!(stdout.contains("\nimported  6\npolicy    crunch, from the store\n"), "{stdout}");
    // Nothing is left to ask for.
    let (code, _, shown) = at_terminal(&test, "init", "");
    assert_eq!((code, shown.contains('?')), (Some(0), false), "{shown}");
}

#[cfg(unix)]
#[test]
fn a_program_at_a_terminal_is_not_asked() {
    let test = project();
    let (code, stdout, shown) = at_terminal(&test, "init --json", "");
    assert_eq!((code, shown.as_str()), (Some(0), ""));
    assert!(stdout.contains("\"imported\":0"), "{stdout}");
    let (code, _, shown) = at_terminal(&test, "init --import --policy aiwg", "");
    assert_eq!((code, shown.contains('?')), (Some(0), false), "{shown}");
}

#[test]
fn a_store_that_git_would_commit_is_warned_of() {
    needs!("git");
    let test = Test::new();
    test.run("init").done();
    assert_eq!(test.outcome("init --json")["ignored_by_git"], Value::Null);
    test.git("init -q");
    assert_eq!(test.outcome("init --json")["ignored_by_git"], true);
    fs::remove_file(test.path().join(".waypost/.gitignore")).unwrap();
    assert_eq!(test.outcome("init --json")["ignored_by_git"], false);
    let shown = test.shown("init");
    assert!(
        shown.contains("does not ignore it: echo '*' > [HERE]/.waypost/.gitignore\n"),
        "{shown}"
    );
    test.git("add -f .waypost/store.redb");
    test.write(".waypost/.gitignore", "*\n");
    let shown = test.shown("init");
    assert!(shown.contains("git -C [HERE]/.waypost rm --cached -f store.redb\n"), "{shown}");
    test.git("-C .waypost rm -q --cached -f store.redb");
    assert_eq!(test.outcome("init --json")["ignored_by_git"], true);
}

#[test]
fn a_directory_that_has_only_a_config_gets_all_the_rest() {
    needs!("git");
    let test = Test::new();
    test.git("init -q");
    test.put(".waypost/config.yaml", test.run("policy example").done());
    let outcome = test.outcome("init --json");
    assert_eq!((&outcome["created"], &outcome["ignored_by_git"]), (&json!(true), &json!(true)));
    assert!(outcome["policy"]["source"].as_str().unwrap().ends_with("config.yaml"), "{outcome}");
}

#[test]
fn a_store_above_is_told_of() {
    let test = Test::new();
    test.run("init").done();
    fs::create_dir(test.path().join("shop")).unwrap();
    let shown = test.shown("init shop");
    let above = "above     [HERE] has a store, too; from [HERE]/shop down, this one counts";
    let expected = format!("made      [HERE]/shop/.waypost/store.redb\n{above}\n");
    assert!(shown.starts_with(&expected), "{shown}");
    assert!(test.shown("init shop").contains("\nNext:\n  cd [HERE]/shop\n  waypost save "));
}

#[test]
fn a_named_store_is_made_where_it_is_named() {
    let test = Test::new();
    let shown = test.shown("init --store all.redb");
    assert!(shown.starts_with("made      [HERE]/all.redb\n"), "{shown}");
    assert!(shown.ends_with("  waypost --store all.redb resume 42\n"), "{shown}");
    assert!(!test.path().join(".waypost").exists());
    let stderr = test.run("init --store no/all.redb").failed(4);
    assert!(stderr.starts_with("error: no store can be made in "), "{stderr}");
}

#[test]
fn what_cannot_be_done_leaves_nothing_behind() {
    let test = Test::new();
    test.write("file", "1");
    for (args, code, expected) in [
        ("init none", 4, "error: no store can be made in none: it is not there\n"),
        ("init file", 4, "error: no store can be made in file: it is not a directory\n"),
        ("init --policy nonsense", 1, "error: cannot read nonsense: there is no such file, and "),
        ("init --import --no-import", 2, "error: the argument '--import' cannot be used with"),
    ] {
        let stderr = test.run(args).failed(code);
        assert!(stderr.starts_with(expected), "{args}: {stderr}");
    }
    assert_eq!(fs::read_dir(test.path()).unwrap().count(), 1);

    test.write(".waypost", "1");
    let stderr = test.run("init").failed(4);
    assert!(
        stderr.contains(": its .waypost is not a directory\nhint: name a directory"),
        "{stderr}"
    );
    fs::remove_file(test.path().join(".waypost")).unwrap();

    let notes = "not a store, but long enough to be taken for one\n".repeat(100);
    test.put(".waypost/store.redb", &notes);
    let stderr = test.run("init --import").failed(1);
    assert!(stderr.contains("store.redb is not a waypost store: "), "{stderr}");
    assert_eq!(fs::read_to_string(test.path().join(".waypost/store.redb")).unwrap(), notes);
}

/// It was empty from then on, and git showed the store.
#[test]
fn a_save_that_fails_leaves_no_half_gitignore() {
    let test = Test::new();
    test.write("state.json", "1");
    let mut limited = Command::new("sh");
    let script = format!("ulimit -f 0; exec {} save state.json", env!("CARGO_BIN_EXE_waypost"));
    limited.args(["-c", &script]).current_dir(test.path()).env_remove("WAYPOST_STORE");
    assert!(!limited.output().unwrap().status.success());
    let ignore = test.path().join(".waypost/.gitignore");
    assert!(!ignore.exists());
    test.run("save state.json").done();
    assert_eq!(fs::read_to_string(&ignore).unwrap(), "*\n");
    // The user removed it on purpose.
    fs::remove_file(&ignore).unwrap();
    test.run("save state.json").done();
    assert!(!ignore.exists());
}

/// Not even root can make a directory there.
#[cfg(target_os = "linux")]
#[test]
fn a_directory_that_cannot_be_written_is_refused() {
    let stderr = Test::new().run("init /proc/self").failed(4);
    assert!(stderr.starts_with("error: no store can be made in /proc/"), "{stderr}");
    assert!(stderr.ends_with("or a file with --store\n"), "{stderr}");
}

/// The first save in a subdirectory made a store there, which no other directory saw.
#[test]
fn in_a_subdirectory_of_a_repository_the_store_is_at_its_root() {
    needs!("git");
    for command in ["init --quiet", "save --quiet"] {
        let test = Test::new();
        test.git("init -q");
        fs::create_dir_all(test.path().join("crates/core")).unwrap();
        test.run_in("crates/core", command, "1").done();
        assert!(test.path().join(".waypost/store.redb").exists(), "{command}");
        assert!(!test.path().join("crates/core/.waypost").exists(), "{command}");
        fs::create_dir(test.path().join("crates/.git")).unwrap();
        test.run_in("crates/core", "init --quiet", "").done();
        assert!(test.path().join("crates/.waypost/store.redb").exists(), "a root of its own");
    }
    let test = Test::new();
    test.git("init -q");
    fs::create_dir(test.path().join("below")).unwrap();
    let saved = test.run_in("below", "save", "1");
    assert!(saved.stderr.starts_with("the store of this repository is "), "{}", saved.stderr);
}

#[test]
fn a_store_that_is_encrypted_says_so() {
    let test = Test::new();
    test.run("key k --quiet").done();
    let made = test.run("init --key-file k --quiet").done();
    assert!(made.contains(": documents and captured files are encrypted\n"), "{made}");
    assert!(test.outcome("init --key-file k --json")["key"].is_string());
    assert!(Test::new().outcome("init --json")["key"].is_null());
}

/// They failed, since the store takes no document without its key.
#[test]
fn the_commands_to_type_next_name_the_key() {
    let test = Test::new();
    test.run("key k --quiet").done();
    let made = test.run("init --key-file k").done();
    let next = format!("\n  waypost --key-file {}/k resume 42\n", test.path().display());
    assert!(made.contains(&next), "{made}");
}

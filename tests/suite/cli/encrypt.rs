//! Keys on the command line: where they come from, and what is said without them.

use std::fmt::Write as _;
use std::fs;
use std::ops::ControlFlow;
use std::thread;
use std::time::Duration;

use waypost::{Options, SecretKey, Store};

use super::{Ended, Test};

const SECRET: &str = "xyzzy-plugh";

/// A store that is encrypted with the key in `store.key`.
fn encrypted() -> (Test, String) {
    let test = Test::new();
    let id = test.run("key store.key").done().trim().to_owned();
    test.feed("save --id a --key-file store.key", &format!("{SECRET:?}")).done();
    (test, id)
}

#[test]
fn without_the_key_a_store_can_be_listed_and_the_user_is_told_what_to_do() {
    let (test, id) = encrypted();
    assert!(test.run("list").done().contains('a'));
    assert!(test.run("stats").done().contains(&id));
    insta::assert_snapshot!(test.run("show a").failed(4).replace(&id, "[KEY]"), @"
    error: checkpoint a is encrypted with key [KEY], and no key was given
    hint: give its key with --key-file; `waypost list` needs none
    ");
    test.run("key other.key").done();
    let told = test.run("show a --key-file other.key --json").failed(4);
    assert!(told.contains("\"code\":\"key\"") && told.contains("is a different one"), "{told}");
    for args in ["latest", "save", "export --jsonl -", "fork a --series b", "diff a a"] {
        let Ended { code, stderr, .. } = test.feed(args, "1");
        assert_eq!(code, Some(4), "{args}: {stderr}");
        assert!(stderr.contains(&id) && !stderr.contains("damaged"), "{args}: {stderr}");
    }
}

#[test]
fn a_key_comes_from_a_file_or_from_the_environment() {
    let (test, _) = encrypted();
    assert_eq!(test.run("show a --document --key-file store.key").done(), format!("{SECRET:?}\n"));
    let key = fs::read_to_string(test.path().join("store.key")).unwrap();
    for (name, value) in [("WAYPOST_KEY", key.trim()), ("WAYPOST_KEY_FILE", "store.key")] {
        let child = test.command("show a --document").env(name, value).spawn().unwrap();
        assert!(test.ended(child).done().contains(SECRET), "{name}");
    }
    test.write(".waypost/config.yaml", "checkpoint:\n  storage: {key_file: store.key}\n");
    assert!(test.run("show a --document").done().contains(SECRET), "by the config");
    let child = test.command("show a").env("WAYPOST_KEY", "secret").spawn().unwrap();
    let told = test.ended(child).failed(4);
    assert!(told.contains("WAYPOST_KEY: invalid key: not 32 bytes"), "{told}");
    assert!(test.run("show a --key-file missing").failed(1).contains("cannot read missing"));
    assert!(test.run("show a --key-file .waypost").failed(1).contains("cannot read .waypost"));
    test.write("text", "a text of any kind");
    let told = test.run("list --key-file text").failed(4);
    assert!(told.contains("error: text, named by --key-file: invalid key: "), "{told}");
}

/// It kept lists from working, which take no key.
#[test]
fn a_key_that_is_lost_is_missed_only_where_it_is_needed() {
    let (test, id) = encrypted();
    test.write(".waypost/config.yaml", "checkpoint:\n  storage:\n    key_file: gone.key\n");
    let Ended { code, stderr, .. } = test.run("list");
    assert_eq!(code, Some(0), "{stderr}");
    let lost = "cannot read [HERE]/gone.key, named by key_file in the config of the project: ";
    assert!(stderr.starts_with(&format!("warning: {lost}")), "{stderr}");
    assert_eq!(test.run("verify").code, Some(0));
    assert!(test.run("show a").failed(4).contains(&id));
    assert!(test.feed("save", "1").failed(1).contains(lost));
    // A new store is not made without the key that it was to have.
    fs::remove_file(test.path().join(".waypost/store.redb")).unwrap();
    test.feed("save", "1").failed(1);
    assert!(!test.path().join(".waypost/store.redb").exists());
    let child = test.command("list").env("WAYPOST_KEY_FILE", "none").spawn().unwrap();
    assert!(test.ended(child).failed(1).contains("cannot read none, named by WAYPOST_KEY_FILE"));
}

/// What should have been encrypted, and was not, cannot be made good again.
#[test]
fn no_store_is_made_while_the_config_that_may_name_its_key_cannot_be_read() {
    let test = Test::new();
    test.run("key store.key").done();
    fs::create_dir(test.path().join(".waypost")).unwrap();
    test.write(".waypost/config.yaml", "checkpoint:\n  storage: {key_file: store.key\n");
    test.write("1.json", "1");
    for args in ["save", "import 1.json", "policy set last-5"] {
        let told = test.feed(args, "1").failed(4);
        assert!(told.contains("no store is made: its config may name a key"), "{args}: {told}");
        assert!(told.contains(".waypost/config.yaml"), "{args}: {told}");
        assert!(!test.path().join(".waypost/store.redb").exists(), "{args}");
    }
    fs::remove_file(test.path().join(".waypost/config.yaml")).unwrap();
    for name in ["WAYPOST_KEY", "WAYPOST_KEY_FILE"] {
        let child = test.command("import 1.json").env(name, "").spawn().unwrap();
        assert!(test.ended(child).failed(4).contains(&format!("{name} is set, and empty")));
    }
    test.write(".waypost/config.yaml", "checkpoint:\n  storage: {key_file: store.key}\n");
    test.feed("save --id a", "1").done();
    fs::remove_file(test.path().join(".waypost/config.yaml")).unwrap();
    assert!(test.run("show a").failed(4).contains("no key was given"));
}

#[test]
fn a_key_file_is_private_and_never_replaced() {
    let (test, id) = encrypted();
    let before = fs::read(test.path().join("store.key")).unwrap();
    assert!(test.run("key store.key").failed(4).contains("the only copy"));
    assert_eq!(fs::read(test.path().join("store.key")).unwrap(), before);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let path = test.path().join("store.key");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let Ended { code, stderr, .. } = test.run("list --key-file store.key");
        assert_eq!(code, Some(0));
        assert_eq!(stderr, "warning: others can read the key: chmod go-rwx store.key\n");
    }
    assert_eq!(id.len(), 16);
}

#[test]
fn a_store_is_encrypted_gets_another_key_and_is_decrypted() {
    let test = Test::new();
    test.feed("save --id a", &format!("{SECRET:?}")).done();
    test.run("key one.key").done();
    test.run("key two.key").done();
    let told = test.feed("save --key-file one.key", "1").failed(4);
    assert!(told.contains("the store is not encrypted"), "{told}");
    let show = |flags: &str| test.run(&format!("show a --document {flags}"));
    let ended = test.run("rekey --new-key-file one.key");
    let id = ended.stdout.lines().next().unwrap().strip_prefix("key        ").unwrap().to_owned();
    assert!(test.run("stats").done().contains(&id));
    assert!(ended.stdout.contains("next       waypost compact"), "{}", ended.stdout);
    assert!(show("--key-file one.key").done().contains(SECRET));
    show("").failed(4);
    test.run("rekey --new-key-file two.key").failed(4);
    test.run("rekey --new-key-file two.key --key-file one.key").done();
    show("--key-file one.key").failed(4);
    assert!(show("--key-file one.key --key-file two.key").done().contains(SECRET));
    test.run("rekey --plain").failed(4);
    let told = test.run("rekey --plain --key-file two.key").done();
    assert!(told.starts_with("key        none: not encrypted\n"), "{told}");
    assert!(show("").done().contains(SECRET));
    assert!(test.run("log --operations").done().contains("rekey"));
    let told = test.run("rekey").failed(2);
    assert!(told.contains("--new-key-file") && told.contains("--plain"), "{told}");
}

/// Whatever it has done until then, both keys together read everything, and it goes on.
#[test]
fn a_key_that_is_changed_by_a_command_that_is_killed_loses_nothing() {
    // More than one transaction.
    const COUNT: usize = 1_200;
    const DELAYS: [u64; 3] = [5, 40, 120];
    const TRIES_MAX: usize = 100;
    let test = Test::new();
    let mut lines = String::new();
    for at in 0..COUNT {
        writeln!(lines, "{{\"{at}\": {SECRET:?}}}").unwrap();
    }
    test.run("key one.key").done();
    test.run("key two.key").done();
    test.feed("save --lines --key-file one.key", &lines).done();
    let is_whole = |flags: &str| {
        let dump = test.run(&format!("export --jsonl - --quiet {flags}"));
        assert_eq!((dump.code, dump.stderr), (Some(0), String::new()));
        assert_eq!(dump.stdout.matches(SECRET).count(), COUNT);
    };
    let rekey = "rekey --new-key-file two.key --key-file one.key --json";
    let back = "rekey --new-key-file one.key --key-file two.key --quiet";
    let (mut killed, mut tries) = (0, 0);
    while tries < DELAYS.len() || killed == 0 {
        assert!(tries < TRIES_MAX, "none was killed");
        let mut child = test.spawn(rekey);
        thread::sleep(Duration::from_millis(DELAYS[tries % DELAYS.len()]));
        child.kill().unwrap();
        let is_killed = child.wait().unwrap().code().is_none();
        is_whole("--key-file one.key --key-file two.key");
        if !is_killed {
            // It was done before, on a machine that is busy.
            test.run(back).done();
        }
        killed += u32::from(is_killed);
        tries += 1;
    }
    test.run(rekey).done();
    is_whole("--key-file two.key");
}

/// It was reported as damage, with the advice to repair the store.
#[test]
fn a_rekey_that_was_interrupted_is_no_damage_for_verify() {
    let (test, _) = encrypted();
    test.run("key two.key").done();
    let path = test.path().join(".waypost/store.redb");
    let key = |name: &str| {
        let read = fs::read_to_string(test.path().join(name)).unwrap();
        read.trim().parse::<SecretKey>().unwrap()
    };
    let keys = vec![key("store.key"), key("two.key")];
    let to = keys[1].id();
    let store = Store::open_with(&path, Options { keys, ..Options::default() }).unwrap();
    store.rekey_with(Some(to), &mut |_| ControlFlow::Break(())).unwrap();
    store.close().unwrap();
    let both = "--key-file store.key --key-file two.key";
    let told = test.run(&format!("verify {both}")).done();
    assert!(told.contains("rekey        unfinished"), "{told}");
    assert!(told.contains("waypost rekey again") && told.contains("findings     none"), "{told}");
    let told = test.run(&format!("verify --json {both}")).done();
    assert!(told.contains("\"is_rekeying\":true,"), "{told}");
    test.run(&format!("rekey --new-key-file two.key {both}")).done();
    assert!(!test.run("verify --key-file two.key").done().contains("rekey"));
}

#[test]
fn without_the_key_a_store_is_verified_in_part_copied_and_not_repaired() {
    let (test, id) = encrypted();
    let told = test.run("verify").done();
    assert!(told.contains("1, encrypted: see --key-file"), "{told}");
    assert!(!test.run("verify --key-file store.key").done().contains("encrypted"));
    test.run("backup copy.redb").done();
    let told = test.run("show a --document --store copy.redb --key-file store.key").done();
    assert!(told.contains(SECRET));
    for args in ["repair", "repair --dry-run", "repair --into new.redb"] {
        let told = test.run(args).failed(4);
        assert!(told.contains(&id) && told.contains("--key-file"), "{args}: {told}");
    }
    assert!(!test.path().join("new.redb").exists());
    test.run("repair --into new.redb --key-file store.key").done();
    let told = test.run("show a --store new.redb").failed(4);
    assert!(told.contains(&id), "{told}");
}

#[test]
fn what_lies_beside_a_store_and_keeps_its_old_key_is_named() {
    let (test, _) = encrypted();
    let store = test.path().join(".waypost/store.redb");
    let beside = |end: &str| store.with_file_name(format!("store.redb{end}"));
    assert!(!test.run("rekey --plain --key-file store.key").stderr.contains("was not changed"));
    fs::create_dir_all(beside(".spool").join("aside")).unwrap();
    let left = [beside(".damaged-1"), beside(".journal.1"), beside(".spool").join("aside/1")];
    for path in &left {
        fs::write(path, "1").unwrap();
    }
    let Ended { code, stderr, .. } = test.run("rekey --new-key-file store.key");
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(stderr.matches("was not changed").count(), 3, "{stderr}");
    for name in [".damaged-1", ".journal.1", "aside"] {
        assert!(stderr.contains(name), "{stderr}");
    }
}

//! `waypost doctor`: what is found, what is advised, how it ends, and that nothing changes.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use waypost::options::Hold;
use waypost::{NewEntry, Options, Store};

use super::import::project;
use super::{Ended, Test};

const STORE: &str = ".waypost/store.redb";

/// What became of the checks.
struct Told(Value);

impl Told {
    fn of(ended: &Ended) -> Self {
        Self(serde_json::from_str(&ended.stdout).expect("an object"))
    }

    /// The status of a check, and all that is said about it.
    #[track_caller]
    fn check(&self, name: &str) -> (&str, String) {
        let checks = self.0["checks"].as_array().expect("checks");
        let check = checks.iter().find(|check| check["name"] == name);
        let check = check.unwrap_or_else(|| panic!("no {name} in {}", self.0));
        let text = |key: &str| check[key].as_str().unwrap_or_default().to_owned();
        (check["status"].as_str().expect("a status"), text("finding") + " -> " + &text("advice"))
    }

    #[track_caller]
    fn has(&self, name: &str, status: &str, part: &str) {
        let (found, text) = self.check(name);
        assert_eq!(found, status, "{text}");
        assert!(text.contains(part), "{text}");
    }
}

impl Test {
    /// Runs all checks, which must end with `code` and change no file.
    #[track_caller]
    fn doctor(&self, args: &str, code: i32) -> Told {
        let before = self.all_files();
        let ended = self.run(&format!("doctor --json {args}"));
        assert_eq!(ended.code, Some(code), "{}{}", ended.stdout, ended.stderr);
        assert!(self.all_files() == before, "something was changed");
        Told::of(&ended)
    }

    /// All that lies in the directory and in that of the store.
    fn all_files(&self) -> Vec<(std::path::PathBuf, Option<Vec<u8>>)> {
        let list = |path: &str| fs::read_dir(self.path().join(path)).into_iter().flatten();
        let entries = list(".").chain(list(".waypost")).map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = entries.map(|path| (path.clone(), fs::read(path).ok())).collect();
        files.sort();
        files
    }
}

fn forever() -> Options {
    Options { hold: Hold::Forever, label: "the loop".to_owned(), ..Options::default() }
}

#[test]
fn a_store_that_is_gone_from_beside_its_saves_is_told() {
    let test = Test::new();
    fs::create_dir_all(test.path().join(".waypost/store.redb.spool")).unwrap();
    test.doctor("", 0).has("store", "ok", "none yet");
    test.write(".waypost/store.redb.journal", "of a store that is gone");
    test.doctor("", 0).has("store", "warn", "saves of it may lie beside it");
}

#[test]
fn no_store_yet_is_not_bad() {
    let test = Test::new();
    let told = test.doctor("", 0);
    told.has("store", "ok", "the place of one to be made: none yet -> waypost init");
    told.has("config", "ok", "no config file");
    told.has("policy", "ok", "waypost policy set aiwg");
    told.has("files", "ok", "nothing to import");
    told.has("versions", "ok", env!("CARGO_PKG_VERSION"));
    assert_eq!(fs::read_dir(test.path()).unwrap().count(), 0);
}

#[test]
fn a_store_in_good_order_is_told_line_by_line() {
    needs!("git");
    let test = Test::filled();
    test.git("init -q");
    test.run("policy set crunch --quiet").done();
    let shown = test.shown("doctor");
    let of = |name: &str| {
        let line = shown.lines().find(|line| line.split_whitespace().nth(1) == Some(name));
        line.unwrap_or_else(|| panic!("no {name} in {shown}")).to_owned()
    };
    let store = of("store");
    assert!(store.starts_with("ok    store     [HERE]/.waypost/store.redb, in this directory: "));
    assert!(
        store.ends_with(", format 1, checkpoints: 3, the newest in more than 99 years"),
        "{store}"
    );
    assert!(of("versions").ends_with(
        "reads formats 1 to 4; 2 is for encrypted stores, 3 for stores with dates that lag behind \
         the order, 4 for stores with imported files"
    ));
    assert_eq!(of("key"), "ok    key       the store is not encrypted");
    assert!(shown.contains("-> documents are not read here: waypost verify"), "{shown}");
    assert_eq!(of("lock"), "ok    lock      no other process has the store");
    assert!(of("disk").contains("a durable write of 4 KiB takes "));
    assert_eq!(of("git"), "ok    git       ignores the store");
    assert_eq!(of("policy"), "ok    policy    crunch, from the store");
    assert!(!shown.contains("\nbad") && !shown.contains('\u{1b}'), "{shown}");
    assert!(test.run("doctor --color always").done().contains('\u{1b}'));
    test.run("delete b-1 --quiet").done();
    test.doctor("", 0).has("store", "ok", "1 were deleted -> waypost compact frees ");
}

#[test]
fn it_is_told_why_this_store_counts() {
    let test = Test::filled();
    test.doctor(&format!("--store {STORE}"), 0).has("store", "ok", "named by --store: ");
    let ended = |mut command: std::process::Command| {
        Told::of(&test.ended(command.spawn().expect("the command starts")))
    };
    let mut command = test.command("doctor --json");
    command.env("WAYPOST_STORE", test.path().join(STORE));
    ended(command).has("store", "ok", "named by WAYPOST_STORE: ");
    fs::create_dir(test.path().join("below")).unwrap();
    let mut command = test.command("doctor --json");
    command.current_dir(test.path().join("below"));
    ended(command).has("store", "ok", "in a directory above: ");
}

#[test]
fn a_process_that_keeps_the_store_is_named_and_all_else_is_checked() {
    let test = Test::filled();
    let store = Store::open_with(test.path().join(STORE), forever()).unwrap();
    let told = test.doctor("--wait 0", 0);
    let holder = format!("process {} (the loop) has the store for ", std::process::id());
    told.has("lock", "warn", &holder);
    told.has("policy", "ok", "unknown");
    told.has("files", "ok", "nothing to import");
    // The first goes straight into the tables.
    store.save(NewEntry::default(), &1).unwrap();
    store.save(NewEntry::default(), &2).unwrap();
    test.doctor("--wait 0", 0).has("journal", "ok", "of the process that has the store");
    drop(store);
    // A process that another test starts has a copy of its locks for a moment.
    let is_free = |_| test.doctor("", 0).check("lock").1.starts_with("no other process");
    assert!((0..100).any(is_free));
}

#[cfg(unix)]
#[test]
fn saves_beside_a_store_that_is_held_are_told_and_so_is_what_cannot_be_taken_in() {
    let test = Test::filled();
    // Takes nothing in, as a process that hangs.
    let held = redb::Database::open(test.path().join(STORE)).unwrap();
    let id = test.feed("save", "[1, 2, 3]").done();
    let told = test.feed("save --json", "4").done();
    assert_eq!(serde_json::from_str::<Value>(&told).unwrap()["sequence"], 0);
    test.doctor("--wait 0", 0).has("spool", "ok", "2 saves wait beside the store, ");
    let folder = test.path().join(format!("{STORE}.spool"));
    drop(held);
    test.doctor("", 0).has("spool", "ok", "do not remove them");
    let shown = test.run(&format!("show {} --json", id.trim())).done();
    assert_eq!(serde_json::from_str::<Value>(&shown).unwrap()["document"], json!([1, 2, 3]));
    let damaged = folder.join("0190f2e0-0000-7000-8000-000000000001.save");
    fs::write(&damaged, "not a save").unwrap();
    let ended = test.run("stats");
    assert!(ended.stdout.contains("set aside    1\n"), "{}", ended.stdout);
    let aside = format!("[HERE]/{STORE}.spool/aside/0190f2e0-0000-7000-8000-000000000001.save");
    let warning =
        format!("warning: a file was set aside as {aside}: not a file of a spool, or cut short\n");
    assert_eq!(ended.stderr, warning);
    let stats: Value = serde_json::from_str(&test.run("stats --json").done()).unwrap();
    assert_eq!(stats["spool"]["set_aside"], 1);
    assert_eq!(stats["checkpoints"], 5);
    test.doctor("", 0).has(
        "spool",
        "warn",
        "1 file was set aside as damaged or of another store ->",
    );
    fs::write(&damaged, "not a save").unwrap();
    fs::write(folder.join("notes.txt"), "").unwrap();
    let held = redb::Database::open(test.path().join(STORE)).unwrap();
    test.feed("save", "5").done();
    drop(held);
    let told = test.doctor("", 0);
    for part in
        ["1 save waits", "1 file is damaged", "1 file was set aside", "1 thing is not its own"]
    {
        told.has("spool", "warn", part);
    }
}

/// A copy of the files of a store in use is what a process that is killed leaves behind.
#[test]
fn what_a_kill_left_is_told_and_not_repaired() {
    let test = Test::new();
    let place = Test::new();
    let store = Store::open_with(place.path().join("store.redb"), forever()).unwrap();
    store.save(NewEntry::default(), &1).unwrap();
    store.save(NewEntry::default(), &2).unwrap();
    for name in ["store.redb", "store.redb.journal"] {
        test.put(&format!(".waypost/{name}"), fs::read(place.path().join(name)).unwrap());
    }
    let told = test.doctor("", 0);
    told.has("store", "warn", "not closed, as after a crash");
    told.has("journal", "warn", "do not remove it");
    test.run("stats").done();
    test.doctor("", 0).has("store", "warn", "not closed, as after a crash");
    test.run("tag latest kept").done();
    test.doctor("", 0).has("store", "ok", "checkpoints: 2");
}

/// `doctor` reported such a lock file as good, or the store could not be opened.
#[test]
fn an_unusable_lock_file_is_reported_with_what_to_type() {
    let test = Test::filled();
    test.write(&format!("{STORE}.lock"), "\0\0\0\0");
    test.doctor("", 0).has("lock-file", "ok", "is damaged, as after a power cut");
    test.write(&format!("{STORE}.lock"), "my notes");
    let told = test.doctor("", 0);
    told.has("lock", "ok", "no other process has the store");
    told.has("lock-file", "warn", "store.redb.lock holds content that waypost did not write");
    told.has("lock-file", "warn", "store.redb.lock.old");
    assert_eq!(test.run("list").code, Some(0));
}

/// No command could open the store, and `doctor` found nothing wrong. It took a link in the place
/// of the journal for saves that a crash left.
#[test]
fn what_is_in_the_place_of_the_lock_file_or_the_journal_is_bad() {
    let places = [("lock-file", "lock", "change"), ("journal", "journal", "use")];
    for (name, suffix, verb) in places {
        for store in [Test::filled(), Test::new()] {
            let path = store.path().join(format!("{STORE}.{suffix}"));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let _ = fs::remove_file(&path);
            symlink("nowhere", &path).unwrap();
            let told = store.doctor("", 1);
            let no_file = "is a symbolic link, not a regular file: no command can";
            told.has(name, "bad", &format!("{no_file} {verb} the store"));
            told.has(name, "bad", &format!("mv {0} {0}.aside", path.display()));
            assert_ne!(store.run("compact").code, Some(0));
        }
    }
    let test = Test::filled();
    let path = test.path().join(format!("{STORE}.lock"));
    fs::hard_link(&path, test.path().join("other")).unwrap();
    test.doctor("", 1).has("lock-file", "bad", "is a file with 2 names: no command can change");
    assert_ne!(test.run("compact").code, Some(0));
    test.run("list").done();
}

#[test]
fn damage_has_its_own_exit_code() {
    let test = Test::filled();
    test.damage("build");
    let told = test.doctor("", 5);
    told.has("store", "bad", "checkpoints: 3");
    told.has("store", "bad", "2 damaged, the first: damaged data in name ");
    assert_eq!(told.0["damaged"], true);
    let stderr = test.run("doctor").stderr;
    assert!(stderr.starts_with("error: 1 of "), "{stderr}");
}

/// The advice was to move it away, and `repair` would have saved all of it.
#[test]
fn a_store_whose_start_is_damaged_is_no_file_of_another_kind() {
    let whole = fs::read(Test::filled().path().join(STORE)).unwrap();
    for at in 0..9 {
        let test = Test::new();
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        test.put(STORE, &bytes);
        let told = test.doctor("", 5);
        told.has("store", "bad", "it was a store, and now");
        told.has("store", "bad", "-> waypost repair saves");
        assert!(test.run("list").failed(5).contains("waypost repair"));
        if at == 3 {
            test.run("repair").done();
            assert_eq!(test.run("list --json").done().lines().count(), 3);
        }
    }
    // Nothing of its start is left, but a store was opened here.
    let test = Test::filled();
    let mut bytes = whole;
    bytes[..4096].fill(0);
    test.put(STORE, &bytes);
    assert_eq!(test.doctor("", 5).0["damaged"], true);
}

/// It was reported as not closed, and the next command failed.
#[test]
fn a_store_that_was_cut_is_damaged() {
    let test = Test::filled();
    let whole = fs::read(test.path().join(STORE)).unwrap();
    for length in [whole.len() - 1, whole.len() / 2, 4096, 400] {
        test.put(STORE, &whole[..length]);
        let told = test.doctor("", 5);
        assert_eq!(told.check("store").0, "bad", "{length}");
        assert_eq!(test.run("verify").code, Some(5), "{length}");
    }
}

#[test]
fn keys_are_told_and_whether_they_fit() {
    let test = Test::new();
    let id = test.run("key store.key").done().trim().to_owned();
    test.run("key other.key").done();
    test.feed("save --key-file store.key --quiet", "1").done();
    let has = format!("encrypted with key {id}");
    test.doctor("", 0).has("key", "warn", &format!("{has}, and none is given"));
    test.doctor("--key-file store.key", 0).has("key", "ok", &format!("{has}, given by store.key"));
    test.doctor("--key-file other.key", 1).has("key", "bad", &format!("{has}, and another is"));
    let told = test.doctor("--key-file none.key", 1);
    told.has("key", "bad", "cannot read none.key, named by --key-file");
    test.write(".waypost/config.yaml", "checkpoint:\n  storage:\n    key_file: gone.key\n");
    let told = test.doctor("", 1);
    told.has("config", "ok", "is valid");
    told.has("key", "bad", "gone.key, named by key_file in the config of the project");
}

#[cfg(target_os = "linux")]
#[test]
fn a_holder_that_is_stopped_is_told_with_what_ends_it() {
    let test = Test::filled();
    let mut child = test.spawn("save --lines");
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = std::io::BufReader::new(child.stdout.take().unwrap());
    std::io::Write::write_all(&mut stdin, b"1\n").unwrap();
    std::io::BufRead::read_line(&mut stdout, &mut String::new()).unwrap();
    let signal = |name: &str| {
        let id = child.id().to_string();
        assert!(std::process::Command::new("kill").args([name, &id]).status().unwrap().success());
    };
    signal("-STOP");
    // Until the system has done so.
    let stat = format!("/proc/{}/stat", child.id());
    while !fs::read_to_string(&stat).unwrap().contains(") T ") {}
    let advice = format!("`kill -CONT {0}` lets it go on, `kill -9 {0}` ends it", child.id());
    test.doctor("--wait 0", 0).has("lock", "warn", &advice);
    test.run("list --wait 0").done();
    assert!(test.run("compact --wait 0").failed(6).contains(&advice));
    signal("-CONT");
    drop(stdin);
    child.wait().unwrap();
}

#[test]
fn what_is_no_store_is_bad_but_no_damage() {
    let test = Test::new();
    test.put(STORE, "not a store, but long enough to be taken for one\n".repeat(100));
    let told = test.doctor("", 1);
    told.has("store", "bad", "not a waypost store: ");
    assert_eq!(told.0["damaged"], false);
    test.doctor("--store .", 1).has("store", "bad", "it is a directory");
}

#[test]
fn a_config_that_cannot_be_read_is_bad() {
    let test = Test::filled();
    test.write(".waypost/config.yaml", "retention:\n  max_age: [\n");
    test.doctor("", 1).has("config", "bad", "line ");
    test.write(".waypost/config.yaml", &test.run("policy example").done());
    let told = test.doctor("", 0);
    told.has("config", "ok", "config.yaml is valid");
    told.has("policy", "ok", "config.yaml");
}

#[cfg(unix)]
#[test]
fn files_that_others_can_read_are_told_with_what_to_type() {
    use std::os::unix::fs::PermissionsExt as _;
    let test = Test::filled();
    test.doctor("", 0).has("modes", "ok", "only you");
    let set = |name: &str, mode| {
        fs::set_permissions(test.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    set(STORE, 0o644);
    set(".waypost", 0o755);
    let told = test.doctor("", 0);
    let here = test.path().display().to_string();
    told.has("modes", "warn", &format!("-> chmod go-rwx {here}/{STORE} {here}/.waypost"));
}

/// `chmod` was advised for a link, which follows it and changes what belongs to the user.
#[cfg(unix)]
#[test]
fn what_lies_in_the_place_of_the_spool_is_named_and_no_link_is_to_be_changed() {
    use std::os::unix::fs::symlink;
    let test = Test::filled();
    let spool = test.path().join(format!("{STORE}.spool"));
    fs::create_dir(test.path().join("mine")).unwrap();
    let _ = fs::remove_dir(&spool);
    symlink("../mine", &spool).unwrap();
    let told = test.doctor("", 0);
    told.has("spool", "warn", "is a symbolic link, and no directory: saves wait");
    let path = spool.display();
    told.has("spool", "warn", &format!("-> move it away: mv {path} {path}.aside"));
    told.has("modes", "ok", "only you");
    let saved = test.feed("save", "6");
    let path = format!("[HERE]/{STORE}.spool");
    let warning = format!(
        "warning: cannot access {path}: it is a symbolic link, and no directory, so no save can \
         be spooled; move it away: mv {path} {path}.aside\n"
    );
    assert_eq!((saved.code, saved.stderr), (Some(0), warning));
    assert!(!saved.stdout.is_empty());
}

#[test]
fn git_is_asked_whether_it_would_commit_the_store() {
    needs!("git");
    let test = Test::filled();
    test.doctor("", 0).has("git", "ok", "no repository here");
    test.git("init -q");
    fs::remove_file(test.path().join(".waypost/.gitignore")).unwrap();
    test.doctor("", 0).has("git", "warn", "does not ignore the store -> echo '*' > ");
    test.git("add .waypost/store.redb");
    test.doctor("", 0).has("git", "warn", "rm --cached -f store.redb");
    let mut command = test.command("doctor --json");
    command.env("PATH", test.path());
    let told = Told::of(&test.ended(command.spawn().expect("the command starts")));
    told.has("git", "ok", "not asked: git is not installed");
}

#[test]
fn files_of_other_systems_count_until_they_are_imported() {
    let test = project();
    let told = test.doctor("", 0);
    told.has("files", "warn", "not imported yet: 1 agentize in .tmp, 1 crunch in ");
    told.has("files", "warn", "-> waypost import .");
    told.has("policy", "ok", "waypost policy set crunch");
    test.run("import .claude --quiet").done();
    test.doctor("", 0).has("files", "warn", "1 agentize in .tmp, 2 pipeline in .pipeline, 1 aiwg");
    test.run("import . --quiet").done();
    // What was deleted stays so, and is not to be imported again.
    test.run("delete latest --quiet").done();
    test.doctor("", 0).has("files", "ok", "nothing to import");
}

/// Files that an export had written of native checkpoints counted as files to import.
#[test]
fn our_own_exports_are_not_files_to_import() {
    let test = Test::filled();
    test.run("export project --quiet").done();
    test.doctor("", 0).has("files", "ok", "nothing to import");
    // For another store they count.
    fs::remove_dir_all(test.path().join(".waypost")).unwrap();
    test.feed("save --id other", "1").done();
    test.doctor("", 0).has("files", "warn", "not imported yet");
}

//! Files of the command are private to their owner.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::Test;

/// Makes one of everything. What the script makes itself has modes of its own.
const SCRIPT: &str = r#"
set -e
mkdir -m 750 src in in/.pipeline
echo '{"iteration": 1}' > state.json; echo one > src/a; cp "$STATE" in/.pipeline/state.json
chmod 640 state.json src/a in/.pipeline/state.json
waypost init > /dev/null
waypost save state.json --id a --capture src > /dev/null
echo two > src/a
waypost restore a --into . --force --state said.json
echo '{}' > said.json
waypost restore a --into . --force --state said.json
waypost --store other.redb save state.json > /dev/null
waypost import in > /dev/null
waypost export --jsonl all.jsonl
waypost export out
waypost export archive --layout native --gzip || test $? = 7
"#;

/// The command, or a script that runs it, under a umask.
fn under(umask: &str, test: &Test, script: &str) -> Command {
    let binary = Path::new(env!("CARGO_BIN_EXE_waypost")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command.args(["-c", &format!("umask {umask}; {script}")]).current_dir(test.path());
    let state = "/tests/fixtures/layouts/pipeline/state.json";
    command.env("STATE", env!("CARGO_MANIFEST_DIR").to_owned() + state);
    command.env("PATH", path).env_remove("WAYPOST_STORE");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// All that is below a directory, with its mode, but for what goes meanwhile.
fn below(directory: &Path) -> Vec<(PathBuf, u32)> {
    let mut found = Vec::new();
    for path in fs::read_dir(directory).into_iter().flatten().map(|entry| entry.unwrap().path()) {
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        if metadata.is_dir() {
            found.extend(below(&path));
        }
        found.push((path, metadata.permissions().mode() & 0o777));
    }
    found
}

/// The same as lines that are alike in every run.
fn listed(directory: &Path) -> String {
    let line = |(path, mode): (PathBuf, u32)| {
        let path = path.strip_prefix(directory).unwrap().display().to_string();
        let end = if directory.join(&path).is_dir() { "/" } else { "" };
        // Times and ids that the store makes have many digits.
        let part = |part: &str| match part.bytes().filter(u8::is_ascii_digit).count() {
            0..=4 => part.to_owned(),
            _ => part.split(|it: char| it.is_ascii_digit()).next().unwrap().to_owned() + "...",
        };
        let parts: Vec<String> = path.split('/').map(part).collect();
        format!("{mode:o} {}{end}", parts.join("/"))
    };
    let mut lines: Vec<String> = below(directory).into_iter().map(line).collect();
    lines.sort_by(|one, other| one[4..].cmp(&other[4..]));
    lines.join("\n")
}

fn made_under(umask: &str) -> String {
    let test = Test::new();
    let ended = under(umask, &test, SCRIPT).output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    listed(&test.path())
}

/// What came from a file has the mode of that file, and never a wider one. The directories of an
/// export are as wide as the user wants directories to be.
#[test]
fn what_the_command_makes_is_for_its_owner_alone() {
    insta::assert_snapshot!(made_under("022"), @"
    700 .waypost/
    600 .waypost/.gitignore
    700 .waypost/replaced/
    755 .waypost/replaced/.../
    755 .waypost/replaced/.../src/
    640 .waypost/replaced/.../src/a
    600 .waypost/store.redb
    600 .waypost/store.redb.lock
    600 all.jsonl
    755 archive/
    755 archive/native/
    755 archive/native/default/
    600 archive/native/default/a.json.gz
    755 archive/native/in%.../
    600 archive/native/in%.../pipeline-...
    750 in/
    750 in/.pipeline/
    640 in/.pipeline/state.json
    600 other.redb
    600 other.redb.lock
    755 out/
    755 out/in/
    755 out/in/.pipeline/
    640 out/in/.pipeline/state.json
    755 out/native/
    755 out/native/default/
    600 out/native/default/a.json
    600 said.json
    600 said.json.replaced-...
    750 src/
    640 src/a
    640 state.json
    ");
}

#[test]
fn a_stricter_umask_is_respected() {
    let strict = made_under("077");
    for line in strict.lines().filter(|line| line.ends_with('/')) {
        let is_own = line.contains("src/") || line.contains("in/");
        assert!(line.starts_with("700 ") || is_own, "{line}");
    }
    let by_022 = made_under("022");
    let files = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.ends_with('/')).map(str::to_owned).collect()
    };
    // An export respects it, too, whatever mode a file had when it was imported.
    let by_022 = by_022.replace("640 out/", "600 out/");
    assert_eq!(files(&strict), files(&by_022));
}

/// Waits until something is true, and fails if it never is.
fn until(child: &mut Child, is_true: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_true() {
        assert_eq!(child.try_wait().unwrap().map(|status| status.code()), None, "it ended");
        assert!(start.elapsed() < Duration::from_mins(1), "it never came");
        thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn the_journal_is_for_its_owner_alone() {
    let test = Test::new();
    let mut child = under("000", &test, "exec waypost save --lines").spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let journal = test.path().join(".waypost/store.redb.journal");
    until(&mut child, || {
        (&input).write_all(b"{\"a\": 1}\n").unwrap();
        journal.exists()
    });
    for (path, mode) in below(&test.path()) {
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode, expected, "{}", path.display());
    }
    input.flush().unwrap();
    drop(input);
    assert!(child.wait_with_output().unwrap().status.success());
}

#[test]
fn what_is_measured_is_for_its_owner_alone() {
    let test = Test::new();
    let mut child = under("000", &test, "exec waypost bench --size 1k").spawn().unwrap();
    let is_there = |name: &str| below(&test.path()).iter().any(|(path, _)| path.ends_with(name));
    until(&mut child, || is_there("floor") && is_there("store.redb"));
    for (path, mode) in below(&test.path()) {
        let is_kept_out = path.parent() != Some(&test.path());
        assert!(is_kept_out || mode == 0o700, "{mode:o} {}", path.display());
        assert!(path.is_dir() || mode == 0o600, "{mode:o} {}", path.display());
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// An imported line could make an export write files that everybody could change.
#[test]
fn a_recorded_mode_is_limited_by_the_umask() {
    let test = Test::new();
    let line = |name: &str, mode: u32| {
        format!(r#"{{"document":1,"layout":"claude","source_path":"{name}","source_text":"1","#)
            + &format!(r#""source":{{"format":"json","mode":{mode}}}}}"#)
    };
    let lines = [("x/wide", 0o7777), ("data", 0o666), ("own", 0o700), ("read", 0o444)];
    let lines = lines.map(|(name, mode)| line(name, mode)).join("\n");
    test.feed("import - --quiet", &lines).done();
    let modes = |umask: &str, flags: &str, out: &str| {
        let script = format!("waypost export {out} --quiet {flags}");
        assert!(under(umask, &test, &script).output().unwrap().status.success());
        let mode = |name| fs::metadata(test.path().join(out).join(name)).unwrap().permissions();
        let names = [".", "x", "x/wide", "data", "own", "read"];
        names.map(|name| format!("{:o}", mode(name).mode() & 0o7777)).join(" ")
    };
    assert_eq!(modes("000", "", "a"), "755 755 755 644 700 444");
    assert_eq!(modes("022", "", "b"), "755 755 755 644 700 444");
    assert_eq!(modes("077", "", "c"), "700 700 700 600 700 400");
    assert_eq!(modes("077", "--recorded-modes", "d"), "700 700 777 666 700 444");
}

/// The limit of `ulimit -f` killed the process, which left half a store behind.
#[test]
fn a_limit_on_the_length_of_files_leaves_nothing_half_made() {
    let test = Test::new();
    // In blocks of 512 or 1,024 bytes, as the shell counts; a new store has 52 KiB.
    for blocks in [0, 1, 20, 50] {
        let script = format!("ulimit -f {blocks}; echo 1 | waypost save --issue 1");
        let ended = under("022", &test, &script).output().unwrap();
        let told = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(1), "{blocks}: {told}");
        assert!(told.contains("ulimit -f"), "{blocks}: {told}");
        let files = below(&test.path().join(".waypost"));
        let mut names: Vec<_> = files.iter().filter_map(|(path, _)| path.file_name()).collect();
        names.sort();
        // Of no bytes at all not even the first is there.
        let is_left: &[&str] = if blocks == 0 { &[] } else { &[".gitignore"] };
        names.retain(|name| *name != "store.redb.lock");
        assert_eq!(names, is_left, "{blocks}");
    }
    assert!(under("022", &test, "echo 1 | waypost save").output().unwrap().status.success());
}

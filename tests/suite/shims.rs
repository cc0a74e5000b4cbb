//! The scripts in `tools/shims`, run as people run them: by bash, with `waypost` on the path.
//!
//! Covers the scripts that save, load and clean up checkpoints, with the files and exit codes that
//! their callers expect.

#![cfg(all(feature = "cli", unix))]

mod cleanup;
mod load;
mod save;

use std::env;
use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::slice;

use serde_json::Value;
use tempfile::TempDir;

use crate::tool::skipped;

/// All that the scripts may need beside bash and waypost; there is no `jq` among it.
const TOOLS: [&str; 7] = ["awk", "cat", "date", "mktemp", "rm", "sed", "tr"];

const SCRIPTS: [&str; 4] =
    ["save-checkpoint", "load-checkpoint", "list-checkpoints", "cleanup-checkpoints"];

/// A directory to run scripts in, and one that is the whole path.
struct Shims {
    bash: PathBuf,
    here: TempDir,
    path: TempDir,
}

/// How a script ended.
#[derive(Debug, PartialEq)]
struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Shims {
    /// Says so and returns nothing where there is no bash, so that a test can end.
    fn new() -> Option<Self> {
        let Some(bash) = find("bash") else {
            skipped("bash is not installed");
            return None;
        };
        let (here, path) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for tool in TOOLS {
            symlink(find(tool).expect(tool), path.path().join(tool)).unwrap();
        }
        symlink(env!("CARGO_BIN_EXE_waypost"), path.path().join("waypost")).unwrap();
        Some(Self { bash, here, path })
    }

    fn run(&self, script: &str, args: &[&str]) -> Ended {
        self.feed(script, args, "")
    }

    fn feed(&self, script: &str, args: &[&str], input: &str) -> Ended {
        let mut command = self.command(&self.bash, self.here.path());
        command.arg(file(script)).args(args);
        ended(command, input)
    }

    /// Runs `waypost` itself with arguments separated by spaces.
    fn waypost(&self, args: &str, input: &str) -> String {
        let mut command = self.command(&self.path.path().join("waypost"), self.here.path());
        command.args(args.split_whitespace());
        ended(command, input).done()
    }

    fn command(&self, program: &Path, here: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", self.path.path()).current_dir(here);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Saves a state under a project, and returns the id.
    fn save(&self, kind: &str, project: &str, state: &str) -> String {
        self.run("save-checkpoint", &[kind, project, state]).done().trim_end().to_owned()
    }

    /// Saves a checkpoint dated this many days ago; its document has the id in it.
    fn save_old(&self, id: &str, days: u32, about: &str) {
        let dated = format!("save --id {id} --created-at {} --workflow-type implement", ago(days));
        self.waypost(&format!("{dated} {about}"), &format!(r#"{{"id": "{id}"}}"#));
    }

    /// Makes all scripts run in one second, however slow the machine is.
    fn stop_the_clock(&self) {
        let date = self.path.path().join("date");
        fs::remove_file(&date).unwrap();
        let script = format!("#!{}\necho 2026-01-25T15:00:00Z\n", self.bash.display());
        fs::write(&date, script).unwrap();
        fs::set_permissions(&date, Permissions::from_mode(0o700)).unwrap();
    }

    /// What the newest checkpoint of a type and perhaps a project says.
    fn load(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.run("load-checkpoint", args).done()).unwrap()
    }

    /// The ids of all that is there, newest first.
    fn ids(&self) -> Vec<String> {
        let lines = self.waypost("list --all --json", "");
        let id = |line: &str| serde_json::from_str::<Value>(line).unwrap()["id"].clone();
        lines.lines().map(|line| id(line).as_str().unwrap().to_owned()).collect()
    }
}

impl Ended {
    /// Checks that all went well, and returns the output.
    #[track_caller]
    fn done(self) -> String {
        assert_eq!((self.code, &*self.stderr), (Some(0), ""));
        self.stdout
    }

    /// Checks the exit code and that there is no output, and returns what was said instead.
    #[track_caller]
    fn failed(self, code: i32) -> String {
        assert_eq!((self.code, &*self.stdout), (Some(code), ""), "{}", self.stderr);
        self.stderr
    }
}

fn ended(mut command: Command, input: &str) -> Ended {
    let mut child = command.spawn().unwrap();
    // A script that does not want its input may be gone already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ended { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
}

/// Where a program is, if it is on the path of this test.
fn find(program: &str) -> Option<PathBuf> {
    let places = env::var_os("PATH")?;
    env::split_paths(&places).map(|place| place.join(program)).find(|path| path.is_file())
}

fn file(script: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/shims").join(script).with_extension("sh")
}

/// The time this many days and an hour before now.
fn ago(days: u32) -> String {
    let micros = i64::from(days * 24 + 1) * 3_600_000_000;
    waypost::Timestamp::from_micros(waypost::Timestamp::now().as_micros() - micros).to_string()
}

#[test]
fn bash_can_read_every_script() {
    let Some(shims) = Shims::new() else { return };
    for script in SCRIPTS {
        let mut command = shims.command(&shims.bash, shims.here.path());
        command.arg("-n").arg(file(script));
        ended(command, "").done();
    }
    assert_eq!(fs::read_dir(file("x").parent().unwrap()).unwrap().count(), SCRIPTS.len());
}

#[test]
fn every_script_has_help_with_examples() {
    let Some(shims) = Shims::new() else { return };
    for script in SCRIPTS {
        let help = shims.run(script, &["--help"]).done();
        assert!(help.contains(&format!("Usage: {script}.sh")), "{help}");
        assert!(help.contains(&format!("Examples:\n  {script}.sh")), "{help}");
        assert_eq!(shims.run(script, &["-h"]).done(), help);
    }
}

#[test]
fn wrong_arguments_are_refused_and_nothing_is_made() {
    let Some(shims) = Shims::new() else { return };
    let cases: [(&str, &[&str]); 17] = [
        ("save-checkpoint", &[]),
        ("save-checkpoint", &["implement"]),
        ("save-checkpoint", &["implement", "", "{}"]),
        ("save-checkpoint", &["implement", "x", "{}", "more"]),
        ("save-checkpoint", &["", "x", "{}"]),
        ("save-checkpoint", &["--force", "x", "{}"]),
        ("save-checkpoint", &["a:b", "x", "{}"]),
        ("save-checkpoint", &["implement", "a\nb", "{}"]),
        ("save-checkpoint", &["implement", r#"{"project_name": "a\nb"}"#]),
        ("load-checkpoint", &[]),
        ("load-checkpoint", &["a", "b", "c"]),
        ("load-checkpoint", &["../a"]),
        ("list-checkpoints", &["a", "b"]),
        ("list-checkpoints", &["--status", "gone"]),
        ("list-checkpoints", &["--status"]),
        ("cleanup-checkpoints", &["-1"]),
        ("cleanup-checkpoints", &["7", "8"]),
    ];
    for (script, args) in cases {
        let said = shims.run(script, args).failed(1);
        assert!(said.starts_with(&format!("{script}.sh: ")), "{args:?}: {said}");
    }
    assert!(!shims.here.path().join(".waypost").exists());
}

#[test]
fn without_waypost_it_is_said_how_to_get_it() {
    let Some(shims) = Shims::new() else { return };
    fs::remove_file(shims.path.path().join("waypost")).unwrap();
    let cases: [(&str, &[&str]); 4] = [
        ("save-checkpoint", &["implement", "x", "{}"]),
        ("load-checkpoint", &["implement"]),
        ("list-checkpoints", &[]),
        ("cleanup-checkpoints", &[]),
    ];
    for (script, args) in cases {
        let said = shims.run(script, args).failed(127);
        let expected =
            "waypost is not on PATH: `cargo install --path .` in its source puts it there";
        assert_eq!(said, format!("{script}.sh: {expected}\n"));
    }
}

#[test]
fn the_store_is_found_by_the_variables_of_either_side() {
    let Some(shims) = Shims::new() else { return };
    let [project, elsewhere] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let save = |variables: &[(&str, PathBuf)]| {
        let mut command = shims.command(&shims.bash, elsewhere.path());
        command.envs(variables.iter().cloned());
        command.arg(file("save-checkpoint")).args(["implement", "x", "{}"]);
        ended(command, "").done()
    };
    let of_project = ("CLAUDE_PROJECT_DIR", project.path().to_owned());
    save(slice::from_ref(&of_project));
    assert!(project.path().join(".waypost/store.redb").is_file());
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    fs::remove_dir_all(project.path().join(".waypost")).unwrap();
    save(&[of_project, ("WAYPOST_STORE", "named.redb".into())]);
    assert!(elsewhere.path().join("named.redb").is_file());
    assert_eq!(fs::read_dir(project.path()).unwrap().count(), 0);
}

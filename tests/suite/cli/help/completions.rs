//! The scripts of `waypost completions`, as far as the shells are there to try them.

use std::process::{Command, Output};

use super::super::Test;
use super::{commands, words};
use crate::tool::has;

/// What bash offers for the last of these words.
fn completed(test: &Test, line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split(' ').collect();
    let [.., before, last] = words[..] else { panic!("two words at least") };
    let script = format!(
        "source waypost.bash; COMP_WORDS=({line}); COMP_CWORD={}; \
         _waypost waypost '{last}' '{before}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        words.len() - 1
    );
    let mut bash = Command::new("bash");
    let Output { status, stdout, stderr } =
        bash.args(["--norc", "-c", &script]).current_dir(test.path()).output().unwrap();
    assert!(status.success() && stderr.is_empty(), "{}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap().lines().map(ToOwned::to_owned).collect()
}

#[test]
fn scripts_know_all_commands_and_flags() {
    let test = Test::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = test.run(&format!("completions {shell}")).done();
        let dashes = if shell == "fish" { "-l " } else { "--" };
        for command in commands() {
            for name in words(&command["commands"]) {
                assert!(script.contains(name), "{shell}: {name}");
            }
            for flag in command["flags"].as_array().unwrap() {
                let long = flag["long"].as_str().unwrap();
                assert!(script.contains(&format!("{dashes}{long}")), "{shell}: {long}");
            }
        }
    }
}

#[test]
fn bash_completes_commands_flags_and_values() {
    needs!("bash");
    let test = Test::new();
    test.write("waypost.bash", &test.run("completions bash").done());
    assert_eq!(completed(&test, "waypost li"), ["list"]);
    assert_eq!(completed(&test, "waypost save --tr"), ["--trigger"]);
    assert_eq!(completed(&test, "waypost policy un"), ["unset"]);
    assert_eq!(completed(&test, "waypost save --status p"), ["paused"]);
    assert_eq!(completed(&test, "waypost help comp"), ["complete", "compact", "completions"]);
}

#[test]
fn shells_can_read_their_scripts() {
    let test = Test::new();
    for shell in ["bash", "zsh", "fish"].into_iter().filter(|shell| has(shell)) {
        test.write("script", &test.run(&format!("completions {shell}")).done());
        let mut check = Command::new(shell);
        let checked = check.args(["-n", "script"]).current_dir(test.path()).output().unwrap();
        assert!(checked.status.success(), "{shell}: {}", String::from_utf8_lossy(&checked.stderr));
    }
}

#[test]
fn a_shell_must_be_named() {
    let test = Test::new();
    assert!(test.run("completions").failed(2).contains("<bash|zsh|fish>"));
    assert!(test.run("completions csh").failed(2).contains("bash, zsh, fish"));
}

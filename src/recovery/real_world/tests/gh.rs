//! Issues and pull requests, from a script in place of gh.

use super::*;

/// A world whose gh is `script`.
fn with_gh(place: &Sandbox, script: &str) -> RealWorld {
    let path = place.directory.path().join("gh");
    // Another process writes it: a file that this one has open for writing, in any thread that
    // forks just then, cannot be run.
    let write = "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$2\" && chmod 755 \"$2\"";
    let status = Command::new("sh").args(["-c", write, "sh", script]).arg(&path).status();
    assert!(status.unwrap().success());
    let mut world = place.world();
    world.gh.as_mut().unwrap().program = path.into();
    world
}

#[test]
fn an_issue_is_asked_for_by_number_in_the_directory() {
    let place = Sandbox::bare();
    let world = with_gh(
        &place,
        r#"pwd > asked; printf '%s\n' "$@" >> asked
           echo '{"number":42,"body":null,"labels":[{"name":"a"}]}'"#,
    );
    let Answer::Known(now) = world.issue("42") else { panic!() };
    assert_eq!((now.body.as_deref(), now.labels.unwrap()), (Some(""), vec!["a".to_owned()]));
    let asked = fs::read_to_string(place.root.join("asked")).unwrap();
    let root = place.root.to_str().unwrap();
    assert_eq!(asked, format!("{root}\nissue\nview\n42\n--json\nnumber,body,labels\n"));
    for odd in ["PROJ-42", "-R", "42x", "", "https://example.org/issues/42", "\u{664}"] {
        assert_eq!(reason(world.issue(odd)), "gh knows issues by number only", "{odd}");
    }
}

#[test]
fn what_gh_says_is_not_believed_blindly() {
    let place = Sandbox::bare();
    for (script, told) in [
        ("echo '{\"number\":43,\"body\":\"\"}'", "the data is of issue 43"),
        ("echo secret", "the answer of gh is not JSON, from line 1 column 1 on"),
        ("echo '{}'", "the answer of gh has neither body nor labels"),
        ("echo 'no such issue' >&2; exit 1", "gh failed and said: no such issue"),
        ("printf '\\377'", "the answer of gh is not UTF-8"),
    ] {
        assert_eq!(reason(with_gh(&place, script).issue("42")), told);
    }
}

#[test]
fn a_pull_request_is_told_by_address_or_number() {
    let place = Sandbox::bare();
    let told = |script| with_gh(&place, script).pull_request("feature/x");
    let known = |name: &str| Answer::Known(Some(name.to_owned()));
    assert_eq!(told("echo '[]'"), Answer::Known(None));
    assert_eq!(told(r#"echo '[{"number":7,"url":"https://x/7"}]'"#), known("https://x/7"));
    assert_eq!(told(r#"echo '[{"number":7}]'"#), known("7"));
    assert_eq!(reason(told("echo '{}'")), "the answer of gh is not a list of pull requests");
}

#[test]
fn a_branch_is_never_an_option_of_gh() {
    let place = Sandbox::bare();
    let world = with_gh(&place, "printf '%s\\n' \"$@\" > asked; echo '[]'");
    assert_eq!(world.pull_request("--web"), Answer::Known(None));
    let asked = fs::read_to_string(place.root.join("asked")).unwrap();
    assert_eq!(asked.lines().nth(2), Some("--head=--web"));
}

#[test]
fn gh_can_neither_ask_nor_colour() {
    let place = Sandbox::bare();
    let world = with_gh(&place, "env > asked; cat >> asked; echo '[]'");
    assert_eq!(world.pull_request("main"), Answer::Known(None));
    let asked = fs::read_to_string(place.root.join("asked")).unwrap();
    for setting in ["GH_PROMPT_DISABLED=1", "NO_COLOR=1", "GIT_TERMINAL_PROMPT=0"] {
        assert!(asked.lines().any(|line| line == setting), "{setting}");
    }
}

#[test]
fn without_gh_or_its_directory_nobody_can_tell() {
    let place = Sandbox::bare();
    let mut world = place.world();
    world.gh.as_mut().unwrap().program = "/nonexistent/gh".into();
    assert_eq!(reason(world.issue("42")), "gh is not installed");
    assert_eq!(reason(world.pull_request("main")), "gh is not installed");
    let world = with_gh(&place, "echo '[]'");
    fs::remove_dir(&place.root).unwrap();
    assert!(reason(world.pull_request("main")).starts_with("there is no directory "));
}

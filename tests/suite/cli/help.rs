//! What the help says, in words and in JSON, as a script and as manual pages.
//!
//! Covers help texts, their examples (each is run), manual pages and shell completions.

#[cfg(unix)]
mod completions;
#[cfg(unix)]
mod examples;
#[cfg(unix)]
mod man;

#[cfg(unix)]
use serde_json::Value;

use super::{Test, by_member};

/// All commands of `waypost help --json`, the program itself first.
fn commands() -> Vec<Value> {
    let json = Test::new().run("help --json").done();
    let manual: Value = serde_json::from_str(&json).unwrap();
    manual["commands"].as_array().unwrap().clone()
}

/// The words after `waypost`.
fn path(command: &Value) -> String {
    words(&command["path"]).join(" ")
}

fn words(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
}

#[test]
fn help_says_what_the_flag_says() {
    let test = Test::new();
    assert_eq!(test.run("help").done(), test.run("--help").done());
    for command in commands() {
        let path = path(&command);
        assert_eq!(
            test.run(&format!("help {path}")).done(),
            test.run(&format!("{path} --help")).done()
        );
    }
    assert!(test.run("help save --color always").done().contains('\u{1b}'));
    assert!(!test.run("help save").done().contains('\u{1b}'));
}

#[test]
fn the_commands_are_listed_in_groups() {
    let help = Test::new().run("-h").done();
    let (overview, _) = help.split_once("\nClean up:").unwrap();
    insta::assert_snapshot!(overview, @"
    Keeps checkpoints of agent workflows: one file, indexed, compressed, durable

    Usage: waypost [OPTIONS] <COMMAND>

    Save and read:
      save         Save a document as a checkpoint, and print its id
      show         Show a checkpoint: what is known about it, and its document
      latest       Show the newest checkpoint that matches
      list         List checkpoints, newest first
      find         Find checkpoints by what is in their documents

    Go on:
      resume       Show the checkpoint to go on from, and what changed since
      restore      Restore the files and the state of a checkpoint
      fork         Go on from a checkpoint in a new series
      rollback     Make an earlier checkpoint the newest of its series again

    Look:
      series       List every series, the last active first
      log          Show checkpoints as a time line, with what changed in each
      watch        Follow new checkpoints as they are saved, by any process
      diff         Show what changed between checkpoints, or to a file
      stats        Count what the store holds

    Mark:
      tag          Add, remove and list the tags of a checkpoint
      complete     Declare the work done, of checkpoints or of a series
      fail         Declare the work failed, of checkpoints or of a series
      archive      Put checkpoints or a series aside, for the record
      reopen       Take back that checkpoints or a series have ended
    ");
    assert_eq!(Test::new().run("").failed(2), help, "without a command");
}

#[test]
fn the_help_fits_its_lines() {
    let test = Test::new();
    for command in commands() {
        let path = path(&command);
        let summary = command["summary"].as_str().unwrap();
        assert!(path.is_empty() || summary.len() < 60, "{path}: {summary}");
        for flag in ["-h", "--help"] {
            let help = test.run(&format!("{path} {flag}")).done();
            let wide = help.lines().find(|line| line.chars().count() > 100);
            assert_eq!(wide, None, "{path}");
        }
    }
}

#[test]
fn of_an_unknown_command_the_nearest_is_named() {
    let test = Test::new();
    insta::assert_snapshot!(test.run("help policy sett").failed(2), @"
    error: unrecognized subcommand 'sett'

      tip: a similar subcommand exists: 'set'

    Usage: waypost policy [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
    for args in ["help sav", "help save x", "help -- -V", "help -- --help"] {
        assert!(test.run(args).failed(2).contains("unrecognized subcommand"), "{args}");
    }
    insta::assert_snapshot!(by_member(&test.run("help sav --json").failed(2)), @r#"
    {"version":1,
    "error":{"code":"usage",
    "message":"unrecognized subcommand 'sav'",
    "hint":"a similar subcommand exists: 'save'"}}
    "#);
}

/// The shape that programs rely on; global flags are like others.
#[test]
fn a_program_reads_all_about_a_command() {
    let json = Test::new().run("help completions --json").done();
    assert!(json.starts_with(r#"{"version":1,"#), "{json}");
    let mut manual: Value = serde_json::from_str(&json).unwrap();
    let flags = manual["commands"][0]["flags"].as_array_mut().unwrap();
    let count = flags.len();
    flags.retain(|flag| flag["global"] == false);
    assert_eq!(count - flags.len(), 7);
    manual["exit_codes"].as_array_mut().unwrap().truncate(1);
    manual["commands"][0]["examples"]
        .as_array_mut()
        .unwrap()
        .retain(|it| it["note"] != Value::Null);
    let description = manual["commands"][0]["description"].take();
    assert!(description.as_str().unwrap().contains("where each shell looks for it"));
    manual["commands"][0]["description"] = "DESCRIPTION".into();
    manual["release"] = "RELEASE".into();
    insta::assert_snapshot!(serde_json::to_string_pretty(&manual).unwrap(), @r#"
    {
      "commands": [
        {
          "arguments": [
            {
              "conflicts": [],
              "defaults": [],
              "description": null,
              "env": null,
              "global": false,
              "heading": null,
              "name": "bash|zsh|fish",
              "possible_values": [
                "bash",
                "zsh",
                "fish"
              ],
              "repeatable": false,
              "required": true,
              "summary": "The shell it is for",
              "value_names": [
                "bash|zsh|fish"
              ],
              "value_optional": false
            }
          ],
          "commands": [],
          "description": "DESCRIPTION",
          "examples": [
            {
              "command": "waypost completions zsh > ~/.zfunc/_waypost",
              "exit": 0,
              "note": "with `fpath+=~/.zfunc` before `compinit`"
            }
          ],
          "flags": [
            {
              "conflicts": [],
              "defaults": [],
              "description": "Print help (see a summary with '-h')",
              "env": null,
              "global": false,
              "heading": null,
              "long": "help",
              "name": "--help",
              "possible_values": [],
              "repeatable": false,
              "required": false,
              "short": "h",
              "summary": "Print help (see more with '--help')",
              "value_names": [],
              "value_optional": false
            }
          ],
          "group": "Shell",
          "name": "completions",
          "path": [
            "completions"
          ],
          "required_groups": [],
          "summary": "Print a script that completes commands and flags",
          "usage": "waypost completions [OPTIONS] <bash|zsh|fish>"
        }
      ],
      "exit_codes": [
        {
          "code": 0,
          "meaning": "done"
        }
      ],
      "release": "RELEASE",
      "version": 1
    }
    "#);
}

#[test]
fn what_cannot_stand_together_is_told() {
    let of = |args: &str| -> Value { serde_json::from_str(&Test::new().run(args).done()).unwrap() };
    let find = of("help find --json");
    let find = &find["commands"][0];
    assert_eq!(find["required_groups"], serde_json::json!([["--first", "--last", "--all"]]));
    let flags = find["flags"].as_array().unwrap();
    let flag = flags.iter().find(|flag| flag["name"] == "--last").unwrap();
    assert_eq!(words(&flag["conflicts"]), ["--first", "--all"]);

    let list = of("help list --json");
    let flags = list["commands"][0]["flags"].as_array().unwrap();
    let named = |name: &str| flags.iter().find(|flag| flag["name"] == name).unwrap();
    assert_eq!(words(&named("--limit")["conflicts"]), ["--all"]);
    assert_eq!(words(&named("--all")["conflicts"]), ["--limit"]);
    assert_eq!(words(&named("--limit")["defaults"]), ["20"]);
    assert_eq!(named("--store")["env"], "WAYPOST_STORE");
    assert_eq!(named("--trigger")["repeatable"], true);
}

#[test]
fn every_command_that_the_help_lists_is_described() {
    let test = Test::new();
    let commands = commands();
    let paths: Vec<String> = commands.iter().map(path).collect();
    for (command, path) in commands.iter().zip(&paths) {
        for below in words(&command["commands"]) {
            let below = format!("{path} {below}");
            assert!(paths.iter().any(|path| path == below.trim_start()), "{below}");
        }
        let help = test.run(&format!("{path} -h")).done();
        for name in words(&command["commands"]) {
            assert!(help.contains(&format!("\n  {name} ")), "{path}: {name}");
        }
    }
    let below = |path: &str| paths.iter().filter(|it| it.starts_with(path)).count();
    assert_eq!((below("policy"), below("policy ")), (6, 5), "{paths:?}");
}

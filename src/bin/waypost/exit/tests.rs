//! Every error with its exit code and hint, at a glance, and checked by common rules.
//!
//! Covers the text, hint and exit code of each error, and the rules that all of them keep.

mod glance;
mod samples;

use std::collections::BTreeSet;

use clap::CommandFactory as _;

use super::Verdict;
use crate::command::Cli;

/// Errors that wrap another one, whose verdict counts.
const TOLD_BY_CAUSE: [&str; 4] = ["Config", "NoHome", "Store", "Unreadable"];

// The user decided so and needs no hint; the message of an interrupt says how to go on.
const WITHOUT_HINT: [&str; 6] =
    ["Declined", "Differs", "Fresh", "Interrupted", "Left", "NotStarted"];
// Refusals of a restore that the command reports as errors of the store or as its own.
const TOLD_OTHERWISE: [&str; 3] = ["StatePlace", "Stopped", "Store"];
const CONTRACT: &str = include_str!("../../../docs/JSON.md");

/// An error and its printed report.
struct Report {
    /// The name of the variant.
    name: String,
    /// The texts in its fields.
    parts: Vec<String>,
    exit: u8,
    code: &'static str,
    message: String,
    hint: Option<String>,
}

fn told() -> Vec<Report> {
    let samples = samples::all().into_iter().map(|(debug, error)| {
        let Verdict { exit, code, hint } = Verdict::of(&error);
        let name: String = debug.chars().take_while(char::is_ascii_alphanumeric).collect();
        let parts = debug.split('"').skip(1).step_by(2).map(str::to_owned).collect();
        let (message, hint) = (format!("{error:#}"), hint.map(String::from));
        Report { name, parts, exit: exit as u8, code, message, hint }
    });
    samples.collect()
}

/// The variants of an enum, by its source.
fn variants<'s>(source: &'s str, start: &str) -> BTreeSet<&'s str> {
    let (_, body) = source.split_once(start).expect("the enum");
    let (body, _) = body.split_once("\n}").expect("its end");
    let name = |line: &'s str| {
        let line = line.strip_prefix("    ")?;
        let end = line.find(|it: char| !it.is_ascii_alphanumeric()).unwrap_or(line.len());
        Some(&line[..end]).filter(|name| name.starts_with(|it: char| it.is_ascii_uppercase()))
    };
    body.lines().filter_map(name).collect()
}

#[test]
fn every_error_is_looked_at() {
    let told = told();
    let names: BTreeSet<&str> = told.iter().map(|told| told.name.as_str()).collect();
    let mut known = variants(include_str!("refusal.rs"), "pub(crate) enum Refusal {");
    known.extend(variants(include_str!("../../../error.rs"), "pub enum Error {"));
    let restore = include_str!("../../../recovery/restore/refusal.rs");
    let of_restore = variants(restore, "pub enum Refusal {");
    known.extend(of_restore.difference(&TOLD_OTHERWISE.into()));
    let capture = include_str!("../../../transfer/capture/failure.rs");
    known.extend(variants(capture, "pub enum CaptureError {"));
    let policy = include_str!("../../../project/policy.rs");
    known.extend(variants(policy, "pub enum PolicyError {"));
    let config = include_str!("../../../project/config.rs");
    known.extend(variants(config, "pub enum ConfigError {"));
    known.insert("NoPlace");
    for name in TOLD_BY_CAUSE {
        known.remove(name);
    }
    assert!(known.len() > 50, "{known:?}");
    assert_eq!(names, known);
}

#[test]
fn messages_are_fragments_that_name_what_they_are_about() {
    for Report { name, parts, message, hint, .. } in told() {
        let all = format!("{message} {}", hint.unwrap_or_default()).to_lowercase();
        for part in parts {
            assert!(all.contains(&part.to_lowercase()), "{name} does not tell {part:?}: {all}");
        }
        assert!(!message.starts_with(|it: char| it.is_uppercase()), "{name}: {message}");
        assert!(!message.ends_with('.') && !message.contains('\n'), "{name}: {message}");
        assert!(message.len() <= 160, "{name}: {message}");
        for debug in ["Some(", "None", " { ", "Err(", "Custom"] {
            assert!(!message.contains(debug), "{name}: {message}");
        }
    }
}

#[test]
fn hints_say_what_to_do() {
    let root = commands();
    for Report { name, hint, .. } in told() {
        assert_eq!(hint.is_none(), WITHOUT_HINT.contains(&name.as_str()), "{name}: {hint:?}");
        let hint = hint.unwrap_or_default();
        assert!(
            !hint.ends_with('.') && !hint.contains('\n') && hint.len() <= 160,
            "{name}: {hint}"
        );
        for flag in words(&hint).filter(|word| word.starts_with("--")) {
            assert!(has_flag(&root, flag), "{name}: there is no {flag}");
        }
        for call in hint.split('`').skip(1).step_by(2).filter_map(|it| it.strip_prefix("waypost "))
        {
            assert!(is_call(&root, call), "{name}: there is no `waypost {call}`");
        }
    }
}

/// A hint said `waypost reopen --series SERIES` where the series was known.
#[test]
fn hints_have_the_values_that_are_known() {
    for Report { name, hint, .. } in told() {
        let hint = hint.unwrap_or_default();
        for word in hint.split(|it: char| !it.is_ascii_alphanumeric()) {
            let is_place = ["SERIES", "ID", "NAME", "DIR", "POINTER", "NUMBER", "PATH"];
            assert!(!is_place.contains(&word), "{name}: {hint}");
        }
    }
}

/// All commands, with the flags that each has of its own and of all.
fn commands() -> clap::Command {
    let mut root = Cli::command();
    root.build();
    root
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().map(|word| word.trim_matches(|it: char| "`,;:.()".contains(it)))
}

/// Whether a command, or one below it, has a flag.
fn has_flag(command: &clap::Command, flag: &str) -> bool {
    let is_it = |arg: &clap::Arg| arg.get_long().is_some_and(|long| flag == format!("--{long}"));
    flag == "--help"
        || command.get_arguments().any(is_it)
        || command.get_subcommands().any(|it| has_flag(it, flag))
}

/// True if a command exists and has all flags in the text.
fn is_call(root: &clap::Command, call: &str) -> bool {
    let mut command = root;
    for word in words(call) {
        if let Some(found) = command.find_subcommand(word) {
            command = found;
        } else if std::ptr::eq(command, root)
            || (word.starts_with("--") && !has_flag(command, word))
        {
            return false;
        }
    }
    true
}

#[test]
fn codes_are_names_that_the_contract_explains() {
    for Report { name, code, exit, .. } in told() {
        assert!(code.chars().all(|it| it.is_ascii_lowercase() || it == '_'), "{name}: {code}");
        let row = CONTRACT.lines().find(|line| line.starts_with(&format!("| `{code}` |")));
        let row = row.unwrap_or_else(|| panic!("JSON.md does not explain {code}"));
        let exits = row.split('|').nth(2).unwrap_or_default();
        let has_it = exits.split(',').any(|it| it.trim() == exit.to_string());
        assert!(has_it, "{name}: JSON.md has {exits} for {code}, and not {exit}");
    }
}

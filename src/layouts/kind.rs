//! Classifies a file by its path, before it is read.

use super::path::parts;

/// What a file is, by its path alone.
///
/// ```
/// use waypost::layouts::{Kind, kind};
///
/// assert_eq!(kind(".pipeline/checkpoint-PROJ-42.json"), Kind::Checkpoint);
/// assert_eq!(kind(".claude/crunch/42/checkpoints/index.yaml"), Kind::Index);
/// assert_eq!(kind("src/main.rs"), Kind::Other);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// In a place where one of the systems has its checkpoints.
    Checkpoint,
    /// `index.yaml` of claude-crunch.
    Index,
    /// The pointer `latest` of claude-crunch, a symbolic link or a text.
    Latest,
    /// A history of which each line is a checkpoint.
    Lines,
    /// A file that a system leaves beside its checkpoints, and why it is no checkpoint.
    Debris(&'static str),
    /// A document beside the checkpoints of a system: only its content can tell.
    Neighbour,
    /// A document anywhere else: only its content can tell.
    Candidate,
    /// Nothing that could be a checkpoint.
    Other,
}

const TEMPORARY: &str = "temporary file";
const BACKUP: &str = "backup";
const LOCK: &str = "lock";
const FLAG: &str = "flag of a worker";
const OUTPUT: &str = "other output of the workflow";
const REGISTER: &str = "list of loops or files, not a checkpoint";
const SETTINGS: &str = "settings";
const JOURNAL: &str = "journal, not a checkpoint";
const NOTES: &str = "text for people, not a checkpoint";
const OTHER: &str = "a kind of file that holds no checkpoint";

/// The directories that systems have for their own.
const ANCHORS: [&str; 5] = [".tmp", ".claude", ".pipeline", ".hex-skills", ".aiwg"];

/// Tells what a file is by its path from the imported root, with `/` between its parts.
#[must_use]
pub fn kind(path: &str) -> Kind {
    let parts = parts(path);
    let Some((name, directories)) = parts.split_last() else { return Kind::Other };
    let anchor = directories.iter().rposition(|part| ANCHORS.contains(part));
    let own = anchor.map_or(&[][..], |at| &directories[at..]);
    if let Some(why) = debris(own, directories.is_empty(), name) {
        return Kind::Debris(why);
    }
    let placed = match anchor {
        Some(_) => placed(own, name),
        None => unanchored(directories, name),
    };
    match placed {
        Some(kind) => kind,
        None if is_beside_checkpoints(own) => neighbour(name),
        None if is_document(name) || ends(name, ".jsonl") => Kind::Candidate,
        None => Kind::Other,
    }
}

/// Tells whether a directory is one in which a system keeps its checkpoints and little else.
///
/// `.tmp` is not: other programs have theirs in it.
fn is_beside_checkpoints(own: &[&str]) -> bool {
    match own {
        [".claude", "crunch", _, rest @ ..]
        | [".claude", "data", rest @ ..]
        | [".claude", rest @ ..] => rest.first() == Some(&"checkpoints"),
        [".hex-skills", rest @ ..] => rest.first() == Some(&"pipeline"),
        [".aiwg", rest @ ..] => is_beside_loops(rest),
        _ => own == [".pipeline"],
    }
}

fn is_beside_loops(own: &[&str]) -> bool {
    match own {
        ["ralph" | "ralph-external", "loops", _] => true,
        ["ralph" | "ralph-external", .., last] => *last == "checkpoints",
        _ => own == ["ralph"] || own.first() == Some(&"checkpoints"),
    }
}

/// A file that lies beside checkpoints and is not where one is.
fn neighbour(name: &str) -> Kind {
    match name {
        // `.gitkeep` and other hidden files hold no work.
        _ if name.starts_with('.') => Kind::Other,
        _ if is_document(name) => Kind::Neighbour,
        _ if ends(name, ".jsonl") => Kind::Debris(JOURNAL),
        _ if [".md", ".txt", ".log"].into_iter().any(|extension| ends(name, extension)) => {
            Kind::Debris(NOTES)
        }
        _ => Kind::Debris(OTHER),
    }
}

/// `own` starts with the directory of the system.
fn placed(own: &[&str], name: &str) -> Option<Kind> {
    let is_json = ends(name, ".json");
    let is_checkpoint = match own {
        [".tmp"] => name == "impl-checkpoint.json",
        [".claude", "crunch", _, "checkpoints"] => return crunch(name),
        [".claude", "checkpoints", rest @ ..] | [".claude", "data", "checkpoints", rest @ ..] => {
            matches!(rest, [] | ["parallel_ops" | "failed"]) && is_text(name)
        }
        [".pipeline"] | [".hex-skills", "pipeline"] => {
            is_json && (name == "state.json" || name.starts_with("checkpoint-"))
        }
        [".hex-skills", ..] if name == "history.jsonl" => return Some(Kind::Lines),
        [".hex-skills", .., "runs", _] => {
            matches!(name, "manifest.json" | "state.json" | "checkpoints.json")
        }
        [".hex-skills", .., "active", _] => is_json,
        [".aiwg", rest @ ..] => of_aiwg(rest, name),
        _ => false,
    };
    is_checkpoint.then_some(Kind::Checkpoint)
}

fn of_aiwg(own: &[&str], name: &str) -> bool {
    let is_json = ends(name, ".json");
    match own {
        _ if name == "session-state.json" => true,
        ["ralph"] => name == "current-loop.json",
        ["ralph" | "ralph-external", "loops", _] => name == "state.json",
        ["ralph", "loops", _, "checkpoints"] | ["checkpoints", ..] => {
            is_json || ends(name, ".json.gz")
        }
        ["ralph", "iterations"] | ["ralph-external", .., "iterations", _, "checkpoints"] => is_json,
        _ => false,
    }
}

/// For imports that start below the directory of a system.
fn unanchored(directories: &[&str], name: &str) -> Option<Kind> {
    match directories {
        [.., "checkpoints"] => {
            crunch(name).filter(|kind| *kind != Kind::Checkpoint || name.starts_with("CP-"))
        }
        [.., "runs", _] if name == "history.jsonl" => Some(Kind::Lines),
        _ => None,
    }
}

fn crunch(name: &str) -> Option<Kind> {
    match name {
        "index.yaml" | "index.yml" | "index.json" => Some(Kind::Index),
        "latest" => Some(Kind::Latest),
        _ => is_text(name).then_some(Kind::Checkpoint),
    }
}

/// `own` is empty outside the directories of systems; `is_root` if there are none at all.
fn debris(own: &[&str], is_root: bool, name: &str) -> Option<&'static str> {
    let is_own = !own.is_empty();
    if let Some((original, why)) = left_over(name)
        && (is_own || is_document(original) || ends(original, ".jsonl"))
    {
        return Some(why);
    }
    if (own == [".tmp"] || is_root) && is_python_temporary(name) {
        return Some(TEMPORARY);
    }
    match own {
        [] => None,
        _ if name == ".lock" || ends(name, ".lock") => Some(LOCK),
        _ if ends(name, ".flag") => Some(FLAG),
        [".tmp"] if is_output(name) => Some(OUTPUT),
        [".claude"] if name.starts_with("checkpoint-config.") => Some(SETTINGS),
        [".aiwg", ..] if name == "registry.json" || name == "manifest.json" => Some(REGISTER),
        _ => None,
    }
}

/// The name of the file that this one was to replace, or was copied from.
fn left_over(name: &str) -> Option<(&str, &'static str)> {
    for suffix in [".backup", ".bak", ".migrated"] {
        if let Some(original) = name.strip_suffix(suffix) {
            return Some((original, BACKUP));
        }
    }
    if let Some((original, _)) = name.rsplit_once(".hexline-tmp-") {
        return Some((original, TEMPORARY));
    }
    let (original, rest) = name.rsplit_once(".tmp")?;
    let process = rest.strip_prefix(['-', '.']).unwrap_or(rest);
    let is_process = process.bytes().all(|byte| byte.is_ascii_digit());
    let is_right = rest.is_empty() || is_process && !process.is_empty() && process != rest;
    is_right.then_some((original, TEMPORARY))
}

/// `tmp`, eight letters of Python's choice, `.json`.
fn is_python_temporary(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.strip_prefix("tmp")
        .and_then(|rest| rest.strip_suffix(".json"))
        .is_some_and(|rest| rest.len() == 8 && rest.bytes().all(is_letter))
}

/// `parse-iter-3.json` and its like.
fn is_output(name: &str) -> bool {
    let stem = name.strip_suffix(".json").and_then(|stem| stem.rsplit_once("-iter-"));
    stem.is_some_and(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_document(name: &str) -> bool {
    is_text(name) || ends(name, ".json.gz")
}

fn is_text(name: &str) -> bool {
    [".json", ".yaml", ".yml"].into_iter().any(|extension| ends(name, extension))
}

/// The systems write these in lower case.
fn ends(name: &str, extension: &str) -> bool {
    name.ends_with(extension)
}

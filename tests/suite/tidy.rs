//! The style guide, as far as a program can read it.
//!
//! Covers the layers of modules, who alone may name a crate, and how files open; `examples` has the
//! examples of public types, `rooms` the rooms of the store and their order, and `sizes` the limits
//! of files and functions.

mod examples;
mod rooms;
mod sizes;

use std::fs;
use std::path::{Path, PathBuf};

/// Modules from the bottom up. A module may use those of earlier rows and of its own row's name.
const LAYERS: [&[&str]; 16] = [
    &["error", "spelling", "sync", "text", "threads", "yaml"],
    &["checkpoint", "ordered"],
    &["diff"],
    &["condition"],
    &["retention"],
    &["config"],
    &["key"],
    &["codec"],
    &["store"],
    &["query"],
    &["layouts"],
    &["transfer"],
    &["recovery"],
    &["history"],
    &["project"],
    &["doctor"],
];

/// Who alone may name a crate.
const OWNERS: [(&str, &[&str]); 15] = [
    ("redb", &["src/store"]),
    ("bincode", &["src/codec/wire.rs"]),
    ("zstd", &["src/codec/compress.rs"]),
    ("twox_hash", &["src/codec.rs"]),
    ("sha2", &["src/codec/hash.rs"]),
    ("chacha20poly1305", &["src/codec/seal.rs"]),
    ("zeroize", &["src/codec/seal.rs"]),
    ("jiff", &["src/checkpoint/timestamp.rs"]),
    ("granit_parser", &["src/yaml"]),
    ("clap", &["src/bin"]),
    ("clap_complete", &["src/bin/waypost/command/completions.rs"]),
    ("clap_mangen", &["src/bin/waypost/command/man.rs"]),
    ("flate2", &["src/bin/waypost/command/bench", "src/transfer/gzip.rs"]),
    ("signal_hook", &["src/bin/waypost/interrupt.rs"]),
    (
        "rustix",
        &[
            "src/transfer/system.rs",
            "src/doctor/system.rs",
            "src/store/engine/disk/clock.rs",
            "src/store/engine/disk/opening/folder.rs",
            "src/store/engine/disk/opening/unix.rs",
            "src/store/engine/disk/opening.rs",
        ],
    ),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Rust files below a directory, with their path from the root and their text.
fn sources(below: &str) -> Vec<(String, String)> {
    let mut left = vec![root().join(below)];
    let mut found = Vec::new();
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
            found.push((name, fs::read_to_string(path).unwrap()));
        }
    }
    assert!(!found.is_empty(), "nothing below {below}");
    found
}

fn all_sources() -> Vec<(String, String)> {
    ["src", "tests", "benches"].into_iter().flat_map(sources).collect()
}

/// The layer of a library file, by the first part of its path.
fn layer(name: &str) -> Option<usize> {
    let module = name.strip_prefix("src/")?.split(['/', '.']).next()?;
    LAYERS.iter().position(|row| row.contains(&module))
}

/// Modules that a text names as `crate::module`.
fn used_modules(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("crate::").map(|(at, found)| {
        let rest = &text[at + found.len()..];
        let end = rest.find(|it: char| !it.is_ascii_lowercase() && it != '_').unwrap_or(rest.len());
        &rest[..end]
    })
}

fn report(offences: &[String]) {
    assert!(offences.is_empty(), "\n{}", offences.join("\n"));
}

#[test]
fn every_module_has_a_layer_and_uses_only_lower_ones() {
    let mut offences = Vec::new();
    for (name, text) in sources("src") {
        if ["src/lib.rs", "src/docs.rs"].contains(&name.as_str()) || name.starts_with("src/bin/") {
            continue;
        }
        let Some(own) = layer(&name) else {
            offences.push(format!("{name}: its module has no layer"));
            continue;
        };
        for module in used_modules(&text) {
            let used = LAYERS.iter().position(|row| row.contains(&module));
            if used.is_some_and(|used| used > own) {
                offences.push(format!("{name}: uses {module}, which lies above"));
            }
        }
    }
    report(&offences);
}

#[test]
fn a_crate_is_named_only_where_it_belongs() {
    let mut offences = Vec::new();
    for (name, text) in sources("src") {
        for (krate, owners) in OWNERS {
            let named = text.lines().any(|line| {
                let code = line.split("//").next().unwrap_or_default();
                code.contains(&format!("{krate}::")) || code.contains(&format!("use {krate};"))
            });
            if named && !owners.iter().any(|owner| name.starts_with(owner)) {
                let owners = owners.join(", ");
                offences.push(format!("{name}: names {krate}, which only {owners} may"));
            }
        }
    }
    report(&offences);
}

/// The library takes clock, environment and places as arguments, does not print, and runs programs
/// in one place, which keeps keys from them.
#[test]
fn the_library_looks_at_nothing_but_its_arguments() {
    let forbidden = [
        "println!",
        "eprintln!",
        "print!(",
        "eprint!(",
        "std::env",
        "env::",
        "SystemTime",
        "Command::new(",
    ];
    let mut offences = Vec::new();
    for (name, text) in sources("src") {
        // A test may be told how much to try, and tell how much it was.
        let may_look = name.starts_with("src/bin/") || name.contains("/tests");
        // The clock that the options have by default.
        let is_clock = |word: &str| word == "SystemTime" && name == "src/checkpoint/timestamp.rs";
        // git and gh, with the feature `world`.
        let is_runner =
            |word: &str| word == "Command::new(" && name == "src/recovery/real_world/child.rs";
        let is_owner = |word: &str| is_clock(word) || is_runner(word);
        let is_used = |word: &&&str| !may_look && text.contains(**word) && !is_owner(word);
        for word in forbidden.iter().filter(is_used) {
            offences.push(format!("{name}: {word}"));
        }
    }
    report(&offences);
}

/// Commands that may use a module of another one, and why.
const SHARING: [(&str, &str); 0] = [];

/// What several commands need is in the library, or beside the commands.
#[test]
fn no_command_uses_a_module_of_another_one() {
    let below = "src/bin/waypost/command/";
    let files = sources("src/bin/waypost/command");
    let path = |name: &str| -> Vec<String> {
        let name = name.strip_prefix(below).unwrap().strip_suffix(".rs").unwrap();
        name.split('/').map(str::to_owned).collect()
    };
    let mut commands: Vec<String> =
        files.iter().map(|(name, _)| path(name).swap_remove(0)).collect();
    commands.sort();
    commands.dedup();
    let mut offences = Vec::new();
    for (name, text) in &files {
        let own = path(name);
        for used in above_all(text, own.len()) {
            let is_shared = SHARING.contains(&(own[0].as_str(), used));
            if used != own[0] && commands.iter().any(|it| it == used) && !is_shared {
                offences.push(format!("{name}: uses {used}, which is another command"));
            }
        }
    }
    report(&offences);
}

/// Modules of `command` that a text names, if it is of a module this deep below that.
fn above_all(text: &str, depth: usize) -> Vec<&str> {
    let supers = "super::".repeat(depth);
    let ways = ["crate::command::", supers.as_str()];
    let mut found = Vec::new();
    for way in ways {
        for (at, _) in text.match_indices(way) {
            // More of them lead further up, and fewer not as far.
            let is_longer =
                text[..at].ends_with("super::") || text[at + way.len()..].starts_with("super::");
            let names = text[at + way.len()..].trim_start_matches('{');
            let end = names.find(|it: char| !it.is_ascii_lowercase() && it != '_');
            if !is_longer {
                found.push(&names[..end.unwrap_or(names.len())]);
            }
        }
    }
    found
}

/// Files that may hold content are made where their mode is set.
#[test]
fn files_are_made_only_where_their_owner_alone_may_read_them() {
    let makers = [
        "File::create(",
        "File::create_new(",
        "File::options(",
        "fs::write(",
        "fs::copy(",
        "OpenOptions::new()",
    ];
    // A pipe or device that the user names is opened, not made.
    let may = ["src/store/engine/disk/opening.rs", "src/bin/waypost/command/export/target.rs"];
    let mut offences = Vec::new();
    for (name, text) in sources("src") {
        let is_test = name.contains("/tests") || may.contains(&name.as_str());
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        // An example in a comment may make files.
        let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        let code: String = code.collect();
        for maker in makers.iter().filter(|maker| !is_test && code.contains(**maker)) {
            offences.push(format!("{name}: {maker}"));
        }
    }
    report(&offences);
}

/// A file beside a store may be a link or a FIFO. The library opens files in one place, which
/// follows no link and never blocks.
#[test]
fn the_library_opens_files_in_one_place() {
    let openers = ["File::open(", "fs::read(", "fs::read_to_string(", "fs::hard_link("];
    let mut offences = Vec::new();
    for (name, text) in sources("src/store") {
        let is_test = name.contains("/tests") || name == "src/store/engine/disk/opening.rs";
        for opener in openers.iter().filter(|opener| !is_test && text.contains(**opener)) {
            offences.push(format!("{name}: {opener}"));
        }
    }
    report(&offences);
}

/// A bare `matches!(..);` checks nothing, and no lint reports it.
#[test]
fn no_matches_is_dropped() {
    let mut offences = Vec::new();
    for (name, text) in all_sources() {
        for (number, line) in text.lines().enumerate() {
            let line = line.trim_start();
            if line.starts_with("matches!(") && line.ends_with(");") {
                offences.push(format!("{name}:{}: a dropped matches!", number + 1));
            }
        }
    }
    report(&offences);
}

#[test]
fn files_open_with_what_they_own_and_stay_narrow() {
    // Spelled so that this file does not contain them.
    let marks = [["TO", "DO"].concat(), ["FIX", "ME"].concat(), ["dbg", "!("].concat()];
    let mut offences = Vec::new();
    for (name, text) in all_sources() {
        if !text.starts_with("//! ") {
            offences.push(format!("{name}: does not open with //!"));
        }
        for (number, line) in text.lines().enumerate() {
            let place = format!("{name}:{}", number + 1);
            if line.chars().count() > 100 {
                offences.push(format!("{place}: wider than 100 columns"));
            }
            if !line.is_ascii() {
                offences.push(format!("{place}: not ASCII"));
            }
            if marks.iter().any(|mark| line.contains(mark)) {
                offences.push(format!("{place}: left over"));
            }
        }
    }
    report(&offences);
}

#[test]
fn no_file_is_named_after_nothing() {
    let vague = ["mod", "util", "utils", "helper", "helpers", "common", "misc"];
    let mut offences = Vec::new();
    for (name, _) in all_sources() {
        let stem = PathBuf::from(&name).file_stem().unwrap().to_str().unwrap().to_owned();
        if vague.contains(&stem.as_str()) {
            offences.push(name);
        }
    }
    report(&offences);
}

#[test]
fn every_folder_of_tests_says_what_it_covers() {
    let sources = all_sources();
    let mut offences = Vec::new();
    for (name, text) in &sources {
        let is_test = name.starts_with("tests/suite/") || name.contains("/tests");
        let folder = name.replace(".rs", "/");
        let has_folder = sources.iter().any(|(other, _)| other.starts_with(&folder));
        let mut opening = text.lines().take_while(|line| line.starts_with("//!"));
        if is_test && has_folder && !opening.any(|line| line.contains("Covers ")) {
            offences.push(format!("{name}: its opening does not say what its folder covers"));
        }
    }
    report(&offences);
}

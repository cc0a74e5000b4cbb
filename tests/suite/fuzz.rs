//! Hostile input through the public interface: whatever is read is read or refused, within bounds.
//!
//! Covers words (ids, durations, queries), YAML, and documents of each layout.

mod layout;
mod word;
mod yaml;

use std::fs;
use std::path::Path;

/// The files with an ending below a directory of fixtures.
fn examples(below: &str, ending: &str) -> Vec<Vec<u8>> {
    let mut left = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(below)];
    let mut found = Vec::new();
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|it| it == ending) {
            found.push(path);
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no {ending} below {below}");
    found.iter().map(|path| fs::read(path).unwrap()).collect()
}

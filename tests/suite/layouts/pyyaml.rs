//! `PyYAML` as the judge of our YAML: what it reads is what was written.

use std::io::Write;
use std::process::{Command, Stdio};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use waypost::Document;
use waypost::layouts::to_yaml;

use super::yaml::{TRICKY, any_document, is_same};
use crate::tool::skipped;

/// Takes a list of YAML texts, gives the list of what they say; by the loader in C, too, if there.
const SCRIPT: &str = "
import json, sys, yaml
texts = json.load(sys.stdin)
loaders = [yaml.SafeLoader] + ([yaml.CSafeLoader] if yaml.__with_libyaml__ else [])
print(json.dumps([[yaml.load(text, loader) for text in texts] for loader in loaders]))
";

/// How many documents at random; each takes about a millisecond.
const COUNT: usize = 400;

#[test]
fn pyyaml_reads_what_was_written() {
    let documents = documents();
    let texts: Vec<String> = documents.iter().map(|it| to_yaml(it).unwrap()).collect();
    let Some(answer) = python(&serde_json::to_string(&texts).unwrap()) else {
        skipped("there is no python3 with PyYAML");
        return;
    };
    let Document::Array(loaders) = Document::from_json(&answer).unwrap() else { panic!("no list") };
    for found in loaders {
        let Document::Array(found) = found else { panic!("no list") };
        assert_eq!(found.len(), documents.len());
        for ((found, document), text) in found.iter().zip(&documents).zip(&texts) {
            assert!(is_same(found, document), "{text}\n{found:?}\n{document:?}");
        }
    }
}

fn documents() -> Vec<Document> {
    let tricky = TRICKY.map(|text| {
        let value = Document::Text(text.to_owned());
        Document::Object(vec![(text.to_owned(), Document::Array(vec![value]))])
    });
    let mut runner = TestRunner::deterministic();
    let strategy = any_document();
    let random = (0..COUNT).map(|_| strategy.new_tree(&mut runner).unwrap().current());
    tricky.into_iter().chain(random).collect()
}

/// What the script prints; none if it cannot be run here.
fn python(input: &str) -> Option<Vec<u8>> {
    let has_yaml = Command::new("python3").args(["-c", "import yaml"]).output();
    if !has_yaml.is_ok_and(|output| output.status.success()) {
        return None;
    }
    let mut child = Command::new("python3")
        .args(["-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "the loader refused a text");
    Some(output.stdout)
}

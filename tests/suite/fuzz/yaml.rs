//! YAML: texts of people and of attackers, and configs.

use std::cmp::Ordering;
use std::sync::LazyLock;

use waypost::diff::compare_numbers;
use waypost::layouts::to_yaml;
use waypost::source::Source;
use waypost::{Config, Document, Policy, Timestamp, Trigger, plan};

use super::examples;
use crate::tape::Tape;

// What the reader of documents allows.
const VALUES_MAX: usize = 1 << 20;
const DEPTH_MAX: usize = 128;

static TEXTS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let mut all = examples("layouts", "yaml");
    let ours = [
        "a: &a [1, 2]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n",
        "- ? [x]\n  : y\n- !!int \"0x1f\"\n- !!float 1\n- 1:30\n- 0b101\n- 017\n- .inf\n- .nan\n",
        "a: |\n  one\n  two\nb: >-\n  three\n\n  four\nc: \"\\u00e9\\x41\\\n  b\"\nd: 'it''s'\n",
        "%YAML 1.2\n---\n{a: [b, {c: d}], \"e\": ~, f: yes, g: 1_000, <<: {h: 1}}\n...\n",
        "? a\n? b\n: - c\n  -   - d\n      - e\n# comment\n",
        "a: 1\na: 2\n1: x\ntrue: y\nnull: z\n",
    ];
    all.extend(ours.map(|text| text.as_bytes().to_vec()));
    all
});

fn values(document: &Document) -> usize {
    1 + match document {
        Document::Array(items) => items.iter().map(values).sum(),
        Document::Object(fields) => fields.iter().map(|(_, value)| values(value)).sum(),
        _ => 0,
    }
}

fn depth(document: &Document) -> usize {
    match document {
        Document::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Document::Object(fields) => 1 + fields.iter().map(|it| depth(&it.1)).max().unwrap_or(0),
        _ => 0,
    }
}

/// Whether all numbers are integers or doubles: YAML has no others.
fn has_only_doubles(document: &Document) -> bool {
    match document {
        Document::Array(items) => items.iter().all(has_only_doubles),
        Document::Object(fields) => fields.iter().all(|(_, value)| has_only_doubles(value)),
        Document::Number(literal) => {
            let double = Document::Float(literal.parse().unwrap());
            let is_integer = !literal.contains(['.', 'e', 'E']);
            is_integer || compare_numbers(document, &double) == Some(Ordering::Equal)
        }
        _ => true,
    }
}

/// Lines that belong together more or less.
fn lines(tape: &mut Tape<'_>) -> Vec<u8> {
    let mut text = String::new();
    while !tape.has_ended() {
        text.push_str(&" ".repeat(tape.below(6)));
        let start = ["- ", "? ", ": ", "a: ", "b: ", "&x ", "*x", "!!str ", "[", "]", "{", "}"];
        for _ in 0..tape.below(4) {
            text.push_str(tape.pick::<&str>(&start));
        }
        text.push_str(&tape.text());
        text.push_str(tape.pick::<&str>(&["\n", "\n", ",", "\r\n", "\n\n", " # "]));
    }
    text.into_bytes()
}

#[test]
fn any_yaml_is_read_or_refused_and_what_is_read_can_be_written() {
    target!("yaml", 1500, |input: &[u8]| {
        let mut tape = Tape::new(input);
        let text = if tape.once_in(2) { lines(&mut tape) } else { Tape::text_of(input, &TEXTS) };
        let Ok(source) = Source::from_yaml(&text) else { return };
        let document = source.document().unwrap();
        assert!(values(&document) <= VALUES_MAX);
        assert!(depth(&document) <= DEPTH_MAX);
        let Ok(written) = to_yaml(&document) else { return };
        let again = Source::from_yaml(written.as_bytes()).expect("what is written is read");
        assert!(waypost::diff(&again.document().unwrap(), &document).is_empty(), "{written}");
    });
}

#[test]
fn any_json_document_can_be_written_as_yaml() {
    target!("to_yaml", 1500, |input: &[u8]| {
        let text = match std::str::from_utf8(input) {
            Ok(text) => text.to_owned(),
            Err(_) => Tape::new(input).json(),
        };
        let Ok(document) = Document::from_json(text.as_bytes()) else { return };
        if !has_only_doubles(&document) {
            return;
        }
        let Ok(written) = to_yaml(&document) else { return };
        let again = Source::from_yaml(written.as_bytes()).expect("what is written is read");
        let again = again.document().unwrap();
        assert!(waypost::diff(&again, &document).is_empty(), "{document:?}\n{written}");
    });
}

#[test]
fn any_config_is_read_or_refused() {
    let texts = [
        Config::template().as_bytes().to_vec(),
        concat!(
            "checkpoint:\n  retention:\n    preset: aiwg\n",
            "    iteration: {keep_last: 5, max_age: 30d}\n    default: 10\n",
            "  rules:\n    - {status: failed, trigger: [manual, error], keep_last: 3, ",
            "keep_within: 12h}\n  storage: {max_size_mb: 50, max_store_size_mb: 1.5}\n",
        )
        .as_bytes()
        .to_vec(),
        b"checkpoint: {enabled: false, triggers: {iteration: off}, on_success: remove}".to_vec(),
    ];
    target!("config", 2000, |input: &[u8]| {
        let text = Tape::text_of(input, &texts);
        let config = match Config::from_yaml_bytes(&text) {
            Ok(config) => config,
            Err(error) => {
                assert!(error.to_string().len() < 2000, "a refusal is short");
                return;
            }
        };
        for trigger in Trigger::ALL {
            let _ = config.refusal(&trigger);
        }
        let _ = (config.switched_off(), config.location(), config.compress());
        if let Some(policy) = config.policy() {
            assert_eq!(plan(&[], policy, Timestamp::now()).removed().count(), 0);
            let json = serde_json::to_string(policy).unwrap();
            assert_eq!(serde_json::from_str::<Policy>(&json).unwrap(), *policy);
        }
    });
}

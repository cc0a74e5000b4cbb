//! Files that are refused, and texts that are none.

use proptest::prelude::*;

use super::*;

/// Lines below `checkpoint:`, which is line 1, and the key and reason of their refusal.
const REFUSED: &str = include_str!("refused.txt");

#[test]
fn what_is_wrong_is_named_with_its_key_and_line() {
    for case in REFUSED.trim_end().split("\n\n") {
        let (lines, error) = case.split_once("\n=> ").unwrap();
        let (key, reason) = error.split_once(": ").unwrap();
        assert_refused(&file(lines), key, reason);
    }
}

#[test]
fn every_key_is_refused_at_least_once() {
    for key in every_key() {
        let is_refused =
            |line: &str| line.starts_with("=> ") && line.contains(&format!(".{key}: "));
        let is_item = |line: &str| line.starts_with("=> ") && line.contains(&format!(".{key}["));
        assert!(REFUSED.lines().any(|line| is_refused(line) || is_item(line)), "{key}");
    }
}

#[test]
fn what_does_not_stand_below_checkpoint_is_refused() {
    let missing = "line 1: is missing; everything stands below it";
    for (text, key, reason) in [
        ("", "checkpoint", missing),
        ("# nothing\n", "checkpoint", missing),
        ("retention:\n  manual: 1\n", "retention", "line 1: belongs below `checkpoint:`"),
        ("checkpoint: {}\nenabled: false\n", "enabled", "line 2: belongs below `checkpoint:`"),
        ("checkpont: {}\n", "checkpont", "line 1: is not known here; did you mean checkpoint?"),
        ("checkpoint: on\n", "checkpoint", "line 1: should be keys with values, not true"),
        ("- checkpoint\n", "config", "line 1: should be keys with values, not a list"),
        (
            "checkpoint: {}\n---\n",
            "YAML",
            "line 2 column 1: a second document starts here, where one is read",
        ),
        ("checkpoint: [\n", "YAML", "line 1 column 13: unclosed bracket '['"),
    ] {
        assert_refused(text, key, reason);
    }
    let long = file(&format!("on_success: {}", "x".repeat(50)));
    let reason = "line 2: should be one of rules, keep_newest, remove, not a long text";
    assert_refused(&long, "checkpoint.on_success", reason);
}

fn assert_refused(text: &str, key: &str, expected: &str) {
    match Config::from_yaml(text) {
        Err(Error::Invalid { what, reason }) => {
            assert_eq!((what.to_string().as_str(), reason.as_str()), (key, expected), "{text}");
        }
        other => panic!("{text}\n{other:?}"),
    }
}

/// Files of the words that mean something, in any order and shape.
fn words() -> impl Strategy<Value = String> {
    let mut words = every_key();
    words.extend([
        "iteration",
        "manual",
        "conflict_events",
        "own",
        "trigger",
        "status",
        "default",
        "preset",
        "aiwg",
        "-1",
        "3",
        "2d",
        "all",
        "on",
    ]);
    words.extend(["[", "]", "{", "}", "- ", ": ", ", ", "\n", "\n  ", "\n    ", "\n      "]);
    let word = prop::sample::select(words);
    prop::collection::vec(word, 0..40).prop_map(|words| file(&words.concat()))
}

proptest! {
    #[test]
    fn whatever_the_text_is_it_is_read_or_refused(text in ".{0,200}") {
        let _ = Config::from_yaml(&text);
        let _ = Config::from_yaml(&file(&text));
    }

    #[test]
    fn whatever_the_words_are_they_are_read_or_refused_with_a_line(text in words()) {
        if let Err(error) = Config::from_yaml(&text) {
            let Error::Invalid { reason, .. } = error else { panic!("{error}") };
            prop_assert!(reason.starts_with("line "), "{}", reason);
        }
    }
}

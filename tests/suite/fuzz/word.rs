//! What people type: conditions, times, ages, ids and names of all kinds.

use std::fmt::Display;
use std::str::FromStr;
use std::sync::LazyLock;

use waypost::artifact::Hash;
use waypost::diff::Pointer;
use waypost::layouts::{aiwg, claude, crunch};
use waypost::query::Cursor;
use waypost::retention::Age;
use waypost::{
    Condition, Document, Error, Id, Issue, Layout, LoopId, NewEntry, Series, Status, Store,
    Timestamp, Trigger,
};

use crate::tape::Tape;

const EXAMPLES: [&str; 24] = [
    "2026-01-25T15:00:00.123456789+23:59",
    "9999-12-31T23:59:59.999999999Z",
    "-009999-01-02T00:00:00Z",
    "9223372036854775807us",
    "-9223372036854775808us",
    "20260125T150000Z",
    "2016-12-31T23:59:60Z[UTC]",
    "2026-01-25T24:00:00Z",
    "30d",
    "18446744073709551615s",
    "30500568904943w",
    "phase_boundary",
    "in_progress",
    "0198c5a0-7c1f-7e64-a1cd-7b8d1e3b1a2c",
    "-9223372036854775808.281474976710655",
    "1769353200123456.7",
    "/state/a~1b/0",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "CP-phase-20250114-a3f2",
    "implement_x_20251003_192230",
    "checkpoint-3-1771079400123.json.gz",
    "w-2026-01-25T15-00-00Z-iteration.json.gz",
    "ralph-fix-tests-a1b2c3d4",
    "loop:a@3",
];

/// What is read from a text is printed so that it is read again.
fn comes_back<T: FromStr + Display + PartialEq + std::fmt::Debug>(text: &str) {
    let Ok(value) = text.parse::<T>() else { return };
    let printed = value.to_string();
    let again = printed.parse::<T>().ok();
    assert_eq!(again, Some(value), "{text:?} is printed as {printed:?}");
}

#[test]
fn any_word_is_taken_or_refused_and_printed_as_it_is_read() {
    let examples = EXAMPLES.map(|text| text.as_bytes().to_vec());
    target!("word", 3000, |input: &[u8]| {
        let bytes = Tape::text_of(input, &examples);
        let text = String::from_utf8_lossy(&bytes);
        comes_back::<Timestamp>(&text);
        comes_back::<Age>(&text);
        comes_back::<Trigger>(&text);
        comes_back::<Status>(&text);
        comes_back::<Layout>(&text);
        comes_back::<Id>(&text);
        comes_back::<Series>(&text);
        comes_back::<Issue>(&text);
        comes_back::<LoopId>(&text);
        comes_back::<Cursor>(&text);
        comes_back::<Pointer>(&text);
        comes_back::<Hash>(&text);
        comes_back::<crunch::IssueCheckpointId>(&text);
        comes_back::<claude::WorkflowCheckpointId>(&text);
        comes_back::<aiwg::LoopFileName>(&text);
    });
}

#[test]
fn any_time_has_one_text_and_texts_sort_as_times_do() {
    target!("time", 4000, |input: &[u8]| {
        let mut tape = Tape::new(input);
        let mut time = || Timestamp::from_micros(tape.signed());
        let (one, other) = (time(), time());
        for time in [one, other] {
            assert_eq!(time.to_string().parse::<Timestamp>().unwrap(), time);
        }
        let is_plain =
            |time: Timestamp| time.to_string().len() == "2026-01-25T15:00:00.000000Z".len();
        if is_plain(one) && is_plain(other) {
            assert_eq!(one.cmp(&other), one.to_string().cmp(&other.to_string()));
        }
        assert!(one.saturating_since(other).is_zero() || one > other);
    });
}

/// A condition that is right more often than not.
fn condition(tape: &mut Tape<'_>) -> String {
    let mut text = String::new();
    for _ in 0..=tape.below(6) {
        text.push_str(tape.pick::<&str>(&["", "not ", "(", "not not ", "((", ""]));
        text.push_str(tape.pick::<&str>(&["/a", "/b/0", "/a~1b", "\"/x y\"", "", "/s", "a"]));
        let relations =
            [" == ", " != ", "<", ">=", " ~ ", " exists", " absent", " = ", "~1", "<=", " > "];
        text.push_str(tape.pick::<&str>(&relations));
        match tape.byte() % 4 {
            0 => text.push_str(&tape.signed().to_string()),
            1 => {
                text.push_str(tape.pick::<&str>(&["true", "null", "NaN", "1e999", "\"q\\u0041\""]));
            }
            2 => text.push_str(&tape.text()),
            _ => {}
        }
        text.push_str(tape.pick::<&str>(&[" and ", " or ", ")", "))", "", " "]));
    }
    text
}

#[test]
fn any_condition_is_read_or_refused_and_not_turns_it_around() {
    target!("condition", 3000, |input: &[u8]| {
        let mut tape = Tape::new(input);
        let text = match std::str::from_utf8(input) {
            Ok(text) => text.to_owned(),
            Err(_) => condition(&mut tape),
        };
        let parsed = match text.parse::<Condition>() {
            Ok(parsed) => parsed,
            Err(Error::Invalid { .. } | Error::Limit { .. }) => return,
            Err(other) => panic!("{other}"),
        };
        assert!(parsed.pointers().len() <= text.len());
        let json = tape.json();
        let document = Document::from_json(json.as_bytes()).unwrap_or_default();
        let Ok(negated) = format!("not ({text})").parse::<Condition>() else {
            assert!(text.len() > 4000 || text.matches(['(', 'n']).count() > 60, "{text}");
            return;
        };
        assert_ne!(negated.holds(&document), parsed.holds(&document), "{text}");
        assert_eq!(negated.pointers(), parsed.pointers());
    });
}

static STORE: LazyLock<(tempfile::TempDir, Store)> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("store.redb")).unwrap();
    for (series, number) in [("loop:a", 1), ("loop:a", 2), ("x@1", 3), ("issue:42", 4)] {
        let series = Some(Series::new(series).unwrap());
        store.save(NewEntry { series, ..NewEntry::default() }, &number).unwrap();
    }
    (dir, store)
});

#[test]
fn any_name_leads_to_a_checkpoint_or_to_none() {
    let names = ["loop:a@0", "loop:a@1", "x@1@0", "42", "latest", "loop:a", "0"];
    let names = names.map(|text| text.as_bytes().to_vec());
    target!("target", 300, |input: &[u8]| {
        let bytes = Tape::text_of(input, &names);
        let text = String::from_utf8_lossy(&bytes);
        let store = &STORE.1;
        match store.resolve(&text) {
            Ok(entry) => assert_eq!(store.entry(&entry.id).unwrap(), entry),
            Err(Error::NotFound { .. } | Error::Invalid { .. } | Error::Ambiguous { .. }) => {}
            Err(other) => panic!("{other}"),
        }
        assert!(store.targets(&text).unwrap_or_default().len() <= 4);
        assert!(store.nearby(&text).unwrap_or_default().len() <= 4);
    });
}

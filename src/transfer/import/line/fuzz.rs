//! Hostile lines of an export.

use std::sync::LazyLock;

use super::{bytes_of, draft, is_one};
use crate::checkpoint::Hash;
use crate::error::Error;
use crate::store::Store;
use crate::tape::Tape;

static STORE: LazyLock<(tempfile::TempDir, Store)> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("store.redb")).unwrap();
    (dir, store)
});

fn examples() -> Vec<Vec<u8>> {
    let hash = Hash::of(b"x");
    let lines = [
        r#"{"version":1,"id":"one","series":"loop:a","loop_id":"a","trigger":"iteration",
           "status":"in_progress","created_at":"2026-01-25T15:00:00.000000Z","tags":["t"],
           "warnings":[],"iteration":3,"sequence":7,"document":{"a":[1,2.50,"x"]}}"#
            .to_owned(),
        r#"{"id":"two","document":{"a":1},"source_path":"a.json","source":{"format":"json",
           "style":{"spacing":{"indent":2},"is_ascii":true}}}"#
            .to_owned(),
        r#"{"id":"three","document":null,"source":{"format":"unreadable","text_bytes":2},
           "source_hex":"ff00"}"#
            .to_owned(),
        format!(
            r#"{{"id":"four","document":[],"artifact_count":1,"artifacts":[{{"path":"a/b",
               "sha256":"{hash}","mode":384,"status":"created","bytes":1,"text":"x"}}]}}"#
        ),
    ];
    lines.into_iter().map(|line| line.replace('\n', "").into_bytes()).collect()
}

#[test]
fn any_line_is_taken_or_refused() {
    let examples = examples();
    let store = &STORE.1;
    for example in &examples {
        let line = String::from_utf8_lossy(example);
        assert!(draft(store, example).is_ok(), "{line}");
    }
    target!("export_line", 2000, |input: &[u8]| {
        let line = Tape::text_of(input, &examples);
        match draft(&STORE.1, &line) {
            Ok(taken) => {
                assert!(is_one(&line));
                assert!(taken.draft.raw_bytes() <= 16 * line.len(), "no more than it brings");
            }
            Err(Error::Invalid { .. } | Error::Limit { .. }) => {}
            Err(other) => panic!("{other}"),
        }
    });
}

/// A sign before the last digit was taken for a digit.
#[test]
fn a_sign_is_no_hexadecimal_digit() {
    assert_eq!(bytes_of("hex", "00fF").unwrap(), [0, 255]);
    for wrong in ["+f", "-1", "0", "0 ", "\u{e9}", "00+1"] {
        assert!(bytes_of("hex", wrong).is_err(), "{wrong}");
    }
}

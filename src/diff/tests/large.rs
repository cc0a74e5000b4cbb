//! Documents that are too large to compare at once.

use super::apply;
use crate::checkpoint::{Document, TextStyle};
use crate::diff::diff_within;
use crate::diff::large::{Bounded, Bounds};

const BOUNDS: Bounds = Bounds { values: 1000, changes: 100 };

fn numbers(count: u64) -> Vec<Document> {
    (0..count).map(Document::Uint).collect()
}

fn object(fields: Vec<(&str, Document)>) -> Document {
    Document::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// The number of operations of a patch, which is checked, and whether it is coarse.
fn compared(old: &Document, new: &Document) -> (usize, bool) {
    let mut comparison = Bounded::new(BOUNDS);
    comparison.compare(old, new);
    assert!(comparison.hashed_max <= BOUNDS.values, "{} values", comparison.hashed_max);
    let found = diff_within(old, new, BOUNDS);
    let patch = found.to_patch();
    apply::check(old, new, &patch);
    (patch.len(), found.is_coarse())
}

/// Two documents of ten million values took 2 GB: all values of both were hashed at once.
#[test]
fn the_number_of_values_hashed_at_once_is_bounded() {
    let (long, mut changed) = (numbers(5000), numbers(5000));
    changed[17] = Document::Null;
    changed[4000] = Document::Null;
    let (old, new) = (Document::Array(long.clone()), Document::Array(changed));
    assert_eq!(compared(&old, &old.clone()), (0, false));
    assert_eq!(compared(&old, &new), (2, true), "by place");
    let more = Document::Array([long.clone(), numbers(3)].concat());
    assert_eq!(compared(&old, &more), (3, true), "what is added at the end");
    assert_eq!(compared(&more, &old), (3, true));
    let all = Document::Array(long.iter().map(|_| Document::Null).collect());
    assert_eq!(compared(&old, &all), (1, true), "more changes than are told one by one");
    assert_eq!(compared(&old, &Document::Null), (1, false));
}

#[test]
fn small_parts_of_a_large_document_are_compared_in_full() {
    let part = |first: u64| Document::Array((first..first + 50).map(Document::Uint).collect());
    let wrap = |part: Document, last: &str| {
        let text = Document::Text(last.to_owned());
        object(vec![("long", Document::Array(numbers(5000))), ("part", part), ("last", text)])
    };
    // One element was removed and another added; compared by place, that would be fifty changes.
    assert_eq!(compared(&wrap(part(0), "a"), &wrap(part(1), "b")), (3, false));
    let keys: Vec<String> = (0..600).map(|number| number.to_string()).collect();
    let wide =
        |value: u64| object(keys.iter().map(|key| (key.as_str(), Document::Uint(value))).collect());
    assert_eq!(compared(&wide(1), &wide(2)), (1, true), "too many keys");
}

/// The path of each change repeats every key above it, and a hostile document may have keys of any
/// length.
#[test]
fn paths_that_repeat_long_keys_are_bounded_too() {
    let deep = |value: Document| object(vec![("k".repeat(100_000).as_str(), value)]);
    let (long, mut changed) = (numbers(5000), numbers(5000));
    changed.iter_mut().step_by(60).for_each(|value| *value = Document::Null);
    let by_place = [long, changed].map(|items| deep(Document::Array(items)));
    let part = |value: u64| {
        let keys: Vec<String> = (0..90).map(|key| key.to_string()).collect();
        let fields = keys.iter().map(|key| (key.as_str(), Document::Uint(value))).collect();
        deep(object(vec![("part", object(fields)), ("long", Document::Array(numbers(5000)))]))
    };
    for [old, new] in [by_place, [part(0), part(1)]] {
        let found = diff_within(&old, &new, BOUNDS);
        let patch = found.to_patch();
        apply::check(&old, &new, &patch);
        let bytes: usize = patch
            .iter()
            .map(|it| it.to_document().to_json(TextStyle::default()).unwrap().len())
            .sum();
        assert!(bytes < 2_000_000, "{bytes} bytes");
        assert!(found.is_coarse());
    }
}

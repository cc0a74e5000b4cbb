//! Whatever two documents are: the patch between them makes one of the other.

use proptest::prelude::*;
use proptest::sample::Index;

use super::apply;
use crate::checkpoint::Document;
use crate::diff::large::Bounds;
use crate::diff::{diff, diff_within};

/// Few values and keys, so that equal ones meet often.
fn document() -> impl Strategy<Value = Document> {
    let scalar = prop_oneof![
        Just(Document::Null),
        any::<bool>().prop_map(Document::Bool),
        (0_u64..5).prop_map(Document::Uint),
        (-3_i64..0).prop_map(Document::Int),
        prop::sample::select(vec![0.5, 1.0, f64::NAN, f64::INFINITY]).prop_map(Document::Float),
        prop::sample::select(vec!["1e0", "1.50", "1e999", "12345678901234567890123"])
            .prop_map(|literal| Document::Number(literal.to_owned())),
        prop::sample::select(vec!["", "a", "a b c", "a\nb\n"])
            .prop_map(|text| Document::Text(text.to_owned())),
        prop::collection::vec(any::<u8>(), 0..2).prop_map(Document::Bytes),
    ];
    scalar.prop_recursive(4, 60, 8, |inner| {
        let key = prop::sample::select(vec!["", "a", "b", "id", "a/b", "~", "~1", "0"]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Document::Array),
            prop::collection::vec((key.prop_map(str::to_owned), inner), 0..6)
                .prop_map(Document::Object),
        ]
    })
}

#[derive(Debug, Clone)]
enum Edit {
    Insert(Index, Document),
    Remove(Index),
    Move(Index, Index),
    Change(Index, Document),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        (any::<Index>(), document()).prop_map(|(at, value)| Edit::Insert(at, value)),
        any::<Index>().prop_map(Edit::Remove),
        (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Edit::Move(from, to)),
        (any::<Index>(), document()).prop_map(|(at, value)| Edit::Change(at, value)),
    ]
}

fn make(items: &mut Vec<Document>, edit: Edit) {
    match edit {
        Edit::Insert(at, value) => items.insert(at.index(items.len() + 1), value),
        Edit::Remove(at) if !items.is_empty() => {
            items.remove(at.index(items.len()));
        }
        Edit::Move(from, to) if !items.is_empty() => {
            let item = items.remove(from.index(items.len()));
            items.insert(to.index(items.len() + 1), item);
        }
        Edit::Change(at, value) if !items.is_empty() => {
            let at = at.index(items.len());
            match &mut items[at] {
                Document::Object(fields) => fields.push(("changed".to_owned(), value)),
                Document::Array(inner) => inner.push(value),
                other => *other = value,
            }
        }
        Edit::Remove(_) | Edit::Move(..) | Edit::Change(..) => {}
    }
}

fn long_array(kind: u8) -> Vec<Document> {
    let field = |key: &str, value: u64| (key.to_owned(), Document::Uint(value));
    let element = |number: u64| match kind {
        0 => Document::Uint(number),
        1 => Document::Uint(number * number % 7),
        2 => Document::Object(vec![field("id", number), field("state", number % 3)]),
        _ => Document::Object(vec![
            field("a", number % 5),
            field("b", number % 7),
            field("c", number % 11),
        ]),
    };
    (0..1_500).map(element).collect()
}

proptest! {
    #[test]
    fn any_document_becomes_any_other(old in document(), new in document()) {
        apply::check(&old, &new, &diff(&old, &new).to_patch());
    }

    #[test]
    fn any_document_becomes_any_other_under_any_bounds(
        old in document(),
        edits in prop::collection::vec(edit(), 0..8),
        other in document(),
        values in 0_usize..40,
        changes in 0_usize..10,
    ) {
        let mut new = vec![old.clone(), other.clone(), old.clone()];
        let old = Document::Array(new.clone());
        for edit in edits {
            make(&mut new, edit);
        }
        for new in [Document::Array(new), other] {
            let found = diff_within(&old, &new, Bounds { values, changes });
            apply::check(&old, &new, &found.to_patch());
            prop_assert_eq!(found.is_empty(), diff(&old, &new).is_empty());
        }
    }

    #[test]
    fn a_document_is_like_itself(document in document()) {
        prop_assert!(diff(&document, &document.clone()).is_empty());
    }

    #[test]
    fn edits_are_found(
        old in prop::collection::vec(document(), 0..12),
        edits in prop::collection::vec(edit(), 0..8),
    ) {
        let mut new = old.clone();
        for edit in edits {
            make(&mut new, edit);
        }
        let wrap = |items| Document::Object(vec![("items".to_owned(), Document::Array(items))]);
        let (old, new) = (wrap(old), wrap(new));
        apply::check(&old, &new, &diff(&old, &new).to_patch());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn few_edits_of_a_long_array_are_few_operations(
        kind in 0_u8..4,
        edits in prop::collection::vec(edit(), 0..30),
    ) {
        let old = long_array(kind);
        let mut new = old.clone();
        let count = edits.len();
        for edit in edits {
            make(&mut new, edit);
        }
        let (old, new) = (Document::Array(old), Document::Array(new));
        let operations = diff(&old, &new).to_patch();
        // A move may look like two edits, and so may a change.
        prop_assert!(operations.len() <= 2 * count, "{} for {count}", operations.len());
        apply::check(&old, &new, &operations);
    }
}

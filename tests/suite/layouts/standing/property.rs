//! Hostile documents: every value is shown or left out, and output is bounded.

use std::fs;
use std::sync::LazyLock;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};
use waypost::Layout;
use waypost::layouts::Standing;

use super::super::fixtures;
use super::super::property::{any_value, pointers};
use super::of;

static EXAMPLES: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let directories = [
        "agentize",
        "aiwg",
        "aiwg/loops",
        "claude",
        "crunch",
        "pipeline",
        "pipeline/successor",
        "relatives",
    ];
    let files = directories.iter().flat_map(|layout| fixtures(layout, "", ".json"));
    files.map(|path| serde_json::from_slice(&fs::read(path).unwrap()).unwrap()).collect()
});

/// Problems name fields that can be looked for, and quote nothing.
fn check(told: &Standing) {
    for refusal in &told.refusals {
        assert!(refusal.field.starts_with('/'));
        let is_known = refusal.rule == "is required to resume"
            || refusal.rule.ends_with(", the newest known version");
        assert!(is_known, "{refusal}");
    }
    assert!(told.score.is_none_or(f64::is_finite));
    let is_cut = |list: &Option<Vec<String>>| list.as_ref().is_none_or(|list| list.len() <= 10_000);
    assert!(is_cut(&told.tasks_done) && is_cut(&told.tasks_remaining));
}

/// Each field in turn is dropped, and replaced by a value of each type; every layout looks at it.
#[test]
fn no_field_of_any_type_stops_anything() {
    let types = [
        json!(null),
        json!(true),
        json!(-1),
        json!(u64::MAX),
        json!(0.5),
        json!(""),
        json!("x"),
        json!([]),
        json!([null, [], {}, 1, "x"]),
        json!({}),
        json!({"": {"x": []}, "status": 1}),
    ];
    for example in EXAMPLES.iter() {
        for pointer in pointers(example) {
            for value in &types {
                let mut changed = example.clone();
                // Names of files are keys of one of them, and have a slash.
                let Some(place) = changed.pointer_mut(&pointer) else { continue };
                *place = value.clone();
                let document = super::document(&changed);
                for layout in Layout::ALL {
                    check(&super::standing(&super::bare(layout), &document));
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn whatever_a_document_says_it_is_told(
        example in select(EXAMPLES.clone()),
        changes in vec((any::<Index>(), any_value()), 0..6),
        layout in select(Layout::ALL.to_vec()),
    ) {
        let mut document = example;
        for (at, value) in changes {
            let pointers = pointers(&document);
            if let Some(place) = document.pointer_mut(&pointers[at.index(pointers.len())]) {
                *place = value;
            }
        }
        check(&of(layout, &document));
    }
}

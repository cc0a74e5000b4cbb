//! The index of crunch's checkpoints, made of entries and documents.

use std::fs;

use waypost::layouts::{Scalar, crunch, file_as, from_yaml};
use waypost::source::Format;
use waypost::{Id, Layout, Trigger};

use super::super::{fixtures, printed};
use super::{document, entry, state};

#[test]
fn an_index_is_written_like_the_template() {
    let yaml = fs::read_to_string(&fixtures("crunch", "index", ".yaml")[0]).unwrap();
    let index: crunch::Index = from_yaml(yaml.as_bytes()).unwrap();
    let file = index.file(Format::Yaml).unwrap();
    assert_eq!((file.name, file.text.as_str()), ("index.yaml", yaml.as_str()));
    assert_eq!(file.latest.as_deref(), Some("CP-enrich-20250114-b4c5.yaml"));
    let json = fs::read_to_string(&fixtures("crunch", "index", ".json")[0]).unwrap();
    let file = index.file(Format::Json).unwrap();
    assert_eq!((file.name, file.text.as_str()), ("index.json", json.as_str()));
    assert_eq!(file.latest.as_deref(), Some("CP-enrich-20250114-b4c5.json"));
    let stray = crunch::Index { latest: "../../x".to_owned().into(), ..index };
    assert_eq!(stray.file(Format::Yaml).unwrap().latest, None);
}

#[test]
fn an_index_knows_from_the_entries_why_each_was_saved() {
    let mut rows = Vec::new();
    for (id, trigger, time) in [
        ("b", Trigger::BatchComplete, "2026-02-02T22:00:00Z"),
        ("a", Trigger::PhaseBoundary, "2026-02-02T21:00:00Z"),
    ] {
        let mut entry = entry(Layout::Crunch);
        (entry.id, entry.trigger) = (Id::new(id).unwrap(), trigger);
        entry.created_at = time.parse().unwrap();
        let file = file_as(Layout::Crunch, &entry, &document(&state())).unwrap();
        rows.push(crunch::IndexEntry::of(&entry, &file.document));
    }
    let index = crunch::Index::of_entries(Scalar::from(42).into(), rows);
    assert_eq!(printed(&index.validate()), [""; 0]);
    let triggers = index.checkpoints.value().unwrap().iter().map(|row| &row.trigger);
    let triggers: Vec<_> = triggers.map(|it| it.value().unwrap().as_str()).collect();
    assert_eq!(triggers, ["phase_transition", "batch_complete"]);
}

//! What a checkpoint may be called, and which one is meant then.

use waypost::{Error, Id, Issue, LoopId, NewEntry, Series, Store, Timestamp};

use crate::store::Place;

struct Named {
    _dir: tempfile::TempDir,
    store: Store,
}

impl Named {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path().join("store.redb")).unwrap();
        Self { _dir: dir, store }
    }

    fn save(&self, id: &str, about: NewEntry) {
        let id = Some(Id::new(id).unwrap());
        self.store.save(NewEntry { id, ..about }, &id_number(&self.store)).unwrap();
    }

    #[track_caller]
    fn resolves(&self, text: &str, id: &str) {
        assert_eq!(self.store.resolve(text).unwrap().id.as_str(), id, "{text}");
    }

    #[track_caller]
    fn fails(&self, text: &str) -> Error {
        self.store.resolve(text).unwrap_err()
    }
}

fn id_number(store: &Store) -> u64 {
    store.count().unwrap()
}

fn series(name: &str) -> NewEntry {
    NewEntry { series: Some(Series::new(name).unwrap()), ..NewEntry::default() }
}

fn issue(name: &str) -> NewEntry {
    NewEntry { issue: Some(Issue::new(name).unwrap()), ..NewEntry::default() }
}

fn in_loop(name: &str) -> NewEntry {
    NewEntry { loop_id: Some(LoopId::new(name).unwrap()), ..NewEntry::default() }
}

/// The twelfth byte was within a character, and the answer that the store is damaged.
#[test]
fn a_name_with_any_characters_in_it_is_not_found() {
    let place = Place::new();
    let store = place.open();
    for name in
        ["01234567-89a\u{e9}", "\u{1f600}\u{1f600}\u{1f600}\u{1f600}", "ab-\u{e9}cdefabcde\u{e9}"]
    {
        for start in 0..4 {
            let name = format!("{}{name}", &"0000"[start..]);
            let found = store.resolve(&name);
            assert!(matches!(found, Err(Error::NotFound { .. })), "{name}: {found:?}");
        }
    }
}

#[test]
fn a_name_alone_is_its_newest_and_a_number_counts_back() {
    let named = Named::new();
    named.save("a-0", issue("PROJ-42"));
    named.save("a-1", NewEntry { series: series("other").series, ..issue("PROJ-42") });
    named.save("b-0", in_loop("ralph-x-00000000"));
    named.save("b-1", in_loop("ralph-x-00000000"));
    for (text, id) in [
        ("PROJ-42", "a-1"),
        ("#PROJ-42", "a-1"),
        ("PROJ-42@1", "a-0"),
        ("#PROJ-42@1", "a-0"),
        ("issue:PROJ-42", "a-0"),
        ("other@0", "a-1"),
        ("ralph-x-00000000", "b-1"),
        ("ralph-x-00000000@1", "b-0"),
        ("loop:ralph-x-00000000@1", "b-0"),
        ("latest", "b-1"),
    ] {
        named.resolves(text, id);
    }
    for text in ["proj-42", "PROJ-4", "PROJ-42@2", "PROJ-42@x", "@0", "other@-1", "42"] {
        assert!(matches!(named.fails(text), Error::NotFound { .. }), "{text}");
    }
}

#[test]
fn ids_come_before_series_before_issues_before_loops() {
    let named = Named::new();
    named.save("l", in_loop("x"));
    named.resolves("x", "l");
    named.save("i", issue("x"));
    named.resolves("x", "i");
    named.save("s", series("x"));
    named.resolves("x", "s");
    named.save("x", series("elsewhere"));
    named.resolves("x", "x");
    // The number belongs to the name, not to the id.
    named.resolves("x@0", "s");
}

#[test]
fn a_name_with_a_number_in_it_is_a_name() {
    let named = Named::new();
    for id in ["a-0", "a-1", "a-2"] {
        named.save(id, series("user"));
    }
    named.resolves("user@2", "a-0");
    named.save("b-0", series("user@2"));
    named.resolves("user@2", "b-0");
    named.resolves("user@2@0", "b-0");
}

/// A story must not be taken for another one, nor an id for a story.
#[test]
fn a_whole_name_comes_before_the_start_of_an_id_of_others() {
    let named = Named::new();
    named.save("PROJ-42-cp-7", series("elsewhere"));
    named.resolves("PROJ-42", "PROJ-42-cp-7");
    named.save("a-0", issue("PROJ-42"));
    named.resolves("PROJ-42", "a-0");
    let made = named.store.save(series("elsewhere"), &1).unwrap().id;
    let start = &made.as_str()[..13];
    named.resolves(start, made.as_str());
    named.save("b-0", issue(start));
    let Error::Ambiguous { first, second, .. } = named.fails(start) else { panic!("it is clear") };
    assert_eq!((first, second), (format!("{start}@0"), made.to_string()));
}

#[test]
fn issues_are_listed_wherever_they_are_worked_on() {
    let named = Named::new();
    named.save("a", issue("42"));
    named.save("b", NewEntry { series: series("work").series, ..issue("PROJ-1") });
    named.save("c", series("issue:none"));
    let found: Vec<String> = named.store.issues().unwrap().iter().map(Issue::to_string).collect();
    assert_eq!(found, ["42", "PROJ-1"]);
}

/// Ids of one millisecond start with the same 13 characters, whichever of them are shown.
#[test]
fn an_id_is_cut_only_as_far_as_it_leads_to_one_checkpoint() {
    let named = Named::new();
    let ids = [
        "019a8b2c-d3e4-7000-8000-000000000001",
        "019a8b2c-d3e4-7000-8000-000000000002",
        "019a8b2c-d3e4-7001-8000-000000000001",
        "019a8b2c-d3e5-7000-8000-000000000001",
        "of-another-system",
    ];
    for id in ids {
        let created_at = Some(Timestamp::from_micros(0x019a_8b2c_d3e4 * 1000));
        named.save(id, NewEntry { created_at, ..series("work") });
    }
    let length = |ids: &[&str]| {
        let ids: Vec<Id> = ids.iter().map(|id| Id::new(*id).unwrap()).collect();
        named.store.short_length(&ids.iter().collect::<Vec<_>>()).unwrap()
    };
    for (shown, expected) in [
        (&ids[..], 36),
        (&ids[..1], 36),
        (&ids[2..3], 18),
        (&ids[2..4], 18),
        (&ids[3..], 13),
        (&["019a8b2c-d3e6-7000-8000-000000000001"], 13),
    ] {
        assert_eq!(length(shown), expected, "{shown:?}");
    }
    for id in &ids[..4] {
        named.resolves(&id[..length(&[id])], id);
    }
    named.save("x", series(&ids[3][..13]));
    assert_eq!(length(&ids[3..4]), 18);
}

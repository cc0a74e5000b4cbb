//! The store through its public interface.

use std::collections::BTreeSet;
use std::time::Duration;

use waypost::{
    Document, Error, Hold, Id, Issue, JsonStyle, Layout, Limits, LoopId, NewEntry, Options, Query,
    Series, Source, Status, Store, Timestamp, Trigger,
};

/// Where a store of a test is.
pub(crate) struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> std::path::PathBuf {
        self.dir.path().join("store.redb")
    }

    pub(crate) fn open(&self) -> Store {
        Store::open(self.path()).unwrap()
    }

    pub(crate) fn open_with(&self, options: Options) -> Store {
        Store::open_with(self.path(), options).unwrap()
    }
}

pub(crate) fn named(id: &str) -> NewEntry {
    NewEntry { id: Some(Id::new(id).unwrap()), ..NewEntry::default() }
}

#[test]
fn what_is_saved_is_found_again_after_closing() {
    let place = Place::new();
    let store = place.open();
    let about = NewEntry { issue: Some(Issue::new("42").unwrap()), ..NewEntry::default() };
    let saved = store.save(about, &vec![1, 2, 3]).unwrap();
    let query = Query { issue: saved.issue.clone(), ..Query::default() };
    let found = store.latest(&query).unwrap().unwrap();
    assert_eq!(found.entry, saved);
    assert_eq!(found.state::<Vec<u32>>().unwrap(), [1, 2, 3]);
    store.close().unwrap();
    assert_eq!(place.open().get(&saved.id).unwrap(), found);
}

#[test]
fn every_field_of_an_entry_is_kept() {
    let text = |text: &str| Some(text.to_owned());
    let time = Timestamp::from_micros(1_769_353_200_123_456);
    let about = NewEntry {
        id: Some(Id::new("CP-1").unwrap()),
        series: Some(Series::new("mine").unwrap()),
        issue: Some(Issue::new("42").unwrap()),
        loop_id: Some(LoopId::new("any").unwrap()),
        workflow_id: text("w"),
        workflow_type: text("t"),
        session_id: text("s"),
        agent: text("a"),
        trigger: Trigger::PreRiskyOp,
        phase: text("p"),
        step: text("q"),
        iteration: Some(0),
        status: Status::Paused,
        created_at: Some(time),
        ordered_at: Some(Timestamp::from_micros(1_769_353_200_123_457)),
        updated_at: Some(Timestamp::from_micros(-5)),
        parent: Some(Id::new("CP-0").unwrap()),
        tags: BTreeSet::from(["x".to_owned()]),
        can_resume: Some(true),
        resume_from: text("r"),
        warnings: vec!["one".to_owned()],
        retention_days: Some(0),
        layout: Layout::Claude,
        source_path: text("a/b.json"),
    };
    let store = Place::new();
    let store = store.open();
    store.save(about.clone(), &()).unwrap();
    let found = store.entry(&Id::new("CP-1").unwrap()).unwrap();
    let back = NewEntry {
        id: Some(found.id),
        series: Some(found.series),
        issue: found.issue,
        loop_id: found.loop_id,
        workflow_id: found.workflow_id,
        workflow_type: found.workflow_type,
        session_id: found.session_id,
        agent: found.agent,
        trigger: found.trigger,
        phase: found.phase,
        step: found.step,
        iteration: found.iteration,
        status: found.status,
        created_at: Some(found.created_at),
        ordered_at: found.ordered_at,
        updated_at: found.updated_at,
        parent: found.parent,
        tags: found.tags,
        can_resume: found.can_resume,
        resume_from: found.resume_from,
        warnings: found.warnings,
        retention_days: found.retention_days,
        layout: found.layout,
        source_path: found.source_path,
    };
    assert_eq!(back, about);
}

#[test]
fn saving_the_same_again_is_a_no_op_and_other_content_an_error() {
    let place = Place::new();
    let store = place.open();
    let first = store.save(named("a"), &1).unwrap();
    assert_eq!(store.save(named("a"), &1).unwrap(), first);
    assert!(matches!(store.save(named("a"), &2), Err(Error::Exists { id }) if id == "a"));
    let other = NewEntry { status: Status::Failed, ..named("a") };
    assert!(matches!(store.save(other, &1), Err(Error::Exists { .. })));
    // A retry under an id that the store made up is safe too.
    let made = store.save(NewEntry::default(), &3).unwrap();
    assert_eq!(store.save(named(made.id.as_str()), &3).unwrap(), made);
    assert_eq!(store.stats().unwrap().checkpoints, 2);
}

#[test]
fn one_refused_draft_does_not_stop_a_batch() {
    let place = Place::new();
    let store = place.open();
    store.save(named("a"), &1).unwrap();
    let drafts = [("b", 1), ("a", 2), ("b", 1), ("c", 1)]
        .map(|(id, state)| store.draft(named(id), &state).unwrap());
    let outcomes = store.batch(drafts.into()).unwrap();
    let outcomes: Vec<_> = outcomes.iter().map(Result::is_ok).collect();
    assert_eq!(outcomes, [true, false, true, true]);
    assert_eq!(store.stats().unwrap().checkpoints, 3);
    assert!(store.batch(Vec::new()).unwrap().is_empty());
}

#[test]
fn deleting_is_all_or_nothing() {
    let place = Place::new();
    let store = place.open();
    let ids = ["a", "b"].map(|id| store.save(named(id), &1).unwrap().id);
    let missing = Id::new("missing").unwrap();
    let error = store.delete_now(&[ids[0].clone(), missing]).unwrap_err();
    assert!(matches!(error, Error::NotFound { wanted } if wanted == "missing"));
    assert!(store.get(&ids[0]).is_ok());
    // Named twice is deleted once.
    let deleted = store.delete_now(&[ids[0].clone(), ids[0].clone(), ids[1].clone()]).unwrap();
    assert_eq!(deleted.checkpoints, 2);
    assert!(matches!(store.get(&ids[0]), Err(Error::NotFound { .. })));
}

#[test]
fn a_sequence_is_never_given_out_twice() {
    let place = Place::new();
    let store = place.open();
    let first = store.save(NewEntry::default(), &1).unwrap();
    store.delete_now(&[first.id]).unwrap();
    store.close().unwrap();
    let store = place.open();
    let second = store.save(NewEntry::default(), &1).unwrap();
    assert!(second.sequence > first.sequence);
}

#[test]
fn ids_are_found_by_unique_prefix_and_by_series_and_count() {
    let place = Place::new();
    let store = place.open();
    let at = |second: i64| NewEntry {
        created_at: Some(Timestamp::from_micros(1_700_000_000_000_000 + second * 1_000_000)),
        issue: Some(Issue::new("7").unwrap()),
        ..NewEntry::default()
    };
    let first = store.save(at(0), &1).unwrap();
    let second = store.save(at(1), &2).unwrap();
    let legacy = store.save(named("CP-enrich-1"), &3).unwrap();
    for (text, entry) in [
        (first.id.as_str(), &first),
        (&first.id.as_str()[..20], &first),
        ("CP-e", &legacy),
        ("CP-enrich-1", &legacy),
        ("latest", &legacy),
        ("issue:7@0", &second),
        ("issue:7@1", &first),
    ] {
        assert_eq!(store.resolve(text).unwrap(), *entry, "{text}");
    }
    for missing in ["CP-x", "issue:7@2", "issue:8@0", "ffff"] {
        assert!(matches!(store.resolve(missing), Err(Error::NotFound { .. })), "{missing}");
    }
    assert!(matches!(store.resolve("018"), Err(Error::Invalid { .. })));
    let shared = &first.id.as_str()[..8];
    let error = store.resolve(shared).unwrap_err();
    assert!(matches!(error, Error::Ambiguous { prefix, .. } if prefix == shared));
}

#[test]
fn limits_are_named_with_their_number() {
    let place = Place::new();
    let limits =
        Limits { document_bytes: 100, depth: 2, name_bytes: 40, tags: 1, ..Limits::default() };
    let store = place.open_with(Options { limits, ..Options::default() });
    let limit = |about: NewEntry, json: &str| {
        store.save_json(about, json.as_bytes()).unwrap_err().to_string()
    };
    let long = format!("\"{}\"", "x".repeat(200));
    assert_eq!(
        limit(NewEntry::default(), &long),
        "length in bytes of the document is beyond the limit of 100"
    );
    assert_eq!(
        limit(NewEntry::default(), "[[[]]]"),
        "depth of the document at /0/0 is beyond the limit of 2"
    );
    assert_eq!(
        limit(named(&"x".repeat(41)), "1"),
        "length in bytes of the id is beyond the limit of 40"
    );
    let tags = ["a", "b"].map(str::to_owned).into();
    assert_eq!(
        limit(NewEntry { tags, ..NewEntry::default() }, "1"),
        "number of tags is beyond the limit of 1"
    );
    assert_eq!(store.stats().unwrap().checkpoints, 0);
}

#[test]
fn limits_beyond_what_the_format_holds_are_refused() {
    let place = Place::new();
    for limits in [
        Limits { depth: 513, ..Limits::default() },
        Limits { document_bytes: 1 << 40, ..Limits::default() },
        Limits { name_bytes: 1 << 20, ..Limits::default() },
        Limits { artifacts: 1 << 16, ..Limits::default() },
        Limits { artifact_bytes: 254 << 20, ..Limits::default() },
    ] {
        let options = Options { limits, ..Options::default() };
        let error = Store::open_with(place.path(), options).unwrap_err();
        assert!(matches!(error, Error::Invalid { .. }), "{error}");
        assert!(!place.path().exists());
    }
}

#[test]
fn a_document_beyond_a_lowered_limit_is_not_read() {
    let place = Place::new();
    let saved = place.open().save(NewEntry::default(), &"x".repeat(1000)).unwrap();
    let limits = Limits { document_bytes: 100, ..Limits::default() };
    let store = place.open_with(Options { limits, ..Options::default() });
    assert!(matches!(store.get(&saved.id), Err(Error::Limit { limit: 100, .. })));
    assert_eq!(store.entry(&saved.id).unwrap(), saved);
}

#[test]
fn large_documents_come_back() {
    let place = Place::new();
    let store = place.open();
    for count in [0_u64, 1, 500, 20_000, 400_000] {
        let numbers: Vec<u64> =
            (0..count).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let saved = store.save(NewEntry::default(), &numbers).unwrap();
        assert_eq!(store.get(&saved.id).unwrap().state::<Vec<u64>>().unwrap(), numbers);
    }
}

#[test]
fn a_loop_of_our_own_has_an_id_that_its_tools_accept() {
    let place = Place::new();
    let store = place.open();
    let about = |loop_id: &str, layout| NewEntry {
        loop_id: Some(LoopId::new(loop_id).unwrap()),
        workflow_type: Some("ralph_loop".to_owned()),
        layout,
        ..NewEntry::default()
    };
    store.save(about("ralph-fix-a1b2c3d4", Layout::Native), &1).unwrap();
    store.save(about("anything", Layout::Aiwg), &1).unwrap();
    let error = store.save(about("anything", Layout::Native), &1).unwrap_err();
    assert!(matches!(error, Error::Invalid { what, .. } if what == "loop_id"));
}

#[test]
fn a_trigger_can_be_relaxed_by_default() {
    let place = Place::new();
    let store = place.open_with(Options {
        relaxed: vec![Trigger::Heartbeat],
        flush_within: Duration::from_millis(20),
        // Letting go removes the journal.
        hold: Hold::Forever,
        ..Options::default()
    });
    let heartbeat = NewEntry { trigger: Trigger::Heartbeat, ..NewEntry::default() };
    let saved = store.save(heartbeat, &1).unwrap();
    assert_eq!(store.get(&saved.id).unwrap().state::<i32>().unwrap(), 1);
    let written = place.path().with_extension("redb.journal");
    assert!(std::fs::metadata(written).unwrap().len() > 0);
}

/// Names stayed for ever: ten thousand loops that were deleted left five megabytes.
#[test]
fn what_deleting_gives_back_is_what_is_stored_less() {
    let place = Place::new();
    let store = place.open();
    let state = |number: u64| -> Vec<u64> {
        (number..number + 60).map(|it| it.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
    };
    let ids: Vec<Id> =
        (0..40).map(|it| store.save(NewEntry::default(), &state(it)).unwrap().id).collect();
    let before = store.stats().unwrap().stored_bytes;
    let every_third: Vec<Id> = ids.iter().step_by(3).cloned().collect();
    let deleted = store.delete_now(&every_third).unwrap();
    assert_eq!(deleted.stored_bytes, before - store.stats().unwrap().stored_bytes);
}

#[test]
fn a_document_is_read_as_tree_and_as_text() {
    let place = Place::new();
    let store = place.open();
    let json = r#"{"z":1,"a":[0.5,"x"],"big":123456789012345678901234567890}"#;
    let saved = store.save_json(NewEntry::default(), json.as_bytes()).unwrap();
    let found = store.get(&saved.id).unwrap();
    assert_eq!(found.to_json(JsonStyle::Compact).unwrap(), json);
    let tree = found.document().unwrap();
    let big = Document::Number("123456789012345678901234567890".to_owned());
    assert_eq!(tree.get("big"), Some(&big));
}

/// Most of a series is stored as differences, of documents with and without a text behind them.
#[test]
fn the_text_of_a_file_comes_back_byte_for_byte() {
    let place = Place::new();
    let store = place.open();
    let notes = "notes that stay the same ".repeat(40);
    let text = |number: u64| match number % 4 {
        0 => format!("{{\n  \"n\": {number},\n  \"notes\": \"{notes}\"\n}}\n").into_bytes(),
        1 => format!("{{ \"n\": {number}, \"notes\": \"{notes}\" }}").into_bytes(),
        2 => format!("n: {number} # why\nnotes: {notes}\n").into_bytes(),
        _ => format!("{{\"n\": {number}, \"notes\": \"{notes}\u{0}").into_bytes(),
    };
    let source = |number: u64| match number % 4 {
        0 | 1 => Source::from_json(&text(number)).unwrap(),
        2 => Source::from_yaml(&text(number)).unwrap(),
        _ => Source::unreadable(&text(number)),
    };
    let drafts = (0..40)
        .map(|number| store.draft_source(named(&number.to_string()), source(number)).unwrap());
    for saved in store.batch(drafts.collect()).unwrap() {
        saved.unwrap();
    }
    store.close().unwrap();
    let store = place.open();
    for number in 0..40 {
        let found = store.get(&Id::new(number.to_string()).unwrap()).unwrap();
        assert_eq!(found.source_text().unwrap().unwrap(), text(number));
        let is_styled = found.entry.source.unwrap().style.is_some();
        assert_eq!(is_styled, number % 4 == 0);
        let document = found.document().unwrap();
        let known = (number % 4 != 3).then_some(Document::Uint(number));
        assert_eq!(document.get("n").cloned(), known);
    }
    let stats = store.stats().unwrap();
    assert!(stats.stored_bytes < 40 * 300, "{}", stats.stored_bytes);
}

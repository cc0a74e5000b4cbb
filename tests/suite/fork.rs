//! Forks and rollbacks through the public interface.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use waypost::artifact::ArtifactStatus;
use waypost::retention::Rule;
use waypost::source::{JsonStyle, Source};
use waypost::{
    Document, Error, Id, Issue, Layout, LoopId, NewArtifact, NewEntry, Options, Policy, Query,
    Series, Settings, Status, Store, Timestamp, Trigger, plan,
};

use crate::store::{Place, named};

/// Keys out of order and twice, and numbers that no machine type keeps.
const JSON: &str = r#"{"z":1.50,"a":[1e400,-0,12345678901234567890123],"z":{"":null}}"#;

fn series(name: &str) -> Series {
    Series::new(name).unwrap()
}

fn of_series(name: &str, id: &str) -> NewEntry {
    NewEntry { series: Some(series(name)), ..named(id) }
}

fn id(text: &str) -> Id {
    Id::new(text).unwrap()
}

fn newest(store: &Store, name: &str) -> Id {
    let query = Query { series: Some(series(name)), ..Query::default() };
    store.latest(&query).unwrap().unwrap().entry.id
}

#[test]
fn a_fork_has_the_same_document_to_the_byte() {
    let place = Place::new();
    let store = place.open();
    store.save_json(of_series("a", "1"), JSON.as_bytes()).unwrap();
    let yaml = Source::from_yaml(b"b: 1\na: 0o17\n").unwrap();
    store.save_draft(store.draft_source(of_series("a", "2"), yaml).unwrap()).unwrap();
    store.save(of_series("a", "3"), &Document::Bytes(vec![0, 255])).unwrap();
    for original in ["1", "2", "3"] {
        let about = NewEntry { series: Some(series("b")), ..NewEntry::default() };
        let copy = store.fork(&id(original), about).unwrap();
        assert_eq!(copy.parent, Some(id(original)));
        let [original, copy] = [&id(original), &copy.id].map(|id| store.get(id).unwrap());
        assert_eq!(copy.stored_form(), original.stored_form());
        assert_eq!(copy.document().unwrap(), original.document().unwrap());
    }
    let copy = store.get(&newest(&store, "b")).unwrap();
    assert_eq!(copy.entry.document_bytes, store.entry(&id("3")).unwrap().document_bytes);
    let first = Query { series: Some(series("b")), ..Query::default() };
    let first = store.entries(first).last().unwrap().unwrap();
    assert_eq!(store.get(&first.id).unwrap().to_json(JsonStyle::Compact).unwrap(), JSON);
}

#[test]
fn a_fork_has_the_files_that_were_captured_and_keeps_them() {
    let place = Place::new();
    let store = place.open();
    let file = |path: &str, content: Option<&[u8]>, status| NewArtifact {
        path: path.to_owned(),
        content: content.map(<[u8]>::to_vec),
        mode: Some(0o755),
        status,
    };
    let files = vec![
        file("src/main.rs", Some(b"fn main() {}"), ArtifactStatus::Modified),
        file("old.rs", None, ArtifactStatus::Deleted),
    ];
    let draft = store.draft(named("1"), &1).unwrap().with_artifacts(files).unwrap();
    let original = store.save_draft(draft).unwrap();
    let captured = store.artifacts(&original.id).unwrap();
    let about = NewEntry { series: Some(series("b")), ..NewEntry::default() };
    let fork = store.fork(&original.id, about).unwrap();
    assert_eq!(fork.artifact_count, 2);
    assert_eq!(store.artifacts(&fork.id).unwrap(), captured);
    store.delete_now(&[original.id]).unwrap();
    assert_eq!(store.artifact(&fork.id, "src/main.rs").unwrap(), b"fn main() {}");
}

/// A checkpoint that says all it can.
fn told() -> NewEntry {
    let text = |text: &str| Some(text.to_owned());
    NewEntry {
        issue: Some(Issue::new("42").unwrap()),
        loop_id: Some(LoopId::new("ralph-x-00000000").unwrap()),
        workflow_id: text("work"),
        workflow_type: text("ralph_loop"),
        session_id: text("session"),
        agent: text("agent"),
        trigger: Trigger::Iteration,
        phase: text("build"),
        step: text("step"),
        iteration: Some(7),
        status: Status::Failed,
        tags: ["keep".to_owned()].into(),
        can_resume: Some(true),
        resume_from: text("here"),
        warnings: vec!["careful".to_owned()],
        retention_days: Some(3),
        layout: Layout::Aiwg,
        source_path: text("x/y.json"),
        ..named("told")
    }
}

#[test]
fn what_is_not_said_is_as_with_the_original_where_that_holds_for_a_copy() {
    let place = Place::new();
    let store = place.open();
    let source = Source::from_json(b"[1, 2]").unwrap();
    let original = store.save_draft(store.draft_source(told(), source).unwrap()).unwrap();
    let about = NewEntry {
        series: Some(series("other")),
        phase: Some("review".to_owned()),
        trigger: Trigger::Manual,
        ..NewEntry::default()
    };
    let fork = store.fork(&original.id, about).unwrap();
    assert_ne!(fork.id, original.id);
    assert_eq!((&fork.parent, fork.phase.as_deref()), (&Some(original.id.clone()), Some("review")));
    assert_eq!(fork.series, series("other"));
    assert_eq!(fork.issue, original.issue);
    assert_eq!((&fork.loop_id, &fork.workflow_id, &fork.session_id), (&None, &None, &None));
    assert_eq!(fork.workflow_type, original.workflow_type);
    assert_eq!((&fork.agent, &fork.step), (&original.agent, &original.step));
    assert_eq!((fork.iteration, fork.can_resume), (Some(7), Some(true)));
    assert_eq!((&fork.resume_from, &fork.warnings), (&original.resume_from, &original.warnings));
    assert_eq!((fork.status, &fork.trigger), (Status::InProgress, &Trigger::Manual));
    assert_eq!((fork.layout, fork.retention_days), (Layout::Aiwg, None));
    assert_eq!((fork.source_path, fork.source), (None, None));
    assert!(fork.tags.is_empty());
    assert_eq!(store.get(&original.id).unwrap().entry, original);
}

#[test]
fn a_loop_workflow_or_issue_names_the_series_of_a_fork() {
    let place = Place::new();
    let store = place.open();
    let original = store.save(told(), &1).unwrap();
    let nothing = NewEntry::default;
    let other_loop = LoopId::new("ralph-y-00000000").unwrap();
    for (about, expected) in [
        (NewEntry { issue: Some(Issue::new("43").unwrap()), ..nothing() }, "issue:43"),
        (NewEntry { workflow_id: Some("w".to_owned()), ..nothing() }, "workflow:w"),
        (NewEntry { loop_id: Some(other_loop), ..nothing() }, "loop:ralph-y-00000000"),
        (nothing(), "loop:ralph-x-00000000"),
    ] {
        assert_eq!(store.fork(&original.id, about).unwrap().series.as_str(), expected);
    }
}

#[test]
fn a_rollback_is_the_newest_and_all_that_was_there_still_is() {
    let place = Place::new();
    let store = place.open();
    store.save(told(), &0).unwrap();
    let loop_id = told().loop_id;
    for number in 1..4 {
        let about = NewEntry { loop_id: loop_id.clone(), ..NewEntry::default() };
        store.save(about, &number).unwrap();
    }
    let back = store.fork(&id("told"), NewEntry::default()).unwrap();
    assert_eq!(back.workflow_id, told().workflow_id);
    let query = Query { loop_id, ..Query::default() };
    let found = store.latest(&query).unwrap().unwrap();
    assert_eq!(found.entry, back);
    assert_eq!(found.state::<i32>().unwrap(), 0);
    assert_eq!(store.entries(query).count(), 5);
}

/// The clock may be set back, and others may date ahead: what was rolled back to comes last.
#[test]
fn a_rollback_is_the_newest_whatever_the_clock_says() {
    let clock = Arc::new(AtomicI64::new(5_000_000));
    let time = clock.clone();
    let now = move || Timestamp::from_micros(time.load(Ordering::Relaxed));
    let place = Place::new();
    let options = Options { clock: Arc::new(now), ..Options::default() };
    let store = Store::open_with(place.path(), options).unwrap();
    let ahead = Timestamp::from_micros(9_000_000);
    store.save(of_series("a", "1"), &1).unwrap();
    let about = NewEntry { created_at: Some(ahead), ..of_series("a", "2") };
    store.save(NewEntry { status: Status::Paused, ..about }, &2).unwrap();
    clock.store(3_000_000, Ordering::Relaxed);
    let back = store.fork(&id("1"), NewEntry::default()).unwrap();
    assert_eq!(back.created_at.as_micros(), 3_000_000, "what the clock said");
    assert_eq!(back.ordered_at, Some(ahead));
    assert_eq!(newest(&store, "a"), back.id);
    assert_eq!(store.resolve("a@0").unwrap().id, back.id);
    let again = store.fork(&id("2"), NewEntry::default()).unwrap();
    assert_eq!(newest(&store, "a"), again.id);
    // A stated date of a copy is kept.
    let dated = Timestamp::from_micros(1);
    let about = NewEntry { created_at: Some(dated), ..NewEntry::default() };
    assert_eq!(store.fork(&id("1"), about).unwrap().created_at, dated);
    assert_eq!(newest(&store, "a"), again.id);
}

#[test]
fn there_must_be_something_to_fork() {
    let place = Place::new();
    let store = place.open();
    let missing = store.fork(&id("x"), NewEntry::default());
    assert!(matches!(missing, Err(Error::NotFound { .. })), "{missing:?}");
    let source = Source::unreadable(b"\xff");
    store.save_draft(store.draft_source(named("bad"), source).unwrap()).unwrap();
    let unreadable = store.fork(&id("bad"), NewEntry::default());
    assert!(matches!(unreadable, Err(Error::Invalid { .. })), "{unreadable:?}");
    store.save(named("taken"), &1).unwrap();
    let taken = store.fork(&id("taken"), NewEntry { series: Some(series("s")), ..named("taken") });
    assert!(matches!(taken, Err(Error::Exists { .. })), "{taken:?}");
    assert_eq!(store.count().unwrap(), 2);
}

fn keep_last(count: u32) -> Policy {
    let rule = Rule { keep_last: Some(count), ..Rule::default() };
    Policy { name: "ours".to_owned(), rules: vec![rule], ..Policy::default() }
}

fn ids(store: &Store) -> Vec<String> {
    let mut ids: Vec<String> =
        store.entries(Query::default()).map(|entry| entry.unwrap().id.to_string()).collect();
    ids.sort();
    ids
}

#[test]
fn a_fork_point_survives_pruning() {
    let place = Place::new();
    let store = place.open();
    for name in ["0", "1", "2", "3"] {
        store.save(of_series("a", name), &name).unwrap();
    }
    store.fork(&id("1"), of_series("b", "fork")).unwrap();
    // Within its series a parent is no fork point.
    store.fork(&id("0"), named("rollback")).unwrap();
    let entries = store.inventory(None).unwrap();
    store.apply(&plan(&entries, &keep_last(1), Timestamp::now())).unwrap();
    assert_eq!(ids(&store), ["1", "fork", "rollback"]);
    store.delete(&[id("fork")]).unwrap();
    let entries = store.inventory(None).unwrap();
    store.apply(&plan(&entries, &keep_last(1), Timestamp::now())).unwrap();
    assert_eq!(ids(&store), ["rollback"]);
}

#[test]
fn a_fork_point_survives_pruning_on_save() {
    let place = Place::new();
    let store = place.open();
    let settings =
        Settings { policy: Some(keep_last(1)), prune_on_save: true, ..Settings::default() };
    store.set_settings(&settings).unwrap();
    store.save(of_series("a", "point"), &JSON).unwrap();
    store.fork(&id("point"), of_series("b", "fork")).unwrap();
    for number in 0..10 {
        store.save(of_series("a", &format!("a-{number}")), &number).unwrap();
    }
    assert_eq!(ids(&store), ["a-9", "fork", "point"]);
    assert_eq!(store.get(&id("fork")).unwrap().state::<String>().unwrap(), JSON);
}

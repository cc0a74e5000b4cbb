//! What a front needs of the library where the command is not at hand: time lines, followers,
//! captures, projects and checks, by library calls alone.

use std::fs;
use std::path::PathBuf;

use waypost::doctor::{CheckStatus, Examination, examine};
use waypost::history::{
    Course, Followed, Follower, Link, Origin, Timeline, Values, Waiting, links, nearby,
};
use waypost::project::{self, PolicyError, PolicySource, Site};
use waypost::transfer::capture::{Capture, CaptureError, CaptureEvent};
use waypost::{
    ArtifactStatus, Document, Error, Id, NewEntry, Options, Query, Series, Store, Subject, Wanted,
};

use crate::store::{Place, named};

fn of_series(id: &str, series: &str) -> NewEntry {
    NewEntry { series: Some(Series::new(series).unwrap()), ..named(id) }
}

#[test]
fn a_time_line_tells_where_each_checkpoint_comes_from_and_what_changed() {
    let place = Place::new();
    let store = place.open();
    for score in [1, 2, 3] {
        let state = serde_json::json!({ "score": score });
        store.save(of_series(&format!("a-{score}"), "a"), &state).unwrap();
    }
    store.fork(&Id::new("a-1").unwrap(), of_series("b-1", "b")).unwrap();
    let entries = store.list(&Query::default()).unwrap().entries;
    let rows = Timeline::new(&store, entries).collect::<waypost::Result<Vec<_>>>().unwrap();
    let ids: Vec<&str> = rows.iter().map(|row| row.entry.id.as_str()).collect();
    assert_eq!(ids, ["b-1", "a-3", "a-2", "a-1"]);
    assert_eq!(rows[0].origin, Some(Origin::Fork(Id::new("a-1").unwrap())));
    assert_eq!(rows[1].summary().unwrap().words, "/score 2 -> 3");
    assert_eq!(links(&rows), [Link::Row(3), Link::Row(2), Link::Row(3), Link::Nothing]);
    let json = serde_json::to_value(&rows[1]).unwrap();
    assert_eq!((&json["before"], &json["changed"][0]), (&"a-2".into(), &"/score".into()));
}

#[test]
fn a_course_has_the_changes_of_a_value_and_its_least_and_greatest_number() {
    let place = Place::new();
    let store = place.open();
    for (at, score) in ["\"7\"", "12345678901234567890123", "7", "null"].into_iter().enumerate() {
        let text = format!("{{\"score\": {score}}}");
        store.save_json(named(&format!("c-{at}")), text.as_bytes()).unwrap();
    }
    let entries = store.list(&Query::default()).unwrap().entries;
    let pointer = "/score".parse().unwrap();
    let mut course = Course::default();
    let mut changed: Vec<String> = Vec::new();
    for value in Values::new(&store, &entries, &pointer) {
        changed.extend(course.add(value.unwrap()).map(|it| it.entry.id.to_string()));
    }
    changed.extend(course.finish().map(|it| it.entry.id.to_string()));
    assert_eq!(changed, ["c-3", "c-2", "c-1", "c-0"]);
    let max = course.max().unwrap().to_json(waypost::TextStyle::default()).unwrap();
    assert_eq!(max, "12345678901234567890123");
    assert_eq!(course.min(), course.last());
    let document = Document::from_json(br#"{"state": {"score": 1}}"#).unwrap();
    assert_eq!(nearby(&document, &pointer), ["/state/score"]);
}

#[test]
fn a_follower_waits_for_a_store_and_shows_what_is_saved_into_it() {
    let place = Place::new();
    let path = place.path().with_file_name("later.redb");
    let target = Followed { name: Some("nightly".to_owned()), ..Followed::default() };
    let mut follower = Follower::new(path.clone(), Options::default(), target.clone());
    let waiting = follower.start(5).unwrap().waiting;
    assert!(matches!(waiting, Some(Waiting::NoStore(at)) if at == path));

    let store = Store::open(&path).unwrap();
    store.save(of_series("other", "other"), &0).unwrap();
    store.close().unwrap();
    let mut second = Follower::new(path.clone(), Options::default(), target);
    let waiting = second.start(5).unwrap().waiting;
    assert!(matches!(waiting, Some(Waiting::Unknown(name)) if name == "nightly"));

    let store = Store::open(&path).unwrap();
    for number in 0..3 {
        store.save(of_series(&format!("n-{number}"), "nightly"), &number).unwrap();
    }
    store.close().unwrap();
    for follower in [&mut follower, &mut second] {
        let rows = follower.look(usize::MAX).unwrap().rows;
        let ids: Vec<&str> = rows.iter().map(|row| row.entry.id.as_str()).collect();
        assert_eq!(ids, ["n-0", "n-1", "n-2"]);
        assert!(follower.look(usize::MAX).unwrap().rows.is_empty());
    }
}

#[test]
fn a_capture_tells_what_became_of_files_since_the_last_one() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let path = at("store.redb");
    let store = Store::open(&path).unwrap();
    fs::create_dir(at("src")).unwrap();
    for name in ["src/a", "src/b"] {
        fs::write(at(name), name).unwrap();
    }
    let about = || NewEntry { series: Series::new("loop").ok(), ..NewEntry::default() };
    let capture = |read: &mut u64| {
        let mut tell = |event: CaptureEvent<'_>| {
            if let CaptureEvent::Read(count) = event {
                *read = count;
            }
        };
        Capture::read(&path, &[at("src")], &mut tell).unwrap()
    };
    let mut read = 0;
    let files = capture(&mut read).artifacts(&store, &about(), &mut |_| {}).unwrap();
    assert_eq!(read, 2);
    assert!(files.iter().all(|file| file.status == ArtifactStatus::Created));
    let draft = store.draft(about(), &1).unwrap().with_artifacts(files).unwrap();
    let saved = store.save_draft(draft).unwrap();

    fs::remove_file(at("src/a")).unwrap();
    fs::write(at("src/b"), "changed").unwrap();
    let files = capture(&mut read).artifacts(&store, &about(), &mut |_| {}).unwrap();
    let seen: Vec<_> = files.iter().map(|file| (file.path.as_str(), file.status)).collect();
    let (deleted, modified) = (ArtifactStatus::Deleted, ArtifactStatus::Modified);
    assert_eq!(seen, [("src/a", deleted), ("src/b", modified)]);

    let never = Capture::read(&path, &[at("never")], &mut |_| {}).unwrap();
    let refused = never.artifacts(&store, &about(), &mut |_| {});
    assert!(matches!(refused, Err(CaptureError::Refused { .. })));
    let missing = store.artifact(&saved.id, "src/c").unwrap_err();
    assert!(matches!(missing, Error::NotFound { wanted: Wanted::Artifact { path, .. } }
        if path == "src/c"));
}

#[test]
fn a_project_has_its_store_and_policy_where_the_command_finds_them() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    fs::create_dir_all(root.join(".git")).unwrap();
    fs::create_dir_all(root.join("a/b")).unwrap();
    let path = project::store_for(&root.join("a/b"));
    assert_eq!(path, root.join(".waypost/store.redb"));
    let site = Site::of(&root, None).unwrap();
    assert!(site.is_new());
    drop(site.prepare().unwrap());
    let store = Store::open(&path).unwrap();
    assert_eq!(project::home(&path), Some(root.clone()));
    assert!(matches!(project::required_policy(None, &store), Err(PolicyError::None)));

    let config = root.join(".waypost/config.yaml");
    fs::write(&config, waypost::Config::template()).unwrap();
    let chosen = project::policy_in_force(&store).unwrap().unwrap();
    assert_eq!(chosen.source, PolicySource::File(config.clone()));
    fs::write(&config, "checkpoint: {keep_sometimes: 1}").unwrap();
    let error = project::config(&path).unwrap_err();
    assert!(matches!(error, project::ConfigError::Invalid { path, .. } if path == config));
    store.close().unwrap();
}

#[test]
fn a_site_takes_back_what_it_made_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let site = Site::of(dir.path(), None).unwrap();
    site.prepare().unwrap().take_back();
    assert!(!dir.path().join(".waypost").exists());
    fs::create_dir(dir.path().join(".waypost")).unwrap();
    site.prepare().unwrap().take_back();
    assert!(dir.path().join(".waypost/.gitignore").exists());
}

#[test]
fn an_examination_reports_a_missing_store_and_a_damaged_one() {
    let dir = tempfile::tempdir().unwrap();
    let path: PathBuf = dir.path().join("store.redb");
    let status = |name: &str, report: &waypost::doctor::Report| {
        report.checks.iter().find(|check| check.name == name).map(|check| check.status)
    };
    let report = examine(&path, &Examination::default(), None);
    assert_eq!(status("store", &report), Some(CheckStatus::Ok));
    assert!(!report.is_damaged && status("files", &report).is_none());

    Store::open(&path).unwrap().close().unwrap();
    let length = fs::metadata(&path).unwrap().len();
    fs::File::options().write(true).open(&path).unwrap().set_len(length / 2).unwrap();
    let report = examine(&path, &Examination::default(), None);
    assert_eq!(status("store", &report), Some(CheckStatus::Bad));
    assert!(report.bad() >= 1);
}

#[test]
fn an_invalid_value_tells_by_its_type_what_it_is() {
    let subject = |json: &str| match Document::from_json(json.as_bytes()).unwrap_err() {
        Error::Invalid { what, .. } => what,
        other => panic!("{other}"),
    };
    assert_eq!(subject("{} {}"), Subject::TextAfterDocument);
    assert_eq!(subject("{"), Subject::Document(None));
    let at = subject(r#"{"a": [1, x]}"#);
    assert_eq!(at, Subject::Document(Some("/a/1".to_owned())));
    assert_eq!(at.to_string(), "document at /a/1");
    assert!(matches!(Id::new(""), Err(Error::Invalid { what: Subject::Id, .. })));
}

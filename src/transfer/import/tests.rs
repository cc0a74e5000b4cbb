//! Imports as a program uses them: the few lines it takes, events, stops and previews.

use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::{
    Follow, ImportError, ImportEvent, ImportOptions, Imported, Sources, Unfinished, unpacked,
};
use crate::query::Query;
use crate::store::Store;
use crate::transfer::gzip;

/// A project with a store and checkpoint files of `.pipeline`.
struct Project {
    dir: tempfile::TempDir,
}

impl Project {
    fn new(files: usize) -> Self {
        let this = Self { dir: tempfile::tempdir().unwrap() };
        for number in 0..files {
            this.put(&format!(".pipeline/checkpoint-A-{number}.json"), &story(number));
        }
        this
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn put(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn store(&self) -> Store {
        Store::open(self.path().join("store.redb")).unwrap()
    }

    /// The whole project.
    fn sources(&self) -> Sources {
        let mut sources = self.no_sources();
        sources.add(self.path()).unwrap();
        sources
    }

    fn no_sources(&self) -> Sources {
        Sources::new(&self.path().join("store.redb"), super::Location::default())
    }
}

fn story(number: usize) -> String {
    format!(
        r#"{{"storyId": "A-{number}", "stage": 2, "agentId": "a", "tasksCompleted": [],
            "tasksRemaining": ["T1"], "lastAction": "b", "timestamp": "2026-02-14T14:30:00Z"}}"#
    )
}

fn unwatched(_: ImportEvent<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn count(store: &Store) -> usize {
    store.entries(Query::default()).count()
}

#[test]
fn a_directory_is_imported_once() {
    let project = Project::new(3);
    let store = project.store();
    let options = ImportOptions::default();
    let first = store.import(project.path(), &options).unwrap();
    assert_eq!((first.imported, first.known, first.layouts["pipeline"]), (3, 0, 3));
    let second = store.import(&project.path().join(".pipeline"), &options).unwrap();
    assert_eq!((second.imported, second.known), (0, 3));
    assert_eq!(count(&store), 3);
}

#[test]
fn the_report_serializes_to_what_the_command_prints() {
    let report = Imported { imported: 1, is_stopped: true, ..Imported::default() };
    let counts = r#""imported":1,"known":0,"deleted":0,"layouts":{},"lines":0,"refused":0"#;
    let more = r#""kept":0,"skipped":0,"ignored":0,"invalid":0,"rules":{},"has_more":false"#;
    let lists = r#""refusals":[],"skips":[],"notes":[]"#;
    let json = format!("{{{counts},{more},{lists}}}");
    assert_eq!(serde_json::to_string(&report).unwrap(), json);
}

#[test]
fn events_tell_what_is_done_and_how_far_it_is() {
    let project = Project::new(2);
    project.put(".pipeline/checkpoint-B-1.json", "{");
    let options = ImportOptions { count_first: true, ..ImportOptions::default() };
    let (mut imported, mut refused, mut totals) = (Vec::new(), Vec::new(), Vec::new());
    let mut watch = |event: ImportEvent<'_>| {
        match event {
            ImportEvent::Imported { path, .. } => imported.push(path.to_owned()),
            ImportEvent::Refused { path, .. } => refused.push(path.to_owned()),
            ImportEvent::Progress { total, .. } => totals.push(total),
            other => panic!("{other:?}"),
        }
        ControlFlow::Continue(())
    };
    project.store().import_with(project.sources(), &options, &mut watch).unwrap();
    let path = |name: &str| format!(".pipeline/checkpoint-{name}.json");
    assert_eq!(imported, [path("A-0"), path("A-1")]);
    assert_eq!(refused, [path("B-1")]);
    assert_eq!(totals.last(), Some(&Some(3)));
}

#[test]
fn a_stopped_import_keeps_what_it_has_and_goes_on_from_there() {
    let project = Project::new(600);
    let store = project.store();
    let options = ImportOptions::default();
    let mut watch = |event: ImportEvent<'_>| match event {
        ImportEvent::Imported { .. } => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let stopped = store.import_with(project.sources(), &options, &mut watch).unwrap();
    assert!(stopped.is_stopped);
    let imported = usize::try_from(stopped.imported).unwrap();
    assert!(imported > 0 && imported < 600, "{imported}");
    assert_eq!(count(&store), imported);
    let rest = store.import(project.path(), &options).unwrap();
    assert_eq!((rest.imported + rest.known, rest.known), (600, stopped.imported));
    assert!(!rest.is_stopped);
}

/// Only files make transactions, and a tree may have none.
#[test]
fn an_import_that_finds_nothing_can_be_stopped() {
    let project = Project::new(0);
    for number in 0..200 {
        fs::create_dir(project.path().join(format!("empty-{number}"))).unwrap();
    }
    let mut steps = 0;
    let mut watch = |_: ImportEvent<'_>| {
        steps += 1;
        if steps == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ImportOptions::default();
    let report = project.store().import_with(project.sources(), &options, &mut watch).unwrap();
    assert!(report.is_stopped);
    assert_eq!(steps, 2);
}

#[test]
fn a_preview_needs_no_store_and_makes_none() {
    let project = Project::new(2);
    let sources = project.sources();
    assert!(sources.has_files());
    let report = sources.preview(&ImportOptions::default(), &mut unwatched).unwrap();
    assert_eq!((report.imported, report.would.len()), (2, 2));
    assert!(!project.path().join("store.redb").exists());
}

#[test]
fn a_file_below_a_named_directory_is_counted_once() {
    let project = Project::new(1);
    let mut sources = project.no_sources();
    let file = project.path().join(".pipeline/checkpoint-A-0.json");
    sources.add(&file).unwrap();
    sources.add(project.path()).unwrap();
    sources.add(&file).unwrap();
    let store = project.store();
    let report = store.import_with(sources, &ImportOptions::default(), &mut unwatched).unwrap();
    assert_eq!((report.imported, report.known), (1, 0));
}

#[test]
fn lines_are_imported_from_files_and_readers() {
    let project = Project::new(0);
    let line = |issue: u32| format!("{{\"id\": \"{issue}\", \"document\": {issue}}}\n");
    let store = project.store();
    let path = project.put("week.jsonl", &line(1));
    let report = store.import(&path, &ImportOptions::default()).unwrap();
    assert_eq!((report.lines, report.imported), (1, 1));
    let mut sources = project.no_sources();
    let packed = gzip::compress((line(1) + "nonsense\n" + &line(2)).as_bytes());
    sources.add_lines("pipe", unpacked(Box::new(io::Cursor::new(packed))).unwrap());
    sources.add_lines("blank", Box::new(b"\n \n".as_slice()));
    sources.drop_blank_lines().unwrap();
    let mut refused = Vec::new();
    let mut watch = |event: ImportEvent<'_>| {
        if let ImportEvent::Line { input, number, .. } = event {
            refused.push((input.to_owned(), number));
        }
        ControlFlow::Continue(())
    };
    let report = store.import_with(sources, &ImportOptions::default(), &mut watch).unwrap();
    assert_eq!((report.lines, report.imported, report.known, report.refused), (3, 1, 1, 1));
    assert_eq!(refused, [("pipe".to_owned(), 2)]);
}

#[test]
fn lines_before_the_first_good_one_need_no_store_and_are_counted() {
    let project = Project::new(0);
    let sources = |lines: &'static str| {
        let mut sources = project.no_sources();
        sources.add_lines("pipe", Box::new(lines.as_bytes()));
        let mut numbers = Vec::new();
        let mut watch = |event: ImportEvent<'_>| {
            if let ImportEvent::Line { number, .. } = event {
                numbers.push(number);
            }
            ControlFlow::Continue(())
        };
        sources.drop_refused_lines(&mut watch).unwrap();
        (sources, numbers)
    };
    let (refused, numbers) = sources("x\n\n{}\n");
    assert_eq!(numbers, [1, 3]);
    assert!(!refused.has_lines());
    let report = refused.preview(&ImportOptions::default(), &mut unwatched).unwrap();
    assert_eq!((report.lines, report.refused), (2, 2));
    let (mixed, numbers) = sources("x\n{\"document\":1}\ny\n");
    assert_eq!(numbers, [1]);
    let store = project.store();
    let report = store.import_with(mixed, &ImportOptions::default(), &mut unwatched).unwrap();
    assert_eq!((report.lines, report.imported, report.refused), (3, 1, 2));
}

#[test]
fn an_input_that_breaks_is_named_and_what_came_before_is_reported() {
    struct Broken;
    impl io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("broken"))
        }
    }
    let project = Project::new(0);
    // More than a part, so that some lines are saved before the input breaks.
    let lines: Vec<_> =
        (0..300).map(|id| format!("{{\"id\":\"{id}\",\"document\":0}}\n")).collect();
    let input = io::Read::chain(io::Cursor::new(lines.concat()), Broken);
    let mut sources = project.no_sources();
    sources.add_lines("pipe", Box::new(io::BufReader::new(input)));
    let store = project.store();
    let ended = store.import_with(sources, &ImportOptions::default(), &mut unwatched);
    let Err(Unfinished { report, why: ImportError::Unreadable { input, .. } }) = ended else {
        panic!("{ended:?}");
    };
    assert_eq!(input, "pipe");
    assert_eq!(usize::try_from(report.imported).unwrap(), count(&store));
    assert_eq!(report.imported, 256);
}

#[test]
fn a_pass_reads_what_changed_and_again_what_it_was_stopped_in() {
    let project = Project::new(1);
    let store = project.store();
    let mut follow = Follow::new(project.sources(), ImportOptions::default());
    let stopped = follow.pass(&store, &mut |_| ControlFlow::Break(())).unwrap();
    assert!(stopped.is_stopped && stopped.is_empty());
    assert_eq!(follow.pass(&store, &mut unwatched).unwrap().imported, 1);
    assert!(follow.pass(&store, &mut unwatched).unwrap().is_empty());
    project.put(".pipeline/checkpoint-A-1.json", &story(1));
    let report = follow.pass(&store, &mut unwatched).unwrap();
    assert_eq!((report.imported, report.known), (1, 0));
}

/// The bytes of a file that its writer had not finished would be a checkpoint of its own.
#[test]
fn a_broken_file_is_kept_once_it_is_the_same_in_two_passes() {
    let project = Project::new(0);
    let store = project.store();
    let mut follow = Follow::new(project.sources(), ImportOptions::default());
    let mut pass = |text: &str| {
        if !text.is_empty() {
            project.put(".pipeline/checkpoint-A-1.json", text);
        }
        let report = follow.pass(&store, &mut unwatched).unwrap();
        (report.refused, report.imported, count(&store))
    };
    assert_eq!(pass("{"), (1, 0, 0));
    assert_eq!(pass("{\"storyId\""), (1, 0, 0));
    assert_eq!(pass(&story(1)), (0, 1, 1));
    assert_eq!(pass("{"), (0, 0, 1));
    assert_eq!(pass(""), (0, 0, 2));
    assert_eq!(pass(""), (0, 0, 2));
    assert_eq!(pass(&story(1)), (0, 1, 3));
}

//! Exports as a library user calls them: what the callback hears, how it stops them, and which
//! errors they return.

use std::fs;
use std::io;
use std::num::NonZero;
use std::ops::ControlFlow;

use tempfile::TempDir;

use super::*;
use crate::checkpoint::{Id, NewEntry, Series};
use crate::threads::with_at_most;

/// More than the parts that all threads hold at once.
const MANY: u32 = 700;

struct Case {
    dir: TempDir,
    store: Store,
}

impl Case {
    fn of(checkpoints: u32) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path().join("store.redb")).unwrap();
        let draft = |number: u32| {
            let series = Some(Series::new("loop").unwrap());
            let id = Some(Id::new(format!("c-{number}")).unwrap());
            store.draft(NewEntry { id, series, ..NewEntry::default() }, &number).unwrap()
        };
        let saved = store.batch((0..checkpoints).map(draft).collect()).unwrap();
        assert!(saved.iter().all(Result::is_ok));
        Self { dir, store }
    }

    fn at(&self, name: &str) -> std::path::PathBuf {
        self.dir.path().join(name)
    }

    /// The number of files below a directory, which has none that is half written.
    fn files(&self, name: &str) -> u64 {
        let mut left = vec![self.at(name)];
        let mut count = 0;
        while let Some(path) = left.pop() {
            if path.is_dir() {
                left.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            } else {
                let name = path.file_name().unwrap().to_str().unwrap();
                assert!(!name.starts_with('.'), "a draft is left: {name}");
                count += 1;
            }
        }
        count
    }
}

/// Progress as it was reported.
fn progress(event: &ExportEvent<'_>) -> Option<(u64, Option<u64>)> {
    match event {
        ExportEvent::Progress { done, total } => Some((*done, *total)),
        _ => None,
    }
}

#[test]
fn every_checkpoint_becomes_a_file_and_a_second_export_changes_nothing() {
    let case = Case::of(3);
    let report = case.store.export(&case.at("out"), &ExportOptions::default()).unwrap();
    assert_eq!((report.exported, report.total(), report.is_stopped), (3, 3, false));
    assert_eq!(case.files("out"), 3);
    let again = case.store.export(&case.at("out"), &ExportOptions::default()).unwrap();
    assert_eq!((again.exported, again.unchanged, again.bytes), (0, 3, 0));
}

#[test]
fn progress_is_reported_in_order_and_up_to_the_end() {
    let case = Case::of(MANY);
    let (mut of_files, mut of_lines) = (Vec::new(), Vec::new());
    let options = ExportOptions::default();
    case.store
        .export_with(&case.at("out"), &options, &mut |event| {
            of_files.extend(progress(&event));
            ControlFlow::Continue(())
        })
        .unwrap();
    case.store
        .export_lines_with(&LineOptions::default(), &mut io::sink(), &mut |event| {
            of_lines.extend(progress(&event));
            ControlFlow::Continue(())
        })
        .unwrap();
    for heard in [of_files, of_lines] {
        assert!(heard.len() > 2, "{heard:?}");
        assert!(heard.is_sorted(), "{heard:?}");
        assert!(heard.iter().all(|(_, total)| *total == Some(u64::from(MANY))), "{heard:?}");
        assert_eq!(heard[0].0, 0);
        assert_eq!(heard[heard.len() - 1].0, u64::from(MANY));
    }
}

#[test]
fn an_export_that_is_stopped_keeps_what_it_wrote_and_goes_on() {
    let case = Case::of(MANY);
    let options = ExportOptions::default();
    let stopped = case
        .store
        .export_with(&case.at("out"), &options, &mut |event| match progress(&event) {
            Some((done, _)) if done >= 100 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        })
        .unwrap();
    assert!(stopped.is_stopped);
    assert!((100..u64::from(MANY)).contains(&stopped.exported), "{stopped:?}");
    assert_eq!(case.files("out"), stopped.exported);
    let rest = case.store.export(&case.at("out"), &options).unwrap();
    assert_eq!((rest.unchanged, rest.total()), (stopped.exported, u64::from(MANY)));
    assert_eq!(case.files("out"), u64::from(MANY));
}

/// The closure may be called for several events before the next step.
#[test]
fn a_stop_at_any_event_counts() {
    let case = Case::of(MANY);
    let options = ExportOptions { layout: Some(Layout::Aiwg), ..ExportOptions::default() };
    let mut left_out = Vec::new();
    let report = case
        .store
        .export_with(&case.at("out"), &options, &mut |event| match event {
            ExportEvent::NotExported { name, why: NotExported::Invalid { .. } } => {
                left_out.push(name.to_owned());
                if left_out.len() == 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            }
            _ => ControlFlow::Continue(()),
        })
        .unwrap();
    assert!(report.is_stopped);
    assert_eq!(report.refused, left_out.len() as u64);
    assert!((1..MANY as usize).contains(&left_out.len()), "{}", left_out.len());
    assert_eq!(left_out[0], format!("c-{}", MANY - 1), "the newest comes first");
}

#[test]
fn lines_that_are_stopped_are_whole_and_a_file_of_them_is_not_there() {
    let case = Case::of(MANY);
    let stop = |event: ExportEvent<'_>| match progress(&event) {
        Some((done, _)) if done > 0 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let mut lines = Vec::new();
    let all = LineOptions::default();
    let report = case.store.export_lines_with(&all, &mut lines, &mut { stop }).unwrap();
    assert!(report.is_stopped && report.exported < u64::from(MANY));
    assert_eq!(report.bytes, lines.len() as u64);
    let count = lines.split_inclusive(|byte| *byte == b'\n').count() as u64;
    assert_eq!((count, lines.last()), (report.exported, Some(&b'\n')));
    let path = case.at("all.jsonl");
    assert!(case.store.export_lines_to(&path, false, &all, &mut { stop }).unwrap().is_stopped);
    assert!(!path.exists());
    case.store.export_lines_to(&path, false, &all, &mut unwatched).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), MANY as usize);
}

#[test]
fn an_export_works_with_any_number_of_threads() {
    let case = Case::of(MANY);
    // A placer, a producer and workers.
    for threads in 0..5 {
        let name = format!("out-{threads}");
        let report = with_at_most(threads, || {
            case.store.export(&case.at(&name), &ExportOptions::default()).unwrap()
        });
        assert_eq!(report.exported, u64::from(MANY), "{threads} threads");
        assert_eq!(case.files(&name), u64::from(MANY), "{threads} threads");
        let mut lines = Vec::new();
        with_at_most(threads, || case.store.export_lines(&Selection::default(), &mut lines))
            .unwrap();
        let first = lines.split(|byte| *byte == b'\n').next().unwrap();
        assert!(first.ends_with(b"\"document\":0}"), "{threads} threads");
        for count in 1..4 {
            let options = LineOptions { threads: NonZero::new(count), ..LineOptions::default() };
            let mut same = Vec::new();
            let export = || case.store.export_lines_with(&options, &mut same, &mut unwatched);
            assert_eq!(with_at_most(threads, export).unwrap().exported, u64::from(MANY));
            assert!(same == lines, "{count} of which {threads} start");
        }
    }
}

#[test]
fn named_checkpoints_are_exported_once_and_unknown_ones_are_an_error() {
    let case = Case::of(3);
    let id = |text: &str| Id::new(text).unwrap();
    let named = |ids: &[&str]| Selection::Named(ids.iter().map(|text| id(text)).collect());
    let mut lines = Vec::new();
    let twice = named(&["c-2", "c-0", "c-2"]);
    assert_eq!(case.store.export_lines(&twice, &mut lines).unwrap().exported, 2);
    let text = String::from_utf8(lines).unwrap();
    let documents: Vec<&str> = text.lines().map(|line| &line[line.len() - 2..]).collect();
    assert_eq!(documents, ["0}", "2}"], "the oldest comes first");
    let nothing = case.store.export_lines(&named(&[]), &mut io::sink()).unwrap();
    assert_eq!(nothing.total(), 0);
    let options = ExportOptions { selection: named(&["c-9"]), ..ExportOptions::default() };
    let unknown = case.store.export(&case.at("out"), &options).unwrap_err();
    assert!(matches!(unknown, ExportError::Store(crate::Error::NotFound { .. })), "{unknown}");
}

#[test]
fn an_export_that_cannot_begin_says_why_by_type() {
    let case = Case::of(1);
    let options = ExportOptions::default();
    fs::write(case.at("file"), "mine").unwrap();
    let refused = case.store.export(&case.at("file"), &options).unwrap_err();
    assert!(matches!(refused, ExportError::NotADirectory { kind: "a file", .. }), "{refused}");
    let writing = Writing { form: Form::Reader, ..Writing::default() };
    let options = ExportOptions { writing, ..options };
    let refused = case.store.export(&case.at("out"), &options).unwrap_err();
    assert!(matches!(refused, ExportError::Conflict(Conflict::Form)), "{refused}");
    let all = LineOptions::default();
    let to = |name: &str, overwrite| {
        case.store.export_lines_to(&case.at(name), overwrite, &all, &mut unwatched)
    };
    assert!(matches!(to("file", false), Err(ExportError::Exists { .. })));
    assert!(matches!(to("store.redb", true), Err(ExportError::Own { .. })));
    assert!(matches!(to("no/file", true), Err(ExportError::Io { .. })));
    assert_eq!(fs::read(case.at("file")).unwrap(), b"mine");
    assert_eq!(to("file", true).unwrap().exported, 1);
}

//! Whole commands in this process, with fewer threads than they ask for.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use clap::Parser as _;
use tempfile::TempDir;
use waypost::{Draft, NewEntry, Series, Store};

use super::Cli;
use crate::threads::with_at_most;

/// More jobs than threads, for every command that hands out jobs.
const CHECKPOINTS: u32 = 700;

/// A directory for one run: a store, and the files that commands write.
struct Run {
    dir: TempDir,
}

impl Run {
    /// All commands that start threads, in an order in which each has what it needs.
    fn new(threads: usize, exported: Option<&Path>) -> Self {
        let run = Self { dir: tempfile::tempdir().unwrap() };
        run.fill();
        let lines = exported.map_or(run.at("all.jsonl"), |path| path.display().to_string());
        for command in [
            "export {dir}/files --layout native",
            "export --jsonl {dir}/all.jsonl",
            "import {dir}/files --store {dir}/of-files.redb",
            "import {lines} --store {dir}/of-lines.redb",
        ] {
            let command = command.replace("{dir}", &run.at("")).replace("{lines}", &lines);
            with_at_most(threads, || run.run(&command));
        }
        run
    }

    fn at(&self, name: &str) -> String {
        self.dir.path().join(name).display().to_string().trim_end_matches('/').to_owned()
    }

    fn fill(&self) {
        let store = Store::open(self.at("store.redb")).unwrap();
        let series = Some(Series::new("loop").unwrap());
        let draft = |number: u32| -> Draft {
            let id = Some(format!("c-{number}").parse().unwrap());
            let about = NewEntry { id, series: series.clone(), ..NewEntry::default() };
            store.draft(about, &(number, "state")).unwrap()
        };
        let saved = store.batch((0..CHECKPOINTS).map(draft).collect()).unwrap();
        assert!(saved.iter().all(Result::is_ok));
        store.close().unwrap();
    }

    fn run(&self, command: &str) {
        let store = self.at("store.redb");
        let names_one = command.contains("--store");
        let words = ["waypost", "--quiet"].into_iter().chain(command.split(' '));
        let words = words.chain(["--store", &store].into_iter().filter(|_| !names_one));
        let mut out = Vec::new();
        let ended = Cli::try_parse_from(words).unwrap().run(&mut out);
        ended.unwrap_or_else(|error| panic!("{command}: {error:#}"));
    }

    fn count(&self, store: &str) -> u64 {
        Store::open(self.at(store)).unwrap().count().unwrap()
    }

    /// The files of an export, by their names.
    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut left = vec![self.dir.path().join("files")];
        let mut found = BTreeMap::new();
        while let Some(path) = left.pop() {
            if path.is_dir() {
                left.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            } else {
                let name = path.strip_prefix(self.dir.path()).unwrap().display().to_string();
                found.insert(name, fs::read(path).unwrap());
            }
        }
        found
    }
}

/// `import` and `export` panicked under `ulimit -u`. The store's own threads are not refused here.
#[test]
fn commands_work_with_any_number_of_threads() {
    let all = Run::new(usize::MAX, None);
    let exported = all.dir.path().join("all.jsonl");
    let lines = fs::read_to_string(&exported).unwrap();
    assert_eq!(lines.lines().count(), CHECKPOINTS as usize);
    // A placer, a producer and workers; some commands start them more than once.
    for threads in 0..8 {
        let run = Run::new(threads, Some(&exported));
        let own_lines = fs::read_to_string(run.dir.path().join("all.jsonl")).unwrap();
        assert_eq!(own_lines.lines().count(), lines.lines().count(), "{threads} threads");
        assert_eq!(run.files().len(), all.files().len(), "{threads} threads");
        for store in ["of-files", "of-lines"] {
            let count = run.count(&format!("{store}.redb"));
            assert_eq!(count, u64::from(CHECKPOINTS), "{store}, {threads} threads");
        }
    }
}

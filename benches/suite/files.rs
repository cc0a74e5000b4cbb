//! Import and export of files by the command, beside the least that any program must do for it.

use std::cell::{Cell, LazyCell};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use criterion::{Criterion, SamplingMode, Throughput};
use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

use crate::document::{AgentLoop, Shape};
use crate::place;

pub(crate) const FILES: u32 = 10_000;
const LOOPS: u32 = 20;
const DOCUMENT_BYTES: usize = 16 << 10;

/// A name, and work on all files of a project.
pub(crate) type Measured = (&'static str, fn(&Project) -> Duration);

/// What is measured: first what the command does, and then what it cannot do without.
pub(crate) const IMPORT: Measured = ("import", import);
pub(crate) const EXPORT: Measured = ("export", |project| project.export("--plain"));
pub(crate) const EXPORT_GZIP: Measured = ("export, gzip", |project| project.export("--gzip"));
pub(crate) const READ: Measured = ("floor: read, parse as JSON", read);
pub(crate) const WRITE: Measured =
    ("floor: write, no sync", |project| project.write(<[u8]>::to_vec));
pub(crate) const WRITE_GZIP: Measured =
    ("floor: gzip, write, no sync", |project| project.write(gzip));

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("files");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    group.throughput(Throughput::Elements(FILES.into()));
    let project = LazyCell::new(Project::new);
    for (name, work) in [IMPORT, READ, EXPORT, WRITE, EXPORT_GZIP, WRITE_GZIP] {
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|rounds| (0..rounds).map(|_| work(&project)).sum());
        });
    }
    group.finish();
}

/// Files of twenty loops in the layout of `.claude/checkpoints`, and a store that has them.
#[derive(Debug)]
pub(crate) struct Project {
    directory: TempDir,
    files: Vec<PathBuf>,
    made: Cell<u32>,
}

impl Project {
    pub(crate) fn new() -> Self {
        let directory = place::temporary();
        let place = directory.path().join("project/.claude/checkpoints");
        fs::create_dir_all(&place).expect("a directory can be made");
        let mut project = Self { directory, files: Vec::new(), made: Cell::new(0) };
        for seed in 0..LOOPS {
            let mut agent_loop = AgentLoop::new(seed, Shape::of(DOCUMENT_BYTES));
            for number in 0..FILES / LOOPS {
                let path = place.join(format!("implement_loop{seed}_{number:06}.json"));
                fs::write(&path, text(&agent_loop, seed, number)).expect("there is room");
                project.files.push(path);
                agent_loop.advance();
            }
        }
        run(&["--store", "store.redb", "import", "project"], project.directory.path());
        project
    }

    fn export(&self, form: &str) -> Duration {
        let out = self.fresh();
        run(&["--store", "store.redb", "export", &out, form], self.directory.path())
    }

    /// The name of a directory that was never there: where many files have just been removed, ext4
    /// takes ten times as long to make one.
    fn fresh(&self) -> String {
        let number = self.made.get() + 1;
        self.made.set(number);
        format!("out-{number}")
    }

    /// Writes what the files hold, changed by `pack`, on all processors.
    fn write(&self, pack: fn(&[u8]) -> Vec<u8>) -> Duration {
        let out = self.directory.path().join(self.fresh());
        fs::create_dir(&out).expect("a directory can be made");
        let texts: Vec<Vec<u8>> =
            self.files.iter().map(|path| fs::read(path).expect("it is ours")).collect();
        let start = Instant::now();
        on_all_processors(texts.iter().enumerate().collect(), |(number, text)| {
            fs::write(out.join(number.to_string()), pack(text)).expect("there is room");
        });
        start.elapsed()
    }
}

/// With the same ids as in the names of files, as scripts write them.
fn text(agent_loop: &AgentLoop, seed: u32, number: u32) -> String {
    let time =
        format!("2026-01-01T{:02}:{:02}:{:02}Z", number / 3600, number / 60 % 60, number % 60);
    let document = serde_json::json!({
        "checkpoint_id": format!("implement_loop{seed}_{number:06}"),
        "workflow_type": "implement",
        "project_name": format!("loop{seed}"),
        "workflow_description": "a benchmark",
        "created_at": time,
        "updated_at": time,
        "status": "in_progress",
        "current_phase": number % 7,
        "total_phases": 7,
        "completed_phases": [],
        "workflow_state": agent_loop.state,
        "last_error": null,
    });
    let pretty = serde_json::to_string_pretty(&document).expect("it is JSON");
    format!("{pretty}\n")
}

fn import(project: &Project) -> Duration {
    for name in ["fresh.redb", "fresh.redb.lock"] {
        let _ = fs::remove_file(project.directory.path().join(name));
    }
    run(&["--store", "fresh.redb", "import", "project"], project.directory.path())
}

fn read(project: &Project) -> Duration {
    let start = Instant::now();
    on_all_processors(project.files.iter().collect(), |path| {
        let bytes = fs::read(path).expect("it is ours");
        let document: serde_json::Value = serde_json::from_slice(&bytes).expect("it is JSON");
        std::hint::black_box(document);
    });
    start.elapsed()
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::new(6));
    out.write_all(text).and_then(|()| out.finish()).expect("a vector takes any bytes")
}

fn on_all_processors<T: Send>(jobs: Vec<T>, work: impl Fn(T) + Sync) {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let mut jobs = jobs.into_iter();
    let share = jobs.len().div_ceil(processors);
    thread::scope(|scope| {
        for _ in 0..processors {
            let part: Vec<T> = jobs.by_ref().take(share).collect();
            let work = &work;
            scope.spawn(move || part.into_iter().for_each(work));
        }
    });
}

fn run(args: &[&str], directory: &Path) -> Duration {
    let mut command = Command::new(env!("CARGO_BIN_EXE_waypost"));
    command.args(args).current_dir(directory).stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status().expect("the command starts");
    assert!(status.success(), "{args:?}");
    start.elapsed()
}

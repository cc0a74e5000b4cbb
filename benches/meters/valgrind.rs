//! Runs this program under callgrind and reads what it counted.
//!
//! Twice at the same time: callgrind counts either the calling thread or all threads together.

use std::path::Path;
use std::process::{Child, Command};
use std::{env, fs};

use tempfile::TempDir;

use crate::works::{Threads, WORKS, Work};
use crate::{driver, stores};

// How the C library gets memory. By default it learns from the order of calls of all threads when
// to give a block a mapping of its own, and whether a longer block is copied depends on that.
const STEADY_MEMORY: [(&str, &str); 3] = [
    ("MALLOC_ARENA_MAX", "1"),
    ("MALLOC_MMAP_THRESHOLD_", "65536"),
    ("MALLOC_TRIM_THRESHOLD_", "1073741824"),
];

/// The instructions of one call of each work.
pub(crate) fn count() -> Result<Vec<(String, u64)>, String> {
    let runs: Vec<Run> = Threads::ALL.into_iter().map(Run::start).collect::<Result<_, _>>()?;
    let mut counts = Vec::new();
    for run in runs {
        counts.extend(run.finish()?);
    }
    let place = |name: &String| WORKS.iter().position(|work| work.name == name);
    counts.sort_by_key(|(name, _)| place(name));
    Ok(counts)
}

/// The works of one kind, on stores of their own.
struct Run {
    threads: Threads,
    place: TempDir,
    child: Child,
}

impl Run {
    fn start(threads: Threads) -> Result<Self, String> {
        let base = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let place =
            tempfile::tempdir_in(base).map_err(|error| format!("{}: {error}", base.display()))?;
        stores::prepare(place.path());
        let program = env::current_exe().map_err(|error| error.to_string())?;
        let mut command = valgrind(threads);
        command.envs(STEADY_MEMORY).args(["-q", "--tool=callgrind"]);
        if threads == Threads::Caller {
            // A dump at a mark then has the thread that came to it, and no other.
            command.arg("--separate-threads=yes");
        }
        command
            .arg(format!("--dump-before={}", driver::MARK))
            .arg(format!("--callgrind-out-file={}", place.path().join("counts").display()))
            .args([program.as_os_str(), driver::WORD.as_ref(), threads.word().as_ref()])
            .arg(place.path());
        let missing = |error| format!("cannot run valgrind: {error}; is it installed?");
        let child = command.spawn().map_err(missing)?;
        Ok(Self { threads, place, child })
    }

    fn finish(mut self) -> Result<Vec<(String, u64)>, String> {
        let status = self.child.wait().map_err(|error| error.to_string())?;
        if !status.success() {
            return Err(format!("the works under valgrind: {status}"));
        }
        let of = |(number, work): (usize, &Work)| {
            let total = self.part(driver::part_of(number))?;
            let times = u64::from(work.calls) * u64::from(work.each);
            // To the nearest.
            Ok((work.name.to_owned(), (total + times / 2) / times))
        };
        self.threads.works().enumerate().map(of).collect()
    }

    /// The instructions of a part.
    fn part(&self, number: usize) -> Result<u64, String> {
        let name = match self.threads {
            Threads::Caller => format!("counts.{number}-01"),
            Threads::All => format!("counts.{number}"),
        };
        let path = self.place.path().join(name);
        let text = fs::read_to_string(&path).map_err(|error| {
            format!("callgrind left no {}: {error}; is {} inlined?", path.display(), driver::MARK)
        })?;
        let summary = text.lines().find_map(|line| line.strip_prefix("summary: "));
        let count = summary.and_then(|count| count.trim().parse().ok());
        count.ok_or_else(|| format!("{} has no summary", path.display()))
    }
}

/// Valgrind; on one processor if all threads count, since exports and imports start a thread for
/// each processor, and which of them does what depends on the time.
fn valgrind(threads: Threads) -> Command {
    match first_processor().filter(|_| threads == Threads::All) {
        Some(number) => {
            let mut command = Command::new("taskset");
            command.args(["--cpu-list", &number, "valgrind"]);
            command
        }
        None => Command::new("valgrind"),
    }
}

/// The first of the processors that this process may use, where Linux tells.
fn first_processor() -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    let first = allowed.trim().split(['-', ',']).next()?;
    Some(first.to_owned()).filter(|number| !number.is_empty())
}

impl Drop for Run {
    fn drop(&mut self) {
        // Nothing to do for one that has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

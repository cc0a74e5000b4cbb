//! Simple ways to say what some work costs, for the table of goals.

use std::fs;
use std::time::{Duration, Instant};

pub(crate) fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// The processor time that all threads of this process took for `work`, the kernel's included.
///
/// `None` where there is no `/proc`. Threads must not end meanwhile: their time would be lost.
pub(crate) fn processor_time(work: impl FnOnce()) -> Option<Duration> {
    let before = spent()?;
    work();
    Some(spent()?.saturating_sub(before))
}

/// The processor time of work that waits for nothing: other programs change it less than the wall
/// time. Without `/proc`, the wall time.
pub(crate) fn steady_time(work: impl FnOnce()) -> Duration {
    let (start, before) = (Instant::now(), spent());
    work();
    let wall = start.elapsed();
    before.zip(spent()).map_or(wall, |(before, after)| after.saturating_sub(before))
}

fn spent() -> Option<Duration> {
    let mut nanos = 0;
    for task in fs::read_dir("/proc/self/task").ok()? {
        let text = fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        nanos += text.split_whitespace().next()?.parse::<u64>().ok()?;
    }
    Some(Duration::from_nanos(nanos))
}

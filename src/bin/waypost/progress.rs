//! How far a long piece of work has come, on a terminal only.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use crate::args::Global;
use crate::output::grouped;

const EVERY: Duration = Duration::from_millis(200);
// Shorter work is over before a line of progress could be read.
const AFTER: Duration = Duration::from_millis(500);

/// A line that counts, and is gone when the work is done.
pub(crate) struct Progress {
    what: &'static str,
    /// How many there are, if that is known.
    total: Option<u64>,
    is_shown: bool,
    start: Instant,
    shown: Option<Instant>,
}

impl Progress {
    /// Counts what has been done, such as `exported`.
    pub(crate) fn new(what: &'static str, global: &Global) -> Self {
        let is_shown = !global.quiet && !global.json && io::stderr().is_terminal();
        Self { what, total: None, is_shown, start: Instant::now(), shown: None }
    }

    /// Tells, too, how long the rest of so many will take.
    pub(crate) fn of(self, total: Option<u64>) -> Self {
        Self { total, ..self }
    }

    /// Whether anybody sees it, so that counting in advance is worth its time.
    pub(crate) fn is_shown(&self) -> bool {
        self.is_shown
    }

    pub(crate) fn show(&mut self, count: u64) {
        let now = Instant::now();
        let is_due = self.shown.map_or(now - self.start >= AFTER, |shown| now - shown >= EVERY);
        if self.is_shown && is_due {
            let line = line(count, self.total, now - self.start);
            // With nobody to see it, the work goes on. The line may be shorter than the last one.
            let _ = write!(io::stderr(), "\r{} {line:40}", self.what);
            self.shown = Some(now);
        }
    }
}

/// How many, how fast, and how long the rest takes.
fn line(count: u64, total: Option<u64>, elapsed: Duration) -> String {
    let millis = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX).max(1);
    let rate = count.saturating_mul(1000) / millis;
    let left = total.and_then(|total| total.saturating_sub(count).checked_div(rate));
    let left = left.map_or(String::new(), |seconds| format!(", {} s left", grouped(seconds)));
    format!("{} ({}/s{left})", grouped(count), grouped(rate))
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown.is_some() {
            let _ = write!(io::stderr(), "\r{:60}\r", "");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_how_fast_it_goes_and_how_long_it_takes() {
        let line = |count, total, millis| line(count, total, Duration::from_millis(millis));
        assert_eq!(line(12_345, Some(37_000), 1500), "12,345 (8,230/s, 2 s left)");
        assert_eq!(line(12_345, None, 1500), "12,345 (8,230/s)");
        // More came while it was counted; or nothing did.
        assert_eq!(line(50, Some(40), 500), "50 (100/s, 0 s left)");
        assert_eq!(line(0, Some(40), 0), "0 (0/s)");
    }
}

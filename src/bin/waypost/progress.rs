//! How far a long piece of work has come, on a terminal only.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use crate::args::Global;

const EVERY: Duration = Duration::from_millis(200);
// Shorter work is over before a line of progress could be read.
const AFTER: Duration = Duration::from_millis(500);

/// A line that counts, and is gone when the work is done.
pub(crate) struct Progress {
    what: &'static str,
    is_shown: bool,
    start: Instant,
    shown: Option<Instant>,
}

impl Progress {
    /// Counts what has been done, such as `exported`.
    pub(crate) fn new(what: &'static str, global: &Global) -> Self {
        let is_shown = !global.quiet && !global.json && io::stderr().is_terminal();
        Self { what, is_shown, start: Instant::now(), shown: None }
    }

    pub(crate) fn show(&mut self, count: u64) {
        let now = Instant::now();
        let is_due = self.shown.map_or(now - self.start >= AFTER, |shown| now - shown >= EVERY);
        if self.is_shown && is_due {
            let seconds = (now - self.start).as_secs().max(1);
            // With nobody to see it, the work goes on.
            let _ = write!(io::stderr(), "\r{} {count}, {} a second ", self.what, count / seconds);
            self.shown = Some(now);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown.is_some() {
            let _ = write!(io::stderr(), "\r{:60}\r", "");
        }
    }
}

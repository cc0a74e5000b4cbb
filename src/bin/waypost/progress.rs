//! The progress line of long work, on a terminal only.
//!
//! A thread of its own shows it, so that the seconds go on while a step takes long.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};
use std::ops::ControlFlow;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use waypost::care::Step;

use crate::args::Global;
use crate::interrupt::{self, Signal};
use crate::output::{columns, cut, grouped, stderr};
use crate::threads;

const EVERY: Duration = Duration::from_millis(200);
// Shorter work is over before a line of progress could be read.
const AFTER: Duration = Duration::from_millis(500);
// Used if the terminal does not report its width.
const COLUMNS: u16 = 80;
// A longer bar tells no more; without room for this, none is drawn.
const BAR_COLUMNS: usize = 30;
const BAR_COLUMNS_MIN: usize = 8;
// More seconds are shown as minutes.
const SECONDS_TOLD: u64 = 120;

/// Columns of the progress line on the screen. Writers to standard error hold the lock.
static SHOWN: Mutex<usize> = Mutex::new(0);

/// A progress line, removed when the work is done.
pub(crate) struct Progress {
    /// `None` without a terminal.
    shown: Option<(Arc<Shared>, JoinHandle<()>)>,
}

struct Shared {
    state: Mutex<StageShown>,
    over: Condvar,
}

struct StageShown {
    stage: Cow<'static, str>,
    /// The number of items done, if they are counted.
    count: Option<u64>,
    total: Option<u64>,
    /// When this stage began.
    since: Instant,
    is_over: bool,
}

impl Progress {
    /// Shows a stage such as `exporting` and its elapsed time.
    pub(crate) fn new(stage: &'static str, global: &Global) -> Self {
        let is_wanted = !global.quiet && !global.json && io::stderr().is_terminal();
        if is_wanted { Self::shown(stage) } else { Self::hidden() }
    }

    pub(crate) fn hidden() -> Self {
        Self { shown: None }
    }

    fn shown(stage: &'static str) -> Self {
        let begun = StageShown::of(stage.into(), None);
        let shared = Arc::new(Shared { state: Mutex::new(begun), over: Condvar::new() });
        let shown = shared.clone();
        // Without a thread the work goes on, not shown.
        let thread = threads::start(move || shown.run()).ok();
        Self { shown: thread.map(|thread| (shared, thread)) }
    }

    /// Adds a total, from which the remaining time is estimated.
    pub(crate) fn of(self, total: Option<u64>) -> Self {
        self.with(|state| state.total = total);
        self
    }

    /// True if the line is shown, so that counting in advance is worth its time.
    pub(crate) fn is_shown(&self) -> bool {
        self.shown.is_some()
    }

    /// Sets the number of items done.
    pub(crate) fn show(&self, count: u64) {
        self.with(|state| state.count = Some(count));
    }

    /// Starts another stage.
    pub(crate) fn stage(&self, stage: impl Into<Cow<'static, str>>, total: Option<u64>) {
        self.with(|state| *state = StageShown::of(stage.into(), total));
    }

    fn with(&self, change: impl FnOnce(&mut StageShown)) {
        if let Some((shared, _)) = &self.shown {
            change(&mut lock(&shared.state));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((shared, thread)) = self.shown.take() {
            lock(&shared.state).is_over = true;
            shared.over.notify_all();
            // It never panics; if it did, nothing is lost.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn run(&self) {
        let mut wait = AFTER;
        loop {
            let state = lock(&self.state);
            let waited = self.over.wait_timeout_while(state, wait, |state| !state.is_over);
            let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            if state.is_over {
                break;
            }
            let text = state.line(state.since.elapsed(), room());
            drop(state);
            draw(&text, &mut lock(&SHOWN));
            wait = EVERY;
        }
        draw("", &mut lock(&SHOWN));
    }
}

impl StageShown {
    /// A stage that begins now.
    fn of(stage: Cow<'static, str>, total: Option<u64>) -> Self {
        Self { stage, count: None, total, since: Instant::now(), is_over: false }
    }

    /// The line in `room` columns: count, rate and remaining time.
    fn line(&self, elapsed: Duration, room: usize) -> String {
        let Some(count) = self.count else {
            return cut(&format!("{}  {} s", self.stage, grouped(elapsed.as_secs())), room);
        };
        let millis = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX).max(1);
        let rate = count.saturating_mul(1000) / millis;
        // Items may have been added since they were counted.
        let Some(total) = self.total.map(|total| total.max(count)) else {
            let text = format!("{}  {}  {}/s", self.stage, grouped(count), grouped(rate));
            return cut(&text, room);
        };
        let left = (total - count).checked_div(rate).map_or(String::new(), time_left);
        let (count_text, total_text) = (grouped(count), grouped(total));
        let facts = format!("{count_text} of {total_text}  {}/s{left}", grouped(rate));
        // Brackets, and two spaces on either side.
        let bar = room.saturating_sub(columns(&self.stage) + columns(&facts) + 6);
        if bar < BAR_COLUMNS_MIN {
            return cut(&format!("{}  {facts}", self.stage), room);
        }
        format!("{}  [{}]  {facts}", self.stage, self::bar(count, total, bar.min(BAR_COLUMNS)))
    }
}

fn time_left(seconds: u64) -> String {
    if seconds < SECONDS_TOLD {
        format!(", {seconds} s left")
    } else {
        format!(", {} min left", grouped(seconds / 60))
    }
}

/// The bar, `length` columns long.
fn bar(count: u64, total: u64, length: usize) -> String {
    let done = u128::from(count) * length as u128 / u128::from(total.max(1));
    let done = usize::try_from(done).unwrap_or(length).min(length);
    let tip = if done < length { ">" } else { "" };
    format!("{:<length$}", "#".repeat(done) + tip)
}

/// Columns that a line may have: in the last one, some terminals go on to the next line.
fn room() -> usize {
    let width = terminal_size::terminal_size_of(io::stderr()).map_or(COLUMNS, |(it, _)| it.0);
    usize::from(width).saturating_sub(1)
}

/// Replaces the line on the screen, which has `shown` columns.
fn draw(text: &str, shown: &mut usize) {
    if text.is_empty() && *shown == 0 {
        return;
    }
    let rest = shown.saturating_sub(columns(text));
    let end = if text.is_empty() { "\r" } else { "" };
    // A write error must not stop the work.
    let _ = write!(io::stderr(), "\r{text}{:rest$}{end}", "");
    *shown = columns(text);
}

/// Writes a line to standard error, in the place of a line of progress, which comes again below.
pub(crate) fn say(text: impl Display) {
    let mut shown = lock(&SHOWN);
    draw("", &mut shown);
    // A write error must not stop the work.
    let _ = writeln!(stderr(), "{text}");
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows the steps of a long call of the store, and ends it after an interrupt.
pub(crate) struct Watcher {
    progress: Progress,
    stopped: Option<(Signal, Step)>,
    last: Option<Step>,
}

impl Watcher {
    pub(crate) fn new(progress: Progress) -> Self {
        Self { progress, stopped: None, last: None }
    }

    /// The signal that ended it, if any, and the step before which it came.
    pub(crate) fn stopped(self) -> Option<(Signal, Step)> {
        self.stopped
    }

    pub(crate) fn step(&mut self, step: Step) -> ControlFlow<()> {
        if let Some(signal) = interrupt::signal() {
            self.stopped = Some((signal, step));
            return ControlFlow::Break(());
        }
        if self.last.is_none_or(|last| last.stage != step.stage) {
            self.progress.stage(step.stage.to_string(), step.total);
        }
        if step.total.is_some() {
            self.progress.show(step.done);
        }
        self.last = Some(step);
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(count: Option<u64>, total: Option<u64>, millis: u64, room: usize) -> String {
        let pruning = StageShown { count, ..StageShown::of("pruning".into(), total) };
        let line = pruning.line(Duration::from_millis(millis), room);
        assert!(columns(&line) <= room, "{line}");
        line
    }

    #[test]
    fn a_line_tells_how_far_it_is_how_fast_it_goes_and_how_long_it_takes() {
        for (count, total, millis, expected) in [
            (Some(0), Some(40), 0, "pruning  [>                             ]  0 of 40  0/s"),
            (
                Some(12_345),
                Some(37_000),
                1500,
                "pruning  [##########>                   ]  12,345 of 37,000  8,230/s, 2 s left",
            ),
            (
                Some(1),
                Some(1001),
                1000,
                "pruning  [>                             ]  1 of 1,001  1/s, 16 min left",
            ),
            // Items were added while they were counted.
            (
                Some(50),
                Some(40),
                500,
                "pruning  [##############################]  50 of 50  100/s, 0 s left",
            ),
            (Some(12_345), None, 1500, "pruning  12,345  8,230/s"),
            (None, Some(40), 61_900, "pruning  61 s"),
        ] {
            assert_eq!(line(count, total, millis, 100), expected);
        }
    }

    #[test]
    fn a_line_fits_its_terminal() {
        let part = |room| line(Some(12_345), Some(37_000), 1500, room);
        assert_eq!(
            part(70),
            "pruning  [#######>              ]  12,345 of 37,000  8,230/s, 2 s left"
        );
        assert_eq!(part(55), "pruning  12,345 of 37,000  8,230/s, 2 s left");
        assert_eq!(part(20), "pruning  12,345 o...");
        for room in 0..120 {
            part(room);
            line(Some(1), None, 1, room);
            line(None, None, 1, room);
        }
        line(Some(u64::MAX), Some(u64::MAX), 0, 200);
    }
}

//! A queue of lines from standard input to the store.
//!
//! Bounded by bytes, too: a channel bounds only the number of lines, and a line may have 64 MiB.

use std::io::{self, BufRead};
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};

use waypost::transfer::line::{TooLong, read_line};

use crate::input::Input;
use crate::threads;

// Many enough that a sync costs little per line, few enough that the first does not wait long.
const LINES_MAX: usize = 256;
// A burst of small lines stays below this; a few large lines share a sync.
const WAITING_BYTES_MAX: usize = 8 << 20;

/// A line of input, counted from one.
pub(super) struct Line {
    pub(super) number: u64,
    pub(super) text: Result<Vec<u8>, TooLong>,
}

/// The lines of an input, in batches of those available.
pub(super) enum Lines {
    /// Read by a thread while earlier lines are saved.
    Ahead(Arc<Inbox>),
    /// Read by the caller, since no thread could be started.
    Direct { input: Input, line_bytes_max: usize, number: u64 },
}

impl Lines {
    pub(super) fn of(input: Input, line_bytes_max: usize) -> Self {
        let inbox = Arc::new(Inbox::default());
        let own = inbox.clone();
        let (to_filler, handed_over) = mpsc::sync_channel(1);
        // Not joined: the thread may wait for input for ever.
        let filler = threads::start(move || {
            if let Ok(input) = handed_over.recv() {
                own.fill(input, line_bytes_max);
            }
        });
        match filler {
            Ok(_) => {
                to_filler.send(input).expect("the filler waits for its input");
                Self::Ahead(inbox)
            }
            Err(_) => Self::Direct { input, line_bytes_max, number: 0 },
        }
    }

    /// Takes all waiting lines, or waits for the next one. `None` at the end.
    pub(super) fn take(&mut self) -> io::Result<Option<Vec<Line>>> {
        match self {
            Self::Ahead(inbox) => inbox.take(),
            Self::Direct { input, line_bytes_max, number } => {
                take_directly(input, *line_bytes_max, number)
            }
        }
    }
}

/// Waits for one line, and takes those that were read with it.
fn take_directly(
    input: &mut Input,
    line_bytes_max: usize,
    number: &mut u64,
) -> io::Result<Option<Vec<Line>>> {
    let mut lines: Vec<Line> = Vec::new();
    while lines.is_empty() || (input.has_line() && lines.len() < LINES_MAX) {
        let Some(text) = read_line(input, line_bytes_max)? else { break };
        *number += 1;
        let line = Line { number: *number, text };
        if !line.is_blank() {
            lines.push(line);
        }
    }
    Ok(if lines.is_empty() { None } else { Some(lines) })
}

impl Line {
    /// A blank line is neither saved nor answered.
    fn is_blank(&self) -> bool {
        self.text.as_ref().is_ok_and(|text| text.trim_ascii().is_empty())
    }
}

/// Lines that were read and not yet taken.
#[derive(Default)]
pub(super) struct Inbox {
    state: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    lines: Vec<Line>,
    bytes: usize,
    end: Option<io::Result<()>>,
}

impl Inbox {
    /// As [`Lines::take`].
    fn take(&self) -> io::Result<Option<Vec<Line>>> {
        let mut state = self.wait_while(|state| state.lines.is_empty() && state.end.is_none());
        if state.lines.is_empty() {
            return state.end.take().unwrap_or(Ok(())).map(|()| None);
        }
        state.bytes = 0;
        self.changed.notify_all();
        Ok(Some(mem::take(&mut state.lines)))
    }

    /// Fills the inbox with the lines of `input` up to its end.
    fn fill(&self, mut input: impl BufRead, line_bytes_max: usize) {
        for number in 1.. {
            match read_line(&mut input, line_bytes_max) {
                Ok(Some(text)) => self.push(Line { number, text }),
                Ok(None) => return self.finish(Ok(())),
                Err(error) => return self.finish(Err(error)),
            }
        }
    }

    fn push(&self, line: Line) {
        if line.is_blank() {
            return;
        }
        let is_full =
            |state: &Waiting| state.lines.len() >= LINES_MAX || state.bytes >= WAITING_BYTES_MAX;
        let mut state = self.wait_while(is_full);
        state.bytes += line.text.as_ref().map_or(0, Vec::len);
        state.lines.push(line);
        self.changed.notify_all();
    }

    fn finish(&self, end: io::Result<()>) {
        self.wait_while(|_| false).end = Some(end);
        self.changed.notify_all();
    }

    fn wait_while(&self, condition: impl Fn(&Waiting) -> bool) -> MutexGuard<'_, Waiting> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = self.changed.wait_while(state, |state| condition(state));
        state.unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(input: &str, line_bytes_max: usize) -> Vec<(u64, Result<String, TooLong>)> {
        let inbox = Inbox::default();
        inbox.fill(input.as_bytes(), line_bytes_max);
        let taken = inbox.take().unwrap().unwrap_or_default();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        taken.into_iter().map(|line| (line.number, line.text.map(text))).collect()
    }

    #[test]
    fn blank_lines_are_counted_but_not_kept() {
        let one = || Ok("1".to_owned());
        assert_eq!(lines("1\n\n \r\n1", 9), [(1, one()), (4, one())]);
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over() {
        let taken = lines("333\n4444\n55555\n1\n55555", 4);
        let lengths: Vec<_> =
            taken.into_iter().map(|(_, text)| text.map(|text| text.len())).collect();
        assert_eq!(lengths, [Ok(3), Ok(4), Err(TooLong), Ok(1), Err(TooLong)]);
    }

    #[test]
    fn an_inbox_that_has_ended_says_so() {
        let inbox = Inbox::default();
        inbox.fill("".as_bytes(), 9);
        assert!(inbox.take().unwrap().is_none());
    }
}

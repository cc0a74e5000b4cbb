//! Input that may never come: waiting for it ends with an interrupt.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;

use crate::{interrupt, threads};

// Shorter than the time in which a person presses Ctrl-C again.
const LOOK_EVERY: Duration = Duration::from_millis(50);
const PART_BYTES: usize = 64 << 10;

/// Input whose reader stops waiting when the command is interrupted.
pub(crate) struct Input {
    parts: Parts,
    part: Vec<u8>,
    taken: usize,
}

enum Parts {
    /// Read by a thread, which is abandoned when no more input is needed.
    Ahead(Receiver<io::Result<Vec<u8>>>),
    /// Read by the caller, since no thread could be started.
    Direct(Box<dyn BufRead + Send>),
}

impl Input {
    pub(crate) fn new(source: impl Read + Send + 'static) -> Self {
        let source = BufReader::with_capacity(PART_BYTES, source);
        let (to_reader, handed_over) = mpsc::sync_channel(1);
        let (hand_over, parts) = mpsc::sync_channel(1);
        // Not joined: the thread may wait for input that never comes.
        let reader = threads::start(move || {
            if let Ok(source) = handed_over.recv() {
                read_ahead(source, &hand_over);
            }
        });
        let parts = if reader.is_ok() {
            to_reader.send(source).expect("the reader waits for its source");
            Parts::Ahead(parts)
        } else {
            // This thread cannot watch for signals while it waits for input.
            interrupt::leave();
            Parts::Direct(Box::new(source))
        };
        Self { parts, part: Vec::new(), taken: 0 }
    }

    /// Whether a whole line has been read and not taken yet.
    pub(crate) fn has_line(&self) -> bool {
        self.part[self.taken..].contains(&b'\n')
    }
}

impl Parts {
    /// The next part; empty at the end. An interrupt is an error, since a line may be half read.
    fn next(&mut self) -> io::Result<Vec<u8>> {
        match self {
            Self::Ahead(parts) => wait(parts),
            Self::Direct(source) => {
                interrupt::check_io()?;
                read_part(source)
            }
        }
    }
}

fn wait(parts: &Receiver<io::Result<Vec<u8>>>) -> io::Result<Vec<u8>> {
    loop {
        // Checked for each part, since input may never end.
        interrupt::check_io()?;
        match parts.recv_timeout(LOOK_EVERY) {
            Ok(part) => return part,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(Vec::new()),
        }
    }
}

fn read_ahead(mut source: impl BufRead, hand_over: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let part = read_part(&mut source);
        let is_last = part.as_ref().map_or(true, Vec::is_empty);
        if hand_over.send(part).is_err() || is_last {
            break;
        }
    }
}

/// The bytes that one read returns; empty at the end.
fn read_part(source: &mut impl BufRead) -> io::Result<Vec<u8>> {
    loop {
        match source.fill_buf().map(<[u8]>::to_vec) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => {
                source.consume(read.as_ref().map_or(0, Vec::len));
                return read;
            }
        }
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Input {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.taken == self.part.len() {
            self.part = self.parts.next()?;
            self.taken = 0;
        }
        Ok(&self.part[self.taken..])
    }

    fn consume(&mut self, count: usize) {
        self.taken += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out_and_the_end_stays_the_end() {
        let text: Vec<u8> = (0..=250).cycle().take(3 * PART_BYTES).collect();
        for threads in [0, 1] {
            let source = io::Cursor::new(text.clone());
            let mut input = threads::with_at_most(threads, || Input::new(source));
            assert_eq!(matches!(input.parts, Parts::Direct(_)), threads == 0);
            let mut read = Vec::new();
            input.read_to_end(&mut read).unwrap();
            assert!(read == text, "{} bytes", read.len());
            assert_eq!(input.read(&mut [0]).unwrap(), 0);
        }
    }
}

//! Input that may never come: waiting for it ends with an interrupt.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::interrupt;

// Sooner than anybody would press the keys once more.
const LOOK_EVERY: Duration = Duration::from_millis(50);
const PART_BYTES: usize = 64 << 10;

/// Reads ahead in a thread of its own, which is left behind when nobody wants more.
pub(crate) struct Input {
    parts: Receiver<io::Result<Vec<u8>>>,
    part: Vec<u8>,
    taken: usize,
}

impl Input {
    pub(crate) fn new(source: impl Read + Send + 'static) -> Self {
        let (hand_over, parts) = mpsc::sync_channel(1);
        // Not joined: it may wait for what never comes.
        thread::spawn(move || {
            let mut source = BufReader::with_capacity(PART_BYTES, source);
            loop {
                let read = source.fill_buf().map(<[u8]>::to_vec);
                if read.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::Interrupted) {
                    continue;
                }
                let length = read.as_ref().map_or(0, Vec::len);
                source.consume(length);
                if hand_over.send(read).is_err() || length == 0 {
                    break;
                }
            }
        });
        Self { parts, part: Vec::new(), taken: 0 }
    }

    /// The next part, which is empty at the end. An interrupt is no end: a line may be half there.
    fn wait(&self) -> io::Result<Vec<u8>> {
        loop {
            // Also where parts come without end.
            interrupt::check_io()?;
            match self.parts.recv_timeout(LOOK_EVERY) {
                Ok(part) => return part,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(Vec::new()),
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
            self.part = self.wait()?;
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
        let mut input = Input::new(io::Cursor::new(text.clone()));
        let mut read = Vec::new();
        input.read_to_end(&mut read).unwrap();
        assert!(read == text, "{} bytes", read.len());
        assert_eq!(input.read(&mut [0]).unwrap(), 0);
    }
}

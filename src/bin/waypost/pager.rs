//! Shows long results through a pager if a person reads them.
//!
//! Without a terminal no pager is used, so that programs read the results directly.

use std::env;
use std::ffi::OsString;
use std::io::{self, BufWriter, IsTerminal as _, StdoutLock, Write};
use std::mem;
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::args::Global;
use crate::{interrupt, keys};

/// Where results go: to standard output, or through a pager once they are longer than the screen.
pub(crate) struct Paged {
    stdout: BufWriter<StdoutLock<'static>>,
    state: Paging,
}

enum Paging {
    /// Results go straight to standard output.
    Plain,
    /// It is not known yet whether they fit the screen.
    Held {
        text: Vec<u8>,
        screen: Screen,
        pager: OsString,
    },
    Pager(Box<Pager>),
    /// The reader has closed the pager.
    Left,
}

/// A pager at work.
struct Pager {
    child: Child,
    stdin: BufWriter<ChildStdin>,
    /// The text given so far, while the shell may not have found the pager.
    given: Option<Vec<u8>>,
}

// More than a pipe buffers: once this is written, the pager has read some of it.
const PIPE_BYTES_MAX: usize = 1 << 20;

/// The size of the screen.
#[derive(Debug, Clone, Copy)]
struct Screen {
    rows: usize,
    columns: usize,
}

/// Results of a command that may be long for a person, if `is_long`, or of another one.
pub(crate) fn paged(global: &Global, is_long: bool) -> Paged {
    let state = match (screen(), pager()) {
        (Some(screen), Some(pager)) if is_long && !global.json && !global.no_pager => {
            Paging::Held { text: Vec::new(), screen, pager }
        }
        _ => Paging::Plain,
    };
    Paged { stdout: BufWriter::new(io::stdout().lock()), state }
}

/// The size of the terminal, if a person reads the results there.
fn screen() -> Option<Screen> {
    let stdout = io::stdout();
    let size = if stdout.is_terminal() { terminal_size::terminal_size_of(&stdout) } else { None };
    size.map(|(columns, rows)| Screen { rows: rows.0.into(), columns: columns.0.into() })
}

/// The pager that the user configured, if any.
fn pager() -> Option<OsString> {
    let wish = env::var_os("WAYPOST_PAGER").or_else(|| env::var_os("PAGER"));
    let wish = wish.unwrap_or_else(|| "less".into());
    let is_none = wish.to_str().is_some_and(|wish| ["", "cat"].contains(&wish.trim()));
    (!is_none).then_some(wish)
}

impl Screen {
    /// True if a text does not fit the screen, one line of which the prompt takes.
    fn is_filled_by(self, text: &[u8]) -> bool {
        let lines = text.split_inclusive(|byte| *byte == b'\n');
        // A text has at least as many bytes as columns; starting the pager a little early does no
        // harm.
        let rows = lines.map(|line| line.len().div_ceil(self.columns.max(1)).max(1));
        rows.take(self.rows).sum::<usize>() >= self.rows
    }
}

impl Paged {
    /// Shows what was held back, and waits until it has been read.
    fn finish(&mut self) -> io::Result<()> {
        match mem::replace(&mut self.state, Paging::Plain) {
            Paging::Plain => {}
            Paging::Held { text, .. } => self.stdout.write_all(&text)?,
            Paging::Pager(mut shown) => {
                // The reader may have closed it before the end.
                let _ = shown.stdin.flush();
                if let Some(text) = (*shown).end()? {
                    self.stdout.write_all(&text)?;
                }
            }
            Paging::Left => self.state = Paging::Left,
        }
        self.stdout.flush()
    }
}

impl Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        // Beyond that size the pager has read something, so it was started.
        self.given = self.given.take().filter(|given| given.len() <= PIPE_BYTES_MAX);
        if let Some(given) = &mut self.given {
            given.extend_from_slice(bytes);
        }
        self.stdin.write_all(bytes)
    }

    /// Waits for the pager to end. Returns the text if the shell did not find the pager.
    fn end(mut self) -> io::Result<Option<Vec<u8>>> {
        const NOT_FOUND: [Option<i32>; 2] = [Some(126), Some(127)];
        drop(self.stdin);
        let status = self.child.wait()?;
        Ok(self.given.take().filter(|_| NOT_FOUND.contains(&status.code())))
    }
}

impl Write for Paged {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.state {
            Paging::Plain => return self.stdout.write(bytes),
            Paging::Left => {}
            Paging::Pager(shown) => {
                if shown.write(bytes).is_err() {
                    let Paging::Pager(shown) = mem::replace(&mut self.state, Paging::Left) else {
                        return Ok(bytes.len());
                    };
                    if let Some(text) = (*shown).end()? {
                        self.state = Paging::Plain;
                        self.stdout.write_all(&text)?;
                    }
                }
            }
            Paging::Held { text, screen, pager } => {
                text.extend_from_slice(bytes);
                if screen.is_filled_by(text) {
                    let text = mem::take(text);
                    self.state = match start(pager) {
                        Some(shown) => Paging::Pager(Box::new(shown)),
                        None => Paging::Plain,
                    };
                    self.write_all(&text)?;
                }
            }
        }
        Ok(bytes.len())
    }

    /// Waits for the reader: later messages appear below the results.
    fn flush(&mut self) -> io::Result<()> {
        self.finish()
    }
}

/// Starts a pager; `None` if it cannot be started.
fn start(pager: &OsString) -> Option<Pager> {
    let mut command = command(pager);
    // As git does: leave if all fits, show colours, and leave the text on the screen.
    if env::var_os("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    command.env_remove(keys::VARIABLE);
    let mut child = command.stdin(Stdio::piped()).spawn().ok()?;
    let stdin = child.stdin.take()?;
    interrupt::ignore();
    Some(Pager { child, stdin: BufWriter::new(stdin), given: Some(Vec::new()) })
}

/// A program by its name, or a line for the shell.
fn command(pager: &OsString) -> Command {
    let is_plain = |it: char| it.is_alphanumeric() || "-_./+=,: ".contains(it);
    let words = pager.to_str().filter(|text| text.chars().all(is_plain));
    let mut words = words.into_iter().flat_map(str::split_whitespace);
    // Starting it without a shell reports a missing program.
    if let Some(program) = words.next() {
        let mut command = Command::new(program);
        command.args(words);
        return command;
    }
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(pager);
    shell
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screen_is_filled_by_lines_that_are_many_or_long() {
        let screen = Screen { rows: 3, columns: 10 };
        for (text, is_filled) in [
            ("", false),
            ("a\nb\n", false),
            ("a\nb\nc\n", true),
            ("\n\n\n\n", true),
            ("a line of more than twenty\n", true),
            ("twenty columns are 2\n", true),
            ("ten or so\nb\n", false),
        ] {
            assert_eq!(screen.is_filled_by(text.as_bytes()), is_filled, "{text:?}");
        }
    }

    #[test]
    fn only_what_needs_a_shell_gets_one() {
        assert_eq!(command(&"/usr/bin/most".into()).get_program(), "/usr/bin/most");
        let less = command(&"less -S".into());
        assert_eq!((less.get_program(), less.get_args().count()), ("less".as_ref(), 1));
        assert_eq!(command(&"sed 's/a/b/' | less".into()).get_program(), "sh");
    }
}

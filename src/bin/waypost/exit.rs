//! Exit codes, the refusals of the command, and the code of each error.

mod refusal;
#[cfg(test)]
mod tests;
mod verdict;

use std::fmt::Write as _;
use std::process::ExitCode;

pub(crate) use refusal::Refusal;
pub(crate) use verdict::Verdict;

use crate::interrupt::Signal;

/// Exit codes; `waypost --help` lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Done = 0,
    Failed = 1,
    Usage = 2,
    Nothing = 3,
    Refused = 4,
    Damaged = 5,
    Locked = 6,
    Skipped = 7,
    /// The code that a shell gives a process ended by a signal: 128 plus its number.
    Interrupted = 130,
    Terminated = 143,
}

impl Exit {
    const ALL: [Self; 10] = [
        Self::Done,
        Self::Failed,
        Self::Usage,
        Self::Nothing,
        Self::Refused,
        Self::Damaged,
        Self::Locked,
        Self::Skipped,
        Self::Interrupted,
        Self::Terminated,
    ];

    fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed, or with `diff --exit-code` there are changes",
            Self::Usage => "wrong usage, or a name that is too short or fits several",
            Self::Nothing => "nothing matched, or there is no store yet",
            Self::Refused => "refused: what cannot be taken, resumed or decided without you",
            Self::Damaged => "damaged data found",
            Self::Locked => "the store is held by another process",
            Self::Skipped => "done, but some of it was skipped",
            Self::Interrupted => "interrupted (Ctrl-C); what was done until then stays",
            Self::Terminated => "the same, but asked to end (SIGTERM)",
        }
    }

    /// The heading of `help`.
    pub(crate) const HEADING: &str = "Exit codes";

    /// All codes, and what each means.
    pub(crate) fn meanings() -> impl Iterator<Item = (u8, &'static str)> {
        Self::ALL.into_iter().map(|exit| (exit as u8, exit.meaning()))
    }

    /// The part of the help that explains exit codes.
    pub(crate) fn help() -> String {
        Self::meanings().fold(format!("{}:", Self::HEADING), |mut text, (code, meaning)| {
            let _ = write!(text, "\n  {code:<3}  {meaning}");
            text
        })
    }
}

impl From<Signal> for Exit {
    fn from(signal: Signal) -> Self {
        match signal {
            Signal::Interrupt => Self::Interrupted,
            Signal::Terminate => Self::Terminated,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

//! `waypost watch`: new checkpoints as they are saved.

mod follow;
mod lines;

use std::io::Write;
use std::time::Duration;

use anyhow::Result;
use clap::builder::NonEmptyStringValueParser;
use waypost::Timestamp;

use crate::args::{Global, seconds, whole};
use crate::filter::Filter;
use crate::interrupt;
use follow::{Followed, Follower};
use lines::Lines;

// More often shows nothing sooner: a turn of a loop that saves is longer.
const EVERY_MIN: Duration = Duration::from_millis(10);

const EXAMPLES: &str = "\
Examples:
  waypost watch
  waypost watch 42 --last 5
  waypost watch --trigger error,user_interrupt --json
  waypost watch --count 1 issue:42         # wait for the next one";

/// Follow new checkpoints as they are saved, by any process
///
/// In the order in which they come, whatever time they are dated, with what changed since the one
/// before in the series. What is pruned or deleted before it is seen is not shown. Waits for the
/// store if there is none yet; Ctrl-C ends it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// A series, an issue (42 or #42) or a loop, there already or not; everything if not said
    #[arg(conflicts_with_all = ["series", "issue", "loop_id"])]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    target: Option<String>,

    /// Show so many of the newest first
    #[arg(long, value_name = "N", default_value = "0")]
    #[arg(value_parser = whole::<usize>(0..=u64::MAX), allow_negative_numbers = true)]
    last: usize,

    /// End after so many new ones, with 0 at once
    #[arg(long, value_name = "N")]
    #[arg(value_parser = whole::<u64>(0..=u64::MAX), allow_negative_numbers = true)]
    count: Option<u64>,

    /// How long to wait between two looks at the store
    #[arg(long, value_name = "SECONDS", default_value = "0.5")]
    #[arg(value_parser = seconds, allow_negative_numbers = true)]
    every: Duration,

    #[command(flatten)]
    filter: Filter,
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    let mut follower = Follower::new(args.followed(), global)?;
    let mut lines = Lines::default();
    let mut left = args.count;
    let newest = follower.start(args.last)?;
    lines.id_length = follower.id_length();
    for row in newest {
        lines.write(out, &row, global)?;
    }
    // A look that is ended in the middle leaves a store as a crash does.
    interrupt::listen()?;
    loop {
        out.flush()?;
        if left == Some(0) {
            return Ok(());
        }
        interrupt::rest(args.every.max(EVERY_MIN))?;
        let new = follower.look(limit(left))?;
        lines.id_length = follower.id_length();
        for row in new {
            lines.write(out, &row, global)?;
            left = left.map(|left| left - 1);
        }
    }
}

fn limit(left: Option<u64>) -> usize {
    left.map_or(usize::MAX, |left| usize::try_from(left).unwrap_or(usize::MAX))
}

impl Args {
    fn followed(&self) -> Followed {
        let query = self.filter.query(Timestamp::now());
        Followed { target: self.target.clone(), query }
    }
}

//! `waypost watch`: new checkpoints as they are saved.

mod lines;

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::builder::NonEmptyStringValueParser;
use waypost::Timestamp;
use waypost::history::{Followed, Follower, Looked, Row, Waiting};

use crate::args::{Global, seconds, whole};
use crate::filter::Filter;
use crate::open::Repairing;
use crate::{interrupt, keys, open};
use lines::Lines;

// A person would not notice shorter pauses, and each read costs processor time.
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

    /// Show the newest N first
    #[arg(long, value_name = "N", default_value = "0")]
    #[arg(value_parser = whole::<usize>(0..=u64::MAX), allow_negative_numbers = true)]
    last: usize,

    /// End after N new ones, with 0 at once
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
    let mut watch = Watch::new(args, global)?;
    let mut lines = Lines::default();
    let mut left = args.count;
    for row in watch.start(args.last)? {
        lines.write(out, &row, watch.id_length(), global)?;
    }
    // Killing the process during a poll would leave the store as after a crash.
    interrupt::listen()?;
    loop {
        out.flush()?;
        if left == Some(0) {
            return Ok(());
        }
        interrupt::rest(args.every.max(EVERY_MIN))?;
        for row in watch.look(limit(left))? {
            lines.write(out, &row, watch.id_length(), global)?;
            left = left.map(|left| left - 1);
        }
    }
}

fn limit(left: Option<u64>) -> usize {
    left.map_or(usize::MAX, |left| usize::try_from(left).unwrap_or(usize::MAX))
}

fn words(waiting: Waiting) -> String {
    match waiting {
        Waiting::NoStore(path) => format!("there is no store at {} yet; waiting", path.display()),
        Waiting::Unknown(name) => format!("nothing is called {name:?} yet; waiting"),
        Waiting::Trouble(error) => format!("{:#}; trying again", anyhow::Error::from(error)),
        _ => "waiting".to_owned(),
    }
}

/// A follower, and the last note about why nothing is shown.
struct Watch<'a> {
    follower: Follower,
    path: PathBuf,
    global: &'a Global,
    repairing: Repairing,
    has_keys: bool,
    told: Option<String>,
}

impl<'a> Watch<'a> {
    fn new(args: &Args, global: &'a Global) -> Result<Self> {
        let path = open::path(global)?;
        let query = args.filter.query(Timestamp::now());
        let target = Followed { name: args.target.clone(), query };
        let (options, repairing) = open::to_follow(global, "watch");
        let follower = Follower::new(path.clone(), options, target);
        Ok(Self { follower, path, global, repairing, has_keys: false, told: None })
    }

    fn start(&mut self, last: usize) -> Result<Vec<Row>> {
        self.find_keys()?;
        let looked = self.follower.start(last);
        self.repairing.end();
        let looked = looked.map_err(|error| open::missing(self.path.clone(), error))?;
        Ok(self.rows(looked))
    }

    fn look(&mut self, limit: usize) -> Result<Vec<Row>> {
        self.find_keys()?;
        let looked = self.follower.look(limit);
        self.repairing.end();
        Ok(self.rows(looked?))
    }

    fn id_length(&self) -> usize {
        self.follower.id_length()
    }

    /// Keys are looked for once there is a store that may need them.
    fn find_keys(&mut self) -> Result<()> {
        if !self.has_keys && self.path.exists() {
            self.follower.set_keys(keys::given_or_told(self.global, &self.path)?);
            self.has_keys = true;
        }
        Ok(())
    }

    fn rows(&mut self, looked: Looked) -> Vec<Row> {
        match looked.waiting {
            Some(waiting) => self.tell(words(waiting)),
            None if looked.has_read => self.told = None,
            None => {}
        }
        looked.rows
    }

    /// Prints a note, unless it repeats the last one.
    fn tell(&mut self, text: String) {
        if self.told.as_ref() != Some(&text) {
            self.global.note(&text);
            self.told = Some(text);
        }
    }
}

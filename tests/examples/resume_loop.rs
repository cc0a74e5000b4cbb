//! A loop that saves every iteration and goes on where it was killed.
//!
//! `cargo run --example resume_loop`, kill it with Ctrl-C or worse, and run it again.

use std::path::Path;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use waypost::{Issue, NewEntry, Query, Store, Trigger};

/// All that the loop must know to go on.
#[derive(Debug, Default, Serialize, Deserialize)]
struct State {
    iteration: u64,
    notes: Vec<String>,
}

fn main() -> waypost::Result<()> {
    run(Path::new("resume_loop.redb"), 50)
}

pub(crate) fn run(store: &Path, iterations: u64) -> waypost::Result<()> {
    let store = Store::open(store)?;
    let issue = Issue::new("42")?;

    let of_issue = Query { issue: Some(issue.clone()), ..Query::default() };
    let mut state = match store.latest(&of_issue)? {
        Some(checkpoint) => checkpoint.state::<State>()?,
        None => State::default(),
    };
    println!("after {}", state.iteration);

    while state.iteration < iterations {
        work(&mut state);
        let about = NewEntry {
            issue: Some(issue.clone()),
            trigger: Trigger::Iteration,
            iteration: Some(state.iteration),
            ..NewEntry::default()
        };
        // On disk when this returns: whatever happens now, this iteration is not done again.
        store.save(about, &state)?;
        println!("saved {}", state.iteration);
    }
    store.close()
}

/// What an agent would do.
fn work(state: &mut State) {
    thread::sleep(Duration::from_millis(5));
    state.iteration += 1;
    state.notes.push(format!("what iteration {} found", state.iteration));
}

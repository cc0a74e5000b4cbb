//! A store that two processes make at the same time, one of which is killed.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::{check, command, document, ended, send, store_in};
use crate::extent::extent;

// Each moment once in a default run.
const MOMENTS: u32 = 50;
const RUNS_LONG: u64 = 300;
/// How often the runs go on until some were killed before there was a store, and some after.
const ROUNDS_MAX: u32 = 20;

fn start(path: &Path, at: usize) -> Child {
    let mut child = command(path, "save --series writers").spawn().unwrap();
    // A killed process may not read it.
    let _ = write!(child.stdin.take().unwrap(), "{}", document(at, 0));
    child
}

/// How long it takes without kills.
fn undisturbed() -> Duration {
    let times = [1, 2, 3].map(|at| {
        let dir = tempfile::tempdir().unwrap();
        let path = store_in(&dir);
        let since = Instant::now();
        let both = [at, at + 1].map(|at| start(&path, at));
        assert!(both.into_iter().all(|child| ended(child).0.success()));
        since.elapsed()
    });
    times.into_iter().min().unwrap()
}

#[test]
fn a_store_is_usable_whoever_makes_it_and_whoever_is_killed() {
    let time = undisturbed();
    let (mut killed, mut half_made) = (0, 0);
    let runs = u32::try_from(extent(MOMENTS.into(), RUNS_LONG)).unwrap();
    let mut run = 0;
    let is_enough = |run: u32, killed: u32, half_made: u32| {
        run >= runs && killed > runs / 10 && 0 < half_made && half_made < run
    };
    // A machine that becomes slower meanwhile needs more runs, with later moments.
    while !is_enough(run, killed, half_made) && run < ROUNDS_MAX * runs {
        let dir = tempfile::tempdir().unwrap();
        let path = store_in(&dir);
        let [mut doomed, mut other] = [1, 2].map(|at| start(&path, at));
        // From before the program runs until about when it has saved.
        let moment = f64::from(run % MOMENTS) / 40.0 * f64::from(1 + run / runs);
        thread::sleep(time.mul_f64(moment));
        send(&doomed, Signal::KILL);
        half_made += u32::from(!path.exists());
        let mut answered = HashMap::new();
        for (child, at) in [(&mut doomed, 1), (&mut other, 2)] {
            let mut id = String::new();
            child.stdout.take().unwrap().read_to_string(&mut id).unwrap();
            if let Some(id) = id.strip_suffix('\n') {
                answered.insert(id.to_owned(), (at, 0));
            }
        }
        killed += u32::from(ended(doomed).0.signal() == Some(9));
        let (status, said) = ended(other);
        assert!(status.success(), "run {run}: {said}");
        check(&path, &answered);
        assert!(answered.values().any(|(at, _)| *at == 2));
        run += 1;
    }
    println!("{run} runs: {killed} killed, {half_made} times before there was a store");
    assert!(killed > runs / 10, "{killed} were killed");
    assert!(0 < half_made && half_made < run, "{half_made} before there was a store");
}

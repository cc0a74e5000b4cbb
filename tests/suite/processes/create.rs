//! A store that two processes make at the same time, one of which is killed.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Child;
use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use super::{check, command, document, ended, send, store_in};

const RUNS: u64 = 300;

fn start(path: &Path, at: usize) -> Child {
    let mut child = command(path, "save --series writers").spawn().unwrap();
    // Whoever is killed may not read it.
    let _ = write!(child.stdin.take().unwrap(), "{}", document(at, 0));
    child
}

#[test]
fn a_store_is_usable_whoever_makes_it_and_whoever_is_killed() {
    let (mut killed, mut half_made) = (0, 0);
    for run in 0..RUNS {
        let dir = tempfile::tempdir().unwrap();
        let path = store_in(&dir);
        let [mut doomed, mut other] = [1, 2].map(|at| start(&path, at));
        // From before the program runs until after it has saved.
        thread::sleep(Duration::from_micros(run % 60 * 500));
        send(&doomed, Signal::KILL);
        half_made += u64::from(!path.exists());
        let mut answered = HashMap::new();
        for (child, at) in [(&mut doomed, 1), (&mut other, 2)] {
            let mut id = String::new();
            child.stdout.take().unwrap().read_to_string(&mut id).unwrap();
            if let Some(id) = id.strip_suffix('\n') {
                answered.insert(id.to_owned(), (at, 0));
            }
        }
        killed += u64::from(ended(doomed).0.signal() == Some(9));
        let (status, said) = ended(other);
        assert!(status.success(), "run {run}: {said}");
        check(&path, &answered);
        assert!(answered.values().any(|(at, _)| *at == 2));
    }
    println!("{RUNS} runs: {killed} killed, {half_made} before there was a store");
    assert!(killed > RUNS / 10, "{killed} were killed");
    assert!(half_made > 0);
}

//! A process that is stopped while it has the store.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, waitpid};
use waypost::care::StoreState;
use waypost::{Options, Store};

use super::{
    Times, Writer, check, check_seen_by, command, command_with, document, ended, send, store_in,
};

/// Whether this process has the store and does not let go.
fn is_held_by(holder: &Writer, path: &Path) -> bool {
    let found = Store::inspect(path, Duration::from_millis(30), &mut |_| {}).unwrap();
    let name = found.holder.map(|it| it.name).unwrap_or_default();
    found.state == StoreState::Held && name.starts_with(&format!("process {} ", holder.child.id()))
}

/// Stops a process at a moment when it has the store.
fn stop(holder: &mut Writer, path: &Path, answered: &mut HashMap<String, (usize, u64)>) {
    for number in 0.. {
        let id = holder.save(&document(0, number)).unwrap();
        answered.insert(id, (0, number));
        send(&holder.child, Signal::STOP);
        wait_until_stopped(holder);
        if is_held_by(holder, path) {
            return;
        }
        // It had let go just then, or was about to.
        send(&holder.child, Signal::CONT);
        assert!(number < 1000, "it never has the store");
    }
}

/// A signal is under way for a while, in which the process may still let go of the store.
fn wait_until_stopped(holder: &Writer) {
    let pid = Pid::from_child(&holder.child);
    let (_, status) = waitpid(Some(pid), WaitOptions::UNTRACED).unwrap().unwrap();
    assert!(status.stopped(), "{status:?}");
}

#[test]
fn a_stopped_holder_delays_no_save() {
    const WRITERS: usize = 4;
    const SAVES: u64 = 50;
    let dir = tempfile::tempdir().unwrap();
    let path = store_in(&dir);
    let mut answered = HashMap::new();
    let mut holder = Writer::start(&path);
    // These have had the store before.
    let mut writers: Vec<Writer> = (1..=WRITERS).map(|_| Writer::start(&path)).collect();
    for (writer, at) in writers.iter_mut().zip(1..) {
        answered.insert(writer.save(&document(at, 0)).unwrap(), (at, 0));
    }
    stop(&mut holder, &path, &mut answered);
    let start = Instant::now();
    let mut times = Times::default();
    thread::scope(|scope| {
        let saving: Vec<_> = writers
            .iter_mut()
            .zip(1..)
            .map(|(writer, at)| {
                scope.spawn(move || {
                    let (mut saved, mut times) = (Vec::new(), Times::default());
                    for number in 1..=SAVES {
                        let since = Instant::now();
                        saved.push((writer.save(&document(at, number)).unwrap(), (at, number)));
                        times.note(since);
                    }
                    (saved, times)
                })
            })
            .collect();
        for saving in saving {
            let (saved, took) = saving.join().unwrap();
            answered.extend(saved);
            times.add(took);
        }
    });
    let took = start.elapsed();
    // This one never had the store, as a hook of a loop.
    let mut once = command(&path, "save - --series writers").spawn().unwrap();
    write!(once.stdin.take().unwrap(), "{}", document(9, 9)).unwrap();
    let output = once.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    answered.insert(String::from_utf8(output.stdout).unwrap().trim().to_owned(), (9, 9));
    // All of that happened while the other process held the store: a reader does not wait for it.
    check_seen_by(&Store::open(&path).unwrap(), &answered);
    assert!(is_held_by(&holder, &path));
    let found = Store::inspect(&path, Duration::ZERO, &mut |_| {}).unwrap();
    let spooled = u64::try_from(WRITERS).unwrap() * SAVES + 1;
    assert_eq!(found.spool.checkpoints, spooled);
    println!("{spooled} saves while the holder is stopped: {took:.1?}, {}", times.told());
    send(&holder.child, Signal::CONT);
    check(&path, &answered);
    for writer in writers.into_iter().chain([holder]) {
        let (status, said) = writer.end();
        assert!(status.success(), "{said}");
    }
    check(&path, &answered);
}

#[test]
fn a_reader_sees_all_beside_a_stopped_holder_and_a_change_names_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = store_in(&dir);
    let mut answered = HashMap::new();
    let mut holder = Writer::start(&path);
    stop(&mut holder, &path, &mut answered);
    let no_wait = Options { wait: Duration::ZERO, ..Options::default() };
    check_seen_by(&Store::open_with(&path, no_wait).unwrap(), &answered);
    let (status, said) = ended(command_with(&path, "latest", "0").spawn().unwrap());
    assert!(status.success(), "{said}");
    let (status, said) = ended(command_with(&path, "compact", "0.05").spawn().unwrap());
    assert_eq!(status.code(), Some(6), "{said}");
    assert!(said.contains(&format!("process {}", holder.child.id())), "{said}");
    send(&holder.child, Signal::CONT);
    assert!(holder.end().0.success());
}

#[test]
fn an_interrupt_ends_a_writer_though_the_holder_is_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let path = store_in(&dir);
    let mut answered = HashMap::new();
    let mut holder = Writer::start(&path);
    stop(&mut holder, &path, &mut answered);
    for (signal, code, at) in [(Signal::INT, 130, 1), (Signal::TERM, 143, 2)] {
        let mut writer = Writer::start(&path);
        for number in 0..3 {
            answered.insert(writer.save(&document(at, number)).unwrap(), (at, number));
        }
        send(&writer.child, signal);
        let (status, said) = ended(writer.child);
        assert_eq!(status.code(), Some(code), "{said}");
        assert!(said.contains("3 lines answered"), "{said}");
    }
    send(&holder.child, Signal::CONT);
    check(&path, &answered);
    assert!(holder.end().0.success());
}

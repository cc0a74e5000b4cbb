//! What reads cost beside eight savers, what they cost the savers, and what a first read costs.
//!
//! All figures are ratios or differences of what is measured in turns, in one go.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use waypost::options::Hold;
use waypost::{Options, Query, Store};

use super::{DURING, PATIENT, Role, WRITERS, measure, run_all, start, tell};
use crate::cost::{median, time};
use crate::place::Scratch;
use crate::population;

const COUNT: u32 = 100_000;
const FEW: u32 = 1_000;
const ROUNDS: usize = 3;
const FIRSTS: usize = 40;
const KILLS: usize = 7;
/// How long a reader pauses between two reads: ten a second.
const PAUSE: Duration = Duration::from_millis(100);
/// Readers of each phase, and their pause.
const PHASES: [(u32, Duration); 4] = [(0, PAUSE), (1, PAUSE), (4, PAUSE), (4, Duration::ZERO)];

/// Reads what is newest, each time as a command does.
pub(super) fn read(path: &Path, pause: Duration) {
    let options = Options { wait: PATIENT, ..Options::default() };
    let mut times = measure(|| {
        let spent = time(|| {
            let store = Store::open_with(path, options.clone()).expect("a store");
            store.latest(&Query::default()).expect("it is read").expect("one is there");
            store.close().expect("it is closed");
        });
        thread::sleep(pause);
        spent
    });
    // The first comes before the savers are at work.
    times.remove(0);
    tell(&times);
}

/// Reads what is newest once, as a whole process.
pub(super) fn read_once(path: &Path) {
    let options = Options { wait: PATIENT, create: false, ..Options::default() };
    let store = Store::open_with(path, options).expect("a store");
    let newest = store.latest(&Query::default()).expect("it is read").expect("one is there");
    println!("{}", newest.state::<serde_json::Value>().expect("it is a document"));
}

pub(crate) fn print() {
    println!("\n| what | measured |\n|---|---|");
    beside();
    first();
    after_kill(*population::sizes().last().expect("there is a size"));
}

/// Reads beside savers, and savers beside reads.
fn beside() {
    let scratch = population::copy(COUNT);
    let path = scratch.store.path();
    let mut phases = PHASES.map(|_| (0, Vec::new()));
    for _ in 0..ROUNDS {
        for ((readers, pause), (saves, reads)) in PHASES.into_iter().zip(&mut phases) {
            let writers = (0..WRITERS).map(|seed| start(path, Role::Saver { after: 20, seed }));
            let readers = (0..readers).map(|_| start(path, Role::Reader { pause }));
            let [saved, read] = run_all([writers.collect(), readers.collect()]);
            *saves += saved.len();
            reads.extend(read);
        }
    }
    let seconds = DURING.as_secs_f64() * f64::from(u32::try_from(ROUNDS).expect("a few"));
    let rate = |count: usize| f64::from(u32::try_from(count).expect("it is small")) / seconds;
    let alone = rate(phases[0].0);
    println!("| saves/s of {WRITERS} at {COUNT} checkpoints, no reader | {alone:.0} |");
    for ((readers, pause), (saves, mut reads)) in PHASES.into_iter().zip(phases).skip(1) {
        reads.sort_unstable();
        let at = |percent: usize| Duration::from_micros(reads[reads.len() * percent / 100]);
        let name = format!("{readers} readers, {pause:?} between reads");
        let saves = rate(saves);
        println!("| {name}: saves/s | {saves:.0}, {:.2} of that without |", saves / alone);
        let reads_each = rate(reads.len());
        println!("| {name}: a read | p50 {:.1?}, p99 {:.1?}, {reads_each:.0}/s |", at(50), at(99));
    }
}

/// A process that reads what is newest of a closed store, beside one that does nothing.
fn first() {
    let scratch = population::copy(COUNT);
    let path = scratch.store.path();
    let run = |role| {
        time(|| {
            let mut command = super::command(path, role);
            assert!(command.output().expect("it starts").status.success());
        })
    };
    let rounds = (0..FIRSTS).map(|_| (run(Role::Nothing), run(Role::Once)));
    let (nothing, once) = rounds.unzip();
    let (nothing, once) = (median(nothing), median(once));
    let more = once.saturating_sub(nothing);
    println!("| latest, closed store of {COUNT}, beyond a process ({nothing:.1?}) | {more:.1?} |");
}

/// Opening a store whose saver was killed, by that of a small one.
fn after_kill(count: u32) {
    let [small, large] = [FEW, count].map(population::copy);
    let kinds = [("a view", Hold::Idle(Duration::ZERO)), ("a turn", Hold::Forever)];
    for (name, hold) in kinds {
        let open = |scratch: &Scratch| {
            let path = scratch.store.path();
            kill_saver(path);
            let options = Options { hold, wait: PATIENT, ..Options::default() };
            let spent = Instant::now();
            let store = Store::open_with(path, options).expect("a store");
            store.latest(&Query::default()).expect("it is read").expect("one is there");
            spent.elapsed()
        };
        let rounds = (0..KILLS).map(|_| (open(&small), open(&large)));
        let (few, many) = rounds.unzip();
        let (few, many) = (median(few), median(many));
        let ratio = many.as_secs_f64() / few.as_secs_f64();
        println!(
            "| {name} after a kill at {count} by {FEW} | {ratio:.2}, {many:.1?} / {few:.1?} |"
        );
    }
}

/// Lets a saver save for a while, and kills it.
fn kill_saver(path: &Path) {
    let mut saver = start(path, Role::Saver { after: 20, seed: 1 });
    drop(saver.stdin.take());
    thread::sleep(PAUSE);
    saver.kill().and_then(|()| saver.wait()).expect("it ends");
}

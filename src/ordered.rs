//! Runs work on several processors and hands out the results in order.
//!
//! Imports and exports of files read, parse, compress and write on all processors, a part at a
//! time, and commit in order. Memory grows with the parts in flight, not with the tree. A file of
//! more than 4 MiB is read alone, and recognised by an outline of its document. An export writes
//! the files of a part under other names, syncs the file system once, and only then renames.

use std::panic::resume_unwind;
use std::sync::mpsc::{self, SyncSender};
use std::thread;

use crate::threads::start_in;

// More than any machine has use for. A caller's number must not start threads without end.
const WORKERS_MAX: usize = 256;

/// Runs `work` on each job that `produce` hands out, and passes the results to `consume` in the
/// same order.
///
/// Handing out returns `false` once `consume` has failed. Threads get jobs in turn, and their
/// results are taken in turn. However long one job takes, the other threads are at most two jobs
/// ahead, so memory does not grow with the number of jobs. If threads cannot be started, fewer of
/// them do the work, or the caller alone.
///
/// # Errors
/// The error of `consume`, else that of `produce`.
///
/// # Panics
/// If `produce` or `work` panics.
pub fn in_order<J: Send, R: Send, E: Send>(
    produce: impl FnOnce(&mut dyn FnMut(J) -> bool) -> Result<(), E> + Send,
    work: impl Fn(J) -> R + Sync,
    consume: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    in_order_by(workers, produce, work, consume)
}

/// As [`in_order`], with at most this many workers beside the thread that produces. With none, the
/// caller does all of the work.
///
/// # Errors
/// As [`in_order`].
///
/// # Panics
/// As [`in_order`].
pub fn in_order_by<J: Send, R: Send, E: Send>(
    workers: usize,
    produce: impl FnOnce(&mut dyn FnMut(J) -> bool) -> Result<(), E> + Send,
    work: impl Fn(J) -> R + Sync,
    mut consume: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    if workers == 0 {
        return alone(produce, work, consume);
    }
    let workers = workers.min(WORKERS_MAX);
    let work = &work;
    thread::scope(|scope| {
        // The closure is sent once the thread runs. If it does not start, the caller still has it.
        let (to_producer, handed_over) = mpsc::sync_channel::<(_, Vec<_>)>(1);
        let producer = start_in(scope, move || match handed_over.recv() {
            Ok((produce, jobs)) => hand_out(produce, &jobs),
            // There are no workers: the caller does the work.
            Err(_) => Ok(()),
        });
        let (mut jobs, mut results) = (Vec::new(), Vec::new());
        for _ in 0..producer.as_ref().map_or(0, |_| workers) {
            let (to_worker, of_producer) = mpsc::sync_channel(1);
            let (to_consumer, of_worker) = mpsc::sync_channel(1);
            let worker = start_in(scope, move || {
                let mut done = of_producer.into_iter().map(work);
                while done.next().is_some_and(|result| to_consumer.send(result).is_ok()) {}
            });
            if worker.is_err() {
                break;
            }
            jobs.push(to_worker);
            results.push(of_worker);
        }
        let producer = match producer {
            Ok(producer) if !jobs.is_empty() => producer,
            _ => return alone(produce, work, consume),
        };
        to_producer.send((produce, jobs)).expect("the producer waits for its work");
        let turns = results.iter().cycle();
        let consumed = turns.map_while(|worker| worker.recv().ok()).try_for_each(&mut consume);
        // Ends threads that still wait for their results to be taken.
        drop(results);
        let end = producer.join().unwrap_or_else(|panic| resume_unwind(panic));
        consumed.and(end)
    })
}

/// Hands the jobs of `produce` to the workers in turn.
fn hand_out<J, E>(
    produce: impl FnOnce(&mut dyn FnMut(J) -> bool) -> Result<(), E>,
    workers: &[SyncSender<J>],
) -> Result<(), E> {
    let mut turns = workers.iter().cycle();
    produce(&mut |job| turns.next().is_some_and(|worker| worker.send(job).is_ok()))
}

/// As [`in_order`], in the thread of the caller.
fn alone<J, R, E>(
    produce: impl FnOnce(&mut dyn FnMut(J) -> bool) -> Result<(), E>,
    work: impl Fn(J) -> R,
    mut consume: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let mut consumed = Ok(());
    let end = produce(&mut |job| {
        consumed = consume(work(job));
        consumed.is_ok()
    });
    consumed.and(end)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::threads::with_at_most;

    /// The most threads that are used: a producer, and a worker for each processor.
    fn threads_max() -> usize {
        1 + thread::available_parallelism().map_or(1, usize::from)
    }

    #[test]
    fn results_come_in_order_with_any_number_of_threads() {
        for threads in 0..=threads_max() {
            let mut squares = Vec::new();
            let produce = |hand_out: &mut dyn FnMut(u64) -> bool| {
                (0..200).all(hand_out);
                Ok::<(), &str>(())
            };
            let work = |number: u64| {
                thread::sleep(Duration::from_micros(number % 7 * 50));
                number * number
            };
            let consume = |square| {
                squares.push(square);
                Ok(())
            };
            with_at_most(threads, || in_order(produce, work, consume)).unwrap();
            let expected: Vec<u64> = (0..200).map(|number| number * number).collect();
            assert_eq!(squares, expected, "{threads} threads");
        }
    }

    #[test]
    fn a_failure_at_either_end_ends_it() {
        for threads in 0..=threads_max() {
            let endless = |hand_out: &mut dyn FnMut(u64) -> bool| {
                (0..1_000_000).all(hand_out);
                Ok(())
            };
            let refuse = |number| if number == 50 { Err("enough") } else { Ok(()) };
            let ended = with_at_most(threads, || in_order(endless, |number| number, refuse));
            assert_eq!(ended, Err("enough"), "{threads} threads");

            let mut count = 0;
            let broken = |hand_out: &mut dyn FnMut(u64) -> bool| {
                (0..9).all(hand_out);
                Err("no more to be had")
            };
            let consume = |_| {
                count += 1;
                Ok(())
            };
            let ended = with_at_most(threads, || in_order(broken, |number| number, consume));
            assert_eq!((ended, count), (Err("no more to be had"), 9), "{threads} threads");
        }
    }
}

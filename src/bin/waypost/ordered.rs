//! Work for all processors whose results are wanted in order.

use std::panic::resume_unwind;
use std::sync::mpsc;
use std::thread;

use anyhow::Result;

/// Does `work` on what `produce` hands out, and gives the results to `consume` in the same order.
///
/// `produce` hears `false` once nobody wants more. Threads get jobs in turn and are asked for
/// results in turn: however long one of them takes, the others are two ahead at most, so the
/// memory does not grow with the number of jobs.
pub(crate) fn in_order<J: Send, R: Send>(
    produce: impl FnOnce(&mut dyn FnMut(J) -> bool) -> Result<()> + Send,
    work: impl Fn(J) -> R + Sync,
    consume: impl FnMut(R) -> Result<()>,
) -> Result<()> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let work = &work;
    thread::scope(|scope| {
        let (mut jobs, mut results) = (Vec::new(), Vec::new());
        for _ in 0..workers {
            let (to_worker, of_producer) = mpsc::sync_channel(1);
            let (to_consumer, of_worker) = mpsc::sync_channel(1);
            scope.spawn(move || {
                let mut done = of_producer.into_iter().map(work);
                while done.next().is_some_and(|result| to_consumer.send(result).is_ok()) {}
            });
            jobs.push(to_worker);
            results.push(of_worker);
        }
        let producer = scope.spawn(move || {
            let mut turns = jobs.iter().cycle();
            produce(&mut |job| turns.next().is_some_and(|worker| worker.send(job).is_ok()))
        });
        let turns = results.iter().cycle();
        let consumed = turns.map_while(|worker| worker.recv().ok()).try_for_each(consume);
        // Whoever still hands over hears that nobody takes any more.
        drop(results);
        let end = producer.join().unwrap_or_else(|panic| resume_unwind(panic));
        consumed.and(end)
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn results_come_in_the_order_of_jobs_however_long_each_takes() {
        let mut squares = Vec::new();
        let produce = |hand_out: &mut dyn FnMut(u64) -> bool| {
            (0..200).all(hand_out);
            Ok(())
        };
        let work = |number: u64| {
            thread::sleep(Duration::from_micros(number % 7 * 50));
            number * number
        };
        in_order(produce, work, |square| {
            squares.push(square);
            Ok(())
        })
        .unwrap();
        assert_eq!(squares, (0..200).map(|number| number * number).collect::<Vec<_>>());
    }

    #[test]
    fn a_failure_at_either_end_ends_it() {
        let endless = |hand_out: &mut dyn FnMut(u64) -> bool| {
            (0..1_000_000).all(hand_out);
            Ok(())
        };
        let refuse = |number| if number == 50 { anyhow::bail!("enough") } else { Ok(()) };
        let error = in_order(endless, |number| number, refuse).unwrap_err();
        assert_eq!(error.to_string(), "enough");

        let mut count = 0;
        let broken = |hand_out: &mut dyn FnMut(u64) -> bool| {
            (0..9).all(hand_out);
            anyhow::bail!("no more to be had")
        };
        let consumed = in_order(
            broken,
            |number| number,
            |_| {
                count += 1;
                Ok(())
            },
        );
        assert_eq!((consumed.unwrap_err().to_string().as_str(), count), ("no more to be had", 9));
    }
}

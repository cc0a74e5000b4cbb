//! What a piece of work takes: by the clock, and of the processors.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// The cost of some work, or of one of many equal calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    pub(crate) wall: Duration,
    /// User and system time of all threads of this process, those that have ended included. No
    /// rival starts a process.
    pub(crate) processor: Duration,
}

impl Cost {
    pub(crate) fn of<T>(work: impl FnOnce() -> T) -> (T, Self) {
        let (wall, processor) = (Instant::now(), spent());
        let value = work();
        (value, Self { wall: wall.elapsed(), processor: spent().saturating_sub(processor) })
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self { wall: self.wall + other.wall, processor: self.processor + other.processor }
    }

    /// The cost of one of `count` calls.
    pub(crate) fn each(self, count: u32) -> Self {
        Self { wall: self.wall / count, processor: self.processor / count }
    }

    /// The median of each part.
    pub(crate) fn median(costs: &[Self]) -> Self {
        let of = |part: fn(&Self) -> Duration| median(costs.iter().map(part).collect());
        Self { wall: of(|cost| cost.wall), processor: of(|cost| cost.processor) }
    }
}

pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn spent() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let nanos = u32::try_from(time.tv_nsec).expect("nanoseconds are less than a second");
    Duration::new(time.tv_sec.unsigned_abs(), nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_medians_of_both_parts_are_their_own() {
        let cost = |wall, processor| Cost {
            wall: Duration::from_micros(wall),
            processor: Duration::from_micros(processor),
        };
        assert_eq!(Cost::median(&[cost(1, 9), cost(3, 2), cost(2, 5)]), cost(2, 5));
    }

    #[test]
    fn time_of_a_thread_that_has_ended_counts_and_sleep_does_not() {
        let work = || (0..3_000_000).for_each(|number: u32| _ = std::hint::black_box(number));
        let ((), busy) = Cost::of(|| std::thread::spawn(work).join().unwrap());
        let ((), asleep) = Cost::of(|| std::thread::sleep(busy.wall * 2));
        assert!(busy.processor > asleep.processor, "{busy:?} {asleep:?}");
    }
}

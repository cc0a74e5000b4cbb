//! Whether a run was flat: its last quarter against its second.
//!
//! The first quarter is left out, since caches fill and rings are not full yet.

use crate::latency::median;
use crate::sample::Sample;

// Two samples in each quarter.
const SAMPLES_MIN: usize = 8;
// What is bounded may swing, as compactions come when they come.
const SIZE_MAX: f64 = 1.25;
const MEMORY_MAX: f64 = 1.25;
// On a machine that others use, too.
const MEDIAN_MAX: f64 = 1.5;
const P99_MAX: f64 = 2.0;

/// One measure of the last quarter against the second.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) what: &'static str,
    /// The median of the samples of the second quarter.
    pub(crate) before: u64,
    /// The median of those of the last.
    pub(crate) after: u64,
    pub(crate) unit: Unit,
    /// By how much it may have grown.
    pub(crate) factor_max: f64,
}

/// What a measure is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Bytes,
    Micros,
}

impl Verdict {
    #[expect(clippy::cast_precision_loss, reason = "a ratio need not be that exact")]
    pub(crate) fn factor(&self) -> f64 {
        self.after as f64 / self.before.max(1) as f64
    }

    pub(crate) fn is_flat(&self) -> bool {
        self.factor() <= self.factor_max
    }
}

impl Unit {
    #[expect(clippy::cast_precision_loss, reason = "it is rounded anyway")]
    pub(crate) fn show(self, value: u64) -> String {
        match (self, value as f64) {
            (Self::Bytes, bytes) if value < 1 << 20 => format!("{:.0} KiB", bytes / 1024.0),
            (Self::Bytes, bytes) => format!("{:.1} MiB", bytes / 1_048_576.0),
            (Self::Micros, micros) if value < 1000 => format!("{micros:.0} us"),
            (Self::Micros, micros) => format!("{:.1} ms", micros / 1000.0),
        }
    }
}

/// Judges a run by its samples; nothing if they are too few.
pub(crate) fn judge(samples: &[Sample]) -> Vec<Verdict> {
    if samples.len() < SAMPLES_MIN {
        return Vec::new();
    }
    let quarter =
        |number: usize| &samples[samples.len() * number / 4..samples.len() * (number + 1) / 4];
    let (before, after) = (quarter(1), quarter(3));
    measures()
        .into_iter()
        .filter_map(|(what, unit, factor_max, measure)| {
            let middle = |samples: &[Sample]| median(samples.iter().filter_map(measure));
            let (before, after) = (middle(before)?, middle(after)?);
            Some(Verdict { what, before, after, unit, factor_max })
        })
        .collect()
}

type Measure = fn(&Sample) -> Option<u64>;

fn measures() -> [(&'static str, Unit, f64, Measure); 8] {
    [
        ("size on disk", Unit::Bytes, SIZE_MAX, |it| Some(it.disk_bytes())),
        ("memory of a process", Unit::Bytes, MEMORY_MAX, Sample::memory_bytes),
        ("save, median", Unit::Micros, MEDIAN_MAX, |it| Some(it.save?.median)),
        ("save, p99", Unit::Micros, P99_MAX, |it| Some(it.save?.p99)),
        ("latest, median", Unit::Micros, MEDIAN_MAX, |it| Some(it.latest?.median)),
        ("latest, p99", Unit::Micros, P99_MAX, |it| Some(it.latest?.p99)),
        ("list, median", Unit::Micros, MEDIAN_MAX, |it| Some(it.list?.median)),
        ("list, p99", Unit::Micros, P99_MAX, |it| Some(it.list?.p99)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latency::Latency;

    fn run(bytes: impl Fn(u64) -> u64) -> Vec<Sample> {
        let latency = Some(Latency { count: 1, median: 100, p99: 900, max: 950 });
        let sample = |number| Sample {
            file_bytes: bytes(number),
            spared_bytes: vec![50, 100],
            save: latency,
            latest: latency,
            ..Sample::default()
        };
        (0..16).map(sample).collect()
    }

    fn verdict(samples: &[Sample], what: &str) -> Verdict {
        judge(samples).into_iter().find(|verdict| verdict.what == what).unwrap()
    }

    #[test]
    fn what_grows_only_at_the_start_is_flat() {
        let samples = run(|number| 1000 * (number + 1).min(4));
        let size = verdict(&samples, "size on disk");
        assert_eq!((size.before, size.after), (4000, 4000));
        assert!(size.is_flat());
    }

    #[test]
    fn what_grows_all_the_time_is_not_flat() {
        assert!(!verdict(&run(|number| 1000 * (number + 1)), "size on disk").is_flat());
        assert!(verdict(&run(|number| 1000 * (number + 1)), "save, p99").is_flat());
    }

    #[test]
    fn one_peak_is_no_growth_and_shrinking_is_none_either() {
        assert!(
            verdict(&run(|number| 1000 + 90_000 * u64::from(number == 15)), "size on disk")
                .is_flat()
        );
        assert!(verdict(&run(|number| 100_000 - 5000 * number), "size on disk").is_flat());
    }

    #[test]
    fn the_largest_process_counts_and_what_was_not_measured_is_left_out() {
        let samples = run(|_| 1);
        assert_eq!(verdict(&samples, "memory of a process").after, 100);
        assert!(judge(&samples).iter().all(|verdict| !verdict.what.starts_with("list")));
    }

    #[test]
    fn a_short_run_is_not_judged() {
        assert!(judge(&run(|_| 1)[..7]).is_empty());
    }

    #[test]
    fn figures_are_shown_in_the_unit_that_fits() {
        assert_eq!(Unit::Bytes.show(3 << 19), "1.5 MiB");
        assert_eq!(Unit::Bytes.show(2048), "2 KiB");
        assert_eq!(Unit::Micros.show(999), "999 us");
        assert_eq!(Unit::Micros.show(12_345), "12.3 ms");
    }
}

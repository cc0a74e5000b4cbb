//! What runs under callgrind: works in turn, each between two marks.
//!
//! Callgrind writes its counts and starts from zero at each mark. So one run measures many works,
//! and preparing, warming up and cleaning up are in parts of their own.

use std::hint::black_box;
use std::path::Path;

use crate::works::{Threads, Work};

/// Asks this program to run the works.
pub(crate) const WORD: &str = "--works";
/// Matches the function that callgrind waits for.
pub(crate) const MARK: &str = "*driver::begin_part*";

/// The part that has the counts of a work. Parts count from 1, and the first one prepares.
pub(crate) fn part_of(number: usize) -> usize {
    2 * number + 2
}

/// Runs the works of these threads on what [`crate::stores::prepare`] left at `place`.
pub(crate) fn run(threads: Threads, place: &Path) {
    for Work { prepare, warm_up, calls, .. } in threads.works() {
        let mut call = prepare(place);
        (0..*warm_up).for_each(|_| call());
        begin_part();
        (0..*calls).for_each(|_| call());
        begin_part();
    }
}

#[inline(never)]
fn begin_part() {
    black_box(());
}

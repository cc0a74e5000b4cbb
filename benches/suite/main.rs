//! The benchmarks: one binary, a module for each subject.
//!
//! `cargo bench --bench suite` runs them all and ends with a table of the goals. The first run
//! takes minutes more to fill a store with a million checkpoints; `WAYPOST_BENCH_SMALL=1` leaves
//! that size out.

mod codec;
mod cost;
mod delta;
mod diff;
#[path = "../../src/bin/waypost/command/bench/document.rs"]
mod document;
mod files;
mod goals;
mod growth;
mod invocation;
mod list;
mod place;
mod plan;
mod population;
#[cfg(unix)]
mod processes;
#[path = "../../src/bin/waypost/command/bench/random.rs"]
mod random;
mod read;
mod recovery;
mod save;
mod seal;

use criterion::Criterion;

fn main() {
    #[cfg(unix)]
    if processes::is_one() {
        return;
    }
    let mut criterion = Criterion::default().configure_from_args();
    let benches = [
        codec::bench,
        save::bench,
        seal::bench,
        delta::bench,
        read::bench,
        list::bench,
        plan::bench,
        diff::bench,
        recovery::bench,
        growth::bench,
        files::bench,
    ];
    for bench in benches {
        bench(&mut criterion);
    }
    criterion.final_summary();
    if invocation::wants("goals") {
        goals::print();
    }
    #[cfg(unix)]
    if invocation::wants("processes") {
        processes::print();
    }
    #[cfg(unix)]
    if invocation::wants("readers") {
        processes::readers::print();
    }
}

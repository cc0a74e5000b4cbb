//! Every rival gives back what it was given, and a tiny run has all figures.

use crate::check::check;
use crate::counts::Counts;
use crate::figures::Metric;
use crate::goals::goals;
use crate::measure::measure;
use crate::peer::Kind;
use crate::report;
use crate::workload::{Motion, Scenario};

const TINY: Counts =
    Counts { fill: 180, rounds: 1, turn: 2, crowd: 1, processor: 2, reads: 3, delete: 150 };

#[test]
fn every_rival_gives_back_what_it_was_given() {
    for kind in Kind::all() {
        let directory = tempfile::tempdir().unwrap();
        check(*kind, directory.path()).unwrap();
    }
}

#[test]
fn a_run_has_every_figure_of_every_rival() {
    let directory = tempfile::tempdir().unwrap();
    let scenario = Scenario { kilobytes: 16, motion: Motion::Window };
    let figures = measure(scenario, TINY, Kind::all(), directory.path()).unwrap();
    for metric in Metric::ALL.into_iter().filter(|metric| *metric != Metric::CrowdInLine) {
        for kind in Kind::all() {
            assert!(figures.get(metric, *kind).is_some(), "{metric:?} of {kind:?}");
        }
    }
    let out = directory.path().join("out");
    let all = [figures];
    assert!(!goals(&all).is_empty());
    report::write(&all, &out).unwrap();
    for file in ["peers.md", "bytes-window.svg", "durable-window.svg", "crowd-window.svg"] {
        assert!(out.join(file).exists(), "{file}");
    }
}

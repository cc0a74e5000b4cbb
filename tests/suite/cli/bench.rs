//! `waypost bench`: figures for both ways of keeping checkpoints, and nothing left behind.

use serde_json::Value;

use super::Test;

#[test]
fn the_figures_are_there_and_the_files_are_gone() {
    let test = Test::new();
    let flags = "--size 2k --saves 41 --threads 4 --loops 5 --durability relaxed";
    let line = test.run(&format!("bench {flags} --json")).done();
    let report: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(report["documents"]["saves"], 41);
    assert_eq!(report["documents"]["loops"], 5);
    assert_eq!(report["documents"]["durability"], "relaxed");
    for contender in ["waypost", "files"] {
        for figure in ["saves_per_second", "bytes_per_checkpoint"] {
            assert!(report[contender][figure].as_f64().unwrap() > 0.0, "{contender} {figure}");
        }
        for work in ["save", "newest", "get", "list"] {
            let spread = &report[contender][work];
            let [median, max] =
                ["median_seconds", "max_seconds"].map(|it| spread[it].as_f64().unwrap());
            assert!(0.0 < median && median <= max, "{contender} {work}: {spread}");
        }
    }
    assert_eq!(test.path().read_dir().unwrap().count(), 0);

    let shown = test.run(&format!("bench {flags} --grow --change 20 --quiet")).done();
    for row in ["saves per second", "bytes per checkpoint", "newest of a loop"] {
        assert!(shown.contains(row), "{shown}");
    }
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let test = Test::new();
    for (flags, code, reason) in [
        ("--size 0", 2, "between 1 byte and 32m"),
        ("--size 16kb", 2, "not a number of bytes"),
        ("--change 101", 2, "must be a whole number from 0 to 100"),
        ("--saves 0", 2, "0"),
        ("--threads 4 --loops 2", 2, "--loops 2 is less than --threads 4"),
        ("--size 32m --saves 100000", 2, "too much to keep"),
        ("--threads 8 --saves 5", 2, "--saves 5 is less than the number of loops, 8"),
        ("--threads 2000", 2, "must be a whole number from 1 to 1000"),
        ("--dir nowhere", 1, "cannot make nowhere"),
    ] {
        let ended = test.run(&format!("bench {flags}"));
        assert_eq!(ended.code, Some(code), "{flags}: {}", ended.stderr);
        assert!(ended.stderr.contains(reason), "{flags}: {}", ended.stderr);
    }
}

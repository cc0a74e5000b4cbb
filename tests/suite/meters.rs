//! The comparison of counted instructions with those that are checked in; `cargo bench --bench
//! meters` counts them.

#[path = "../../benches/meters/counts.rs"]
mod counts;

use std::path::Path;

use counts::{Row, Sheet, TOLERANCE_PERCENT, Verdict, compare, fails};

fn sheet(counts: &[(&str, u64)]) -> Sheet {
    let counts = counts.iter().map(|(work, count)| ((*work).to_owned(), *count)).collect();
    Sheet { made_by: "rustc 1.0".to_owned(), counts }
}

fn verdicts(counted: &[(&str, u64)], checked_in: &[(&str, u64)]) -> Vec<Verdict> {
    let rows = compare(&sheet(counted), &sheet(checked_in));
    rows.iter().map(|row| row.verdict).collect()
}

/// Whether a run with this one verdict fails, with the compiler of the file and with another.
fn failing(verdict: Verdict) -> [bool; 2] {
    let row = Row { work: "get".to_owned(), counted: Some(1), checked_in: Some(1), verdict };
    [true, false].map(|is_comparable| fails(std::slice::from_ref(&row), is_comparable))
}

#[test]
fn a_count_beyond_five_percent_is_grown_or_shrunk() {
    assert_eq!(TOLERANCE_PERCENT, 5);
    let before = ("get", 10_000);
    for (counted, verdict) in [
        (10_500, Verdict::Steady),
        (10_501, Verdict::Grown),
        (9_500, Verdict::Steady),
        (9_499, Verdict::Shrunk),
        (0, Verdict::Shrunk),
        (u64::MAX, Verdict::Grown),
    ] {
        assert_eq!(verdicts(&[("get", counted)], &[before]), [verdict], "{counted}");
    }
    assert_eq!(verdicts(&[("get", 1)], &[("get", 0)]), [Verdict::Grown]);
}

#[test]
fn growth_fails_only_with_the_compiler_of_the_file() {
    assert_eq!(failing(Verdict::Grown), [true, false]);
    assert_eq!(failing(Verdict::Shrunk), [false, false]);
    assert_eq!(failing(Verdict::Steady), [false, false]);
}

#[test]
fn a_work_without_a_count_and_a_count_without_a_work_fail() {
    let found = verdicts(&[("get", 1), ("list", 2)], &[("save", 3), ("get", 1)]);
    assert_eq!(found, [Verdict::Steady, Verdict::Missing, Verdict::Unknown]);
    for verdict in [Verdict::Missing, Verdict::Unknown] {
        assert_eq!(failing(verdict), [true, true], "{verdict:?}");
    }
}

#[test]
fn one_grown_count_among_steady_ones_fails() {
    let rows = compare(
        &sheet(&[("get", 100), ("list", 106), ("save", 100)]),
        &sheet(&[("get", 100), ("list", 100), ("save", 100)]),
    );
    assert!(fails(&rows, true));
}

#[test]
fn a_sheet_is_read_as_it_is_written() {
    let written = sheet(&[("save, relaxed, 16 KB", 256_973), ("get by id", 12)]);
    assert_eq!(Sheet::parse(&written.to_text()), Ok(written));
}

#[test]
fn a_line_that_is_neither_count_nor_comment_is_an_error() {
    for (text, why) in [
        ("made by x\nnonsense\n", "line 2: neither a work nor a comment: \"nonsense\""),
        ("made by x\nget by id\n", "line 2: the count is no number: \"get by id\""),
        ("made by x\nget -5\n", "line 2: the count is no number: \"get -5\""),
        ("made by x\nget 5\nget  6\n", "line 3: a second count of the same work: \"get  6\""),
        ("made by x\nmade by y\n", "line 2: a second origin: \"made by y\""),
        ("# a comment\n\nget 5\n", "no line starts with \"made by \""),
    ] {
        assert_eq!(Sheet::parse(text), Err(why.to_owned()), "{text:?}");
    }
}

#[test]
fn a_row_shows_both_counts_and_the_change() {
    let rows =
        compare(&sheet(&[("get", 1_060), ("list", 5)]), &sheet(&[("get", 1_000), ("save", 7)]));
    let lines: Vec<String> = rows.iter().map(Row::to_line).collect();
    let words = |line: &String| line.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(
        lines.iter().map(words).collect::<Vec<_>>(),
        ["get 1060 1000 +6.0 % GROWN", "list 5 - - MISSING in the file", "save - 7 - UNKNOWN work",]
    );
}

#[test]
fn the_checked_in_sheet_can_be_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/meters/counts.txt");
    let sheet = Sheet::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(!sheet.counts.is_empty() && sheet.counts.iter().all(|(_, count)| *count > 0));
}

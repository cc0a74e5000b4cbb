//! What a name stands for.

use waypost::recovery::Target;
use waypost::{Issue, LoopId, NewEntry, Series, Status};

use super::Work;

fn work() -> Work {
    let issue = |name: &str| Some(Issue::new(name).unwrap());
    let series = |name: &str| Some(Series::new(name).unwrap());
    let mut work = Work::new();
    work.save(
        "1",
        NewEntry { series: series("issue:42"), issue: issue("42"), ..NewEntry::default() },
    )
    .save(
        "2",
        NewEntry {
            series: series("loop:ralph-a-00000000"),
            issue: issue("43"),
            loop_id: Some(LoopId::new("ralph-a-00000000").unwrap()),
            ..NewEntry::default()
        },
    )
    .save(
        "3",
        NewEntry {
            series: series("other"),
            workflow_id: Some("build-7".to_owned()),
            issue: issue("43"),
            ..NewEntry::default()
        },
    )
    .save(
        r#"{"description": "Implement  authentication system"}"#,
        NewEntry { series: series("implement:auth"), ..NewEntry::default() },
    )
    .save(
        r#"{"description": "Implement dark mode"}"#,
        NewEntry { series: series("shop/implement:dark"), ..NewEntry::default() },
    );
    work
}

/// What a text stands for, in a form that is easily compared.
fn targets(work: &Work, text: &str) -> Vec<String> {
    let name = |target| match target {
        Target::Checkpoint(entry) => format!("checkpoint {}", entry.id),
        Target::Series(series) => series.to_string(),
    };
    work.store.targets(text).unwrap().into_iter().map(name).collect()
}

#[test]
fn every_kind_of_name_is_found() {
    let work = work();
    for (text, expected) in [
        ("n1", vec!["checkpoint n1"]),
        ("latest", vec!["checkpoint n5"]),
        ("issue:42@0", vec!["checkpoint n1"]),
        ("issue:42", vec!["issue:42"]),
        ("42", vec!["issue:42"]),
        ("#42", vec!["issue:42"]),
        ("ralph-a-00000000", vec!["loop:ralph-a-00000000"]),
        ("auth", vec!["implement:auth"]),
        ("dark", vec!["shop/implement:dark"]),
        ("implement Authentication system", vec!["implement:auth"]),
        ("implement dark MODE", vec!["shop/implement:dark"]),
        ("build-7", vec!["other"]),
        // A part of a description may fit other work.
        ("dark mode", vec![]),
        ("nothing", vec![]),
    ] {
        assert_eq!(targets(&work, text), expected, "{text}");
    }
}

#[test]
fn what_is_not_clear_has_all_choices() {
    let work = work();
    assert_eq!(targets(&work, "43"), ["loop:ralph-a-00000000", "other"]);
}

#[test]
fn a_series_without_checkpoints_is_none() {
    let work = work();
    let id = "n1".parse().unwrap();
    work.store.delete_now(&[id]).unwrap();
    assert_eq!(targets(&work, "issue:42"), Vec::<String>::new());
}

#[test]
fn the_start_of_an_id_counts_only_if_the_store_made_it() {
    let work = work();
    let about = |id: Option<&str>| NewEntry {
        id: id.map(|id| id.parse().unwrap()),
        series: Some("default".parse().unwrap()),
        ..NewEntry::default()
    };
    // A story must not be taken for another one.
    work.store.save_json(about(Some("PROJ-421-cp")), b"1").unwrap();
    assert_eq!(targets(&work, "PROJ-42"), Vec::<String>::new());
    let made = work.store.save_json(about(None), b"1").unwrap();
    assert_eq!(targets(&work, &made.id.as_str()[..18]), [format!("checkpoint {}", made.id)]);
}

#[test]
fn a_series_is_found_whatever_its_name_looks_like() {
    let mut work = Work::new();
    let about = |series: &str| NewEntry {
        series: Some(Series::new(series).unwrap()),
        ..NewEntry::default()
    };
    for series in ["user", "user", "user", "user@2", "latest"] {
        work.save("1", about(series));
    }
    assert_eq!(targets(&work, "user@2"), ["user@2"]);
    assert_eq!(targets(&work, "user@1"), ["checkpoint n2"]);
    assert_eq!(targets(&work, "latest"), ["latest"]);
}

#[test]
fn an_id_that_is_also_an_issue_is_not_clear() {
    let work = work();
    let about = NewEntry {
        id: Some("42".parse().unwrap()),
        series: Some("default".parse().unwrap()),
        ..NewEntry::default()
    };
    work.store.save_json(about, b"1").unwrap();
    assert_eq!(targets(&work, "42"), ["checkpoint 42", "issue:42"]);
}

#[test]
fn names_that_are_alike_are_near() {
    let work = work();
    let nearby = |text: &str| {
        let found = work.store.nearby(text).unwrap();
        found.iter().map(Series::to_string).collect::<Vec<_>>()
    };
    assert_eq!(nearby("issue:41"), ["issue:42"]);
    assert_eq!(nearby("implement"), ["implement:auth", "shop/implement:dark"]);
    assert_eq!(nearby("quite another thing"), Vec::<String>::new());
    let newest = work.store.newest_series().unwrap();
    assert_eq!(newest[0].as_str(), "shop/implement:dark");
}

#[test]
fn a_fork_is_not_what_the_issue_means() {
    let work = work();
    let about = |series: &str| NewEntry {
        series: Some(Series::new(series).unwrap()),
        ..NewEntry::default()
    };
    work.store.fork(&"n1".parse().unwrap(), about("retry")).unwrap();
    assert_eq!(targets(&work, "42"), ["issue:42"]);
    assert_eq!(targets(&work, "retry"), ["retry"]);
    // Once the work that it came from is over, the fork is what goes on.
    work.store.mark_series(&"issue:42".parse().unwrap(), Status::Completed).unwrap();
    assert_eq!(targets(&work, "42"), ["issue:42", "retry"]);
}

#[test]
fn series_that_come_from_each_other_are_all_meant() {
    let work = Work::new();
    for (id, series, parent) in [("a1", "a", "b1"), ("b1", "b", "a1")] {
        let about = NewEntry {
            id: Some(id.parse().unwrap()),
            series: Some(series.parse().unwrap()),
            parent: Some(parent.parse().unwrap()),
            issue: Some("42".parse().unwrap()),
            ..NewEntry::default()
        };
        work.store.save_json(about, b"1").unwrap();
    }
    assert_eq!(targets(&work, "42"), ["a", "b"]);
}

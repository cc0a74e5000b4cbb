//! The newest that can be resumed.

use waypost::recovery::Strategy;
use waypost::retention::Rule;
use waypost::{Error, NewEntry, Policy, Series, Settings, Status};

use super::{Work, offered, passed};

#[test]
fn the_newest_is_offered() {
    let mut work = Work::new();
    let proposal = work.step("1").step("2").propose(Strategy::Last);
    assert_eq!(offered(&proposal).as_deref(), Some("n2"));
    assert_eq!(proposal.reasons, ["n2 is the newest of its series."]);
    assert!(proposal.passed_over.is_empty() && !proposal.has_more);
}

#[test]
fn what_says_that_it_cannot_be_resumed_is_passed_over_with_its_warnings() {
    let mut work = Work::new();
    let warnings = vec!["tree is dirty".to_owned(), "no branch".to_owned()];
    let about = NewEntry { can_resume: Some(false), warnings, ..NewEntry::default() };
    let proposal = work.step("1").save("2", about).propose(Strategy::Last);
    assert_eq!(offered(&proposal).as_deref(), Some("n1"));
    let why = "n2 says that it cannot be resumed: tree is dirty; no branch";
    assert_eq!(passed(&proposal), [why]);
    assert_eq!(proposal.reasons, ["n1 is the newest that can be resumed; one is newer."]);
}

#[test]
fn work_that_is_done_is_not_gone_on_with_from_an_earlier_state() {
    for status in [Status::Completed, Status::Archived] {
        let mut work = Work::new();
        let proposal = work.step("1").ended(status).propose(Strategy::Last);
        assert_eq!(offered(&proposal), None);
        assert_eq!(passed(&proposal), [format!("n2 is {status}")]);
    }
}

#[test]
fn failed_work_can_be_tried_again() {
    let mut work = Work::new();
    let proposal = work.step("1").ended(Status::Failed).propose(Strategy::Last);
    assert_eq!(offered(&proposal).as_deref(), Some("n2"));
}

#[test]
fn no_more_than_the_depth_is_looked_at() {
    let mut work = Work::new();
    work.step("1");
    for _ in 0..3 {
        work.save("2", NewEntry { can_resume: Some(false), ..NewEntry::default() });
    }
    let near = work.store.propose_among(&super::series(), Strategy::Last, 3).unwrap();
    assert_eq!((offered(&near), near.has_more, near.passed_over.len()), (None, true, 3));
    let far = work.store.propose_among(&super::series(), Strategy::Last, 4).unwrap();
    assert_eq!((offered(&far).as_deref(), far.has_more), (Some("n1"), false));
}

#[test]
fn a_series_without_checkpoints_is_named() {
    let work = Work::new();
    let nothing = Series::new("nothing").unwrap();
    let error = work.store.propose(&nothing, Strategy::Last).unwrap_err();
    assert!(matches!(error, Error::NotFound { wanted } if wanted == "nothing"));
}

/// A concurrent prune must not make a series look empty.
#[test]
fn what_is_pruned_meanwhile_is_looked_for_again() {
    let work = Work::new();
    let rules = vec![Rule { keep_last: Some(4), ..Rule::default() }];
    let policy = Policy { name: "ring".to_owned(), rules, ..Policy::default() };
    let settings = Settings { policy: Some(policy), prune_on_save: true, ..Settings::default() };
    work.store.set_settings(&settings).unwrap();
    let save = || {
        let about = NewEntry { series: Some(super::series()), ..NewEntry::default() };
        work.store.save_json(about, b"{\"score\": 1}").unwrap();
    };
    save();
    std::thread::scope(|scope| {
        let saver = scope.spawn(|| (0..400).for_each(|_| save()));
        while !saver.is_finished() {
            for strategy in [Strategy::Last, Strategy::Smart] {
                let proposal = work.store.propose(&super::series(), strategy).unwrap();
                assert!(proposal.offer.is_some());
            }
        }
    });
}

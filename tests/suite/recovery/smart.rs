//! The last one before things went wrong.

use waypost::recovery::Strategy;
use waypost::{Id, NewEntry, Status, Trigger};

use super::{Work, offered, passed};

/// What is offered of a series of documents, and why.
fn chosen(documents: &[&str]) -> (Option<String>, String) {
    let mut work = Work::new();
    for json in documents {
        work.step(json);
    }
    let proposal = work.propose(Strategy::Smart);
    (offered(&proposal), proposal.reasons.join(" "))
}

#[test]
fn without_trouble_the_newest_is_chosen() {
    let documents = [r#"{"score": 50}"#, r#"{"score": 50}"#, r#"{"score": 80, "failures": 0}"#];
    let (id, reasons) = chosen(&documents);
    assert_eq!(id.as_deref(), Some("n3"));
    assert_eq!(reasons, "Nothing is worse than before: n3 is the newest.");
}

#[test]
fn before_a_score_that_falls() {
    let documents =
        [r#"{"score": 60}"#, r#"{"score": 80}"#, r#"{"score": 70}"#, r#"{"score": 75}"#];
    let (id, reasons) = chosen(&documents);
    assert_eq!(id.as_deref(), Some("n2"));
    let expected = "Things went wrong from n3 on: its score fell from 80 to 70. \
                    n2 is the last safe one before that.";
    assert_eq!(reasons, expected);
}

/// The checkpoint before the rollback was offered, since its score was higher.
#[test]
fn a_rollback_is_measured_by_what_it_goes_back_to() {
    let mut work = Work::new();
    for json in [r#"{"score": 10}"#, r#"{"score": 20}"#, r#"{"score": 30}"#, r#"{"score": 35}"#] {
        work.step(json);
    }
    let back = NewEntry { parent: Some(Id::new("n2").unwrap()), ..NewEntry::default() };
    work.save(r#"{"score": 20}"#, back);
    assert_eq!(offered(&work.propose(Strategy::Smart)).as_deref(), Some("n5"));
    // And what goes wrong after it leads back to it.
    work.step(r#"{"score": 15}"#);
    assert_eq!(offered(&work.propose(Strategy::Smart)).as_deref(), Some("n5"));
    // What was in trouble still is, if it is gone back to.
    let back = NewEntry { parent: Some(Id::new("n6").unwrap()), ..NewEntry::default() };
    work.save(r#"{"score": 15}"#, back);
    assert_eq!(offered(&work.propose(Strategy::Smart)).as_deref(), Some("n5"));
}

/// The first checkpoint of a new run was compared with the last of the run before it, and refused.
#[test]
fn nothing_is_compared_with_a_run_that_has_ended() {
    for status in [Status::Completed, Status::Archived] {
        let mut work = Work::new();
        let ended = NewEntry { status, ..NewEntry::default() };
        work.save(r#"{"score": 90, "failures": 0, "tests_passing": true}"#, ended);
        work.step(r#"{"score": 40, "failures": 1, "tests_passing": false}"#);
        work.step(r#"{"score": 50, "failures": 1}"#);
        let proposal = work.propose(Strategy::Smart);
        assert_eq!(offered(&proposal).as_deref(), Some("n3"), "{status}");
        assert_eq!(proposal.reasons, ["Nothing is worse than before: n3 is the newest."]);
    }
}

/// Starting over archives a series: its scores say nothing about the run that follows.
#[test]
fn nothing_is_compared_with_what_was_archived_to_start_over() {
    let mut work = Work::new();
    work.step(r#"{"score": 80}"#).step(r#"{"score": 90}"#);
    work.store.mark_series(&super::series(), Status::Archived).unwrap();
    work.step(r#"{"score": 10}"#);
    assert_eq!(offered(&work.propose(Strategy::Smart)).as_deref(), Some("n3"));
    // And trouble of this run leads to nothing of the one before.
    work.step(r#"{"score": 5}"#);
    assert_eq!(offered(&work.propose(Strategy::Smart)).as_deref(), Some("n3"));
}

#[test]
fn a_score_that_is_as_good_again_ends_the_trouble() {
    let documents = [r#"{"score": 80}"#, r#"{"score": 70}"#, r#"{"score": 80}"#];
    assert_eq!(chosen(&documents).0.as_deref(), Some("n3"));
}

#[test]
fn before_failures_that_rise() {
    let documents =
        [r#"{"failures": 1}"#, r#"{"failures": 1}"#, r#"{"failures": 2}"#, r#"{"failures": 3}"#];
    let (id, reasons) = chosen(&documents);
    assert_eq!(id.as_deref(), Some("n2"));
    assert!(reasons.contains("its failures rose from 1 to 2"), "{reasons}");
    // One failure that was followed by a success is over.
    let documents = [r#"{"failures": 0}"#, r#"{"failures": 1}"#, r#"{"failures": 1}"#];
    assert_eq!(chosen(&documents).0.as_deref(), Some("n3"));
}

#[test]
fn before_tests_that_do_not_pass_any_more() {
    let documents = [r#"{"tests_passing": true}"#, r#"{"tests_passing": false}"#];
    let (id, reasons) = chosen(&documents);
    assert_eq!(id.as_deref(), Some("n1"));
    assert!(reasons.contains("its tests do not pass any more"), "{reasons}");
}

#[test]
fn where_nothing_is_told_that_is_said() {
    let (id, reasons) = chosen(&[r#"{"quality": 3}"#, r#"{"quality": 1}"#]);
    assert_eq!(id.as_deref(), Some("n2"));
    assert!(reasons.starts_with("No checkpoint says how good the work is"), "{reasons}");
}

#[test]
fn before_an_error() {
    let documents = [r#"{"score": 5}"#, r#"{"score": 6, "error": "out of memory"}"#];
    let (id, reasons) = chosen(&documents);
    assert_eq!(id.as_deref(), Some("n1"));
    assert!(reasons.contains("n2 on: it ends with an error"), "{reasons}");
    assert!(!reasons.contains("memory"), "what an error says stays in the document");
}

#[test]
fn before_what_failed_and_what_was_saved_during_error_recovery() {
    let mut work = Work::new();
    work.step(r#"{"score": 1}"#).ended(Status::Failed).triggered(Trigger::ErrorRecovery, "build");
    let proposal = work.propose(Strategy::Smart);
    assert_eq!(offered(&proposal).as_deref(), Some("n1"));
    let expected =
        ["n3 came after things went wrong", "n2 is where things went wrong: it has failed"];
    assert_eq!(passed(&proposal), expected);
}

#[test]
fn a_boundary_of_the_phase_is_safer_where_nothing_is_measured() {
    let mut work = Work::new();
    work.triggered(Trigger::PhaseBoundary, "build")
        .triggered(Trigger::PreRiskyOp, "build")
        .triggered(Trigger::Iteration, "build");
    let failed =
        NewEntry { status: Status::Failed, phase: Some("build".to_owned()), ..NewEntry::default() };
    let proposal = work.save("{}", failed).propose(Strategy::Smart);
    assert_eq!(offered(&proposal).as_deref(), Some("n2"));
    assert!(proposal.reasons[1].contains("saved as pre_risky_op"), "{:?}", proposal.reasons);
    assert_eq!(passed(&proposal)[1], "n3 may be in the middle of what failed");
}

#[test]
fn a_boundary_of_another_phase_is_not_gone_back_to() {
    let mut work = Work::new();
    work.triggered(Trigger::PhaseBoundary, "plan").triggered(Trigger::Iteration, "build");
    let about =
        NewEntry { status: Status::Failed, phase: Some("build".to_owned()), ..NewEntry::default() };
    let proposal = work.save("{}", about).propose(Strategy::Smart);
    assert_eq!(offered(&proposal).as_deref(), Some("n2"));
}

#[test]
fn what_cannot_be_resumed_is_passed_over() {
    let mut work = Work::new();
    let about = NewEntry { can_resume: Some(false), ..NewEntry::default() };
    let proposal = work.step("{}").save("{}", about).propose(Strategy::Smart);
    assert_eq!(offered(&proposal).as_deref(), Some("n1"));
    assert_eq!(passed(&proposal), ["n2 says that it cannot be resumed"]);
}

#[test]
fn where_all_is_lost_nothing_is_offered() {
    let mut work = Work::new();
    work.ended(Status::Failed).ended(Status::Failed);
    let proposal = work.propose(Strategy::Smart);
    assert_eq!(offered(&proposal), None);
    assert_eq!(proposal.passed_over.len(), 2);
    assert_eq!(proposal.reasons[1], "No checkpoint is safe to go on from.");
}

#[test]
fn work_that_is_done_is_done() {
    let mut work = Work::new();
    let proposal = work.step("{}").ended(Status::Completed).propose(Strategy::Smart);
    assert_eq!(
        (offered(&proposal), proposal.reasons.join("").as_str()),
        (None, "The work is completed.")
    );
}

/// Scores of checkpoints, of which the newest cannot be resumed, and perhaps an error after them.
fn not_resumable_after(scores: &[u32], rest: &[&str]) -> (Option<String>, String) {
    let mut work = Work::new();
    let (last, first) = scores.split_last().unwrap();
    for score in first {
        work.step(&format!(r#"{{"score": {score}}}"#));
    }
    let about = NewEntry { can_resume: Some(false), ..NewEntry::default() };
    work.save(&format!(r#"{{"score": {last}}}"#), about);
    for json in rest {
        work.step(json);
    }
    let proposal = work.propose(Strategy::Smart);
    (offered(&proposal), proposal.reasons.join(" "))
}

#[test]
fn what_was_saved_in_an_earlier_trouble_is_not_safe() {
    let (id, reasons) = not_resumable_after(&[90, 50, 90], &[]);
    assert_eq!(id.as_deref(), Some("n1"), "{reasons}");
    let (id, reasons) = not_resumable_after(&[90, 50, 92], &[r#"{"error": "broken"}"#]);
    assert_eq!(id.as_deref(), Some("n1"), "{reasons}");
}

#[test]
fn finished_work_is_not_gone_back_to() {
    for strategy in [Strategy::Last, Strategy::Smart] {
        let mut work = Work::new();
        work.step("{}").ended(Status::Completed);
        work.save("{}", NewEntry { can_resume: Some(false), ..NewEntry::default() });
        let proposal = work.propose(strategy);
        assert_eq!(offered(&proposal), None, "{strategy:?}");
        assert_eq!(passed(&proposal).len(), 2, "{strategy:?}");
    }
}

#[test]
fn what_was_not_looked_at_is_said() {
    let mut work = Work::new();
    work.step(r#"{"score": 90}"#).step(r#"{"score": 50}"#).step(r#"{"score": 50}"#);
    let proposal = work.store.propose_among(&super::series(), Strategy::Smart, 2).unwrap();
    assert_eq!(offered(&proposal).as_deref(), Some("n3"));
    assert!(proposal.has_more);
    assert_eq!(proposal.reasons[1], "Only the newest 2 of its series were looked at.");
}

#[test]
fn words_for_no_error_are_none() {
    for none in [r#""none""#, r#""No error""#, r#""N/A""#, "0", "null", r#""""#] {
        let (id, _) = chosen(&[r#"{"score": 1}"#, &format!(r#"{{"score": 1, "error": {none}}}"#)]);
        assert_eq!(id.as_deref(), Some("n2"), "{none}");
    }
}

#[test]
fn what_is_still_broken_is_not_well_again() {
    let broken: [&[&str]; 3] = [
        &[
            r#"{"tests_passing": true}"#,
            r#"{"tests_passing": false}"#,
            r#"{"tests_passing": false}"#,
        ],
        &[r#"{"failing": 0}"#, r#"{"failing": 5}"#, r#"{"failing": 5}"#],
        &[r#"{"failing": 0}"#, r#"{"failing": 3}"#, r#"{"failing": 2}"#, r#"{"failing": 3}"#],
    ];
    for documents in broken {
        assert_eq!(chosen(documents).0.as_deref(), Some("n1"), "{documents:?}");
    }
    let well = [r#"{"failing": 1}"#, r#"{"failing": 5}"#, r#"{"failing": 1}"#];
    assert_eq!(chosen(&well).0.as_deref(), Some("n3"));
}

//! From a name to a decision, by the library alone.

use waypost::recovery::{
    Answer, Blind, Choice, Decision, FileNow, IssueNow, Resume, Resumption, Target, Unresolved,
    World,
};
use waypost::{Issue, Layout};

use super::*;

const NOW: Timestamp = Timestamp::from_micros(1_000_000);

fn resume(work: &Work, name: &str, how: &Resume) -> Result<Resumption, Unresolved> {
    work.store.resume(name, how, &Blind, NOW)
}

fn decision(work: &Work, how: &Resume) -> Decision {
    resume(work, "work", how).unwrap().decision
}

fn unresumable() -> NewEntry {
    NewEntry { can_resume: Some(false), ..NewEntry::default() }
}

#[test]
fn nobody_is_asked_what_to_do() {
    let mut work = Work::new();
    work.step("1");
    let how = Resume::default();
    assert_eq!(decision(&work, &how), Decision::Resume);
    let chosen = |choice| Resume { choice: Some(choice), ..Resume::default() };
    for (choice, expected) in [
        (Choice::Resume, Decision::Resume),
        (Choice::Fresh, Decision::StartFresh),
        (Choice::Delete, Decision::Delete),
    ] {
        assert_eq!(decision(&work, &chosen(choice)), expected);
    }
    work.ended(Status::Completed);
    assert_eq!(decision(&work, &how), Decision::Ended);
    let named = resume(&work, "n2", &how).unwrap();
    assert_eq!(named.decision, Decision::Refused, "that very checkpoint");
    assert_eq!(named.refusals(), ["it is completed"]);
}

#[test]
fn what_forbids_to_go_on_is_no_question_and_yields_to_force() {
    let mut work = Work::new();
    work.save("1", unresumable());
    let found = resume(&work, "work", &Resume::default()).unwrap();
    assert_eq!(found.decision, Decision::Refused);
    assert_eq!(found.refusals(), ["it says that it cannot be resumed"]);
    assert_eq!(found.questions(), [] as [&str; 0]);
    let choice = Some(Choice::Resume);
    assert_eq!(decision(&work, &Resume { choice, ..Resume::default() }), Decision::Refused);
    assert_eq!(decision(&work, &Resume { force: true, ..Resume::default() }), Decision::Resume);
}

#[test]
fn prerequisites_that_are_not_met_are_a_question() {
    let mut work = Work::new();
    let json = r#"{"checkpoint_id": "CP-a-20250114-a3f2", "version": "1.0",
        "created_at": "2025-01-14T10:00:00Z", "issue_number": 42, "session_id": "s",
        "workflow_state": {"current_phase": "a", "phase_attempt": 1},
        "issue_snapshot": {"title": "t", "body": "b", "labels": [], "branch": "x"},
        "execution_graph": {"graph_id": "G", "completed_batches": [], "current_batch": 1,
        "node_states": {}},
        "recovery_info": {"can_resume": true, "resume_from": "batch_1", "warnings": ["late"],
        "prerequisites_met": false}}"#;
    let warnings = vec!["late".to_owned()];
    work.save(json, NewEntry { layout: Layout::Crunch, warnings, ..NewEntry::default() });
    let found = resume(&work, "work", &Resume::default()).unwrap();
    assert_eq!(found.decision, Decision::PromptUser, "{found:?}");
    assert_eq!(found.questions(), ["prerequisites are not met: \"late\""]);
    let choice = Some(Choice::Resume);
    assert_eq!(decision(&work, &Resume { choice, ..Resume::default() }), Decision::Resume);
}

/// A native document in the shape of claude-crunch was resumed.
#[test]
fn prerequisites_of_any_document_are_a_question() {
    for json in
        [r#"{"prerequisites_met": false}"#, r#"{"recovery_info": {"prerequisites_met": false}}"#]
    {
        let mut work = Work::new();
        work.save(json, NewEntry::default());
        assert_eq!(decision(&work, &Resume::default()), Decision::PromptUser, "{json}");
    }
}

#[test]
fn a_name_that_leads_to_no_checkpoint_is_told_by_type() {
    let mut work = Work::new();
    let in_series = |name: &str| NewEntry {
        series: Some(Series::new(name).unwrap()),
        issue: Some(Issue::new("42").unwrap()),
        ..NewEntry::default()
    };
    work.save(r#"{"description": "Implement dark mode"}"#, in_series("one"));
    let how = Resume::default();
    let Err(Unresolved::Nothing { about, nearby, newest, .. }) = resume(&work, "dark", &how) else {
        panic!("nothing is called so")
    };
    let one = [Series::new("one").unwrap()];
    assert_eq!((about.as_slice(), nearby.len(), newest.as_slice()), (&one[..], 0, &one[..]));

    work.save("2", in_series("two"));
    let several = resume(&work, "42", &how);
    let Err(error @ Unresolved::Several { .. }) = several else { panic!("two are called so") };
    assert_eq!(error.to_string(), r#""42" may be one, two"#);
    work.save("3", NewEntry { status: Status::Completed, ..in_series("two") });
    let meant = work.store.meant("42").unwrap();
    assert_eq!((meant.target, meant.left_out), (Target::Series(one[0].clone()), 1));
    assert_eq!(resume(&work, "42", &how).unwrap().offer.checkpoint.entry.id.as_str(), "n1");

    work.save("4", in_series("lost-name-x"));
    let lost = resume(&work, "gone", &how);
    assert!(matches!(lost, Err(Unresolved::LostNames { series, .. }) if series.len() == 1));
}

#[test]
fn a_person_selects_one_of_the_candidates() {
    let mut work = Work::new();
    work.step("1").step("2");
    let how = Resume { strategy: Strategy::Select, ..Resume::default() };
    let Err(Unresolved::Unselected { mut candidates, .. }) = resume(&work, "work", &how) else {
        panic!("nobody selected one")
    };
    assert_eq!(candidates.len(), 2);
    let chosen = work.store.chosen(candidates.remove(1).entry, "It was selected.").unwrap();
    let found = chosen.decide(&how, &Blind, NOW);
    assert_eq!(found.decision, Decision::Resume);
    assert_eq!(found.offer.checkpoint.state::<u64>().unwrap(), 1);
    let fresh = Resume { choice: Some(Choice::Fresh), ..how };
    assert_eq!(decision(&work, &fresh), Decision::StartFresh, "none need be selected");
    assert!(work.store.propose(&series(), Strategy::Select).is_err());
}

#[test]
fn a_series_that_starts_over_has_ended() {
    let mut work = Work::new();
    work.step("1").step("2");
    let done = work.store.start_fresh(&series()).unwrap();
    assert_eq!((done.archived, done.damaged), (2, 0));
    assert_eq!(decision(&work, &Resume::default()), Decision::Ended);
}

/// A world in which everything is as documents have it.
struct Unchanged;

impl World for Unchanged {
    fn has_branch(&self, _name: &str) -> Answer<bool> {
        Answer::Known(true)
    }

    fn issue(&self, _issue: &str) -> Answer<IssueNow> {
        Answer::Known(IssueNow::default())
    }

    fn has_directory(&self, _path: &str) -> Answer<bool> {
        Answer::Known(true)
    }

    fn worktree(&self) -> Answer<String> {
        Answer::Known("/".to_owned())
    }

    fn file(&self, _path: &str) -> Answer<Option<FileNow>> {
        Answer::Known(Some(FileNow::default()))
    }

    fn pull_request(&self, _branch: &str) -> Answer<Option<String>> {
        Answer::Known(None)
    }
}

/// Named by its id at a terminal, the second one was resumed without a question.
#[test]
fn what_forbids_to_go_on_is_never_automatic() {
    let mut work = Work::new();
    let json = r#"{"schema_version": "1.2", "checkpoint_id": "implement_auth_20260101_000000",
        "workflow_type": "implement", "project_name": "auth", "status": "in_progress",
        "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
        "workflow_state": {"tests_passing": true}}"#;
    let about =
        || NewEntry { layout: Layout::Claude, status: Status::InProgress, ..NewEntry::default() };
    work.save(json, about());
    work.save(json, NewEntry { can_resume: Some(false), ..about() });
    let named = |id| work.store.resume(id, &Resume::default(), &Unchanged, NOW).unwrap();
    assert!(named("n1").is_automatic(), "{:?}", named("n1"));
    assert!(!named("n2").is_automatic());
}

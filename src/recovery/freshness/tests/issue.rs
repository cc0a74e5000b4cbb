//! The text and the labels of an issue, and which one it is.

use super::*;

fn with_text(body: &str) -> Fake {
    Fake { issue: IssueNow { body: text(body), labels: None }, ..Fake::default() }
}

#[test]
fn a_text_that_changed_is_asked_about_and_never_shown() {
    for (saved, now, changed) in [
        ("secret\nline", "secret\nline", false),
        ("secret\nline\n", "secret\r\nline", false),
        ("secret\r\nline", "secret\nline \t\r\n\n", false),
        ("", "\n", false),
        ("secret\nline", "secret\n\nline", true),
        ("secret", " secret", true),
        ("secret ", "secret x", true),
        ("secret \nline", "secret\nline", true),
        ("secret", "Secret", true),
        ("secret\rline", "secret\nline", true),
        ("secret", "", true),
    ] {
        let snapshot = Snapshot { body: text(saved), ..Snapshot::default() };
        let found = look(Layout::Crunch, snapshot, &with_text(now));
        let wanted = (Check::Body, Advice::PromptUser, "the text of issue 42 changed");
        assert_eq!(only(&found), changed.then_some(wanted), "{saved:?} {now:?}");
    }
}

#[test]
fn labels_are_sets_and_every_change_is_named() {
    for (saved, now, changes) in [
        (&["a", "b"] as &[_], &["b", "a", "a"] as &[_], None),
        (&[], &[], None),
        (&["a"], &["a", "c", "b"], Some("added \"b\", \"c\"")),
        (&["a", "b"], &[], Some("removed \"a\", \"b\"")),
        (&["a"], &["A"], Some("added \"A\", removed \"a\"")),
    ] {
        let labels = Some(texts(now));
        let world = Fake { issue: IssueNow { body: None, labels }, ..Fake::default() };
        let snapshot = Snapshot { labels: Some(texts(saved)), ..Snapshot::default() };
        let found = look(Layout::Native, snapshot, &world);
        let message = changes.map(|it| format!("the labels of issue 42 changed: {it}"));
        let warning = |it| (Check::Labels, Advice::ProceedWithWarning, it);
        assert_eq!(only(&found), message.as_deref().map(warning));
    }
}

/// The phase stayed, and a message only said that the workflow state needs an update.
#[test]
fn the_phase_of_crunch_follows_labels_that_changed() {
    for (saved, now, phase, then) in [
        (
            Some("enrich"),
            &["state:ready"] as &[_],
            Some("ready"),
            "added \"state:ready\"; the phase is now \"ready\" instead of \"enrich\"",
        ),
        (
            None,
            &["state:ready"],
            Some("ready"),
            "added \"state:ready\"; the phase is now \"ready\"",
        ),
        (Some("validation"), &["state:e2e"], None, "added \"state:e2e\""),
        (
            Some("enrich"),
            &["bug"],
            None,
            "added \"bug\"; none of them names a phase, so the phase stays \"enrich\"",
        ),
        (
            Some("enrich"),
            &["state:a", "state:b"],
            None,
            "added \"state:a\", \"state:b\"; \
            they name several phases, \"a\", \"b\", so the phase stays \"enrich\"",
        ),
    ] {
        let labels = Some(texts(now));
        let world = Fake { issue: IssueNow { body: None, labels }, ..Fake::default() };
        let snapshot = Snapshot { labels: Some(Vec::new()), ..Snapshot::default() };
        let entry = Entry { phase: saved.map(str::to_owned), ..entry(Layout::Crunch) };
        let found = freshness(&entry, &based_on(snapshot), &world, NOW);
        let message = format!("the labels of issue 42 changed: {then}");
        let expected = (Check::Labels, Advice::ProceedWithWarning, message.as_str());
        assert_eq!(only(&found), Some(expected));
        assert_eq!(found.phase.as_deref(), phase);
        let point = ResumePoint::of(&entry, &Standing::default()).following(&found);
        assert_eq!(point.phase.as_deref(), phase.or(saved));
        assert_eq!(point.saved_phase.as_deref(), phase.and(saved));
    }
}

/// Work that the labels mark as done was resumed without asking.
#[test]
fn labels_that_name_the_last_phase_are_for_the_user_to_decide() {
    for (label, advice) in
        [("state:done", Advice::PromptUser), ("state:docs", Advice::ProceedWithWarning)]
    {
        let labels = Some(texts(&[label]));
        let world = Fake { issue: IssueNow { body: None, labels }, ..Fake::default() };
        let snapshot = Snapshot { labels: Some(Vec::new()), ..Snapshot::default() };
        let found = look(Layout::Crunch, snapshot, &world);
        assert_eq!(found.advice, advice, "{label}");
    }
}

#[test]
fn labels_that_did_not_change_leave_the_phase_alone() {
    let labels = Some(texts(&["state:ready"]));
    let world = Fake { issue: IssueNow { body: None, labels }, ..Fake::default() };
    let snapshot = Snapshot { labels: Some(texts(&["state:ready"])), ..Snapshot::default() };
    let entry = Entry { phase: text("enrich"), ..entry(Layout::Crunch) };
    assert_eq!(freshness(&entry, &based_on(snapshot), &world, NOW), Freshness::default());
}

#[test]
fn another_issue_than_the_one_asked_for_ends_the_work() {
    let asked = |issue| Fake { wanted_issue: text(issue), ..Fake::default() };
    for layout in Layout::ALL {
        assert_eq!(only(&look(layout, Snapshot::default(), &asked("#42"))), None);
        let found = look(layout, Snapshot::default(), &asked("43"));
        let message = "the checkpoint is of issue 42, and issue 43 is asked for";
        assert_eq!(only(&found), Some((Check::Issue, Advice::StartFresh, message)));
    }
}

#[test]
fn the_entry_tells_the_issue_if_the_document_does_not() {
    let entry = Entry { issue: Some(Issue::new("7").unwrap()), ..entry(Layout::Native) };
    let world = Fake { wanted_issue: text("7"), ..Fake::default() };
    assert_eq!(only(&freshness(&entry, &Standing::default(), &world, NOW)), None);
}

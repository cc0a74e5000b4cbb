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

#[test]
fn labels_are_the_state_of_a_workflow_of_crunch() {
    let labels = Some(texts(&["state:ready"]));
    let world = Fake { issue: IssueNow { body: None, labels }, ..Fake::default() };
    let snapshot = Snapshot { labels: Some(Vec::new()), ..Snapshot::default() };
    let found = look(Layout::Crunch, snapshot, &world);
    let message = "the labels of issue 42 changed: added \"state:ready\"; \
                   update the workflow state from the current labels";
    assert_eq!(only(&found), Some((Check::Labels, Advice::ProceedWithWarning, message)));
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

//! Values that no honest document has.

use super::*;

#[test]
fn a_name_cannot_break_out_of_its_sentence() {
    let branch = text("a\"\n\u{1b}[31m\u{202e}b");
    let found = look(Layout::Crunch, Snapshot { branch, ..Snapshot::default() }, &Fake::default());
    let message = "branch \"a\\\"\\n\\u{1b}[31m\\u{202e}b\" is gone";
    assert_eq!(only(&found), Some((Check::Branch, Advice::StartFresh, message)));
    let world = Fake {
        pull_request: text("7\nrm"),
        branches: texts(&[BRANCH]),
        checked_out: text(BRANCH),
        ..Fake::default()
    };
    let entry = Entry { phase: text("pr"), ..entry(Layout::Agentize) };
    let snapshot = Snapshot { branch: text(BRANCH), ..Snapshot::default() };
    let found = freshness(&entry, &based_on(snapshot), &world, NOW);
    assert_eq!(found.findings[0].message, "pull request 7\\nrm exists already: continue there");
}

#[test]
fn long_names_and_lists_are_cut() {
    let long = "\u{e9}".repeat(1_000_000);
    let labels: Vec<String> = (0..50_000).map(|it| format!("{it}{long:.10}")).collect();
    let files = (0..50_000).map(|it| NamedFile {
        path: format!("{it}"),
        hash: text("odd"),
        status: text("deleted"),
    });
    let snapshot = Snapshot {
        branch: Some(long.clone()),
        worktree: Some(long.clone()),
        plan_file: Some(long.clone()),
        labels: Some(labels),
        files: files.collect(),
        ..Snapshot::default()
    };
    let issue = IssueNow { body: None, labels: Some(Vec::new()) };
    let world = Fake { issue, ..Fake::default() };
    for world in [world.clone(), Fake { blindness: Some("it is dark"), ..world }] {
        let found = look(Layout::Agentize, snapshot.clone(), &world);
        let sentences = found.findings.iter().map(|it| &it.message).chain(&found.unchecked);
        let lengths: Vec<usize> = sentences.map(|it| it.chars().count()).collect();
        assert!(lengths.len() < 30 && lengths.iter().all(|it| *it < 2000), "{lengths:?}");
    }
}

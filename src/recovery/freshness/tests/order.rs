//! All comparisons together.

use super::*;

/// A checkpoint in which everything that can be compared is compared.
fn full() -> (Entry, Standing) {
    let file = NamedFile { path: "made".to_owned(), hash: None, status: None };
    let snapshot = Snapshot {
        branch: text("gone"),
        body: text("was"),
        labels: Some(texts(&["was"])),
        worktree: text("/gone"),
        plan_file: text("gone.md"),
        files: vec![file],
        pull_request: text("7"),
        ..Snapshot::default()
    };
    let entry = Entry { phase: text("pr"), ..entry(Layout::Agentize) };
    (entry, Standing { version: text("2.1"), ..based_on(snapshot) })
}

fn changed() -> Fake {
    let issue = IssueNow { body: text("is"), labels: Some(Vec::new()) };
    Fake { issue, wanted_issue: text("43"), ..Fake::default() }
}

#[test]
fn everything_is_found_in_the_order_of_checks_and_the_strictest_decides() {
    let (agentize, standing) = full();
    let found = freshness(&agentize, &standing, &changed(), NOW);
    let checks: Vec<Check> = found.findings.iter().map(|it| it.check).collect();
    let place = [Check::Worktree, Check::Issue, Check::Plan, Check::PullRequest];
    let wanted = [Check::Branch, Check::Body, Check::Labels, Check::Artifact];
    assert_eq!(checks, [wanted.as_slice(), &place].concat());
    assert!(checks.is_sorted());
    assert_eq!((found.advice, found.unchecked.len()), (Advice::StartFresh, 0));

    let claude = Entry { layout: Layout::Claude, ..agentize };
    let found = freshness(&claude, &standing, &changed(), NOW);
    assert_eq!(found.findings.last().unwrap().check, Check::AutoResume);
    assert!(found.findings.is_sorted_by_key(|it| it.check));
}

#[test]
fn the_strictest_decides_wherever_it_stands() {
    let issue = IssueNow { body: text("is"), labels: Some(texts(&["is"])) };
    let world = Fake { issue, ..Fake::default() };
    let labels = Snapshot { labels: Some(Vec::new()), ..Snapshot::default() };
    let body = Snapshot { body: text("was"), ..labels.clone() };
    let branch = Snapshot { branch: text("gone"), ..body.clone() };
    for (snapshot, advice) in [
        (Snapshot::default(), Advice::Resume),
        (labels, Advice::ProceedWithWarning),
        (body, Advice::PromptUser),
        (branch, Advice::StartFresh),
    ] {
        assert_eq!(look(Layout::Crunch, snapshot, &world).advice, advice);
    }
}

#[test]
fn advice_is_written_as_it_is_printed() {
    let all = [Advice::Resume, Advice::ProceedWithWarning, Advice::PromptUser, Advice::StartFresh];
    assert!(all.is_sorted());
    for advice in all {
        let json = serde_json::to_string(&advice).unwrap();
        assert_eq!(json, format!("\"{advice}\""));
    }
}

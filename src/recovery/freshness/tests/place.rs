//! Branches, worktrees and pull requests.

use super::*;

#[test]
fn a_branch_that_is_gone_ends_the_work() {
    let world = Fake { branches: texts(&[BRANCH]), checked_out: text(BRANCH), ..Fake::default() };
    for (branch, message) in [
        (None, None),
        (text(BRANCH), None),
        (text(" "), None),
        (text("feature"), Some("branch \"feature\" is gone")),
        (text("-d"), Some("branch \"-d\" is gone")),
    ] {
        let found = look(Layout::Crunch, Snapshot { branch, ..Snapshot::default() }, &world);
        let wanted = message.map(|message| (Check::Branch, Advice::StartFresh, message));
        assert_eq!(only(&found), wanted);
    }
}

#[test]
fn another_branch_that_is_checked_out_is_for_the_user_to_decide() {
    let branches = texts(&[BRANCH, "origin/feature/x", "refs/heads/feature/x"]);
    let on = |name: &str| Fake {
        branches: branches.clone(),
        directories: texts(&[HERE, "/other"]),
        checked_out: text(name),
        ..Fake::default()
    };
    let of = |branch: &str| Snapshot { branch: text(branch), ..Snapshot::default() };
    for name in &branches {
        assert_eq!(only(&look(Layout::Crunch, of(name), &on(BRANCH))), None, "{name}");
    }
    let message = "its branch is \"feature/x\", and \"main\" is checked out";
    let wanted = Some((Check::Branch, Advice::PromptUser, message));
    assert_eq!(only(&look(Layout::Crunch, of(BRANCH), &on("main"))), wanted);
    let here = Snapshot { worktree: text(HERE), ..of(BRANCH) };
    assert_eq!(only(&look(Layout::Native, here, &on("main"))), wanted);
    let detached = Fake { checked_out: None, ..on("main") };
    let message = "its branch is \"feature/x\", and no branch is checked out";
    let wanted = Some((Check::Branch, Advice::PromptUser, message));
    assert_eq!(only(&look(Layout::Crunch, of(BRANCH), &detached)), wanted);
    // Work in another worktree: the branch is unknown.
    let other = Snapshot { worktree: text("/other"), ..of(BRANCH) };
    assert_eq!(only(&look(Layout::Native, other, &on("main"))), None);
}

#[test]
fn a_worktree_that_is_gone_ends_the_work() {
    let world = Fake { directories: texts(&["/other"]), ..Fake::default() };
    for layout in Layout::ALL.into_iter().filter(|it| *it != Layout::Agentize) {
        let worktree = |path| Snapshot { worktree: text(path), ..Snapshot::default() };
        assert_eq!(only(&look(layout, worktree("/other"), &world)), None);
        let found = look(layout, worktree("/gone"), &world);
        let message = "worktree \"/gone\" is gone";
        assert_eq!(only(&found), Some((Check::Worktree, Advice::StartFresh, message)));
    }
}

#[test]
fn agentize_goes_on_only_in_its_own_worktree() {
    let directories =
        ["/other", "/link", HERE, "/home/trees/issue-42/", "/home/./x/../trees/issue-42"];
    let directories =
        [directories.as_slice(), &["/../home//trees/issue-42/.", ".", "sub"]].concat();
    let world =
        Fake { directories: texts(&directories), links: texts(&["/link"]), ..Fake::default() };
    for path in directories {
        let snapshot = Snapshot { worktree: text(path), ..Snapshot::default() };
        let found = look(Layout::Agentize, snapshot, &world);
        let message =
            format!("worktree {path:?} is not where the work would go on, which is {HERE:?}");
        let differs = ["/other", "sub"].contains(&path);
        let wanted = (Check::Worktree, Advice::StartFresh, message.as_str());
        assert_eq!(only(&found), differs.then_some(wanted), "{path}");
    }
}

fn in_stage_pr(snapshot: Snapshot, world: &Fake) -> Freshness {
    let entry = Entry { phase: text("pr"), ..entry(Layout::Agentize) };
    freshness(&entry, &based_on(snapshot), world, NOW)
}

#[test]
fn a_pull_request_that_exists_is_gone_on_with() {
    let mut world =
        Fake { branches: texts(&[BRANCH]), checked_out: text(BRANCH), ..Fake::default() };
    let of_branch = Snapshot { branch: text(BRANCH), ..Snapshot::default() };
    let saved = Snapshot { pull_request: text("7"), ..of_branch.clone() };
    let warning = |message| Some((Check::PullRequest, Advice::ProceedWithWarning, message));
    assert_eq!(only(&in_stage_pr(of_branch.clone(), &world)), None);
    let closed = "pull request 7 was made already, and is not open now";
    assert_eq!(only(&in_stage_pr(saved.clone(), &world)), warning(closed));
    world.pull_request = text("https://example.org/pull/8");
    let open = "pull request https://example.org/pull/8 exists already: continue there";
    assert_eq!(only(&in_stage_pr(of_branch.clone(), &world)), warning(open));
    assert_eq!(only(&in_stage_pr(saved, &world)), warning(open));
    assert_eq!(only(&look(Layout::Agentize, of_branch.clone(), &world)), None, "another stage");
    let of_other_system = Entry { phase: text("pr"), ..entry(Layout::Crunch) };
    let found = freshness(&of_other_system, &based_on(of_branch), &world, NOW);
    assert_eq!(only(&found), None);
}

#[test]
fn a_pull_request_that_the_checkpoint_knows_needs_no_answer() {
    let saved = Snapshot { pull_request: text("7"), ..Snapshot::default() };
    let found = in_stage_pr(saved, &Fake::default());
    assert_eq!(found.advice, Advice::ProceedWithWarning);
    assert_eq!(found.findings[0].message, "pull request 7 exists already: continue there");
}

/// Its documents name no branch.
#[test]
fn the_branch_of_agentize_is_the_one_that_is_checked_out_in_its_worktree() {
    let world = Fake {
        checked_out: text(BRANCH),
        pull_request: text("8"),
        directories: texts(&[HERE, "/other"]),
        ..Fake::default()
    };
    let at = |path| Snapshot { worktree: text(path), ..Snapshot::default() };
    let found = in_stage_pr(at(HERE), &world);
    assert_eq!(only(&found).map(|it| it.0), Some(Check::PullRequest));
    let elsewhere = in_stage_pr(at("/other"), &world);
    assert!(elsewhere.findings.iter().all(|it| it.check != Check::PullRequest));
    let unknown = "the branch of the work is not known, so this was not compared: the pull request";
    assert_eq!(elsewhere.unchecked, [unknown]);
    assert_eq!(in_stage_pr(at(HERE), &Fake { checked_out: None, ..world }).unchecked, [unknown]);
}

//! Compares a checkpoint with a real repository.

use super::*;
use crate::checkpoint::{Layout, NewEntry, Timestamp};
use crate::layouts::Standing;
use crate::recovery::{Advice, Check, freshness};
use crate::store::Store;

#[test]
fn work_goes_on_until_its_branch_is_gone() {
    needs!("git");
    let place = Sandbox::with_git();
    git(&place.root, &["checkout", "-q", "-b", "issue-42"]);
    let plan = place.write("plan.md", "1. do it");
    let store = Store::open(place.directory.path().join("store.redb")).unwrap();
    let about = NewEntry { layout: Layout::Agentize, ..NewEntry::default() };
    let entry = store.save(about, &"state").unwrap();
    let mut standing = Standing::default();
    standing.snapshot.branch = Some("issue-42".to_owned());
    standing.snapshot.worktree = Some(format!("{}/", place.root.display()));
    standing.snapshot.plan_file = Some("plan.md".to_owned());
    let look = || freshness(&entry, &standing, &place.world(), Timestamp::now());

    let found = look();
    assert_eq!((found.advice, found.findings.len()), (Advice::Resume, 0), "{found:?}");
    fs::remove_file(plan).unwrap();
    assert_eq!(look().advice, Advice::PromptUser);
    git(&place.root, &["checkout", "-q", "--detach"]);
    git(&place.root, &["branch", "-D", "issue-42"]);
    let found = look();
    let checks: Vec<Check> = found.findings.iter().map(|it| it.check).collect();
    assert_eq!((found.advice, checks), (Advice::StartFresh, vec![Check::Branch, Check::Plan]));
    assert_eq!(found.unchecked, [] as [&str; 0]);
}

//! Plans.

use super::*;

#[test]
fn a_plan_that_changed_or_is_gone_is_asked_about() {
    let now = FileNow { modified_at: 100, ..FileNow::default() };
    let world = Fake { files: [("plan.md".to_owned(), now)].into(), ..Fake::default() };
    for (plan_file, plan_modified_at, message) in [
        (None, None, None),
        (text(""), None, None),
        (text("plan.md"), None, None),
        (text("plan.md"), Some(100), None),
        (text("plan.md"), Some(99), Some("plan \"plan.md\" changed")),
        (text("plan.md"), Some(101), Some("plan \"plan.md\" changed")),
        (text("old.md"), Some(100), Some("plan \"old.md\" is gone")),
        (text("old.md"), None, Some("plan \"old.md\" is gone")),
    ] {
        let snapshot = Snapshot { plan_file, plan_modified_at, ..Snapshot::default() };
        let finding = |message| (Check::Plan, Advice::PromptUser, message);
        let found = look(Layout::Agentize, snapshot.clone(), &world);
        assert_eq!(only(&found), message.map(finding), "{snapshot:?}");
    }
}

#[test]
fn a_time_without_a_plan_is_told() {
    let snapshot = Snapshot { plan_modified_at: Some(1), ..Snapshot::default() };
    let found = look(Layout::Claude, snapshot, &Fake::default());
    let sentence = "the checkpoint does not say where it is, so this was not compared: the plan";
    assert_eq!(found.unchecked, [sentence]);
}

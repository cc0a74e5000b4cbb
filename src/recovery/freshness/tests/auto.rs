//! The conditions under which the claude system resumes without asking.

use super::*;

/// A checkpoint that meets all conditions.
fn good() -> Standing {
    let version = text("1.2");
    Standing { version, tests_passing: Some(true), ..based_on(Snapshot::default()) }
}

fn look_from(entry: &Entry, standing: &Standing) -> Option<String> {
    let now = FileNow { modified_at: 100, ..FileNow::default() };
    let world = Fake { files: [("plan.md".to_owned(), now)].into(), ..Fake::default() };
    let found = freshness(entry, standing, &world, NOW).findings;
    let mut found = found.into_iter().filter(|it| it.check == Check::AutoResume);
    let finding = found.next()?;
    assert!(finding.advice == Advice::PromptUser && found.next().is_none());
    let unmet = finding.message.strip_prefix("its system would ask a person before it goes on: ");
    Some(unmet.unwrap().to_owned())
}

fn aged(hours: i64, micros: i64) -> Entry {
    let micros = NOW.as_micros() - hours * HOUR_MICROS - micros;
    Entry { created_at: Timestamp::from_micros(micros), ..entry(Layout::Claude) }
}

#[test]
fn each_condition_is_named_if_it_does_not_hold() {
    let fresh = || entry(Layout::Claude);
    let with_plan = |plan_file, plan_modified_at| {
        let snapshot = Snapshot { plan_file, plan_modified_at, ..Snapshot::default() };
        Standing { snapshot, ..good() }
    };
    let with_status = |status| Entry { status, ..fresh() };
    for (entry, standing, unmet) in vec![
        (fresh(), good(), None),
        (fresh(), Standing { error: text(" "), ..good() }, None),
        (fresh(), Standing { tests_passing: Some(false), ..good() }, Some("tests did not pass")),
        (
            fresh(),
            Standing { tests_passing: None, ..good() },
            Some("it does not say that tests passed"),
        ),
        (fresh(), Standing { error: text("secret"), ..good() }, Some("it ends with an error")),
        (with_status(Status::Paused), good(), Some("its status is paused")),
        (with_status(Status::Unknown), good(), Some("its status is unknown")),
        (aged(7 * 24 + 1, 0), good(), None),
        (aged(7 * 24 + 1, 1), good(), Some("it is more than 7 days old")),
        (aged(-30 * 24, 0), good(), None),
        (fresh(), with_plan(text("plan.md"), Some(100)), None),
        (fresh(), with_plan(text("plan.md"), None), None),
        (fresh(), with_plan(None, Some(100)), None),
        (fresh(), with_plan(text("plan.md"), Some(99)), Some("the plan changed")),
        (fresh(), with_plan(text("gone.md"), None), Some("the plan changed")),
    ] {
        assert_eq!(look_from(&entry, &standing).as_deref(), unmet, "{standing:?}");
    }
}

#[test]
fn all_that_do_not_hold_are_in_one_finding() {
    let entry = Entry { status: Status::Failed, ..aged(999, 0) };
    let snapshot = Snapshot { plan_file: text("gone.md"), ..Snapshot::default() };
    let error = text("secret");
    let standing = Standing { tests_passing: Some(false), error, snapshot, ..good() };
    let unmet = "tests did not pass, it ends with an error, its status is failed, \
                 it is more than 7 days old, the plan changed";
    assert_eq!(look_from(&entry, &standing).as_deref(), Some(unmet));
}

#[test]
fn only_later_schemas_of_the_claude_system_have_conditions() {
    for (version, has_conditions) in [
        (None, false),
        (text("1"), false),
        (text("1.1"), false),
        (text("1.1.9"), false),
        (text("0.99"), false),
        (text("1.2"), true),
        (text(" 1.2 "), true),
        (text("1.2.0"), true),
        (text("1.10"), true),
        (text("2"), true),
        (text("2.0"), true),
        (text("2.1"), true),
    ] {
        let standing = Standing { version: version.clone(), ..Standing::default() };
        let found = freshness(&entry(Layout::Claude), &standing, &Fake::default(), NOW);
        let wanted = if has_conditions { Advice::PromptUser } else { Advice::Resume };
        assert_eq!((found.advice, found.unchecked.len()), (wanted, 0), "{version:?}");
    }
    let standing = Standing { version: text("2.1"), ..Standing::default() };
    for layout in Layout::ALL.into_iter().filter(|it| *it != Layout::Claude) {
        assert_eq!(look_from(&entry(layout), &standing), None);
    }
}

#[test]
fn a_version_that_is_no_number_is_told() {
    for version in ["latest", "1.", ".", "beta", "99999999999999999999"] {
        let standing = Standing { version: text(version), ..Standing::default() };
        let found = freshness(&entry(Layout::Claude), &standing, &Fake::default(), NOW);
        let sentence = format!(
            "version {version:?} of the schema is not a number, so this was not compared: \
             whether its system would ask a person before it goes on"
        );
        assert_eq!((found.advice, found.unchecked), (Advice::Resume, vec![sentence]));
    }
}

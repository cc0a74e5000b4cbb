//! What each preset keeps, as tables over every trigger and every status.

use std::fmt::Write;

use super::*;

const DAYS_LATER: [i64; 3] = [1, 8, 31];
const PHASES: [&str; 2] = ["plan", "test"];
const ROUNDS: i64 = 6;

/// Six checkpoints in each of two phases within a day, and one of neither that is the newest.
fn work(trigger: &Trigger, status: Status) -> Vec<Entry> {
    let mut entries = Vec::new();
    for hour in 0..ROUNDS {
        for phase in PHASES {
            let time = Timestamp::from_micros(NOW.as_micros() + hour * HOUR_MICROS);
            entries.push(Entry {
                trigger: trigger.clone(),
                status,
                phase: Some(phase.to_owned()),
                sequence: entries.len() as u64,
                ..taken_at(&format!("{hour} {phase}"), time)
            });
        }
    }
    let end = Timestamp::from_micros(NOW.as_micros() + ROUNDS * HOUR_MICROS);
    let own_trigger = "the_end".parse().unwrap();
    let sequence = entries.len() as u64;
    entries.push(Entry { trigger: own_trigger, status, sequence, ..taken_at("newest", end) });
    entries
}

/// How many are kept of each phase, and that it is the newest of them.
fn kept_of_each_phase(entries: &[Entry], policy: &Policy, now: Timestamp) -> String {
    let plan = plan(entries, policy, now);
    let counts = PHASES.map(|phase| {
        let of_phase = plan.iter().filter(|it| it.entry.phase.as_deref() == Some(phase));
        let kept: Vec<bool> = of_phase.map(|it| !it.verdict.removes()).collect();
        assert!(kept.is_sorted(), "a newer one goes before an older one: {kept:?}");
        kept.into_iter().filter(|kept| *kept).count().to_string()
    });
    counts.join("+")
}

/// A row for each case, in it for each preset what is kept 1, 8 and 31 days later.
fn table<'a>(cases: impl IntoIterator<Item = (&'a str, Vec<Entry>)>) -> String {
    let mut text = format!("{:21}", "");
    for name in Policy::PRESETS {
        write!(text, "{name:<13}").unwrap();
    }
    for (case, entries) in cases {
        write!(text, "\n{case:21}").unwrap();
        for name in Policy::PRESETS {
            let policy = Policy::preset(name).unwrap();
            for days in DAYS_LATER {
                let now = Timestamp::from_micros(NOW.as_micros() + days * DAY_MICROS);
                write!(text, "{} ", kept_of_each_phase(&entries, &policy, now)).unwrap();
            }
            text.push(' ');
        }
    }
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[test]
fn each_preset_keeps_of_each_trigger_what_its_table_says() {
    let of = |trigger| work(trigger, Status::InProgress);
    let cases = Trigger::ALL.iter().map(|trigger| (trigger.as_str(), of(trigger)));
    insta::assert_snapshot!(table(cases), @r"
                         crunch       claude       aiwg         keep-all
    manual               6+6 6+6 6+6  6+6 0+0 0+0  6+6 6+6 2+2  6+6 6+6 6+6
    automatic            6+6 6+6 6+6  6+6 0+0 0+0  6+6 6+6 2+2  6+6 6+6 6+6
    phase_boundary       6+6 6+6 6+6  6+6 0+0 0+0  6+6 6+6 2+2  6+6 6+6 6+6
    iteration            6+6 6+6 6+6  6+6 0+0 0+0  6+6 6+6 2+2  6+6 6+6 6+6
    pre_risky_op         6+6 6+6 6+6  6+6 0+0 0+0  6+6 6+6 2+2  6+6 6+6 6+6
    error_recovery       6+6 6+6 6+6  6+6 0+0 0+0  6+6 6+6 2+2  6+6 6+6 6+6
    phase_transition     6+6 6+6 6+6  6+6 0+0 0+0  6+6 6+6 2+2  6+6 6+6 6+6
    batch_start          1+1 1+1 1+1  6+6 0+0 0+0  6+6 6+6 2+2  6+6 6+6 6+6
    batch_complete       3+3 3+3 3+3  6+6 0+0 0+0  6+6 6+6 2+2  6+6 6+6 6+6
    agent_complete       1+1 1+1 1+1  6+6 0+0 0+0  6+6 6+6 2+2  6+6 6+6 6+6
    conflict_start       1+1 1+1 1+1  6+6 0+0 0+0  6+6 6+6 2+2  6+6 6+6 6+6
    conflict_resolved    6+6 6+6 6+6  6+6 0+0 0+0  6+6 6+6 2+2  6+6 6+6 6+6
    user_interrupt       0+1 0+1 0+1  6+6 0+0 0+0  6+6 6+6 2+2  6+6 6+6 6+6
    session_end          0+1 0+1 0+1  6+6 0+0 0+0  6+6 6+6 2+2  6+6 6+6 6+6
    heartbeat            6+6 6+6 6+6  6+6 0+0 0+0  6+6 6+6 2+2  6+6 6+6 6+6
    phase_start          6+6 6+6 6+6  6+6 0+0 0+0  6+6 6+6 2+2  6+6 6+6 6+6
    artifact_complete    6+6 6+6 6+6  6+6 0+0 0+0  6+6 6+6 2+2  6+6 6+6 6+6
    before_external_call 6+6 6+6 6+6  6+6 0+0 0+0  6+6 6+6 2+2  6+6 6+6 6+6
    iteration_boundary   6+6 6+6 6+6  6+6 0+0 0+0  6+6 6+6 2+2  6+6 6+6 6+6
    unknown              6+6 6+6 6+6  6+6 0+0 0+0  6+6 6+6 2+2  6+6 6+6 6+6
    ");
}

#[test]
fn each_preset_keeps_of_each_status_what_its_table_says() {
    let of = |status| work(&Trigger::Iteration, status);
    let cases = Status::ALL.map(|status| (status.as_str(), of(status)));
    insta::assert_snapshot!(table(cases), @r"
                         crunch       claude       aiwg         keep-all
    in_progress          6+6 6+6 6+6  6+6 0+0 0+0  6+6 6+6 2+2  6+6 6+6 6+6
    completed            6+6 6+6 6+6  0+0 0+0 0+0  0+0 0+0 0+0  6+6 6+6 6+6
    failed               6+6 6+6 6+6  6+6 6+6 0+0  6+6 6+6 0+0  6+6 6+6 6+6
    paused               6+6 6+6 6+6  6+6 0+0 0+0  6+6 6+6 2+2  6+6 6+6 6+6
    archived             6+6 6+6 6+6  6+6 6+6 0+0  6+6 6+6 2+2  6+6 6+6 6+6
    unknown              6+6 6+6 6+6  6+6 0+0 0+0  6+6 6+6 2+2  6+6 6+6 6+6
    ");
}

#[test]
fn a_trigger_of_the_users_own_is_kept_by_crunch() {
    let entries = work(&"deploy".parse().unwrap(), Status::InProgress);
    assert!(removed_by(&Policy::preset("crunch").unwrap(), &entries).is_empty());
}

#[test]
fn crunch_allows_an_issue_50_mib_and_drops_only_what_it_does_not_keep_all_of() {
    let of_issue = |trigger, id: &str, days| Entry {
        trigger,
        issue: Some(issue("42")),
        stored_bytes: 30 << 20,
        ..taken(id, days)
    };
    let entries = saved([
        of_issue(Trigger::Manual, "manual", 9),
        of_issue(Trigger::BatchComplete, "batch 1", 8),
        of_issue(Trigger::BatchComplete, "batch 2", 7),
        of_issue(Trigger::Unknown, "newest", 6),
    ]);
    let plan = plan(&entries, &Policy::preset("crunch").unwrap(), NOW);
    assert_eq!(removed(&plan), ["batch 1", "batch 2"]);
    assert_eq!(reason(&plan, "batch 1"), "its issue takes more than 50 MiB");
}

#[test]
fn aiwg_judges_a_series_by_its_newest() {
    let with = |status, id: &str, days| Entry { status, ..taken(id, days) };
    for (status, gone) in [
        (Status::Completed, vec!["old", "young"]),
        (Status::Failed, vec!["old"]),
        (Status::InProgress, vec![]),
    ] {
        let entries = saved([
            with(Status::Paused, "old", 31),
            with(Status::Paused, "young", 2),
            with(status, "newest", 1),
        ]);
        assert_eq!(removed_by(&Policy::preset("aiwg").unwrap(), &entries), gone, "{status}");
    }
}

/// Its own files all say `retention_days: 30`, so that a series that was done kept all of them for
/// a month.
#[test]
fn aiwg_keeps_only_the_newest_of_a_done_series_whatever_its_checkpoints_ask_for() {
    let asking = |id, days, status| Entry { status, retention_days: Some(30), ..taken(id, days) };
    let entries = saved([
        asking("1", 3, Status::InProgress),
        asking("2", 2, Status::InProgress),
        asking("3", 1, Status::Completed),
    ]);
    assert_eq!(removed_by(&Policy::preset("aiwg").unwrap(), &entries), ["1", "2"]);
}

#[test]
fn every_preset_bears_its_name_and_says_something() {
    for name in Policy::PRESETS {
        let policy = Policy::preset(name).unwrap();
        assert_eq!(policy.name, name);
        assert!(!policy.is_empty());
    }
    assert!(Policy::default().is_empty());
}

#[test]
fn a_preset_of_the_last_so_many_keeps_these_of_each_series() {
    let entries = saved([taken("1", 4), taken("2", 3), taken("3", 2), taken("4", 1)]);
    assert_eq!(removed_by(&Policy::preset("last-2").unwrap(), &entries), ["1", "2"]);
    assert_eq!(Policy::preset("last-2").unwrap().name, "last-2");
    for name in ["last-0", "last-", "last--1", "last-x", "last-99999999999999999999"] {
        assert!(Policy::preset(name).is_err(), "{name}");
    }
}

#[test]
fn a_preset_that_is_not_there_is_refused_with_those_that_are() {
    let error = Policy::preset("Crunch").unwrap_err().to_string();
    insta::assert_snapshot!(
        error,
        @r#"invalid policy: "Crunch" is none of crunch, claude, aiwg, keep-all, last-N"#
    );
}

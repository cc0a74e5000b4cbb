//! Plans of small stores that can be read at a glance, and of random ones.
//!
//! Covers rules by age, count, size and completion, presets, forks, protection, the order of
//! deletion, and random plans against a reference.

mod age;
mod completed;
mod fork;
mod order;
mod preset;
mod property;
mod protection;
mod reference;
mod size;
mod verdict;

use std::collections::BTreeSet;

use super::{Age, Plan, Policy, Rule, plan, plan_completed};
use crate::checkpoint::{Entry, Id, Issue, Layout, Series, Status, Timestamp, Trigger};

const SECOND_MICROS: i64 = 1_000_000;
const HOUR_MICROS: i64 = 3600 * SECOND_MICROS;
const DAY_MICROS: i64 = 24 * HOUR_MICROS;
// Some day in 2025.
const NOW: Timestamp = Timestamp::from_micros(1_750_000_000 * SECOND_MICROS);

/// A checkpoint of series `a` that was saved this many days ago.
fn taken(id: &str, days_ago: i64) -> Entry {
    taken_at(id, Timestamp::from_micros(NOW.as_micros() - days_ago * DAY_MICROS))
}

fn taken_at(id: &str, created_at: Timestamp) -> Entry {
    Entry {
        id: as_id(id),
        series: series("a"),
        issue: None,
        loop_id: None,
        workflow_id: None,
        workflow_type: None,
        session_id: None,
        agent: None,
        trigger: Trigger::Unknown,
        phase: None,
        step: None,
        iteration: None,
        status: Status::InProgress,
        created_at,
        ordered_at: None,
        updated_at: None,
        parent: None,
        tags: BTreeSet::new(),
        can_resume: None,
        resume_from: None,
        warnings: Vec::new(),
        retention_days: None,
        layout: Layout::Native,
        source_path: None,
        source: None,
        sequence: 0,
        document_bytes: 0,
        stored_bytes: 10,
        artifact_count: 0,
    }
}

/// A checkpoint that the store dated while its clock was behind what it had shown before.
fn behind(id: &str, created_at: Timestamp, ordered_at: Timestamp) -> Entry {
    Entry { ordered_at: Some(ordered_at), ..taken_at(id, created_at) }
}

/// Entries as the store numbers them when they are saved one after the other.
fn saved<const N: usize>(mut entries: [Entry; N]) -> [Entry; N] {
    for (entry, sequence) in entries.iter_mut().zip(0..) {
        entry.sequence = sequence;
    }
    entries
}

fn series(name: &str) -> Series {
    Series::new(name).unwrap()
}

fn issue(name: &str) -> Issue {
    Issue::new(name).unwrap()
}

fn as_id(text: &str) -> Id {
    Id::new(text).unwrap()
}

fn tags() -> BTreeSet<String> {
    BTreeSet::from(["release".to_owned()])
}

fn policy(rules: impl Into<Vec<Rule>>) -> Policy {
    Policy { name: "test".to_owned(), rules: rules.into(), ..Policy::default() }
}

/// A policy that keeps the last few of a series.
fn keep_last(count: u32) -> Policy {
    policy([Rule { keep_last: Some(count), ..Rule::default() }])
}

/// A policy that keeps checkpoints for this many days.
fn max_age(days: u32) -> Policy {
    policy([Rule { max_age: Some(Age::days(days)), ..Rule::default() }])
}

/// What becomes of series `a` once it is done.
fn plan_done<'a>(entries: &'a [Entry], policy: &Policy, now: Timestamp) -> Plan<'a> {
    plan_completed(entries, &series("a"), policy, now)
}

/// The ids of what a plan removes.
fn removed<'a>(plan: &Plan<'a>) -> Vec<&'a str> {
    plan.removed().map(|planned| planned.entry.id.as_str()).collect()
}

/// The ids of what a policy removes now.
fn removed_by<'a>(policy: &Policy, entries: &'a [Entry]) -> Vec<&'a str> {
    removed(&plan(entries, policy, NOW))
}

/// What a plan says of the entry with this id.
fn reason(plan: &Plan<'_>, id: &str) -> String {
    let planned = plan.iter().find(|planned| planned.entry.id.as_str() == id).unwrap();
    planned.verdict.to_string()
}

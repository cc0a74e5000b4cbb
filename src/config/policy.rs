//! From presets, rows and rules of a file to a policy.

use super::field::{Field, Section};
use super::{keep, trigger};
use crate::checkpoint::{Layout, Status};
use crate::error::Result;
use crate::retention::{OnSuccess, Per, Policy, Rule};
use crate::yaml::Value;

/// Keys of `retention` that are no triggers.
pub(super) const OTHERS: [&str; 2] = ["preset", "default"];

/// What a rule may be about.
pub(super) const CONDITIONS: [&str; 4] = ["trigger", "status", "series_status", "layout"];

const ON_SUCCESS: [(&str, OnSuccess); 3] = [
    ("rules", OnSuccess::Rules),
    ("keep_newest", OnSuccess::KeepNewest),
    ("remove", OnSuccess::Remove),
];

/// The policy of a file, if it says anything about retention.
pub(super) fn of(checkpoint: &Section<'_>, storage: &Section<'_>) -> Result<Option<Policy>> {
    let retention = checkpoint.section("retention")?;
    let listed = listed(checkpoint)?;
    let issue_bytes_max = storage.value("max_size_mb", Field::mebibytes)?;
    let store_bytes_max = storage.value("max_store_size_mb", Field::mebibytes)?;
    let on_success = checkpoint.value("on_success", |field| field.one_of(&ON_SUCCESS))?;
    let is_silent = retention.fields().is_empty()
        && listed.is_empty()
        && issue_bytes_max.is_none()
        && store_bytes_max.is_none()
        && on_success.is_none();
    let preset = preset(&retention)?;
    let policy = Policy {
        name: "config".to_owned(),
        rules: listed.into_iter().chain(with_rows(preset.rules, &retention)?).collect(),
        issue_bytes_max: issue_bytes_max.unwrap_or(preset.issue_bytes_max),
        store_bytes_max: store_bytes_max.unwrap_or(preset.store_bytes_max),
        on_success: on_success.unwrap_or(preset.on_success),
    };
    Ok((!is_silent).then_some(policy))
}

/// The rules that hold where the file is silent: those of the preset it names. A retention table
/// without a preset has only its own rows. A file without a table has the rows of crunch.
fn preset(retention: &Section<'_>) -> Result<Policy> {
    let known = Policy::PRESETS.map(|name| (name, name));
    match retention.value("preset", |field| field.one_of(&known))? {
        Some(name) => Policy::preset(name),
        None if retention.fields().is_empty() => Policy::preset("crunch"),
        None => Ok(Policy::default()),
    }
}

/// The rules of a preset with those rows in their places that the file has.
fn with_rows(rules: Vec<Rule>, retention: &Section<'_>) -> Result<Vec<Rule>> {
    let (mut rules, mut general): (Vec<_>, Vec<_>) =
        rules.into_iter().partition(|rule| !rule.triggers.is_empty());
    // The table that such files come from counts some triggers within a phase.
    let known = Policy::preset("crunch")?.rules;
    for (trigger, field) in trigger::rows(retention, &OTHERS)? {
        let triggers = vec![trigger];
        let is_about = |rule: &&Rule| rule.triggers == triggers;
        let per = rules.iter().chain(&known).find(is_about).map_or(Per::default(), |it| it.per);
        let row = Rule { triggers: triggers.clone(), ..row(field, per)? };
        match rules.iter_mut().find(|rule| rule.triggers == triggers) {
            Some(old) => *old = row,
            None => rules.push(row),
        }
    }
    if let Some(field) = retention.get("default") {
        let old = general.iter_mut().find(|rule| is_about_everything(rule));
        let row = row(field, old.as_deref().map_or(Per::default(), |old| old.per))?;
        match old {
            Some(old) => *old = row,
            None => general.push(row),
        }
    }
    rules.append(&mut general);
    Ok(rules)
}

/// A number, or the long form; `per` is what it counts within if it does not say.
fn row(field: &Field<'_>, per: Per) -> Result<Rule> {
    if let Value::Mapping(_) = field.value() {
        let keys = field.section()?;
        keys.check_keys(&keep::KEYS)?;
        return keep::read(field, &keys, per);
    }
    Ok(Rule { per, keep_last: field.count()?, ..Rule::default() })
}

fn is_about_everything(rule: &Rule) -> bool {
    rule.triggers.is_empty()
        && rule.statuses.is_empty()
        && rule.series_statuses.is_empty()
        && rule.layouts.is_empty()
}

/// The rules that come before all others.
fn listed(checkpoint: &Section<'_>) -> Result<Vec<Rule>> {
    match checkpoint.get("rules") {
        None => Ok(Vec::new()),
        Some(field) => match (field.items(), field.value()) {
            (Some(items), _) => items.iter().map(rule).collect(),
            (None, Value::Null) => Ok(Vec::new()),
            (None, _) => Err(field.wrong("a list of rules")),
        },
    }
}

fn rule(field: &Field<'_>) -> Result<Rule> {
    let keys = field.section()?;
    keys.check_keys(&[CONDITIONS, keep::KEYS].concat())?;
    let statuses = |field: &Field<'_>| many(field, &Status::ALL.map(|it| (it.as_str(), it)));
    let layouts = |field: &Field<'_>| many(field, &Layout::ALL.map(|it| (it.as_str(), it)));
    Ok(Rule {
        triggers: keys.value("trigger", trigger::named)?.unwrap_or_default(),
        statuses: keys.value("status", statuses)?.unwrap_or_default(),
        series_statuses: keys.value("series_status", statuses)?.unwrap_or_default(),
        layouts: keys.value("layout", layouts)?.unwrap_or_default(),
        ..keep::read(field, &keys, Per::default())?
    })
}

fn many<T: Copy>(field: &Field<'_>, known: &[(&str, T)]) -> Result<Vec<T>> {
    field.one_or_more()?.iter().map(|item| item.one_of(known)).collect()
}

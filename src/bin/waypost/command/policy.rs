//! `waypost policy`: which checkpoints are kept, shown, set and checked.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use serde::Serialize;
use waypost::{Age, Config, OnSuccess, Per, Policy, Rule, Settings, Trigger};

use crate::args::Global;
use crate::exit::Refusal;
use crate::output::{self, Column, Fields};
use crate::policy::{Chosen, choose, named};
use crate::{config, open};

const EXAMPLES: &str = "\
Examples:
  waypost policy show
  waypost policy show crunch
  waypost policy set aiwg --prune-on-save
  waypost policy set .waypost/config.yaml
  waypost policy check .claude/checkpoint-config.yaml
  waypost policy example > .waypost/config.yaml";

/// Show, set and check what is kept and for how long
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Show(Show),
    Set(Set),
    Check(Check),
    Example(Example),
}

/// Show the policy in force, or one that you name
#[derive(Debug, clap::Args)]
struct Show {
    /// A preset (crunch, claude, aiwg, keep-all) or a config file; that in force if not said
    #[arg(value_name = "PRESET|FILE")]
    policy: Option<String>,
}

/// Store a policy in the store, for `prune` and for saves
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = true)]
struct Set {
    /// A preset (crunch, claude, aiwg, keep-all) or a config file; as it is if not said
    #[arg(value_name = "PRESET|FILE")]
    policy: Option<String>,

    /// Whether every save prunes its own group, for good
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    prune_on_save: Option<bool>,

    /// How long what was deleted can be restored, such as 12h or 30d
    #[arg(long, value_name = "AGE")]
    keep_deleted: Option<Age>,
}

/// Check a config file, and say what it means
#[derive(Debug, clap::Args)]
struct Check {
    /// The config file; that of the project if not said
    file: Option<PathBuf>,
}

/// Print a config file with every key explained
#[derive(Debug, clap::Args)]
struct Example {}

/// What is in force, for a program.
#[derive(Default, Serialize)]
struct InForce {
    source: Option<String>,
    policy: Option<Policy>,
    /// Triggers that a config switches off.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    switched_off: Vec<Trigger>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prune_on_save: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    keep_deleted: Option<Age>,
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    match &args.command {
        Command::Show(args) => show(args, global, out),
        Command::Set(args) => set(args, global, out),
        Command::Check(args) => check(args, global, out),
        Command::Example(_) => Ok(out.write_all(Config::template().as_bytes())?),
    }
}

fn show(args: &Show, global: &Global, out: &mut dyn Write) -> Result<()> {
    if let Some(name) = &args.policy {
        let Chosen { source, policy } = named(name)?;
        let shown = InForce { source: Some(source), policy: Some(policy), ..InForce::default() };
        return write(out, &shown, global);
    }
    let store = open::existing(global, "policy show")?;
    let chosen = choose(None, &store)?;
    let Settings { prune_on_save, keep_deleted, .. } = store.settings()?;
    let (source, policy) = chosen.map(|it| (it.source, it.policy)).unzip();
    let (prune_on_save, keep_deleted) = (Some(prune_on_save), Some(keep_deleted));
    let config = config::of_project(store.path())?;
    let switched_off = config.map(|(_, config)| switched_off(&config)).unwrap_or_default();
    write(out, &InForce { source, policy, switched_off, prune_on_save, keep_deleted }, global)
}

fn set(args: &Set, global: &Global, out: &mut dyn Write) -> Result<()> {
    // A wrong name must not leave an empty store behind.
    let chosen = args.policy.as_deref().map(named).transpose()?;
    let config = match &chosen {
        Some(chosen) if chosen.source != "preset" => Some(config::read(chosen.source.as_ref())?),
        _ => None,
    };
    let store = open::or_create(global, "policy set")?;
    let mut settings = store.settings()?;
    if let Some(chosen) = chosen {
        settings.policy = Some(chosen.policy);
    }
    let said = config.as_ref();
    if let Some(on) = args.prune_on_save.or(said.and_then(Config::prune_on_save)) {
        settings.prune_on_save = on;
    }
    if let Some(age) = args.keep_deleted.or(said.and_then(Config::keep_deleted)) {
        settings.keep_deleted = age;
    }
    store.set_settings(&settings)?;
    let shown = InForce {
        source: Some("store".to_owned()),
        policy: settings.policy,
        prune_on_save: Some(settings.prune_on_save),
        keep_deleted: Some(settings.keep_deleted),
        switched_off: config.as_ref().map(switched_off).unwrap_or_default(),
    };
    store.close()?;
    write(out, &shown, global)
}

fn check(args: &Check, global: &Global, out: &mut dyn Write) -> Result<()> {
    let path = match &args.file {
        Some(path) => path.clone(),
        None => config::path(&open::path(global)?).ok_or(Refusal::NoConfig)?,
    };
    let config = config::read(&path)?;
    let shown = InForce {
        source: Some(path.display().to_string()),
        policy: config.policy().cloned(),
        prune_on_save: config.prune_on_save(),
        keep_deleted: config.keep_deleted(),
        switched_off: switched_off(&config),
    };
    write(out, &shown, global)
}

fn write(out: &mut dyn Write, shown: &InForce, global: &Global) -> Result<()> {
    if global.json {
        return Ok(output::json_line(out, shown)?);
    }
    let mut fields = Fields::default();
    let name = shown.policy.as_ref().map_or("none", |policy| &policy.name);
    fields.text("policy", Some(name));
    fields.text("source", shown.source.as_ref());
    if let Some(policy) = &shown.policy {
        fields.text("per issue", policy.issue_bytes_max.map(output::size));
        fields.text("per store", policy.store_bytes_max.map(output::size));
        fields.text("on success", Some(on_success(policy.on_success)));
    }
    let off: Vec<&str> = shown.switched_off.iter().map(Trigger::as_str).collect();
    fields.text("switched off", (!off.is_empty()).then(|| off.join(", ")));
    fields.text("prune on save", shown.prune_on_save);
    fields.text("keep deleted", shown.keep_deleted);
    output::fields(out, &fields, global)?;
    if let Some(policy) = shown.policy.as_ref().filter(|policy| !policy.rules.is_empty()) {
        writeln!(out)?;
        output::table(out, rules(&policy.rules))?;
    }
    Ok(())
}

/// The known triggers that a config switches off.
fn switched_off(config: &Config) -> Vec<Trigger> {
    Trigger::ALL.into_iter().filter(|trigger| config.refusal(trigger).is_some()).collect()
}

fn on_success(ending: OnSuccess) -> &'static str {
    match ending {
        OnSuccess::Rules => "as the rules say",
        OnSuccess::KeepNewest => "keep the newest",
        OnSuccess::Remove => "remove",
    }
}

/// Rules as a table, in their order.
fn rules(rules: &[Rule]) -> Vec<Column> {
    fn join<T: ToString>(names: &[T]) -> Option<String> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }
    let count = |rule: &Rule| rule.keep_last.map_or("all".to_owned(), |count| count.to_string());
    let per = |rule: &Rule| match (rule.keep_last, rule.per) {
        (Some(_), Per::Series) => Some("series".to_owned()),
        (Some(_), Per::Phase) => Some("phase".to_owned()),
        (None, _) => None,
    };
    let age = |age: Option<Age>| age.map(|age| age.to_string());
    let any = |names: Option<String>| Some(names.unwrap_or_else(|| "any".to_owned()));
    vec![
        Column::text("TRIGGER", rules, |rule| any(join(&rule.triggers))),
        Column::text("STATUS", rules, |rule| join(&rule.statuses)),
        Column::text("SERIES STATUS", rules, |rule| join(&rule.series_statuses)),
        Column::text("LAYOUT", rules, |rule| join(&rule.layouts)),
        Column::number("KEEP LAST", rules, |rule| Some(count(rule))),
        Column::text("PER", rules, per),
        Column::number("KEEP WITHIN", rules, |rule| age(rule.keep_within)),
        Column::number("MAX AGE", rules, |rule| age(rule.max_age)),
    ]
}

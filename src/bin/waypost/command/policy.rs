//! `waypost policy`: which checkpoints are kept, shown, set and checked.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use serde::Serialize;
use waypost::project::{self, ChosenPolicy, Named, PolicyError, PolicySource};
use waypost::retention::{Age, OnSuccess, Per, Rule};
use waypost::{Config, Policy, Settings, Trigger};

use crate::args::Global;
use crate::exit::Refusal;
use crate::open;
use crate::output::{self, Column, Fields};
use crate::policy::{named, of};

const EXAMPLES: &str = "\
Examples:
  waypost policy show
  waypost policy show crunch
  waypost policy set aiwg --prune-on-save
  waypost policy set .waypost/config.yaml
  waypost policy check .claude/checkpoint-config.yaml
  waypost policy example > .waypost/config.yaml";

const SHOW_EXAMPLES: &str = "\
Examples:
  waypost policy show
  waypost policy show crunch
  waypost policy show --json | jq .policy";
const SET_EXAMPLES: &str = "\
Examples:
  waypost policy set aiwg --prune-on-save
  waypost policy set .waypost/config.yaml
  waypost policy set --keep-deleted 30d";
const UNSET_EXAMPLES: &str = "\
Examples:
  waypost policy unset";
const CHECK_EXAMPLES: &str = "\
Examples:
  waypost policy check
  waypost policy check .claude/checkpoint-config.yaml";
const EXAMPLE_EXAMPLES: &str = "\
Examples:
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
    Unset(Unset),
    Check(Check),
    Example(Example),
}

/// Show the policy in force, or one that you name
#[derive(Debug, clap::Args)]
#[command(after_help = SHOW_EXAMPLES)]
struct Show {
    /// A preset (crunch, claude, aiwg, keep-all, last-N) or a config file; that in force if not
    /// said
    #[arg(value_name = "PRESET|FILE")]
    policy: Option<String>,
}

/// Store a policy in the store, for `prune` and for saves
#[derive(Debug, clap::Args)]
#[command(after_help = SET_EXAMPLES)]
#[group(required = true, multiple = true)]
struct Set {
    /// A preset (crunch, claude, aiwg, keep-all, last-N) or a config file; as it is if not said
    #[arg(value_name = "PRESET|FILE")]
    policy: Option<String>,

    /// Whether every save prunes its own group; what is saved from now on then goes for good
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    #[arg(require_equals = true)]
    prune_on_save: Option<bool>,

    /// How long what was deleted can be restored, such as 12h or 30d
    #[arg(long, value_name = "AGE")]
    keep_deleted: Option<Age>,
}

/// Take the policy out of the store
///
/// The config of the project counts again.
#[derive(Debug, clap::Args)]
#[command(after_help = UNSET_EXAMPLES)]
struct Unset {}

/// Check a config file, and say what it means
#[derive(Debug, clap::Args)]
#[command(after_help = CHECK_EXAMPLES)]
struct Check {
    /// The config file; that of the project if not said
    file: Option<PathBuf>,
}

/// Print a config file with every key explained
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE_EXAMPLES)]
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

/// A config file, for a program.
#[derive(Serialize)]
struct Template {
    config: &'static str,
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    match &args.command {
        Command::Show(args) => show(args, global, out),
        Command::Set(args) => set(args, global, out),
        Command::Unset(_) => unset(global, out),
        Command::Check(args) => check(args, global, out),
        Command::Example(_) => example(global, out),
    }
}

fn show(args: &Show, global: &Global, out: &mut dyn Write) -> Result<()> {
    if let Some(name) = &args.policy {
        let ChosenPolicy { source, policy } = of(named(name)?)?;
        let shown = InForce {
            source: Some(source.to_string()),
            policy: Some(policy),
            ..InForce::default()
        };
        return write(out, &shown, global);
    }
    let path = open::path(global)?;
    let config = match project::config(&path) {
        Ok(found) => found,
        Err(error) => {
            global
                .warn(format_args!("the config is passed over: {:#}", anyhow::Error::from(error)));
            None
        }
    };
    let mut shown = InForce::default();
    if let Some((path, config)) = &config {
        shown.source = config.policy().map(|_| path.display().to_string());
        shown.policy = config.policy().cloned();
        shown.switched_off = config.switched_off();
    }
    if open::exists(global)? {
        let Settings { policy, prune_on_save, keep_deleted } =
            open::existing(global, "policy show")?.settings()?;
        shown.prune_on_save = Some(prune_on_save);
        shown.keep_deleted = Some(keep_deleted);
        if let Some(policy) = policy {
            if shown.policy.as_ref().is_some_and(|it| it.name == policy.name && *it != policy) {
                let name = &policy.name;
                global.note(format_args!(
                    "{name} has changed since `waypost policy set` took it into the store"
                ));
            }
            shown.source = Some(PolicySource::Store.to_string());
            shown.policy = Some(policy);
        }
    }
    write(out, &shown, global)
}

fn set(args: &Set, global: &Global, out: &mut dyn Write) -> Result<()> {
    // A wrong name must not leave an empty store behind.
    let named = args.policy.as_deref().map(named).transpose()?;
    let config = match &named {
        Some(Named::Config(_, config)) => Some(&**config),
        Some(Named::Preset(_)) | None => None,
    };
    let has_policy = named.is_some() && config.is_none_or(|config| config.policy().is_some());
    if !has_policy && args.prune_on_save == Some(true) && !open::exists(global)? {
        return Err(PolicyError::None.into());
    }
    let store = open::or_create(global, "policy set")?;
    let mut settings = store.settings()?;
    if let Some(named) = &named {
        named.put_into(&mut settings);
    }
    settings.prune_on_save = args.prune_on_save.unwrap_or(settings.prune_on_save);
    settings.keep_deleted = args.keep_deleted.unwrap_or(settings.keep_deleted);
    store.set_settings(&settings)?;
    let shown = InForce {
        source: settings.policy.as_ref().map(|_| PolicySource::Store.to_string()),
        policy: settings.policy,
        switched_off: config.map(Config::switched_off).unwrap_or_default(),
        prune_on_save: Some(settings.prune_on_save),
        keep_deleted: Some(settings.keep_deleted),
    };
    store.close()?;
    write(out, &shown, global)
}

/// Takes the policy out of the store, so that the config of the project counts again.
fn unset(global: &Global, out: &mut dyn Write) -> Result<()> {
    let store = open::existing(global, "policy unset")?;
    let settings = Settings { policy: None, prune_on_save: false, ..store.settings()? };
    store.set_settings(&settings)?;
    store.close()?;
    show(&Show { policy: None }, global, out)
}

fn check(args: &Check, global: &Global, out: &mut dyn Write) -> Result<()> {
    let path = match &args.file {
        Some(path) => path.clone(),
        None => project::find_config(&open::path(global)?).ok_or(Refusal::NoConfig)?,
    };
    let config = project::read_config(&path)?;
    let shown = InForce {
        source: Some(path.display().to_string()),
        policy: config.policy().cloned(),
        switched_off: config.switched_off(),
        prune_on_save: config.prune_on_save(),
        keep_deleted: config.keep_deleted(),
    };
    write(out, &shown, global)?;
    if config.prune_on_save().is_some() || config.keep_deleted().is_some() {
        out.flush()?;
        global.note("prune_on_save and keep_deleted hold once `waypost policy set` has taken them");
    }
    Ok(())
}

fn example(global: &Global, out: &mut dyn Write) -> Result<()> {
    let config = Config::template();
    if global.json {
        return Ok(output::json_line(out, &Template { config })?);
    }
    Ok(out.write_all(config.as_bytes())?)
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
        output::table(out, &rules(&policy.rules), global)?;
    }
    Ok(())
}

fn on_success(ending: OnSuccess) -> &'static str {
    match ending {
        OnSuccess::Rules => "as the rules say",
        OnSuccess::KeepNewest => "keep the newest",
        OnSuccess::Remove => "remove",
    }
}

/// The rules as a table, in order.
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

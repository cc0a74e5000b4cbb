//! `waypost init`: a store for a project, with what is there already.

mod report;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{self, Path, PathBuf};

use anyhow::Result;
use waypost::project::{self, ChosenPolicy, Named, PolicySource, Site, Suggestion, suggest};
use waypost::recovery::ignored;
use waypost::transfer::import::{Earlier, Imported, Survey};
use waypost::{Layout, Query, Store};

use crate::args::Global;
use crate::confirm::offer;
use crate::output::{self, grouped, quoted};
use crate::policy;
use crate::progress::Progress;
use crate::{importing, open, survey};
use report::{InForce, Lines, Outcome};

const EXAMPLES: &str = "\
Examples:
  waypost init
  waypost init --import --policy crunch     # without asking
  waypost init ~/projects --no-import
  waypost init --json | jq .found";

/// Make a store for a project, and take in what is there
///
/// Makes .waypost/store.redb, which git ignores, looks for checkpoint files of agentize,
/// claude-crunch, `.claude/checkpoints`, `.pipeline` and AIWG, and suggests a policy. At a terminal
/// it asks before it imports or sets anything. Run again, it says what is there and changes
/// nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The directory of the project; if not said, the root of the git repository around this one,
    /// else this one
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,

    /// Import what is found, without asking
    #[arg(long, conflicts_with = "no_import")]
    import: bool,

    /// Import nothing, and do not ask
    #[arg(long)]
    no_import: bool,

    /// Set a policy: a preset (crunch, claude, aiwg, keep-all, last-N) or a config file
    #[arg(long, value_name = "PRESET|FILE")]
    policy: Option<String>,
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    // A wrong name must not leave an empty store behind.
    let named = args.policy.as_deref().map(policy::named).transpose()?;
    let place = site(args.directory.as_deref(), global)?;
    let store = made(&place, global)?;
    let mut lines = Lines { out, global };
    let above = place.above();
    tell_store(&place, &store, above.as_deref(), &mut lines)?;
    let ignored = ignored(store.path());
    lines.line("git", report::git(&ignored, store.path()))?;
    let looking = Progress::new("looking for checkpoint files", global);
    let survey = survey::survey(place.directory(), store.path(), Earlier::In(&store))?;
    drop(looking);
    let tally = take_in(args, &place, &store, &survey, &mut lines)?;
    if let Some(named) = &named {
        put(&store, named)?;
    }
    let (policy, suggested_policy) = settle_policy(&store, &survey, &mut lines)?;
    let next = next(&place, global);
    lines.next(&next)?;
    let outcome = Outcome {
        store: store.path().display().to_string(),
        created: place.is_new(),
        checkpoints: store.count()?,
        key: store.stats()?.key.map(|id| id.to_string()),
        above: above.map(|it| it.display().to_string()),
        ignored_by_git: report::is_ignored(&ignored),
        found: survey.layouts,
        has_more: survey.is_cut,
        unreadable: survey.unreadable,
        refusals: survey.refusals,
        imported: tally.as_ref().map_or(0, |tally| tally.imported),
        policy,
        suggested_policy,
        next,
    };
    store.close()?;
    if global.json {
        output::json_line(out, &outcome)?;
    }
    tally.map_or(Ok(()), |tally| Ok(importing::check_refused(&tally)?))
}

/// The directory to initialise: the given one; else that of the named store; else that of the store
/// of the project around the current directory, or its root.
fn site(directory: Option<&Path>, global: &Global) -> Result<Site> {
    let directory = match (directory, global.store()) {
        (Some(directory), _) => directory.to_owned(),
        (None, Some(store)) => project::home(store).unwrap_or_else(|| ".".into()),
        (None, None) => {
            let here = open::here()?;
            let has_store = project::store_of(&here).exists();
            if has_store { here } else { project::root(&here).to_owned() }
        }
    };
    Ok(Site::of(&directory, global.store())?)
}

/// Makes the store, or opens the one that is there.
fn made(site: &Site, global: &Global) -> Result<Store> {
    let prepared = site.prepare()?;
    match open::make(site.store(), global, "init") {
        Ok(store) => Ok(store),
        Err(error) => {
            prepared.take_back();
            Err(error)
        }
    }
}

fn tell_store(
    place: &Site,
    store: &Store,
    above: Option<&Path>,
    lines: &mut Lines<'_>,
) -> Result<()> {
    let path = store.path().display();
    if place.is_new() {
        lines.line("made", Some(path))?;
    } else {
        let count = grouped(store.count()?);
        lines.line("store", Some(format_args!("{path}, there already; checkpoints: {count}")))?;
    }
    let key = store.stats()?.key;
    lines.line("key", key.map(|id| format!("{id}: documents and captured files are encrypted")))?;
    let here = place.directory().display();
    let told = above.and_then(project::home).map(|above| {
        format!("{} has a store, too; from {here} down, this one counts", above.display())
    });
    lines.line("above", told)
}

/// Imports what the survey found if a flag or the user says so.
fn take_in(
    args: &Args,
    place: &Site,
    store: &Store,
    survey: &Survey,
    lines: &mut Lines<'_>,
) -> Result<Option<Imported>> {
    lines.line("found", Some(survey::in_words(survey)))?;
    let (count, more) = (survey.count(), if survey.is_cut { " or more" } else { "" });
    // A survey that was cut short may have missed files.
    if count == 0 && !(survey.is_cut && args.import) {
        return Ok(None);
    }
    let question = format!("Import {count}{more} checkpoints ({})", survey::counts(survey));
    let is_wanted = args.import || (!args.no_import && lines.is_asked()? && offer(&question)?);
    if !is_wanted {
        let (waypost, directory) = (waypost(lines.global), open::typed(place.directory()));
        let text = format!("nothing; `{waypost} import {directory}` imports them");
        lines.line("imported", Some(text))?;
        return Ok(None);
    }
    let tally = importing::directory(place.directory(), store, lines.global)?;
    let refused = match tally.refused {
        0 => String::new(),
        refused => format!(", and {refused} could not be read"),
    };
    lines.line("imported", Some(format!("{}{refused}", grouped(tally.imported))))?;
    Ok(Some(tally))
}

fn put(store: &Store, named: &Named) -> Result<()> {
    let before = store.settings()?;
    let mut settings = before.clone();
    named.put_into(&mut settings);
    if settings != before {
        store.set_settings(&settings)?;
    }
    Ok(())
}

/// The policy in force. If there is none, suggests one and sets it if the user agrees.
fn settle_policy(
    store: &Store,
    survey: &Survey,
    lines: &mut Lines<'_>,
) -> Result<(Option<InForce>, Option<&'static str>)> {
    let chosen = match policy::choose(None, store) {
        Ok(chosen) => chosen,
        Err(error) => {
            lines.line("policy", Some(format!("warning: the config is passed over: {error:#}")))?;
            return Ok((None, None));
        }
    };
    if let Some(ChosenPolicy { policy, source }) = chosen {
        lines.line("policy", Some(format!("{}, from the {source}", policy.name)))?;
        return Ok((Some(InForce { name: policy.name, source: source.to_string() }), None));
    }
    let mut layouts: BTreeSet<Layout> = survey.layouts.keys().copied().collect();
    for entry in store.entries(Query::default()) {
        layouts.insert(entry?.layout);
    }
    let suggestion = suggest(&layouts);
    let Suggestion { name, keeps, .. } = suggestion;
    if lines.is_asked()? && offer(&format!("Set the policy {name}, which {keeps}"))? {
        put(store, &policy::named(name)?)?;
        lines.line("policy", Some(format!("{name}, from the store")))?;
        let source = PolicySource::Store.to_string();
        return Ok((Some(InForce { name: name.to_owned(), source }), None));
    }
    let waypost = waypost(lines.global);
    let text = format!("none yet; `{waypost} policy set {name}` {keeps}");
    lines.line("policy", Some(text))?;
    let several =
        "of several systems, this removes the least; for rules by layout: waypost policy example";
    lines.line("", suggestion.is_one_of_several.then_some(several))?;
    Ok((None, Some(name)))
}

/// The commands to type next.
fn next(place: &Site, global: &Global) -> Vec<String> {
    let waypost = waypost(global);
    let directory = Some(open::typed(place.directory())).filter(|typed| typed != ".");
    let cd = directory.filter(|_| global.store().is_none()).map(|typed| format!("cd {typed}"));
    let commands =
        [format!("{waypost} save state.json --issue 42"), format!("{waypost} resume 42")];
    cd.into_iter().chain(commands).collect()
}

/// `waypost` with the --store and --key-file that the next command needs, too.
fn waypost(global: &Global) -> String {
    let store = global.store().filter(|_| open::is_flag_given("--store"));
    let mut command = "waypost".to_owned();
    if let Some(path) = store {
        command = format!("{command} --store {}", quoted(&path.display().to_string()));
    }
    for path in global.key_files().filter(|_| open::is_flag_given("--key-file")) {
        // The next command may be typed in another directory.
        let path = path::absolute(path).unwrap_or_else(|_| path.to_owned());
        command = format!("{command} --key-file {}", quoted(&path.display().to_string()));
    }
    command
}

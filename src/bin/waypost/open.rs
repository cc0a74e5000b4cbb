//! Finds the store and opens it.
//!
//! Only `save`, `import` and `init` make a store; everything else must find one.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result};
use waypost::care::SetAside;
use waypost::{Error, Options, Policy, SecretKey, Store};

use crate::args::Global;
use crate::exit::Refusal;
use crate::interrupt;
use crate::keys;
use crate::output::quoted;
use crate::progress::Progress;
use waypost::project;
use waypost::text::move_away;
use waypost::transfer::private;

/// True if anything is at the path of the store.
pub(crate) fn exists(global: &Global) -> Result<bool> {
    Ok(path(global)?.exists())
}

/// The path of an existing store, in whatever state.
pub(crate) fn there(global: &Global) -> Result<PathBuf> {
    let path = path(global)?;
    if path.exists() { Ok(path) } else { Err(Refusal::NoStore { path }.into()) }
}

/// Opens the store for a command that needs one.
pub(crate) fn existing(global: &Global, command: &str) -> Result<Store> {
    existing_with(global, command, Vec::new())
}

/// Opens the store for a command that needs one, with more keys than all commands have.
pub(crate) fn existing_with(global: &Global, command: &str, keys: Vec<SecretKey>) -> Result<Store> {
    let path = path(global)?;
    let mut given = keys::given_or_told(global, &path)?;
    given.extend(keys);
    let options = Options { create: false, ..options(global, command, given) };
    open_shown(&path, options, global).map_err(|error| missing(path, error))
}

/// The error of a store that could not be opened; a missing store is reported as missing.
pub(crate) fn missing(path: PathBuf, error: Error) -> anyhow::Error {
    match error {
        Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            Refusal::NoStore { path }.into()
        }
        error => error.into(),
    }
}

/// Options to open a store repeatedly, without keys, and the progress of its repair.
pub(crate) fn to_follow(global: &Global, command: &str) -> (Options, Repairing) {
    let repairing = Repairing::default();
    let options = repairing.shown(options(global, command, Vec::new()), global);
    (options, repairing)
}

/// Opens the store for a command that makes one where there is none.
pub(crate) fn or_create(global: &Global, command: &str) -> Result<Store> {
    make(&place_to_create(global)?, global, command)
}

/// The path of a store, with the directory it will lie in.
fn place_to_create(global: &Global) -> Result<PathBuf> {
    let path = path(global)?;
    // If a path was given and its directory is missing, that is more likely a typing error.
    if global.store().is_none() && !path.exists() {
        path.parent().map_or(Ok(()), create_directory)?;
        if path != project::store_of(&here()?) {
            global.note(format_args!("the store of this repository is {}", path.display()));
        }
    }
    Ok(path)
}

/// As [`or_create`], for a command that only saves: it may spool instead of waiting for the store.
/// Saves are pruned by `policy` if the store has none.
pub(crate) fn to_save(global: &Global, command: &str, policy: Option<Policy>) -> Result<Store> {
    let path = place_to_create(global)?;
    let keys = keys::given(global, &path)?;
    let prune_on_save = policy;
    let options = Options { open_late: true, prune_on_save, ..options(global, command, keys) };
    Ok(Store::open_with(path, options)?)
}

fn options(global: &Global, command: &str, keys: Vec<SecretKey>) -> Options {
    Options {
        wait: global.wait,
        // A call may have to wait again long after the store was opened.
        keeps_waiting: Some(Arc::new(|| interrupt::signal().is_none())),
        label: format!("waypost {command}"),
        on_set_aside: Some(Arc::new(tell_set_aside(global))),
        on_trouble: Some(Arc::new(tell_trouble(global))),
        keys,
        ..Options::default()
    }
}

/// The store that was named, else that of the nearest parent that has one, else one to make for
/// the project.
pub(crate) fn path(global: &Global) -> Result<PathBuf> {
    if let Some(path) = global.store() {
        return Ok(path.to_owned());
    }
    let here = here()?;
    Ok(project::store_for(&here))
}

/// Why the store at `path` is used.
pub(crate) fn why(global: &Global, path: &Path) -> Result<&'static str> {
    Ok(match global.store() {
        Some(_) if is_flag_given("--store") => "named by --store",
        Some(_) => "named by WAYPOST_STORE",
        None if !path.try_exists().unwrap_or(true) => "the place of one to be made",
        None if *path == project::store_of(&here()?) => "in this directory",
        None => "in a directory above",
    })
}

/// True if a value comes from a flag, not from a variable.
pub(crate) fn is_flag_given(flag: &str) -> bool {
    let has_value = |arg: &OsStr| {
        let rest = arg.as_encoded_bytes().strip_prefix(flag.as_bytes());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"="))
    };
    env::args_os().any(|arg| has_value(&arg))
}

/// Makes or opens the store at `path`.
pub(crate) fn make(path: &Path, global: &Global, command: &str) -> Result<Store> {
    let keys = keys::given(global, path)?;
    Ok(open_shown(path, options(global, command, keys), global)?)
}

/// A directory as it is typed: a dot for the current one.
pub(crate) fn typed(directory: &Path) -> String {
    let is_here = env::current_dir().and_then(|here| here.canonicalize());
    if is_here.is_ok_and(|here| here == directory) {
        return ".".to_owned();
    }
    quoted(&directory.display().to_string())
}

/// The current directory.
pub(crate) fn here() -> Result<PathBuf> {
    env::current_dir().context("cannot tell the current directory")
}

/// Makes the directory of a new store.
fn create_directory(path: &Path) -> Result<()> {
    private::own_directory(path).with_context(|| format!("cannot make {}", path.display()))
}

/// Warns about a file of the spool that could not be taken in, and says where it is now.
fn tell_set_aside(global: &Global) -> impl Fn(SetAside) + Send + Sync + use<> {
    let global = global.clone();
    move |SetAside { path, reason, .. }| {
        let path = path.display();
        global.warn(format_args!("a file was set aside as {path}: {reason}"));
    }
}

/// Warns of trouble with the spool. It fails no command: the save is stored.
fn tell_trouble(global: &Global) -> impl Fn(Error) + Send + Sync + use<> {
    let global = global.clone();
    move |error| {
        let advice = match &error {
            Error::Io { path, source } if source.kind() == io::ErrorKind::InvalidInput => {
                move_away(path)
            }
            _ => "waypost doctor tells more".to_owned(),
        };
        global.warn(format_args!("{:#}; {advice}", anyhow::Error::from(error)));
    }
}

/// Opens a store. If recovery after a crash takes long, shows its progress.
fn open_shown(path: &Path, options: Options, global: &Global) -> waypost::Result<Store> {
    let repairing = Repairing::default();
    let opened = Store::open_with(path, repairing.shown(options, global));
    // A later repair of the same store is part of other work, which has its own progress.
    repairing.replace(Some(Progress::hidden()));
    opened
}

/// The progress of the recovery after a crash, shown if it takes long.
#[derive(Clone, Default)]
pub(crate) struct Repairing(Arc<Mutex<Option<Progress>>>);

impl Repairing {
    fn shown(&self, options: Options, global: &Global) -> Options {
        let (shown, global) = (self.clone(), global.clone());
        let show = move |done: f64| {
            let mut shown = shown.0.lock().unwrap_or_else(PoisonError::into_inner);
            let start = || Progress::new("repairing", &global).of(Some(100));
            // In parts of a hundred, as a bar needs whole numbers.
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "0 to 100"
            )]
            shown.get_or_insert_with(start).show((done.clamp(0.0, 1.0) * 100.0) as u64);
        };
        Options { on_repair: Some(Arc::new(show)), ..options }
    }

    /// Takes the bar away once the store is open.
    pub(crate) fn end(&self) {
        self.replace(None);
    }

    fn replace(&self, progress: Option<Progress>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = progress;
    }
}

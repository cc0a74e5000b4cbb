//! Finds the store and opens it.
//!
//! Only `save` may make a store; everything else must find one.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{self, Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use waypost::{Error, Options, Store};

use crate::args::Global;
use crate::exit::Refusal;
use crate::interrupt;
use crate::output::quoted;

const DIRECTORY: &str = ".waypost";
const FILE: &str = "store.redb";

/// Whether there is anything where the store should be.
pub(crate) fn exists(global: &Global) -> Result<bool> {
    Ok(path(global)?.exists())
}

/// The path of a store that is there, whatever state it is in.
pub(crate) fn there(global: &Global) -> Result<PathBuf> {
    let path = path(global)?;
    if path.exists() { Ok(path) } else { Err(Refusal::NoStore { path }.into()) }
}

/// Opens the store for a command that needs one.
pub(crate) fn existing(global: &Global, command: &str) -> Result<Store> {
    let path = path(global)?;
    let options = Options { create: false, ..options(global, command) };
    match Store::open_with(&path, options) {
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            Err(Refusal::NoStore { path }.into())
        }
        other => Ok(other?),
    }
}

/// Opens the store for a command that makes one where there is none.
pub(crate) fn or_create(global: &Global, command: &str) -> Result<Store> {
    let path = path(global)?;
    // Of a path that was given, a missing directory is more likely a typing error than a wish.
    if global.store().is_none() {
        path.parent().map_or(Ok(()), create_directory)?;
    }
    make(&path, global, command)
}

fn options(global: &Global, command: &str) -> Options {
    let shows_progress = !global.quiet && io::stderr().is_terminal();
    Options {
        wait: global.wait,
        // A call may have to wait again long after the store was opened.
        keeps_waiting: Some(Arc::new(|| interrupt::signal().is_none())),
        label: format!("waypost {command}"),
        on_repair: if shows_progress { Some(Arc::new(show_repair)) } else { None },
        ..Options::default()
    }
}

/// The store that was named, else that of the nearest parent that has one, else one to make here.
pub(crate) fn path(global: &Global) -> Result<PathBuf> {
    if let Some(path) = global.store() {
        return Ok(path.to_owned());
    }
    let here = here()?;
    let found = here.ancestors().map(of_directory).find(|path| path.exists());
    Ok(found.unwrap_or_else(|| of_directory(&here)))
}

/// Why it is the store at `path` that counts.
pub(crate) fn why(global: &Global, path: &Path) -> Result<&'static str> {
    Ok(match global.store() {
        Some(_) if is_flag_given() => "named by --store",
        Some(_) => "named by WAYPOST_STORE",
        None if !path.exists() => "the place of one to be made",
        None if *path == of_directory(&here()?) => "in this directory",
        None => "in a directory above",
    })
}

/// Whether the store was named by the flag and not by the variable.
pub(crate) fn is_flag_given() -> bool {
    let is_flag = |arg: &OsStr| arg == "--store" || arg.as_encoded_bytes().starts_with(b"--store=");
    env::args_os().any(|arg| is_flag(&arg))
}

/// Where the store of a directory is, if it has one.
pub(crate) fn of_directory(directory: &Path) -> PathBuf {
    directory.join(DIRECTORY).join(FILE)
}

/// Makes or opens the store at `path`.
pub(crate) fn make(path: &Path, global: &Global, command: &str) -> Result<Store> {
    Ok(Store::open_with(path, options(global, command))?)
}

/// A directory as it is typed: a dot for the current one.
pub(crate) fn typed(directory: &Path) -> String {
    let is_here = env::current_dir().and_then(|here| here.canonicalize());
    if is_here.is_ok_and(|here| here == directory) {
        return ".".to_owned();
    }
    quoted(&directory.display().to_string())
}

fn here() -> Result<PathBuf> {
    env::current_dir().context("cannot tell the current directory")
}

/// The directory that a store is for, if that can be told.
pub(crate) fn home(store: &Path) -> Option<PathBuf> {
    // `store.redb` alone has no directory in its name.
    let store = path::absolute(store).ok()?;
    let directory = store.parent().unwrap_or(&store);
    // `.waypost/store.redb` is for the project that it lies in.
    let is_own = directory.file_name().is_some_and(|name| name == DIRECTORY);
    let home = if is_own { directory.parent()? } else { directory };
    Some(home.canonicalize().unwrap_or_else(|_| home.to_owned()))
}

pub(crate) fn create_directory(path: &Path) -> Result<()> {
    let mut builder = DirBuilder::new();
    // Documents may hold what only their owner should see.
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        // States of agents do not belong into the history of the project they work on.
        Ok(()) => fs::write(path.join(".gitignore"), "*\n"),
        Err(error) => Err(error),
    }
    .with_context(|| format!("cannot make {}", path.display()))
}

fn show_repair(done: f64) {
    // The line is overwritten by whatever comes next.
    let _ = write!(io::stderr(), "repairing {:.0} %\r", done * 100.0);
}

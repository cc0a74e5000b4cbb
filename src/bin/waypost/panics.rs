//! What is said of panics: of those that the library makes errors of, nothing.

use std::panic::{self, PanicHookInfo};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The last that was not told.
static UNTOLD: Mutex<Option<String>> = Mutex::new(None);

/// Tells what was not told if nobody caught it, once it is dropped.
pub(crate) struct Witness(());

/// Keeps panics of the storage engine from being told by anyone but whoever catches them.
pub(crate) fn hush_engine() -> Witness {
    let default = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let is_engine = info.location().is_some_and(|at| is_of_engine(at.file()));
        if is_engine { keep(info) } else { default(info) }
    }));
    Witness(())
}

fn keep(info: &PanicHookInfo<'_>) {
    *UNTOLD.lock().unwrap_or_else(PoisonError::into_inner) = Some(info.to_string());
}

impl Drop for Witness {
    fn drop(&mut self) {
        let untold = UNTOLD.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(untold) = untold.filter(|_| thread::panicking()) {
            eprintln!("{untold}");
        }
    }
}

/// Whether a source file is one of redb, wherever crates are kept.
fn is_of_engine(file: &str) -> bool {
    let file = file.replace('\\', "/");
    let Some((package, _)) = file.rsplit_once("/src/") else { return false };
    let name = package.rsplit('/').next().unwrap_or_default();
    let version = name.strip_prefix("redb").map(|rest| rest.strip_prefix('-').unwrap_or(rest));
    version.is_some_and(|it| it.is_empty() || it.starts_with(|it: char| it.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_engine_are_its_own() {
        for own in [
            "/home/me/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/redb-4.4.0/src/db.rs",
            "/p/vendor/redb/src/tree_store/btree_base.rs",
            "C:\\cargo\\registry\\src\\index\\redb-4.4.0\\src\\db.rs",
        ] {
            assert!(is_of_engine(own), "{own}");
        }
        for other in [
            "src/store/table.rs",
            "src/bin/waypost/main.rs",
            "/home/redb/src/serde-1.0.0/src/lib.rs",
            "/home/me/redb-derive-1.0.0/src/lib.rs",
            "/home/me/redbird/src/lib.rs",
            "/rustc/59807616/library/core/src/panicking.rs",
            "",
        ] {
            assert!(!is_of_engine(other), "{other}");
        }
    }
}

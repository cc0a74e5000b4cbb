//! Panic messages. Those of panics that the library turns into errors are not printed.

use std::panic::{self, PanicHookInfo};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The last message that was held back.
static UNTOLD: Mutex<Option<String>> = Mutex::new(None);

/// Prints the message that was held back when it is dropped by a panic that was not caught.
pub(crate) struct Witness(());

/// Holds back the messages of panics in the storage engine; the code that catches them reports
/// them.
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

/// True if a source file belongs to redb, in any crate directory.
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

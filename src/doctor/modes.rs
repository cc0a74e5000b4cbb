//! Who else can read the store.

use std::fs;
use std::path::{Path, PathBuf};

use super::report::Check;
use super::system;
use crate::text::quoted;
use crate::transfer::system::mode;

const NAME: &str = "modes";
// All that the group and others may do.
const OTHERS: u32 = 0o077;

/// The files of a store, and their directory if it is its own.
pub(super) fn check(store: &Path) -> Option<Check> {
    if !store.exists() {
        return None;
    }
    let directory = store.parent().filter(|it| it.file_name().is_some_and(|it| it == ".waypost"));
    let beside = |suffix: &str| {
        let mut name = store.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let mut paths = vec![store.to_owned(), beside(".journal"), beside(".lock"), beside(".spool")];
    // Beside the store, chmod would follow a link to something of the user's, and the store uses
    // no FIFO, socket or device. The store itself may be reached by a link.
    let is_own = |path: &PathBuf| {
        let found = fs::symlink_metadata(path);
        path.as_path() == store || found.is_ok_and(|found| found.is_file() || found.is_dir())
    };
    paths.retain(is_own);
    paths.extend(directory.map(Path::to_owned));
    let open: Vec<&PathBuf> = paths.iter().filter(|path| is_open(path)).collect();
    if !open.is_empty() {
        let names = |paths: &[&PathBuf]| {
            let names = paths.iter().map(|path| quoted(&path.display().to_string()));
            names.collect::<Vec<_>>().join(" ")
        };
        let finding = format!("other users can read or change {}", names(&open));
        return Some(Check::warn(NAME, finding).advise(format!("chmod go-rwx {}", names(&open))));
    }
    let mut found = paths.iter().filter_map(|path| fs::metadata(path).ok());
    if let Some((owner, user)) = found.find_map(|it| system::other_owner(&it)) {
        let finding = format!("the store belongs to user {owner}, and you are {user}");
        let advice = format!("as user {owner}, others than you may be unable to open it again");
        return Some(Check::warn(NAME, finding).advise(advice));
    }
    mode(&fs::metadata(store).ok()?)?;
    Some(Check::ok(NAME, "only you can read the store"))
}

fn is_open(path: &Path) -> bool {
    fs::metadata(path).ok().and_then(|found| mode(&found)).is_some_and(|mode| mode & OTHERS != 0)
}

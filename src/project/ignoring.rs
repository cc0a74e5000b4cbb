//! The command that keeps git from a store.

use std::path::Path;

use crate::recovery::Ignored;
use crate::text::quoted;

/// Returns the shell command after which git ignores a store; `None` if none is needed.
///
/// ```
/// use std::path::Path;
/// use waypost::project::ignore_command;
/// use waypost::recovery::Ignored;
///
/// let command = ignore_command(&Ignored::No, Path::new("/p/.waypost/store.redb"));
/// assert_eq!(command.as_deref(), Some("echo '*' > /p/.waypost/.gitignore"));
/// ```
#[must_use]
pub fn ignore_command(ignored: &Ignored, store: &Path) -> Option<String> {
    let directory = store.parent()?;
    let is_own = directory.file_name().is_some_and(|name| name == ".waypost");
    let (place, name) = (directory.display().to_string(), store.file_name()?.display());
    match ignored {
        Ignored::No if is_own => Some(format!("echo '*' > {}/.gitignore", quoted(&place))),
        // Also its journal and its lock, but nothing else in a directory that others share.
        Ignored::No => {
            let pattern = quoted(&format!("/{name}*"));
            Some(format!("echo {pattern} >> {}/.gitignore", quoted(&place)))
        }
        Ignored::Tracked => {
            let name = quoted(&name.to_string());
            Some(format!("git -C {} rm --cached -f {name}", quoted(&place)))
        }
        Ignored::Yes | Ignored::NoRepository | Ignored::Unknown(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_directory_of_its_own_is_ignored_as_a_whole() {
        for (store, ignored, expected) in [
            ("/p/.waypost/store.redb", Ignored::No, Some("echo '*' > /p/.waypost/.gitignore")),
            ("/my p/all.redb", Ignored::No, Some("echo '/all.redb*' >> '/my p'/.gitignore")),
            ("/p/all.redb", Ignored::Tracked, Some("git -C /p rm --cached -f all.redb")),
            ("/p/all.redb", Ignored::Yes, None),
            ("/p/all.redb", Ignored::NoRepository, None),
        ] {
            assert_eq!(ignore_command(&ignored, Path::new(store)).as_deref(), expected, "{store}");
        }
    }
}

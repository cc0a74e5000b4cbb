//! What to type so that git leaves a store alone.

use std::path::Path;

use waypost::recovery::Ignored;

use crate::output::quoted;

/// The command, if one is called for.
pub(in crate::command) fn advice(ignored: &Ignored, store: &Path) -> Option<String> {
    let directory = store.parent()?;
    let is_own = directory.file_name().is_some_and(|name| name == ".waypost");
    let (place, name) = (directory.display().to_string(), store.file_name()?.display());
    match ignored {
        Ignored::No if is_own => Some(format!("echo '*' > {}/.gitignore", quoted(&place))),
        // Its journal and its lock, too, but nothing else of a directory that is not its own.
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
            assert_eq!(advice(&ignored, Path::new(store)).as_deref(), expected, "{store}");
        }
    }
}

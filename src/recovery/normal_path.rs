//! Paths by their spelling alone, for comparing what need not exist.

use std::path::{Component, Path, PathBuf};

/// A path without `.`, and without `..` after a name or the root. Does not follow links.
pub(super) fn normal(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if parts.file_name().is_some() => {
                parts.pop();
            }
            Component::ParentDir if parts.has_root() => {}
            _ => parts.push(part),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_keeps_only_what_changes_where_it_leads() {
        for (path, expected) in [
            ("a/./b", "a/b"),
            ("a/../b", "b"),
            ("a/b/../..", ""),
            ("../a", "../a"),
            ("../../a/..", "../.."),
            ("/../a", "/a"),
            ("/a/../../b/", "/b"),
        ] {
            assert_eq!(normal(Path::new(path)), Path::new(expected), "{path}");
        }
    }
}

//! Paths of files as other systems know them: from the root of the project.

use std::path::{Component, Path};

/// Directories of the systems, and what is below them if that is theirs alone.
const ANCHORS: [(&str, &[&str]); 5] = [
    (".claude", &["crunch", "checkpoints", "data"]),
    (".aiwg", &[]),
    (".hex-skills", &[]),
    (".pipeline", &[]),
    (".tmp", &[]),
];
const WORKTREES: &str = ".worktrees";

/// The path of an imported root from its project, if it lies within a directory of a system.
///
/// `import project/.claude/crunch/42` must know the same files as `import project`.
pub(super) fn within_project(root: &Path) -> String {
    let parts: Vec<&str> = root
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        })
        .collect();
    let Some(anchor) = (0..parts.len()).find(|at| is_anchor(&parts[*at..])) else {
        return String::new();
    };
    let is_worktree = anchor >= 2 && parts[anchor - 2] == WORKTREES;
    parts[if is_worktree { anchor - 2 } else { anchor }..].join("/")
}

fn is_anchor(parts: &[&str]) -> bool {
    let [name, rest @ ..] = parts else { return false };
    ANCHORS.into_iter().any(|(anchor, below)| {
        // Other tools have such a directory, too, but nothing that deep in it.
        let is_near = |next: &&str| below.contains(next) || (below.is_empty() && rest.len() < 8);
        anchor == *name && rest.first().is_none_or(is_near)
    })
}

/// `directory/name`, without a slash if there is no directory.
pub(super) fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_within_a_system_is_named_from_its_project() {
        for (root, path) in [
            ("/home/a/project", ""),
            ("/home/a/project/.claude", ".claude"),
            ("/home/a/project/.claude/crunch/42/checkpoints", ".claude/crunch/42/checkpoints"),
            ("/home/a/.claude/projects/b", ""),
            ("/p/.worktrees/story-1/.pipeline", ".worktrees/story-1/.pipeline"),
            ("/p/.pipeline", ".pipeline"),
            ("/p/.aiwg/ralph/loops/x/checkpoints", ".aiwg/ralph/loops/x/checkpoints"),
        ] {
            assert_eq!(within_project(Path::new(root)), path, "{root}");
        }
    }
}

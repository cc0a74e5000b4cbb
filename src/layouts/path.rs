//! The parts of a path, and the project directory before the directory of a system.

/// The directories that systems have for their own in a project.
pub(super) const ANCHORS: [&str; 5] = [".claude", ".pipeline", ".hex-skills", ".aiwg", ".tmp"];

/// The parts of a path between `/`, without empty ones and `.`.
pub(super) fn parts(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".").collect()
}

/// The name of the file at the end of a path.
pub(super) fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// The name of the file without the extension of a document.
pub(super) fn stem(path: &str) -> &str {
    let name = name(path);
    let known = [".json.gz", ".jsonl", ".json", ".yaml", ".yml"];
    known.iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name)
}

/// The directory between `above` and the directory of the file, if that has this name.
pub(super) fn directory_between<'a>(path: &'a str, above: &str, below: &str) -> Option<&'a str> {
    match parts(path).as_slice() {
        [.., first, between, last, _] if *first == above && *last == below => Some(between),
        _ => None,
    }
}

/// The directory right below the last one that is called `above`.
pub(super) fn directory_below<'a>(path: &'a str, above: &str) -> Option<&'a str> {
    let parts = parts(path);
    let (_, directories) = parts.split_last()?;
    let at = directories.iter().rposition(|part| *part == above)?;
    directories.get(at + 1).copied()
}

/// The directories before the last one of these names, unless that is where the path starts.
///
/// A worktree counts as its project.
pub(super) fn project(path: &str, anchors: &[&str]) -> Option<String> {
    let parts = parts(path);
    let (_, directories) = parts.split_last()?;
    let at = directories.iter().rposition(|part| anchors.contains(part))?;
    let leading = match &directories[..at] {
        [rest @ .., ".hex-skills" | ".claude", "worktrees", _] | [rest @ .., ".worktrees", _] => {
            rest
        }
        rest => rest,
    };
    (!leading.is_empty()).then(|| leading.join("/"))
}

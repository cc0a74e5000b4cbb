//! The parts of a path, and what lies before the directory that a system has for its own.

/// The directories that systems have for their own in a project.
pub(super) const ANCHORS: [&str; 5] = [".claude", ".pipeline", ".hex-skills", ".aiwg", ".tmp"];

/// The parts of a path with `/` between them; empty ones and `.` are none.
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

/// The directory that the file lies in has this name, and one directory is between it and `above`.
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
/// A worktree is the project that it was made of.
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

//! The directory of a project's claude-crunch files, as its config may set it.

use crate::error::{Error, Result};
use crate::layouts::part;

/// Stands for the number of an issue.
const ISSUE: &str = "{issue}";
const USUAL: [&str; 4] = [".claude", "crunch", ISSUE, "checkpoints"];

/// The directory of an issue's checkpoints, from the directory of the project: `storage.location`
/// of a config. By default `.claude/crunch/{issue}/checkpoints`.
///
/// ```
/// use waypost::layouts::crunch::Location;
///
/// # fn main() -> waypost::Result<()> {
/// let location = Location::new("state/{issue}")?;
/// let usual = ".claude/crunch/42/checkpoints/CP-20250114-a3f2.yaml";
/// assert_eq!(location.place(usual), "state/42/CP-20250114-a3f2.yaml");
/// assert_eq!(location.usual("state/42/CP-20250114-a3f2.yaml").as_deref(), Some(usual));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    parts: Vec<String>,
}

impl Default for Location {
    fn default() -> Self {
        Self { parts: USUAL.map(str::to_owned).into() }
    }
}

impl Location {
    /// Reads a path with `{issue}` as one of its parts. Without that, the checkpoints of an issue
    /// are in `{issue}/checkpoints` below it.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it does not lead to a directory below that of the project.
    pub fn new(text: &str) -> Result<Self> {
        let text = text.strip_prefix("./").unwrap_or(text).trim_end_matches('/');
        let mut parts: Vec<String> = text.split('/').map(str::to_owned).collect();
        let (issues, names): (Vec<&String>, Vec<&String>) =
            parts.iter().partition(|part| *part == ISSUE);
        let is_name = |part: &&String| part::is_path(part) && !part.contains(['{', '}']);
        if issues.len() > 1 || !names.iter().all(is_name) {
            let reason = "should be a path below the project, such as .claude/crunch/{issue}";
            return Err(Error::invalid("checkpoint.storage.location", reason));
        }
        if issues.is_empty() {
            parts.extend(USUAL[2..].iter().map(|part| (*part).to_owned()));
        }
        Ok(Self { parts })
    }

    /// The path of a file that the layout puts at `path`; others keep theirs.
    #[must_use]
    pub fn place(&self, path: &str) -> String {
        moved(path, &USUAL, &self.parts).unwrap_or_else(|| path.to_owned())
    }

    /// The path at which the layout expects a file that is at `path`, if the file is in this place.
    #[must_use]
    pub fn usual(&self, path: &str) -> Option<String> {
        moved(path, &self.parts, &USUAL)
    }
}

/// A path whose directory ends like `from`, with `to` in its place.
fn moved(path: &str, from: &[impl AsRef<str>], to: &[impl AsRef<str>]) -> Option<String> {
    let (directory, name) = path.rsplit_once('/')?;
    let parts: Vec<&str> = directory.split('/').collect();
    let (before, parts) = parts.split_at_checked(parts.len().checked_sub(from.len())?)?;
    let mut issue = "";
    for (part, from) in parts.iter().zip(from) {
        match from.as_ref() {
            ISSUE => issue = part,
            from if from == *part => {}
            _ => return None,
        }
    }
    let to = to.iter().map(|part| if part.as_ref() == ISSUE { issue } else { part.as_ref() });
    let parts: Vec<&str> = before.iter().copied().chain(to).chain([name]).collect();
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_placed_there_and_found_there() {
        for (text, place) in [
            (".claude/crunch/{issue}/checkpoints", ".claude/crunch/42/checkpoints/CP-1.yaml"),
            (".claude/crunch", ".claude/crunch/42/checkpoints/CP-1.yaml"),
            ("state/{issue}", "state/42/CP-1.yaml"),
            ("./state/of/{issue}/all/", "state/of/42/all/CP-1.yaml"),
        ] {
            let location = Location::new(text).unwrap();
            let usual = ".claude/crunch/42/checkpoints/CP-1.yaml";
            assert_eq!(location.place(usual), place, "{text}");
            assert_eq!(location.usual(place).as_deref(), Some(usual), "{text}");
            let below = format!("shop/{place}");
            assert_eq!(location.usual(&below), Some(format!("shop/{usual}")), "{text}");
            assert_eq!(location.place("native/a.json"), "native/a.json");
            assert_eq!(location.usual("native/a.json"), None);
        }
    }

    #[test]
    fn a_place_outside_the_project_is_refused() {
        for text in ["", "/var/state", "../{issue}", "a//{issue}", "{issue}/{issue}", "a/../b"] {
            assert!(Location::new(text).is_err(), "{text}");
        }
    }
}
